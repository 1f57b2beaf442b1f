//! What a host needs so that it can seal, and what a client shows of itself when it connects.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use arrayvec::ArrayVec;

use super::crypto::Crypto;
use super::gate::{Admission, Check, Gate};
use super::noise::Identity;
use super::phases::Limits;
use super::provider::{Provider, PublicKey, Suite, Weak};
#[cfg(feature = "record")]
use super::record::SecurityParts;
use super::secret::{Psk, SecretKey, TokenKey};
use super::token::{Token, TokenRefusal};
use crate::frame::{GREETING_MAX, KEY_TAG, Suites, Terms};

/// The most key pairs of a server: the current one, and the one before or after it.
const IDENTITIES_MAX: usize = 2;

/// The most psks of a host, for the same reason and for several groups of clients.
const PSKS_MAX: usize = 4;

/// The most token keys of a server.
const TOKEN_KEYS_MAX: usize = 4;

/// In how many seconds a token may expire at most, unless another time is set: a player may wait that long in
/// the lobby of a backend.
const LIFETIME: u64 = 3600;

/// Used tokens that are remembered, unless another number is set: 18 new players a second with tokens of 15
/// minutes. They take 640 KiB.
const USED_TOKENS: u32 = 16_384;

/// A key pair of the server, as a suite uses it.
#[derive(Clone, Debug)]
struct Known {
    suite: Suite,
    identity: Identity,
    /// By which message 1 names it.
    tag: [u8; KEY_TAG],
}

/// How a host seals: with whose cryptography, and whether it must. Without one
/// ([`Host::set_security`](crate::Host::set_security)) a host neither seals nor takes part in a sealed
/// connection.
///
/// ```
/// # use porous_proto::hooks::doc::example_provider as provider;
/// use porous_proto::seal::Security;
///
/// let security = Security::new(provider()).allow_plain();
/// # let _ = security;
/// ```
#[derive(Clone, Debug)]
pub struct Security {
    provider: &'static dyn Provider,
    allows_plain: bool,
    requires_proof: bool,
    limits: Limits,
    /// Of each key pair one for each suite of the provider: computed once, as that is costly.
    known: Vec<Known>,
    identities: usize,
    psks: ArrayVec<(u32, Psk), PSKS_MAX>,
    token_keys: ArrayVec<(u8, TokenKey), TOKEN_KEYS_MAX>,
    /// How tokens are checked; `None` as long as there is no key for them. By a pointer, so that a program on a
    /// microcontroller that has no such keys does not carry the code: 2 KB of flash.
    check: Option<Check>,
    server_id: Option<u64>,
    max_lifetime: u64,
    used_tokens: u32,
    is_one_per_client: bool,
}

impl Security {
    /// Seals with this cryptography, as that of the crate `porous-crypto`. A host that asks for a plain one is
    /// refused as [`Refusal::Security`](crate::Refusal::Security).
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_provider as provider;
    /// let security = porous_proto::seal::Security::new(provider());
    /// # let _ = security;
    /// ```
    #[must_use]
    pub const fn new(provider: &'static dyn Provider) -> Self {
        Self {
            provider,
            allows_plain: false,
            requires_proof: false,
            limits: Limits::MOST,
            known: Vec::new(),
            identities: 0,
            psks: ArrayVec::new_const(),
            token_keys: ArrayVec::new_const(),
            check: None,
            server_id: None,
            max_lifetime: LIFETIME,
            used_tokens: USED_TOKENS,
            is_one_per_client: true,
        }
    }

    /// Lets hosts in as well that ask for a plain connection. One that asks for a sealed connection gets one,
    /// or none.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_provider as provider;
    /// let security = porous_proto::seal::Security::new(provider()).allow_plain();
    /// # let _ = security;
    /// ```
    #[must_use]
    pub const fn allow_plain(mut self) -> Self {
        self.allows_plain = true;
        self
    }

