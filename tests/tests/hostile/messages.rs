//! Messages that are too many, of kinds that do not exist, or that end too early.

use core::time::Duration;

use porous_proto::{Disposition, Ignored, Malformed, Mode};
use porous_tests::config::by_policy;
use porous_tests::encoder::Message;

use crate::peers::{
    BAD, R, RELIABLE, UNRELIABLE, assert_taken, challenge, limits, malformed, noop, packet, ping,
};
use crate::scene::{ENEMY, case};

/// `[R17]` 128 messages are taken, 129 are not, and neither are as many as a datagram holds.
#[test]
fn a_datagram_has_at_most_128_messages() {
    case(|scene| {
        let mut enemy = scene.enemy();
        for (count, is_good) in [(127_u32, true), (128, true), (129, false), (590, false)] {
            let packets = |n: u32| Message::from(packet(UNRELIABLE, 0, n & 0xFF, 0));
            for all in [
                (0..count).map(|_| noop()).collect::<Vec<_>>(),
                (0..count).map(packets).collect(),
            ] {
                let taken = scene.send(&mut enemy, None, all);
                if is_good {
                    assert_taken(taken);
                } else {
                    assert_eq!(taken, malformed(Malformed::TooManyMessages), "{count}");
                }
            }
        }
        assert_eq!(scene.read(ENEMY), 128);
    });
}

/// `[R17 X17]` 128 noops in each of a thousand datagrams: each is acknowledged, once, and that is all.
#[test]
fn noops_by_the_hundred_are_acknowledged_and_forgotten() {
    case(|scene| {
        let mut enemy = scene.enemy();
        for _ in 0..1000 {
            // Faster, and it would be more work than its bytes are worth.
            scene.now = scene.now + Duration::from_millis(3);
            assert_taken(scene.send(&mut enemy, None, vec![noop(); 128]));
        }
        assert!(scene.said.len() <= 1000, "{}", scene.said.len());
    });
}

/// `[X17]` Datagrams without any message: they are no news, and get no answer.
#[test]
fn datagrams_of_nothing_get_no_answer() {
    case(|scene| {
        let mut enemy = scene.enemy();
        for _ in 0..1000 {
            assert_taken(scene.send(&mut enemy, None, vec![]));
        }
        assert_eq!(scene.said.len(), 0);
    });
}

/// `[X17]` Packets without bytes of each mode, alone and as the last of many: they are packets.
#[test]
fn packets_of_nothing_are_delivered() {
    case(|scene| {
        let mut enemy = scene.enemy();
        for id in 0..100 {
            let modes = (0..3).map(|mode| packet(mode, mode, id, 0).into());
            assert_taken(scene.send(&mut enemy, None, modes.collect()));
            assert_eq!(scene.read(ENEMY), 3);
        }
    });
}

/// `[R13 X20]` The last channel, the one beyond, and the last number of all: in packets, and in each kind
/// of signalling that names one.
#[test]
fn channels_that_there_are_not() {
    case(|scene| {
        let mut enemy = scene.enemy();
        for (channel, is_good) in [
            (3, true),
            (4, false),
            (127, false),
            (128, false),
            (255, false),
        ] {
            for message in [
                packet(UNRELIABLE, channel, 1, 5).into(),
                packet(RELIABLE, channel, 2, 5).part(256, 261).into(),
                crate::peers::window(channel, u32::MAX),
                crate::peers::sentinel(channel, 31, 0),
                crate::peers::tombstone(channel, 40, 0),
            ] {
                let taken = scene.send(&mut enemy, None, vec![message.clone()]);
                if is_good {
                    assert_taken(taken);
                } else {
                    assert_eq!(taken, BAD, "{message:?}");
                }
            }
        }
    });
}

/// `[R13]` The enemy has offered fewer channels than the host has: those count, and the host cannot use more.
#[test]
fn the_smaller_number_of_channels_counts() {
    case(|scene| {
        let mut offer = crate::scene::offer();
        offer.channels = 2;
        let mut enemy = scene.enemy_at(ENEMY, &offer);
        for (channel, is_good) in [(0, true), (1, true), (2, false), (3, false)] {
            let message = packet(UNRELIABLE, channel, 0, 5).into();
            let taken = scene.send(&mut enemy, None, vec![message]);
            assert_eq!(
                matches!(taken, Disposition::Handled(_)),
                is_good,
                "{channel}"
            );
            assert_eq!(scene.queue(channel, Mode::Reliable, 5).is_ok(), is_good);
        }
        assert_eq!(scene.read(ENEMY), 2);
    });
}

/// `[X20]` All heads that a message can have, followed by zeros: kinds and bits that mean nothing are
/// refused, and nothing is left of any.
#[test]
fn all_heads_of_messages() {
    case(|scene| {
        let mut enemy = scene.enemy();
        for head in 0..=255_u8 {
            for len in [0, 1, 2, 5, 20, 100] {
                let rest = [&[head][..], &[0; 100][..len]].concat();
                let taken = scene.send_raw(&mut enemy, 0, &rest);
                let is_kind = head >> 5 < 6 || head == 0xC0;
                assert!(
                    is_kind || !matches!(taken, Disposition::Handled(_)),
                    "{head:x}"
                );
            }
        }
        scene.read(ENEMY);
    });
}

