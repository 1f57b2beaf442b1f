//! Frame ids that leap, fall back, or come to the end of their bits.

use core::time::Duration;

use porous_proto::{Disposition, Ignored, Malformed};
use porous_tests::config::is_sealed;
use porous_tests::encoder::Check;
use porous_tests::remote::Remote;

use crate::costs::test_of;
use crate::peers::{BAD, OLD, TWICE, any, assert_taken, noop, packet};
use crate::scene::{
    ENEMY, FRIEND, Scene, Scenes, case, case_named, case_of_many, case_with, config, offer,
};

/// Too far ahead for a single frame.
const FAR: Disposition = Disposition::Ignored(Ignored::TooFarAhead);

/// Not the frame that its id was read as.
const WRONG: Disposition = Disposition::Ignored(Ignored::Malformed(Malformed::Integrity));

/// Counters start a few seconds from 0, so that what lies behind exists.
const START: u64 = 10_000_000_000;

/// The enemy sends a frame with this id, of which the lowest `width` bytes are sent.
fn send(scene: &mut Scene, enemy: &mut Remote<u32>, id: u64, width: u8) -> Disposition {
    let mut frame = enemy.short(None, vec![noop()]);
    (frame.id, frame.width) = (id, width);
    let taken = scene.send_frame(enemy, &frame);
    scene.said.clear();
    taken
}

/// An enemy whose newest frame is [`START`].
fn started(scene: &mut Scene) -> Remote<u32> {
    let mut enemy = scene.enemy();
    assert_taken(send(scene, &mut enemy, START, 4));
    scene.begin();
    enemy
}

/// A quarter of the space of this many bytes.
const fn quarter(width: u8) -> u64 {
    1 << (8 * width - 2)
}

/// Each width, on a fresh host whose counters start near [`START`].
#[track_caller]
fn each_width(attack: impl Fn(&mut Scene, &mut Remote<u32>, u8)) {
    case_named(test_of(&attack), |scenes| {
        for width in 1..=4 {
            scenes.attack(config().first_id(START), |scene| {
                let mut enemy = started(scene);
                attack(scene, &mut enemy, width);
            });
        }
    });
}

/// `[X13 R6]` A frame that is ahead by as much as its width can say, or by as much as the window
/// holds, is taken. One that is further ahead is taken when another one comes from there.
#[test]
fn frames_ahead_are_taken_up_to_the_edge() {
    each_width(|scene, enemy, width| {
        let next = START + 1;
        let near = next + (quarter(width) - 1).min(127);
        assert_taken(send(scene, enemy, near, width));
        if width == 1 {
            return;
        }
        for (back, far) in [(1, near + 129), (2, near + quarter(width) - 10)] {
            for _ in 0..3 {
                assert_eq!(send(scene, enemy, far, width), FAR, "a copy tells nothing");
            }
            assert_taken(send(scene, enemy, near - back, width));
            assert_eq!(
                send(scene, enemy, far, width),
                FAR,
                "the peer was where it was"
            );
            assert_eq!(send(scene, enemy, near - back, width), TWICE);
        }
        let far = near + quarter(width) - 10;
        assert_taken(send(scene, enemy, far + 1, width));
        assert_taken(send(scene, enemy, far, width));
        assert_taken(send(scene, enemy, far + 128, width));
    });
}

/// `[X13 R6]` A frame that is ahead by a quarter of what its width can say, or by more, is read as
/// another one, which its check tells: nothing moves.
#[test]
fn frames_ahead_by_a_quarter_are_found_by_their_check() {
    each_width(|scene, enemy, width| {
        let next = START + 1;
        for ahead in [0, 1, 2, quarter(width), 2 * quarter(width)] {
            let id = next + quarter(width) + ahead;
            let taken = send(scene, enemy, id, width);
            assert_eq!(taken, WRONG, "{ahead} of {width}");
        }
        assert_taken(send(scene, enemy, next, 4));
    });
}

/// `[X13 R6]` Frames of each width that are three quarters of its space behind, one more, one less.
#[test]
fn frames_behind_by_three_quarters_are_too_old() {
    each_width(|scene, enemy, width| {
        let next = START + 1;
        let far = 3 * quarter(width);
        for behind in [far - 1, far] {
            let taken = send(scene, enemy, next - behind, width);
            assert!(
                taken == OLD || (width == 1 && behind < 256),
                "{behind} {width}"
            );
        }
        // One more, and it is read as one that is far ahead.
        assert_eq!(send(scene, enemy, next - far - 1, width), WRONG);
        assert_taken(send(scene, enemy, next, 4));
    });
}

