//! The rules of roaming one by one: which addresses are challenged, when, in how many bytes, and what
//! counts as an echo.

use alloc::vec::Vec;
use core::time::Duration;

use super::{Heard, Roaming, Validation};
use crate::frame::Control;
use crate::hooks::doc::example_pair;
use crate::time::Instant;
use crate::transfer::PathWords;

/// A T_rto of which three are more than a second.
const SLOW: Duration = Duration::from_millis(400);
/// A T_rto of which three are less than a second.
const FAST: Duration = Duration::from_millis(100);
const TIMEOUT: Duration = Duration::from_secs(10);

/// Addresses: that of the peer, and others.
const HERE: u8 = 7;
const OTHER: u8 = 9;

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

fn newest(id: u64) -> PathWords {
    PathWords {
        id,
        is_newest: true,
        challenge: None,
        response: None,
    }
}

fn old(id: u64) -> PathWords {
    PathWords {
        is_newest: false,
        ..newest(id)
    }
}

/// Takes a datagram of 10 bytes from another address than the peer's. The challenge of an address is its
/// own number.
fn hear(roaming: &mut Roaming<u8>, from: u8, words: PathWords, now: Instant) -> bool {
    let draw = || from.into();
    let bytes = 10;
    roaming.on_heard_at_other_address(&Heard { from, words, bytes }, SLOW, draw, now)
}

fn addresses(roaming: &Roaming<u8>) -> Vec<u8> {
    let validations = roaming.validations.iter();
    validations.map(|validation| validation.address).collect()
}

fn look(roaming: &mut Roaming<u8>, patience: Duration, now: Instant) -> Vec<u8> {
    roaming.try_previous(patience, TIMEOUT, || 1, now);
    addresses(roaming)
}

#[test]
fn a_candidate_gets_three_bytes_for_each_that_came_from_there() {
    let mut roaming = Roaming::new(at(0));
    for id in 1..=2 {
        hear(&mut roaming, OTHER, newest(id), at(0));
    }
    let validation = &mut roaming.validations[0];
    assert_eq!(validation.take_words().1, 60);
    validation.sent = 59;
    assert_eq!(validation.take_words().1, 1);
    validation.sent = 61;
    assert_eq!(validation.take_words().1, 0);
}

#[test]
fn bytes_to_a_candidate_are_counted_and_a_challenge_is_noted() {
    let (mut host, id) = example_pair();
    let peer = &mut host.table.get_mut(id).unwrap().peer;
    let mut roaming = Roaming::<u32>::new(at(0));
    let mut validation = Validation::new(9, 1, at(0));
    (validation.received, validation.response) = (100, Some(2));
    roaming.validations.push(validation);
    let mut buf = [0; 1200];
    let (to, first) = roaming.poll_transmit(peer, at(1), &mut buf).unwrap();
    // A datagram with an echo alone does not count as a challenge.
    assert_eq!((to, roaming.validations[0].challenged), (9, None));
    assert!(roaming.poll_transmit(peer, at(2), &mut buf).is_none());
    roaming.validations[0].challenge_due = true;
    let (_, second) = roaming.poll_transmit(peer, at(3), &mut buf).unwrap();
    let validation = &roaming.validations[0];
    assert_eq!(validation.challenged, Some(at(3)));
    assert_eq!(validation.sent, (first.len + second.len) as u64);
    // Nothing is written if there is too little room for it.
    let validation = &mut roaming.validations[0];
    (validation.sent, validation.challenge_due) = (300, true);
    assert!(roaming.poll_transmit(peer, at(4), &mut buf).is_none());
}

