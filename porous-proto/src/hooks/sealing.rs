//! The sealing of the core, for tests with a provider: those of `porous-crypto`. The state machine of
//! connections does not call any of it yet.

use crate::seal::{Crypto, Provider, Psk, PublicKey, Secret, SecretKey, Suite, hkdf, noise};

/// A provider and one of its suites.
#[derive(Clone, Copy, Debug)]
pub struct Kit(Crypto);

impl Kit {
    /// `None` if the provider does not have the suite.
    #[must_use]
    pub fn new(provider: &'static dyn Provider, suite: Suite) -> Option<Self> {
        Crypto::new(provider, suite).ok().map(Self)
    }

    /// HMAC.
    #[must_use]
    pub fn hmac(self, key: &[u8], message: &[u8]) -> [u8; 32] {
        hkdf::hmac(self.0, key, [message, &[], &[]])
    }

    /// HKDF, with `N` times 32 bytes as its result.
    #[must_use]
    pub fn hkdf<const N: usize>(self, salt: &[u8], input: &[u8], info: &[u8]) -> [[u8; 32]; N] {
        let key = hkdf::extract(self.0, salt, [input, &[]]);
        let keys: [Secret; N] = hkdf::expand(self.0, &key, info);
        keys.map(|key| *key.bytes())
    }

    /// The public half of a key pair; `None` if there is none.
    #[must_use]
    pub fn public_key(self, secret: &SecretKey) -> Option<PublicKey> {
        self.0.public_key(secret).ok()
    }
}

/// Why a message of a handshake was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Too short.
    Length,
    /// A key is none, or of low order.
    Weak,
    /// It does not open.
    Forged,
    /// The buffer is too short.
    NoRoom,
}

impl From<noise::Failure> for Failure {
    fn from(failure: noise::Failure) -> Self {
        match failure {
            noise::Failure::Length => Self::Length,
            noise::Failure::Weak => Self::Weak,
            noise::Failure::Forged => Self::Forged,
            noise::Failure::NoRoom => Self::NoRoom,
        }
    }
}

/// What both sides of a handshake have to know.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// The algorithms.
    pub kit: Kit,
    /// What both have seen.
    pub prologue: &'a [u8],
    /// Their secret.
    pub psk: Option<&'a Psk>,
}

impl<'a> Setup<'a> {
    const fn inner(&self) -> noise::Setup<'a> {
        noise::Setup {
            crypto: self.kit.0,
            prologue: self.prologue,
            psk: self.psk,
        }
    }
}

/// What a handshake gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keys {
    /// k1, k2 and k3.
    pub keys: [[u8; 32]; 3],
    /// h.
    pub binding: [u8; 32],
}

impl From<noise::Keys> for Keys {
    fn from(keys: noise::Keys) -> Self {
        let all = [&keys.initiator, &keys.responder, &keys.control];
        Self {
            keys: all.map(|key| *key.bytes()),
            binding: keys.binding,
        }
    }
}

/// The side that connects.
#[derive(Debug)]
pub struct Initiator(noise::Initiator);

impl Initiator {
    /// Writes message 1, and gives its length.
    pub fn start(
        setup: &Setup<'_>,
        server: Option<&PublicKey>,
        ephemeral: [u8; 32],
        payload: &[u8],
        out: &mut [u8],
    ) -> Result<(Self, usize), Failure> {
        let ephemeral = SecretKey::from_bytes(ephemeral);
        let (state, length) =
            noise::Initiator::start(&setup.inner(), server, ephemeral, payload, out)?;
        Ok((Self(state), length))
    }

    /// Opens message 2, and gives the length of its payload.
    pub fn finish(&self, message: &[u8], out: &mut [u8]) -> Result<(Keys, usize), Failure> {
        let (keys, length) = self.0.finish(message, out)?;
        Ok((keys.into(), length))
    }
}

/// The side that was connected to.
#[derive(Debug)]
pub struct Responder(noise::Responder);

impl Responder {
    /// Opens message 1, and gives the length of its payload.
    pub fn open(
        setup: &Setup<'_>,
        identity: Option<[u8; 32]>,
        message: &[u8],
        out: &mut [u8],
    ) -> Result<(Self, usize), Failure> {
        let identity = identity.map(SecretKey::from_bytes);
        let identity = identity.map(|secret| noise::Identity::new(setup.kit.0, secret));
        let identity = identity.transpose().map_err(|_| Failure::Weak)?;
        let (state, length) =
            noise::Responder::open(&setup.inner(), identity.as_ref(), message, out)?;
        Ok((Self(state), length))
    }

    /// Writes message 2, and gives its length.
    pub fn reply(
        self,
        ephemeral: [u8; 32],
        payload: &[u8],
        out: &mut [u8],
    ) -> Result<(Keys, usize), Failure> {
        let ephemeral = SecretKey::from_bytes(ephemeral);
        let (keys, length) = self.0.reply(&ephemeral, payload, out)?;
        Ok((keys.into(), length))
    }
}
