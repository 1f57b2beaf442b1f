//! A provider together with one of its suites: all that the core asks of cryptography goes through here.

use alloc::boxed::Box;

use super::provider::{Aead, Provider, PublicKey, Suite, Unsupported, Weak};
use super::secret::{SecretKey, Shared};
use crate::frame::KEY_TAG;
use crate::wire;

/// A suite of a provider. That there is one of these shows that the provider has the suite.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crypto {
    provider: &'static dyn Provider,
    suite: Suite,
}

impl Crypto {
    pub(crate) fn new(provider: &'static dyn Provider, suite: Suite) -> Result<Self, Unsupported> {
        let has = provider.suites().contains(&suite);
        has.then_some(Self { provider, suite }).ok_or(Unsupported)
    }

    pub(crate) const fn suite(self) -> Suite {
        self.suite
    }

    pub(crate) fn public_key_length(self) -> usize {
        self.provider.public_key_length(self.suite)
    }

    pub(crate) fn public_key(self, secret: &SecretKey) -> Result<PublicKey, Weak> {
        self.provider.public_key(self.suite, secret)
    }

    /// Agrees, and refuses what a point of low order gives: zeros, which everybody knows (RFC 7748 §6.1).
    /// The check is here so that no provider can forget it.
    pub(crate) fn agree(self, secret: &SecretKey, public: &[u8]) -> Result<Shared, Weak> {
        let shared = self.provider.agree(self.suite, secret, public)?;
        // It looks at all bytes, and only the answer is used.
        let is_zero = wire::all_zero(shared.as_bytes());
        (!is_zero).then_some(shared).ok_or(Weak)
    }

    /// Names a server's public key to the server that has it, in few bytes.
    pub(crate) fn key_tag(self, public: &PublicKey) -> [u8; KEY_TAG] {
        let [a, b, c, d, ..] = self.hash(&[public.as_bytes()]);
        [a, b, c, d]
    }

    pub(crate) fn hash(self, parts: &[&[u8]]) -> [u8; 32] {
        self.provider.hash(self.suite, parts)
    }

    pub(crate) fn aead(self, key: &[u8; 32]) -> Box<dyn Aead> {
        self.provider.aead(self.suite, key)
    }
}

#[cfg(test)]
mod tests {
    use super::super::toy::Toy;
    use super::*;

    #[test]
    fn suites_that_a_provider_does_not_have_are_refused() {
        assert!(Crypto::new(&Toy, Suite::CHACHA_POLY).is_ok());
        let other = Suite::new(77).unwrap();
        assert_eq!(Crypto::new(&Toy, other).err(), Some(Unsupported));
    }

    /// The toy's agreement is the exclusive or of both keys, and it refuses nothing itself.
    #[test]
    fn an_agreement_on_zeros_is_refused() {
        let crypto = Crypto::new(&Toy, Suite::CHACHA_POLY).unwrap();
        let secret = SecretKey::from_bytes([7; 32]);
        assert_eq!(crypto.agree(&secret, &[7; 32]).err(), Some(Weak));
        let mut other = [7; 32];
        other[31] = 6;
        assert!(crypto.agree(&secret, &other).is_ok());
    }
}
