//! A provider that notes what is sealed, and fails the run if a key seals two texts with one nonce.

use alloc::sync::Arc;
use core::hash::{Hash, Hasher};
use core::sync::atomic::{AtomicU64, Ordering};
use std::collections::HashMap;
use std::hash::DefaultHasher;
use std::sync::{Mutex, PoisonError};

use porous_proto::seal::{Aead, Provider, PublicKey, SecretKey, Shared, Suite, Weak};

/// The nonce of which the next key is made.
const REKEY: u64 = u64::MAX;

/// Bytes of the additional data of a message of a handshake, which is a hash. The head of a short form is
/// shorter.
const HASH: usize = 32;

/// A key, and a nonce that it sealed with.
type Place = ([u8; 32], u64);

/// A text that was sealed: its length in bytes, and a digest of it and of its additional data.
type Text = (usize, u64);

/// What was asked of a provider.
#[derive(Debug, Default)]
struct Notes {
    sealed: Mutex<HashMap<Place, Text>>,
    public_key: AtomicU64,
    agree: AtomicU64,
    hash: AtomicU64,
    seal: AtomicU64,
    open: AtomicU64,
    /// Texts that did not open.
    forged: AtomicU64,
}

/// How often each method of a provider was called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// Of `Provider::public_key`.
    pub public_key: u64,
    /// Of `Provider::agree`.
    pub agree: u64,
    /// Of `Provider::hash`.
    pub hash: u64,
    /// Of `Aead::seal`.
    pub seal: u64,
    /// Of `Aead::open`.
    pub open: u64,
    /// Texts that did not open.
    pub forged: u64,
}

/// Runs what is no work of a host's.
type Aside = fn(&mut dyn FnMut());

/// The cryptography of another provider. One recorder serves all hosts of a world, because two hosts that seal
/// with one key and one nonce are as bad as one that does so twice.
#[derive(Debug)]
pub struct Recorder {
    provider: &'static dyn Provider,
    aside: Aside,
    notes: Arc<Notes>,
}

