//! What a host does for strangers: at most one short answer to a datagram, and nothing that it would have
//! to remember. Between any two hosts a datagram takes 20 ms.

use core::time::Duration;

use porous_proto::{Config, Disconnect, Ignored, Instant, Listen, Mode};
use porous_sim::rand_core::Rng;
use porous_sim::{Intercept, Pair, Seed, World};
use porous_tests::{
    Kind, Tape, Taped, assert_silent, assert_talk, config, connected, disconnect, ended, events,
    kind, line, nonce_self, one_connection, quiet_pair, record, record_while, seed,
};

const A: u32 = Pair::A;
const B: u32 = Pair::B;

/// The strangers' addresses begin here.
const STRANGERS: u32 = 1000;

/// The factor by which a request is longer than its answer.
const FACTOR: usize = 4;

/// The first request of a client, as it sends it to any host.
fn a_request(config: Config) -> Vec<u8> {
    let mut world = Pair::new(Seed::new(99), line(), config, config::new()).world;
    let tape = record(&mut world);
    assert!(world.connect(A, B).is_ok());
    world.flush(A);
    let request = tape.of(A, Kind::Request)[0].datagram.clone();
    assert_eq!(request.len(), 1200);
    request
}

/// B, which listens, and A, a client.
fn listening(config: Config) -> World {
    let mut world = Pair::new(seed(), line(), config::client(), config).world;
    assert_eq!(world.host_mut(B).listen(Listen::Open), Ok(()));
    world
}

/// The datagrams that B has sent to strangers.
fn replies(tape: &Tape) -> Vec<Taped> {
    let mut all = tape.all();
    all.retain(|taped| taped.from == B && taped.to >= STRANGERS);
    all
}

/// Every one of 1000 addresses sends this datagram to B, one after the other. B gives each at most one
/// short answer, at once. Returns the number of answers.
fn flood(world: &mut World, datagram: &[u8]) -> usize {
    let seed = world.seed();
    let tape = record(world);
    let before = (world.host(B).all_peers().count(), world.host(B).stats());
    for stranger in STRANGERS..STRANGERS + 1000 {
        world.inject(stranger, B, datagram.to_vec());
        world.run_for(Duration::from_micros(100));
    }
    world.run_for(Duration::from_millis(21));
    let answers = replies(&tape);
    let mut answered: Vec<_> = answers.iter().map(|taped| taped.to).collect();
    answered.sort_unstable();
    answered.dedup();
    assert_eq!(
        answered.len(),
        answers.len(),
        "somebody was answered twice; {seed}"
    );
    for reply in &answers {
        let (len, limit) = (reply.datagram.len(), datagram.len() / FACTOR);
        assert!(len <= limit, "{len} bytes, {limit} allowed; {seed}");
    }
    assert_eq!(world.host(B).all_peers().count(), before.0, "{seed}");
    // B kept no state: it has no peer, and no timer ever makes it send to one of the addresses.
    world.run_for(Duration::from_secs(60));
    let stats = world.host(B).stats();
    assert_eq!(world.host(B).all_peers().count(), before.0, "{seed}");
    assert_eq!(stats.accepted, before.1.accepted, "{seed}");
    assert_eq!(
        replies(&tape).len(),
        answers.len(),
        "somebody was spoken to later; {seed}"
    );
    assert_eq!(
        stats.datagrams_received,
        before.1.datagrams_received + 1000,
        "{seed}"
    );
    answers.len()
}

/// C1.
#[test]
fn spoofed_requests_leave_nothing_behind() {
    let mut world = listening(config::new());
    let answers = flood(&mut world, &a_request(config::client()));
    assert_eq!(answers, 1000, "{}", world.seed());
    assert_eq!(world.host(B).stats().ignored(Ignored::Stateless), 1000);
    assert_eq!(world.next_happening(), None, "{}", world.seed());
    assert_silent(&mut world, B, "after the flood");
}

#[test]
fn refusals_leave_nothing_behind_either() {
    for (request, config) in [
        (config::client().application_id(5), config::new()),
        (config::client(), config::new().max_peers(0)),
    ] {
        let mut world = listening(config);
        assert_eq!(
            flood(&mut world, &a_request(request)),
            1000,
            "{}",
            world.seed()
        );
        assert_silent(&mut world, B, "after the flood");
    }
    let mut other_version = a_request(config::client());
    other_version[3] = 200;
    let mut world = listening(config::new());
    assert_eq!(flood(&mut world, &other_version), 1000, "{}", world.seed());
    assert_silent(&mut world, B, "after the flood");
}