    /// Proves to clients that this is the server whose [`PublicKey`] they know ([`Credentials::server_key`]).
    /// Two key pairs at most: while clients learn a new key, the server has both. Clients that know none are
    /// let in as before.
    ///
    /// # Errors
    ///
    /// [`SecurityError::TooMany`] for a third key pair, [`SecurityError::Weak`] if a suite of the provider has
    /// no such secret key.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_provider as provider;
    /// # const fn stored() -> [u8; 32] { [7; 32] }
    /// use porous_proto::seal::{SecretKey, Security};
    ///
    /// let identity = SecretKey::from_bytes(stored());
    /// let security = Security::new(provider()).identity(&identity)?;
    /// # let _ = security;
    /// # Ok::<(), porous_proto::seal::SecurityError>(())
    /// ```
    pub fn identity(mut self, secret: &SecretKey) -> Result<Self, SecurityError> {
        if self.identities == IDENTITIES_MAX {
            return Err(SecurityError::TooMany);
        }
        for &suite in self.provider.suites() {
            let crypto = Crypto::new(self.provider, suite).map_err(|_| SecurityError::Weak)?;
            let identity =
                Identity::new(crypto, secret.clone()).map_err(|Weak| SecurityError::Weak)?;
            let tag = crypto.key_tag(identity.public());
            let known = Known {
                suite,
                identity,
                tag,
            };
            self.known.push(known);
        }
        self.identities += 1;
        Ok(self)
    }

    /// Lets clients in that have this secret, and says so by its number: [`Secured::psk`](super::Secured::psk).
    /// Four at most, of which each has a number of its own; one with the number of another takes its place.
    ///
    /// # Errors
    ///
    /// [`SecurityError::TooMany`] for a fifth.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_provider as provider;
    /// # const fn stored() -> [u8; 32] { [7; 32] }
    /// use porous_proto::seal::{Psk, Security};
    ///
    /// let security = Security::new(provider()).psk(7, Psk::from_bytes(stored()))?.require_proof();
    /// # let _ = security;
    /// # Ok::<(), porous_proto::seal::SecurityError>(())
    /// ```
    pub fn psk(mut self, number: u32, psk: Psk) -> Result<Self, SecurityError> {
        self.psks.retain(|(other, _)| *other != number);
        let added = self.psks.try_push((number, psk));
        added.map_err(|_| SecurityError::TooMany)?;
        Ok(self)
    }

    /// Lets the bearers of [`Token`]s in that a backend has made with this key. The server has to be
    /// told the time ([`Host::set_unix_time`](crate::Host::set_unix_time)). Four keys at most, of which each has a
    /// number of its own; one with the number of another takes its place.
    ///
    /// # Errors
    ///
    /// [`SecurityError::TooMany`] for a fifth.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_provider as provider;
    /// # const fn stored() -> [u8; 32] { [7; 32] }
    /// use porous_proto::seal::{Security, TokenKey};
    ///
    /// let key = TokenKey::from_bytes(stored());
    /// let security = Security::new(provider()).token_key(1, key)?.server_id(0x51);
    /// # let _ = security;
    /// # Ok::<(), porous_proto::seal::SecurityError>(())
    /// ```
    pub fn token_key(mut self, number: u8, key: TokenKey) -> Result<Self, SecurityError> {
        self.token_keys.retain(|(other, _)| *other != number);
        let added = self.token_keys.try_push((number, key));
        added.map_err(|_| SecurityError::TooMany)?;
        self.check = Some(|gate, token, now, ip| gate.check(token, now, ip));
        Ok(self)
    }

    /// This server's id: it takes tokens that name it, and those that name no server. Without an id it takes only
    /// the latter.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_provider as provider;
    /// let security = porous_proto::seal::Security::new(provider()).server_id(0x51);
    /// # let _ = security;
    /// ```
    #[must_use]
    pub const fn server_id(mut self, id: u64) -> Self {
        self.server_id = Some(id);
        self
    }

    /// Refuses tokens that expire later than this from now; 30 s more are allowed for clocks that differ. By
    /// default an hour.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_provider as provider;
    /// use core::time::Duration;
    ///
    /// let minutes = Duration::from_secs(15 * 60);
    /// let security = porous_proto::seal::Security::new(provider()).max_token_lifetime(minutes);
    /// # let _ = security;
    /// ```
    #[must_use]
    pub const fn max_token_lifetime(mut self, time: Duration) -> Self {
        self.max_lifetime = time.as_secs();
        self
    }

    /// Remembers this many used tokens of one use, until they expire: about 40 bytes each, which are taken when
    /// the first such token comes. While so many are remembered, further ones are refused. By default 16,384. A
    /// host keeps the number that it had when its first token came.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_provider as provider;
    /// let security = porous_proto::seal::Security::new(provider()).used_tokens(1000);
    /// # let _ = security;
    /// ```
    #[must_use]
    pub const fn used_tokens(mut self, number: u32) -> Self {
        self.used_tokens = number;
        self
    }