#[test]
fn only_a_newest_frame_makes_a_candidate_be_challenged() {
    let mut roaming = Roaming::new(at(0));
    hear(&mut roaming, OTHER, old(3), at(0));
    assert_eq!(addresses(&roaming), []);
    hear(&mut roaming, OTHER, newest(5), at(0));
    let validation = &mut roaming.validations[0];
    let challenge = Control::PathChallenge(OTHER.into());
    assert_eq!(validation.take_words().0[..], [challenge]);
    validation.challenged = Some(at(0));
    hear(&mut roaming, OTHER, old(4), at(500));
    assert!(roaming.validations[0].take_words().0.is_empty());
    hear(&mut roaming, OTHER, newest(6), at(399));
    assert!(roaming.validations[0].take_words().0.is_empty());
    hear(&mut roaming, OTHER, newest(7), at(400));
    assert_eq!(roaming.validations[0].take_words().0[..], [challenge]);
}

#[test]
fn an_echo_counts_if_it_is_newer_than_all_frames_from_the_peers_address() {
    let mut roaming = Roaming::new(at(0));
    hear(&mut roaming, OTHER, newest(1), at(0));
    roaming.on_heard_here(8, at(0));
    roaming.on_heard_here(5, at(0));
    for (id, counts) in [(7, false), (8, false), (9, true)] {
        let response = Some(OTHER.into());
        let words = PathWords {
            response,
            ..newest(id)
        };
        let moves = hear(&mut roaming, OTHER, words, at(0));
        assert_eq!(moves, counts, "{id}");
    }
}

#[test]
fn the_newest_challenge_is_echoed_whatever_comes_after_it() {
    let mut roaming = Roaming::new(at(0));
    for (id, challenge) in [(1, Some(3)), (2, Some(4)), (3, None)] {
        let words = PathWords {
            challenge,
            ..newest(id)
        };
        hear(&mut roaming, OTHER, words, at(0));
    }
    let (words, _) = roaming.validations[0].take_words();
    assert_eq!(words[1..], [Control::PathResponse(4)]);
}

#[test]
fn a_candidate_is_given_up_after_three_timeouts_and_a_second() {
    for (patience, ends) in [(SLOW, 1200), (FAST, 1000)] {
        let mut roaming = Roaming::new(at(0));
        hear(&mut roaming, OTHER, newest(1), at(0));
        roaming.forget_expired(patience, at(ends - 1));
        assert_eq!(addresses(&roaming), [OTHER]);
        roaming.forget_expired(patience, at(ends));
        assert_eq!(addresses(&roaming), []);
    }
}

#[test]
fn a_move_ends_all_challenges() {
    let mut roaming = Roaming::new(at(0));
    for from in [OTHER, 11] {
        hear(&mut roaming, from, newest(1), at(0));
    }
    roaming.on_moved(HERE, 2, at(1));
    assert_eq!(addresses(&roaming), []);
    assert_eq!((roaming.newest_here, roaming.heard_here), (2, at(1)));
}

#[test]
fn a_peer_that_falls_silent_after_a_move_is_challenged_at_its_old_address() {
    for (patience, silence) in [(SLOW, 1200), (FAST, 1000)] {
        let mut roaming = Roaming::new(at(0));
        assert_eq!(look(&mut roaming, patience, at(5000)), [], "no move");
        roaming.on_moved(HERE, 2, at(5000));
        roaming.on_heard_here(3, at(5500));
        assert_eq!(look(&mut roaming, patience, at(5499 + silence)), []);
        assert_eq!(look(&mut roaming, patience, at(5500 + silence)), [HERE]);
        assert_eq!(look(&mut roaming, patience, at(5501 + silence)), [HERE]);
        let (words, room) = roaming.validations[0].take_words();
        assert_eq!((&words[..], room), (&[Control::PathChallenge(1)][..], 3600));
    }
}

#[test]
fn a_forgotten_old_address_is_not_challenged_nor_one_beside_three_others() {
    let mut roaming = Roaming::new(at(0));
    roaming.on_moved(HERE, 2, at(0));
    for from in 20..23 {
        hear(&mut roaming, from, newest(3), at(2000));
    }
    assert_eq!(look(&mut roaming, SLOW, at(2100)), [20, 21, 22]);
    // All of them are given up.
    assert_eq!(look(&mut roaming, SLOW, at(9999)), [HERE]);
    roaming.validations.clear();
    assert_eq!(look(&mut roaming, SLOW, at(10_000)), []);
}