#[test]
fn a_burst_of_requests_gets_a_bounded_number_of_answers() {
    let mut world = listening(config::new());
    world.set_socket_buffer(B, 1 << 24);
    let tape = record(&mut world);
    let request = a_request(config::client());
    for stranger in 0..5000 {
        world.inject(STRANGERS + stranger, B, request.clone());
    }
    world.run_for(Duration::from_secs(60));
    let stats = world.host(B).stats();
    let refused = stats.ignored(Ignored::TooManyReplies);
    assert_eq!(
        stats.ignored(Ignored::Stateless) + refused,
        5000,
        "{}",
        world.seed()
    );
    assert!(refused > 0, "{}", world.seed());
    assert_eq!(
        replies(&tape).len() as u64,
        5000 - refused,
        "{}",
        world.seed()
    );
    assert_silent(&mut world, B, "after the burst");
}

#[test]
fn a_request_without_its_padding_gets_nothing() {
    let request = a_request(config::client());
    for padding in [1199, 600, 100] {
        let mut world = listening(config::new());
        assert_eq!(
            flood(&mut world, &request[..padding]),
            0,
            "{}",
            world.seed()
        );
        assert_eq!(
            world.host(B).stats().ignored(Ignored::Unpadded),
            1000,
            "{padding}"
        );
        assert_silent(&mut world, B, "after the flood");
    }
}

#[test]
fn a_closed_host_gives_nothing() {
    let mut world = Pair::new(seed(), line(), config::client(), config::new()).world;
    assert_eq!(
        flood(&mut world, &a_request(config::client())),
        0,
        "{}",
        world.seed()
    );
    assert_eq!(world.host(B).stats().ignored(Ignored::NotListening), 1000);
}

#[test]
fn a_cookie_is_good_for_one_address_and_one_request_only() {
    // A true second request, with the cookie in it ...
    let mut world = listening(config::new());
    let tape = record_while(&mut world, |passing| {
        if passing.from == A && kind(passing.datagram) == Kind::Acknowledge {
            return Intercept::Drop;
        }
        Intercept::Pass
    });
    let peer = world.connect(A, B).expect("there is no peer yet");
    world.run_for(Duration::from_millis(50));
    let second = tape.of(A, Kind::Acknowledge)[0].datagram.clone();
    assert_eq!(
        world.disconnect(A, peer, Disconnect::Now { reason: 0 }),
        Ok(())
    );
    world.run_for(Duration::from_secs(1));
    events(&mut world, A);
    // ... counts as a first one if it comes from another address, or is changed.
    assert_eq!(flood(&mut world, &second), 1000, "{}", world.seed());
    let request = second.len() - second.iter().rev().take_while(|&&byte| byte == 0).count();
    assert!(request > 100, "{request}");
    let start = 3 + usize::from(u16::from_le_bytes([second[1], second[2]]));
    let mut other = second.clone();
    for byte in &mut other[start + nonce_self().start..start + nonce_self().end] {
        *byte ^= 1;
    }
    world.inject(A, B, other);
    world.run_for(Duration::from_secs(1));
    assert_eq!(world.host(B).stats().accepted, 0, "{}", world.seed());
    assert_silent(&mut world, B, "no cookie of theirs");
}

/// C2.
#[test]
fn an_honest_client_connects_in_the_middle_of_a_flood() {
    let request = a_request(config::client());
    let mut world = listening(config::new());
    assert!(world.connect(A, B).is_ok());
    for n in 0..10_000 {
        world.inject(STRANGERS + n % 1000, B, request.clone());
        world.run_for(Duration::from_micros(50));
    }
    let ends = one_connection(&mut world, "during the flood");
    assert_talk(&mut world, ends, "after the flood");
}

