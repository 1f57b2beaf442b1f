//! Datagrams from other addresses, written by the test.
#![expect(clippy::unwrap_used, reason = "a test")]

use porous_proto::{Ecn, Event, Host, Instant, Listen, PeerState};
use porous_sim::{ChaCha8Rng, Seed};
use porous_tests::config;
use porous_tests::encoder::{self, Message, Offer};
use porous_tests::remote::{self, Remote};

/// A remote end whose datagrams the test writes, at address 7, and the host that it is connected to.
pub(super) struct Hand {
    pub(super) host: Host<ChaCha8Rng, u8>,
    pub(super) remote: Remote,
    now: Instant,
}

/// Other addresses at which the remote may be.
pub(super) const OTHER: u8 = 9;

fn offer() -> Offer {
    Offer {
        application: 0,
        channels: 1,
        datagram: 1200,
        packet: 1 << 20,
        budget: 4 << 20,
        windows: [10, 10],
        rates: [u32::MAX; 2],
        integrity: 0,
        extensions: 0,
        path_mtu: None,
        sealed: &[],
        timeout: None,
    }
}

const PING: u8 = 1;
pub(super) const PATH_CHALLENGE: u8 = 7;
const PATH_RESPONSE: u8 = 8;

impl Hand {
    fn new() -> Self {
        Self::with(true)
    }

    pub(super) fn with(roaming: bool) -> Self {
        let config = config::new().first_id(0).roaming(roaming);
        let mut host = Host::new(config, Seed::new(1).stream("host", 0));
        host.listen(Listen::Open).unwrap();
        let offer = offer();
        let remote = Remote::connect(&mut host, Instant::ZERO, 7, &offer);
        let mut hand = Self {
            host,
            remote,
            now: Instant::ZERO,
        };
        hand.say(7, vec![ping()]);
        hand
    }

    /// The next frame of the remote comes from this address. Returns the datagrams that the host sends,
    /// and to whom.
    pub(super) fn say(&mut self, from: u8, messages: Vec<Message>) -> Vec<(u8, Vec<u8>)> {
        let datagram = self.remote.short(None, messages).encode(&self.remote.shape);
        self.hand(from, &datagram)
    }

    pub(super) fn hand(&mut self, from: u8, datagram: &[u8]) -> Vec<(u8, Vec<u8>)> {
        self.host
            .handle_datagram(self.now, from, Ecn::NotEct, datagram);
        self.sent()
    }

    pub(super) fn sent(&mut self) -> Vec<(u8, Vec<u8>)> {
        let mut buf = [0; 1200];
        let mut all = Vec::new();
        while let Some(transmit) = self.host.poll_transmit(self.now, &mut buf) {
            all.push((transmit.to, transmit.datagram.to_vec()));
        }
        all
    }

    /// The challenge in the only datagram to this address.
    pub(super) fn challenge(&mut self, from: u8) -> [u8; 8] {
        let all = self.say(from, vec![ping()]);
        challenge_to(from, &all).expect("a challenge")
    }

    pub(super) fn wait(&mut self, millis: u64) {
        self.now = Instant::from_micros(self.now.as_micros() + 1000 * millis);
        self.host.handle_timeout(self.now);
    }

    pub(super) fn moves(&mut self) -> Vec<(u8, u8)> {
        let mut all = Vec::new();
        while let Some(event) = self.host.poll_event() {
            if let Event::PeerMoved { from, to, .. } = event {
                all.push((from, to));
            }
        }
        all
    }
}

pub(super) fn challenge_to(to: u8, all: &[(u8, Vec<u8>)]) -> Option<[u8; 8]> {
    let mut to = all.iter().filter(|(target, _)| *target == to);
    let (_, datagram) = to.next()?;
    assert_eq!(to.next(), None, "one at a time");
    let (body, _check) = datagram.split_last_chunk::<4>()?;
    body.last_chunk().copied()
}

fn ping() -> Message {
    Message::Control(vec![PING, 0, 0])
}

pub(super) fn control(kind: u8, data: [u8; 8]) -> Message {
    Message::Control([&[kind][..], &data].concat())
}

pub(super) fn response(data: [u8; 8]) -> Vec<Message> {
    vec![control(PATH_RESPONSE, data)]
}

/// D10.
#[test]
fn the_echo_counts_from_where_the_challenge_went_and_nowhere_else() {
    let mut hand = Hand::new();
    let challenge = hand.challenge(OTHER);
    // From the peer's address, from a third address, and with a changed echo.
    hand.say(7, response(challenge));
    hand.say(11, response(challenge));
    let mut wrong = challenge;
    wrong[7] ^= 1;
    hand.say(OTHER, response(wrong));
    assert_eq!(hand.moves(), []);
    hand.say(OTHER, response(challenge));
    assert_eq!(hand.moves(), [(7, OTHER)]);
    // The challenge has been used up.
    hand.wait(2000);
    hand.say(7, response(challenge));
    assert_eq!(hand.moves(), []);
}

#[test]
fn an_echo_that_was_overtaken_from_where_the_peer_is_moves_nobody() {
    let mut hand = Hand::new();
    let challenge = hand.challenge(OTHER);
    let shape = hand.remote.shape;
    let late = hand.remote.short(None, response(challenge)).encode(&shape);
    hand.say(7, vec![ping()]);
    hand.hand(OTHER, &late);
    assert_eq!(hand.moves(), []);
    // Nor does a copy of a frame that was taken.
    let taken = hand.remote.short(None, response(challenge)).encode(&shape);
    hand.hand(7, &taken);
    hand.hand(OTHER, &taken);
    assert_eq!(hand.moves(), []);
}

