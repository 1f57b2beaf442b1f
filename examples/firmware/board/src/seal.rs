//! A board that seals: its key pair, and what a client has to prove.

use chacha20::ChaCha20Rng;
use porous_crypto::RustCrypto;
use porous_proto::seal::{Psk, SecretKey, Security, Suite};
use porous_smoltcp::{Config, SmolHost};

/// The secret half of the board's key pair. A product draws one for each board, and keeps it where its chip
/// hides secrets: a thief of it can answer in the place of the board.
const IDENTITY: [u8; 32] = [0x42; 32];

/// A host that makes sealed connections, with clients that have the psk, and no others.
pub(crate) fn host(config: Config, rng: ChaCha20Rng) -> SmolHost<ChaCha20Rng> {
    // Not `expect`, which can print every error: 6 KB of flash.
    let Ok(config) = config.sealed(&[Suite::CHACHA_POLY]) else {
        panic!("one suite");
    };
    let mut host = SmolHost::new(config, rng);
    host.host_mut().set_security(security());
    host
}

fn security() -> Security {
    let psk = Psk::from_bytes(talk::PSK);
    Security::new(&RustCrypto)
        .identity(&SecretKey::from_bytes(IDENTITY))
        .and_then(|security| security.psk(talk::PSK_NUMBER, psk))
        .expect("one key pair and one psk")
        .require_proof()
}
