//! Hosts that come back at the same address.
#![expect(clippy::unwrap_used, reason = "a test")]

use core::time::Duration;

use porous_proto::{
    ChannelId, Config, Disconnect, DisconnectReason, Event, Listen, Mode, PeerId, PeerState,
};
use porous_sim::{Intercept, LinkConfig, Pair, Seed, World};
use porous_tests::{
    Kind, Tape, assert_talk, config, connected, disconnect, ended, events, kind, record, state,
};

const SECOND: Duration = Duration::from_secs(1);

fn pair(seed: u64) -> Pair {
    let line = LinkConfig::new().delay(Duration::from_millis(30));
    let mut pair = Pair::new(Seed::new(seed), line, config::new(), config::new());
    pair.connect_to_listener();
    pair
}

fn connect_again(world: &mut World) -> PeerId {
    world.connect(Pair::A, Pair::B).unwrap()
}

/// A host was told that this peer has ended because it restarted. Returns the peer that took its place.
fn assert_replaced(world: &mut World, address: u32, old: PeerId) -> PeerId {
    let told = events(world, address);
    let [
        Event::Disconnected { peer, reason, .. },
        Event::Connected { peer: new, .. },
    ] = told[..]
    else {
        panic!("{told:?}; {}", world.seed());
    };
    assert_eq!((peer, reason), (old, DisconnectReason::Restarted));
    new
}

/// C5.
#[test]
fn a_client_that_was_killed_comes_back_and_replaces_itself() {
    let mut pair = pair(1);
    let old = pair.peer(Pair::B);
    let world = &mut pair.world;
    events(world, Pair::B);
    assert!(world.remove_host(Pair::A));
    world.add_host(Pair::A, config::new());
    connect_again(world);
    world.run_for(SECOND);
    let new = assert_replaced(world, Pair::B, old);
    world
        .host_mut(Pair::B)
        .send(new, ChannelId(0), "hello", Mode::Reliable)
        .unwrap();
    world.run_for(SECOND);
    let told = events(world, Pair::A);
    assert!(
        matches!(told[..], [Event::Connected { .. }, Event::Readable { .. }]),
        "{told:?}"
    );
}

/// C7.
#[test]
fn a_client_that_left_may_come_back_at_once() {
    let mut pair = pair(2);
    let peer = pair.peer(Pair::A);
    let world = &mut pair.world;
    world
        .disconnect(Pair::A, peer, Disconnect::Now { reason: 5 })
        .unwrap();
    world.run_for(SECOND);
    events(world, Pair::A);
    events(world, Pair::B);
    connect_again(world);
    world.run_for(SECOND);
    for address in [Pair::A, Pair::B] {
        let told = events(world, address);
        assert!(
            matches!(told[..], [Event::Connected { .. }]),
            "{told:?}; {}",
            world.seed()
        );
    }
}

#[test]
fn a_server_that_was_killed_is_found_again() {
    let mut pair = pair(3);
    let world = &mut pair.world;
    assert!(world.remove_host(Pair::B));
    world.add_host(Pair::B, config::new());
    world.host_mut(Pair::B).listen(Listen::Open).unwrap();
    world.run_for(12 * SECOND);
    let told = events(world, Pair::A);
    let ends = ended(&told);
    let [(_, reason, _)] = ends[..] else {
        panic!("{told:?}; {}", world.seed())
    };
    assert_eq!(reason, DisconnectReason::LostByPeer, "{}", world.seed());
    connect_again(world);
    world.run_for(SECOND);
    let told = events(world, Pair::A);
    assert!(
        matches!(told[..], [Event::Connected { .. }]),
        "{told:?}; {}",
        world.seed()
    );
}

/// The request of A that brought the cookie back.
fn proved_request(tape: &Tape) -> Vec<u8> {
    tape.of(Pair::A, Kind::Acknowledge)[0].datagram.clone()
}

/// B, which times out after a second, has accepted A; all datagrams are on the tape.
fn recorded(seed: Seed) -> (Pair, Tape) {
    let line = LinkConfig::new().delay(Duration::from_millis(30));
    let server = config::new().timeout(SECOND).unwrap();
    let mut pair = Pair::new(seed, line, config::client(), server);
    let tape = record(&mut pair.world);
    pair.connect_to_listener();
    (pair, tape)
}

/// C7.
#[test]
fn a_delayed_handshake_of_a_dead_connection_creates_nothing() {
    type Kill = fn(&mut Pair);
    let deaths: [(&str, Kill); 5] = [
        ("the client leaves", |pair| {
            disconnect(pair, Pair::A, Disconnect::Now { reason: 1 });
        }),
        ("the server leaves", |pair| {
            disconnect(pair, Pair::B, Disconnect::Now { reason: 1 });
        }),
        ("the client is killed", |pair| {
            assert!(pair.world.remove_host(Pair::A));
        }),
        ("the client forgets", |pair| {
            pair.world.add_host(Pair::A, config::client());
        }),
        ("the server leaves and nobody hears", |pair| {
            assert!(pair.world.remove_host(Pair::A));
            disconnect(pair, Pair::B, Disconnect::Now { reason: 1 });
        }),
    ];
    for (death, kill) in deaths {
        for late in [0, 1, 2, 5, 10, 14, 15, 16, 20, 29, 30, 31, 60] {
            let (mut pair, tape) = recorded(Seed::new(5));
            kill(&mut pair);
            pair.world.run_for(Duration::from_secs(late));
            let handshake = proved_request(&tape);
            let before = pair.world.host(Pair::B).stats();
            for _ in 0..3 {
                pair.world.inject(Pair::A, Pair::B, handshake.clone());
                pair.world.run_for(Duration::from_millis(100));
            }
            pair.world.run_for(12 * SECOND);
            let told = events(&mut pair.world, Pair::B);
            let context = format!("{death}, {late} s: {told:?}; {}", pair.world.seed());
            assert_eq!(connected(&told), [], "{context}");
            assert_eq!(ended(&told).len(), 1, "{context}");
            let stats = pair.world.host(Pair::B).stats();
            assert_eq!(stats.accepted, before.accepted, "{context}");
        }
    }
}

