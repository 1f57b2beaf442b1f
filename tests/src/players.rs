//! Two players, each behind a router, and a server that both know and that tells each player the address
//! of the other (`docs/nat.md`).

use core::time::Duration;

use porous_proto::{ChannelId, Config, Event, Listen, Mode, PeerId};
use porous_sim::{LinkConfig, Router, Seed, World};

use crate::{config, connected, ended, events};

/// The server that both players reach.
pub const SERVER: u32 = 900;

/// The players' addresses in their own networks.
pub const PLAYERS: [u32; 2] = [1, 2];

/// True if two addresses are ports of one machine.
const fn same_machine(a: u32, b: u32) -> bool {
    a / 100 == b / 100
}

/// A router of a player, with the addresses 100 to 107, or 200 to 207.
#[must_use]
pub fn router(player: u32) -> Router<u32> {
    let outside: Vec<u32> = (0..8).map(|port| 100 * player + port).collect();
    Router::new(&outside).machines(same_machine)
}

/// A world with both players behind these routers, and the addresses at which the server sees them.
///
/// # Panics
///
/// If they do not reach the server; the message contains the seed.
#[must_use]
pub fn meet(
    seed: Seed,
    links: LinkConfig,
    routers: [Router<u32>; 2],
    players: impl Fn() -> Config,
) -> (World, [u32; 2]) {
    let mut world = World::new(seed, links);
    world.add_host(SERVER, config::new());
    assert_eq!(world.host_mut(SERVER).listen(Listen::Open), Ok(()));
    for (player, router) in PLAYERS.into_iter().zip(routers) {
        world.add_host(player, players());
        world.add_router(player, router);
    }
    let seen = PLAYERS.map(|player| {
        world
            .network_mut()
            .set_both(player, SERVER, LinkConfig::new());
        let there = world.connect(player, SERVER).expect("a free address");
        world.run_for(Duration::from_secs(8));
        let told = events(&mut world, player);
        assert_eq!(connected(&told), [there], "{told:?}; {seed}");
        match events(&mut world, SERVER)[..] {
            [Event::Connected { address, .. }] => address,
            ref other => panic!("{other:?}; {seed}"),
        }
    });
    (world, seen)
}

/// The peer id of the other host at each of two hosts, if exactly one connection has come about and a
/// packet goes each way. The events of before must have been read at both.
///
/// # Panics
///
/// If there is more than one connection, or it does not work; the message contains `context` and the
/// seed.
pub fn one_between(world: &mut World, hosts: [u32; 2], context: &str) -> Option<[PeerId; 2]> {
    let seed = world.seed();
    let told = hosts.map(|host| events(world, host));
    let context = format!("{told:?}; {context}; replay with {seed}");
    let peers = told.each_ref().map(|told| connected(told));
    match peers.each_ref().map(|peers| &peers[..]) {
        [[], []] => None,
        [&[a], &[b]] => {
            let ended =
                told.map(|told| ended(&told).iter().any(|(peer, ..)| [a, b].contains(peer)));
            assert_eq!(ended, [false; 2], "{context}");
            assert_talk_between(world, [(hosts[0], a), (hosts[1], b)], &context);
            Some([a, b])
        }
        _ => panic!("not one connection: {context}"),
    }
}

/// A packet goes from each end of a connection to the other.
///
/// # Panics
///
/// If one does not arrive; the message contains `context`.
pub fn assert_talk_between(world: &mut World, ends: [(u32, PeerId); 2], context: &str) {
    for (host, peer) in ends {
        let word = format!("from {host}");
        let sent = world
            .host_mut(host)
            .send(peer, ChannelId(0), word, Mode::Reliable);
        assert_eq!(sent, Ok(()), "{context}");
    }
    world.run_for(Duration::from_secs(8));
    for [(host, peer), (other, _)] in [ends, [ends[1], ends[0]]] {
        let got = world.host_mut(host).receive(peer);
        let got = got.map(|packet| packet.payload);
        let word = format!("from {other}");
        assert_eq!(got.as_deref(), Some(word.as_bytes()), "{host}: {context}");
    }
}
