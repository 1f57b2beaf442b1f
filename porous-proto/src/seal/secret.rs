//! Secrets of 32 bytes. They wipe themselves, and nothing prints them.

use core::fmt;

use rand_core::CryptoRng;
use zeroize::Zeroizing;

/// Lets `Debug` show that there is a secret, and not which.
macro_rules! hide {
    ($($name:ident),*) => {$(
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($name), "(..)"))
            }
        }
    )*};
}

hide!(Secret, SecretKey, Psk, TokenKey, Shared);

/// Any secret of 32 bytes, as the chaining key of a handshake. Wiped when it is dropped.
#[derive(Clone)]
pub(crate) struct Secret(Zeroizing<[u8; 32]>);

impl Secret {
    pub(crate) fn new(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    pub(crate) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    pub(crate) fn generate<R: CryptoRng>(rng: &mut R) -> Self {
        // Drawn in place: a local array would stay on the stack.
        let mut secret = Self::new([0; 32]);
        rng.fill_bytes(&mut secret.0[..]);
        secret
    }
}

/// The secret half of a key pair: a server's identity, or an ephemeral key of one handshake.
///
/// Any 32 bytes are a key of the suites 1 and 2 (RFC 7748 §5). A suite of a provider's own may have fewer
/// keys, and then the provider refuses the others as [`Weak`](super::Weak).
///
/// ```
/// use porous_proto::seal::SecretKey;
///
/// let key = SecretKey::from_bytes([7; 32]);
/// assert_eq!(format!("{key:?}"), "SecretKey(..)");
/// ```
#[derive(Clone)]
pub struct SecretKey(Secret);

impl SecretKey {
    /// The key that these bytes are.
    ///
    /// ```
    /// let key = porous_proto::seal::SecretKey::from_bytes([7; 32]);
    /// # let _ = key;
    /// ```
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(Secret::new(bytes))
    }

    /// A new key, drawn from a generator that is fit for it.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_rng;
    /// use porous_proto::seal::SecretKey;
    ///
    /// # let mut rng = example_rng();
    /// let key = SecretKey::generate(&mut rng); // a program draws from its system
    /// # let _ = key;
    /// ```
    #[must_use]
    pub fn generate<R: CryptoRng>(rng: &mut R) -> Self {
        Self(Secret::generate(rng))
    }

    /// The bytes, to be stored where nobody else reads them.
    ///
    /// ```
    /// use porous_proto::seal::SecretKey;
    ///
    /// assert_eq!(SecretKey::from_bytes([7; 32]).as_bytes(), &[7; 32]);
    /// ```
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        self.0.bytes()
    }
}

/// A secret that client and server both have before they connect: a pre-shared key.
///
/// It has to be random: a listener can try guesses on a recorded handshake. A password is no psk.
///
/// ```
/// use porous_proto::seal::Psk;
///
/// assert_eq!(format!("{:?}", Psk::from_bytes([7; 32])), "Psk(..)");
/// ```
#[derive(Clone)]
pub struct Psk(Secret);

impl Psk {
    /// The secret that these bytes are.
    ///
    /// ```
    /// let psk = porous_proto::seal::Psk::from_bytes([7; 32]);
    /// # let _ = psk;
    /// ```
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(Secret::new(bytes))
    }

    /// A new secret, drawn from a generator that is fit for it.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_rng;
    /// # let mut rng = example_rng();
    /// let psk = porous_proto::seal::Psk::generate(&mut rng);
    /// # let _ = psk;
    /// ```
    #[must_use]
    pub fn generate<R: CryptoRng>(rng: &mut R) -> Self {
        Self(Secret::generate(rng))
    }

    /// The bytes, to be handed to the other side over a channel that is secret itself.
    ///
    /// ```
    /// assert_eq!(porous_proto::seal::Psk::from_bytes([7; 32]).as_bytes(), &[7; 32]);
    /// ```
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        self.0.bytes()
    }

    pub(crate) const fn from_secret(secret: Secret) -> Self {
        Self(secret)
    }
}

/// The secret that a backend shares with its game servers: it makes [`Token`](super::Token)s and opens
/// them.
///
/// ```
/// use porous_proto::seal::TokenKey;
///
/// assert_eq!(format!("{:?}", TokenKey::from_bytes([7; 32])), "TokenKey(..)");
/// ```
#[derive(Clone)]
pub struct TokenKey(Secret);

impl TokenKey {
    /// The key that these bytes are.
    ///
    /// ```
    /// let key = porous_proto::seal::TokenKey::from_bytes([7; 32]);
    /// # let _ = key;
    /// ```
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(Secret::new(bytes))
    }

    /// A new key, drawn from a generator that is fit for it.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_rng;
    /// # let mut rng = example_rng();
    /// let key = porous_proto::seal::TokenKey::generate(&mut rng);
    /// # let _ = key;
    /// ```
    #[must_use]
    pub fn generate<R: CryptoRng>(rng: &mut R) -> Self {
        Self(Secret::generate(rng))
    }

    /// The bytes, for the configuration of the backend and of its servers.
    ///
    /// ```
    /// assert_eq!(porous_proto::seal::TokenKey::from_bytes([7; 32]).as_bytes(), &[7; 32]);
    /// ```
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        self.0.bytes()
    }
}

/// What two hosts have agreed on by their key pairs. Only a [`Provider`](super::Provider) makes one.
///
/// ```
/// use porous_proto::seal::Shared;
///
/// assert_eq!(format!("{:?}", Shared::from_bytes([7; 32])), "Shared(..)");
/// ```
#[derive(Clone)]
pub struct Shared(Secret);

impl Shared {
    /// The result of an agreement: X25519's 32 bytes, or the x-coordinate on a curve of 256 bits.
    ///
    /// ```
    /// let shared = porous_proto::seal::Shared::from_bytes([7; 32]);
    /// # let _ = shared;
    /// ```
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(Secret::new(bytes))
    }

    /// The bytes, from which keys are derived; they are no key themselves.
    ///
    /// ```
    /// assert_eq!(porous_proto::seal::Shared::from_bytes([7; 32]).as_bytes(), &[7; 32]);
    /// ```
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        self.0.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn no_secret_is_printed() {
        let bytes = [0xAB; 32];
        let shown = [
            format!("{:?}", Secret::new(bytes)),
            format!("{:#?}", SecretKey::from_bytes(bytes)),
            format!("{:#?}", Psk::from_bytes(bytes)),
            format!("{:#?}", TokenKey::from_bytes(bytes)),
            format!("{:#?}", Shared::from_bytes(bytes)),
        ];
        for shown in shown {
            assert!(shown.ends_with("(..)"), "{shown}");
        }
    }

    /// That the memory of a value that is gone was overwritten cannot be seen without `unsafe`: only that its
    /// type does so.
    #[test]
    fn secrets_are_wiped_when_they_are_dropped() {
        fn is_wiped<T: zeroize::ZeroizeOnDrop>(_: &T) {}
        is_wiped(&Secret::new([1; 32]).0);
        is_wiped(&SecretKey::from_bytes([1; 32]).0.0);
        is_wiped(&Psk::from_bytes([1; 32]).0.0);
        is_wiped(&TokenKey::from_bytes([1; 32]).0.0);
        is_wiped(&Shared::from_bytes([1; 32]).0.0);
    }
}
