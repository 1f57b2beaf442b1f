//! Sentinels and tombstones of what was never sent.

use core::time::Duration;

use porous_proto::{Disposition, Malformed};
use porous_tests::encoder::{Message, Packet};

use crate::peers::{
    BAD, PASSIVE, RELIABLE, UNRELIABLE, assert_taken, fits, malformed, packet, sentinel, tombstone,
};
use crate::scene::{ENEMY, case, case_with, config};

/// N_Q and M.
const WINDOW: u16 = 256;
const SPACING: u16 = 32;

/// `[X15]` Sentinels of all ids: those that cannot have one are refused.
#[test]
fn only_marked_ids_have_sentinels() {
    case(|scene| {
        let mut enemy = scene.enemy();
        for id in 0..=u16::MAX {
            let taken = scene.send(&mut enemy, None, vec![sentinel(0, id, 0)]);
            let is_marked = id % SPACING == SPACING - 1;
            assert_eq!(matches!(taken, Disposition::Handled(_)), is_marked, "{id}");
            scene.said.clear();
        }
        assert_eq!(
            scene.host.host.audit().sentinels,
            usize::from(WINDOW / SPACING)
        );
    });
}

/// `[X15 R13]` Sentinels of everything in all channels, twice, backwards: as many are kept as a window
/// has, and they take nothing of the budget.
#[test]
fn sentinels_of_everything_are_few() {
    case(|scene| {
        let mut enemy = scene.enemy();
        for _ in 0..2 {
            for id in (0..2048).rev().filter(|id| id % SPACING == SPACING - 1) {
                let messages = (0..4).map(|channel| sentinel(channel, id, 0)).collect();
                assert_taken(scene.send(&mut enemy, None, messages));
            }
        }
        let audit = scene.host.host.audit();
        assert_eq!((audit.sentinels, audit.kept, audit.entries), (32, 0, 0));
        assert_eq!(scene.read(ENEMY), 0);
    });
}

/// `[X15]` A channel moves by sentinels alone, for two rounds of the id space, although nothing was ever
/// sent: nothing is delivered, and what is sent then is.
#[test]
fn a_channel_can_be_moved_by_sentinels_alone() {
    case(|scene| {
        let mut enemy = scene.enemy();
        let mut last = SPACING - 1;
        for _ in 0..2 * (65_536 / u32::from(SPACING)) {
            assert_taken(scene.send(&mut enemy, None, vec![sentinel(0, last, 0)]));
            assert_eq!(scene.read(ENEMY), 0);
            last = last.wrapping_add(SPACING);
            scene.said.clear();
        }
        // The newest N_Q - M stay open; all older ones were skipped.
        let old = last.wrapping_sub(WINDOW);
        let near = last.wrapping_sub(SPACING / 2);
        for (id, read) in [(old, 0), (near, 1)] {
            let message = packet(UNRELIABLE, 0, id.into(), 1).into();
            assert_taken(scene.send(&mut enemy, None, vec![message]));
            assert_eq!(scene.read(ENEMY), read, "{id}");
        }
    });
}

/// `[X14 X15]` Sentinels and tombstones that depend on what was before the first packet are refused; beyond the
/// window they are malformed.
#[test]
fn markers_with_dependencies_that_cannot_be_mark_nothing() {
    case(|scene| {
        let mut enemy = scene.enemy();
        for make in [sentinel, tombstone] {
            for dependency in [32, 255] {
                let message = make(0, 31, dependency);
                assert_eq!(scene.send(&mut enemy, None, vec![message]), BAD);
            }
            for far in [256, 65_535, 65_536, u32::MAX] {
                let taken = scene.send(&mut enemy, None, vec![make(0, 31, far)]);
                assert_eq!(taken, malformed(Malformed::BadValue));
            }
        }
        let audit = scene.host.host.audit();
        assert_eq!((audit.sentinels, audit.entries), (0, 0));
    });
}

/// `[X15]` A sentinel whose packet comes as a reliable one, or with another dependency: only what the
/// sentinel stands for is taken.
#[test]
fn a_sentinel_stands_for_an_unreliable_packet() {
    case(|scene| {
        let mut enemy = scene.enemy();
        assert_taken(scene.send(&mut enemy, None, vec![sentinel(0, 31, 0)]));
        for mode in [RELIABLE, PASSIVE] {
            let message = packet(mode, 0, 31, 1).into();
            assert_eq!(scene.send(&mut enemy, None, vec![message]), BAD);
        }
        let message = packet(UNRELIABLE, 0, 31, 1).into();
        assert_taken(scene.send(&mut enemy, None, vec![message]));
        assert_eq!(scene.read(ENEMY), 1);
    });
}

