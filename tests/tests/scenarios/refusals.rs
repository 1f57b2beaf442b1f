//! §2.3: attempts that fail, and datagrams that try to spoil one. Between A and B a datagram takes 20 ms.

use core::time::Duration;

use porous_proto::{
    Config, ConnectError, Disconnect, DisconnectReason, Event, HostStats, Ignored, Instant, Listen,
    ListenError, PeerId, PeerState, Refusal,
};
use porous_sim::{Intercept, Pair, World};
use porous_tests::{
    Kind, assert_silent, assert_talk, config, connected, encoder, ended, events, kind, line,
    nonce_peer, nonce_self, one_connection, record, seed, state,
};

const A: u32 = Pair::A;
const B: u32 = Pair::B;

fn world(a: Config, b: Config) -> World {
    Pair::new(seed(), line(), a, b).world
}

/// B listens.
fn listening(a: Config, b: Config) -> World {
    let mut world = world(a, b);
    assert_eq!(world.host_mut(B).listen(Listen::Open), Ok(()));
    world
}

fn connect(world: &mut World, from: u32, to: u32) -> PeerId {
    let peer = world.connect(from, to);
    peer.unwrap_or_else(|error| panic!("{error}; replay with {}", world.seed()))
}

/// This host was told that this peer has ended, for this reason, and nothing else.
fn assert_ended(world: &mut World, address: u32, peer: PeerId, reason: DisconnectReason) {
    let told = events(world, address);
    let undelivered = 0;
    let end = Event::Disconnected {
        peer,
        reason,
        undelivered,
    };
    assert_eq!(told, [end], "{address}; replay with {}", world.seed());
}

/// C8.
#[test]
fn hosts_of_other_applications_refuse_each_other() {
    let refused = |application_id| {
        let refusal = Refusal::Incompatible { application_id };
        DisconnectReason::Refused(refusal)
    };
    let (one, other) = (
        config::new().application_id(1),
        config::new().application_id(2),
    );
    for both in [false, true] {
        let mut world = listening(one.clone(), other.clone());
        let a = connect(&mut world, A, B);
        let b = both.then(|| connect(&mut world, B, A));
        world.run_for(Duration::from_millis(200));
        assert_ended(&mut world, A, a, refused(2));
        match b {
            Some(b) => assert_ended(&mut world, B, b, refused(1)),
            None => assert_silent(&mut world, B, "nobody has connected"),
        }
        world.run_for(Duration::from_secs(60));
        assert_silent(&mut world, A, "afterwards");
        assert_silent(&mut world, B, "afterwards");
    }
}

/// As a server does that is about to end.
#[test]
fn a_host_that_says_it_is_full_refuses_everybody_and_keeps_its_peers() {
    const FRIEND: u32 = 3;
    const STRANGER: u32 = 4;
    let full = DisconnectReason::Refused(Refusal::Full);
    // It refuses in the middle of a handshake, too: A brings its cookie back after 60 ms.
    for late in [0, 20, 50] {
        let mut world = listening(config::client(), config::new());
        world.add_host(FRIEND, config::client());
        let friend = connect(&mut world, FRIEND, B);
        world.run_for(Duration::from_secs(1));
        assert_eq!(connected(&events(&mut world, FRIEND)), [friend]);
        let tape = record(&mut world);
        let a = connect(&mut world, A, B);
        world.run_for(Duration::from_millis(late));
        assert_eq!(world.host_mut(B).listen(Listen::Full), Ok(()));
        let before = world.host(B).stats();
        world.run_for(Duration::from_millis(100));
        assert_ended(&mut world, A, a, full);
        let stats = world.host(B).stats();
        assert_eq!(stats.accepted, before.accepted, "{late}: no peer was made");
        let stateless = |stats: HostStats| stats.ignored(Ignored::Stateless);
        assert!(stateless(stats) > stateless(before), "{late}");
        // Refusals leave as often as other answers without state, and no more often.
        let request = tape.all()[0].datagram.clone();
        (0..20).for_each(|_| world.inject(STRANGER, B, request.clone()));
        world.run_for(Duration::from_millis(50));
        let all = tape.all().into_iter();
        let answers: Vec<_> = all.filter(|taped| taped.to == STRANGER).collect();
        assert!(answers.iter().all(|it| kind(&it.datagram) == Kind::Refuse));
        assert_eq!(answers.len(), 5, "{late}");
        // The peer has not noticed.
        assert_eq!(state(&world, FRIEND, friend), Some(PeerState::Connected));
        let there = connected(&events(&mut world, B))[0];
        assert_eq!(state(&world, B, there), Some(PeerState::Connected));
        assert_eq!(world.host_mut(B).listen(Listen::Open), Ok(()));
        connect(&mut world, A, B);
        world.run_for(Duration::from_secs(1));
        assert_eq!(connected(&events(&mut world, A)).len(), 1, "{late}");
    }
    let mut client = world(config::client(), config::new());
    let refused = Err(ListenError::NotAllowed);
    assert_eq!(client.host_mut(A).listen(Listen::Full), refused);
}

