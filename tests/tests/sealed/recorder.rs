//! A provider that notes what is sealed, and fails the run if a key seals two texts with one nonce.

use alloc::sync::Arc;
use core::hash::{Hash, Hasher};
use core::sync::atomic::{AtomicU64, Ordering};
use std::collections::HashMap;
use std::hash::DefaultHasher;
use std::sync::{Mutex, PoisonError};

use allocation_counter::opt_out;
use porous_crypto::RustCrypto;
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
pub(crate) struct Calls {
    pub(crate) public_key: u64,
    pub(crate) agree: u64,
    pub(crate) hash: u64,
    pub(crate) seal: u64,
    pub(crate) open: u64,
    /// Texts that did not open.
    pub(crate) forged: u64,
}

/// The cryptography of `porous-crypto`. One recorder serves all hosts of a world, because two hosts that seal
/// with one key and one nonce are as bad as one that does so twice.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    notes: Arc<Notes>,
}

impl Recorder {
    pub(crate) fn leaked() -> &'static Self {
        Box::leak(Box::default())
    }

    pub(crate) fn calls(&self) -> Calls {
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
        RustCrypto.suites()
    }

    fn public_key(&self, suite: Suite, secret: &SecretKey) -> Result<PublicKey, Weak> {
        count(&self.notes.public_key);
        RustCrypto.public_key(suite, secret)
    }

    fn agree(&self, suite: Suite, secret: &SecretKey, public: &[u8]) -> Result<Shared, Weak> {
        count(&self.notes.agree);
        RustCrypto.agree(suite, secret, public)
    }

    fn hash(&self, suite: Suite, parts: &[&[u8]]) -> [u8; 32] {
        count(&self.notes.hash);
        RustCrypto.hash(suite, parts)
    }

    fn aead(&self, suite: Suite, key: &[u8; 32]) -> Box<dyn Aead> {
        Box::new(Recording {
            notes: Arc::clone(&self.notes),
            key: *key,
            aead: RustCrypto.aead(suite, key),
        })
    }
}

/// An AEAD under a key that is known to the notes.
struct Recording {
    notes: Arc<Notes>,
    key: [u8; 32],
    aead: Box<dyn Aead>,
}

impl Recording {
    /// # Panics
    ///
    /// If the key has sealed with this nonce before. The text that makes the next key and the messages of a
    /// handshake are made again by those who need them again, and are the same each time.
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
        // The notes are no cost of a host's.
        opt_out(|| self.note(nonce, aad, buf));
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

/// Two AEADs of one recorder under one key.
fn twins() -> [Box<dyn Aead>; 2] {
    let recorder = Recorder::leaked();
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
    let recorder = Recorder::leaked();
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
