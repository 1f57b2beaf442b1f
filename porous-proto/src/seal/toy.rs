//! A provider for tests of state machines and for examples: its algorithms protect nothing.

use alloc::boxed::Box;

use super::{Aead, Provider, PublicKey, SecretKey, Shared, Suite, Weak};

/// The hash is FNV-1a, the public key is the secret one, and the stream is one byte.
#[derive(Debug)]
pub(crate) struct Toy;

fn fnv(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut out = [0; 32];
    for lane in out.chunks_mut(8) {
        for part in parts {
            for byte in *part {
                hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
        hash = (hash ^ 0xFF).wrapping_mul(0x0100_0000_01b3);
        lane.copy_from_slice(&hash.to_le_bytes());
    }
    out
}

struct Toys([u8; 32]);

impl Toys {
    fn tag(&self, nonce: u64, aad: &[u8], buf: &[u8]) -> [u8; 16] {
        let hash = fnv(&[&self.0, &nonce.to_le_bytes(), aad, b"/", buf]);
        let mut tag = [0; 16];
        for (to, from) in tag.iter_mut().zip(hash) {
            *to = from;
        }
        tag
    }

    fn stream(&self, nonce: u64, buf: &mut [u8]) {
        let stream = fnv(&[&self.0, b"stream", &nonce.to_le_bytes()]);
        for (byte, key) in buf.iter_mut().zip(stream.iter().cycle()) {
            *byte ^= key;
        }
    }
}

impl Aead for Toys {
    fn seal(&mut self, nonce: u64, aad: &[u8], buf: &mut [u8]) -> [u8; 16] {
        self.stream(nonce, buf);
        self.tag(nonce, aad, buf)
    }

    fn open(&mut self, nonce: u64, aad: &[u8], buf: &mut [u8], tag: &[u8; 16]) -> bool {
        let fits = self.tag(nonce, aad, buf) == *tag;
        if fits {
            self.stream(nonce, buf);
        }
        fits
    }
}

impl Provider for Toy {
    fn suites(&self) -> &[Suite] {
        &[Suite::CHACHA_POLY]
    }

    fn public_key(&self, _: Suite, secret: &SecretKey) -> Result<PublicKey, Weak> {
        PublicKey::from_bytes(secret.as_bytes()).ok_or(Weak)
    }

    fn agree(&self, _: Suite, secret: &SecretKey, public: &[u8]) -> Result<Shared, Weak> {
        let mut shared = *secret.as_bytes();
        for (byte, other) in shared.iter_mut().zip(public) {
            *byte ^= other;
        }
        Ok(Shared::from_bytes(shared))
    }

    fn hash(&self, _: Suite, parts: &[&[u8]]) -> [u8; 32] {
        fnv(parts)
    }

    fn aead(&self, _: Suite, key: &[u8; 32]) -> Box<dyn Aead> {
        Box::new(Toys(*key))
    }
}
