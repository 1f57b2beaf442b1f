//! How connections begin. Between the hosts a datagram takes 20 ms.

use core::ops::ControlFlow;
use core::time::Duration;

use porous_proto::{
    Config, DisconnectReason, Event, Ignored, Instant, Integrity, Listen, Mode, PeerId, Priority,
    Refusal,
};
use porous_sim::{Intercept, Pair, Seed, Service, World};
use porous_tests::{
    Kind, assert_silent, assert_talk, config, connected, ended, events, kind, line, one_connection,
    record, seed,
};

use crate::{A, B, MODES, MS};

const C: u32 = 3;

/// B listens.
fn listening(a: Config, b: Config) -> World {
    let mut world = Pair::new(seed(), line(), a, b).world;
    assert_eq!(world.host_mut(B).listen(Listen::Open), Ok(()));
    world
}

fn connect(world: &mut World, from: u32, to: u32) -> PeerId {
    let peer = world.connect(from, to);
    peer.unwrap_or_else(|error| panic!("{error}; replay with {}", world.seed()))
}

/// 1: a connection over a clean link costs four datagrams, and each side hears of it once.
#[test]
fn a_clean_handshake_takes_four_datagrams_and_is_told_once() {
    // given: a host with one free place
    let mut world = listening(config::client(), config::new().max_peers(1));
    let tape = record(&mut world);

    // when: a client connects, and both have established the connection
    connect(&mut world, A, B);
    let limit = Instant::ZERO + 80 * MS;
    let established = world.drive(limit, |world| {
        let both = [A, B].map(|address| world.host(address).stats().connected);
        match both {
            [1, 1] => ControlFlow::Break(world.now()),
            _ => ControlFlow::Continue(()),
        }
    });

    // then: four datagrams and two round-trip times were enough, and neither host is told again
    assert_eq!(established, Some(limit), "{}", seed());
    let mut all = tape.all();
    all.retain(|taped| taped.at < limit);
    let kinds: Vec<_> = all.iter().map(|taped| kind(&taped.datagram)).collect();
    let four = [
        Kind::Request,
        Kind::Cookie,
        Kind::Acknowledge,
        Kind::Acknowledge,
    ];
    assert_eq!(kinds, four, "{}", seed());
    world.run_for(Duration::from_secs(60));
    one_connection(&mut world, "a minute later");
}

/// 2: two hosts that connect to each other at once get one connection, and both hear of it.
#[test]
fn handshakes_that_cross_make_one_connection() {
    for (number, listens) in (0..20).flat_map(|number| [(number, false), (number, true)]) {
        // given: two hosts that do not know each other
        let seed = Seed::from_env(Seed::new(number));
        let mut world = Pair::new(seed, line(), config::new(), config::new()).world;
        for address in [A, B] {
            let policy = if listens {
                Listen::Open
            } else {
                Listen::Closed
            };
            assert_eq!(world.host_mut(address).listen(policy), Ok(()));
        }

        // when: each connects to the other in the same instant
        connect(&mut world, A, B);
        connect(&mut world, B, A);
        world.run_for(Duration::from_secs(3));

        // then: each has one peer, was told of it once, and the two ends belong together
        let ends = one_connection(&mut world, &format!("listening: {listens}"));
        assert_talk(&mut world, ends, "crossed");
    }
}

/// The client's end of a failed attempt, with a timeout of 5 s, is told after the timeout and, by a loop
/// of 10 Hz, at most one tick later; nothing else is told.
fn assert_times_out(world: &mut World, peer: PeerId, service: Service, reason: DisconnectReason) {
    let (context, timeout) = (format!("{service:?}; {}", seed()), Duration::from_secs(5));
    let late = match service {
        Service::Event | Service::Core(_) => Duration::ZERO,
        Service::Tick { every, .. } => every,
    };
    world.run_until(Instant::ZERO + (timeout - Duration::from_micros(1)));
    assert_eq!(events(world, A), [], "{context}");
    world.run_until(Instant::ZERO + timeout + late);
    let told = events(world, A);
    let end = (peer, reason, 0);
    assert_eq!((ended(&told), told.len()), (vec![end], 1), "{context}");
    world.run_for(Duration::from_secs(60));
    assert_silent(world, A, &context);
    assert_silent(world, B, &context);
    assert_eq!(world.host(B).stats().accepted, 0, "{context}");
}

