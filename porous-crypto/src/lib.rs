//! Cryptography for sealed connections of POROUS: [`RustCrypto`] is a [`Provider`] made of the crates of
//! the projects RustCrypto and dalek. It is pure Rust, needs `alloc` and nothing else, and has no `unsafe`
//! of its own.
//!
//! | suite | agrees by | seals by | hashes by |
//! |---|---|---|---|
//! | [`CHACHA_POLY`](Suite::CHACHA_POLY) | X25519 | ChaCha20-Poly1305 | SHA-256 |
//! | [`AES_GCM`](Suite::AES_GCM), by the feature `aes` | X25519 | AES-256-GCM | SHA-256 |
//!
//! Processors of desktops have instructions for AES and SHA-256, and wide registers for ChaCha20, which are
//! found when the program runs. All algorithms take a time that does not depend on secrets, as far as their
//! authors can tell.
//!
//! # Example
//!
//! A backend makes a token for a player, and a game server opens it.
//!
//! ```
//! # use porous_proto::hooks::doc::example_rng;
//! use porous_crypto::RustCrypto;
//! use porous_proto::seal::{Claims, Token, TokenKey};
//!
//! # let mut rng = example_rng();
//! let key = TokenKey::generate(&mut rng); // a program draws from its system
//! let now = 1_800_000_000; // Unix seconds
//! let claims = Claims::new(0x7069_6e67, 42, now..now + 30).user_data(b"ana")?;
//! let (token, psk) = Token::mint(&RustCrypto, &key, &claims, &mut rng)?;
//!
//! let (opened, same) = token.open(&RustCrypto, &key, 0x7069_6e67)?;
//! assert_eq!(opened, claims);
//! assert_eq!(same.as_bytes(), psk.as_bytes());
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! # Features
//!
//! Both are on by default; a microcontroller does without.
//!
//! * `precomputed-tables`: public keys are computed faster, by tables of 30 KiB.
//! * `aes`: the second suite. Where a processor has no instructions for AES, it is slow; hosts of which one
//!   does not have the second suite use the first.
//!
//! # Another provider
//!
//! A console's library, a certified module or the engine of a microcontroller becomes a provider by
//! implementing [`Provider`] and [`Aead`]. The tests of this crate are vectors of RFCs, NIST and Noise, and
//! can be run over another provider as well.
#![no_std]
#![doc(test(attr(deny(warnings))))]

extern crate alloc;

mod aead;

use alloc::boxed::Box;

use porous_proto::seal::{Aead, Provider, PublicKey, SecretKey, Shared, Suite, Weak};
use sha2::{Digest, Sha256};
use x25519_dalek::StaticSecret;

use crate::aead::keyed;

/// The suites of this build, the best first.
const SUITES: &[Suite] = &[
    Suite::CHACHA_POLY,
    #[cfg(feature = "aes")]
    Suite::AES_GCM,
];

/// Cryptography of the projects RustCrypto and dalek. `&RustCrypto` is a `&'static dyn Provider`.
///
/// ```
/// use porous_crypto::RustCrypto;
/// use porous_proto::seal::{Provider, Suite};
///
/// let provider: &'static dyn Provider = &RustCrypto;
/// assert_eq!(provider.suites()[0], Suite::CHACHA_POLY);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct RustCrypto;

impl Provider for RustCrypto {
    fn suites(&self) -> &[Suite] {
        SUITES
    }

    fn public_key(&self, _: Suite, secret: &SecretKey) -> Result<PublicKey, Weak> {
        let secret = StaticSecret::from(*secret.as_bytes());
        #[cfg(feature = "precomputed-tables")]
        let public = x25519_dalek::PublicKey::from(&secret);
        // As an agreement is computed: 3 KiB of code less than by Edwards' curve.
        #[cfg(not(feature = "precomputed-tables"))]
        let public = secret.diffie_hellman(&x25519_dalek::X25519_BASEPOINT_BYTES.into());
        PublicKey::from_bytes(public.as_bytes()).ok_or(Weak)
    }

    fn agree(&self, _: Suite, secret: &SecretKey, public: &[u8]) -> Result<Shared, Weak> {
        let public: [u8; 32] = public.try_into().map_err(|_| Weak)?;
        let secret = StaticSecret::from(*secret.as_bytes());
        let shared = secret.diffie_hellman(&public.into());
        // False for points of low order, RFC 7748 §6.1.
        if !shared.was_contributory() {
            return Err(Weak);
        }
        Ok(Shared::from_bytes(shared.to_bytes()))
    }

    fn hash(&self, _: Suite, parts: &[&[u8]]) -> [u8; 32] {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update(part);
        }
        hash.finalize().into()
    }

    /// # Panics
    ///
    /// If the suite is none of [`suites`](Provider::suites).
    fn aead(&self, suite: Suite, key: &[u8; 32]) -> Box<dyn Aead> {
        keyed(suite, key)
    }
}
