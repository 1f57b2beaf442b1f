//! A host answers datagrams of connections that it does not know by a RESET, which ends nothing by itself
//! (C7). Between A and B a datagram takes 20 ms.

use core::time::Duration;

use porous_proto::{Config, DisconnectReason, Ignored, Instant, Listen, Mode, Policy};
use porous_sim::{Intercept, Pair, World};
use porous_tests::{
    Kind, assert_told, config, disconnect, events, flush, kind, line, queue, quiet_pair, record,
    record_while, seed,
};

const A: u32 = Pair::A;
const B: u32 = Pair::B;
const STRANGER: u32 = 1000;

const SECOND: Duration = Duration::from_secs(1);
/// The silence after which a connection is pinged (T24).
const SILENCE: Duration = Duration::from_secs(3);

/// The connection id in short datagrams from one host to the other: A's has 2 bytes, B's has 4.
fn connection_id(pair: &mut Pair, from: u32) -> Vec<u8> {
    let tape = record(&mut pair.world);
    pair.world.run_for(SILENCE);
    pair.world.stop_intercepting();
    let len = if from == A { 4 } else { 2 };
    tape.of(from, Kind::Short)[0].datagram[1..=len].to_vec()
}

fn reset(connection_id: &[u8]) -> Vec<u8> {
    [&[0xF2], connection_id].concat()
}

/// The time for which a connection lives on after a RESET, if that is the first one in a second.
fn patience(pair: &Pair, address: u32) -> Duration {
    let peer = pair.world.host(address).peer(pair.peer(address));
    SECOND.max(3 * peer.map_or(SECOND, |peer| peer.stats().resend_timeout))
}

/// The time at which this host was told of the end of its only connection, which the other host has lost.
fn end(pair: &mut Pair, address: u32, limit: Instant) -> Instant {
    while pair.world.host(address).peers().next().is_some() && pair.world.now() < limit {
        pair.world.run_for(Duration::from_millis(1));
        if let Some(told) = pair.world.poll_event(address) {
            let expected = porous_proto::Event::Disconnected {
                peer: pair.peer(address),
                reason: DisconnectReason::LostByPeer,
                undelivered: 0,
            };
            assert_eq!(told, expected, "{}", pair.world.seed());
            return pair.world.now();
        }
    }
    panic!("no end at {:?}; {}", pair.world.now(), pair.world.seed());
}

fn restart(world: &mut World, address: u32, config: Config, listen: Listen) {
    assert!(world.remove_host(address));
    world.add_host(address, config);
    assert_eq!(world.host_mut(address).listen(listen), Ok(()));
}

/// C7.
#[test]
fn a_host_that_forgot_everything_ends_the_connection_of_the_other_soon() {
    for (forgets, config, listen) in [
        (A, config::client(), Listen::Closed),
        (B, config::new(), Listen::Closed),
        (B, config::new(), Listen::Ask),
        (B, config::new(), Listen::Open),
    ] {
        let (mut pair, other) = (quiet_pair(seed(), line()), Pair::other(forgets));
        let start = pair.world.now();
        restart(&mut pair.world, forgets, config, listen);
        let limit = SILENCE + patience(&pair, other) + Duration::from_millis(200);
        let ends = end(&mut pair, other, start + 11 * SECOND);
        let took = ends.saturating_duration_since(start);
        assert!(took > SECOND && took < limit, "{took:?}, {listen:?}");
        pair.world.run_for(60 * SECOND);
        for address in [A, B] {
            assert_eq!(events(&mut pair.world, address), [], "{listen:?}");
        }
    }
}

#[test]
fn a_host_that_hears_nothing_tells_the_other_when_it_has_given_up() {
    for unread in [0, 5] {
        let mut pair = quiet_pair(seed(), line());
        queue(&mut pair, A, unread);
        pair.world.run_for(SECOND);
        events(&mut pair.world, B);
        // For longer than the timeout no datagram of A reaches B, but all of B's reach A.
        let from = pair.world.now();
        pair.world.intercept(move |passing| {
            if passing.from == A && passing.now < from + 11 * SECOND {
                return Intercept::Drop;
            }
            Intercept::Pass
        });
        let gone = end_of_b(&mut pair, from + 12 * SECOND);
        assert!(gone < from + 11 * SECOND, "{gone:?}");
        let limit = from + 11 * SECOND + patience(&pair, A) + Duration::from_millis(1200);
        let told = end(&mut pair, A, from + 30 * SECOND);
        assert!(told < limit, "{told:?} of {limit:?}, {unread} unread");
        assert_eq!(pair.receive_all(B).len(), usize::from(unread));
    }
}

