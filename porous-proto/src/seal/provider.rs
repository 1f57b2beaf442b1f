//! The interface to the algorithms, which a provider has and the core does not.

use alloc::boxed::Box;
use core::fmt;
use core::num::NonZeroU8;

use arrayvec::ArrayVec;

use super::secret::{SecretKey, Shared};
use crate::frame::KEY_MAX;

/// The algorithms of a sealed connection, by their number on the wire: how hosts agree on keys, what
/// seals, and what hashes.
///
/// | number | algorithms |
/// |---|---|
/// | 1 | X25519, ChaCha20-Poly1305, SHA-256 |
/// | 2 | X25519, AES-256-GCM, SHA-256 |
/// | 3–191 | reserved |
/// | 192–255 | private: two hosts that use one have the same provider |
///
/// ```
/// use porous_proto::seal::Suite;
///
/// assert_eq!(Suite::new(1), Some(Suite::CHACHA_POLY));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Suite(NonZeroU8);

impl Suite {
    /// Suite 1: X25519, ChaCha20-Poly1305, SHA-256. Fast on every processor.
    pub const CHACHA_POLY: Self = Self(NonZeroU8::MIN);

    /// Suite 2: X25519, AES-256-GCM, SHA-256. For processors with instructions for AES, and where rules
    /// demand it.
    pub const AES_GCM: Self = Self(NonZeroU8::MIN.saturating_add(1));

    /// The suite with this number; `None` for 0, which is none.
    ///
    /// ```
    /// use porous_proto::seal::Suite;
    ///
    /// assert_eq!(Suite::new(0), None);
    /// ```
    #[must_use]
    pub const fn new(number: u8) -> Option<Self> {
        match NonZeroU8::new(number) {
            Some(number) => Some(Self(number)),
            None => None,
        }
    }

    /// The number of this suite.
    ///
    /// ```
    /// assert_eq!(porous_proto::seal::Suite::AES_GCM.number(), 2);
    /// ```
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0.get()
    }
}

/// The public half of a key pair, 1 to 65 bytes: 32 of X25519, 65 of a point of P-256.
///
/// ```
/// use porous_proto::seal::PublicKey;
///
/// let key = PublicKey::from_bytes(&[9; 32]).expect("32 bytes");
/// assert_eq!(key.as_bytes(), [9; 32]);
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct PublicKey(ArrayVec<u8, { Self::MAX }>);

impl PublicKey {
    /// The most bytes of a key.
    pub const MAX: usize = KEY_MAX;

    /// The key that these bytes are; `None` if there are none, or more than [`MAX`](Self::MAX). Whether
    /// they are a key of some suite shows when they are used.
    ///
    /// ```
    /// use porous_proto::seal::PublicKey;
    ///
    /// assert!(PublicKey::from_bytes(&[9; 66]).is_none());
    /// ```
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let key = ArrayVec::try_from(bytes).ok()?;
        (!key.is_empty()).then_some(Self(key))
    }

    /// The bytes, which are no secret.
    ///
    /// ```
    /// use porous_proto::seal::PublicKey;
    ///
    /// let key = PublicKey::from_bytes(&[9; 32]).expect("32 bytes");
    /// assert_eq!(key.as_bytes().len(), 32);
    /// ```
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PublicKey(")?;
        for byte in &self.0 {
            write!(f, "{byte:02x}")?;
        }
        f.write_str(")")
    }
}

/// A key that is none of this suite: a point that is not on the curve, or one of low order, with which an
/// agreement has the same result whatever the other key is (RFC 7748 §6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weak;

impl fmt::Display for Weak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("this is no key of this suite: get the right one from its owner")
    }
}

impl core::error::Error for Weak {}

/// The provider does not have this suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsupported;

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the provider does not have this suite: choose one of Provider::suites")
    }
}

impl core::error::Error for Unsupported {}

/// A library of cryptography, or a piece of hardware for it.
///
/// The core asks a provider only for suites that [`suites`](Self::suites) lists; a provider may panic if
/// it is asked for another. It draws no random numbers: all secrets come from the host's generator. It is
/// asked with secrets, so none of its methods may take a time that depends on their values.
///
/// A host keeps a `&'static dyn Provider`: no counter of references, which some microcontrollers cannot
/// have.
pub trait Provider: Send + Sync + fmt::Debug {
    /// The suites that it has, the best first. Always the same.
    fn suites(&self) -> &[Suite];

    /// Bytes of a public key, 1 to 65: a handshake is cut up before anything in it is understood. 32 by
    /// default, as of X25519.
    fn public_key_length(&self, suite: Suite) -> usize {
        let _ = suite;
        32
    }

    /// The public half of a key pair.
    ///
    /// # Errors
    ///
    /// If no key pair of this suite has this secret half. Of X25519 all are one.
    fn public_key(&self, suite: Suite, secret: &SecretKey) -> Result<PublicKey, Weak>;

    /// What the owners of two key pairs agree on: the result of Diffie and Hellman's function.
    ///
    /// # Errors
    ///
    /// If `public`, which comes from the network, is no key of this suite, or of low order. The core
    /// refuses a result of zeros in any case.
    fn agree(&self, suite: Suite, secret: &SecretKey, public: &[u8]) -> Result<Shared, Weak>;

    /// The hash of all parts together, as if they were one: SHA-256, or for a private suite a hash of 32
    /// bytes with blocks of 64. HMAC and HKDF are the core's.
    fn hash(&self, suite: Suite, parts: &[&[u8]]) -> [u8; 32];

    /// An AEAD under a key. It is kept for as long as the key is used, so that what depends on the key
    /// alone is computed once; it wipes the key when it is dropped.
    fn aead(&self, suite: Suite, key: &[u8; 32]) -> Box<dyn Aead>;
}

/// An AEAD with a tag of 16 bytes, under one key.
///
/// Its nonce is a number, of which a suite makes bytes: 4 zeros, and then the number in 8 bytes, the lowest
/// first for ChaCha20-Poly1305, the highest first for AES-GCM (Noise §12.3, §12.4). The core never seals
/// twice with one number, so the AEAD need not remember any.
pub trait Aead: Send + Sync {
    /// Encrypts `buf` in place, and gives the tag of it and of `aad`.
    fn seal(&mut self, nonce: u64, aad: &[u8], buf: &mut [u8]) -> [u8; 16];

    /// Decrypts `buf` in place if the tag is that of it and of `aad`, which is compared in a time that
    /// does not depend on where the tags differ. Otherwise gives false, and leaves nothing in `buf` that is
    /// decrypted.
    #[must_use]
    fn open(&mut self, nonce: u64, aad: &[u8], buf: &mut [u8], tag: &[u8; 16]) -> bool;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_keys_have_1_to_65_bytes() {
        for (length, is_key) in [(0, false), (1, true), (65, true), (66, false)] {
            let bytes = alloc::vec![7; length];
            let key = PublicKey::from_bytes(&bytes);
            assert_eq!(key.is_some(), is_key, "{length}");
            assert!(key.is_none_or(|key| key.as_bytes() == bytes));
        }
    }

    #[test]
    fn public_keys_are_shown_in_hexadecimal() {
        let key = PublicKey::from_bytes(&[0, 0xAB]).unwrap();
        assert_eq!(alloc::format!("{key:?}"), "PublicKey(00ab)");
    }

    #[test]
    fn suites_have_their_numbers() {
        assert_eq!(Suite::CHACHA_POLY.number(), 1);
        assert_eq!(Suite::AES_GCM.number(), 2);
        assert_eq!(Suite::new(255).map(Suite::number), Some(255));
    }
}
