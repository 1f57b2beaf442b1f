//! A [`Provider`] over a library that is not written in Rust: [`AwsLc`], the cryptography of AWS-LC. A library
//! of a console, a certified module or the engine of a chip becomes a provider in the same way: two suites are
//! a hundred lines.
//!
//! Its tests are those of `porous-crypto` over this provider, both providers side by side, and connections
//! between hosts of which each has another provider.

mod aead;

use aws_lc_rs::agreement::{PrivateKey, UnparsedPublicKey, X25519, agree};
use aws_lc_rs::digest::{Context, SHA256};
use porous_proto::seal::{Aead, Provider, PublicKey, SecretKey, Shared, Suite, Weak};

use crate::aead::keyed;

/// The cryptography of AWS-LC. `&AwsLc` is a `&'static dyn Provider`.
///
/// ```
/// use porous_proto::seal::{Provider, Suite};
/// use provider::AwsLc;
///
/// let provider: &'static dyn Provider = &AwsLc;
/// assert_eq!(provider.suites(), [Suite::CHACHA_POLY, Suite::AES_GCM]);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct AwsLc;

impl Provider for AwsLc {
    fn suites(&self) -> &[Suite] {
        &[Suite::CHACHA_POLY, Suite::AES_GCM]
    }

    fn public_key(&self, _: Suite, secret: &SecretKey) -> Result<PublicKey, Weak> {
        let public = private(secret)?.compute_public_key().map_err(|_| Weak)?;
        PublicKey::from_bytes(public.as_ref()).ok_or(Weak)
    }

    fn agree(&self, _: Suite, secret: &SecretKey, public: &[u8]) -> Result<Shared, Weak> {
        let public = UnparsedPublicKey::new(&X25519, public);
        // It fails for points of low order as well, RFC 7748 §6.1.
        agree(&private(secret)?, public, Weak, |shared| {
            let shared = shared.try_into().map_err(|_| Weak)?;
            Ok(Shared::from_bytes(shared))
        })
    }

    fn hash(&self, _: Suite, parts: &[&[u8]]) -> [u8; 32] {
        let mut hash = Context::new(&SHA256);
        for part in parts {
            hash.update(part);
        }
        let hash = hash.finish();
        hash.as_ref().try_into().expect("SHA-256 has 32 bytes")
    }

    /// # Panics
    ///
    /// If the suite is none of [`suites`](Provider::suites).
    fn aead(&self, suite: Suite, key: &[u8; 32]) -> Box<dyn Aead> {
        keyed(suite, key)
    }
}

fn private(secret: &SecretKey) -> Result<PrivateKey, Weak> {
    PrivateKey::from_private_key(&X25519, secret.as_bytes()).map_err(|_| Weak)
}
