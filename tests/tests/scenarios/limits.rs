//! The work and memory that a host spends on strangers that have proved nothing, and on peers that have
//! ended (C1, C2, C7). Between any two hosts a datagram takes 20 ms.

use core::time::Duration;

use porous_proto::{Config, Disconnect, Event, Ignored, Instant, Listen};
use porous_sim::{Pair, World};
use porous_tests::{
    Kind, Tape, assert_talk, config, connected, disconnect, events, line, one_connection, record,
    seed,
};

const A: u32 = Pair::A;
const B: u32 = Pair::B;
const STRANGERS: u32 = 1_000_000;

/// The first request of a client, as it sends it to any host.
fn a_request() -> Vec<u8> {
    let mut world = Pair::new(seed(), line(), config::client(), config::new()).world;
    let tape = record(&mut world);
    assert!(world.connect(A, B).is_ok());
    world.flush(A);
    tape.of(A, Kind::Request)[0].datagram.clone()
}

fn listening(config: Config) -> World {
    let mut world = Pair::new(seed(), line(), config::client(), config).world;
    assert_eq!(world.host_mut(B).listen(Listen::Open), Ok(()));
    world
}

/// The number and the bytes of the datagrams that B has sent to strangers.
fn replies(tape: &Tape) -> (usize, usize) {
    let all = tape.all().into_iter();
    let lens: Vec<_> = all
        .filter(|taped| taped.from == B && taped.to >= STRANGERS)
        .map(|taped| taped.datagram.len())
        .collect();
    (lens.len(), lens.iter().sum())
}

/// C2.
#[test]
fn an_honest_client_connects_within_three_seconds_of_a_flood_from_everywhere() {
    let request = a_request();
    let mut world = listening(config::new());
    let tape = record(&mut world);
    // Half a second of the flood, before A begins.
    let (mut n, mut begun, mut done) = (0, None, None);
    while n < 100_000 {
        world.inject(STRANGERS + n, B, request.clone());
        n += 1;
        if n % 40 == 0 {
            world.run_for(Duration::from_millis(1));
        }
        if n == 20_000 {
            assert!(world.connect(A, B).is_ok());
            begun = Some(world.now());
        }
        if done.is_none() && matches!(world.poll_event(A), Some(Event::Connected { .. })) {
            done = Some(world.now());
        }
    }
    let took = done.zip(begun);
    let took = took.map(|(done, begun)| done.saturating_duration_since(begun));
    let limit = Duration::from_secs(3);
    assert!(
        took.is_some_and(|took| took < limit),
        "{took:?}; {}",
        world.seed()
    );
    world.run_for(Duration::from_millis(21));
    let (count, bytes) = replies(&tape);
    let stats = world.host(B).stats();
    let flood = 100_000 * request.len();
    assert!(bytes * 4 < flood, "{bytes} for {flood}; {}", world.seed());
    assert!(stats.bytes_sent < stats.bytes_received, "{stats:?}");
    // The limits allow this many answers in 2.5 s and at once; one of the answers was for A.
    let allowed = 20_000 * 5 / 2 + 5000;
    assert!((allowed - 1000..=allowed).contains(&count), "{count}");
    let unanswered = stats.ignored(Ignored::TooManyReplies);
    assert!(unanswered + count as u64 >= 100_000, "{unanswered}");
    assert_eq!(stats.accepted, 1, "{}", world.seed());
    world.run_for(Duration::from_secs(1));
    let b = connected(&events(&mut world, B))[0];
    let a = world.host(A).peers().next().map(|(peer, _)| peer);
    let a = a.unwrap_or_else(|| panic!("nobody; {}", world.seed()));
    assert_talk(&mut world, [a, b], "after the flood");
}

#[test]
fn short_datagrams_in_its_name_do_not_keep_a_client_from_connecting() {
    let mut world = listening(config::new());
    // Ten times as many as the host answers, from everywhere and in the name of the client's own address.
    let flood = |world: &mut World, datagrams: u32| {
        for n in 0..datagrams {
            let from = if n % 2 == 0 { A } else { STRANGERS + n };
            world.inject(from, B, vec![0x40, 1, 2, 3, 4, 0]);
            world.run_for(Duration::from_micros(20));
        }
    };
    flood(&mut world, 20_000);
    assert!(world.connect(A, B).is_ok());
    flood(&mut world, 5_000);
    // Two round trips are 80 ms: the client's first request was answered.
    let told = events(&mut world, A);
    let seed = world.seed();
    assert!(
        matches!(told[..], [Event::Connected { .. }]),
        "{told:?}; {seed}"
    );
    assert_eq!(connected(&events(&mut world, B)).len(), 1, "{seed}");
}

/// C1.
#[test]
fn one_address_gets_a_bounded_number_of_answers() {
    let request = a_request();
    for (config, expected) in [
        (config::new(), 24..=26),
        (limited(1, 20_000), 1..=2),
        (limited(100, 20_000), 124..=126),
        (limited(100, 8), 9..=11),
    ] {
        let mut world = listening(config);
        let tape = record(&mut world);
        for _ in 0..1000 {
            world.inject(STRANGERS, B, request.clone());
            world.run_for(Duration::from_millis(1));
        }
        world.run_for(Duration::from_millis(21));
        let (count, _) = replies(&tape);
        assert!(expected.contains(&count), "{count}, not {expected:?}");
        let stats = world.host(B).stats();
        assert_eq!(stats.ignored(Ignored::Stateless), count as u64);
        assert_eq!(stats.ignored(Ignored::TooManyReplies), 1000 - count as u64);
    }
}