fn end_of_b(pair: &mut Pair, limit: Instant) -> Instant {
    while pair.world.now() < limit {
        pair.world.run_for(Duration::from_millis(10));
        if !events(&mut pair.world, B).is_empty() {
            break;
        }
    }
    pair.world.now()
}

/// C7.
#[test]
fn forged_resets_do_nothing_to_a_connection_that_lives() {
    // The hosts send the same datagrams, whether or not a thousand forged RESETs a second arrive.
    let run = |policy: Policy, forged: bool, loss: f64| {
        let (a, b) = (
            config::client().policy(policy),
            config::new().policy(policy),
        );
        let mut pair = Pair::new(seed(), line(), a, b);
        pair.connect_to_listener();
        pair.world.run_for(SECOND);
        for address in [A, B] {
            events(&mut pair.world, address);
        }
        let (ours, theirs) = (connection_id(&mut pair, A), connection_id(&mut pair, B));
        let tape = record(&mut pair.world);
        pair.world.network_mut().set_all(line().loss(loss));
        for n in 0..5000_u32 {
            if forged {
                pair.world.inject(B, A, reset(&ours));
                pair.world.inject(A, B, reset(&theirs));
            }
            if n % 500 == 0 {
                queue(&mut pair, A, 10);
            }
            pair.world.run_for(Duration::from_millis(1));
        }
        pair.world.network_mut().set_all(line());
        pair.world.run_for(20 * SECOND);
        assert_eq!(pair.receive_all(B).len(), 100, "{}", pair.world.seed());
        events(&mut pair.world, B);
        for address in [A, B] {
            assert_eq!(events(&mut pair.world, address), [], "{address}");
            assert_eq!(pair.world.host(address).peers().count(), 1);
        }
        let all = tape.all().into_iter();
        all.map(|taped| (taped.at, taped.from, taped.datagram))
            .collect::<Vec<_>>()
    };
    for policy in [Policy::Paper, Policy::Modern] {
        let (quiet, forged) = (run(policy, false, 0.0), run(policy, true, 0.0));
        // A doubt costs a ping, its answer, and an acknowledgement, once a second at most.
        let counts = (quiet.len(), forged.len());
        assert!(counts.1 <= counts.0 + 2 * 3 * 6, "{counts:?}");
        run(policy, true, 30.0);
    }
}

#[test]
fn a_reset_makes_an_end_sooner_but_only_if_nothing_valid_comes() {
    let mut pair = quiet_pair(seed(), line());
    let id = connection_id(&mut pair, A);
    let start = pair.world.now();
    // The first RESET comes before the last datagram of B, which answers a ping, the second after it.
    pair.world.inject(B, A, reset(&id));
    pair.world.run_until(start + 3 * SECOND / 2);
    let cut = pair.world.now();
    pair.world.network_mut().partition(&[A], &[B]);
    pair.world.run_until(start + 5 * SECOND);
    assert_eq!(events(&mut pair.world, A), [], "{}", pair.world.seed());
    let limit = pair.world.now() + patience(&pair, A);
    pair.world.network_mut().mend();
    pair.world.intercept(|_| Intercept::Drop);
    pair.world.inject(B, A, reset(&id));
    // Further RESETs make the end neither later nor sooner.
    for _ in 0..10 {
        pair.world.run_for(Duration::from_millis(50));
        pair.world.inject(B, A, reset(&id));
    }
    let ends = end(&mut pair, A, cut + 11 * SECOND);
    let early = limit + Duration::from_millis(15);
    let late = limit + Duration::from_millis(25);
    assert!(ends > early && ends < late, "{ends:?}, {limit:?}");
}

#[test]
fn a_reset_never_makes_the_timeout_longer() {
    let short = Duration::from_millis(500);
    let mut pair = Pair::new(
        seed(),
        line(),
        config::client().timeout(short).unwrap(),
        config::new(),
    );
    pair.connect_to_listener();
    pair.world.run_for(SECOND);
    let id = connection_id(&mut pair, A);
    let start = pair.world.now();
    pair.world.intercept(|_| Intercept::Drop);
    for _ in 0..20 {
        pair.world.inject(B, A, reset(&id));
        pair.world.run_for(Duration::from_millis(20));
    }
    let ends = end(&mut pair, A, start + SECOND);
    assert!(ends < start + short + Duration::from_millis(30), "{ends:?}");
}

