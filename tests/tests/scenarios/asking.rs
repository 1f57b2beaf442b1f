//! §2.3, where the application of the listener decides (`docs/wire.md`, "Handshake"): it is asked once,
//! and the other host hears its answer, whatever is lost. Between A and B a datagram takes 20 ms.

use core::time::Duration;

use porous_proto::{
    AnswerError, ChannelId, Config, ConnectError, Disconnect, DisconnectReason, Event, Ignored,
    Instant, Listen, Mode, PeerId, PeerState, Refusal, RefusalData, SendError,
};
use porous_sim::{Intercept, Pair, World};
use porous_tests::{
    Kind, assert_silent, assert_talk, config, connected, ended, events, kind, line, one_connection,
    record, seed, state,
};

const A: u32 = Pair::A;
const B: u32 = Pair::B;
const MS: Duration = Duration::from_millis(1);
const NOW: Disconnect = Disconnect::Now { reason: 7 };

/// B asks its application about each request.
fn asking(a: Config, b: Config) -> World {
    let mut world = Pair::new(seed(), line(), a, b).world;
    assert_eq!(world.host_mut(B).listen(Listen::Ask), Ok(()));
    world
}

fn connect(world: &mut World) -> PeerId {
    let peer = world.connect(A, B);
    peer.unwrap_or_else(|error| panic!("{error}; replay with {}", world.seed()))
}

/// The peer that asks at B, whose application was told nothing else.
fn request(world: &mut World) -> PeerId {
    let told = events(world, B);
    let [Event::Request { peer, address: A }] = told[..] else {
        panic!("{told:?}; replay with {}", world.seed());
    };
    peer
}

/// A has connected, and B's application has been asked.
fn asked() -> (World, PeerId, PeerId) {
    let mut world = asking(config::client(), config::new());
    let a = connect(&mut world);
    world.run_for(200 * MS);
    let b = request(&mut world);
    (world, a, b)
}

fn refused(said: &[u8]) -> DisconnectReason {
    let data = RefusalData::new(said).unwrap_or_else(|| panic!("too long"));
    DisconnectReason::Refused(Refusal::Application(data))
}

#[test]
fn a_host_that_asks_hears_nothing_until_the_application_answers() {
    let (mut world, a, b) = asked();
    let answers = world.network().link_stats(B, A).sent;
    world.run_for(5000 * MS);
    assert_eq!(events(&mut world, A), [], "{}", world.seed());
    assert_eq!(events(&mut world, B), [], "asked once; {}", world.seed());
    assert_eq!(world.network().link_stats(B, A).sent, answers);
    assert_eq!(state(&world, B, b), Some(PeerState::Connecting));
    let too_early = world
        .host_mut(B)
        .send(b, ChannelId(0), &b"x"[..], Mode::Reliable);
    assert_eq!(too_early, Err(SendError::NotConnected));
    assert_eq!(world.connect(B, A), Err(ConnectError::AlreadyConnected));

    assert_eq!(world.accept(B, b), Ok(()));
    assert_eq!(world.accept(B, b), Err(AnswerError::NotAsked));
    assert_eq!(world.refuse(B, b, b"no"), Err(AnswerError::NotAsked));
    assert_eq!(state(&world, B, b), Some(PeerState::Connected), "at once");
    world.run_for(100 * MS);
    let ends = one_connection(&mut world, "accepted");
    assert_eq!(ends, [a, b]);
    assert_talk(&mut world, ends, "accepted");
}

#[test]
fn what_a_refusal_says_reaches_the_other_application() {
    for said in [&b""[..], b"too late", &[0xA5; 64]] {
        let (mut world, a, b) = asked();
        assert_eq!(world.refuse(B, b, &[0; 65]), Err(AnswerError::TooLong));
        assert_eq!(world.refuse(B, b, said), Ok(()));
        assert_eq!(world.refuse(B, b, said), Err(AnswerError::UnknownPeer));
        assert_eq!(world.accept(B, b), Err(AnswerError::UnknownPeer));
        world.run_for(100 * MS);
        let (at_a, at_b) = (events(&mut world, A), events(&mut world, B));
        assert_eq!(ended(&at_a), [(a, refused(said), 0)], "{}", world.seed());
        assert_eq!(ended(&at_b), [(b, refused(said), 0)], "{}", world.seed());
        assert_eq!((at_a.len(), at_b.len()), (1, 1));
        world.run_for(60_000 * MS);
        assert_silent(&mut world, A, "afterwards");
        assert_silent(&mut world, B, "afterwards");
    }
}

