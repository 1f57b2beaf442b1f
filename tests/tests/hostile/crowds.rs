//! Floods of everything that strangers can send.

use core::time::Duration;

use porous_proto::{Disposition, Ecn, Ignored, PeerState};
use porous_sim::rand_core::Rng;
use porous_tests::encoder;

use crate::forge::{
    STATELESS, TOO_MUCH, acknowledgement, chance, cookie, disconnection, farewell, first, refusal,
    reset, second,
};
use crate::guest::Guest;
use crate::scene::{ENEMY, FRIEND, STRANGER, Scene, case, offer};

const SECOND: Duration = Duration::from_secs(1);
const MICROSECOND: Duration = Duration::from_micros(1);

/// The friend and a guest that comes now talk within three seconds of flood, which sends `rate`
/// datagrams a second from as many addresses as it likes.
fn guest_in_a_flood(scene: &mut Scene, rate: u32, mut flood: impl FnMut(u32) -> (u32, Vec<u8>)) {
    let mut guest = Guest::arrive(scene, 3);
    for n in 0..3 * rate {
        scene.now = scene.now + SECOND / rate;
        let (from, datagram) = flood(n);
        let taken = scene.deliver(from, &datagram);
        assert!(matches!(taken, Disposition::Ignored(_)), "{taken:?}");
        if n % 100 == 0 {
            guest.meet(scene);
            scene.pass(Duration::ZERO);
        }
    }
    assert!(guest.is_connected(), "not within three seconds");
    guest.leave(scene);
}

/// Datagrams and bytes that the host sent, and those that came.
fn said(scene: &Scene) -> (usize, usize) {
    let bytes = scene.said.iter().map(|(_, said)| said.len()).sum();
    (scene.said.len(), bytes)
}

/// `[X1 X2 R2 R21]` 100,000 requests from as many addresses in three seconds take no memory, get
/// back a thirtieth of their bytes, and keep no honest client out.
#[test]
fn requests_from_everywhere_keep_nobody_out() {
    case(|scene| {
        let request = first(9, &offer());
        guest_in_a_flood(scene, 33_333, |n| (STRANGER + n, request.clone()));
        let (count, bytes) = said(scene);
        assert!(count <= 65_100, "{count} answers, 5000 and 20,000 a second");
        assert!(bytes * 20 < 100_000 * request.len(), "{bytes}");
    });
}

/// `[X1 R2]` Such a flood alone makes the host allocate nothing at all.
#[test]
fn requests_from_everywhere_allocate_nothing() {
    case(|scene| {
        let request = first(9, &offer());
        for n in 0..100_000 {
            scene.now = scene.now + MICROSECOND;
            scene.deliver(STRANGER + n, &request);
        }
        let all = scene.host.host.stats();
        assert_eq!(all.ignored(Ignored::Stateless), 1 + scene.said.len() as u64);
        assert!(scene.said.len() <= 5000 + 2001, "{}", scene.said.len());
        // The bounds of the case could be rewritten; its name promises this.
        assert_eq!(scene.host.cost().bytes, 0);
    });
}

/// `[X2 R2]` 10,000 requests from one address get 20 answers a second, and others are heard.
#[test]
fn requests_from_one_address_keep_nobody_out() {
    case(|scene| {
        let request = first(9, &offer());
        guest_in_a_flood(scene, 3333, |_| (STRANGER, request.clone()));
        let count = scene.said_to(STRANGER).len();
        assert!(
            (60..=66).contains(&count),
            "{count} answers in three seconds"
        );
    });
}

/// `[X2 R2]` 20,000 requests a second from a hundred ports of a machine keep no honest client out.
#[test]
fn requests_from_many_ports_keep_nobody_out() {
    case(|scene| {
        let request = first(9, &offer());
        guest_in_a_flood(scene, 20_000, |n| (STRANGER + n % 100, request.clone()));
        let (count, _) = said(scene);
        assert!(count < 100 * 66 + 10, "{count}");
    });
}

/// `[X2 X3]` Neither do second requests with cookies that no host ever gave.
#[test]
fn requests_with_made_up_cookies_keep_nobody_out() {
    case(|scene| {
        let mut chance = chance("cookies");
        guest_in_a_flood(scene, 10_000, |n| {
            (STRANGER + n, second([9, chance.next_u64()], &offer()))
        });
        assert_eq!(scene.others(), 1, "the guest has left");
    });
}

/// `[X2 R2 R21]` Frames of no connection from everywhere get 2000 resets a second, and keep no client out.
#[test]
fn frames_from_everywhere_keep_nobody_out() {
    case(|scene| {
        let mut chance = chance("frames");
        guest_in_a_flood(scene, 20_000, |n| {
            let mut frame = vec![0x40, 0, 0, 0, 0, 0];
            chance.fill_bytes(&mut frame[1..]);
            (STRANGER + n, frame)
        });
        let resets = scene.said.iter().filter(|(_, said)| said[0] == 0xF2);
        let count = resets.count();
        assert!((5000..=6600).contains(&count), "{count} resets");
    });
}

