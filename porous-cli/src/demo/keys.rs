//! The keys of a sealed demo: one key pair of the server, which all clients know.

use std::io;

use porous_std::proto::seal::{Credentials, Provider, SecretKey, Security, Suite};
use porous_std::{OsRng, RustCrypto};

/// What the server has, and what a client brings.
#[derive(Debug)]
pub(crate) struct Keys {
    pub(crate) security: Security,
    pub(crate) credentials: Credentials,
}

impl Keys {
    /// A new key pair.
    pub(crate) fn draw() -> io::Result<Self> {
        let secret = SecretKey::generate(&mut OsRng::default());
        let security = Security::new(&RustCrypto).identity(&secret);
        // Both suites have the same keys.
        let public = RustCrypto.public_key(Suite::CHACHA_POLY, &secret);
        let public = public.map_err(|error| io::Error::other(error.to_string()))?;
        Ok(Self {
            security: security.map_err(io::Error::other)?,
            credentials: Credentials::new().server_key(public),
        })
    }
}