/// `[X15]` A sentinel waits for ever on a dependency that never comes: it holds up its channel only, and
/// unreliable packets of others pass.
#[test]
fn a_sentinel_that_waits_for_ever_holds_up_its_channel_only() {
    case(|scene| {
        let mut enemy = scene.enemy();
        assert_taken(scene.send(&mut enemy, None, vec![sentinel(0, 31, 5)]));
        for id in 32..256 {
            let waits = Packet {
                dependency: id - 26,
                ..packet(UNRELIABLE, 0, id, 1)
            };
            let messages = vec![waits.into(), packet(UNRELIABLE, 1, id, 1).into()];
            assert_taken(scene.send(&mut enemy, None, messages));
        }
        scene.pass(Duration::from_secs(1));
        assert_eq!(scene.read(ENEMY), 224);
    });
}

/// `[X15]` Tombstones of a whole window that was never sent, backwards and twice: they cost what empty
/// packets do, are consumed, and nothing is delivered.
#[test]
fn tombstones_of_what_was_never_sent_bury_nothing() {
    case(|scene| {
        let mut enemy = scene.enemy();
        for _ in 0..2 {
            for id in (0..2 * WINDOW).rev() {
                let dependency = u32::from(id > 0);
                let message = tombstone(0, id, dependency);
                assert_taken(scene.send(&mut enemy, None, vec![message]));
            }
        }
        let audit = scene.host.host.audit();
        assert_eq!((audit.entries, audit.kept), (256, 256 * 64));
        assert_eq!(scene.read(ENEMY), 0);
        let audit = scene.host.host.audit();
        assert_eq!((audit.entries, audit.kept), (0, 0));
    });
}

/// `[X15 R11]` Tombstones in all windows of all channels, with a budget for a few: it is kept.
#[test]
fn tombstones_count_in_the_budget() {
    let tiny = config().receive_budget(1000, 64 * 100).unwrap();
    case_with(tiny, |scene| {
        let mut enemy = scene.enemy();
        let mut taken = 0;
        for id in 1..WINDOW {
            for channel in 0..4 {
                let messages = vec![tombstone(channel, id, 1)];
                taken += u32::from(fits(scene.send(&mut enemy, None, messages)));
            }
            scene.said.clear();
        }
        assert_eq!(taken, 100);
    });
}

/// `[X15 X5]` A tombstone for a reliable or passive packet that has come in part buries it; of a whole
/// one, or an unreliable one, it does nothing.
#[test]
fn a_tombstone_buries_only_what_is_incomplete_and_repeated() {
    case(|scene| {
        let mut enemy = scene.enemy();
        for (channel, mode) in [(0, RELIABLE), (1, UNRELIABLE), (2, PASSIVE)] {
            let part = packet(mode, channel, 0, 10).part(256, 266).into();
            let whole = packet(mode, channel, 1, 10).into();
            assert_taken(scene.send(&mut enemy, None, vec![part, whole]));
        }
        let kept = |scene: &mut crate::scene::Scene| scene.host.host.audit().kept;
        assert_eq!(kept(scene), 6 * 74);
        let all = (0..4).flat_map(|channel| (0..2).map(move |id| tombstone(channel, id, 0)));
        let all: Vec<Message> = all.collect();
        for _ in 0..3 {
            assert_taken(scene.send(&mut enemy, None, all.clone()));
            // Twice ten bytes less, and two tombstones where there was nothing.
            assert_eq!(kept(scene), 6 * 74 - 2 * 10 + 2 * 64);
        }
        assert_eq!(scene.read(ENEMY), 3);
    });
}

/// `[X15 R24]` Tombstones and fragments of the same packets in one datagram, in both orders: the books
/// are right, whatever was first.
#[test]
fn tombstones_and_fragments_of_one_packet_in_one_datagram() {
    case(|scene| {
        let mut enemy = scene.enemy();
        for id in 0..100_u16 {
            let part = || packet(RELIABLE, 0, id.into(), 9).part(768, 777).into();
            let mut messages = vec![tombstone(0, id, 0), part(), tombstone(0, id, 0), part()];
            messages.rotate_left(usize::from(id % 2));
            assert_taken(scene.send(&mut enemy, None, messages));
        }
        assert_eq!(scene.host.host.audit().kept, 6400);
        assert_eq!(scene.read(ENEMY), 0);
    });
}
