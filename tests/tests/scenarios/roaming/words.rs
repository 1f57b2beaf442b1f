//! Datagrams of a host to another address of its peer, and a DISC from there, written by the test.

use porous_proto::PeerState;
use porous_tests::encoder;

use super::forged::{Hand, OTHER, PATH_CHALLENGE, challenge_to, control, response};

#[test]
fn a_challenge_is_echoed_to_where_it_came_from_and_nowhere_else() {
    for (from, not) in [(OTHER, 7), (7, OTHER)] {
        let mut hand = Hand::with(true);
        let data = *b"whereami";
        // The host's ping was answered just now.
        hand.wait(1000);
        let mut all = hand.say(from, vec![control(PATH_CHALLENGE, data)]);
        hand.wait(1000);
        all.extend(hand.sent());
        let echoes = |to: u8| {
            let mut to = all.iter().filter(move |(target, _)| *target == to);
            to.any(|(_, datagram)| datagram.windows(8).any(|bytes| bytes == data))
        };
        assert!(echoes(from) && !echoes(not), "{from}: {all:?}");
    }
}

#[test]
fn a_host_that_falls_silent_after_it_moved_is_asked_where_it_was() {
    let mut hand = Hand::with(true);
    let challenge = hand.challenge(OTHER);
    hand.say(OTHER, response(challenge));
    assert_eq!(hand.moves(), [(7, OTHER)]);
    let mut asked = None;
    for _ in 0..40 {
        hand.wait(100);
        let all = hand.sent();
        asked = asked.or_else(|| challenge_to(7, &all));
    }
    hand.say(7, response(asked.unwrap()));
    hand.wait(1000);
    let asked = hand.challenge(7);
    hand.say(7, response(asked));
    assert_eq!(hand.moves(), [(OTHER, 7)]);
}

#[test]
fn a_goodbye_from_another_address_counts_with_both_nonces_where_the_host_follows() {
    for (roaming, flipped, ends) in [(true, 0, true), (true, 1, false), (false, 0, false)] {
        let mut hand = Hand::with(roaming);
        let [ours, theirs] = hand.remote.nonces;
        let nonces = [ours, theirs ^ flipped];
        let bye = encoder::long(0xF0, encoder::VERSION, nonces, &[7, 0, 0, 0]);
        hand.hand(OTHER, &bye);
        let (_, peer) = hand.host.all_peers().next().unwrap();
        let is_over = peer.state() == PeerState::Disconnected;
        assert_eq!(is_over, ends, "{roaming} {flipped}");
    }
}

/// The limits are those of answers of a peer that has ended, to its own address (`docs/wire.md`, "Limits
/// of answers").
#[test]
fn goodbyes_from_another_address_are_answered_at_a_limited_rate() {
    let mut hand = Hand::with(true);
    let bye = encoder::long(0xF0, encoder::VERSION, hand.remote.nonces, &[7, 0, 0, 0]);
    let mut answers = 0;
    for _ in 0..100 {
        let all = hand.hand(OTHER, &bye);
        answers += all.iter().filter(|(to, _)| *to == OTHER).count();
    }
    assert_eq!(answers, 5);
}
