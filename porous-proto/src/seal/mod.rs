//! What a sealed connection needs of cryptography, and the tokens that admit a client to a server.
//!
//! A sealed connection is confidential, its datagrams cannot be forged, and a key that is stolen later
//! does not open what was recorded before. The core has the protocol for that (Noise, key updates, tokens),
//! and none of the algorithms: an application hands in a [`Provider`], which may be the crate
//! `porous-crypto`, a console's library, a certified module, or the engine of a microcontroller.
//!
//! The state machine of connections does not seal yet. What is here is complete in itself: the interface
//! to providers, the types of keys, and [`Token`]s.
//!
//! # Secrets
//!
//! [`SecretKey`], [`Psk`], [`TokenKey`] and [`Shared`] overwrite their bytes when they are dropped, and
//! `Debug` never shows them. They have no `PartialEq`, which would take a time that depends on where two
//! secrets differ. A value that is moved may leave a copy behind: Rust does not say where, so keep secrets
//! where they are made, and lend them.

mod claims;
mod crypto;
mod provider;
mod secret;
mod token;

pub(crate) mod gate;
pub(crate) mod hkdf;
pub(crate) mod noise;
pub(crate) mod phases;
pub(crate) mod used;

#[cfg(test)]
mod toy;

pub use claims::{Claims, ClaimsError};
pub(crate) use crypto::Crypto;
pub use provider::{Aead, Provider, PublicKey, Suite, Unsupported, Weak};
pub(crate) use secret::Secret;
pub use secret::{Psk, SecretKey, Shared, TokenKey};
pub use token::{Token, TokenRefusal};