#[test]
fn an_expired_cookie_creates_nothing_and_a_fresh_one_is_given() {
    // The second request is lost, and the test delivers it when it is old.
    for (late, accepted) in [(1, 1), (14, 1), (31, 0), (45, 0), (300, 0)] {
        let line = LinkConfig::new().delay(Duration::from_millis(30));
        let mut pair = Pair::new(Seed::new(6), line, config::client(), config::new());
        let world = &mut pair.world;
        world.host_mut(Pair::B).listen(Listen::Open).unwrap();
        let tape = porous_tests::record_while(world, |passing| {
            if kind(passing.datagram) == Kind::Acknowledge {
                return Intercept::Drop;
            }
            Intercept::Pass
        });
        connect_again(world);
        world.run_for(Duration::from_millis(100));
        assert!(world.remove_host(Pair::A));
        world.run_for(Duration::from_secs(late));
        let cookies = tape.of(Pair::B, Kind::Cookie).len();
        world.inject(Pair::A, Pair::B, proved_request(&tape));
        world.run_for(Duration::from_millis(100));
        let context = format!("{late} s; {}", world.seed());
        assert_eq!(world.host(Pair::B).stats().accepted, accepted, "{context}");
        let fresh = tape.of(Pair::B, Kind::Cookie).len() - cookies;
        assert_eq!(fresh as u64, 1 - accepted, "{context}");
    }
}

/// C5.
#[test]
fn an_old_peer_stays_until_the_newcomer_proves_itself() {
    // Only requests of the new A get through: it never sends a datagram under the id that B gave it.
    let mut pair = pair(7);
    let old = pair.peer(Pair::B);
    let world = &mut pair.world;
    events(world, Pair::B);
    world.add_host(Pair::A, config::new());
    world.intercept(|passing| {
        let through = [Kind::Request, Kind::Acknowledge, Kind::Cookie];
        if through.contains(&kind(passing.datagram)) {
            return Intercept::Pass;
        }
        Intercept::Drop
    });
    connect_again(world);
    world.run_for(9 * SECOND);
    let context = format!("{}", world.seed());
    assert_eq!(world.host(Pair::B).stats().accepted, 2, "{context}");
    assert_eq!(events(world, Pair::B), [], "{context}");
    assert_eq!(state(world, Pair::B, old), Some(PeerState::Connected));
    // The old peer ends by silence, and no event of the new one was told.
    world.run_for(12 * SECOND);
    let told = events(world, Pair::B);
    let expected = (old, DisconnectReason::Silent, 0);
    assert_eq!((told.len(), ended(&told)), (1, vec![expected]), "{told:?}");
}

/// A was killed and connects again, while B goes on to send to every A that it knows: the new A gets only
/// packets of the new connection.
fn assert_only_new_data(pair: &mut Pair, client: Config, context: &str) {
    let mut at_b = pair.peer(Pair::B);
    let world = &mut pair.world;
    world.add_host(Pair::A, client);
    connect_again(world);
    let (mut generation, mut at_a, mut got) = (1, None, 0);
    let limit = world.now() + 30 * SECOND;
    while got < 3 {
        assert!(world.now() < limit, "{context}");
        world.run_for(Duration::from_millis(5));
        if let Some(new) = connected(&events(world, Pair::B)).pop() {
            (at_b, generation) = (new, 2);
        }
        let packet = vec![generation; 100];
        let host = world.host_mut(Pair::B);
        // Between the end of the old peer and the new one B has no peer to send to.
        let _ = host.send(at_b, ChannelId(0), packet, Mode::Unreliable);
        let told = events(world, Pair::A);
        at_a = connected(&told).pop().or(at_a);
        if !ended(&told).is_empty() {
            at_a = None;
            connect_again(world);
        }
        while let Some(packet) = at_a.and_then(|peer| world.host_mut(Pair::A).receive(peer)) {
            assert_eq!(packet.payload[0], 2, "{context}");
            got += 1;
        }
    }
}

/// C5.
#[test]
fn data_of_an_old_connection_never_reaches_a_new_one() {
    for len in [0, 1, 2, 4] {
        let client = || config::client().connection_id_len(len).unwrap();
        for number in 0..10 {
            let seed = Seed::new(number);
            let line = LinkConfig::new()
                .delay(Duration::from_millis(30))
                .jitter(Duration::from_millis(20));
            let mut pair = Pair::new(seed, line, client(), config::new());
            pair.connect_to_listener();
            let context = format!("ids of {len} bytes; {seed}");
            assert_only_new_data(&mut pair, client(), &context);
        }
    }
}

#[test]
fn a_server_that_comes_back_may_connect_to_its_client_itself() {
    let mut pair = pair(8);
    let old = pair.peer(Pair::A);
    let world = &mut pair.world;
    world.host_mut(Pair::A).listen(Listen::Open).unwrap();
    world.add_host(Pair::B, config::new());
    world.connect(Pair::B, Pair::A).unwrap();
    world.run_for(SECOND);
    let new = assert_replaced(world, Pair::A, old);
    let there = connected(&events(world, Pair::B))[0];
    assert_talk(world, [new, there], "the other way round");
}
