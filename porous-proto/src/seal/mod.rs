//! What a sealed connection needs of cryptography, and the tokens that admit a client to a server.
//!
//! A sealed connection is confidential, its datagrams cannot be forged, and a key that is stolen later
//! does not open what was recorded before. The core has the protocol for that (Noise, key updates, tokens),
//! and none of the algorithms: an application hands in a [`Provider`], which may be the crate
//! `porous-crypto`, a console's library, a certified module, or the engine of a microcontroller.
//!
//! A host that has suites ([`Config::sealed`](crate::Config::sealed)) and a [`Security`] makes sealed
//! connections by [`Host::connect_sealed`](crate::Host::connect_sealed), and as a listener for hosts that ask
//! for it. A server proves itself by a key pair, and a client by a secret that both have, or by a [`Token`] that
//! a backend has made for it.
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
#[cfg(feature = "record")]
pub(crate) mod record;
mod secret;
mod secured;
mod security;
mod token;

pub(crate) mod datagram;
pub(crate) mod gate;
pub(crate) mod hkdf;
pub(crate) mod noise;
pub(crate) mod phases;
pub(crate) mod used;

pub(crate) mod toy;

pub use claims::{Claims, ClaimsError};
pub(crate) use crypto::Crypto;
pub use provider::{Aead, Provider, PublicKey, Suite, Unsupported, Weak};
pub(crate) use secret::Secret;
pub use secret::{Psk, SecretKey, Shared, TokenKey};
pub(crate) use secured::Proved;
pub use secured::Secured;
pub(crate) use security::Shown;
pub use security::{Credentials, Security, SecurityError, TooLong};
pub use token::{Token, TokenRefusal};
