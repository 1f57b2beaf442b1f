//! Fragments that lie about the packet that they belong to, from a connected peer.

use core::time::Duration;

use porous_proto::{Disposition, Ignored, Malformed};
use porous_sim::Seed;
use porous_tests::encoder::{Message, Packet};

use crate::peers::{
    BAD, PASSIVE, RELIABLE, UNRELIABLE, any, assert_taken, fits, malformed, packet,
};
use crate::scene::{ENEMY, FRAGMENT, Scene, Scenes, case, case_of_many, config, offer};

/// [`FRAGMENT`] as a number of the wire.
const FULL: u32 = 1200 - 48;

/// The shortest fragment that is not the end of its packet.
const LEAST: u32 = 256;

/// `[X4 R12]` One byte of a packet of 65,536 is kept as one byte, and not for its packet.
#[test]
fn the_end_of_a_great_packet_costs_what_has_come() {
    case(|scene| {
        let mut enemy = scene.enemy();
        let packet = Packet::whole(RELIABLE, 0, 0, 0, vec![7]);
        let taken = scene.send(&mut enemy, None, vec![packet.part(65_535, 65_536).into()]);
        assert!(matches!(taken, Disposition::Handled(_)), "{taken:?}");
        scene.pass(Duration::from_secs(5));
        assert_eq!(scene.read(ENEMY), 0);
    });
}

/// `[X4 B1 R12]` A fragment of a packet that would be larger than the agreed maximum is refused.
#[test]
fn a_fragment_that_announces_too_great_a_packet_is_refused() {
    case(|scene| {
        for (address, (offset, whole)) in (ENEMY..).zip([
            (65_537 - FULL, 65_537),
            (0, 65_537),
            (u32::MAX - FULL, u32::MAX),
            (0, u32::MAX),
        ]) {
            let mut enemy = scene.enemy_at(address, &offer());
            let packet = Packet::whole(RELIABLE, 0, 0, 0, vec![7; FRAGMENT]);
            let message = packet.part(offset, whole).into();
            let taken = scene.send(&mut enemy, None, vec![message]);
            let refused = Disposition::Ignored(Ignored::BadMessage);
            assert_eq!(taken, refused, "{offset} of {whole}");
        }
    });
}

/// A fragment of `len` bytes at `offset`, of a packet of `whole` bytes.
fn part(mode: u8, channel: u8, id: u32, (offset, len): (u32, u32), whole: u32) -> Message {
    let bytes = packet(mode, channel, id, len as usize);
    bytes.part(offset, whole).into()
}

/// `[X5]` Fragments that end behind their packet, or begin there, and packets of nothing and of one
/// byte.
#[test]
fn fragments_beyond_their_packet_are_malformed() {
    case(|scene| {
        let mut enemy = scene.enemy();
        let edges = [
            0,
            1,
            255,
            256,
            257,
            512,
            65_536,
            1 << 31,
            u32::MAX - 1,
            u32::MAX,
        ];
        for whole in edges {
            for offset in edges {
                for len in [0, 1, 256, 257] {
                    if u64::from(offset) + u64::from(len) <= u64::from(whole) {
                        continue;
                    }
                    let message = part(RELIABLE, 0, 0, (offset, len), whole);
                    let taken = scene.send(&mut enemy, None, vec![message]);
                    let refused = malformed(Malformed::BadValue);
                    assert_eq!(taken, refused, "{offset} + {len} of {whole}");
                }
            }
        }
    });
}

