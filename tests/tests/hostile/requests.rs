//! Requests of strangers: padding, cookies, versions.

use core::time::Duration;

use porous_proto::{Disposition, Ignored};
use porous_tests::encoder::{self, Offer};
use porous_tests::remote::{nonce, request};

use crate::forge::{
    NOBODY, NUMBERS, STATELESS, TOO_MUCH, UNPADDED, acknowledgement, cookie, first, id_of,
    is_malformed, second,
};
use crate::scene::{STRANGER, case, offer};

const SECOND: Duration = Duration::from_secs(1);

/// `[X1 R1 R2]` A request without a cookie gets one, and nothing is kept of it.
#[test]
fn a_request_without_a_cookie_is_forgotten() {
    case(|scene| {
        let request = request([9, 0], &offer().body(&[9; 4]));
        let taken = scene.deliver(STRANGER, &request);
        assert_eq!(taken, Disposition::Ignored(Ignored::Stateless));
        assert!(scene.said[0].1.len() * 4 <= request.len());
        assert_eq!(scene.state(STRANGER), None);
    });
}

/// `[X1 R21]` Only a request of 1200 bytes and more is answered, by a quarter of that at most.
#[test]
fn what_is_not_padded_is_not_answered() {
    case(|scene| {
        let plain = encoder::long(0xC0, encoder::VERSION, [9, 0], &offer().body(&[9; 4]));
        for (address, len) in (STRANGER..).zip([plain.len(), 600, 1198, 1199]) {
            let mut datagram = plain.clone();
            datagram.resize(len, 0);
            assert_eq!(scene.deliver(address, &datagram), UNPADDED, "{len}");
        }
        assert_eq!(scene.said, []);
        for (address, len) in (STRANGER..).zip([1200, 1201, 1472, 65_507]) {
            let mut datagram = plain.clone();
            datagram.resize(len, 0);
            assert_eq!(scene.deliver(address, &datagram), STATELESS, "{len}");
        }
        assert_eq!(scene.said.len(), 4);
    });
}

/// `[X3]` A cookie that the host never gave is worth a fresh one.
#[test]
fn a_cookie_that_was_made_up_is_worth_a_fresh_one() {
    case(|scene| {
        let invented = [1, 2, 1 << 62, 2 << 62, 3 << 62, u64::MAX, 0x1234_5678_9ABC];
        for (address, cookie) in (STRANGER..).zip(invented) {
            let taken = scene.deliver(address, &second([9, cookie], &offer()));
            assert_eq!(taken, STATELESS, "{cookie:x}");
        }
        let fresh = |(_, said): &(u32, Vec<u8>)| said[0] == 0xC1;
        assert!(scene.said.len() == invented.len() && scene.said.iter().all(fresh));
        assert_eq!(scene.others(), 0);
    });
}

/// `[X3]` A cookie is of no use at another address.
#[test]
fn a_cookie_of_another_address_makes_no_peer() {
    case(|scene| {
        let request = scene.prove(STRANGER, 9, &offer());
        for thief in [STRANGER + 1, STRANGER ^ 1 << 31, 0, u32::MAX] {
            assert_eq!(scene.deliver(thief, &request), STATELESS);
            assert_eq!(scene.state(thief), None);
        }
        assert_eq!(scene.others(), 0);
    });
}

/// `[X3]` A cookie is of no use for another request than the one it was given for.
#[test]
fn a_cookie_of_another_request_makes_no_peer() {
    case(|scene| {
        let cookie = scene.ask(STRANGER, 9, &offer());
        scene.pass(SECOND);
        let others = [
            Offer {
                packet: 65_535,
                ..offer()
            },
            Offer {
                budget: u32::MAX,
                ..offer()
            },
            Offer {
                extensions: 1,
                ..offer()
            },
            Offer {
                channels: 3,
                ..offer()
            },
        ];
        for other in others {
            assert_eq!(
                scene.deliver(STRANGER, &second([9, cookie], &other)),
                STATELESS
            );
        }
        scene.pass(SECOND);
        let other_nonce = second([10, cookie], &offer());
        assert_eq!(scene.deliver(STRANGER, &other_nonce), STATELESS);
        let other_id = request([9, cookie], &offer().body(&[8; 4]));
        assert_eq!(scene.deliver(STRANGER, &other_id), STATELESS);
        assert_eq!(scene.others(), 0);
    });
}

