//! The measurements of a path that are kept when only the port differs, and those that are made anew when
//! more does.
#![expect(clippy::unwrap_used, reason = "a test")]

use core::time::Duration;

use porous_proto::congestion::Congestion;
use porous_proto::{ChannelId, Config, Mode, PeerId, PeerStats, Policy};
use porous_sim::{EcnPath, LinkConfig, World};
use porous_tests::config;

use super::{A, B, ELSEWHERE, MS, ROUTER, SECOND, connect, deliver, moves, receive, send};

/// The most bytes that a new connection may have in flight.
const INITIAL: u32 = 12_000;

fn modern() -> Config {
    config::new().roaming(true).policy(Policy::Modern)
}

fn stats(world: &World, server: PeerId) -> PeerStats {
    world.host(B).peer(server).unwrap().stats()
}

/// B sends for `time` as much as there is room for, and A reads it.
fn stream(world: &mut World, (client, server): (PeerId, PeerId), time: Duration) {
    let end = world.now() + time;
    while world.now() < end {
        let packet = vec![7; 1000];
        while stats(world, server).queued_bytes < 60_000 {
            let host = world.host_mut(B);
            host.send(server, ChannelId(0), packet.clone(), Mode::Reliable)
                .unwrap();
        }
        world.run_for(MS);
        receive(world, A, client);
    }
}

/// A connection that streams, and then moves. Returns B's statistics just after the move, before the
/// first acknowledgement from the new address.
fn move_streaming(server: Config, to: u32, link: LinkConfig) -> (World, [PeerId; 2], PeerStats) {
    let (mut world, client, server) = connect(1, LinkConfig::new().rate(20_000_000), server);
    stream(&mut world, (client, server), 3 * SECOND);
    world.rebind(A, to);
    world.network_mut().set_both(to, B, link);
    send(&mut world, A, client, [1]);
    while world.host(B).address(server) != Some(to) {
        stream(&mut world, (client, server), MS);
    }
    let after = stats(&world, server);
    (world, [client, server], after)
}

#[test]
fn another_port_keeps_the_window_whatever_was_lost_on_the_way_to_the_old_one() {
    let link = LinkConfig::new().delay(30 * MS).rate(20_000_000);
    let (mut world, [client, server], after) = move_streaming(modern(), ROUTER + 1, link);
    assert!(after.window > 3 * INITIAL, "{after:?}");
    assert!(after.frames_lost >= 20, "{after:?}");
    for _ in 0..100 {
        stream(&mut world, (client, server), 2 * MS);
        let now = stats(&world, server);
        assert!(now.window >= after.window, "{after:?} {now:?}");
    }
}

#[test]
fn another_port_keeps_the_window_of_a_client_that_was_silent_for_a_second() {
    let reno = modern().congestion(Congestion::Reno);
    let (mut world, client, server) = connect(1, LinkConfig::new(), reno);
    let before = stats(&world, server);
    world.rebind(A, ROUTER + 1);
    // B goes on sending, as a game's server does.
    for n in 0..60 {
        let host = world.host_mut(B);
        host.send(server, ChannelId(0), vec![n; 50], Mode::Unreliable)
            .unwrap();
        world.run_for(SECOND / 60);
    }
    deliver(&mut world, A, client, (B, server), SECOND);
    assert_eq!(moves(&mut world), [(ROUTER, ROUTER + 1)]);
    let after = stats(&world, server);
    assert!(after.frames_lost > before.frames_lost + 9, "{after:?}");
    assert!(after.window >= before.window, "{before:?} {after:?}");
}

#[test]
fn on_another_path_nothing_is_known() {
    let link = LinkConfig::new().delay(5 * MS).rate(20_000_000);
    let (mut world, [client, server], after) = move_streaming(modern(), ELSEWHERE, link);
    // Frames that were lost on the old path do not make the window smaller.
    assert!(
        after.window == INITIAL && after.frames_lost >= 20,
        "{after:?}"
    );
    for _ in 0..20 {
        stream(&mut world, (client, server), 2 * MS);
        let now = stats(&world, server);
        assert!(now.window >= after.window, "{after:?} {now:?}");
    }
    stream(&mut world, (client, server), SECOND);
    let now = stats(&world, server);
    assert!(
        now.rtt_minimum < 15 * MS && now.rtt_minimum >= 10 * MS,
        "{now:?}"
    );
}

