//! What offers may say and need not.
//!
//! Greetings, how long silence may last, and that the connection is to be sealed.

use core::time::Duration;

use porous_proto::{DisconnectReason, Disposition, PeerState, Refusal};
use porous_tests::config::is_sealed;
use porous_tests::encoder::{self, Offer, parameter};
use porous_tests::remote;

use crate::forge::{STATELESS, acknowledgement, cookie, first, id_of, is_malformed};
use crate::peers::pong;
use crate::scene::{ENEMY, STRANGER, Scene, case, case_of_many, config, offer};

const SECOND: Duration = Duration::from_secs(1);

/// The longest greeting.
const LONG: [u8; 255] = [b'g'; 255];

/// The body of a request with this behind its offer.
fn body(nonce: u64, more: &[u8]) -> Vec<u8> {
    [offer().body(&id_of(nonce)), more.to_vec()].concat()
}

/// A request with a greeting.
fn greets(nonces: [u64; 2], greeting: &[u8]) -> Vec<u8> {
    remote::request(nonces, &body(nonces[0], &parameter(14, greeting)))
}

/// Asks for a cookie by a request with a greeting: what it is.
fn ask(scene: &mut Scene, from: u32, nonce: u64, greeting: &[u8]) -> u64 {
    assert_eq!(
        scene.deliver(from, &greets([nonce, 0], greeting)),
        STATELESS
    );
    let (to, answer) = scene.said.last().unwrap();
    assert_eq!((*to, answer[0]), (from, 0xC1), "no cookie");
    remote::nonce(answer)
}

/// Comes in with a greeting.
fn enter(scene: &mut Scene, from: u32, nonce: u64, greeting: &[u8]) -> [u64; 2] {
    let nonces = [nonce, ask(scene, from, nonce, greeting)];
    let taken = scene.deliver(from, &greets(nonces, greeting));
    assert!(matches!(taken, Disposition::Accepted(_)), "{taken:?}");
    scene.trust(from);
    nonces
}

/// `[X1 X12]` What is optional is refused if it is out of its range, there twice, or out of its order.
#[test]
fn optional_parameters_that_are_wrong_are_refused() {
    case(|scene| {
        let (mtu, seal) = (parameter(11, &[0xFF; 2]), parameter(12, &[1]));
        let (timeout, greeting) = (parameter(13, &[1, 0, 0, 0]), parameter(14, b"hi"));
        let bad = [
            parameter(12, &[]),
            parameter(12, &[0]),
            parameter(12, &[1, 0]),
            parameter(12, &[2, 2]),
            parameter(12, &[1, 2, 3, 4, 5]),
            parameter(13, &[]),
            parameter(13, &[0; 4]),
            parameter(13, &[1, 0, 0]),
            parameter(13, &[1, 0, 0, 0, 0]),
            parameter(14, &[]),
            vec![14],
            vec![14, 9, b'x'],
            vec![200, 255, b'x'],
            [&seal[..], &mtu].concat(),
            [&timeout[..], &seal].concat(),
            [&greeting[..], &timeout].concat(),
            [parameter(200, &[]), greeting.clone()].concat(),
            [parameter(200, &[]), parameter(199, &[])].concat(),
            [&seal[..], &seal].concat(),
            [&timeout[..], &timeout].concat(),
            [&greeting[..], &greeting].concat(),
            [parameter(200, &[]), parameter(200, &[])].concat(),
        ];
        for more in bad {
            let taken = scene.deliver(STRANGER, &remote::request([9, 0], &body(9, &more)));
            assert!(is_malformed(taken), "{more:?}: {taken:?}");
        }
        assert_eq!(scene.said, []);
        let good = [mtu, timeout, greeting, parameter(200, &[7; 9])].concat();
        let taken = scene.deliver(STRANGER, &remote::request([9, 0], &body(9, &good)));
        assert_eq!((taken, scene.said[0].1[0]), (STATELESS, 0xC1));
    });
}