/// A tick of 10 Hz that is out of phase with the timeout.
const SERVICES: [Service; 2] = [
    Service::Event,
    Service::Tick {
        every: Duration::from_millis(100),
        offset: Duration::from_millis(30),
    },
];

/// 4: if nothing comes back, an attempt ends at its timeout, not before and not later.
#[test]
fn an_attempt_that_nobody_answers_ends_at_its_time() {
    for service in SERVICES {
        // given: all that the server sends is lost
        let client = config::client()
            .connect_timeout(Duration::from_secs(5))
            .unwrap();
        let mut world = listening(client, config::new());
        world.set_service(A, service);
        world.network_mut().set_link(B, A, line().loss(100.0));

        // when
        let peer = connect(&mut world, A, B);

        // then
        assert_times_out(&mut world, peer, service, DisconnectReason::NeverAnswered);
    }
}

/// 5: the same if the cookie comes, but every datagram that brings it back is lost. The reason tells that
/// a host is there.
#[test]
fn an_attempt_whose_responses_are_lost_ends_at_its_time() {
    for service in SERVICES {
        // given: the server's cookies arrive, the answers to them do not
        let client = config::client()
            .connect_timeout(Duration::from_secs(5))
            .unwrap();
        let mut world = listening(client, config::new());
        world.set_service(A, service);
        world.intercept(|passing| {
            if [Kind::Request, Kind::Cookie].contains(&kind(passing.datagram)) {
                return Intercept::Pass;
            }
            Intercept::Drop
        });

        // when
        let peer = connect(&mut world, A, B);

        // then: the server has kept nothing of the attempt either
        assert_times_out(&mut world, peer, service, DisconnectReason::Unfinished);
        assert!(world.network().link_stats(B, A).delivered > 0, "{}", seed());
    }
}

/// 7: a full host says so within a round trip, and does not disturb its peers.
#[test]
fn a_full_host_says_so_at_once_and_the_others_do_not_notice() {
    // given: a host that is full, and a stream from its peer
    let mut pair = Pair::new(seed(), line(), config::client(), config::new().max_peers(1));
    pair.connect_to_listener();
    pair.world.add_host(C, config::client());
    let mut got = Vec::new();
    for n in 0..60_u8 {
        assert_eq!(pair.send(A, 0, Mode::Reliable, vec![n]), Ok(()));

        // when: one more connects
        if n == 30 {
            let late = connect(&mut pair.world, C, B);
            pair.world.run_for(40 * MS);

            // then: it is told after 40 ms
            let told = events(&mut pair.world, C);
            let full = DisconnectReason::Refused(Refusal::Full);
            assert_eq!(ended(&told), [(late, full, 0)], "{told:?}; {}", seed());
        }
        pair.world.run_for(16 * MS);
        got.extend(pair.receive_all(B));
    }
    // ... the stream goes on without a gap, and no other event is told
    pair.world.run_for(20 * MS);
    got.extend(pair.receive_all(B));
    let first: Vec<u8> = got.iter().map(|packet| packet.payload[0]).collect();
    assert_eq!(first, (0..60).collect::<Vec<u8>>(), "{}", seed());
    for address in [A, B] {
        let told = events(&mut pair.world, address);
        let news = (connected(&told), ended(&told));
        assert_eq!(news, (vec![], vec![]), "{}", seed());
    }
}

/// 14: a server that was started again at its port takes nothing that was sent to the one before, neither
/// data nor handshakes.
#[test]
fn a_restarted_server_refuses_what_was_meant_for_the_one_before() {
    // given: a connection, all of its datagrams, and a server that is started again
    let mut world = listening(config::client(), config::new());
    let tape = record(&mut world);
    let peer = connect(&mut world, A, B);
    world.run_for(Duration::from_secs(1));
    world.add_host(B, config::new());
    assert_eq!(world.host_mut(B).listen(Listen::Open), Ok(()));
    let mut old = tape.all();
    old.retain(|taped| taped.from == A);

    // when: every datagram that the client ever sent comes to the new server, and the client goes on
    for taped in &old {
        world.inject(A, B, taped.datagram.clone());
        world.run_for(100 * MS);
    }
    world.run_for(Duration::from_secs(5));

    // then: no client is accepted, every datagram of the connection was refused, and the client learns
    // that the connection is over
    let stats = world.host(B).stats();
    assert_eq!(stats.accepted, 0, "{stats:?}; {}", seed());
    let shorts = old.iter().filter(|t| kind(&t.datagram) == Kind::Short);
    let refused = stats.ignored(Ignored::UnknownConnection);
    assert!(refused >= shorts.count() as u64, "{stats:?}; {}", seed());
    assert_silent(&mut world, B, "it has seen nobody");
    let told = events(&mut world, A);
    let over = [(peer, DisconnectReason::LostByPeer, 0)];
    assert_eq!(ended(&told), over, "{told:?}; {}", seed());
}