#[test]
fn a_refusal_that_is_lost_is_repeated_and_nobody_is_asked_twice() {
    let (mut world, a, b) = asked();
    let mut lost = 0;
    world.intercept(move |passing| {
        if kind(passing.datagram) == Kind::Refuse && lost < 3 {
            lost += 1;
            return Intercept::Drop;
        }
        Intercept::Pass
    });
    assert_eq!(world.refuse(B, b, b"no"), Ok(()));
    world.run_for(9000 * MS);
    let told = events(&mut world, A);
    assert_eq!(ended(&told), [(a, refused(b"no"), 0)], "{}", world.seed());
    let told = events(&mut world, B);
    assert_eq!((ended(&told).len(), told.len()), (1, 1), "{}", world.seed());
}

#[test]
fn an_acceptance_that_is_lost_is_repeated() {
    let (mut world, _, b) = asked();
    let mut lost = 0;
    world.intercept(move |passing| {
        if passing.from == B && lost < 3 {
            lost += 1;
            return Intercept::Drop;
        }
        Intercept::Pass
    });
    assert_eq!(world.accept(B, b), Ok(()));
    world.run_for(5000 * MS);
    let ends = one_connection(&mut world, "three acknowledgements were lost");
    assert_talk(&mut world, ends, "three acknowledgements were lost");
}

#[test]
fn no_answer_in_time_is_a_refusal() {
    let limit = 3000 * MS;
    let mut world = asking(
        config::client(),
        config::new().connect_timeout(limit).unwrap(),
    );
    let a = connect(&mut world);
    world.run_until(Instant::ZERO + 59 * MS + limit);
    let b = request(&mut world);
    world.run_for(200 * MS);
    let told = events(&mut world, B);
    let timed_out = DisconnectReason::Unfinished;
    assert_eq!(ended(&told), [(b, timed_out, 0)], "{}", world.seed());
    assert_eq!(world.accept(B, b), Err(AnswerError::UnknownPeer));
    world.run_for(1200 * MS);
    let told = events(&mut world, A);
    assert_eq!(ended(&told), [(a, refused(b""), 0)], "{}", world.seed());
}

/// An attempt that no host answers ends with another reason: `a_host_that_does_not_listen_is_silent`.
#[test]
fn an_attempt_without_an_answer_of_the_application_knows_that_a_host_is_there() {
    let limit = 3000 * MS;
    let client = config::client().connect_timeout(limit).unwrap();
    let mut world = asking(client, config::new());
    let a = connect(&mut world);
    world.run_until(Instant::ZERO + limit);
    let told = events(&mut world, A);
    let unfinished = DisconnectReason::Unfinished;
    assert_eq!(ended(&told), [(a, unfinished, 0)], "{}", world.seed());
}

#[test]
fn the_application_is_not_asked_about_a_host_that_gave_up() {
    let (mut world, a, b) = asked();
    assert_eq!(world.disconnect(A, a, NOW), Ok(()));
    world.run_for(100 * MS);
    let told = events(&mut world, B);
    let gone = DisconnectReason::ByPeer(7);
    assert_eq!(ended(&told), [(b, gone, 0)], "{}", world.seed());
    assert_eq!(world.accept(B, b), Err(AnswerError::UnknownPeer));
    // To come back at once is a new request.
    let again = connect(&mut world);
    world.run_for(200 * MS);
    let b = request(&mut world);
    assert_eq!(world.accept(B, b), Ok(()));
    world.run_for(100 * MS);
    let told = events(&mut world, A);
    assert_eq!(connected(&told), [again], "{}", world.seed());
}

#[test]
fn disconnecting_a_peer_that_asks_refuses_it() {
    let (mut world, a, b) = asked();
    assert_eq!(world.disconnect(B, b, NOW), Ok(()));
    world.run_for(100 * MS);
    let told = events(&mut world, B);
    let by_us = DisconnectReason::ByUs(7);
    assert_eq!(ended(&told), [(b, by_us, 0)], "{}", world.seed());
    let told = events(&mut world, A);
    assert_eq!(ended(&told), [(a, refused(b""), 0)], "{}", world.seed());
}