/// `[X1 X12]` A greeting has no place in the answer of a listener, nor in an acknowledgement.
#[test]
fn answers_that_greet_are_refused() {
    case(|scene| {
        let ours = scene.attempt().nonces[1];
        let long = |byte0, id: &[u8]| {
            let body = [offer().body(id), parameter(14, b"hi")].concat();
            encoder::long(byte0, encoder::VERSION, [9, ours], &body)
        };
        for form in [long(0xC1, &[]), long(0xD0, &id_of(9))] {
            scene.shrugs(ENEMY, &form);
        }
        assert_eq!(scene.state(ENEMY), Some(PeerState::Connecting));
        // Without it both are what they should be.
        scene.deliver(ENEMY, &cookie([9, ours], &offer()));
        scene.deliver(ENEMY, &acknowledgement([9, ours], &offer()));
        assert_eq!(scene.state(ENEMY), Some(PeerState::Connected));
    });
}

/// `[X1 R1 R2]` Ten thousand strangers with the longest greetings leave nothing behind. D12.
#[test]
fn greetings_of_strangers_are_forgotten() {
    case(|scene| {
        for n in 0..10_000 {
            scene.now = scene.now + Duration::from_micros(200);
            let taken = scene.deliver(STRANGER + n, &greets([n.into(), 0].map(|n| n + 1), &LONG));
            assert!(matches!(taken, Disposition::Ignored(_)), "{taken:?}");
            scene.said.clear();
        }
        assert_eq!(scene.others(), 0);
    });
}

/// `[R3 R4]` A peer's greeting is kept for as long as the peer, and no longer.
#[test]
fn greetings_are_kept_as_long_as_their_peers() {
    case(|scene| {
        for n in 1..=100 {
            scene.now = scene.now + Duration::from_millis(60);
            let nonces = enter(scene, STRANGER + n, u64::from(n) + 100, &LONG);
            let (_, peer) = scene.host.host.peers().last().unwrap();
            assert_eq!(peer.greeting(), LONG);
            scene.deliver(STRANGER + n, &crate::forge::disconnection(nonces));
            assert!(scene.others() <= 16, "{}", scene.others());
        }
    });
}

/// `[X3]` A cookie covers the greeting: with another one it is worth nothing. D12.
#[test]
fn a_greeting_that_was_changed_makes_no_peer() {
    case(|scene| {
        let nonces = [9, ask(scene, STRANGER, 9, b"Ada")];
        for other in [&b"Eve"[..], b"Ad", b"Ada!"] {
            scene.pass(SECOND);
            assert_eq!(scene.deliver(STRANGER, &greets(nonces, other)), STATELESS);
        }
        let without = remote::request(nonces, &body(9, &[]));
        assert_eq!(scene.deliver(STRANGER, &without), STATELESS);
        scene.pass(SECOND);
        let more = [parameter(14, b"Ada"), parameter(99, b"!")].concat();
        let with_more = remote::request(nonces, &body(9, &more));
        assert_eq!(scene.deliver(STRANGER, &with_more), STATELESS);
        assert_eq!(scene.others(), 0);
        let taken = scene.deliver(STRANGER, &greets(nonces, b"Ada"));
        assert!(matches!(taken, Disposition::Accepted(_)), "{taken:?}");
        scene.trust(STRANGER);
    });
}

/// `[R1 R2]` Of the requests with greetings from the sought host's address four are remembered.
#[test]
fn an_attempt_remembers_four_greetings() {
    case(|scene| {
        scene.attempt();
        for n in 1..=100 {
            let taken = scene.deliver(ENEMY, &greets([n, 0], &LONG));
            assert!(matches!(taken, Disposition::Handled(_)), "{taken:?}");
        }
    });
}

/// `[X1 R21]` A request for sealing is refused, whatever else it says and proves, and nothing is kept of
/// it. A request for another application is told which one this is. D14.
#[test]
fn a_request_for_sealing_is_refused_in_few_bytes() {
    if is_sealed() {
        return; // it is not refused
    }
    case(|scene| {
        let sealed = Offer {
            sealed: &[2, 1],
            ..offer()
        };
        for (address, nonces) in (STRANGER..).zip([[9, 0], [9, 1], [9, u64::MAX]]) {
            let request = remote::request(nonces, &sealed.body(&id_of(9)));
            assert_eq!(scene.deliver(address, &request), STATELESS);
            let said = scene.said_to(address);
            assert_eq!((said.len(), said[0].len(), said[0][23]), (1, 29, 4));
        }
        // A cookie that was given for the plain request is worth nothing here.
        let nonces = [9, scene.ask(ENEMY, 9, &offer())];
        let request = remote::request(nonces, &sealed.body(&id_of(9)));
        assert_eq!(scene.deliver(ENEMY, &request), STATELESS);
        assert_eq!(scene.said_to(ENEMY)[1][23], 4);
        let strange = Offer {
            application: 7,
            ..sealed
        };
        assert_eq!(scene.deliver(ENEMY, &first(9, &strange)), STATELESS);
        assert_eq!(scene.said_to(ENEMY)[2][23], 1);
        assert_eq!(scene.others(), 0);
    });
}

