//! The AEADs, under a key.

use alloc::boxed::Box;

#[cfg(feature = "aes")]
use aes_gcm::Aes256Gcm;
use chacha20poly1305::ChaCha20Poly1305;
use chacha20poly1305::aead::consts::{U12, U16};
use chacha20poly1305::aead::{AeadInOut, KeyInit};
use porous_proto::seal::{Aead, Suite};

/// An AEAD of RustCrypto, and how it writes a number as its nonce. What it has of the key is wiped when it
/// is dropped.
struct Keyed<A> {
    aead: A,
    bytes: fn(u64) -> [u8; 8],
}

/// # Panics
///
/// If the suite is none of the provider's.
pub(crate) fn keyed(suite: Suite, key: &[u8; 32]) -> Box<dyn Aead> {
    match suite {
        Suite::CHACHA_POLY => Box::new(Keyed {
            aead: ChaCha20Poly1305::new(key.into()),
            bytes: u64::to_le_bytes,
        }),
        #[cfg(feature = "aes")]
        Suite::AES_GCM => Box::new(Keyed {
            aead: Aes256Gcm::new(key.into()),
            bytes: u64::to_be_bytes,
        }),
        _ => panic!("{suite:?} is none of the provider's suites"),
    }
}

impl<A> Keyed<A> {
    /// 4 zeros and the number, Noise §12.3 and §12.4.
    fn nonce(&self, number: u64) -> [u8; 12] {
        let [a, b, c, d, e, f, g, h] = (self.bytes)(number);
        [0, 0, 0, 0, a, b, c, d, e, f, g, h]
    }
}

impl<A: AeadInOut<NonceSize = U12, TagSize = U16> + Send + Sync> Aead for Keyed<A> {
    fn seal(&mut self, nonce: u64, aad: &[u8], buf: &mut [u8]) -> [u8; 16] {
        let nonce = self.nonce(nonce).into();
        let tag = self.aead.encrypt_inout_detached(&nonce, aad, buf.into());
        // It fails only for more than 64 GiB.
        tag.expect("a datagram is shorter").into()
    }

    fn open(&mut self, nonce: u64, aad: &[u8], buf: &mut [u8], tag: &[u8; 16]) -> bool {
        let nonce = self.nonce(nonce).into();
        // The tag is compared before anything is decrypted.
        let opened = self
            .aead
            .decrypt_inout_detached(&nonce, aad, buf.into(), tag.into());
        opened.is_ok()
    }
}