/// `[X20 X12]` Signalling of each number with each length: only what there is, as long as it has to be.
#[test]
fn signalling_of_each_number_and_length() {
    case(|scene| {
        let mut enemy = scene.enemy();
        let lengths = [0, 2, 2, 5, 4, 4, 6, 8, 8, 0, 3, 7, 7];
        for subtype in 0..=255_u8 {
            for len in 0..12 {
                let mut rest = vec![0xC0, subtype];
                // A channel, an id that is marked, no dependency; or a serial and a rate.
                rest.extend(&[0, 31, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0][..len]);
                let taken = scene.send_raw(&mut enemy, 0, &rest);
                let expected = match lengths.get(usize::from(subtype)) {
                    Some(&whole) if len < whole => Some(Malformed::Truncated),
                    Some(_) => None,
                    None => Some(Malformed::UnknownType),
                };
                if let Some(how) = expected {
                    assert_eq!(taken, malformed(how), "{subtype} {len}");
                }
            }
        }
        scene.read(ENEMY);
    });
}

/// `[X20 X22]` Padding of other bytes than zeros, and messages behind it.
#[test]
fn padding_is_zeros_to_the_end() {
    case(|scene| {
        let mut enemy = scene.enemy();
        for len in [0, 1, 2, 100, 1100] {
            assert_taken(scene.send_raw(&mut enemy, 0, &[&[0xC0, 9][..], &vec![0; len]].concat()));
        }
        for at in [0, 1, 50, 99] {
            for byte in [1, 0x80, 0xC0, 0xFF] {
                let mut rest = [0; 102];
                (rest[0], rest[1], rest[2 + at]) = (0xC0, 9, byte);
                let taken = scene.send_raw(&mut enemy, 0, &rest);
                assert_eq!(taken, malformed(Malformed::Reserved), "{at} {byte}");
            }
        }
        assert_eq!(scene.said.len(), 0);
    });
}

/// `[X22 X17]` An acknowledgement is wanted for nothing, or for padding.
#[test]
fn nothing_asks_for_no_acknowledgement() {
    case(|scene| {
        let mut enemy = scene.enemy();
        assert_taken(scene.send_raw(&mut enemy, R, &[0xC0, 0]));
        for rest in [&[][..], &[0xC0, 9], &[0xC0, 9, 0, 0]] {
            let taken = scene.send_raw(&mut enemy, R, rest);
            assert_eq!(taken, malformed(Malformed::NotCanonical), "{rest:?}");
        }
    });
}

/// `[X10 R15]` Limits of nothing are malformed; serials that are old, equal, or half of the numbers ahead
/// change nothing.
#[test]
fn limits_take_effect_in_the_order_of_their_serials() {
    case(|scene| {
        let mut enemy = scene.enemy();
        let taken = scene.send(&mut enemy, None, vec![limits(1, 0)]);
        assert_eq!(taken, malformed(Malformed::BadValue));
        // With a byte a second next to nothing leaves; under the paper's policy the window does not grow.
        for (serial, rate, is_fast) in [
            (0, u32::MAX, true),
            (1 << 15, 1, true),
            (5, 1, false),
            (5, u32::MAX, false),
            (4, u32::MAX, false),
            (5 + (1 << 15), u32::MAX, false),
            (5 + (1 << 15) - 1, u32::MAX, true),
            (3, 1, false),
            (3 + (1 << 15), u32::MAX, false),
            (2 + (1 << 15), u32::MAX, true),
            (u16::MAX, 1, false),
            (0, u32::MAX, true),
        ] {
            assert_taken(scene.send(&mut enemy, None, vec![limits(serial, rate)]));
            let before = scene.stats().window;
            for _ in 0..4 {
                scene.chatter(&mut enemy, 2);
                for _ in 0..10 {
                    assert_taken(scene.agree(&mut enemy));
                    scene.pass(Duration::from_millis(1));
                }
            }
            let after = scene.stats();
            let was_fast = by_policy(after.queued_bytes == 0, after.window > before);
            assert_eq!(was_fast, is_fast, "{serial}");
        }
    });
}

/// `[X12]` One message of each kind before one that is malformed: a ping, a challenge, limits, packets.
/// None of them has an effect, in any order.
#[test]
fn good_messages_before_a_malformed_one_have_no_effect() {
    case(|scene| {
        let mut enemy = scene.enemy();
        let before = scene.judged();
        let bad = Message::Control(vec![200]);
        let mut messages = vec![
            ping(7),
            challenge(7),
            limits(1, 1),
            packet(RELIABLE, 0, 0, 10).into(),
            crate::peers::sentinel(1, 31, 0),
            bad,
        ];
        for _ in 0..messages.len() {
            let taken = scene.send(&mut enemy, None, messages.clone());
            assert!(
                matches!(taken, Disposition::Ignored(Ignored::Malformed(_))),
                "{taken:?}"
            );
            messages.rotate_left(1);
        }
        assert_eq!((scene.said.len(), scene.judged()), (0, before));
        assert_eq!(scene.host.host.audit().entries, 0);
    });
}