    /// Whether a client, by the id in its token, has one connection: the new one takes the place of the old one,
    /// which ends as [`Restarted`](crate::DisconnectReason::Restarted), when its first datagram has come. By default
    /// it has.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_provider as provider;
    /// let security = porous_proto::seal::Security::new(provider()).one_per_client(false);
    /// # let _ = security;
    /// ```
    #[must_use]
    pub const fn one_per_client(mut self, is_one: bool) -> Self {
        self.is_one_per_client = is_one;
        self
    }

    /// Refuses clients that prove nothing: each has to have one of the [psks](Self::psk), or a
    /// [token](Self::token_key).
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_provider as provider;
    /// let security = porous_proto::seal::Security::new(provider()).require_proof(); // nobody at all, without one
    /// # let _ = security;
    /// ```
    #[must_use]
    pub const fn require_proof(mut self) -> Self {
        self.requires_proof = true;
        self
    }

    /// Goes on to the next key after this many frames or this time, where the remote host has followed by then.
    /// By default, and at most, after 2^22 frames or an hour (RFC 9001 §6.6). With so few frames that a phase is
    /// over in less than two seconds, frames that come later than that count as lost. Of connections that are
    /// made from now on.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_provider as provider;
    /// use core::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let security = porous_proto::seal::Security::new(provider()).rekey_after(1 << 20, minute);
    /// # let _ = security;
    /// ```
    #[must_use]
    pub fn rekey_after(mut self, frames: u64, time: Duration) -> Self {
        self.limits = Limits::MOST.lowered(frames, time.into());
        self
    }

