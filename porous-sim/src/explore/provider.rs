//! The cryptography of `porous-crypto`, which remembers what it has computed: schedules differ in little, so that
//! nearly all agreements on keys come again.

use core::hash::Hash;
use std::collections::HashMap;
use std::sync::Mutex;

use porous_crypto::RustCrypto;
use porous_proto::seal::{Aead, Provider, PublicKey, SecretKey, Shared, Suite, Weak};

/// A secret key and a public one, and what their owners agree on.
type Agreements = HashMap<([u8; 32], Vec<u8>), Result<[u8; 32], Weak>>;

/// Public keys by their secret ones.
type PublicKeys = HashMap<[u8; 32], Result<PublicKey, Weak>>;

/// The suites have one kind of keys.
#[derive(Default)]
pub(crate) struct Remembering {
    agreements: Mutex<Agreements>,
    public_keys: Mutex<PublicKeys>,
}

impl Remembering {
    pub(crate) fn leaked() -> &'static Self {
        Box::leak(Box::default())
    }
}

/// The value of this key, which is computed if it is new.
fn recall<K: Hash + Eq, V: Clone>(
    known: &Mutex<HashMap<K, V>>,
    key: K,
    compute: impl FnOnce() -> V,
) -> V {
    let mut known = known.lock().unwrap();
    known.entry(key).or_insert_with(compute).clone()
}

impl core::fmt::Debug for Remembering {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
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