/// The round trip that B has measured, `round_trips` of 10 ms after a move from a path of 200 ms.
fn rtt_after(to: u32, round_trips: u32) -> (Duration, PeerStats) {
    let slow = LinkConfig::new().delay(100 * MS);
    let (mut world, client, server) = connect(1, LinkConfig::new(), config::new().roaming(true));
    world.network_mut().set_both(ROUTER, B, slow);
    for _ in 0..100 {
        send(&mut world, A, client, [1]);
        send(&mut world, B, server, [1]);
        world.run_for(100 * MS);
    }
    let before = stats(&world, server);
    assert!(before.rtt > 195 * MS, "{before:?}");
    world.rebind(A, to);
    world.network_mut().set_both(to, B, slow.delay(5 * MS));
    send(&mut world, B, server, [1]);
    send(&mut world, A, client, [1]);
    while world.host(B).address(server) != Some(to) {
        world.run_for(MS);
    }
    send(&mut world, B, server, [1]);
    world.run_for(10 * MS * round_trips);
    (before.rtt, stats(&world, server))
}

#[test]
fn the_round_trip_of_another_path_is_known_after_two_of_them() {
    // The paper's policy measures round trips by pings alone.
    let (_, after) = rtt_after(ELSEWHERE, config::by_policy(2, 500));
    assert!((10 * MS..30 * MS).contains(&after.rtt), "{after:?}");
}

#[test]
fn with_another_port_it_is_the_same_path() {
    let (before, after) = rtt_after(ROUTER + 1, 2);
    assert!(after.rtt > before / 2, "an average: {after:?}");
}

/// A connection that has found out that datagrams may have 1452 bytes, and then moves to this address.
fn move_with_large_datagrams(to: u32, mtu: u32) -> (World, PeerStats, PeerStats) {
    let search = |config: Config| config.path_mtu_discovery(1452).unwrap();
    let server = search(modern());
    let mut world = World::new(porous_sim::Seed::new(1), LinkConfig::new().delay(30 * MS));
    world.add_host(A, search(config::client()));
    world.add_host(B, server);
    world.add_nat(A, ROUTER, 30 * SECOND);
    let host = world.host_mut(B);
    host.set_same_host(|a, b| a / 100 == b / 100);
    host.listen(porous_proto::Listen::Open).unwrap();
    let client = world.connect(A, B).unwrap();
    world.run_for(SECOND);
    let server = porous_tests::connected(&porous_tests::events(&mut world, B))[0];
    let small = |world: &mut World, time: Duration| {
        let end = world.now() + time;
        while world.now() < end {
            while stats(world, server).queued_bytes < 30_000 {
                let host = world.host_mut(B);
                host.send(server, ChannelId(0), vec![7; 100], Mode::Reliable)
                    .unwrap();
            }
            world.run_for(10 * MS);
            receive(world, A, client);
        }
    };
    small(&mut world, 10 * SECOND);
    let before = stats(&world, server);
    world.rebind(A, to);
    let line = LinkConfig::new().delay(30 * MS);
    world
        .network_mut()
        .set_both(to, B, line.mtu(mtu.try_into().unwrap()));
    send(&mut world, A, client, [1]);
    small(&mut world, SECOND);
    let soon = stats(&world, server);
    small(&mut world, 20 * SECOND);
    (world, before, soon)
}

#[test]
fn another_path_may_carry_less() {
    let (world, before, soon) = move_with_large_datagrams(ELSEWHERE, 1300);
    assert_eq!((before.path_mtu, soon.path_mtu), (1452, 1200));
    let (_, peer) = world.host(B).peers().next().unwrap();
    let found = peer.stats();
    assert!((1280..=1300).contains(&found.path_mtu), "{found:?}");
    assert!(found.window > INITIAL, "{found:?}");
}

#[test]
fn another_port_keeps_the_datagram_length_although_large_ones_were_lost_there() {
    let (_, before, soon) = move_with_large_datagrams(ROUTER + 1, 1500);
    assert_eq!((before.path_mtu, soon.path_mtu), (1452, 1452));
}

#[test]
fn marks_are_tried_anew_on_another_path() {
    let link = LinkConfig::new().delay(30 * MS).rate(20_000_000);
    let config = modern().ecn(true);
    let (mut world, [client, server], after) = move_streaming(config.clone(), ELSEWHERE, link);
    assert!(after.ecn && after.frames_lost >= 20, "{after:?}");
    stream(&mut world, (client, server), SECOND);
    assert!(stats(&world, server).ecn, "what was lost had marks");
    // The marks end there, if the path removes them.
    let bleached = link.ecn_path(EcnPath::Bleached);
    let (mut world, [client, server], _) = move_streaming(config, ELSEWHERE, bleached);
    stream(&mut world, (client, server), SECOND);
    assert!(!stats(&world, server).ecn);
}