impl Recorder {
    /// A recorder of what this provider is asked. It is never dropped, as hosts demand.
    #[must_use]
    pub fn leaked(provider: &'static dyn Provider) -> &'static Self {
        Self::leaked_with(provider, |note| note())
    }

    /// As [`leaked`](Self::leaked), and `aside` runs what takes the notes: a test that counts the allocations of
    /// hosts must not count those of the notes.
    #[must_use]
    pub fn leaked_with(provider: &'static dyn Provider, aside: Aside) -> &'static Self {
        Box::leak(Box::new(Self {
            provider,
            aside,
            notes: Arc::default(),
        }))
    }

    /// Forgets what was sealed, but not how often: in another run of the same world the same keys and nonces
    /// come back.
    pub fn forget(&self) {
        let mut sealed = self.notes.sealed.lock();
        let sealed = sealed.as_mut().unwrap_or_else(PoisonError::get_mut);
        sealed.clear();
    }

    /// How often each method was called.
    #[must_use]
    pub fn calls(&self) -> Calls {
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let notes = &self.notes;
        Calls {
            public_key: get(&notes.public_key),
            agree: get(&notes.agree),
            hash: get(&notes.hash),
            seal: get(&notes.seal),
            open: get(&notes.open),
            forged: get(&notes.forged),
        }
    }
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl Provider for Recorder {
    fn suites(&self) -> &[Suite] {
        self.provider.suites()
    }

    fn public_key(&self, suite: Suite, secret: &SecretKey) -> Result<PublicKey, Weak> {
        count(&self.notes.public_key);
        self.provider.public_key(suite, secret)
    }

    fn agree(&self, suite: Suite, secret: &SecretKey, public: &[u8]) -> Result<Shared, Weak> {
        count(&self.notes.agree);
        self.provider.agree(suite, secret, public)
    }

    fn hash(&self, suite: Suite, parts: &[&[u8]]) -> [u8; 32] {
        count(&self.notes.hash);
        self.provider.hash(suite, parts)
    }

    fn aead(&self, suite: Suite, key: &[u8; 32]) -> Box<dyn Aead> {
        Box::new(Recording {
            notes: Arc::clone(&self.notes),
            aside: self.aside,
            key: *key,
            aead: self.provider.aead(suite, key),
        })
    }
}

/// An AEAD under a key that is known to the notes.
struct Recording {
    notes: Arc<Notes>,
    aside: Aside,
    key: [u8; 32],
    aead: Box<dyn Aead>,
}

impl Recording {
    /// # Panics
    ///
    /// If the key has sealed with this nonce before. The text that makes the next key and the messages of a
    /// handshake are made again where they are needed again, and are the same each time.
    fn note(&self, nonce: u64, aad: &[u8], text: &[u8]) {
        let mut hasher = DefaultHasher::new();
        (aad, text).hash(&mut hasher);
        let new = (text.len(), hasher.finish());
        let mut sealed = self.notes.sealed.lock();
        let sealed = sealed.as_mut().unwrap_or_else(PoisonError::get_mut);
        let Some(old) = sealed.insert((self.key, nonce), new) else {
            return;
        };
        let may_repeat = nonce == REKEY || (nonce == 0 && aad.len() == HASH);
        assert!(
            may_repeat && old == new,
            "a key sealed {} and {} bytes with the nonce {nonce}",
            old.0,
            new.0
        );
    }
}

impl Aead for Recording {
    fn seal(&mut self, nonce: u64, aad: &[u8], buf: &mut [u8]) -> [u8; 16] {
        count(&self.notes.seal);
        (self.aside)(&mut || self.note(nonce, aad, buf));
        self.aead.seal(nonce, aad, buf)
    }

    fn open(&mut self, nonce: u64, aad: &[u8], buf: &mut [u8], tag: &[u8; 16]) -> bool {
        count(&self.notes.open);
        let opens = self.aead.open(nonce, aad, buf, tag);
        if !opens {
            count(&self.notes.forged);
        }
        opens
    }
}

#[cfg(test)]
mod tests {
    use porous_crypto::RustCrypto;

    use super::*;

    /// Two AEADs of one recorder under one key.
    fn twins() -> [Box<dyn Aead>; 2] {
        let recorder = Recorder::leaked(&RustCrypto);
        [(); 2].map(|()| recorder.aead(Suite::CHACHA_POLY, &[7; 32]))
    }

    #[test]
    #[should_panic(expected = "a key sealed 3 and 4 bytes with the nonce 5")]
    fn the_recorder_sees_that_two_hosts_seal_with_one_nonce() {
        let [mut one, mut other] = twins();
        let _ = one.seal(5, &[], &mut [0; 3]);
        let _ = other.seal(6, &[], &mut [0; 3]);
        let _ = other.seal(5, &[], &mut [0; 4]);
    }

    #[test]
    #[should_panic(expected = "a key sealed 3 and 3 bytes with the nonce 5")]
    fn the_recorder_sees_that_a_frame_is_sealed_twice() {
        let [mut one, _] = twins();
        let _ = one.seal(5, &[], &mut [0; 3]);
        let _ = one.seal(5, &[], &mut [0; 3]);
    }

    #[test]
    #[should_panic(expected = "with the nonce 0")]
    fn the_recorder_sees_that_a_message_of_a_handshake_changes() {
        let [mut one, mut other] = twins();
        let _ = one.seal(0, &[1; HASH], &mut [0; 3]);
        let _ = other.seal(0, &[2; HASH], &mut [0; 3]);
    }

    #[test]
    fn the_recorder_lets_the_same_text_make_a_key_again() {
        let recorder = Recorder::leaked(&RustCrypto);
        let [mut one, mut other] = [(); 2].map(|()| recorder.aead(Suite::AES_GCM, &[7; 32]));
        for aead in [&mut one, &mut other] {
            let mut key = [0; 32];
            let _ = aead.seal(REKEY, &[], &mut key);
            assert_ne!(key, [0; 32]);
            let _ = aead.seal(0, &[1; HASH], &mut [0; 3]);
        }
        let mut text = [1, 2, 3];
        let tag = one.seal(1, &[4], &mut text);
        assert!(!other.open(1, &[5], &mut text.clone(), &tag));
        assert!(other.open(1, &[4], &mut text, &tag) && text == [1, 2, 3]);
        let _ = recorder.hash(Suite::AES_GCM, &[]);
        let secret = SecretKey::from_bytes([9; 32]);
        let public = recorder.public_key(Suite::AES_GCM, &secret).unwrap();
        let _ = recorder.agree(Suite::AES_GCM, &secret, public.as_bytes());
        let calls = Calls {
            public_key: 1,
            agree: 1,
            hash: 1,
            seal: 5,
            open: 2,
            forged: 1,
        };
        assert_eq!(recorder.calls(), calls);
    }

    #[test]
    fn the_recorder_takes_a_nonce_again_once_it_has_forgotten_the_first() {
        let recorder = Recorder::leaked(&RustCrypto);
        let mut aead = recorder.aead(Suite::CHACHA_POLY, &[7; 32]);
        let _ = aead.seal(5, &[], &mut [0; 3]);
        recorder.forget();
        let _ = aead.seal(5, &[], &mut [0; 3]);
        assert_eq!(recorder.calls().seal, 2);
    }
}
