//! Frame ids that leap, fall back, or come to the end of their bits.

use core::time::Duration;

use porous_proto::{Disposition, Malformed};
use porous_tests::remote::Remote;

use crate::peers::{BAD, OLD, TWICE, any, assert_taken, malformed, noop, packet};
use crate::scene::{Cost, ENEMY, FRIEND, Scene, case, case_with, config, offer};

/// Counters start a few seconds from 0, so that what lies behind exists.
const START: u64 = 10_000_000_000;

/// The enemy sends a frame with this id, of which so many bytes are sent.
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
fn each_width(cost: Cost, attack: impl Fn(&mut Scene, &mut Remote<u32>, u8)) {
    for width in 1..=4 {
        case_with(config().first_id(START), cost, |scene| {
            let mut enemy = started(scene);
            attack(scene, &mut enemy, width);
        });
    }
}

/// `[X13 R6]` A frame that is ahead by as much as its width can say, and one less: both are taken.
#[test]
fn frames_ahead_by_just_less_than_a_quarter_are_taken() {
    let cost = Cost {
        bytes: 4300,
        steps: 100,
    };
    each_width(cost, |scene, enemy, width| {
        let next = START + 1;
        let near = next + quarter(width) - 2;
        assert_taken(send(scene, enemy, near, width));
        // i_b has moved: a quarter from there on.
        scene.pass(Duration::from_secs(3));
        assert_taken(send(scene, enemy, near + quarter(width), width));
    });
}

/// `[X13 R6]` A frame that is ahead by a quarter of what its width can say, or by more, is one that is
/// late: nothing moves.
#[test]
fn frames_ahead_by_a_quarter_are_taken_for_old_ones() {
    let cost = Cost {
        bytes: 500,
        steps: 100,
    };
    each_width(cost, |scene, enemy, width| {
        let next = START + 1;
        for ahead in [0, 1, 2, quarter(width), 2 * quarter(width)] {
            let id = next + quarter(width) + ahead;
            let taken = send(scene, enemy, id, width);
            let is_late = [OLD, TWICE].contains(&taken) || width == 1;
            assert!(is_late, "{ahead} of {width}: {taken:?}");
        }
        assert_taken(send(scene, enemy, next, 4));
    });
}

/// `[X13 R6]` Frames of each width that are three quarters of its space behind, one more, one less.
#[test]
fn frames_behind_by_three_quarters_are_too_old() {
    let cost = Cost {
        bytes: 4700,
        steps: 100,
    };
    each_width(cost, |scene, enemy, width| {
        let next = START + 1;
        let far = 3 * quarter(width);
        for behind in [far - 1, far] {
            let taken = send(scene, enemy, next - behind, width);
            assert!(
                taken == OLD || (width == 1 && behind < 256),
                "{behind} {width}"
            );
        }
        // One more, and it is as far ahead as can be.
        assert_taken(send(scene, enemy, next - far - 1, width));
        scene.pass(Duration::from_secs(3));
        assert_taken(send(scene, enemy, next + quarter(width), 4));
    });
}