/// `[X7 B3]` A request for sealing ends no attempt of ours; its sender is told. A listener that could
/// seal is connected to in plain, as it did not refuse. D14.
#[test]
fn a_listener_that_could_seal_and_gives_a_cookie_is_connected_in_plain() {
    if is_sealed() {
        return; // the host seals as well
    }
    case(|scene| {
        let ours = scene.attempt().nonces[1];
        let sealed = Offer {
            sealed: &[1],
            ..offer()
        };
        assert_eq!(scene.deliver(ENEMY, &first(9, &sealed)), STATELESS);
        assert_eq!(scene.said_to(ENEMY).last().unwrap()[23], 4);
        assert_eq!(scene.state(ENEMY), Some(PeerState::Connecting));
        scene.deliver(ENEMY, &cookie([10, ours], &sealed));
        scene.deliver(ENEMY, &acknowledgement([10, ours], &sealed));
        assert_eq!(scene.state(ENEMY), Some(PeerState::Connected));
    });
}

/// `[X7]` A refusal because of security ends the attempt that it names, and says so. D14.
#[test]
fn a_refusal_because_of_security_says_so() {
    case(|scene| {
        let ours = scene.attempt().nonces[1];
        let refusal = |nonce, body: &[u8]| encoder::long(0xE0, encoder::VERSION, [0, nonce], body);
        scene.shrugs(ENEMY, &refusal(ours ^ 1, &[4, 1, 0, 0, 0, 0]));
        scene.shrugs(ENEMY, &refusal(ours, &[4, 1, 0, 0, 0, 1, 7]));
        scene.shrugs(
            ENEMY,
            &refusal(ours, &[1, 1, 0, 0, 0, 7, 1, 2, 3, 4, 5, 6, 7]),
        );
        scene.deliver(ENEMY, &refusal(ours, &[4, 1, 0, 0, 0, 0]));
        assert_eq!(scene.ends(), [DisconnectReason::Refused(Refusal::Security)]);
    });
}

/// The pings that the enemy is sent in 20 s after the first, if it answers each and says nothing else.
fn pings(scene: &mut Scene, offer: &Offer) -> usize {
    let mut enemy = scene.settle(ENEMY, 9, offer);
    let mut count = 0;
    let answers = |scene: &mut Scene, enemy: &mut _, time, count: &mut usize| {
        scene.live(enemy, time, |scene, enemy, heard| {
            for (subtype, data) in heard.iter().flat_map(|heard| &heard.controls) {
                if *subtype == 1 {
                    *count += 1;
                    let ack = scene.acknowledgement(enemy);
                    let id = u16::from_le_bytes([data[0], data[1]]);
                    scene.send(enemy, Some(ack), vec![pong(id)]);
                }
            }
        });
    };
    answers(scene, &mut enemy, 5 * SECOND, &mut count);
    count = 0;
    answers(scene, &mut enemy, 20 * SECOND, &mut count);
    assert_eq!(scene.state(ENEMY), Some(PeerState::Connected));
    count
}

/// `[X10 R15]` A host whose timeout is next to nothing is pinged ten times a second, and not more often;
/// one with a long timeout, or that does not say, as often as the host's own timeout wants. It never pings, so
/// that a host with the modern policy waits a quarter longer each time. D13.
#[test]
fn a_peer_with_the_shortest_timeout_gets_ten_pings_a_second() {
    let paper = porous_tests::config::by_policy(false, true);
    case_of_many(|scenes| {
        for (timeout, modern, papers) in [
            (None, 6..=7, 19..=21),
            (Some(u32::MAX), 6..=7, 19..=21),
            (Some(4000), 15..=17, 48..=51),
            (Some(1), 155..=165, 190..=201),
        ] {
            let expected = if paper { papers } else { modern };
            scenes.attack(config(), |scene| {
                let count = pings(scene, &Offer { timeout, ..offer() });
                assert!(expected.contains(&count), "{timeout:?}: {count}");
            });
        }
    });
}
