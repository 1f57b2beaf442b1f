//! Hosts that seal: what a seed draws for them, and what has to hold of their connections.

use alloc::collections::BTreeMap;
use core::time::Duration;

use porous_crypto::RustCrypto;
use porous_proto::seal::{Credentials, Psk, Security, Suite};
use porous_proto::{Config, ConfigError, Peer};

use super::draw::Draw;

/// How one host seals.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sealing {
    suites: &'static [Suite],
    /// Frames after which the host goes on to its next key.
    rekey_after: u64,
    /// True if the host shows the psk, which all hosts of the world have.
    proves: bool,
}

/// The number of the psk.
const NUMBER: u32 = 7;

fn psk() -> Psk {
    Psk::from_bytes([7; 32])
}

impl Sealing {
    /// How a host seals. One that is connected to has all suites, so that it has one of any other host.
    pub(super) fn draw(draw: &mut Draw, is_server: bool) -> Self {
        const BOTH: &[Suite] = &[Suite::CHACHA_POLY, Suite::AES_GCM];
        const OTHER: &[Suite] = &[Suite::AES_GCM, Suite::CHACHA_POLY];
        const ONE: [&[Suite]; 2] = [&[Suite::CHACHA_POLY], &[Suite::AES_GCM]];
        let choices = [BOTH, OTHER, ONE[0], ONE[1]];
        let suites = draw.pick(&choices[..if is_server { 2 } else { 4 }]);
        // Down to a phase of a second or two: some keys go while frames are still on their way.
        let rekey_after = draw.log(64, 1 << 22);
        Self {
            suites,
            rekey_after,
            proves: draw.often(50),
        }
    }

    /// The same, and whether the host shows the psk.
    pub(super) const fn proving(mut self, proves: bool) -> Self {
        self.proves = proves;
        self
    }

    pub(super) fn configure(self, config: Config) -> Result<Config, ConfigError> {
        config.sealed(self.suites)
    }

    /// Plain hosts are let in as well: others may be, and each has promises to be kept.
    pub(super) fn security(self) -> Security {
        let security = Security::new(&RustCrypto).allow_plain();
        let security = security.rekey_after(self.rekey_after, Duration::from_secs(3600));
        match security.psk(NUMBER, psk()) {
            Ok(security) => security,
            Err(error) => panic!("the first psk: {error}"),
        }
    }

    /// What the host shows, with this greeting.
    pub(super) fn credentials(self, greeting: &[u8]) -> Credentials {
        let mut credentials = Credentials::new();
        if self.proves {
            credentials = credentials.psk(NUMBER, psk());
        }
        match credentials.greeting(greeting) {
            Ok(credentials) => credentials,
            Err(error) => panic!("a greeting of a swarm is short: {error}"),
        }
    }
}

/// The sealed connections of a world, by what names their handshakes. Each has two ends.
#[derive(Debug, Default)]
pub(crate) struct Bindings(BTreeMap<[u8; 32], u8>);

impl Bindings {
    /// Takes note of a peer that is connected. `asked`: this host has asked for a sealed connection, or for a plain
    /// one; `None` if the other host has asked.
    pub(crate) fn note(&mut self, peer: &Peer, asked: Option<bool>) {
        let secured = peer.secured();
        if let Some(is_sealed) = asked {
            assert_eq!(secured.is_some(), is_sealed, "a connection of another kind");
        }
        if let Some(secured) = secured {
            let ends = self.0.entry(*secured.binding()).or_default();
            *ends += 1;
            assert!(*ends <= 2, "a handshake with three ends");
        }
    }
}
