//! Two hosts that connect to each other, each at all addresses that the other may have.

use core::time::Duration;

use porous_proto::{Config, Disconnect, DisconnectReason, Event, PeerId, PeerState};
use porous_sim::rand_core::Rng;
use porous_sim::{ChaCha8Rng, Intercept, LinkConfig, World, below};
use porous_tests::players::{PLAYERS, assert_talk_between, meet, one_between, router};
use porous_tests::{Kind, config, ended, events, kind as kind_of, line, seed, state};

const A: u32 = PLAYERS[0];
const B: u32 = PLAYERS[1];
const SECOND: Duration = Duration::from_secs(1);

/// Both players behind routers of the usual kind, and the addresses at which the server sees them.
fn players(links: LinkConfig) -> (World, [u32; 2]) {
    meet(seed(), links, PLAYERS.map(router), config::new)
}

/// Each connects to the private and the public address of the other.
fn connect(world: &mut World, seen: [u32; 2]) -> [PeerId; 2] {
    [(A, [B, seen[1]]), (B, [A, seen[0]])]
        .map(|(host, at)| world.connect_any(host, &at).expect("free addresses"))
}

#[test]
fn two_players_behind_routers_meet() {
    for client in [config::new, config::client] {
        let (mut world, seen) = meet(seed(), line(), PLAYERS.map(router), client);
        let peers = connect(&mut world, seen);
        world.run_for(SECOND);
        assert_eq!(one_between(&mut world, PLAYERS, "punch"), Some(peers));
        let at = [(A, peers[0]), (B, peers[1])].map(|(host, peer)| world.host(host).address(peer));
        assert_eq!(at, [Some(seen[1]), Some(seen[0])]);
    }
}

#[test]
fn neighbours_meet_in_their_own_network() {
    for hairpins in [false, true] {
        let kind = |player| match hairpins {
            true => router(player).hairpins(),
            false => router(player),
        };
        let (mut world, seen) = meet(seed(), line(), PLAYERS.map(kind), config::new);
        world.join(&PLAYERS);
        world.network_mut().set_both(A, B, LinkConfig::new());
        let peers = connect(&mut world, seen);
        world.run_for(SECOND);
        assert_eq!(one_between(&mut world, PLAYERS, "within"), Some(peers));
        assert_eq!(world.host(A).address(peers[0]), Some(B), "the shorter way");
    }
}

/// A has settled on the public addresses, B on the private ones: in the other two directions only
/// requests have passed until then.
fn crosswise(players: fn() -> Config) -> (World, [PeerId; 2], [u32; 2]) {
    let kind = |player| router(player).hairpins();
    let (mut world, seen) = meet(seed(), line(), PLAYERS.map(kind), players);
    world.join(&PLAYERS);
    let shut = [(B, A), (seen[0], seen[1])];
    world.intercept(move |passing| {
        let shut = shut.contains(&(passing.from, passing.to));
        match shut && kind_of(passing.datagram) != Kind::Request {
            true => Intercept::Drop,
            false => Intercept::Pass,
        }
    });
    let peers = connect(&mut world, seen);
    world.run_for(SECOND);
    world.intercept(|_| Intercept::Pass);
    for (n, won) in [(0, seen[1]), (1, A)] {
        let told = events(&mut world, PLAYERS[n]);
        let (peer, address) = (peers[n], won);
        assert_eq!(told, [Event::Connected { peer, address }]);
    }
    (world, peers, seen)
}

/// True if both use the same pair of addresses, within their network or outside.
fn one_way(world: &World, peers: [PeerId; 2], seen: [u32; 2]) -> bool {
    let at = [(A, peers[0]), (B, peers[1])].map(|(host, peer)| world.host(host).address(peer));
    [[Some(seen[1]), Some(seen[0])], [Some(B), Some(A)]].contains(&at)
}

/// A router closes a mapping that its own host does not send through. D11.
#[test]
fn both_directions_come_to_one_way_that_stays_open() {
    let (mut world, peers, seen) = crosswise(config::new);
    let ends = [(A, peers[0]), (B, peers[1])];
    assert_talk_between(&mut world, ends, "crosswise");
    assert!(one_way(&world, peers, seen));
    world.run_for(600 * SECOND);
    assert_talk_between(&mut world, ends, "crosswise, later");
}

/// Otherwise each would follow the other to the address that it sends from, for ever.
#[test]
fn a_peer_known_by_several_addresses_does_not_roam_between_them() {
    let (mut world, peers, seen) = crosswise(|| config::new().roaming(true));
    let ends = [(A, peers[0]), (B, peers[1])];
    for _ in 0..5 {
        assert_talk_between(&mut world, ends, "crosswise");
    }
    assert!(one_way(&world, peers, seen));
    let moved = |event: &Event<u32>| matches!(event, Event::PeerMoved { .. });
    for player in PLAYERS {
        let told = events(&mut world, player);
        assert!(!told.iter().any(moved), "{told:?}");
    }
}