    /// All that it was told.
    #[cfg(feature = "record")]
    pub(crate) fn parts(&self) -> SecurityParts {
        let Self {
            provider,
            allows_plain,
            requires_proof,
            limits,
            known,
            identities: _,
            psks,
            token_keys,
            check: _,
            server_id,
            max_lifetime,
            used_tokens,
            is_one_per_client,
        } = self;
        let suites = provider.suites();
        // Each key pair is known once for each suite.
        let identities = known.iter().step_by(suites.len().max(1));
        let psks = psks.iter().map(|(number, psk)| (*number, *psk.as_bytes()));
        let token_keys = token_keys.iter();
        let token_keys = token_keys.map(|(number, key)| (*number, *key.as_bytes()));
        SecurityParts {
            suites: suites.iter().map(|suite| suite.number()).collect(),
            allows_plain: *allows_plain,
            requires_proof: *requires_proof,
            rekey: limits.parts(),
            identities: identities
                .map(|known| *known.identity.secret().as_bytes())
                .collect(),
            psks: psks.collect(),
            token_keys: token_keys.collect(),
            server_id: *server_id,
            max_lifetime: *max_lifetime,
            used_tokens: *used_tokens,
            is_one_per_client: *is_one_per_client,
        }
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

    /// The key pair that message 1 names: the outer `None` if there is none of that name, the inner one if it
    /// names none.
    pub(crate) fn named_identity(
        &self,
        crypto: Crypto,
        terms: &Terms<'_>,
    ) -> Option<Option<&Identity>> {
        let Some(tag) = terms.key_tag else {
            return Some(None);
        };
        let is_it = |known: &&Known| known.suite == crypto.suite() && known.tag == tag;
        Some(Some(&self.known.iter().find(is_it)?.identity))
    }

    /// Whether clients are let in that prove nothing.
    pub(crate) const fn is_open(&self) -> bool {
        !self.requires_proof
    }

    /// The psk with this number.
    pub(crate) fn numbered_psk(&self, number: u32) -> Option<&Psk> {
        let mut psks = self.psks.iter();
        psks.find_map(|(other, psk)| (*other == number).then_some(psk))
    }

    /// Checks a token that came from the address `ip` at `now`, in Unix seconds: see [`Gate::check`]. `application`:
    /// the id of the host's application.
    pub(crate) fn check_token(
        &self,
        application: u64,
        token: &[u8],
        now: Option<u64>,
        ip: Option<[u8; 16]>,
    ) -> Result<Admission, TokenRefusal> {
        let check = self.check.ok_or(TokenRefusal::Key)?;
        let gate = Gate {
            provider: self.provider,
            application,
            server: self.server_id,
            keys: &self.token_keys,
            max_lifetime: self.max_lifetime,
        };
        check(&gate, token, now, ip)
    }

    /// The number of used tokens that are remembered.
    pub(crate) const fn used_limit(&self) -> u32 {
        self.used_tokens
    }

    pub(crate) const fn is_one_per_client(&self) -> bool {
        self.is_one_per_client
    }

    /// Whether each suite that this host offers can agree with this key.
    pub(crate) fn is_key(&self, offered: &Suites, key: &PublicKey, any: &SecretKey) -> bool {
        let agrees = |&number: &u8| {
            let crypto =
                Suite::new(number).and_then(|suite| Crypto::new(self.provider, suite).ok());
            // A suite that the provider lacks is never agreed on.
            crypto.is_none_or(|crypto| crypto.agree(any, key.as_bytes()).is_ok())
        };
        offered.as_bytes().iter().all(agrees)
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
    server_key: Option<PublicKey>,
    shown: Shown,
    greeting: Box<[u8]>,
}

/// By what a client proves its identity.
#[derive(Clone, Default)]
pub(crate) enum Shown {
    #[default]
    Nothing,
    /// A psk and its number.
    Psk(u32, Psk),
    /// A token and its psk.
    Token(Box<Token>, Psk),
}

impl Shown {
    /// The psk of the handshake.
    pub(crate) const fn psk(&self) -> Option<&Psk> {
        match self {
            Self::Nothing => None,
            Self::Psk(_, psk) | Self::Token(_, psk) => Some(psk),
        }
    }
}

impl Credentials {
    /// Proves nothing and checks nothing: the connection is sealed, and an attacker that is in the way when it is made
    /// may have made it with both ends. It keeps out all that only listen, or come later.
    ///
    /// ```
    /// let credentials = porous_proto::seal::Credentials::new();
    /// # let _ = credentials;
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Connects to the server with this public key, and to no other: without the secret key nobody can answer in
    /// its place. The client gets the key with the program, or from a backend.
    ///
    /// ```
    /// use porous_proto::seal::{Credentials, PublicKey};
    ///
    /// let key = PublicKey::from_bytes(&[9; 32]).expect("32 bytes");
    /// let credentials = Credentials::new().server_key(key);
    /// # let _ = credentials;
    /// ```
    #[must_use]
    pub fn server_key(mut self, key: PublicKey) -> Self {
        self.server_key = Some(key);
        self
    }

    /// Proves that the client has this secret, which the server knows by this number. The server proves the
    /// same, so nobody without the secret is at either end.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_rng;
    /// use porous_proto::seal::{Credentials, Psk};
    ///
    /// # let mut rng = example_rng();
    /// let credentials = Credentials::new().psk(7, Psk::generate(&mut rng));
    /// # let _ = credentials;
    /// ```
    #[must_use]
    pub fn psk(mut self, number: u32, psk: Psk) -> Self {
        self.shown = Shown::Psk(number, psk);
        self
    }

    /// Shows a token, and proves to have the psk that the backend has handed out with it. It takes the place of a
    /// [psk](Self::psk).
    ///
    /// ```
    /// use porous_proto::seal::{Credentials, Psk, Token};
    ///
    /// fn credentials(token: Token, psk: Psk) -> Credentials {
    ///     Credentials::new().token(token, psk)
    /// }
    /// # let _ = credentials;
    /// ```
    #[must_use]
    pub fn token(mut self, token: Token, psk: Psk) -> Self {
        self.shown = Shown::Token(Box::new(token), psk);
        self
    }

    /// Says this to the application of the remote host, which reads it by
    /// [`Peer::greeting`](crate::Peer::greeting) before it accepts or refuses. It is sealed, and less secret than
    /// all that follows: without psk and server key each host that records it can read it, and otherwise each that gets
    /// hold of the psk, and of the server's secret key if that was named, can do so later.
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
    pub fn greeting(mut self, greeting: &[u8]) -> Result<Self, TooLong> {
        if greeting.len() > GREETING_MAX {
            return Err(TooLong);
        }
        self.greeting = greeting.into();
        Ok(self)
    }

    pub(crate) fn greeting_bytes(&self) -> &[u8] {
        &self.greeting
    }

    pub(crate) const fn expected(&self) -> Option<&PublicKey> {
        self.server_key.as_ref()
    }

    pub(crate) const fn shown(&self) -> &Shown {
        &self.shown
    }
}

/// Without the greeting, which may be a secret of the application's.
impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").finish_non_exhaustive()
    }
}

/// Why a [`Security`] was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SecurityError {
    /// A host has two key pairs, four psks and four token keys at most.
    TooMany,
    /// A suite of the provider has no such secret key.
    Weak,
}

impl fmt::Display for SecurityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooMany => "a host has two key pairs, four psks and four token keys at most: leave the oldest out",
            Self::Weak => "a suite of the provider has no such secret key: generate another one",
        })
    }
}

impl core::error::Error for SecurityError {}

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
        Suites::of(numbers).unwrap()
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