#[test]
fn resets_that_do_not_fit_change_nothing() {
    let mut pair = quiet_pair(seed(), line());
    let (to_b, to_a) = (connection_id(&mut pair, A), connection_id(&mut pair, B));
    let before = pair
        .world
        .host(A)
        .stats()
        .ignored(Ignored::UnknownConnection);
    let start = pair.world.now();
    pair.world.intercept(|_| Intercept::Drop);
    pair.world.inject(STRANGER, A, reset(&to_b));
    // The connection id in B's datagrams to A is not the one in A's datagrams to B.
    pair.world.inject(B, A, reset(&to_a));
    pair.world.inject(B, A, reset(&to_b[..3]));
    pair.world.inject(B, A, reset(&[&to_b[..], &[0]].concat()));
    for bit in 0..32 {
        let mut other = to_b.clone();
        other[bit / 8] ^= 1 << (bit % 8);
        pair.world.inject(B, A, reset(&other));
    }
    pair.world.run_until(start + Duration::from_millis(7400));
    assert_eq!(events(&mut pair.world, A), [], "{}", pair.world.seed());
    let after = pair
        .world
        .host(A)
        .stats()
        .ignored(Ignored::UnknownConnection);
    assert_eq!(after - before, 36);
    pair.world.run_until(start + 11 * SECOND);
    assert_told(&mut pair, A, (DisconnectReason::Silent, 0), "silence");
}

/// C7.
#[test]
fn a_reset_is_answered_by_nothing() {
    let mut world = Pair::new(seed(), line(), config::client(), config::new()).world;
    assert_eq!(world.host_mut(B).listen(Listen::Open), Ok(()));
    let tape = record(&mut world);
    for len in 1..=8 {
        for (from, to) in [(A, B), (B, A), (STRANGER, A), (STRANGER, B)] {
            world.inject(from, to, reset(&vec![7; len]));
        }
    }
    world.run_for(SECOND);
    assert_eq!(tape.all().len(), 0, "{}", world.seed());
    // A datagram of an unknown connection gets one RESET, and nothing else is sent.
    world.inject(A, B, vec![0x40, 1, 2, 3, 4, 0]);
    world.run_for(SECOND);
    let said: Vec<_> = tape
        .all()
        .into_iter()
        .map(|t| (t.from, t.datagram))
        .collect();
    assert_eq!(said, [(B, reset(&[1, 2, 3, 4]))], "{}", world.seed());
}

#[test]
fn a_reset_is_shorter_than_what_it_answers_and_limited_in_rate() {
    for len in (0..=9_u8).chain([19, 20]) {
        let config = match config::new().connection_id_len(len) {
            Ok(config) => config,
            Err(error) => panic!("{error}"),
        };
        let mut world = Pair::new(seed(), line(), config::client(), config).world;
        let tape = record(&mut world);
        let datagram = [&[0x40][..], &vec![9; len.into()], &[0]].concat();
        for _ in 0..1000 {
            world.inject(STRANGER, B, datagram.clone());
            world.run_for(Duration::from_millis(1));
        }
        world.run_for(SECOND);
        let resets = tape.of(B, Kind::Reset);
        let expected = if len == 0 { 0..1 } else { 24..26 };
        assert!(expected.contains(&resets.len()), "{len}: {}", resets.len());
        assert_eq!(tape.all().len(), resets.len(), "{len}");
        for taped in &resets {
            assert_eq!(taped.datagram.len() + 1, datagram.len(), "{len}");
        }
        let stats = world.host(B).stats();
        let counted = stats.ignored(Ignored::UnknownConnection);
        let dropped = stats.ignored(Ignored::TooManyReplies);
        assert_eq!(counted + dropped, 1000, "{len}");
        if len > 0 {
            assert_eq!(counted, resets.len() as u64, "{len}");
        }
    }
}

#[test]
fn a_flush_to_a_host_that_forgot_is_over_soon() {
    let mut pair = quiet_pair(seed(), line());
    restart(&mut pair.world, B, config::new(), Listen::Open);
    queue(&mut pair, A, 3);
    disconnect(&mut pair, A, flush(1));
    pair.world.run_for(4 * SECOND);
    assert_told(&mut pair, A, (DisconnectReason::LostByPeer, 3), "a flush");
}

#[test]
fn known_connections_are_not_reset_from_other_addresses() {
    let mut pair = quiet_pair(seed(), line());
    let id = connection_id(&mut pair, A);
    let tape = record_while(&mut pair.world, |_| Intercept::Pass);
    let datagram = [&[0x40][..], &id, &[0]].concat();
    pair.world.inject(STRANGER, B, datagram);
    pair.world.run_for(SECOND);
    assert!(
        tape.all()
            .iter()
            .all(|taped| kind(&taped.datagram) == Kind::Short)
    );
    assert_eq!(pair.world.host(B).stats().ignored(Ignored::WrongAddress), 1);
    assert_eq!(pair.send(A, 0, Mode::Reliable, vec![1]), Ok(()));
    pair.world.run_for(SECOND);
    assert_eq!(pair.receive_all(B).len(), 1, "{}", pair.world.seed());
}
