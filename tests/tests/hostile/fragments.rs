//! Fragments that lie about the packet that they belong to, from a connected peer.

use core::time::Duration;

use porous_proto::{Disposition, Ignored, Malformed};
use porous_sim::Seed;
use porous_tests::encoder::{Message, Packet};

use crate::peers::{
    BAD, PASSIVE, RELIABLE, UNRELIABLE, any, assert_taken, fits, malformed, packet,
};
use crate::scene::{Cost, ENEMY, FRAGMENT, Scene, case, case_with, config, offer};

/// `[X4 R12]` One byte of a packet of 57 fragments is kept as one byte, and not for its packet.
#[test]
fn the_end_of_a_great_packet_costs_what_has_come() {
    let cost = Cost {
        bytes: 5500,
        steps: 100,
    };
    case(cost, |scene| {
        let mut enemy = scene.enemy();
        let packet = Packet::whole(RELIABLE, 0, 0, 0, vec![7]);
        let taken = scene.send(&mut enemy, None, vec![packet.part(56, 57).into()]);
        assert!(matches!(taken, Disposition::Handled(_)), "{taken:?}");
        scene.pass(Duration::from_secs(5));
        assert_eq!(scene.read(ENEMY), 0);
    });
}

/// `[X4 B1 R12]` A fragment of a packet that would be larger than the agreed maximum is refused.
#[test]
fn a_fragment_that_announces_too_great_a_packet_is_refused() {
    let cost = Cost {
        bytes: 2000,
        steps: 100,
    };
    case(cost, |scene| {
        for (address, (index, count)) in
            (ENEMY..).zip([(57, 58), (0, 58), (65_534, 65_535), (0, 65_535)])
        {
            let mut enemy = scene.enemy_at(address, &offer());
            let packet = Packet::whole(RELIABLE, 0, 0, 0, vec![7; FRAGMENT]);
            let message = packet.part(index, count).into();
            let taken = scene.send(&mut enemy, None, vec![message]);
            let refused = Disposition::Ignored(Ignored::BadMessage);
            assert_eq!(taken, refused, "{index} of {count}");
        }
    });
}

/// A fragment of a packet of which all have full size but the last.
fn part(mode: u8, channel: u8, id: u32, index: u16, count: u16, len: usize) -> Message {
    packet(mode, channel, id, len).part(index, count).into()
}

/// `[X5]` An index that equals its count or exceeds it, and counts of nothing and of one.
#[test]
fn fragments_beyond_their_count_are_malformed() {
    let cost = Cost {
        bytes: 500,
        steps: 100,
    };
    case(cost, |scene| {
        let mut enemy = scene.enemy();
        let edges = [0, 1, 2, 3, 56, 57, 58, 1 << 15, u16::MAX - 1, u16::MAX];
        for count in edges {
            for index in edges
                .into_iter()
                .filter(|&index| index >= count || count < 2)
            {
                let message = part(RELIABLE, 0, 0, index, count, 1);
                let taken = scene.send(&mut enemy, None, vec![message]);
                let refused = [Malformed::BadValue, Malformed::NotCanonical].map(malformed);
                assert!(refused.contains(&taken), "{index} of {count}: {taken:?}");
            }
        }
    });
}

/// `[X5 X22]` Indices and counts that do not fit into 16 bits, or are spelled longer than needed.
#[test]
fn the_numbers_of_fragments_have_16_bits_and_one_spelling() {
    let cost = Cost {
        bytes: 1900,
        steps: 100,
    };
    case(cost, |scene| {
        let mut enemy = scene.enemy();
        // A reliable fragment with its id and its dependency, to the end of the datagram.
        let head = [0b1000_1100, 9, 0, 0];
        assert_taken(scene.send_raw(&mut enemy, 0, &[&head[..], &[1, 2, 7]].concat()));
        for numbers in [
            &[0x81, 0, 2][..],
            &[1, 0x82, 0],
            &[1, 0x80, 0x80, 4],
            &[0x80, 0x80, 4, 0x81, 0x80, 4],
            &[1, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F],
        ] {
            let rest = [&head[..], numbers, &[7]].concat();
            let taken = scene.send_raw(&mut enemy, 0, &rest);
            assert!(
                matches!(taken, Disposition::Ignored(Ignored::Malformed(_))),
                "{numbers:?}"
            );
        }
        assert_eq!(scene.host.host.audit().entries, 1);
    });
}

