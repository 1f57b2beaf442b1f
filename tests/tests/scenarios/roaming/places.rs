//! Clients that return to their old address, move twice in a second, or move to an address where nothing
//! arrives.

#![expect(clippy::unwrap_used, reason = "a test")]

use core::time::Duration;

use porous_proto::{Disconnect, DisconnectReason, Event, Integrity, Listen, PeerId, PeerState};
use porous_sim::{LinkConfig, Seed, World};
use porous_tests::{config, connected, ended, events, state};

use super::{A, B, ELSEWHERE, MS, ROUTER, SECOND, connect, deliver, moves, receive, send, simple};

/// The client sends a packet every 50 ms and the server answers, `times` in all.
fn talk(world: &mut World, client: PeerId, server: PeerId, times: u32) {
    for n in 0..times {
        let n = n.to_le_bytes();
        send(world, A, client, n);
        send(world, B, server, n);
        world.run_for(50 * MS);
    }
}

#[test]
fn a_client_that_comes_back_is_found_there() {
    let (mut world, client, server) = simple(1);
    for (to, from) in [(ROUTER + 1, ROUTER), (ROUTER, ROUTER + 1)] {
        world.rebind(A, to);
        deliver(&mut world, A, client, (B, server), 200 * MS);
        deliver(&mut world, B, server, (A, client), 200 * MS);
        assert_eq!(moves(&mut world), [(from, to)]);
        world.run_for(2 * SECOND);
    }
}

#[test]
fn a_client_that_moves_twice_in_a_second_is_found_after_it() {
    let (mut world, client, server) = simple(1);
    world.rebind(A, ROUTER + 1);
    talk(&mut world, client, server, 6);
    world.rebind(A, ROUTER + 2);
    talk(&mut world, client, server, 60);
    world.run_for(SECOND);
    let told = moves(&mut world);
    assert_eq!(told, [(ROUTER, ROUTER + 1), (ROUTER + 1, ROUTER + 2)]);
    let (a, b) = (
        receive(&mut world, A, client),
        receive(&mut world, B, server),
    );
    assert_eq!((a.len(), b.len()), (66, 66));
    assert_eq!(world.host(B).address(server), Some(ROUTER + 2));
}

#[test]
fn a_client_between_two_addresses_is_followed_once_a_second() {
    for (period, fewest, most) in [(300, 5, 21), (1000, 10, 21), (2000, 9, 11)] {
        let (mut world, client, server) = simple(period);
        let period = Duration::from_millis(period);
        let (mut told, start) = (0, world.now());
        let mut n = 0;
        while world.now() < start + 20 * SECOND {
            n += 1;
            world.rebind(A, ROUTER + n % 2);
            let times = u32::try_from(period.as_millis() / 50).unwrap();
            talk(&mut world, client, server, times);
            told += moves(&mut world).len();
        }
        assert!((fewest..=most).contains(&told), "{period:?}: {told} moves");
        world.run_for(4 * SECOND);
        let told = events(&mut world, A);
        assert!(ended(&told).is_empty(), "{period:?}: {told:?}");
        deliver_rest(&mut world, client, server);
    }
}

fn deliver_rest(world: &mut World, client: PeerId, server: PeerId) {
    let (a, b) = (receive(world, A, client), receive(world, B, server));
    assert_eq!(a, b, "all that was said");
}

#[test]
fn a_place_where_nothing_arrives_is_left_for_the_old_one() {
    let (mut world, client, server) = simple(1);
    world.rebind(A, ROUTER + 1);
    deliver(&mut world, A, client, (B, server), 150 * MS);
    assert_eq!(moves(&mut world), [(ROUTER, ROUTER + 1)]);
    // The client is back at its old address, and has nothing to send; only B sends. The router lets B's
    // datagrams in.
    world.rebind(A, ROUTER);
    send(&mut world, B, server, [7]);
    world.run_for(9 * SECOND);
    assert_eq!(moves(&mut world), [(ROUTER + 1, ROUTER)]);
    assert_eq!(receive(&mut world, A, client), [7]);
}

#[test]
fn hosts_that_both_move_at_once_lose_each_other() {
    let both = config::client().roaming(true).connection_id_len(4).unwrap();
    let mut world = World::new(Seed::new(1), LinkConfig::new().delay(30 * MS));
    world.add_host(A, both);
    world.add_host(B, config::new().roaming(true));
    world.add_nat(A, ROUTER, 30 * SECOND);
    world.host_mut(B).listen(Listen::Open).unwrap();
    world.connect(A, B).unwrap();
    world.run_for(SECOND);
    events(&mut world, A);
    events(&mut world, B);
    world.add_nat(B, ELSEWHERE, 30 * SECOND);
    world.rebind(A, ROUTER + 1);
    world.run_for(30 * SECOND);
    for host in [A, B] {
        let told = events(&mut world, host);
        assert!(
            matches!(
                told[..],
                [Event::Disconnected {
                    reason: DisconnectReason::Silent,
                    ..
                }]
            ),
            "{told:?}"
        );
    }
}

