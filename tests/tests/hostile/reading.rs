//! What a call of the reader or a timer may cost, however much enemies have piled up before it.

use core::time::Duration;

use porous_tests::encoder::Message;

use crate::peers::{PASSIVE, UNRELIABLE, assert_taken, packet, tombstone};
use crate::scene::{ENEMY, case_with, config, offer};

/// `[R25 R11]` A window full of packets that came in part is skipped at once: each costs one step of
/// the reader, not one for all that lie before it.
#[test]
fn a_window_of_incomplete_packets_is_skipped_in_one_go() {
    let wide = config().windows(256, 16_384).unwrap();
    let wide = wide.receive_budget(65_536, 4 << 20).unwrap();
    case_with(wide, |scene| {
        let mut offer = offer();
        offer.windows[1] = 14;
        let mut enemy = scene.enemy_at(ENEMY, &offer);
        for first in (0..16_383).step_by(128) {
            let ids = first..(first + 128).min(16_383);
            let part = |id| Message::from(packet(PASSIVE, 0, id, 1).part(256, 257));
            assert_taken(scene.send(&mut enemy, None, ids.map(part).collect()));
        }
        let last = packet(UNRELIABLE, 0, 16_383, 1).into();
        assert_taken(scene.send(&mut enemy, None, vec![last]));
        assert_eq!(scene.read(ENEMY), 1);
    });
}

/// `[R25 X15]` A window full of tombstones is consumed by the next call that reads.
#[test]
fn a_window_of_tombstones_is_consumed_in_one_go() {
    let wide = config().windows(256, 16_384).unwrap();
    let wide = wide.receive_budget(65_536, 4 << 20).unwrap();
    case_with(wide, |scene| {
        let mut offer = offer();
        offer.windows[1] = 14;
        let mut enemy = scene.enemy_at(ENEMY, &offer);
        for first in (1..16_384_u16).step_by(128).rev() {
            let ids = (first..(first + 128).min(16_384)).rev();
            let all = ids.map(|id| tombstone(0, id, 1)).collect();
            assert_taken(scene.send(&mut enemy, None, all));
        }
        assert_eq!(scene.read(ENEMY), 0);
        let first = packet(1, 0, 0, 1).into();
        assert_taken(scene.send(&mut enemy, None, vec![first]));
        assert_eq!(scene.read(ENEMY), 1);
    });
}

/// `[R18 R12 R25]` Thousands of incomplete packets in 255 channels come to their deadline at once.
#[test]
fn incomplete_packets_of_all_channels_are_given_up_in_one_go() {
    let wide = config()
        .channels(&[porous_proto::Priority::Low; 255])
        .unwrap();
    let wide = wide.receive_budget(65_536, 4 << 20).unwrap();
    case_with(wide, |scene| {
        let mut offer = offer();
        offer.channels = 255;
        let mut enemy = scene.enemy_at(ENEMY, &offer);
        for id in 0..40 {
            for channels in [0..128, 128..255_u8] {
                let part =
                    |channel| Message::from(packet(UNRELIABLE, channel, id, 1).part(256, 257));
                assert_taken(scene.send(&mut enemy, None, channels.map(part).collect()));
            }
        }
        assert_eq!(scene.host.host.audit().entries, 255 * 32);
        scene.pass(Duration::from_millis(2001));
        assert_eq!(scene.host.host.audit().entries, 0);
        assert_eq!(scene.read(ENEMY), 0);
    });
}

/// `[R25 R14]` A budget's worth of packets in 255 channels is read: all report at once, and the reports leave
/// in as many datagrams as they fill.
#[test]
fn windows_of_all_channels_are_reported_in_few_datagrams() {
    let wide = config()
        .channels(&[porous_proto::Priority::Low; 255])
        .unwrap();
    case_with(wide, |scene| {
        let mut offer = offer();
        offer.channels = 255;
        let mut enemy = scene.enemy_at(ENEMY, &offer);
        for id in 0..16 {
            for channels in [0..128, 128..255_u8] {
                let whole = |channel| Message::from(packet(UNRELIABLE, channel, id, 0));
                assert_taken(scene.send(&mut enemy, None, channels.map(whole).collect()));
            }
        }
        scene.said.clear();
        assert_eq!(scene.read(ENEMY), 255 * 16);
        scene.flush();
        let windows: usize = scene
            .overhear(&mut enemy)
            .iter()
            .map(|frame| frame.controls.len())
            .sum();
        assert!((255..4 * 255).contains(&windows), "{windows}");
    });
}