/// C2, C15.
#[test]
fn a_full_host_refuses_until_somebody_leaves() {
    const EARLY: u32 = 3;
    let mut world = listening(config::client(), config::new().max_peers(1));
    world.add_host(EARLY, config::client());
    let early = connect(&mut world, EARLY, B);
    world.run_for(Duration::from_secs(1));
    assert_eq!(connected(&events(&mut world, EARLY)), [early]);
    let late = connect(&mut world, A, B);
    world.run_for(Duration::from_millis(100));
    assert_ended(
        &mut world,
        A,
        late,
        DisconnectReason::Refused(Refusal::Full),
    );
    assert_eq!(world.host(B).peers().count(), 1);
    // Hosts that the full host itself connects to are not counted.
    let own = connect(&mut world, B, A);
    connect(&mut world, A, B);
    world.run_for(Duration::from_secs(1));
    assert_eq!(
        state(&world, B, own),
        Some(PeerState::Connected),
        "{}",
        world.seed()
    );
    assert_eq!(
        world.disconnect(B, own, Disconnect::Now { reason: 0 }),
        Ok(())
    );
    // A peer that has left takes no place, although it lingers.
    let leaves = Disconnect::Now { reason: 0 };
    assert_eq!(world.disconnect(EARLY, early, leaves), Ok(()));
    world.run_for(Duration::from_millis(100));
    events(&mut world, A);
    let again = connect(&mut world, A, B);
    world.run_for(Duration::from_millis(100));
    assert_eq!(
        connected(&events(&mut world, A)),
        [again],
        "{}",
        world.seed()
    );
}

/// C20.
#[test]
fn a_listener_names_the_versions_it_speaks() {
    let mut world = listening(config::client(), config::new());
    world.intercept(|passing| {
        if kind(passing.datagram) == Kind::Request {
            let mut other = passing.datagram.to_vec();
            other[3..7].copy_from_slice(&9_u32.to_le_bytes());
            // The bytes behind the nonce need not be of this version.
            other[nonce_peer().start..].fill(0xA5);
            return Intercept::Replace(other);
        }
        Intercept::Pass
    });
    let peer = connect(&mut world, A, B);
    world.run_for(Duration::from_millis(100));
    let version = Refusal::Version {
        oldest: encoder::VERSION,
        newest: encoder::VERSION,
    };
    assert_ended(&mut world, A, peer, DisconnectReason::Refused(version));
    assert_silent(&mut world, B, "it has refused");
}

/// C20.
#[test]
fn a_refusal_by_a_newer_host_is_understood() {
    let mut world = listening(
        config::client().application_id(1),
        config::new().application_id(2),
    );
    world.intercept(|passing| {
        if kind(passing.datagram) == Kind::Refuse {
            let mut newer = passing.datagram.to_vec();
            newer[3..7].copy_from_slice(&7_u32.to_le_bytes());
            newer[23] = 0;
            newer[24..28].copy_from_slice(&5_u32.to_le_bytes());
            // The refusal does not name the newer host's application.
            (newer[1], newer[28]) = (26, 0);
            newer.truncate(29);
            return Intercept::Replace(newer);
        }
        Intercept::Pass
    });
    let peer = connect(&mut world, A, B);
    world.run_for(Duration::from_millis(100));
    let version = Refusal::Version {
        oldest: 5,
        newest: 7,
    };
    assert_ended(&mut world, A, peer, DisconnectReason::Refused(version));
}

