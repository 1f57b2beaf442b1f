//! Readers that are slow or stop, and what enemies make of it.

use core::time::Duration;

use porous_proto::Mode;
use porous_tests::encoder::Message;

use crate::peers::{FULL, PASSIVE, RELIABLE, UNRELIABLE, assert_taken, packet};
use crate::scene::{Cost, ENEMY, case, case_with, config, offer};

/// `[R25 R11]` A window full of packets that came in part is skipped at once: each costs one step of
/// the reader, not one for all that lie before it.
#[test]
fn a_window_of_incomplete_packets_is_skipped_in_one_go() {
    let cost = Cost {
        bytes: 3_400_000,
        steps: 160_000,
    };
    let wide = config().windows(256, 16_384).unwrap();
    let wide = wide.receive_budget(65_536, 4 << 20).unwrap();
    case_with(wide, cost, |scene| {
        let mut offer = offer();
        offer.windows[1] = 14;
        let mut enemy = scene.enemy_at(ENEMY, &offer);
        for first in (0..16_383).step_by(128) {
            let ids = first..(first + 128).min(16_383);
            let part = |id| Message::from(packet(PASSIVE, 0, id, 1).part(1, 2));
            assert_taken(scene.send(&mut enemy, None, ids.map(part).collect()));
        }
        let last = packet(UNRELIABLE, 0, 16_383, 1).into();
        assert_taken(scene.send(&mut enemy, None, vec![last]));
        assert_eq!(scene.read(ENEMY), 1);
    });
}