/// `[X5]` A fragment of no bytes, a middle one that is short by a byte or long by one, and a last one
/// that is long.
#[test]
fn fragments_have_the_length_that_their_place_implies() {
    let cost = Cost {
        bytes: 8100,
        steps: 100,
    };
    case(cost, |scene| {
        let mut enemy = scene.enemy();
        for (index, len, is_good) in [
            (0, FRAGMENT - 1, false),
            (0, 1, false),
            (0, 0, false),
            (0, FRAGMENT + 1, false),
            (1, FRAGMENT - 1, false),
            (2, 0, false),
            (2, FRAGMENT + 1, false),
            (2, 1, true),
            (0, FRAGMENT, true),
        ] {
            for mode in [UNRELIABLE, RELIABLE, PASSIVE] {
                let message = part(mode, mode, 0, index, 3, len);
                let taken = scene.send(&mut enemy, None, vec![message]);
                let was_taken = matches!(taken, Disposition::Handled(_));
                assert_eq!(was_taken, is_good, "{index} {len} {taken:?}");
            }
        }
        assert_eq!(scene.host.host.audit().kept, 3 * (64 + 1 + FRAGMENT as u64));
    });
}

/// `[X5]` The count changes in the middle of a packet, or it comes whole: the datagram is refused, and
/// the packet can still be completed. The second such datagram has it forgotten.
#[test]
fn a_count_does_not_change_in_the_middle_of_a_packet() {
    let cost = Cost {
        bytes: 10_500,
        steps: 100,
    };
    case(cost, |scene| {
        let mut enemy = scene.enemy();
        for mode in [UNRELIABLE, RELIABLE, PASSIVE] {
            let first = part(mode, mode, 0, 0, 2, FRAGMENT);
            assert_taken(scene.send(&mut enemy, None, vec![first]));
            let whole = packet(mode, mode, 0, 3).into();
            let others = [(1, 3), (2, 3), (1, 57), (56, 57)].map(|(index, count)| {
                let len = if index + 1 == count { 1 } else { FRAGMENT };
                part(mode, mode, 0, index, count, len)
            });
            for other in others.into_iter().chain([whole]) {
                for kept in [true, false] {
                    let context = format!("{other:?}");
                    let taken = scene.send(&mut enemy, None, vec![other.clone()]);
                    assert_eq!(taken, BAD, "{context}");
                    let entries = usize::from(mode) + usize::from(kept);
                    assert_eq!(scene.host.host.audit().entries, entries, "{context}");
                }
                let first = part(mode, mode, 0, 0, 2, FRAGMENT);
                assert_taken(scene.send(&mut enemy, None, vec![first]));
            }
            let last = part(mode, mode, 0, 1, 2, 1);
            assert_taken(scene.send(&mut enemy, None, vec![last]));
        }
        assert_eq!(scene.read(ENEMY), 3);
    });
}

/// `[X5]` The mode or the dependency changes in the middle of a packet.
#[test]
fn mode_and_dependency_do_not_change_in_the_middle_of_a_packet() {
    let cost = Cost {
        bytes: 4600,
        steps: 100,
    };
    case(cost, |scene| {
        let mut enemy = scene.enemy();
        let with = |mode, dependency, index| {
            let len = if index == 1 { 1 } else { FRAGMENT };
            let packet = packet(mode, 0, 40, len).part(index, 2);
            Message::from(Packet {
                dependency,
                ..packet
            })
        };
        assert_taken(scene.send(&mut enemy, None, vec![with(RELIABLE, 3, 0)]));
        for (mode, dependency) in [(UNRELIABLE, 3), (PASSIVE, 3), (RELIABLE, 0), (RELIABLE, 4)] {
            for index in [0, 1] {
                let taken = scene.send(&mut enemy, None, vec![with(mode, dependency, index)]);
                assert_eq!(taken, BAD, "{mode} {dependency} {index}");
            }
            // Two datagrams have it forgotten.
            assert_taken(scene.send(&mut enemy, None, vec![with(RELIABLE, 3, 0)]));
        }
        assert_taken(scene.send(&mut enemy, None, vec![with(RELIABLE, 3, 1)]));
    });
}

/// `[X5 X16]` Each fragment comes ten times, with other content each time, and in any order: the first
/// of each counts.
#[test]
fn of_copies_of_a_fragment_the_first_counts() {
    let cost = Cost {
        bytes: 19_000,
        steps: 100,
    };
    case(cost, |scene| {
        let mut enemy = scene.enemy();
        for copy in 0..10_u8 {
            for index in [5, 0, 3, 1, 4] {
                let len = if index == 5 { 9 } else { FRAGMENT };
                let packet = Packet::whole(RELIABLE, 0, 0, 0, vec![copy; len]).part(index, 6);
                assert_taken(scene.send(&mut enemy, None, vec![packet.into()]));
            }
        }
        let last = Packet::whole(RELIABLE, 0, 0, 0, vec![0; FRAGMENT]).part(2, 6);
        assert_taken(scene.send(&mut enemy, None, vec![last.into()]));
        let peer = scene.peer();
        let got = scene.host.call(|host| {
            host.receive(peer)
                .map(|got| got.payload == vec![0; 5 * FRAGMENT + 9])
        });
        assert_eq!(got, Some(true));
    });
}

