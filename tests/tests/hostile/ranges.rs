//! Ranges of acknowledgements that are backwards, huge, or many.

use porous_proto::{Disposition, Malformed};
use porous_tests::encoder::{Ack, varint};
use porous_tests::remote::Remote;

use crate::peers::{A, BAD_ACK, ack_of, assert_taken, malformed};
use crate::scene::{Scene, case, case_with, config};

/// The host has sent at least `frames`, all of which were acknowledged.
fn after(scene: &mut Scene, frames: u32) -> Remote<u32> {
    let mut enemy = scene.enemy();
    while enemy.newest.0 < frames {
        scene.chatter(&mut enemy, 8);
        assert_taken(scene.agree(&mut enemy));
    }
    enemy
}

fn with_ranges(largest: u32, ranges: Vec<(u32, u32)>) -> Ack {
    Ack {
        map: u32::MAX,
        ranges,
        ..ack_of(largest)
    }
}

/// A block of one byte of `largest`, without a map, with this count and these numbers.
fn block(count: u8, numbers: &[u8]) -> Vec<u8> {
    [&[0b0000_0010, 100, count], numbers].concat()
}

/// Either the nonces happen to be right, or they are not.
#[track_caller]
fn assert_read(taken: Disposition) {
    assert!(
        matches!(taken, Disposition::Handled(_)) || taken == BAD_ACK,
        "{taken:?}"
    );
}

/// `[X11]` Sixteen ranges are taken, seventeen and 255 are not, and neither is a list without one.
#[test]
fn seventeen_ranges_are_too_many() {
    case(|scene| {
        let mut enemy = after(scene, 200);
        for (count, is_good) in [
            (0_u8, false),
            (1, true),
            (16, true),
            (17, false),
            (255, false),
        ] {
            let numbers = [1, 1].repeat(count.into());
            let taken = scene.send_raw(&mut enemy, A, &block(count, &numbers));
            if is_good {
                assert_read(taken);
            } else {
                let refused = [Malformed::BadValue, Malformed::NotCanonical].map(malformed);
                assert!(refused.contains(&taken), "{count} {taken:?}");
            }
        }
    });
}

/// `[X11]` Ranges of no ids, and ranges that touch the one before, are not what anybody writes.
#[test]
fn empty_and_adjacent_ranges_are_refused() {
    case(|scene| {
        let mut enemy = after(scene, 200);
        assert_read(scene.send_raw(&mut enemy, A, &block(2, &[0, 1, 1, 1])));
        for numbers in [[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0], [0, 0, 0, 0]] {
            let taken = scene.send_raw(&mut enemy, A, &block(2, &numbers));
            let refused = [Malformed::BadValue, Malformed::NotCanonical].map(malformed);
            assert!(refused.contains(&taken), "{numbers:?} {taken:?}");
        }
    });
}

/// `[X11 R8]` Gaps and lengths at the ends of their 32 bits: whatever reaches below the first frame is
/// refused, at no cost.
#[test]
fn huge_ranges_are_refused() {
    case(|scene| {
        let mut enemy = after(scene, 200);
        let before = scene.judged();
        let edges = [
            1_u32 << 8,
            1 << 15,
            1 << 16,
            1 << 31,
            u32::MAX - 1,
            u32::MAX,
        ];
        for huge in edges {
            for ranges in [vec![(huge, 1)], vec![(0, huge)], vec![(huge, huge)]] {
                let ranges = [ranges.clone(), vec![(1, 1); 15]];
                for ranges in [ranges[0].clone(), ranges.concat()] {
                    let taken = scene.send(&mut enemy, Some(with_ranges(200, ranges)), vec![]);
                    assert_eq!((taken, scene.judged()), (BAD_ACK, before), "{huge}");
                }
            }
        }
    });
}

/// `[X11]` A range that ends with the first frame is taken; one id more, and it is refused.
#[test]
fn ranges_reach_down_to_the_first_frame_and_not_below() {
    case(|scene| {
        let mut enemy = after(scene, 200);
        // 200, the 32 before it, and 168 below.
        for gap in 0..=167 {
            let down = with_ranges(200, vec![(gap, 168 - gap)]);
            assert_taken(scene.send(&mut enemy, Some(down), vec![]));
            for below in [vec![(gap, 169 - gap)], vec![(gap, 168 - gap), (1, 1)]] {
                let taken = scene.send(&mut enemy, Some(with_ranges(200, below)), vec![]);
                assert_eq!(taken, BAD_ACK, "{gap}");
            }
        }
        for gap in [168, 169] {
            let taken = scene.send(&mut enemy, Some(with_ranges(200, vec![(gap, 1)])), vec![]);
            assert_eq!(taken, BAD_ACK, "{gap}");
        }
    });
}