#[test]
fn a_challenge_is_good_for_a_second_and_another_one_is_another() {
    let mut hand = Hand::new();
    let challenge = hand.challenge(OTHER);
    hand.wait(3000);
    let all = hand.say(OTHER, response(challenge));
    assert_eq!(hand.moves(), []);
    assert_ne!(challenge_to(OTHER, &all), Some(challenge));
}

#[test]
fn the_second_move_waits_for_a_second() {
    let mut hand = Hand::new();
    let challenge = hand.challenge(OTHER);
    hand.say(OTHER, response(challenge));
    assert_eq!(hand.moves(), [(7, OTHER)]);
    let challenge = hand.challenge(11);
    hand.wait(990);
    hand.say(11, response(challenge));
    assert_eq!(hand.moves(), []);
    hand.wait(10);
    hand.say(11, response(challenge));
    assert_eq!(hand.moves(), [(OTHER, 11)]);
}

#[test]
fn moves_that_nobody_asks_for_are_one_event() {
    let mut hand = Hand::new();
    for place in [OTHER, 11, 12] {
        let challenge = hand.challenge(place);
        hand.say(place, response(challenge));
        hand.wait(1000);
    }
    assert_eq!(hand.moves(), [(7, 12)]);
    let challenge = hand.challenge(7);
    hand.say(7, response(challenge));
    assert_eq!(hand.moves(), [(12, 7)]);
}

#[test]
fn three_places_are_asked_at_once_and_each_again_after_a_while() {
    let mut hand = Hand::new();
    for place in 20..23 {
        hand.challenge(place);
    }
    let all = hand.say(23, vec![ping()]);
    assert_eq!(challenge_to(23, &all), None, "a fourth");
    let all = hand.say(20, vec![ping()]);
    assert_eq!(challenge_to(20, &all), None, "too soon");
    hand.wait(700);
    let all = hand.say(20, vec![ping()]);
    assert!(challenge_to(20, &all).is_some());
    hand.wait(1300);
    hand.challenge(23);
}

#[test]
fn old_copied_malformed_or_false_datagrams_make_no_candidate() {
    let mut hand = Hand::new();
    let shape = hand.remote.shape;
    let ack = encoder::Ack {
        largest: 500,
        width: 4,
        map: 0,
        delay: None,
        ranges: Vec::new(),
        nonces: false,
        marks: (false, 0),
    };
    let lie = hand.remote.short(Some(ack), vec![ping()]);
    let old = hand.remote.short(None, vec![ping()]).encode(&shape);
    let malformed = hand.remote.short(None, vec![Message::Control(vec![77])]);
    let copy = hand.remote.short(None, vec![ping()]).encode(&shape);
    hand.hand(7, &copy);
    let (lie, malformed) = (lie.encode(&shape), malformed.encode(&shape));
    for datagram in [&lie, &malformed, &copy, &old] {
        let all = hand.hand(OTHER, datagram);
        assert!(all.iter().all(|(to, _)| *to == 7), "{all:?}");
    }
    hand.challenge(OTHER);
}

#[test]
fn a_flood_from_another_address_gets_three_bytes_for_each_of_its_own() {
    let mut hand = Hand::new();
    let (mut sent, mut got, mut answers) = (0, 0, 0);
    for n in 0..500_u32 {
        let data = u64::from(n).to_le_bytes();
        let datagram = hand
            .remote
            .short(None, vec![control(PATH_CHALLENGE, data)])
            .encode(&hand.remote.shape);
        sent += datagram.len();
        for (to, datagram) in hand.hand(OTHER, &datagram) {
            if to == OTHER {
                got += datagram.len();
                answers += 1;
            }
        }
        assert!(got <= 3 * sent, "{got} for {sent}");
        hand.wait(3);
    }
    assert!(answers > 0);
    assert_eq!(hand.moves(), []);
}

#[test]
fn long_forms_from_another_address_move_no_peer_and_make_no_other_connection() {
    let mut hand = Hand::new();
    let challenge = hand.challenge(OTHER);
    hand.say(OTHER, response(challenge));
    hand.moves();
    // The request of this connection comes late, from the remote's first address.
    let body = offer().body(&[7; 4]);
    let peers = hand.host.peers().count();
    for from in [7, 12] {
        let all = hand.hand(from, &remote::request([hand.remote.nonces[0], 0], &body));
        let cookie = all.iter().find(|(to, _)| *to == from).expect("a cookie");
        let again = remote::request([hand.remote.nonces[0], remote::nonce(&cookie.1)], &body);
        hand.hand(from, &again);
    }
    let connected = |event: &Event<u8>| matches!(event, Event::Connected { .. });
    let told: Vec<_> = core::iter::from_fn(|| hand.host.poll_event()).collect();
    assert!(!told.iter().any(connected), "{told:?}");
    let live = hand
        .host
        .peers()
        .filter(|(_, peer)| peer.state() == PeerState::Connected);
    assert_eq!((live.count(), peers), (1, 1));
}