/// Packets of all modes and some sizes, as numbered bytes.
fn packets() -> Vec<(Mode, Vec<u8>)> {
    let packet = |n: u8| (MODES[usize::from(n) % 3], vec![n; 97 * usize::from(n)]);
    (0..60).map(packet).collect()
}

/// 17: a peer in the same process is served like one far away. There is no special case for such a peer:
/// it is a host over a link without delay.
#[test]
fn local_and_remote_peers_are_served_alike() {
    // given: a server with a client beside it, and one behind a line
    let mut world = listening(config::client(), config::new());
    world.add_host(C, config::client());
    world
        .network_mut()
        .set_both(C, B, porous_sim::LinkConfig::new());
    for from in [A, C] {
        connect(&mut world, from, B);
    }
    world.run_for(Duration::from_secs(1));
    let all = events(&mut world, B);
    let peers = connected(&all);
    assert_eq!(peers.len(), 2, "{all:?}; {}", seed());

    // when: the server sends the same packets to all of them
    for (peer, (mode, packet)) in peers
        .iter()
        .flat_map(|&p| packets().into_iter().map(move |t| (p, t)))
    {
        let sent = world
            .host_mut(B)
            .send(peer, porous_proto::ChannelId(0), packet, mode);
        assert_eq!(sent, Ok(()), "{}", seed());
    }
    world.run_for(Duration::from_secs(2));

    // then: all of them have received the same packets
    for address in [A, C] {
        let peer = world.host(address).peers().next().map(|(peer, _)| peer);
        let host = world.host_mut(address);
        let got = core::iter::from_fn(|| host.receive(peer?));
        let got: Vec<_> = got.map(|got| (got.mode, got.payload.to_vec())).collect();
        assert!(
            got == packets(),
            "{address}: {} packets; {}",
            got.len(),
            seed()
        );
    }
}

/// 61: hosts with different configurations agree on what both can do, and hosts that cannot agree say so;
/// no host is left with a connection that does not work.
#[test]
fn hosts_with_other_configurations_agree_or_say_so() {
    let ok = |config: Result<Config, _>| config.unwrap_or_else(|error| panic!("{error}"));
    let base = config::new;
    let others = [
        ok(base().channels(&[Priority::High; 7])),
        ok(base().max_datagram(600)),
        ok(base().receive_budget(3000, 10_000)),
        ok(base().windows(16, 65_536)),
        ok(base().windows(65_536, 16)),
        ok(base().bandwidth(50_000, 70_000)),
        ok(base().connection_id_len(8)),
        base().integrity(Integrity::Crc32c),
        base()
            .timeout(Duration::from_secs(3))
            .unwrap()
            .send_budget(5000)
            .unwrap(),
    ];
    for (n, other) in others.into_iter().enumerate() {
        for swapped in [false, true] {
            // given: two hosts that differ in one thing
            let (a, b) = (base(), other.clone());
            let mut world = if swapped {
                listening(b, a)
            } else {
                listening(a, b)
            };

            // when
            connect(&mut world, A, B);
            world.run_for(Duration::from_secs(5));

            // then: they are connected, and the connection works
            let context = format!("configuration {n}, swapped: {swapped}");
            let ends = one_connection(&mut world, &context);
            assert_talk(&mut world, ends, &context);
        }
    }

    // given: two hosts of different applications
    let mut world = listening(config::client(), base().application_id(2));
    // when
    let peer = connect(&mut world, A, B);
    world.run_for(40 * MS);
    // then: the reason is clear, after one round trip
    let reason = DisconnectReason::Refused(Refusal::Incompatible { application_id: 2 });
    let end = Event::Disconnected {
        peer,
        reason,
        undelivered: 0,
    };
    assert_eq!(events(&mut world, A), [end], "{}", seed());
}
