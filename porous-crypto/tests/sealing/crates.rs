//! The crates that the provider is made of, by vectors that cannot be asked of it: their nonces do not begin
//! with 4 zeros, as all of ours do.

use chacha20poly1305::aead::{AeadInOut, KeyInit};
use chacha20poly1305::{ChaCha20Poly1305, Nonce};

use crate::{hex, hex_array};

const SUNSCREEN: &[u8] = b"Ladies and Gentlemen of the class of '99: If I could offer you only \
    one tip for the future, sunscreen would be it.";

/// RFC 8439 §2.8.2, whose key is bytes that count.
#[test]
fn chacha20_poly1305_seals_as_published() {
    let mut next = 0x80..;
    let key: [u8; 32] = core::array::from_fn(|_| next.next().unwrap());
    let nonce: [u8; 12] = hex_array("070000004041424344454647");
    let aad = hex("50515253c0c1c2c3c4c5c6c7");
    let mut text = SUNSCREEN.to_vec();
    let aead = ChaCha20Poly1305::new(&key.into());
    let nonce = Nonce::from(nonce);
    let tag = aead.encrypt_inout_detached(&nonce, &aad, text.as_mut_slice().into());
    let published = "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d6
        3dbea45e8ca9671282fafb69da92728b1a71de0a9e060b2905d6a5b67ecd3b36
        92ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc
        3ff4def08e4b7a9de576d26586cec64b6116";
    assert_eq!(text, hex(published));
    assert_eq!(
        tag.unwrap().to_vec(),
        hex("1ae10b594f09e26a7e902ecbd0600691")
    );
}

/// NIST's GCM, test case 16.
#[cfg(feature = "aes")]
#[test]
fn aes_256_gcm_seals_as_published() {
    let key: [u8; 32] = hex_array(&"feffe9928665731c6d6a8f9467308308".repeat(2));
    let nonce: [u8; 12] = hex_array("cafebabefacedbaddecaf888");
    let mut text = hex(
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72
        1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
    );
    let aad = hex("feedfacedeadbeeffeedfacedeadbeefabaddad2");
    let aead = aes_gcm::Aes256Gcm::new(&key.into());
    let tag = aead.encrypt_inout_detached(&nonce.into(), &aad, text.as_mut_slice().into());
    let published = "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa
        8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662";
    assert_eq!(text, hex(published));
    assert_eq!(
        tag.unwrap().to_vec(),
        hex("76fc6ece0f4e1768cddf8853bb2d551b")
    );
}