/// So many last fragments of one byte on each channel, and what is kept of them; two
/// seconds later nothing is.
fn ends_of_packets(scene: &mut Scene, mode: u8, count: u32) -> (usize, usize) {
    let mut enemy = scene.enemy();
    for id in 0..count {
        for channel in 0..4 {
            let message = part(mode, channel, id, 1, 2, 1);
            assert_taken(scene.send(&mut enemy, None, vec![message]));
        }
        scene.said.clear();
    }
    let kept = scene.host.host.audit().entries;
    scene.pass(Duration::from_millis(2001));
    (kept, scene.host.host.audit().entries)
}

/// `[R12 X5]` 32 packets of each channel are incomplete: all are kept, for two seconds.
#[test]
fn thirty_two_incomplete_packets_of_a_channel_are_kept() {
    let cost = Cost {
        bytes: 42_000,
        steps: 2000,
    };
    case(cost, |scene| {
        assert_eq!(ends_of_packets(scene, UNRELIABLE, 32), (4 * 32, 0))
    });
}

/// `[R12 X5]` 33: the oldest of each channel is given up.
#[test]
fn thirty_three_incomplete_packets_of_a_channel_are_one_too_many() {
    let cost = Cost {
        bytes: 53_000,
        steps: 2000,
    };
    case(cost, |scene| {
        assert_eq!(ends_of_packets(scene, UNRELIABLE, 33), (4 * 32, 0))
    });
}

/// `[R12 X5 X4]` A whole window of them on every channel: no more are kept than 32.
#[test]
fn a_thousand_incomplete_packets_are_no_more_than_thirty_two_a_channel() {
    let cost = Cost {
        bytes: 58_000,
        steps: 2000,
    };
    case(cost, |scene| {
        assert_eq!(ends_of_packets(scene, UNRELIABLE, 256), (4 * 32, 0))
    });
}

/// `[R12 R11 X4]` Incomplete reliable packets are kept as long as the budget lasts: a sender may take its
/// time.
#[test]
fn incomplete_reliable_packets_are_kept_within_the_budget() {
    let cost = Cost {
        bytes: 370_000,
        steps: 100,
    };
    case(cost, |scene| {
        let mut enemy = scene.enemy();
        let (mut kept, mut refused) = (0, 0);
        for id in 0..256 {
            for mode in [RELIABLE, PASSIVE] {
                let message = part(mode, mode, id, 0, 2, FRAGMENT);
                if fits(scene.send(&mut enemy, None, vec![message])) {
                    kept += 1;
                } else {
                    refused += 1;
                }
            }
        }
        assert_eq!((kept, refused), (262_144 / 1216, 512 - 262_144 / 1216));
        assert_eq!(scene.host.host.audit().entries, kept);
    });
}

/// `[X4 X5 R25]` All fragments of one great packet but one, every other one first: the work for each
/// stays the same.
#[test]
fn fragments_with_a_hole_between_any_two() {
    let cost = Cost {
        bytes: 2_700_000,
        steps: 100,
    };
    let large = config().receive_budget(1 << 20, 4 << 20).unwrap();
    case_with(large, cost, |scene| {
        let mut offer = offer();
        (offer.packet, offer.budget) = (1 << 20, 4 << 20);
        let mut enemy = scene.enemy_at(ENEMY, &offer);
        let order = (0..910).step_by(2).rev().chain((1..909).step_by(2));
        for index in order {
            let len = if index == 909 { 1 } else { FRAGMENT };
            assert_taken(scene.send(
                &mut enemy,
                None,
                vec![part(RELIABLE, 0, 0, index, 910, len)],
            ));
            scene.said.clear();
        }
        assert_eq!(scene.read(ENEMY), 0);
        let last = part(RELIABLE, 0, 0, 909, 910, 1);
        assert_taken(scene.send(&mut enemy, None, vec![last]));
        assert_eq!(scene.read(ENEMY), 1);
    });
}

/// `[X5 R12]` Fragments of all kinds, counts and places at random, for 20,000 datagrams: whatever is
/// taken is within the budget, and nothing of it is left when the reader has read and time has passed.
#[test]
fn fragments_at_random_stay_within_the_budget() {
    let cost = Cost {
        bytes: 320_000,
        steps: 1600,
    };
    case(cost, |scene| {
        let mut enemy = scene.enemy();
        let mut random = Seed::new(21).stream("fragments", 0);
        for n in 0..20_000 {
            let mut any = |end| any(&mut random, end);
            let count = u16::try_from(2 + any(4)).unwrap();
            let index = u16::try_from(any(count.into())).unwrap();
            let len = if index + 1 == count {
                1 + any(30) as usize
            } else {
                FRAGMENT
            };
            let (mode, channel) = (any(3).to_le_bytes()[0], any(4).to_le_bytes()[0]);
            let message = part(mode, channel, n / 100 + any(40), index, count, len);
            scene.send(&mut enemy, None, vec![message]);
            if n % 50 == 0 {
                scene.pass(Duration::from_millis(100));
                scene.read(ENEMY);
            }
            scene.said.clear();
        }
    });
}
