//! The AEADs, under a key.

use aws_lc_rs::aead::{AES_256_GCM, Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use porous_proto::seal::{Aead, Suite};

/// A key of AWS-LC, which wipes it when this is dropped, and how its AEAD writes a number as its nonce. The
/// library calls it less safe because a caller could use a nonce twice; the core never does.
struct Keyed {
    key: LessSafeKey,
    bytes: fn(u64) -> [u8; 8],
}

/// # Panics
///
/// If the suite is none of the provider's.
pub(crate) fn keyed(suite: Suite, key: &[u8; 32]) -> Box<dyn Aead> {
    let (algorithm, bytes) = match suite {
        Suite::CHACHA_POLY => (&CHACHA20_POLY1305, u64::to_le_bytes as fn(u64) -> _),
        Suite::AES_GCM => (&AES_256_GCM, u64::to_be_bytes as fn(u64) -> _),
        _ => panic!("{suite:?} is none of the provider's suites"),
    };
    let key = UnboundKey::new(algorithm, key).expect("both keys have 32 bytes");
    let key = LessSafeKey::new(key);
    Box::new(Keyed { key, bytes })
}

impl Keyed {
    /// 4 zeros and the number, Noise §12.3 and §12.4.
    fn nonce(&self, number: u64) -> Nonce {
        let [a, b, c, d, e, f, g, h] = (self.bytes)(number);
        Nonce::assume_unique_for_key([0, 0, 0, 0, a, b, c, d, e, f, g, h])
    }
}

impl Aead for Keyed {
    fn seal(&mut self, nonce: u64, aad: &[u8], buf: &mut [u8]) -> [u8; 16] {
        let nonce = self.nonce(nonce);
        let tag = self
            .key
            .seal_in_place_separate_tag(nonce, Aad::from(aad), buf)
            .expect("a datagram is shorter than the AEAD's limit");
        tag.as_ref().try_into().expect("both tags have 16 bytes")
    }

    fn open(&mut self, nonce: u64, aad: &[u8], buf: &mut [u8], tag: &[u8; 16]) -> bool {
        let nonce = self.nonce(nonce);
        let opened = self
            .key
            .open_in_place_separate_tag(nonce, Aad::from(aad), tag, buf);
        let is_open = opened.is_ok();
        if !is_open {
            // The library does not say what it has left there.
            buf.fill(0);
        }
        is_open
    }
}