#[test]
fn a_refused_request_that_comes_late_asks_nobody() {
    let mut world = asking(config::client(), config::new());
    let tape = record(&mut world);
    connect(&mut world);
    world.run_for(200 * MS);
    let b = request(&mut world);
    assert_eq!(world.refuse(B, b, b"no"), Ok(()));
    world.run_for(1000 * MS);
    world.stop_intercepting();
    events(&mut world, A);
    assert_eq!(events(&mut world, B).len(), 1);
    // The refused request comes while the refusal is remembered, and when its cookie has expired.
    for pause in [1000 * MS, 28_000 * MS, 3000 * MS, 60_000 * MS] {
        world.run_for(pause);
        for taped in tape.all().into_iter().filter(|taped| taped.from == A) {
            world.inject(A, B, taped.datagram);
        }
        world.run_for(100 * MS);
        assert_eq!(events(&mut world, B), [], "{}", world.seed());
        assert_eq!(events(&mut world, A), [], "{}", world.seed());
    }
}

#[test]
fn a_request_that_waits_for_an_answer_takes_a_place() {
    const LATE: u32 = 3;
    let mut world = asking(config::client(), config::new().max_peers(1));
    connect(&mut world);
    world.run_for(200 * MS);
    let b = request(&mut world);
    world.add_host(LATE, config::client());
    let late = world.connect(LATE, B);
    world.run_for(200 * MS);
    let full = DisconnectReason::Refused(Refusal::Full);
    let told = events(&mut world, LATE);
    assert_eq!(ended(&told), [(late.unwrap_or(b), full, 0)]);
    // A refused peer takes no place, although it lingers.
    assert_eq!(world.refuse(B, b, b""), Ok(()));
    assert!(world.connect(LATE, B).is_ok());
    world.run_for(200 * MS);
    let told = events(&mut world, B);
    let asked = |event: &Event<u32>| matches!(event, Event::Request { address: LATE, .. });
    assert_eq!(told.iter().filter(|event| asked(event)).count(), 1);
}

#[test]
fn a_newcomer_that_is_accepted_replaces_the_peer_at_its_address() {
    let (mut world, _, b) = asked();
    assert_eq!(world.accept(B, b), Ok(()));
    world.run_for(200 * MS);
    events(&mut world, B);
    world.remove_host(A); // the program was killed
    world.add_host(A, config::client());
    let a = connect(&mut world);
    world.run_for(200 * MS);
    let newcomer = request(&mut world);
    assert_eq!(state(&world, B, b), Some(PeerState::Connected));
    assert_eq!(world.accept(B, newcomer), Ok(()));
    assert_eq!(events(&mut world, B), [], "it has not proved itself yet");
    world.run_for(200 * MS);
    let told = events(&mut world, B);
    let restarted = DisconnectReason::Restarted;
    assert_eq!(ended(&told), [(b, restarted, 0)], "{}", world.seed());
    assert_eq!(connected(&told), [newcomer], "{}", world.seed());
    assert_eq!(connected(&events(&mut world, A)), [a], "{}", world.seed());
}

#[test]
fn datagrams_of_a_connection_do_not_answer_for_the_application() {
    let mut world = Pair::new(seed(), line(), config::client(), config::new()).world;
    assert_eq!(world.host_mut(B).listen(Listen::Open), Ok(()));
    let tape = record(&mut world);
    connect(&mut world);
    world.run_for(500 * MS);
    // The same world, up to the moment at which the application is asked.
    let mut other = asking(config::client(), config::new());
    connect(&mut other);
    other.run_for(200 * MS);
    let b = request(&mut other);
    let early = tape.of(A, Kind::Short);
    assert!(!early.is_empty(), "{}", world.seed());
    let count = early.len() as u64;
    for taped in early {
        other.inject(A, B, taped.datagram);
    }
    other.run_for(100 * MS);
    assert_eq!(other.host(B).stats().ignored(Ignored::WrongState), count);
    assert_eq!(state(&other, B, b), Some(PeerState::Connecting));
    assert_eq!(events(&mut other, B), [], "{}", other.seed());
}
