//! What a server checks of a token before it lets the bearer in.

use super::claims::Claims;
use super::provider::Provider;
use super::secret::{Psk, TokenKey};
use super::token::{Token, TokenRefusal};

/// Seconds by which the clocks of backend and server may differ.
const SKEW: u64 = 30;

/// What a server takes tokens by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gate<'a> {
    pub(crate) provider: &'static dyn Provider,
    pub(crate) application: u64,
    /// The server's own id, if it has one. Without, it takes no token that names servers.
    pub(crate) server: Option<u64>,
    /// Keys and their numbers.
    pub(crate) keys: &'a [(u8, TokenKey)],
    /// In how many seconds a token may expire at most.
    pub(crate) max_lifetime: u64,
}

/// A token that is right, as far as it can be seen without a handshake.
#[derive(Clone, Debug)]
pub(crate) struct Admission {
    pub(crate) claims: Claims,
    /// What the bearer has to show that it has.
    pub(crate) psk: Psk,
    /// By what a token of one use is remembered.
    pub(crate) id: [u8; 16],
    /// The Unix second from which on this server does not take the token any more.
    pub(crate) until: u64,
}

/// As [`Gate::check`].
pub(super) type Check =
    fn(&Gate<'_>, &[u8], Option<u64>, Option<[u8; 16]>) -> Result<Admission, TokenRefusal>;

impl Gate<'_> {
    /// Looks at a token that came from the address `ip` (IPv6, or mapped to it) at `now`, in Unix seconds.
    /// Whether it was used already is not looked at here, because a copy of a token must not use it.
    ///
    /// # Errors
    ///
    /// The first check that fails. The cheap ones come first: before the token is opened, only numbers are
    /// compared.
    pub(crate) fn check(
        &self,
        token: &[u8],
        now: Option<u64>,
        ip: Option<[u8; 16]>,
    ) -> Result<Admission, TokenRefusal> {
        let token = Token::from_bytes(token).ok_or(TokenRefusal::Malformed)?;
        let head = token.head();
        if head.suite.is_none() {
            return Err(TokenRefusal::Version);
        }
        let mut keys = self.keys.iter();
        let key = keys.find(|(number, _)| *number == head.key_number);
        let (_, key) = key.ok_or(TokenRefusal::Key)?;
        let now = now.ok_or(TokenRefusal::Time)?;
        let until = head.expires.saturating_add(SKEW);
        if now >= until {
            return Err(TokenRefusal::Expired);
        }
        let latest = now.saturating_add(self.max_lifetime).saturating_add(SKEW);
        if head.expires > latest {
            return Err(TokenRefusal::Lifetime);
        }
        let (claims, psk) = token.open(self.provider, key, self.application)?;
        if !claims.counts_on(self.server) {
            return Err(TokenRefusal::Audience);
        }
        if !claims.counts_from(ip) {
            return Err(TokenRefusal::Ip);
        }
        Ok(Admission {
            claims,
            psk,
            id: token.id(),
            until,
        })
    }
}