/// `[X3 X24]` With any bit flipped in it, a request that has its cookie makes no peer.
#[test]
fn a_proved_request_with_a_flipped_bit_makes_no_peer() {
    case(|scene| {
        let nonces = [9, scene.ask(STRANGER, 9, &offer())];
        let request = request(nonces, &offer().body(&id_of(9)));
        for bit in 0..8 * request.len() {
            scene.now = scene.now + Duration::from_millis(1);
            let mut other = request.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            let taken = scene.deliver(STRANGER, &other);
            assert!(matches!(taken, Disposition::Ignored(_)), "{bit}: {taken:?}");
        }
        assert_eq!(scene.others(), 0);
        let taken = scene.deliver(STRANGER, &request);
        assert!(matches!(taken, Disposition::Accepted(_)), "{taken:?}");
        scene.trust(STRANGER);
    });
}

/// `[X3]` A cookie is taken for 15 s at least, and for 30 s at most.
#[test]
fn a_cookie_expires() {
    case(|scene| {
        for (address, age, lives) in [
            (STRANGER, 0, true),
            (STRANGER + 1, 15_000, true),
            (STRANGER + 2, 30_001, false),
            (STRANGER + 3, 45_000, false),
            (STRANGER + 4, 60_000, false),
            (STRANGER + 5, 600_000, false),
        ] {
            let request = scene.prove(address, u64::from(address), &offer());
            scene.pass(Duration::from_millis(age));
            let taken = scene.deliver(address, &request);
            let is_taken = matches!(taken, Disposition::Accepted(_));
            assert_eq!(is_taken, lives, "{age} ms: {taken:?}");
            if lives {
                scene.trust(address);
            }
        }
    });
}

/// `[X3 X16]` A request with a cookie makes one peer, however often it comes.
#[test]
fn a_cookie_that_is_used_again_makes_no_second_peer() {
    case(|scene| {
        let request = scene.prove(STRANGER, 9, &offer());
        let taken = scene.deliver(STRANGER, &request);
        assert!(matches!(taken, Disposition::Accepted(_)), "{taken:?}");
        for _ in 0..1000 {
            let taken = scene.deliver(STRANGER, &request);
            assert!(matches!(taken, Disposition::Handled(_)), "{taken:?}");
        }
        assert_eq!(scene.others(), 1);
        scene.trust(STRANGER);
    });
}

/// `[X3 R4]` A request whose connection has ended is told so while its cookie lives, and later gets
/// a fresh cookie.
#[test]
fn a_cookie_of_a_connection_that_has_ended_makes_no_second_peer() {
    case(|scene| {
        let enemy = scene.join(STRANGER, 9, &offer());
        let bye = crate::forge::disconnection(enemy.nonces);
        scene.deliver(STRANGER, &bye);
        let request = second(enemy.nonces, &offer());
        for _ in 0..60 {
            scene.pass(SECOND / 2);
            let taken = scene.deliver(STRANGER, &request);
            assert!(!matches!(taken, Disposition::Accepted(_)), "{taken:?}");
        }
        scene.pass(SECOND);
        assert_eq!(scene.deliver(STRANGER, &request), STATELESS);
        assert_eq!(scene.others(), 0);
    });
}

/// `[X1]` What listeners say is no request: two of them do not talk.
#[test]
fn a_cookie_that_comes_to_a_listener_is_not_answered() {
    case(|scene| {
        for nonces in [[9, 9], [1, u64::MAX], [u64::MAX, 1]] {
            let mut datagram = cookie(nonces, &offer());
            assert_eq!(scene.deliver(STRANGER, &datagram), NOBODY);
            datagram.resize(1200, 0);
            assert_eq!(scene.deliver(STRANGER, &datagram), NOBODY);
        }
        assert_eq!(scene.said, []);
    });
}

