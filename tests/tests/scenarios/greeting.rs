//! What a host may say of itself in a handshake: greetings, and its timeout. Between A and B a datagram
//! takes 20 ms.

use core::time::Duration;

use porous_proto::{
    Config, ConnectError, Disconnect, DisconnectReason, Event, Listen, PeerId, PeerState, Policy,
    Priority, Refusal,
};
use porous_sim::{Pair, Seed, World};
use porous_tests::{
    Kind, assert_talk, config, connected, ended, events, line, one_connection, record, seed,
};

const A: u32 = Pair::A;
const B: u32 = Pair::B;
const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

/// The longest greeting.
const LONG: [u8; 255] = [b'g'; 255];

fn world(a: Config, b: Config, listen: Listen) -> World {
    let mut world = Pair::new(seed(), line(), a, b).world;
    assert_eq!(world.host_mut(B).listen(listen), Ok(()));
    world
}

fn connect(world: &mut World, greeting: &[u8]) -> PeerId {
    let peer = world.connect_with(A, &[B], greeting);
    peer.unwrap_or_else(|error| panic!("{error}; replay with {}", world.seed()))
}

/// The greeting of this host's peer.
fn greeting(world: &World, at: u32, peer: PeerId) -> Vec<u8> {
    let peer = world.host(at).peer(peer).expect("it is there");
    peer.greeting().to_vec()
}

/// D12.
#[test]
fn an_application_reads_the_greeting_before_it_accepts() {
    for said in [&b""[..], b"A", b"name=Ada;map=7", &LONG] {
        let mut world = world(config::client(), config::new(), Listen::Ask);
        let a = connect(&mut world, said);
        world.run_for(200 * MS);
        let told = events(&mut world, B);
        let [Event::Request { peer, address: A }] = told[..] else {
            panic!("{told:?}; replay with {}", world.seed());
        };
        assert_eq!(greeting(&world, B, peer), said, "{}", world.seed());
        assert_eq!(world.accept(B, peer), Ok(()));
        world.run_for(SECOND);
        let ends = [a, peer];
        assert_eq!(connected(&events(&mut world, A)), [a]);
        assert_eq!(connected(&events(&mut world, B)), [peer]);
        assert_talk(&mut world, ends, "a greeting");
        assert_eq!(
            greeting(&world, B, peer),
            said,
            "for as long as it is there"
        );
        assert_eq!(greeting(&world, A, a), b"", "a listener says nothing");
        assert_eq!(
            world.disconnect(A, a, Disconnect::Now { reason: 0 }),
            Ok(())
        );
        world.run_for(SECOND);
        assert_eq!(greeting(&world, B, peer), said, "and when it has gone");
        world.run_for(60 * SECOND);
        assert!(world.host(B).peer(peer).is_none());
    }
}

#[test]
fn a_refused_one_had_its_greeting_read() {
    let mut world = world(config::client(), config::new(), Listen::Ask);
    let a = connect(&mut world, b"let me in");
    world.run_for(200 * MS);
    let told = events(&mut world, B);
    let [Event::Request { peer, .. }] = told[..] else {
        panic!("{told:?}; replay with {}", world.seed());
    };
    assert_eq!(greeting(&world, B, peer), b"let me in");
    assert_eq!(world.refuse(B, peer, b"no"), Ok(()));
    world.run_for(SECOND);
    let ends = ended(&events(&mut world, A));
    assert!(
        matches!(ends[..], [(peer, DisconnectReason::Refused(Refusal::Application(_)), 0)] if peer == a),
        "{ends:?}"
    );
}

/// Each request has the greeting, and the one in the request that brings the cookie back counts, whatever
/// is lost, duplicated or overtaken. D12.
#[test]
fn greetings_arrive_over_any_line() {
    for n in 0..40 {
        let bad = line().loss(30.0).duplicate(20.0).jitter(50 * MS);
        let mut world = Pair::new(Seed::new(n), bad, config::client(), config::new()).world;
        assert_eq!(world.host_mut(B).listen(Listen::Open), Ok(()));
        let said = vec![b'0' + u8::try_from(n).unwrap(); 1 + usize::try_from(n).unwrap() * 6];
        connect(&mut world, &said);
        world.run_for(9 * SECOND);
        let [_, b] = one_connection(&mut world, &format!("{n}"));
        assert_eq!(greeting(&world, B, b), said, "{n}");
    }
}

/// Both connect to each other, and each gets the other's greeting. D12.
#[test]
fn greetings_go_both_ways_where_both_connect() {
    for n in 0..60 {
        let bad = line().loss(30.0).duplicate(20.0).jitter(50 * MS);
        let mut world = Pair::new(Seed::new(n), bad, config::client(), config::client()).world;
        assert!(world.connect_with(A, &[B], b"I am A").is_ok());
        world.run_for(Duration::from_millis(7 * n));
        assert!(world.connect_with(B, &[A], &LONG).is_ok());
        world.run_for(9 * SECOND);
        let [a, b] = one_connection(&mut world, &format!("{n}"));
        assert_eq!(greeting(&world, A, a), LONG, "{n}");
        assert_eq!(greeting(&world, B, b), b"I am A", "{n}");
    }
}

