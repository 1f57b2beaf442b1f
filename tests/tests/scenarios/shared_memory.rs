//! The memory that all peers of a host may make it keep: a peer that fills it leaves the others their
//! shares.

use core::time::Duration;

use porous_proto::{ChannelId, Config, Ignored, Listen, Mode, PeerId};
use porous_sim::World;
use porous_tests::{config, connected, events, line, seed};

const SERVER: u32 = 1;
const SECOND: Duration = Duration::from_secs(1);
/// The share of a peer is 64 KiB.
const PEERS: u32 = 8;
const BUDGET: u64 = 1 << 20;

/// A server that reads nothing, and clients that are connected to it. Returns the server's peer ids of
/// the clients, and the clients' peer ids of the server.
fn server(clients: u32) -> (World, Vec<(PeerId, PeerId)>) {
    let mut world = World::new(seed(), line());
    let config = |config: Config| config.max_peers(PEERS).host_receive_budget(BUDGET);
    world.add_host(SERVER, config(config::new()));
    assert_eq!(world.host_mut(SERVER).listen(Listen::Open), Ok(()));
    let mut peers = Vec::new();
    for client in 2..2 + clients {
        world.add_host(client, config::client());
        let there = world.connect(client, SERVER).expect("a free address");
        world.run_for(SECOND);
        let here = connected(&events(&mut world, SERVER));
        events(&mut world, client);
        peers.push((there, here[0]));
    }
    (world, peers)
}

fn send(world: &mut World, client: u32, peer: PeerId, packets: u32, len: usize) {
    for _ in 0..packets {
        let host = world.host_mut(client);
        let sent = host.send(peer, ChannelId(0), vec![7; len], Mode::Reliable);
        assert_eq!(sent, Ok(()));
    }
}

/// Reads everything that has come from a peer. Returns the number of packets.
fn read(world: &mut World, peer: PeerId) -> u32 {
    let host = world.host_mut(SERVER);
    let count = core::iter::from_fn(|| host.receive(peer)).count();
    world.flush(SERVER);
    u32::try_from(count).expect("a few")
}

fn refused(world: &World) -> u64 {
    world.host(SERVER).stats().ignored(Ignored::OverBudget)
}

#[test]
fn a_peer_that_fills_the_memory_of_all_leaves_the_others_their_shares() {
    let (mut world, peers) = server(PEERS);
    // Three peers send more than the server keeps, and it reads nothing.
    for client in 0..3_u32 {
        send(&mut world, 2 + client, peers[client as usize].0, 1000, 1000);
    }
    world.run_for(20 * SECOND);
    assert!(refused(&world) > 0, "{}", world.seed());
    // Packets of the other peers, which keep to their shares, arrive at once and whole.
    for client in 3..PEERS {
        send(&mut world, 2 + client, peers[client as usize].0, 50, 1000);
    }
    world.run_for(2 * SECOND);
    let read_of = |world: &mut World, client: u32| read(world, peers[client as usize].1);
    for client in 3..PEERS {
        assert_eq!(
            read_of(&mut world, client),
            50,
            "{client}; {}",
            world.seed()
        );
    }
    // Refused packets come again when there is room.
    let mut got = [0; 3];
    for _ in 0..60 {
        for (client, got) in (0..).zip(&mut got) {
            *got += read_of(&mut world, client);
        }
        world.run_for(SECOND);
    }
    assert_eq!(got, [1000; 3], "{}", world.seed());
    let audit = world.host(SERVER).audit();
    assert_eq!(audit.peers, PEERS as usize);
}

/// Each packet counts 64 bytes beside its own.
#[test]
fn what_all_peers_take_is_the_budget_and_that_of_one_peer_at_most() {
    let (mut world, peers) = server(3);
    for (client, (there, _)) in (2..).zip(&peers) {
        send(&mut world, client, *there, 3000, 1000);
    }
    world.run_for(30 * SECOND);
    let kept = peers.iter().map(|(_, here)| read(&mut world, *here));
    let kept = 1064 * u64::from(kept.sum::<u32>());
    let most = BUDGET + (4 << 20);
    assert!((most / 2..=most).contains(&kept), "{kept} of {most}");
}

/// All peers send large packets at once, of which only parts find room: a part cannot be read, and gives
/// nothing back. One peer at a time gets the room that its packet needs.
#[test]
fn large_packets_of_all_peers_at_once_arrive_one_after_the_other() {
    const LARGE: usize = 300_000;
    let (mut world, peers) = server(PEERS);
    for (client, (there, _)) in (2..).zip(&peers) {
        send(&mut world, client, *there, 3, LARGE);
    }
    let mut got = 0;
    for _ in 0..120 {
        world.run_for(SECOND);
        for (_, here) in &peers {
            got += read(&mut world, *here);
        }
        let _ = world.host(SERVER).audit();
    }
    assert!(refused(&world) > 0, "{}", world.seed());
    assert_eq!(got, 3 * PEERS, "{}", world.seed());
}