fn limited(address: u32, all: u32) -> Config {
    match config::new().reply_limits(address, all) {
        Ok(config) => config,
        Err(error) => panic!("{error}"),
    }
}

/// C7.
#[test]
fn answers_of_a_peer_that_has_ended_are_limited_in_rate() {
    let mut pair = Pair::new(seed(), line(), config::client(), config::new());
    let tape = record(&mut pair.world);
    pair.connect_to_listener();
    disconnect(&mut pair, A, Disconnect::Now { reason: 1 });
    pair.world.run_for(Duration::from_secs(1));
    let proved = tape.of(A, Kind::Acknowledge)[0].datagram.clone();
    let bye = tape.of(A, Kind::Disconnect)[0].datagram.clone();
    for (datagram, answer) in [(proved, Kind::Disconnect), (bye, Kind::DisconnectAck)] {
        pair.world.run_for(Duration::from_secs(1));
        let tape = record(&mut pair.world);
        for _ in 0..1000 {
            pair.world.inject(A, B, datagram.clone());
            pair.world.run_for(Duration::from_millis(1));
        }
        let answers = tape.of(B, answer).len();
        assert!((24..=26).contains(&answers), "{answers} of {answer:?}");
        let longest = tape.all().iter().map(|taped| taped.datagram.len()).max();
        assert!(longest <= Some(datagram.len()), "{longest:?}");
    }
    assert_eq!(pair.world.host(B).stats().accepted, 1);
}

#[test]
fn a_request_of_a_known_connection_gets_nothing_without_its_padding() {
    let mut pair = Pair::new(seed(), line(), config::client(), config::new());
    let tape = record(&mut pair.world);
    pair.connect_to_listener();
    pair.world.run_for(Duration::from_secs(1));
    let request = tape.of(A, Kind::Request)[0].datagram.clone();
    let tape = record(&mut pair.world);
    for (len, count) in [(100, 0), (1199, 0), (1200, 1)] {
        pair.world.inject(A, B, request[..len].to_vec());
        pair.world.run_for(Duration::from_millis(300));
        assert_eq!(tape.of(B, Kind::Acknowledge).len(), count, "{len}");
    }
}

/// C2.
#[test]
fn two_peers_linger_for_each_that_may_be_connected() {
    let mut world = listening(config::new().max_peers(3));
    for n in 1..=10 {
        let client = STRANGERS + n;
        world.add_host(client, config::client());
        let Ok(peer) = world.connect(client, B) else {
            panic!("a new address; {}", world.seed());
        };
        world.run_for(Duration::from_millis(200));
        let left = world.disconnect(client, peer, Disconnect::Now { reason: 0 });
        assert_eq!(left, Ok(()));
        world.run_for(Duration::from_millis(200));
        let known = world.host(B).all_peers().count();
        assert_eq!(known, usize::try_from(n.min(6)).unwrap_or(0), "{n}");
    }
    let told = events(&mut world, B);
    assert_eq!(connected(&told).len(), 10, "{told:?}");
    world.run_for(Duration::from_secs(31));
    assert_eq!(world.host(B).all_peers().count(), 0, "{}", world.seed());
}

#[test]
fn limits_do_not_count_what_a_connection_says() {
    // A host that may answer hardly any stranger still serves its peers, and answers strangers in turn.
    let mut world = Pair::new(seed(), line(), config::client(), limited(1, 1)).world;
    assert_eq!(world.host_mut(B).listen(Listen::Open), Ok(()));
    assert!(world.connect(A, B).is_ok());
    world.run_for(Duration::from_secs(3));
    let ends = one_connection(&mut world, "one answer a second is enough");
    for _ in 0..10 {
        assert_talk(&mut world, ends, "limits");
    }
    assert!(world.now() > Instant::from_micros(50_000_000));
}

/// The number of 20 clients that are connected after this time. They begin half a second after a flood of
/// this many requests a second.
fn newcomers(flood: u32, after: Duration) -> usize {
    const CLIENTS: core::ops::Range<u32> = 100..120;
    let request = a_request();
    let mut world = listening(config::new());
    let mut n = 0;
    let mut pass = |world: &mut World, time: Duration| {
        let end = world.now() + time;
        while world.now() < end {
            for _ in 0..flood / 1000 {
                world.inject(STRANGERS + n, B, request.clone());
                n += 1;
            }
            world.run_for(Duration::from_millis(1));
        }
    };
    pass(&mut world, Duration::from_millis(500));
    for client in CLIENTS {
        world.add_host(client, config::client());
        assert!(world.connect(client, B).is_ok());
    }
    pass(&mut world, after);
    let is_in = |client: &u32| world.host(*client).stats().connected == 1;
    CLIENTS.filter(is_in).count()
}

/// Each request gets an answer with a chance of two in five.
#[test]
fn a_flood_of_50_000_requests_a_second_keeps_no_newcomer_out_for_long() {
    let clients = newcomers(50_000, Duration::from_secs(3));
    assert_eq!(clients, 20, "{}", seed());
}