#[test]
fn each_attempt_has_its_own_greeting() {
    let mut world = world(config::client(), config::new(), Listen::Open);
    for said in [&b"first"[..], b"", b"third"] {
        let a = connect(&mut world, said);
        world.run_for(SECOND);
        let told = connected(&events(&mut world, B));
        let [b] = told[..] else {
            panic!("{told:?}; replay with {}", world.seed());
        };
        assert_eq!(greeting(&world, B, b), said);
        assert_eq!(
            world.disconnect(A, a, Disconnect::Now { reason: 0 }),
            Ok(())
        );
        world.run_for(SECOND);
        events(&mut world, A);
        events(&mut world, B);
    }
}

/// D12.
#[test]
fn a_greeting_that_does_not_fit_is_an_error() {
    let mut world = world(config::client(), config::new(), Listen::Open);
    let too_long = world.connect_with(A, &[B], &[b'g'; 256]);
    assert_eq!(too_long, Err(ConnectError::TooLong));
    assert_eq!(world.host(A).peers().count(), 0, "nothing has begun");
    assert!(world.connect_with(A, &[B], &LONG).is_ok());

    // The shortest requests, with the longest greeting that fits.
    let most = config::new()
        .channels(&[Priority::Low; 255])
        .and_then(|config| config.connection_id_len(20))
        .and_then(|config| config.request_size(512))
        .expect("in range");
    let least = config::new().request_size(512).expect("in range");
    for (config, longest) in [(most, 166), (least, 255)] {
        let mut world = self::world(config.clone(), config, Listen::Open);
        if longest < LONG.len() {
            let too_long = world.connect_with(A, &[B], &LONG[..=longest]);
            assert_eq!(too_long, Err(ConnectError::TooLong));
        }
        connect(&mut world, &LONG[..longest]);
        world.run_for(SECOND);
        let [_, b] = one_connection(&mut world, "the longest");
        assert_eq!(greeting(&world, B, b), LONG[..longest]);
    }
}

/// A greeting makes no request longer, and no answer.
#[test]
fn a_greeting_takes_the_place_of_padding() {
    let mut lengths = Vec::new();
    for said in [&b""[..], &LONG] {
        let mut world = world(config::client(), config::new(), Listen::Open);
        let tape = record(&mut world);
        connect(&mut world, said);
        world.run_for(SECOND);
        let long = |from| {
            tape.of(from, Kind::Request)
                .into_iter()
                .map(|it| it.datagram.len())
        };
        let requests: Vec<_> = long(A).collect();
        assert!(requests.iter().all(|&len| len == 1200), "{requests:?}");
        lengths.push(long(B).collect::<Vec<_>>());
    }
    assert_eq!(lengths[0], lengths[1]);
}

/// D13.
#[test]
fn each_host_knows_how_long_the_other_stands_silence() {
    let a = config::client().timeout(3 * SECOND).expect("in range");
    let b = config::new().timeout(120 * SECOND).expect("in range");
    for both in [false, true] {
        let mut world = world(a.clone(), b.clone(), Listen::Open);
        connect(&mut world, b"");
        if both {
            assert!(world.connect(B, A).is_ok());
        }
        world.run_for(SECOND);
        let [here, there] = one_connection(&mut world, "patience");
        let patience = |at, peer| world.host(at).peer(peer).and_then(|it| it.remote_timeout());
        assert_eq!(patience(A, here), Some(120 * SECOND), "{both}");
        assert_eq!(patience(B, there), Some(3 * SECOND), "{both}");
    }
}

/// The smallest timeout that can be told is a millisecond, the largest 49 days.
#[test]
fn timeouts_that_no_number_tells_are_told_as_the_nearest() {
    let whole = Duration::from_millis(u32::MAX.into());
    for (timeout, told) in [
        (Duration::from_micros(1), MS),
        (Duration::from_micros(2999), 2 * MS),
        (whole, whole),
        (Duration::MAX, whole),
    ] {
        let a = config::client().timeout(timeout).expect("in range");
        let mut world = world(a, config::new(), Listen::Open);
        connect(&mut world, b"");
        world.run_for(100 * MS);
        let told_there: Vec<_> = world
            .host(B)
            .peers()
            .filter(|(_, peer)| peer.state() == PeerState::Connected)
            .map(|(_, peer)| peer.remote_timeout())
            .collect();
        assert_eq!(told_there, [Some(told)], "{timeout:?}");
    }
}

/// If a host pinged by its own timeout alone, it would ping every 15 s here, which is too seldom for a
/// remote host that gives up after 3 s and sends no pings itself. D13.
#[test]
fn the_patient_one_pings_as_often_as_the_impatient_one_wants() {
    let a = config::client().timeout(3 * SECOND).expect("in range");
    let b = config::new().timeout(120 * SECOND).expect("in range");
    let [a, b] = [a, b].map(|config| config.policy(Policy::Modern));
    let mut world = world(a, b, Listen::Open);
    let here = connect(&mut world, b"");
    world.run_for(5 * SECOND);
    // From here on no datagram of A arrives: only B's are heard, and B has to know how often to ping.
    world.network_mut().set_link(A, B, line().loss(100.0));
    let mut events_of_a = Vec::new();
    for _ in 0..100 {
        world.run_for(SECOND);
        events_of_a.extend(events(&mut world, A));
    }
    assert_eq!(ended(&events_of_a), [], "replay with {}", world.seed());
    assert!(world.host(A).peer(here).is_some());
}