#[test]
fn a_host_that_does_not_listen_is_silent() {
    let limit = Duration::from_secs(4);
    let mut world = world(
        config::client().connect_timeout(limit).unwrap(),
        config::new(),
    );
    let peer = connect(&mut world, A, B);
    world.run_until(Instant::ZERO + (limit - Duration::from_micros(1)));
    assert_eq!(events(&mut world, A), []);
    world.run_for(Duration::from_micros(1));
    assert_ended(&mut world, A, peer, DisconnectReason::NeverAnswered);
    assert_eq!(world.network().link_stats(B, A).sent, 0, "{}", world.seed());
    let requests = world.network().link_stats(A, B).sent;
    assert!(requests > 5, "{requests}");
    assert_eq!(
        world.host(B).stats().ignored(Ignored::NotListening),
        requests
    );
    // The two sent nothing else.
    world.run_for(Duration::from_secs(60));
    assert_silent(&mut world, A, "afterwards");
    assert_eq!(
        world.network().link_stats(A, B).sent,
        requests,
        "{}",
        world.seed()
    );
}

/// C15.
#[test]
fn a_second_connection_to_a_live_address_is_an_error() {
    let again = Err(ConnectError::AlreadyConnected);
    let mut world = listening(config::client(), config::new());
    let a = connect(&mut world, A, B);
    assert_eq!(world.connect(A, B), again);
    world.run_for(Duration::from_secs(1));
    let ends = one_connection(&mut world, "the first one goes on");
    assert_eq!(ends[0], a);
    assert_eq!(world.connect(A, B), again);
    assert_eq!(world.connect(B, A), again);
    assert_talk(&mut world, ends, "the first one goes on");
    assert_eq!(
        world.disconnect(A, a, Disconnect::Now { reason: 0 }),
        Ok(())
    );
    world.run_for(Duration::from_millis(100));
    for address in [A, B] {
        assert_eq!(
            ended(&events(&mut world, address)).len(),
            1,
            "{}",
            world.seed()
        );
    }
    // The old peer lingers and does no harm.
    assert_ne!(connect(&mut world, A, B), a);
    world.run_for(Duration::from_secs(1));
    for address in [A, B] {
        let new = connected(&events(&mut world, address));
        assert_eq!(new.len(), 1, "{address}; {}", world.seed());
        assert_eq!(state(&world, address, new[0]), Some(PeerState::Connected));
    }
}

/// C12.
#[test]
fn an_attempt_is_given_up_at_any_moment() {
    for both in [false, true] {
        for moment in 0..80 {
            let context = format!("both: {both}, {moment} ms; {}", seed());
            let mut world = listening(config::new(), config::new());
            let a = connect(&mut world, A, B);
            if both {
                connect(&mut world, B, A);
            }
            world.run_for(Duration::from_millis(moment));
            let was = state(&world, A, a);
            let gives_up = Disconnect::Now { reason: 4 };
            assert_eq!(world.disconnect(A, a, gives_up), Ok(()), "{context}");
            world.run_for(Duration::from_millis(100));
            // B is told, unless A does not know B's nonce yet; then B gives up by itself.
            let unknown = both && moment < 20;
            let over = world
                .host(B)
                .all_peers()
                .all(|(_, peer)| peer.state() == PeerState::Disconnected);
            assert_eq!(over, !unknown, "{context}");
            world.run_for(Duration::from_secs(60));
            let told = events(&mut world, A);
            let established = usize::from(was == Some(PeerState::Connected));
            assert_eq!(connected(&told).len(), established, "{told:?}; {context}");
            let end = [(a, DisconnectReason::ByUs(4), 0)];
            assert_eq!(ended(&told), end, "{context}");
            assert_eq!(told.len(), established + 1, "{told:?}; {context}");
            // A connection that B may have believed in has ended as well.
            let told = events(&mut world, B);
            let (begun, over) = (connected(&told), ended(&told));
            assert!(begun.len() <= 1, "{told:?}; {context}");
            assert_eq!(
                over.len(),
                usize::from(both).max(begun.len()),
                "{told:?}; {context}"
            );
            assert_eq!(world.host(B).all_peers().count(), 0, "{told:?}; {context}");
        }
    }
}