/// `[R2 R21]` Frames of no connection from one address get 20 resets a second, and do not use up the
/// answers that its requests get.
#[test]
fn frames_from_an_address_do_not_keep_it_out() {
    case(|scene| {
        for n in 0..10_000_u32 {
            scene.now = scene.now + SECOND / 10_000;
            let frame = [&[0x40], &n.to_le_bytes()[..], &[0]].concat();
            scene.deliver(STRANGER, &frame);
        }
        let resets = scene.said_to(STRANGER).len();
        assert!((20..=26).contains(&resets), "{resets} in a second");
        scene.settle(STRANGER, 9, &offer());
    });
}

/// `[X16 R21]` Long forms that no attempt waits for get no answer, however many come.
#[test]
fn long_forms_that_nobody_waits_for_get_no_answer() {
    case(|scene| {
        let mut chance = chance("forms");
        for n in 0..10_000 {
            let nonces = [chance.next_u64() | 1, chance.next_u64() | 1];
            let forms = [
                cookie(nonces, &offer()),
                acknowledgement(nonces, &offer()),
                refusal(nonces[1]),
                disconnection(nonces),
                farewell(nonces),
                reset(&nonces[0].to_le_bytes()),
            ];
            for from in [STRANGER + n, FRIEND] {
                for form in &forms {
                    let taken = scene.deliver(from, form);
                    assert!(matches!(taken, Disposition::Ignored(_)), "{taken:?}");
                }
            }
        }
        assert_eq!(scene.said, []);
    });
}

/// `[X17 X24]` Random bytes, of every length, make no peer and are hardly ever answered.
#[test]
fn garbage_of_every_length_is_nothing() {
    case(|scene| {
        let mut chance = chance("garbage");
        let heads = [
            0x00, 0x3F, 0x40, 0x7F, 0x80, 0xC0, 0xC1, 0xD0, 0xE0, 0xF0, 0xF1, 0xF2, 0xFF,
        ];
        for len in (0..1500).chain([9000, 65_507]) {
            for head in heads {
                let mut garbage = vec![0; len];
                chance.fill_bytes(&mut garbage);
                if let Some(first) = garbage.first_mut() {
                    *first = head;
                }
                for from in [STRANGER, FRIEND] {
                    let taken = scene.deliver(from, &garbage);
                    assert!(matches!(taken, Disposition::Ignored(_)), "{taken:?}");
                }
            }
        }
        assert!(scene.said.len() <= 10, "{}", scene.said.len());
    });
}

/// `[X17]` An empty datagram and each datagram of one byte are malformed.
#[test]
fn the_shortest_datagrams_are_nothing() {
    case(|scene| {
        for from in [STRANGER, FRIEND] {
            scene.shrugs(from, &[]);
            for byte in 0..=255 {
                scene.shrugs(from, &[byte]);
            }
        }
    });
}

/// `[R2 R21]` A driver that does not send lets a thousand answers wait, and no more.
#[test]
fn a_thousand_answers_may_wait() {
    case(|scene| {
        let request = first(9, &offer());
        let (now, mut answered) = (scene.now, 0);
        for n in 0..5000 {
            let from = STRANGER + n;
            let taken = scene
                .host
                .call(|host| host.handle_datagram(now, from, Ecn::NotEct, &request));
            answered += u32::from(taken == STATELESS);
            assert_eq!(taken == STATELESS, n < 1024, "{n}: {taken:?}");
            assert!(taken == STATELESS || taken == TOO_MUCH);
            scene.trust(from);
        }
        scene.flush();
        assert_eq!((answered, scene.said.len()), (1024, 1024));
        scene.tables = 1024 * 96;
    });
}

/// `[R21 X16]` Two hosts that get every kind of datagram in each other's name send each other little.
#[test]
fn two_hosts_do_not_keep_each_other_busy() {
    case(|scene| {
        let mut other = Guest::idle(3);
        let mut seeds = vec![
            first(9, &offer()),
            second([9, 9], &offer()),
            cookie([9, 9], &offer()),
            acknowledgement([9, 9], &offer()),
            refusal(9),
            disconnection([9, 9]),
            farewell([9, 9]),
            reset(&[9; 4]),
            vec![0x40, 9, 9, 9, 9, 9],
            vec![0xC0; 1200],
        ];
        seeds.push({
            let mut probe = encoder::long(0xC0, 2, [9, 0], &[]);
            probe.resize(1200, 0);
            probe
        });
        for seed in seeds {
            scene.said.clear();
            scene.trust(other.address());
            scene.deliver(other.address(), &seed);
            other.hear_from_nobody(scene, &seed);
            for _ in 0..100 {
                other.meet(scene);
            }
            assert!(
                scene.said.len() <= 2,
                "{} about {:02x?}",
                scene.said.len(),
                &seed[..1]
            );
        }
        assert_eq!(scene.others(), 0);
    });
}

/// `[X2 X16]` A peer that floods with what strangers send is answered as a stranger is.
#[test]
fn a_peer_that_floods_gets_no_more_than_a_stranger() {
    case(|scene| {
        scene.settle(ENEMY, 1, &offer());
        scene.said.clear();
        for n in 2..10_002 {
            scene.now = scene.now + SECOND / 10_000;
            scene.deliver(ENEMY, &first(n, &offer()));
        }
        let cookies = scene.said_to(ENEMY).len();
        assert!((20..=27).contains(&cookies), "{cookies} in a second");
        assert_eq!(scene.states(ENEMY), [PeerState::Connected]);
    });
}