/// The server moves; its client, which follows it, has connection ids of this length.
fn server_moves(length: u8) -> (World, PeerId, PeerId) {
    let roams = config::client().roaming(true);
    let roams = roams.connection_id_len(length).unwrap();
    let mut world = World::new(Seed::new(1), LinkConfig::new().delay(30 * MS));
    world.add_host(A, roams);
    world.add_host(B, config::new());
    world.host_mut(B).listen(Listen::Open).unwrap();
    let client = world.connect(A, B).unwrap();
    world.run_for(SECOND);
    let server = connected(&events(&mut world, B))[0];
    events(&mut world, A);
    world.add_nat(B, ELSEWHERE, 30 * SECOND);
    send(&mut world, B, server, [1]);
    world.run_for(SECOND);
    (world, client, server)
}

#[test]
fn a_server_that_moves_is_followed_by_clients_that_want_it() {
    let (mut world, client, server) = server_moves(4);
    let told = events(&mut world, A);
    let moved = |event: &Event<u32>| matches!(event, Event::PeerMoved { from: B, to, .. } if *to == ELSEWHERE);
    assert!(told.iter().any(moved), "{told:?}");
    assert_eq!(receive(&mut world, A, client), [1]);
    deliver(&mut world, A, client, (B, server), 200 * MS);
}

#[test]
fn without_connection_ids_nobody_is_followed() {
    let (mut world, client, _) = server_moves(0);
    assert_eq!(world.host(A).address(client), Some(B));
    assert!(receive(&mut world, A, client).is_empty());
    world.run_for(20 * SECOND);
    let told = events(&mut world, A);
    assert!(matches!(told[..], [Event::Disconnected { .. }]), "{told:?}");
}

#[test]
fn a_client_that_only_pings_is_found_again() {
    let (mut world, client, server) = simple(1);
    world.run_for(30 * SECOND);
    world.rebind(A, ROUTER + 1);
    world.run_for(30 * SECOND);
    assert_eq!(moves(&mut world), [(ROUTER, ROUTER + 1)]);
    deliver(&mut world, B, server, (A, client), 200 * MS);
}

#[test]
fn ids_of_all_lengths_and_checksums_lead_to_a_peer_that_moved() {
    for length in 1..=8 {
        let server = config::new()
            .roaming(true)
            .connection_id_len(length)
            .unwrap();
        let server = match length % 2 {
            0 => server.integrity(Integrity::Crc32c),
            _ => server,
        };
        let (mut world, client, server) = connect(length.into(), LinkConfig::new(), server);
        world.rebind(A, ROUTER + 1);
        deliver(&mut world, A, client, (B, server), 200 * MS);
        deliver(&mut world, B, server, (A, client), 200 * MS);
        assert_eq!(moves(&mut world), [(ROUTER, ROUTER + 1)], "{length}");
    }
}

/// A client or a server that has packets to deliver disconnects just after the client has moved.
fn goodbye(by: u32) {
    let (mut world, client, server) = simple(1);
    world.rebind(A, ROUTER + 1);
    let own = if by == A { client } else { server };
    send(&mut world, A, client, [1]);
    send(&mut world, B, server, [2]);
    let flush = Disconnect::Flush {
        reason: 5,
        deadline: 4 * SECOND,
    };
    world.disconnect(by, own, flush).unwrap();
    world.run_for(3 * SECOND);
    let other = if by == A {
        (B, server, 1)
    } else {
        (A, client, 2)
    };
    assert_eq!(receive(&mut world, other.0, other.1), [other.2]);
    let told = events(&mut world, other.0);
    assert!(
        matches!(ended(&told)[..], [(_, DisconnectReason::ByPeer(5), 0)]),
        "{told:?}"
    );
    let told = events(&mut world, by);
    assert!(
        matches!(ended(&told)[..], [(_, DisconnectReason::ByUs(5), 0)]),
        "{told:?}"
    );
}

#[test]
fn a_host_that_moves_while_it_disconnects_is_still_understood() {
    goodbye(A);
    goodbye(B);
}

/// D10.
#[test]
fn a_goodbye_from_another_address_is_heard_and_answered_there() {
    let (mut world, client, server) = simple(1);
    world.rebind(A, ROUTER + 1);
    world
        .disconnect(A, client, Disconnect::Now { reason: 5 })
        .unwrap();
    world.run_for(200 * MS);
    assert_eq!(state(&world, B, server), Some(PeerState::Disconnected));
    let told = events(&mut world, B);
    assert!(
        matches!(ended(&told)[..], [(_, DisconnectReason::ByPeer(5), _)]),
        "{told:?}"
    );
    let told = events(&mut world, A);
    assert!(
        matches!(ended(&told)[..], [(_, DisconnectReason::ByUs(5), _)]),
        "{told:?}"
    );
}
