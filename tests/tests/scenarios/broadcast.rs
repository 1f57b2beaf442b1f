//! One packet for all peers that are connected.

use core::time::Duration;

use porous_proto::{ChannelId, Disconnect, Mode, PeerId, SendError};
use porous_sim::{Pair, World};
use porous_tests::{config, flush, line, quiet_pair, seed};

const SERVER: u32 = Pair::B;
const CLIENTS: [u32; 4] = [Pair::A, 30, 31, 32];
const MS: Duration = Duration::from_millis(1);

/// A server with the clients of [`CLIENTS`], and their names there.
fn crowd() -> (Pair, Vec<PeerId>) {
    let mut pair = quiet_pair(seed(), line());
    for &client in &CLIENTS[1..] {
        pair.world.add_host(client, config::client());
        pair.world
            .connect(client, SERVER)
            .expect("a name of its own");
        pair.world.run_for(300 * MS);
    }
    let peers = pair.world.host(SERVER).peers().map(|(peer, _)| peer);
    let peers: Vec<_> = peers.collect();
    (pair, peers)
}

fn broadcast(world: &mut World, length: usize) -> Vec<(PeerId, SendError)> {
    let host = world.host_mut(SERVER);
    host.broadcast(ChannelId(0), vec![7; length], Mode::Reliable)
}

/// The lengths of the packets that have come to each client.
fn came(world: &mut World) -> Vec<Vec<usize>> {
    let of = |world: &mut World, client| {
        let host = world.host_mut(client);
        let (peer, _) = host.peers().next().expect("the server");
        let packets = core::iter::from_fn(|| host.receive(peer));
        packets.map(|packet| packet.payload.len()).collect()
    };
    CLIENTS.map(|client| of(world, client)).into()
}

#[test]
fn each_peer_gets_a_packet_that_was_sent_to_all() {
    let (mut pair, peers) = crowd();
    assert_eq!(peers.len(), CLIENTS.len());
    assert_eq!(broadcast(&mut pair.world, 10), []);
    assert_eq!(broadcast(&mut pair.world, 5000), []);
    pair.world.run_for(1000 * MS);
    assert_eq!(came(&mut pair.world), vec![vec![10, 5000]; 4]);
}

#[test]
fn peers_that_cannot_take_it_are_told_and_the_others_get_it() {
    let (mut pair, peers) = crowd();
    let world = &mut pair.world;
    // The second has no room, the third flushes; a fifth is still connecting, and is no peer to send to.
    let full = |world: &mut World| {
        let host = world.host_mut(SERVER);
        host.send(peers[1], ChannelId(0), vec![0; 10], Mode::Reliable)
    };
    while full(world) == Ok(()) {}
    let now = world.now();
    let host = world.host_mut(SERVER);
    host.send(peers[2], ChannelId(0), "last", Mode::Reliable)
        .unwrap();
    host.disconnect(now, peers[2], flush(0)).unwrap();
    host.connect(now, 99).unwrap();
    let unsent = [
        (peers[1], SendError::Full),
        (peers[2], SendError::Disconnecting),
    ];
    assert_eq!(broadcast(world, 10), unsent);
    let told = world
        .host_mut(SERVER)
        .broadcast(ChannelId(200), "", Mode::Reliable);
    let unknown = |&peer: &PeerId| (peer, SendError::UnknownChannel);
    assert_eq!(told.len(), 4, "{told:?}");
    assert!([0, 3].iter().all(|&n| told.contains(&unknown(&peers[n]))));
}

#[test]
fn a_broadcast_to_nobody_is_no_error() {
    let (mut pair, _) = crowd();
    let now = pair.world.now();
    let host = pair.world.host_mut(SERVER);
    host.disconnect_all(now, Disconnect::Now { reason: 0 });
    assert_eq!(broadcast(&mut pair.world, 10), []);
}
