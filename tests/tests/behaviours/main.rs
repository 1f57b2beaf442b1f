//! What players and operators expect of a library like this because other libraries have it: behaviours
//! of ENet, yojimbo, reliable, netcode, `GameNetworkingSockets` and others, with the parameters of their
//! own tests. The table in `docs/testing.md` says which test shows which behaviour, and what is missing.

extern crate alloc;

mod acks;
mod delivery;
mod estimates;
mod flow;
mod handshake;
mod lifetime;
mod memory;
mod refused;

use core::time::Duration;

use porous_proto::{Mode, PeerStats};
use porous_sim::Pair;
use porous_tests::{again, config};

const A: u32 = Pair::A;
const B: u32 = Pair::B;
const MS: Duration = Duration::from_millis(1);
const MODES: [Mode; 3] = [Mode::Unreliable, Mode::Reliable, Mode::Passive];

/// The statistics that the host at `address` has of the other.
fn stats(pair: &Pair, address: u32) -> PeerStats {
    let peer = pair.world.host(address).peer(pair.peer(address));
    peer.map(|peer| peer.stats()).unwrap_or_default()
}

/// The numbers of the packets that the host at `address` has received by now.
fn numbers(pair: &mut Pair, address: u32) -> Vec<u32> {
    let number = |bytes: &[u8]| {
        let bytes = bytes.first_chunk().copied();
        bytes.map_or(u32::MAX, u32::from_le_bytes)
    };
    let got = pair.receive_all(address);
    got.iter().map(|packet| number(&packet.payload)).collect()
}

#[test]
fn all_of_it_holds_under_the_policy_of_the_paper() {
    again::run_with(&[(config::PAPER, 1)], &["_under_the_policy_of_the_paper"]);
}