/// C3, C4.
#[test]
fn acknowledgements_that_echo_another_attempt_are_ignored() {
    for both in [false, true] {
        let context = format!("both: {both}; {}", seed());
        let mut world = listening(config::new(), config::new());
        // A first connection leaves its acknowledgements and requests on the tape.
        let tape = record(&mut world);
        let a = connect(&mut world, A, B);
        if both {
            connect(&mut world, B, A);
        }
        world.run_for(Duration::from_secs(1));
        assert_eq!(
            world.disconnect(A, a, Disconnect::Now { reason: 0 }),
            Ok(())
        );
        world.run_for(Duration::from_secs(1));
        let mut stale = tape.of(B, Kind::Acknowledge);
        assert!(!stale.is_empty(), "{context}");
        stale.extend(tape.of(B, Kind::Request));
        stale.extend(tape.of(B, Kind::Cookie));
        let old = [A, B].map(|address| connected(&events(&mut world, address)));

        // They come all the time while the second connection is made, and so do forgeries of a stranger
        // that does not know what A has sent.
        let a = connect(&mut world, A, B);
        if both {
            connect(&mut world, B, A);
        }
        for round in 0..100_u8 {
            for taped in &stale {
                world.inject(B, A, taped.datagram.clone());
                if kind(&taped.datagram) == Kind::Request {
                    continue;
                }
                let mut forged = taped.datagram.clone();
                forged[nonce_self()].fill(round);
                forged[nonce_peer().start] ^= round;
                world.inject(B, A, forged);
            }
            world.run_for(Duration::from_millis(1));
        }
        world.run_for(Duration::from_secs(2));
        let told = [A, B].map(|address| events(&mut world, address));
        let ends = [connected(&told[0]), connected(&told[1])];
        assert_eq!(ends[0], [a], "{:?}; {context}", told[0]);
        assert_eq!(ends[1].len(), 1, "{:?}; {context}", told[1]);
        assert_ne!(ends, old, "{context}");
        for told in &told {
            assert_eq!(ended(told), [], "{context}");
        }
        assert_talk(&mut world, [ends[0][0], ends[1][0]], &context);
    }
}

#[test]
fn a_refusal_that_echoes_another_attempt_is_ignored() {
    let mut world = listening(
        config::client().application_id(1),
        config::new().application_id(2),
    );
    let tape = record(&mut world);
    connect(&mut world, A, B);
    world.run_for(Duration::from_secs(1));
    let refusals = tape.of(B, Kind::Refuse);
    assert_eq!(refusals.len(), 1);
    let mut world = listening(config::client(), config::new());
    // Another random stream than that of the first A: this A has another random id.
    world.add_host(A, config::client());
    connect(&mut world, A, B);
    for _ in 0..60 {
        world.inject(B, A, refusals[0].datagram.clone());
        world.run_for(Duration::from_millis(1));
    }
    world.run_for(Duration::from_secs(1));
    let ends = one_connection(&mut world, "a stale refusal");
    assert_talk(&mut world, ends, "a stale refusal");
}

#[test]
fn forged_requests_do_not_drive_out_the_real_one() {
    let mut world = Pair::new(seed(), line(), config::new(), config::new()).world;
    let tape = record(&mut world);
    assert!(world.connect(A, B).is_ok());
    assert!(world.connect(B, A).is_ok());
    world.run_for(Duration::from_millis(5));
    let request = tape.of(B, Kind::Request)[0].datagram.clone();
    for n in 1..=4 {
        let mut forged = request.clone();
        forged[nonce_self()].fill(n);
        world.inject(B, A, forged);
    }
    world.run_for(Duration::from_secs(3));
    let ends = one_connection(&mut world, "four forged requests");
    assert_talk(&mut world, ends, "four forged requests");
}
