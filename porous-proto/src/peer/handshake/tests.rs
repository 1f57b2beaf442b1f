//! The order and the rhythm of requests.

use super::*;
use crate::config::Config;
use crate::frame::ConnectionId;

const OURS: u64 = 7;

fn at(millis: u64) -> Instant {
    Instant::from_micros(1000 * millis)
}

/// Sends the next round at this time, and gives the time of the round after it.
fn retry(handshake: &mut Handshake, now: Instant) -> Instant {
    handshake.begin_round();
    asked(handshake, now);
    handshake.retry
}

fn cookie(nonce_self: u64) -> Request<'static> {
    Request::unpadded(Connect {
        cookie: true,
        nonce_self,
        nonce_peer: OURS,
        connection_id: ConnectionId::EMPTY,
        offer: Config::new().offer(),
    })
}

fn plain(nonce_self: u64) -> Request<'static> {
    Request::unpadded(Connect {
        cookie: false,
        nonce_peer: 0,
        ..cookie(nonce_self).connect
    })
}

/// The addresses that are asked now, each with the cookie that its request brings back.
fn asked(handshake: &mut Handshake, now: Instant) -> Vec<(usize, Option<u64>)> {
    core::iter::from_fn(|| handshake.next_request(now)).collect()
}

/// The intervals of a thousand attempts, which chance spreads (C17).
#[test]
fn requests_are_repeated_ever_less_often() {
    let intervals = |ways, draw| -> [u64; 8] {
        let mut handshake = Handshake::new(ways, &[], draw);
        core::array::from_fn(|_| retry(&mut handshake, Instant::ZERO).as_micros() / 1000)
    };
    let middle = [100, 150, 225, 337, 506, 759, 1000, 1000];
    let mut sums = [0; 8];
    for draw in 0..1000_u64 {
        let intervals = intervals(1, draw << 52 | 3);
        for ((sum, interval), middle) in sums.iter_mut().zip(intervals).zip(middle) {
            assert!((middle * 3 / 4..=middle * 5 / 4).contains(&interval));
            *sum += interval;
        }
    }
    for (sum, middle) in sums.into_iter().zip(middle) {
        assert!(sum.abs_diff(1000 * middle) < 30 * middle, "{sum} {middle}");
    }
    assert_eq!(intervals(1, 9), intervals(8, 9));
}

/// C17.
#[test]
fn for_a_second_requests_that_meet_are_repeated_often() {
    let mut handshake = Handshake::new(1, &[], 7);
    let mut now = at(5000);
    assert_eq!(handshake.punch(now), Some(at(5050)));
    for n in 1..=20 {
        assert_eq!(handshake.punch(now), None);
        now = retry(&mut handshake, now);
        assert_eq!(now, at(5000) + n * PUNCH_INTERVAL);
    }
    assert_eq!(handshake.punch(now), None);
    assert!(retry(&mut handshake, now) >= now + INTERVAL_MIN * 3 / 4);
}

/// A forged request makes this host send little more than it is itself. C17.
#[test]
fn one_request_makes_two_of_ours_come_sooner() {
    let mut handshake = Handshake::new(1, &[], 7);
    let first = handshake.punch(at(5000));
    assert_eq!(first, Some(at(5050)));
    assert_eq!(retry(&mut handshake, at(5050)), at(5100));
    assert!(retry(&mut handshake, at(5100)) >= at(5175));
}

#[test]
fn a_round_goes_to_every_address_once() {
    let mut handshake = Handshake::new(3, &[], 7);
    let all = [(0, None), (1, None), (2, None)];
    assert_eq!(asked(&mut handshake, at(0)), all);
    assert_eq!(asked(&mut handshake, at(0)), []);
    handshake.begin_round();
    assert_eq!(asked(&mut handshake, at(100)), all);
}

#[test]
fn a_round_whose_last_address_is_struck_off_has_a_next_one() {
    let mut handshake = Handshake::new(3, &[], 7);
    handshake.begin_round();
    for way in 0..2 {
        assert_eq!(handshake.next_request(at(100)), Some((way, None)));
    }
    assert!(handshake.retry.is_never(), "the round goes on");
    assert!(!handshake.strike(2, None, at(100)));
    assert_eq!(asked(&mut handshake, at(100)), []);
    assert!(handshake.retry > at(100) && handshake.retry < at(300));
}

