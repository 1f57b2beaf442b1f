//! Peers whose address changes under the connection (`docs/wire.md`, "Roaming"). A is a client
//! behind a router, B a server that follows it.
#![expect(clippy::unwrap_used, reason = "a test")]

mod attackers;
mod bulk;
mod forged;
mod idle;
mod moments;
mod neighbours;
mod paths;
mod places;
mod words;

use core::time::Duration;

use porous_proto::{ChannelId, Config, Event, Listen, Mode, PeerId};
use porous_sim::{LinkConfig, Seed, World};
use porous_tests::{config, connected, events};

const A: u32 = 1;
const B: u32 = 2;
/// Addresses of one host agree in all but the last two digits.
const ROUTER: u32 = 1000;
const ELSEWHERE: u32 = 2000;

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

/// A is connected to B; 30 ms each way. Returns the peer ids: of B at A, and of A at B.
fn connect(seed: u64, link: LinkConfig, server: Config) -> (World, PeerId, PeerId) {
    connect_as(seed, link, config::client(), server)
}

fn connect_as(
    seed: u64,
    link: LinkConfig,
    client: Config,
    server: Config,
) -> (World, PeerId, PeerId) {
    let mut world = World::new(Seed::new(seed), link.delay(30 * MS));
    world.add_host(A, client);
    world.add_host(B, server);
    world.add_nat(A, ROUTER, 30 * SECOND);
    let host = world.host_mut(B);
    host.set_same_host(|a, b| a / 100 == b / 100);
    host.listen(Listen::Open).unwrap();
    let client = world.connect(A, B).unwrap();
    world.run_for(SECOND);
    let server = connected(&events(&mut world, B))[0];
    events(&mut world, A);
    (world, client, server)
}

/// The same with links that have only this delay, and a server with the default configuration.
fn simple(seed: u64) -> (World, PeerId, PeerId) {
    connect(seed, LinkConfig::new(), config::new().roaming(true))
}

fn send(world: &mut World, from: u32, peer: PeerId, payload: impl Into<Vec<u8>>) {
    let host = world.host_mut(from);
    let sent = host.send(peer, ChannelId(0), payload.into(), Mode::Reliable);
    sent.unwrap();
}

/// The first byte of each packet that a peer was sent.
fn receive(world: &mut World, at: u32, peer: PeerId) -> Vec<u8> {
    let host = world.host_mut(at);
    core::iter::from_fn(|| Some(host.receive(peer)?.payload[0])).collect()
}

/// All moves that B's application is told of.
fn moves(world: &mut World) -> Vec<(u32, u32)> {
    let mut moves = Vec::new();
    for event in events(world, B) {
        if let Event::PeerMoved { from, to, .. } = event {
            moves.push((from, to));
        }
    }
    moves
}

fn deliver(world: &mut World, from: u32, peer: PeerId, to: (u32, PeerId), within: Duration) {
    let hello = &b"hello"[..];
    let host = world.host_mut(from);
    host.send(peer, ChannelId(0), hello, Mode::Reliable)
        .unwrap();
    world.run_for(within);
    let received = world.host_mut(to.0).receive(to.1);
    assert_eq!(received.unwrap().payload, hello, "{}", world.seed());
}

/// D10.
#[test]
fn a_client_with_another_port_keeps_its_connection() {
    let (mut world, client, server) = connect(1, LinkConfig::new(), config::new().roaming(true));
    let before = world.host(B).peer(server).unwrap().stats();
    world.rebind(A, ROUTER + 1);
    deliver(&mut world, A, client, (B, server), 200 * MS);
    assert_eq!(moves(&mut world), [(ROUTER, ROUTER + 1)]);
    assert_eq!(world.host(B).address(server), Some(ROUTER + 1));
    let after = world.host(B).peer(server).unwrap().stats();
    assert_eq!(before.window, after.window);
    deliver(&mut world, B, server, (A, client), 200 * MS);
    world.run_for(60 * SECOND);
    assert_eq!(moves(&mut world), []);
    deliver(&mut world, B, server, (A, client), 200 * MS);
}

/// D10.
#[test]
fn without_the_option_it_does_not() {
    let (mut world, client, _) = connect(1, LinkConfig::new(), config::new());
    world.rebind(A, ROUTER + 1);
    let hello = &b"hello"[..];
    let host = world.host_mut(A);
    host.send(client, ChannelId(0), hello, Mode::Reliable)
        .unwrap();
    world.run_for(20 * SECOND);
    let told = events(&mut world, B);
    assert!(matches!(told[..], [Event::Disconnected { .. }]), "{told:?}");
}

/// D10.
#[test]
fn a_client_in_another_network_is_learnt_anew() {
    let (mut world, client, server) = connect(1, LinkConfig::new(), config::new().roaming(true));
    world.run_for(10 * SECOND);
    world.rebind(A, ELSEWHERE);
    deliver(&mut world, A, client, (B, server), 200 * MS);
    assert_eq!(moves(&mut world), [(ROUTER, ELSEWHERE)]);
    deliver(&mut world, B, server, (A, client), 200 * MS);
}