/// `[X11 R8 R9]` Sixteen ranges of everything, again and again, while a whole window is on its way.
#[test]
fn ranges_of_a_whole_window_cost_what_they_acknowledge() {
    case_with(config().windows(4096, 4096).unwrap(), |scene| {
        let mut offer = crate::scene::offer();
        (offer.windows, offer.budget) = ([12, 12], u32::MAX);
        let mut enemy = scene.enemy_at(crate::scene::ENEMY, &offer);
        // The window grows until thousands of frames are on their way.
        for _ in 0..12 {
            scene.chatter(&mut enemy, 300);
            while scene.stats().queued_bytes > 0 {
                assert_taken(scene.agree(&mut enemy));
            }
        }
        scene.chatter(&mut enemy, 1000);
        let largest = enemy.newest.0;
        for first in (0..2000).step_by(64) {
            let length = (largest - 50) / 34;
            let ranges = (0..16)
                .map(|n| (1 + n % 2 + first / 64 % 3, length))
                .collect();
            let taken = scene.send(&mut enemy, Some(with_ranges(largest, ranges)), vec![]);
            assert_read(taken);
        }
        assert!(scene.stats().frames_sent > 3600);
    });
}

/// `[X22 X11]` Gaps and lengths that are spelled in more bytes than they need, or in six.
#[test]
fn numbers_of_ranges_have_one_spelling() {
    case(|scene| {
        let mut enemy = after(scene, 200);
        assert_taken(scene.send_raw(&mut enemy, A, &block(1, &[1, 1])));
        for numbers in [
            &[0x81, 0, 1][..],
            &[1, 0x81, 0],
            &[0x81, 0x80, 0, 1],
            &[1, 0x81, 0x80, 0x80, 0x80, 0],
            &[1, 0x80, 0],
        ] {
            let taken = scene.send_raw(&mut enemy, A, &block(1, numbers));
            assert_eq!(taken, malformed(Malformed::NotCanonical), "{numbers:?}");
        }
        for numbers in [
            &[1, 0xFF, 0xFF, 0xFF, 0xFF, 0x1F][..],
            &[1, 0x80, 0x80, 0x80, 0x80, 0x10],
            &[1, 0x80, 0x80, 0x80, 0x80, 0x80, 1],
        ] {
            let taken = scene.send_raw(&mut enemy, A, &block(1, numbers));
            assert_eq!(taken, malformed(Malformed::BadValue), "{numbers:?}");
        }
    });
}

/// `[X11 X12]` A block that ends in the middle of its map, its delay, its ranges or a number.
#[test]
fn blocks_that_end_too_early_are_refused() {
    case(|scene| {
        let mut enemy = after(scene, 200);
        let mut whole = vec![0b1110_0110, 200, 0, 0, 0, 7, 1, 2, 3, 4, 2];
        for number in [300, 1, 2, 3] {
            varint(&mut whole, number);
        }
        let refused = scene.send_raw(&mut enemy, A, &whole);
        assert_eq!(refused, BAD_ACK);
        for len in 0..whole.len() {
            let taken = scene.send_raw(&mut enemy, A, &whole[..len]);
            assert_eq!(taken, malformed(Malformed::Truncated), "{len}");
        }
    });
}

/// `[X11 X22]` A map of more bytes than it needs, or of more than four.
#[test]
fn maps_have_one_spelling() {
    case(|scene| {
        let mut enemy = after(scene, 200);
        assert_read(scene.send_raw(&mut enemy, A, &[0b0000_1000, 100, 0x7F]));
        assert_read(scene.send_raw(&mut enemy, A, &[0b0001_0000, 100, 0xFF, 0x7F]));
        for map in [
            &[0b0000_1000, 100, 0xFF][..],
            &[0b0001_0000, 100, 0x7F, 0xFF],
        ] {
            let taken = scene.send_raw(&mut enemy, A, map);
            assert_eq!(taken, malformed(Malformed::NotCanonical), "{map:?}");
        }
        for bytes in 5..8_u8 {
            let map = [&[bytes << 3, 100], &[1; 8][..]].concat();
            let taken = scene.send_raw(&mut enemy, A, &map);
            assert_eq!(taken, malformed(Malformed::BadValue), "{bytes}");
        }
    });
}