/// `[X1 R21]` A request of another version is refused once, if it is padded and names its sender.
#[test]
fn a_request_of_another_version_is_refused_if_it_can_be() {
    case(|scene| {
        let others = NUMBERS.into_iter().filter(|&it| it != encoder::VERSION);
        for (address, version) in (STRANGER..).zip(others) {
            let mut datagram = encoder::long(0xC0, version, [9, 0], &[]);
            assert_eq!(scene.deliver(address, &datagram), UNPADDED, "{version}");
            datagram.resize(1200, 0xEE);
            assert_eq!(scene.deliver(address, &datagram), STATELESS, "{version}");
            let answer = &scene.said_to(address)[0];
            assert_eq!((answer[0], answer.len()), (0xE0, 29));
            datagram[7..15].fill(0);
            let taken = scene.deliver(address, &datagram);
            assert!(is_malformed(taken), "nobody asks for {version}: {taken:?}");
            assert_eq!(scene.said_to(address).len(), 1);
        }
    });
}

/// `[X1 X2]` Requests of other versions are answered as seldom as all others.
#[test]
fn probes_for_versions_get_few_answers() {
    case(|scene| {
        let probes = (2..1002).map(|version| request_of(version, 9));
        let taken: Vec<_> = probes
            .map(|probe| scene.deliver(STRANGER, &probe))
            .collect();
        assert_eq!(scene.said.len(), 5, "a quarter of a second's worth");
        assert!(taken[5..].iter().all(|&taken| taken == TOO_MUCH));
    });
}

fn request_of(version: u32, nonce: u64) -> Vec<u8> {
    let mut datagram = first(nonce, &offer());
    datagram[3..7].copy_from_slice(&version.to_le_bytes());
    datagram
}

/// `[X1]` Whatever nonce a request has, but 0, its answer names it.
#[test]
fn a_request_needs_a_nonce() {
    case(|scene| {
        for (address, n) in (STRANGER..).zip([1, 1 << 31, 1 << 32, 1 << 63, u64::MAX]) {
            assert_eq!(scene.deliver(address, &first(n, &offer())), STATELESS);
            assert_eq!(scene.said_to(address)[0][15..23], n.to_le_bytes());
        }
        let count = scene.said.len();
        for nonces in [[0, 0], [0, 1], [0, u64::MAX]] {
            let datagram = request(nonces, &offer().body(&[9; 4]));
            assert!(is_malformed(scene.deliver(STRANGER + 9, &datagram)));
        }
        assert_eq!(scene.said.len(), count);
    });
}

/// `[X1 X12]` An acknowledgement in front of a request does not make it a better one.
#[test]
fn an_acknowledgement_in_front_changes_nothing() {
    case(|scene| {
        for (address, nonces) in (STRANGER..).zip([[9, 1], [1, 9], [9, u64::MAX]]) {
            let mut datagram = acknowledgement(nonces, &offer());
            assert_eq!(scene.deliver(address, &datagram), NOBODY);
            datagram.extend(first(9, &offer()));
            assert_eq!(scene.deliver(address, &datagram), STATELESS);
            assert_eq!(scene.said_to(address).len(), 1);
            assert_ne!(nonce(scene.said_to(address)[0]), nonces[1]);
        }
        let mut twice = acknowledgement([9, 1], &offer());
        twice.extend(acknowledgement([9, 1], &offer()));
        assert!(is_malformed(scene.deliver(STRANGER + 9, &twice)));
        assert_eq!(scene.others(), 0);
    });
}

/// `[X1]` Reserved flags of a request are refused, padding that is not zero too.
#[test]
fn a_request_with_reserved_bits_is_refused() {
    case(|scene| {
        for byte0 in 0xC2..=0xCF {
            let mut datagram = first(9, &offer());
            datagram[0] = byte0;
            assert!(
                is_malformed(scene.deliver(STRANGER, &datagram)),
                "{byte0:x}"
            );
        }
        let end = encoder::long(0xC0, encoder::VERSION, [9, 0], &offer().body(&[9; 4])).len();
        for at in end..1200 {
            let mut datagram = first(9, &offer());
            datagram[at] = 1 << (at % 8);
            assert!(is_malformed(scene.deliver(STRANGER, &datagram)), "{at}");
        }
        assert_eq!(scene.said, []);
    });
}