/// `[X13 R6]` 255 and 256 frames behind the newest one are late; 257 is too old.
#[test]
fn frames_behind_are_taken_up_to_256() {
    case_with(config().first_id(START), |scene| {
        let mut enemy = started(scene);
        let next = START + 1000;
        assert_eq!(send(scene, &mut enemy, next - 2, 4), FAR);
        assert_taken(send(scene, &mut enemy, next - 1, 4));
        for behind in [255, 256] {
            assert_taken(send(scene, &mut enemy, next - behind, 4));
            assert_eq!(send(scene, &mut enemy, next - behind, 4), TWICE);
        }
        for behind in [257, 258, 999, 1_000_000, quarter(4), 3 * quarter(4)] {
            assert_eq!(send(scene, &mut enemy, next - behind, 4), OLD, "{behind}");
        }
    });
}

/// `[X13]` An attacker that knows all of a connection leaps with one frame: the honest ones behind it
/// are still taken, and so is the one under the same id. T9.
#[test]
fn a_leap_makes_no_honest_frame_look_old() {
    case(|scene| {
        let mut enemy = scene.enemy();
        let honest = enemy.next;
        for leap in [1000, quarter(2), quarter(4) - 10] {
            assert_eq!(send(scene, &mut enemy, honest + leap, 4), FAR);
        }
        assert_taken(send(scene, &mut enemy, honest + 127, 4));
        for id in honest..honest + 127 {
            assert_taken(send(scene, &mut enemy, id, 4));
        }
        scene.read(ENEMY);
        let mut last = enemy.short(None, vec![packet(0, 0, 0, 20).into()]);
        last.id = honest + 127;
        assert_eq!(scene.send_frame(&mut enemy, &last), TWICE);
        assert_eq!(scene.read(ENEMY), 1, "what it brings is taken");
        assert_taken(send(scene, &mut enemy, honest + 128, 4));
        assert!(scene.state(FRIEND).is_some());
    });
}

/// `[X13]` A frame without the right check moves nothing.
#[test]
fn a_leap_without_the_check_moves_nothing() {
    case(|scene| {
        let mut enemy = scene.enemy_at(
            ENEMY,
            &porous_tests::encoder::Offer {
                integrity: 1,
                ..offer()
            },
        );
        let honest = enemy.next;
        let mut forger = enemy.clone();
        forger.shape.check = Some(Check {
            is_crc: true,
            nonces: [enemy.nonces[0], enemy.nonces[1] ^ 1],
        });
        for leap in [0, 1, 1000, quarter(2), quarter(4) - 10] {
            assert_eq!(send(scene, &mut forger, honest + leap, 4), WRONG, "{leap}");
        }
        for id in honest..honest + 100 {
            assert_taken(send(scene, &mut enemy, id, 4));
        }
    });
}

/// `[X13 R6]` The width changes with every frame, and each id is the next: all are taken.
#[test]
fn widths_that_change_with_every_frame_are_read() {
    case_with(config().first_id(START), |scene| {
        let mut enemy = started(scene);
        for n in 1..=4000_u64 {
            let width = [1, 4, 2, 3][usize::try_from(n % 4).unwrap()];
            assert_taken(send(scene, &mut enemy, START + n, width));
            if n % 50 == 0 {
                scene.pass(Duration::from_secs(1));
            }
        }
    });
}

/// `[X13]` Before the first frame there is none, however its id is spelled.
#[test]
fn frames_before_the_first_one_do_not_exist() {
    case(|scene| {
        let mut enemy = scene.enemy();
        for width in 1..=4_u8 {
            for below in 1..=100_u64.min(2 * quarter(width) - 10) {
                let taken = send(scene, &mut enemy, below.wrapping_neg(), width);
                assert!(matches!(taken, Disposition::Ignored(_)), "{below} {width}");
            }
        }
        assert_taken(scene.send(&mut enemy, None, vec![noop()]));
    });
}

/// `[X13 R6 R7]` All ids of one byte, and all of two, forwards, backwards and at random.
#[test]
fn all_ids_of_short_widths_in_any_order() {
    case(|scene| {
        let mut enemy = scene.enemy();
        let mut random = porous_sim::Seed::new(5).stream("ids", 0);
        for width in [1_u8, 2] {
            let all = 1 << (8 * width);
            for round in 0..3 {
                for n in 0..all {
                    let id = match round {
                        0 => n,
                        1 => all - 1 - n,
                        _ => any(&mut random, all),
                    };
                    let _ = send(scene, &mut enemy, id.into(), width);
                }
            }
        }
        assert!(scene.state(ENEMY).is_some());
    });
}

