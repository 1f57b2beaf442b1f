//! The cryptography of `porous-crypto`, which remembers what it has computed: schedules differ in little, so that
//! nearly all agreements on keys come again.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::hash::Hash;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use porous_crypto::RustCrypto;
use porous_proto::seal::{Aead, Provider, PublicKey, SecretKey, Shared, Suite, Weak};

/// A secret key and a public one, and what their owners agree on.
type Agreements = HashMap<([u8; 32], Vec<u8>), Result<[u8; 32], Weak>>;

/// Public keys by their secret ones.
type PublicKeys = HashMap<[u8; 32], Result<PublicKey, Weak>>;

/// The most values that are remembered of each kind: some ten megabytes.
const MOST: usize = 1 << 16;

/// The cryptography of `porous-crypto`, which remembers what it has computed: agreements on keys take most of the
/// time of a handshake, and schedules of one scene come to few different ones. For simulations: it keeps secrets.
// Both suites have keys of one kind.
#[derive(Default)]
pub struct Remembering {
    agreements: Mutex<Agreements>,
    public_keys: Mutex<PublicKeys>,
}

impl Remembering {
    /// One that is never dropped, as providers have to live as long as the program.
    ///
    /// ```
    /// use porous_proto::seal::{Provider, SecretKey, Suite};
    /// use porous_sim::explore::Remembering;
    ///
    /// let (provider, secret) = (Remembering::leaked(), SecretKey::from_bytes([1; 32]));
    /// let [first, again] = [0; 2].map(|_| provider.public_key(Suite::CHACHA_POLY, &secret).unwrap());
    /// assert_eq!(first, again);
    /// ```
    #[must_use]
    pub fn leaked() -> &'static Self {
        Box::leak(Box::default())
    }

    /// That of all explorations.
    pub(super) fn shared() -> &'static Self {
        static SHARED: std::sync::OnceLock<Remembering> = std::sync::OnceLock::new();
        SHARED.get_or_init(Self::default)
    }
}

/// The value of this key, which is computed if it is new.
fn recall<K: Hash + Eq, V: Clone>(
    known: &Mutex<HashMap<K, V>>,
    key: K,
    compute: impl FnOnce() -> V,
) -> V {
    // What a thread that panicked has left is whole: an entry is put in at once.
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    if known.len() >= MOST {
        known.clear();
    }
    known.entry(key).or_insert_with(compute).clone()
}

impl fmt::Debug for Remembering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remembering").finish_non_exhaustive()
    }
}

impl Provider for Remembering {
    fn suites(&self) -> &[Suite] {
        RustCrypto.suites()
    }

    fn public_key(&self, suite: Suite, secret: &SecretKey) -> Result<PublicKey, Weak> {
        let compute = || RustCrypto.public_key(suite, secret);
        recall(&self.public_keys, *secret.as_bytes(), compute)
    }

    fn agree(&self, suite: Suite, secret: &SecretKey, public: &[u8]) -> Result<Shared, Weak> {
        let compute = || {
            let shared = RustCrypto.agree(suite, secret, public)?;
            Ok(*shared.as_bytes())
        };
        let key = (*secret.as_bytes(), public.to_vec());
        recall(&self.agreements, key, compute).map(Shared::from_bytes)
    }

    fn hash(&self, suite: Suite, parts: &[&[u8]]) -> [u8; 32] {
        RustCrypto.hash(suite, parts)
    }

    fn aead(&self, suite: Suite, key: &[u8; 32]) -> Box<dyn Aead> {
        RustCrypto.aead(suite, key)
    }
}