/// `[X5 X22]` Places and lengths that do not fit into 32 bits, or are spelled longer than needed.
#[test]
fn the_numbers_of_fragments_have_32_bits_and_one_spelling() {
    case(|scene| {
        let mut enemy = scene.enemy();
        // A reliable fragment with its id and its dependency, to the end of the datagram.
        let head = [0b1000_1100, 9, 0, 0];
        let (place, whole) = ([0x80, 2], [0x81, 2]);
        let taken = [&head[..], &place, &whole, &[7]].concat();
        assert_taken(scene.send_raw(&mut enemy, 0, &taken));
        for numbers in [
            &[0x80, 0x82, 0, 0x81, 2][..],
            &[0x80, 2, 0x81, 0x82, 0],
            &[0x80, 0x82, 0x80, 0x80, 0x10, 0x81, 2],
            &[0x80, 2, 0x81, 0x82, 0x80, 0x80, 0x10],
            &[0x80, 2, 0x81, 0x82, 0x80, 0x80, 0x80, 0],
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

/// `[X5]` A fragment of no bytes, one that is too short and not the end, one that begins where no other
/// one can have ended, and one that is a whole packet.
#[test]
fn fragments_have_a_length_and_a_place_that_can_be() {
    case(|scene| {
        let mut enemy = scene.enemy();
        let whole = 2 * FULL + 1;
        for (offset, len, is_good) in [
            (0, LEAST - 1, false),
            (0, 1, false),
            (0, 0, false),
            (1, FULL, false),
            (LEAST - 1, FULL, false),
            (FULL, LEAST - 1, false),
            (whole, 0, false),
            (whole - 1, 2, false),
            (whole - 1, 1, true),
            (0, LEAST, true),
            (LEAST, FULL, true),
        ] {
            for mode in [UNRELIABLE, RELIABLE, PASSIVE] {
                let message = part(mode, mode, 0, (offset, len), whole);
                let taken = scene.send(&mut enemy, None, vec![message]);
                let was_taken = matches!(taken, Disposition::Handled(_));
                assert_eq!(was_taken, is_good, "{offset} {len} {taken:?}");
            }
        }
        let kept = u64::from(64 + 1 + LEAST + FULL);
        assert_eq!(scene.host.host.audit().kept, 3 * kept);
        let message = part(RELIABLE, 0, 9, (0, 300), 300);
        let taken = scene.send(&mut enemy, None, vec![message]);
        assert_eq!(taken, malformed(Malformed::BadValue));
    });
}

/// `[X5]` The length changes in the middle of a packet, it comes whole with another one, or with other
/// bytes: the datagram is refused, and the packet can still be completed. The second such datagram has
/// it forgotten.
#[test]
fn a_length_does_not_change_in_the_middle_of_a_packet() {
    case(|scene| {
        let mut enemy = scene.enemy();
        for mode in [UNRELIABLE, RELIABLE, PASSIVE] {
            let first = || part(mode, mode, 0, (0, LEAST), LEAST + 1);
            assert_taken(scene.send(&mut enemy, None, vec![first()]));
            let whole = |len, last| {
                let mut payload = vec![7; len];
                payload.extend([last]);
                Message::from(Packet::whole(mode, mode, 0, 0, payload))
            };
            let differs = Packet::whole(mode, mode, 0, 0, vec![8; LEAST as usize]);
            let others = [
                part(mode, mode, 0, (LEAST, 2), LEAST + 2),
                part(mode, mode, 0, (0, LEAST), LEAST + 2),
                part(mode, mode, 0, (LEAST, FULL), 65_000),
                part(mode, mode, 0, (64_999, 1), 65_000),
                differs.part(0, LEAST + 1).into(),
                whole(3, 7),
                whole(LEAST as usize + 1, 7),
                whole(LEAST as usize - 1, 8),
            ];
            for other in others {
                for kept in [true, false] {
                    let context = format!("{other:?}");
                    let taken = scene.send(&mut enemy, None, vec![other.clone()]);
                    assert_eq!(taken, BAD, "{context}");
                    let entries = usize::from(mode) + usize::from(kept);
                    assert_eq!(scene.host.host.audit().entries, entries, "{context}");
                }
                assert_taken(scene.send(&mut enemy, None, vec![first()]));
            }
            // All of it is none.
            let last = whole(LEAST as usize, 9);
            assert_taken(scene.send(&mut enemy, None, vec![last]));
        }
        assert_eq!(scene.read(ENEMY), 3);
    });
}

/// `[X5]` The mode or the dependency changes in the middle of a packet.
#[test]
fn mode_and_dependency_do_not_change_in_the_middle_of_a_packet() {
    case(|scene| {
        let mut enemy = scene.enemy();
        let with = |mode, dependency, index| {
            let (offset, len) = [(0, FRAGMENT), (FULL, 1)][index];
            let packet = packet(mode, 0, 40, len).part(offset, FULL + 1);
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

/// A byte for each place of a packet.
fn content(offset: u32, len: u32) -> Vec<u8> {
    let bytes = (offset..offset + len).map(|place| (place / 7).to_le_bytes()[0]);
    bytes.collect()
}

/// `[X5 X16]` Each fragment comes ten times, in any order and cut at another place each time, so that
/// it overlaps others: every byte counts once. What has other bytes is refused.
#[test]
fn of_copies_of_a_fragment_every_byte_counts_once() {
    case(|scene| {
        const WHOLE: u32 = 5 * FULL + 9;
        const HOLE: u32 = 2 * FULL;
        let mut enemy = scene.enemy();
        let part = |offset, len| {
            let packet = Packet::whole(RELIABLE, 0, 0, 0, content(offset, len));
            packet.part(offset, WHOLE)
        };
        for copy in 0..10 {
            for (start, end) in [(3 * FULL, WHOLE), (0, HOLE)] {
                let mut from = start;
                while from < end {
                    let len = (FULL - 80 * copy).min(end - from);
                    let len = if end == HOLE && len < LEAST { 0 } else { len };
                    if len == 0 {
                        from = end - LEAST;
                        continue;
                    }
                    let message = part(from, len);
                    assert_taken(scene.send(&mut enemy, None, vec![message.into()]));
                    from += len;
                }
            }
            let kept = u64::from(64 + WHOLE - FULL);
            assert_eq!(scene.host.host.audit().kept, kept, "{copy}");
            let mut other = part(3 * FULL, FULL);
            other.payload[copy as usize] ^= 1;
            let taken = scene.send(&mut enemy, None, vec![other.into()]);
            assert_eq!(taken, BAD);
            if copy % 2 == 1 {
                // The second one had it forgotten.
                assert_eq!(scene.host.host.audit().kept, 0);
                let first = [
                    (3 * FULL, FULL),
                    (4 * FULL, FULL),
                    (5 * FULL, 9),
                    (0, FULL),
                    (FULL, FULL),
                ];
                for (offset, len) in first {
                    assert_taken(scene.send(&mut enemy, None, vec![part(offset, len).into()]));
                }
            }
        }
        let last = part(HOLE - 300, FULL);
        assert_taken(scene.send(&mut enemy, None, vec![last.into()]));
        let last = part(3 * FULL - LEAST, LEAST + 40);
        assert_taken(scene.send(&mut enemy, None, vec![last.into()]));
        let last = part(HOLE + 300, FULL - 300);
        assert_taken(scene.send(&mut enemy, None, vec![last.into()]));
        let peer = scene.peer();
        let got = scene.host.call(|host| {
            host.receive(peer)
                .map(|got| got.payload == content(0, WHOLE))
        });
        assert_eq!(got, Some(true));
    });
}

/// `count` last fragments of one byte on each channel, and what is kept of them; two seconds
/// later nothing is.
fn ends_of_packets(scene: &mut Scene, mode: u8, count: u32) -> (usize, usize) {
    let mut enemy = scene.enemy();
    for id in 0..count {
        for channel in 0..4 {
            let message = part(mode, channel, id, (LEAST, 1), LEAST + 1);
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
    case(|scene| assert_eq!(ends_of_packets(scene, UNRELIABLE, 32), (4 * 32, 0)));
}

/// `[R12 X5]` 33: the oldest of each channel is given up.
#[test]
fn thirty_three_incomplete_packets_of_a_channel_are_one_too_many() {
    case(|scene| assert_eq!(ends_of_packets(scene, UNRELIABLE, 33), (4 * 32, 0)));
}

/// `[R12 X5 X4]` A whole window of them on every channel: no more are kept than 32.
#[test]
fn a_thousand_incomplete_packets_are_no_more_than_thirty_two_a_channel() {
    case(|scene| assert_eq!(ends_of_packets(scene, UNRELIABLE, 256), (4 * 32, 0)));
}

/// `[R12 R11 X4]` Incomplete reliable packets are kept as long as the budget lasts: a sender may take
/// its time.
#[test]
fn incomplete_reliable_packets_are_kept_within_the_budget() {
    case(|scene| {
        let mut enemy = scene.enemy();
        let (mut kept, mut refused) = (0, 0);
        for id in 0..256 {
            for mode in [RELIABLE, PASSIVE] {
                let message = part(mode, mode, id, (0, FULL), 2 * FULL);
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

/// A packet of a megabyte in pieces with a hole between any two, which are filled then: each fragment
/// has these lengths.
fn full_of_holes(scenes: &mut Scenes, len: u32, hole: u32, fill: u32) {
    const WHOLE: u32 = 1 << 20;
    let large = config().receive_budget(WHOLE, 4 << 20).unwrap();
    scenes.attack(large, |scene| {
        let mut offer = offer();
        (offer.packet, offer.budget) = (WHOLE, 4 << 20);
        let mut enemy = scene.enemy_at(ENEMY, &offer);
        let mut take = |scene: &mut Scene, offset, len: u32| {
            let len = len.min(WHOLE - offset);
            let message = part(RELIABLE, 0, 0, (offset, len), WHOLE);
            assert_taken(scene.send(&mut enemy, None, vec![message]));
            scene.said.clear();
        };
        let starts = (0..WHOLE).step_by((len + hole) as usize);
        for start in starts.clone().rev() {
            take(scene, start, len);
        }
        for start in starts.filter(|start| start + len < WHOLE) {
            assert_eq!(scene.read(ENEMY), 0);
            take(scene, (start + len + hole - fill).max(LEAST), fill);
        }
        assert_eq!(scene.read(ENEMY), 1);
    });
}

/// `[X4 X5 R25]` All fragments of one great packet but one, every other one first: the work for each
/// stays the same.
#[test]
fn fragments_with_a_hole_between_any_two() {
    case_of_many(|scenes| full_of_holes(scenes, FULL, FULL, FULL));
}

/// `[X4 X5 R25]` The shortest fragments, and holes of a byte between them: where the pieces are does
/// not take more memory than what is in them.
#[test]
fn fragments_with_a_hole_of_a_byte_between_any_two() {
    case_of_many(|scenes| full_of_holes(scenes, LEAST, 1, LEAST));
}

/// `[X4 X5 R12 R25]` Every fragment brings one byte, far from that of the fragment before.
#[test]
fn fragments_that_bring_a_byte_each() {
    case(|scene| {
        let mut enemy = scene.enemy();
        for byte in 0..8000 {
            for start in [0, 16_000, 32_000, 48_000] {
                if start == 0 || byte + start >= LEAST {
                    let offset = if byte < LEAST && start == 0 {
                        0
                    } else {
                        start + byte
                    };
                    let message = part(RELIABLE, 0, 0, (offset, LEAST), 65_000);
                    assert_taken(scene.send(&mut enemy, None, vec![message]));
                }
            }
            scene.said.clear();
        }
        let kept = u64::from(64 + 4 * (7999 + LEAST));
        assert_eq!(scene.host.host.audit().kept, kept);
    });
}

/// `[X5 R12]` Fragments of all kinds, lengths and places at random, for 20,000 datagrams: whatever is
/// taken is within the budget, and nothing of it is left when the reader has read and time has passed.
#[test]
fn fragments_at_random_stay_within_the_budget() {
    case(|scene| {
        let mut enemy = scene.enemy();
        let mut random = Seed::new(21).stream("fragments", 0);
        for n in 0..20_000 {
            let mut any = |end| any(&mut random, end);
            let whole = [700, 2000, 2001, 5000][any(4) as usize];
            let offset = 250 * any(whole / 250);
            let len = (1 + any(FULL)).min(whole - offset);
            let (mode, channel) = (any(3).to_le_bytes()[0], any(4).to_le_bytes()[0]);
            let message = part(mode, channel, n / 100 + any(40), (offset, len), whole);
            scene.send(&mut enemy, None, vec![message]);
            if n % 50 == 0 {
                scene.pass(Duration::from_millis(100));
                scene.read(ENEMY);
            }
            scene.said.clear();
        }
    });
}
