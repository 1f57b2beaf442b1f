//! What a recorder of a host has to see (the crate `porous-trace`, `docs/trace.md`): the values behind what a
//! program hands to a host and cannot read again.

use core::time::Duration;

pub use crate::config::record::{MOST, NAMES, Setting, config, settings};
use crate::frame::Mode;
use crate::options::SendOptions;
use crate::route::QuicLb;
pub use crate::seal::record::{CredentialsParts, SecurityParts};

/// All that [`SendOptions`] were told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionsParts {
    /// The delivery mode.
    pub mode: Mode,
    /// The number of copies; `None` if the host decides.
    pub redundancy: Option<u8>,
    /// The time to live.
    pub ttl: Option<Duration>,
    /// The token of the receipt.
    pub receipt: Option<u64>,
    /// The key of which only the newest packet is sent.
    pub key: Option<u64>,
}

impl OptionsParts {
    /// What these options say.
    #[must_use]
    pub fn of(options: &SendOptions) -> Self {
        let SendOptions {
            mode,
            redundancy,
            ttl,
            receipt,
            key,
        } = *options;
        Self {
            mode,
            redundancy: redundancy.get(),
            ttl,
            receipt,
            key,
        }
    }

    /// The options that say this.
    #[must_use]
    pub fn options(&self) -> SendOptions {
        let mut options = SendOptions::new(self.mode);
        if let Some(copies) = self.redundancy {
            options = options.redundancy(copies);
        }
        if let Some(ttl) = self.ttl {
            options = options.ttl(ttl);
        }
        if let Some(token) = self.receipt {
            options = options.receipt(token);
        }
        if let Some(key) = self.key {
            options = options.key(key);
        }
        options
    }
}

/// The rotation of a server's ids, and the key that encrypts them.
#[must_use]
pub const fn quic_lb(ids: &QuicLb) -> (u8, Option<[u8; 16]>) {
    ids.parts()
}

/// All that a security was told, keys included.
#[must_use]
pub fn security(security: &crate::seal::Security) -> SecurityParts {
    security.parts()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_come_back_from_their_parts() {
        let all = [
            SendOptions::new(Mode::Passive),
            SendOptions::new(Mode::Reliable)
                .redundancy(2)
                .ttl(Duration::from_nanos(1))
                .receipt(3)
                .key(4),
        ];
        for options in all {
            assert_eq!(OptionsParts::of(&options).options(), options);
        }
    }

    #[test]
    fn keys_come_back_from_their_parts() {
        use crate::hooks::doc::example_provider;
        use crate::seal::{Credentials, Psk, PublicKey, SecretKey, Security, Token, TokenKey};

        let provider = example_provider();
        let full = Security::new(provider)
            .identity(&SecretKey::from_bytes([1; 32]))
            .and_then(|security| security.identity(&SecretKey::from_bytes([2; 32])))
            .and_then(|security| security.psk(3, Psk::from_bytes([3; 32])))
            .and_then(|security| security.token_key(4, TokenKey::from_bytes([4; 32])))
            .unwrap()
            .allow_plain()
            .require_proof()
            .server_id(5)
            .used_tokens(6)
            .max_token_lifetime(Duration::from_secs(7))
            .one_per_client(false)
            .rekey_after(8, Duration::from_micros(9));
        for expected in [Security::new(provider), full] {
            let parts = security(&expected);
            let again = parts.security(provider).unwrap();
            assert!(security(&again) == parts);
        }
        let mut other = security(&Security::new(provider));
        other.suites = [77].into();
        assert!(other.security(provider).is_none());

        let token = Token::from_bytes(&[1; Token::MIN]).unwrap();
        let all = [
            Credentials::new(),
            Credentials::new()
                .psk(1, Psk::from_bytes([2; 32]))
                .server_key(PublicKey::from_bytes(&[3; 32]).unwrap()),
            Credentials::new()
                .token(token, Psk::from_bytes([4; 32]))
                .greeting(b"Ada")
                .unwrap(),
        ];
        for credentials in all {
            let parts = CredentialsParts::of(&credentials);
            assert!(CredentialsParts::of(&parts.credentials().unwrap()) == parts);
        }
    }
}
