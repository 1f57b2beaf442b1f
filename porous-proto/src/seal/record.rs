//! What a [`Security`] and [`Credentials`] hold, keys included, for recorders (`docs/trace.md`, "Keys").

use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use super::provider::{Provider, PublicKey};
use super::secret::{Psk, SecretKey, TokenKey};
use super::security::{Credentials, Security, Shown};
use super::token::Token;

/// All that a [`Security`] was told.
#[derive(Clone, PartialEq, Eq)]
pub struct SecurityParts {
    /// The numbers of the suites of its provider.
    pub suites: Vec<u8>,
    /// `Security::allow_plain`.
    pub allows_plain: bool,
    /// `Security::require_proof`.
    pub requires_proof: bool,
    /// `Security::rekey_after`: frames, and microseconds.
    pub rekey: (u64, u64),
    /// The secret halves of its key pairs.
    pub identities: Vec<[u8; 32]>,
    /// Psks and their numbers.
    pub psks: Vec<(u32, [u8; 32])>,
    /// Token keys and their numbers.
    pub token_keys: Vec<(u8, [u8; 32])>,
    /// `Security::server_id`.
    pub server_id: Option<u64>,
    /// `Security::max_token_lifetime`, in seconds.
    pub max_lifetime: u64,
    /// `Security::used_tokens`.
    pub used_tokens: u32,
    /// `Security::one_per_client`.
    pub is_one_per_client: bool,
}

/// All that [`Credentials`] were told.
#[derive(Clone, PartialEq, Eq)]
pub struct CredentialsParts {
    /// The public key that the server must have.
    pub server_key: Option<Vec<u8>>,
    /// A psk and its number.
    pub psk: Option<(u32, [u8; 32])>,
    /// A token and its psk.
    pub token: Option<(Vec<u8>, [u8; 32])>,
    /// The greeting.
    pub greeting: Vec<u8>,
}

// Neither shows its keys.
impl fmt::Debug for SecurityParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecurityParts").finish_non_exhaustive()
    }
}

impl fmt::Debug for CredentialsParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CredentialsParts").finish_non_exhaustive()
    }
}

/// The most used tokens that a security is made with: 40 MiB of them. A recording may come from anywhere.
const USED_MAX: u32 = 1 << 20;

impl SecurityParts {
    /// The security with these keys. `None` if the provider has other suites than the one that was told, or
    /// something is out of its range.
    #[must_use]
    #[doc(hidden)]
    pub fn security(&self, provider: &'static dyn Provider) -> Option<Security> {
        let suites = provider.suites().iter().map(|suite| suite.number());
        let is_same = suites.eq(self.suites.iter().copied());
        if !is_same || self.used_tokens > USED_MAX {
            return None;
        }
        let mut security = Security::new(provider)
            .max_token_lifetime(Duration::from_secs(self.max_lifetime))
            .used_tokens(self.used_tokens)
            .one_per_client(self.is_one_per_client)
            .rekey_after(self.rekey.0, Duration::from_micros(self.rekey.1));
        for key in &self.identities {
            security = security.identity(&SecretKey::from_bytes(*key)).ok()?;
        }
        for (number, psk) in &self.psks {
            security = security.psk(*number, Psk::from_bytes(*psk)).ok()?;
        }
        for (number, key) in &self.token_keys {
            security = security
                .token_key(*number, TokenKey::from_bytes(*key))
                .ok()?;
        }
        if let Some(id) = self.server_id {
            security = security.server_id(id);
        }
        if self.allows_plain {
            security = security.allow_plain();
        }
        if self.requires_proof {
            security = security.require_proof();
        }
        Some(security)
    }
}

impl CredentialsParts {
    /// The credentials with this content; `None` if something is out of its range.
    #[must_use]
    #[doc(hidden)]
    pub fn credentials(&self) -> Option<Credentials> {
        let mut credentials = Credentials::new().greeting(&self.greeting).ok()?;
        if let Some(key) = &self.server_key {
            credentials = credentials.server_key(PublicKey::from_bytes(key)?);
        }
        if let Some((number, psk)) = &self.psk {
            credentials = credentials.psk(*number, Psk::from_bytes(*psk));
        }
        if let Some((token, psk)) = &self.token {
            let token = Token::from_bytes(token)?;
            credentials = credentials.token(token, Psk::from_bytes(*psk));
        }
        Some(credentials)
    }

    /// What these credentials hold.
    #[must_use]
    #[doc(hidden)]
    pub fn of(credentials: &Credentials) -> Self {
        let (psk, token) = match credentials.shown() {
            Shown::Nothing => (None, None),
            Shown::Psk(number, psk) => (Some((*number, *psk.as_bytes())), None),
            Shown::Token(token, psk) => {
                let token = (token.as_bytes().to_vec(), *psk.as_bytes());
                (None, Some(token))
            }
        };
        let server_key = credentials.expected().map(|key| key.as_bytes().to_vec());
        Self {
            server_key,
            psk,
            token,
            greeting: credentials.greeting_bytes().to_vec(),
        }
    }
}
