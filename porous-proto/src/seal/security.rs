//! What a host needs so that it can seal, and what a client shows of itself when it connects.

use alloc::boxed::Box;
use core::fmt;
use core::time::Duration;

use super::crypto::Crypto;
use super::phases::Limits;
use super::provider::{Provider, Suite};
use crate::frame::{GREETING_MAX, Suites};

/// How a host seals: with whose cryptography, and whether it must. Without one
/// ([`Host::set_security`](crate::Host::set_security)) a host neither seals nor takes part in a sealed
/// connection.
///
/// ```no_run
/// # fn provider() -> &'static dyn porous_proto::seal::Provider { unimplemented!() }
/// use porous_proto::seal::Security;
///
/// let security = Security::new(provider()).allow_plain();
/// # let _ = security;
/// ```
#[derive(Clone, Debug)]
pub struct Security {
    provider: &'static dyn Provider,
    allows_plain: bool,
    limits: Limits,
}

impl Security {
    /// Seals with this cryptography, as that of the crate `porous-crypto`. Who asks for a plain connection is
    /// refused as [`Refusal::Security`](crate::Refusal::Security).
    ///
    /// ```no_run
    /// # fn provider() -> &'static dyn porous_proto::seal::Provider { unimplemented!() }
    /// let security = porous_proto::seal::Security::new(provider());
    /// # let _ = security;
    /// ```
    #[must_use]
    pub const fn new(provider: &'static dyn Provider) -> Self {
        Self {
            provider,
            allows_plain: false,
            limits: Limits::MOST,
        }
    }

    /// Lets hosts in as well that ask for a plain connection. One that asks for a sealed connection gets one,
    /// or none.
    ///
    /// ```no_run
    /// # fn provider() -> &'static dyn porous_proto::seal::Provider { unimplemented!() }
    /// let security = porous_proto::seal::Security::new(provider()).allow_plain();
    /// # let _ = security;
    /// ```
    #[must_use]
    pub const fn allow_plain(self) -> Self {
        let allows_plain = true;
        Self {
            allows_plain,
            ..self
        }
    }

    /// Goes on to the next key after this many frames or this time, where the remote host has followed by then.
    /// By default, and at most, after 2^22 frames or an hour (RFC 9001 §6.6). Of connections that are made from
    /// now on.
    ///
    /// ```no_run
    /// # fn provider() -> &'static dyn porous_proto::seal::Provider { unimplemented!() }
    /// use core::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let security = porous_proto::seal::Security::new(provider()).rekey_after(1 << 20, minute);
    /// # let _ = security;
    /// ```
    #[must_use]
    pub fn rekey_after(self, frames: u64, time: Duration) -> Self {
        let limits = Limits::MOST.lowered(frames, time.into());
        Self { limits, ..self }
    }

    pub(crate) const fn limits(&self) -> Limits {
        self.limits
    }

    pub(crate) const fn allows_plain(&self) -> bool {
        self.allows_plain
    }

    /// The cryptography of a connection: the first suite of the host that connects which the host that it
    /// connects to has offered as well. `None` if the two cannot seal together.
    pub(crate) fn agree(&self, initiator: &Suites, responder: &Suites) -> Option<Crypto> {
        let mut wanted = initiator.as_bytes().iter();
        let common = wanted.find(|&suite| responder.as_bytes().contains(suite));
        let suite = Suite::new(*common?)?;
        Crypto::new(self.provider, suite).ok()
    }
}

/// What a client brings to a sealed connection.
///
/// ```
/// use porous_proto::seal::Credentials;
///
/// let credentials = Credentials::new().greeting(b"name=Ada").expect("at most 255 bytes");
/// # let _ = credentials;
/// ```
#[derive(Clone, Default)]
pub struct Credentials {
    greeting: Box<[u8]>,
}

impl Credentials {
    /// Proves nothing and checks nothing: the connection is sealed, and whoever is in the way when it is made
    /// may have made it with both ends. It keeps out all who only listen, or come later.
    ///
    /// ```
    /// let credentials = porous_proto::seal::Credentials::new();
    /// # let _ = credentials;
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Says this to the application of the remote host, which reads it by
    /// [`Peer::greeting`](crate::Peer::greeting) before it accepts or refuses. It is sealed, but it is the one
    /// thing in a sealed connection that is not secret from everybody: who recorded it can read it.
    ///
    /// # Errors
    ///
    /// [`TooLong`] for more than 255 bytes.
    ///
    /// ```
    /// use porous_proto::seal::Credentials;
    ///
    /// assert!(Credentials::new().greeting(&[0; 256]).is_err());
    /// assert!(Credentials::new().greeting(&[0; 255]).is_ok());
    /// ```
    pub fn greeting(self, greeting: &[u8]) -> Result<Self, TooLong> {
        if greeting.len() > GREETING_MAX {
            return Err(TooLong);
        }
        let greeting = greeting.into();
        Ok(Self { greeting })
    }

    pub(crate) fn greeting_bytes(&self) -> &[u8] {
        &self.greeting
    }
}

/// Without the greeting, which may be a secret of the application's.
impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").finish_non_exhaustive()
    }
}

/// The greeting has more than 255 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a greeting has at most 255 bytes: send the rest in the first packet")
    }
}

impl core::error::Error for TooLong {}

#[cfg(test)]
mod tests {
    use super::super::toy::Toy;
    use super::*;

    fn suites(numbers: &[u8]) -> Suites {
        let suites = numbers.iter().filter_map(|&number| Suite::new(number));
        Suites::of(&suites.collect::<alloc::vec::Vec<_>>()).unwrap()
    }

    #[test]
    fn the_suite_is_the_first_of_the_initiator_that_both_have() {
        let security = Security::new(&Toy); // it has suite 1
        let number = |a: &[u8], b: &[u8]| {
            let crypto = security.agree(&suites(a), &suites(b));
            crypto.map(|crypto| crypto.suite().number())
        };
        assert_eq!(number(&[1], &[1]), Some(1));
        assert_eq!(number(&[1, 2], &[2, 1]), Some(1));
        assert_eq!(number(&[3, 1], &[1]), Some(1));
        assert_eq!(number(&[2], &[1]), None);
        assert_eq!(number(&[2, 1], &[1, 2]), None, "the provider lacks suite 2");
        let without = security.agree(&Suites::NONE, &suites(&[1]));
        assert!(without.is_none());
    }

    #[test]
    fn credentials_do_not_show_what_they_say() {
        let credentials = Credentials::new().greeting(b"hush").unwrap();
        let shown = alloc::format!("{credentials:?}");
        assert!(!shown.contains("hush") && !shown.contains("104"), "{shown}");
    }
}