#[test]
fn garbage_of_all_lengths_changes_nothing() {
    let mut pair = quiet_pair(seed(), line());
    let seed = pair.world.seed();
    let tape = record(&mut pair.world);
    let mut chance = seed.stream("garbage", 0);
    let mut count = 0;
    let before = [A, B].map(|address| pair.world.host(address).stats());
    for len in (0..1300).chain([1472, 9000, 65_507]) {
        for first in [
            None,
            Some(0x40),
            Some(0xC0),
            Some(0xD0),
            Some(0xE0),
            Some(0xF0),
        ] {
            let mut garbage = vec![0; len];
            chance.fill_bytes(&mut garbage);
            if let (Some(byte), Some(first)) = (garbage.first_mut(), first) {
                *byte = first | *byte & 3;
            }
            for (from, to) in [(A, B), (B, A), (STRANGERS, B)] {
                pair.world.inject(from, to, garbage.clone());
            }
            pair.world.run_for(Duration::from_micros(100));
            count += 1;
        }
    }
    pair.world.run_for(Duration::from_secs(1));
    // Some of the garbage is a request in another version to B, which is refused, and some is of an
    // unknown connection, and gets a RESET, a few times at once. None of these answers is answered.
    let answers = |from, to| {
        let all = tape.all().into_iter();
        let answer = |taped: &Taped| matches!(kind(&taped.datagram), Kind::Refuse | Kind::Reset);
        all.filter(|taped| (taped.from, taped.to) == (from, to) && answer(taped))
            .count() as u64
    };
    let counts = [answers(A, B), answers(B, A), answers(B, STRANGERS)];
    assert!(counts.iter().all(|n| (5..50).contains(n)), "{counts:?}");
    let expected = [count + answers(B, A), 2 * count + answers(A, B)];
    for ((address, before), expected) in [A, B].into_iter().zip(before).zip(expected) {
        assert_eq!(events(&mut pair.world, address), [], "{address}; {seed}");
        assert_eq!(
            pair.world.host(address).peers().count(),
            1,
            "{address}; {seed}"
        );
        let stats = pair.world.host(address).stats();
        let ignored = stats.ignored_total() - before.ignored_total();
        assert_eq!(ignored, expected, "{address}; {seed}");
        assert_eq!(stats.accepted, before.accepted, "{address}; {seed}");
    }
    let ends = [pair.peer(A), pair.peer(B)];
    assert_talk(&mut pair.world, ends, "after the garbage");
}

/// C7.
#[test]
fn a_dead_connection_stays_dead_whatever_comes_late() {
    // All datagrams of a connection's life are recorded ...
    let mut pair = Pair::new(seed(), line(), config::client(), config::new());
    let tape = record(&mut pair.world);
    pair.connect_to_listener();
    for from in [A, B] {
        let packets = (0..20).map(|n| (0, Mode::Reliable, vec![n; 700]));
        let got = pair.exchange(from, packets, Duration::from_secs(5));
        assert_eq!(got.len(), 20, "{}", pair.world.seed());
    }
    disconnect(&mut pair, A, Disconnect::Now { reason: 0 });
    pair.world.run_for(Duration::from_secs(1));
    let seed = pair.world.seed();
    for address in [A, B] {
        assert_eq!(ended(&events(&mut pair.world, address)).len(), 1, "{seed}");
    }
    let life = tape.all();
    assert!(life.len() > 30, "{}", life.len());
    // ... and sent again while the two peers linger, after they are forgotten, and after the cookies have
    // expired.
    for pause in [0, 10, 20, 40, 100] {
        pair.world.run_for(Duration::from_secs(pause));
        let known = pair.world.host(B).all_peers().count();
        let accepted = pair.world.host(B).stats().accepted;
        for taped in &life {
            pair.world
                .inject(taped.from, taped.to, taped.datagram.clone());
            pair.world.run_for(Duration::from_millis(2));
        }
        pair.world.run_for(Duration::from_millis(50));
        let context = format!("after {pause} s more; {seed}");
        for address in [A, B] {
            assert_eq!(events(&mut pair.world, address), [], "{address}; {context}");
        }
        assert_eq!(pair.world.host(B).all_peers().count(), known, "{context}");
        assert_eq!(pair.world.host(B).stats().accepted, accepted, "{context}");
    }
    assert!(
        pair.world.now() > Instant::from_micros(160_000_000),
        "{seed}"
    );

    // A new connection between the two is made and works in the middle of all this.
    assert!(pair.world.connect(A, B).is_ok(), "{seed}");
    for taped in &life {
        pair.world
            .inject(taped.from, taped.to, taped.datagram.clone());
        pair.world.run_for(Duration::from_millis(2));
    }
    pair.world.run_for(Duration::from_secs(1));
    let ends = one_connection(&mut pair.world, "after the old one");
    for taped in &life {
        pair.world
            .inject(taped.from, taped.to, taped.datagram.clone());
    }
    assert_talk(&mut pair.world, ends, "after the old one");
    for address in [A, B] {
        let told = events(&mut pair.world, address);
        assert_eq!(
            (connected(&told), ended(&told)),
            (vec![], vec![]),
            "{told:?}; {seed}"
        );
    }
}
