//! Events that the applications were told, and whether a connection works.

use core::time::Duration;

use porous_proto::{ChannelId, DisconnectReason, Event, Mode, Peer, PeerId, PeerState};
use porous_sim::{Pair, World};

/// The peer id of B at [`Pair::A`], and that of A at B.
pub type Ends = [PeerId; 2];

/// All events of a host that the test has not taken yet.
pub fn events(world: &mut World, address: u32) -> Vec<Event<u32>> {
    core::iter::from_fn(|| world.poll_event(address)).collect()
}

/// The peers of which `Connected` was told.
#[must_use]
pub fn connected(events: &[Event<u32>]) -> Vec<PeerId> {
    let mut peers = Vec::new();
    for event in events {
        if let Event::Connected { peer, .. } = event {
            peers.push(*peer);
        }
    }
    peers
}

/// The peers that have ended, each with the reason and the number of packets undelivered.
#[must_use]
pub fn ended(events: &[Event<u32>]) -> Vec<(PeerId, DisconnectReason, u32)> {
    let mut ends = Vec::new();
    for event in events {
        if let &Event::Disconnected {
            peer,
            reason,
            undelivered,
        } = event
        {
            ends.push((peer, reason, undelivered));
        }
    }
    ends
}

/// The state of a peer, `None` if the host has forgotten the peer.
#[must_use]
pub fn state(world: &World, address: u32, peer: PeerId) -> Option<PeerState> {
    world.host(address).peer(peer).map(Peer::state)
}

/// A and B have each told of one connection, and have no other peers.
///
/// # Panics
///
/// If one of them told anything else; the message contains `context` and the seed.
pub fn one_connection(world: &mut World, context: &str) -> Ends {
    let seed = world.seed();
    [Pair::A, Pair::B].map(|address| {
        let told = events(world, address);
        let context = format!("{address}: {told:?}; {context}; replay with {seed}");
        let (connected, ended) = (connected(&told), ended(&told));
        assert_eq!((connected.len(), ended.len()), (1, 0), "{context}");
        let peers: Vec<_> = world.host(address).peers().collect();
        let [(peer, state)] = peers[..] else {
            panic!("{} peers; {context}", peers.len());
        };
        assert_eq!(peer, connected[0], "{context}");
        assert_eq!(state.state(), PeerState::Connected, "{context}");
        peer
    })
}

/// A packet goes from A to B and one from B to A.
///
/// # Panics
///
/// If one does not arrive; the message contains `context` and the seed.
pub fn assert_talk(world: &mut World, ends: Ends, context: &str) {
    let seed = world.seed();
    let hosts = [(Pair::A, ends[0]), (Pair::B, ends[1])];
    for (address, peer) in hosts {
        let word = format!("from {address}");
        let host = world.host_mut(address);
        let sent = host.send(peer, ChannelId(0), word, Mode::Reliable);
        assert_eq!(sent, Ok(()), "{context}; replay with {seed}");
    }
    world.run_for(Duration::from_secs(5));
    for (address, peer) in hosts {
        let word = format!("from {}", Pair::other(address));
        let got = world.host_mut(address).receive(peer);
        let got = got.map(|packet| packet.payload);
        assert_eq!(
            got.as_deref(),
            Some(word.as_bytes()),
            "{context}; replay with {seed}"
        );
    }
}

/// This host has no event to tell and no peers.
///
/// # Panics
///
/// If it has; the message contains `context` and the seed.
pub fn assert_silent(world: &mut World, address: u32, context: &str) {
    let seed = world.seed();
    let told = events(world, address);
    let peers = world.host(address).all_peers().count();
    assert!(
        told.is_empty() && peers == 0,
        "{address}: {told:?}, {peers} peers; {context}; replay with {seed}"
    );
}