/// `[X13 R6]` 255 and 256 frames behind the newest one are late; 257 is too old.
#[test]
fn frames_behind_are_taken_up_to_256() {
    let cost = Cost {
        bytes: 500,
        steps: 100,
    };
    case_with(config().first_id(START), cost, |scene| {
        let mut enemy = started(scene);
        let next = START + 1000;
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

/// `[X13]` Somebody who knows the connection's id, without a checksum, makes the frames of its peer
/// look old. The peer is not heard until its ids have caught up; others notice nothing.
#[test]
fn a_leap_that_makes_honest_frames_look_old_hurts_one_connection() {
    let cost = Cost {
        bytes: 9500,
        steps: 100,
    };
    case(cost, |scene| {
        let mut enemy = scene.enemy();
        let honest = enemy.next;
        assert_taken(send(scene, &mut enemy, honest + 1000, 4));
        for id in honest..honest + 744 {
            assert_eq!(send(scene, &mut enemy, id, 4), OLD);
        }
        for id in honest + 745..honest + 1000 {
            assert_taken(send(scene, &mut enemy, id, 4));
        }
        assert!(scene.state(FRIEND).is_some());
    });
}

/// `[X13]` The same with a checksum: what does not have it moves nothing.
#[test]
fn a_leap_without_the_checksum_moves_nothing() {
    let cost = Cost {
        bytes: 9500,
        steps: 100,
    };
    case(cost, |scene| {
        let mut enemy = scene.enemy_at(
            ENEMY,
            &porous_tests::encoder::Offer {
                integrity: 1,
                ..offer()
            },
        );
        let honest = enemy.next;
        let mut forger = enemy.clone();
        forger.shape.sealed = Some([enemy.nonces[0], enemy.nonces[1] ^ 1]);
        for leap in [0, 1, 1000, quarter(2), quarter(4) - 10] {
            let taken = send(scene, &mut forger, honest + leap, 4);
            assert_eq!(taken, malformed(Malformed::Integrity), "{leap}");
        }
        for id in honest..honest + 100 {
            assert_taken(send(scene, &mut enemy, id, 4));
        }
    });
}

/// `[X13 R6]` The width changes with every frame, and each id is the next: all are taken, unless the
/// ids move too fast for one byte.
#[test]
fn widths_that_change_with_every_frame_are_read() {
    let cost = Cost {
        bytes: 16_000,
        steps: 100,
    };
    case_with(config().first_id(START), cost, |scene| {
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

/// `[X13 R6]` Ids that move by three quarters of a width's space in two seconds: that width is not
/// believed until they have come to rest.
#[test]
fn a_width_is_not_believed_while_ids_move_too_fast_for_it() {
    let cost = Cost {
        bytes: 4700,
        steps: 100,
    };
    case_with(config().first_id(START), cost, |scene| {
        let mut enemy = started(scene);
        scene.pass(Duration::from_secs(3));
        assert_taken(send(scene, &mut enemy, START + 191, 4));
        assert_taken(send(scene, &mut enemy, START + 192, 1));
        assert_taken(send(scene, &mut enemy, START + 193, 2));
        for ahead in [194, 195, 250] {
            assert_eq!(send(scene, &mut enemy, START + ahead, 1), OLD, "{ahead}");
        }
        scene.pass(Duration::from_secs(3));
        assert_taken(send(scene, &mut enemy, START + 194, 1));
    });
}

/// `[X13]` Before the first frame there is none, however its id is spelled.
#[test]
fn frames_before_the_first_one_do_not_exist() {
    let cost = Cost {
        bytes: 500,
        steps: 100,
    };
    case(cost, |scene| {
        let mut enemy = scene.enemy();
        for width in 1..=4_u8 {
            for below in 1..=100_u64.min(2 * quarter(width) - 10) {
                let taken = send(scene, &mut enemy, below.wrapping_neg(), width);
                assert!(matches!(taken, Disposition::Ignored(_)), "{below} {width}");
            }
        }
        let next = enemy.next;
        assert_taken(send(scene, &mut enemy, next, 4));
    });
}

/// `[X13 R6 R7]` All ids of one byte, and all of two, forwards, backwards and at random.
#[test]
fn all_ids_of_short_widths_in_any_order() {
    let cost = Cost {
        bytes: 9500,
        steps: 100,
    };
    case(cost, |scene| {
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
    let cost = Cost {
        bytes: 36_000,
        steps: 2600,
    };
    case_with(config().windows(65_536, 256).unwrap(), cost, |scene| {
        let mut wide = offer();
        wide.windows[0] = 16;
        let mut enemy = scene.enemy_at(ENEMY, &wide);
        let mut id = enemy.next;
        for n in 0..20_000_u64 {
            id += [1, 255, 2, 65_536, 3, 1 << 20][usize::try_from(n % 6).unwrap()];
            assert_taken(send(scene, &mut enemy, id, 4));
            let behind = send(scene, &mut enemy, id.saturating_sub(1 + n % 200), 4);
            assert!(behind != OLD || n % 2 == 0, "{n}");
            if n % 100 == 0 {
                scene.pass(Duration::from_secs(1));
            }
        }
    });
}

/// What happens to a peer whose counters begin here: it talks and is answered, over the edge.
fn begins_at(first: u64, frames: u64, cost: Cost) {
    case_with(config().first_id(first), cost, |scene| {
        let mut enemy = scene.enemy();
        enemy.next = first + 1;
        for n in 0..frames {
            let id = enemy.next - 1;
            // [`Scene::enemy`] has sent its first frame as 0 already.
            let was_sent = id.trailing_zeros() >= 32;
            let low = u32::try_from((first + n) & 0xFFFF).unwrap();
            let mut frame = enemy.short(None, vec![packet(1, 0, low, 10).into()]);
            frame.id = id;
            let taken = scene.send_frame(&mut enemy, &frame);
            if was_sent {
                assert_eq!(taken, TWICE);
                frame.id += 150;
                assert_taken(scene.send_frame(&mut enemy, &frame));
            }
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
    let cost = Cost {
        bytes: 40_000,
        steps: 110,
    };
    begins_at((1 << 31) - 100, 200, cost);
}

/// `[X23]` Counters that pass 2^32.
#[test]
fn counters_pass_the_end_of_32_bits() {
    let cost = Cost {
        bytes: 40_000,
        steps: 100,
    };
    begins_at((1 << 32) - 100, 200, cost);
}

/// `[X23]` Counters that pass 2^63.
#[test]
fn counters_pass_the_end_of_63_bits() {
    let cost = Cost {
        bytes: 40_000,
        steps: 100,
    };
    begins_at((1 << 63) - 100, 200, cost);
}

/// `[X23]` The last frames that 64 bits can number, and packets likewise: the very last id is not
/// used, and nothing lies beyond.
#[test]
fn counters_come_to_the_end_of_64_bits() {
    let cost = Cost {
        bytes: 500,
        steps: 100,
    };
    let first = u64::MAX - 1000;
    case_with(config().first_id(first), cost, |scene| {
        let mut enemy = scene.enemy();
        assert_taken(send(scene, &mut enemy, u64::MAX - 2, 4));
        assert_taken(send(scene, &mut enemy, u64::MAX - 1, 4));
        for id in [u64::MAX, 0, 1, 1000] {
            let taken = send(scene, &mut enemy, id, 4);
            assert_eq!(taken, OLD, "{id}");
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

/// `[X13 R6]` Frames from whom the host only tries to connect to, far ahead and near: there is no
/// connection yet that they could move.
#[test]
fn frames_before_the_handshake_move_nothing() {
    let cost = Cost { bytes: 0, steps: 0 };
    case(cost, |scene| {
        let mut enemy = scene.attempt();
        for ahead in [0, 1, 1000, quarter(4) - 1] {
            let taken = send(scene, &mut enemy, ahead, 4);
            assert!(matches!(taken, Disposition::Ignored(_)), "{taken:?}");
        }
        assert_eq!(scene.stats().frames_sent, 0);
    });
}