#[test]
fn only_what_was_said_makes_an_attempt_unfinished() {
    let mut handshake = Handshake::new(2, &[], 7);
    handshake.strike(0, None, at(0));
    let nothing = DisconnectReason::NeverAnswered;
    assert_eq!(handshake.why_nothing_came(), nothing, "it is unreachable");
    handshake.on_request(1, &plain(50), OURS, at(0));
    let unfinished = DisconnectReason::Unfinished;
    assert_eq!(handshake.why_nothing_came(), unfinished);
    handshake.strike(1, Some(50), at(0));
    assert_eq!(handshake.why_nothing_came(), unfinished, "it gave up");
}

#[test]
fn the_first_cookie_goes_back_alone_for_a_while() {
    let mut handshake = Handshake::new(3, &[], 7);
    asked(&mut handshake, at(0));
    handshake.on_request(2, &cookie(102), OURS, at(30));
    handshake.on_request(0, &cookie(100), OURS, at(31));
    assert_eq!(asked(&mut handshake, at(31)), [(2, Some(102))]);
    handshake.begin_round();
    // An address that has given no cookie is asked as before.
    assert_eq!(asked(&mut handshake, at(279)), [(1, None), (2, Some(102))]);
    handshake.begin_round();
    let all = [(0, Some(100)), (1, None), (2, Some(102))];
    assert_eq!(asked(&mut handshake, at(280)), all);
}

#[test]
fn a_refusal_at_the_first_address_lets_the_other_cookies_go_back() {
    let mut handshake = Handshake::new(2, &[], 7);
    handshake.on_request(1, &cookie(101), OURS, at(30));
    handshake.on_request(0, &cookie(100), OURS, at(31));
    assert!(!handshake.strike(1, None, Instant::ZERO));
    assert_eq!(asked(&mut handshake, at(40)), [(0, Some(100))]);
    handshake.begin_round();
    assert_eq!(asked(&mut handshake, at(40)), [(0, Some(100))]);
    assert!(handshake.strike(0, None, Instant::ZERO), "none is left");
}

#[test]
fn a_host_that_gives_up_is_struck_off_at_each_address_until_it_asks_again() {
    let mut handshake = Handshake::new(3, &[], 7);
    handshake.on_request(0, &plain(50), OURS, at(0));
    handshake.on_request(1, &plain(50), OURS, at(0));
    handshake.on_request(2, &plain(60), OURS, at(0));
    assert!(!handshake.strike(0, Some(50), Instant::ZERO));
    assert_eq!(asked(&mut handshake, at(0)), [(2, None)]);
    assert!(!handshake.has_seen(50) && handshake.has_seen(60));
    handshake.on_request(1, &plain(51), OURS, at(0));
    handshake.begin_round();
    assert_eq!(asked(&mut handshake, at(0)), [(1, None), (2, None)]);
}

#[test]
fn the_address_that_acknowledges_wins_wherever_the_request_came_from() {
    let mut handshake = Handshake::new(3, &[], 7);
    handshake.on_request(0, &plain(50), OURS, at(0));
    handshake.on_request(2, &plain(60), OURS, at(0));
    assert_eq!(handshake.established(), None);
    handshake.on_acknowledge(1, &plain(50).connect);
    let (way, remote) = handshake.established().unwrap();
    assert_eq!((way, remote.nonce_self), (1, 50));
    let heard: Vec<bool> = (0..3).map(|way| handshake.has_heard(way, 50)).collect();
    assert_eq!(heard, [true, true, false]);
    let met: Vec<(usize, u64)> = handshake.remotes().collect();
    assert_eq!(met, [(0, 50), (1, 50), (2, 60)]);
}

#[test]
fn a_request_that_echoes_our_nonce_is_not_evicted_by_one_that_does_not() {
    let mut way = Way::new();
    way.remember(&plain(1), false);
    way.remember(&plain(2), true);
    for stranger in 100..200 {
        way.remember(&plain(stranger), false);
        assert!(way.candidates.len() <= CANDIDATES_MAX);
    }
    assert!(!way.has_seen(1) && way.has_seen(2));
    // Of the requests that echo our nonce, the newest stay.
    for friend in 3..=6 {
        way.remember(&plain(friend), true);
    }
    assert!(!way.has_seen(2) && (3..=6).all(|friend| way.has_seen(friend)));
    way.remember(&plain(7), false);
    assert!(!way.has_seen(7) && (3..=6).all(|friend| way.has_seen(friend)));
}