/// `[X13 R7 R25]` Frames that leap ahead and fill holes behind, in turns: no frame costs more than the
/// first.
#[test]
fn leaps_and_holes_in_turns_cost_the_same_for_ever() {
    case_with(config().windows(65_536, 256).unwrap(), |scene| {
        let mut wide = offer();
        wide.windows[0] = 16;
        let mut enemy = scene.enemy_at(ENEMY, &wide);
        let mut id = enemy.next;
        for n in 0..20_000_u64 {
            id += [1, 255, 2, 65_536, 3, 1 << 20][usize::try_from(n % 6).unwrap()];
            if send(scene, &mut enemy, id, 4) == FAR {
                id += 1;
                assert_taken(send(scene, &mut enemy, id, 4));
            }
            let behind = send(scene, &mut enemy, id.saturating_sub(1 + n % 200), 4);
            assert!(behind != OLD || n % 2 == 0, "{n}");
            if n % 100 == 0 {
                scene.pass(Duration::from_secs(1));
            }
        }
    });
}

/// A peer whose counters begin at `first` talks and is answered, over the edge.
fn begins_at(scenes: &mut Scenes, first: u64, frames: u64) {
    scenes.attack(config().first_id(first), |scene| {
        let mut enemy = scene.enemy();
        enemy.next = first + 1;
        for n in 0..frames {
            let id = enemy.next - 1;
            let low = u32::try_from((first + n) & 0xFFFF).unwrap();
            let mut frame = enemy.short(None, vec![packet(1, 0, low, 10).into()]);
            frame.id = id;
            assert_taken(scene.send_frame(&mut enemy, &frame));
            assert_eq!(scene.read(ENEMY), 1, "{id}");
            if n > 0 {
                assert_eq!(scene.send_frame(&mut enemy, &frame), TWICE);
            }
            assert!(!scene.overhear(&mut enemy).is_empty());
        }
    });
}

/// `[X23]` Counters that pass 2^31 in the middle of a connection.
#[test]
fn counters_pass_the_end_of_31_bits() {
    case_of_many(|scenes| begins_at(scenes, (1 << 31) - 100, 200));
}

/// `[X23]` Counters that pass 2^32.
#[test]
fn counters_pass_the_end_of_32_bits() {
    case_of_many(|scenes| begins_at(scenes, (1 << 32) - 100, 200));
}

/// `[X23]` Counters that pass 2^63.
#[test]
fn counters_pass_the_end_of_63_bits() {
    // No key seals as many frames.
    if !is_sealed() {
        case_of_many(|scenes| begins_at(scenes, (1 << 63) - 100, 200));
    }
}

/// `[X23]` The last frames and packets that 64 bits can number: the very last id is not used, and
/// nothing lies beyond.
#[test]
fn counters_come_to_the_end_of_64_bits() {
    if is_sealed() {
        return; // no key seals as many frames
    }
    let first = u64::MAX - 1000;
    case_with(config().first_id(first), |scene| {
        let mut enemy = scene.enemy();
        assert_eq!(send(scene, &mut enemy, u64::MAX - 2, 4), FAR);
        assert_taken(send(scene, &mut enemy, u64::MAX - 1, 4));
        for id in [u64::MAX, 0, 1, 1000] {
            let taken = send(scene, &mut enemy, id, 4);
            assert!([OLD, WRONG].contains(&taken), "{id}: {taken:?}");
        }
        // Packets: the ids behind 2^64 - 2 do not exist, so that what names them is stale.
        for low in [0xFFFE_u32, 0xFFFF, 0, 1] {
            let mut frame = enemy.short(None, vec![packet(0, 0, low, 10).into()]);
            frame.id = u64::MAX - 300 + u64::from(low & 7);
            let _ = scene.send_frame(&mut enemy, &frame);
        }
        assert_ne!(
            scene.send(&mut enemy, None, vec![packet(0, 9, 0, 10).into()]),
            BAD
        );
    });
}

/// `[X13 R6]` Frames, far ahead and near, of a host that this one only tries to connect to: there is no
/// connection yet that they could move.
#[test]
fn frames_before_the_handshake_move_nothing() {
    case(|scene| {
        let mut enemy = scene.attempt();
        for ahead in [0, 1, 1000, quarter(4) - 1] {
            let taken = send(scene, &mut enemy, ahead, 4);
            assert!(matches!(taken, Disposition::Ignored(_)), "{taken:?}");
        }
        assert_eq!(scene.stats().frames_sent, 0);
    });
}