#[test]
fn a_goodbye_is_heard_from_each_address_of_a_peer() {
    for (leaver, other) in [(0, 1), (1, 0)] {
        let (mut world, peers, _) = crosswise(config::new);
        let how = Disconnect::Now { reason: 3 };
        let left = world.disconnect(PLAYERS[leaver], peers[leaver], how);
        assert_eq!(left, Ok(()));
        world.run_for(SECOND);
        for (player, reason) in [
            (leaver, DisconnectReason::ByUs(3)),
            (other, DisconnectReason::ByPeer(3)),
        ] {
            let told = ended(&events(&mut world, PLAYERS[player]));
            assert_eq!(told, [(peers[player], reason, 0)]);
        }
    }
}

#[test]
fn a_host_that_forgot_a_connection_says_so_at_each_address() {
    for (killed, other) in [(0, 1), (1, 0)] {
        let (mut world, peers, _) = crosswise(config::new);
        world.add_host(PLAYERS[killed], config::new());
        world.run_for(4 * SECOND);
        let told = ended(&events(&mut world, PLAYERS[other]));
        assert_eq!(told, [(peers[other], DisconnectReason::LostByPeer, 0)]);
    }
}

/// C17.
#[test]
fn one_player_may_begin_up_to_five_seconds_later() {
    for tenths in 0..=50 {
        for first in [0, 1] {
            let (mut world, seen) = players(line());
            let at = [[B, seen[1]], [A, seen[0]]];
            for player in [first, 1 - first] {
                let begun = world.connect_any(PLAYERS[player], &at[player]);
                assert!(begun.is_ok(), "{begun:?}");
                world.run_for(SECOND / 10 * tenths);
            }
            world.run_for(2 * SECOND);
            let context = format!("{tenths} tenths; {first} first");
            let ends = one_between(&mut world, PLAYERS, &context);
            assert!(ends.is_some(), "{context}");
        }
    }
}

/// The addresses at which the other player may be, among other addresses and the player's own, in any
/// order.
fn shuffled(chance: &mut ChaCha8Rng, own: [u32; 2], others: [u32; 2]) -> Vec<u32> {
    let nobody = 700..700 + u32::try_from(below(chance.next_u64(), 5)).expect("a few");
    let own = own
        .into_iter()
        .take(usize::try_from(below(chance.next_u64(), 3)).expect("a few"));
    let mut list = Vec::new();
    for address in nobody.chain(own).chain(others) {
        let place = below(chance.next_u64(), list.len() as u64 + 1);
        list.insert(usize::try_from(place).expect("a few"), address);
    }
    list
}

/// D11.
#[test]
fn one_connection_comes_of_any_order_of_addresses_and_any_loss() {
    for number in 0..150 {
        let seed = seed().child("punch", number);
        let mut chance = seed.stream("order", 0);
        let mut draw = |n| below(chance.next_u64(), n);
        let (near, hairpins, lossy) = (draw(2) == 0, draw(2) == 0, draw(51));
        let delay = Duration::from_millis(draw(150));
        let (jitter, wait) = (
            Duration::from_millis(draw(60)),
            Duration::from_millis(draw(5000)),
        );
        let links = LinkConfig::new().delay(delay).jitter(jitter);
        let links = links.loss(f64::from(u32::try_from(lossy).expect("a percentage")));
        let kind = |player| match hairpins {
            true => router(player).hairpins(),
            false => router(player),
        };
        let (mut world, seen) = meet(seed, LinkConfig::new(), PLAYERS.map(kind), config::new);
        if near {
            world.join(&PLAYERS);
        }
        for (from, to) in [(A, B), (seen[0], seen[1])] {
            world.network_mut().set_both(from, to, links);
        }
        let [at_a, at_b] = [[A, seen[0]], [B, seen[1]]];
        let lists = [
            shuffled(&mut chance, at_a, at_b),
            shuffled(&mut chance, at_b, at_a),
        ];
        let context = format!("{lists:?}, {lossy} % lost, {delay:?}, {wait:?} later; {seed}");
        for (player, list) in PLAYERS.into_iter().zip(&lists) {
            assert!(world.connect_any(player, list).is_ok(), "{context}");
            world.run_for(wait);
        }
        world.run_for(10 * SECOND);
        let ends = one_between(&mut world, PLAYERS, &context);
        let ends = ends.unwrap_or_else(|| panic!("none: {context}"));
        world.run_for(60 * SECOND);
        let states = [0, 1].map(|n| state(&world, PLAYERS[n], ends[n]));
        assert_eq!(states, [Some(PeerState::Connected); 2], "{context}");
        assert_eq!(
            PLAYERS.map(|player| world.host(player).peers().count()),
            [2, 2],
            "{context}"
        );
    }
}
