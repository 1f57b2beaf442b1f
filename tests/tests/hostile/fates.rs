//! What became of packets, told by an enemy, and an enemy that wants to know it of its own.

use porous_proto::{Event, Mode, Outcome, SendError, SendOptions};
use porous_tests::encoder::{Message, Packet};
use porous_tests::remote::Remote;

use crate::peers::{BAD, assert_taken, control, packet, tombstone, window};
use crate::scene::{ENEMY, Scene, case};

/// The message that tells the fates of `count` packets up to this one.
fn fates(channel: u8, id: u32, (count, first): (u8, bool), skipped: u64) -> Message {
    let mut fields = vec![channel];
    fields.extend(id.to_le_bytes());
    fields.push(count | u8::from(first) << 7);
    fields.extend(&skipped.to_le_bytes()[..usize::from(count.div_ceil(8))]);
    control(12, &fields)
}

fn asking(mut packet: Packet) -> Packet {
    packet.receipt = true;
    packet
}

/// `[R14 X10]` Fates of packets that were never sent, and on channels that do not exist, are refused.
#[test]
fn fates_of_what_was_not_sent_are_refused() {
    case(|scene| {
        let mut enemy = scene.enemy();
        scene.chatter(&mut enemy, 3);
        let before = scene.judged();
        for far in [163, 255, 65_535, 1 << 24, (1 << 31) - 1] {
            for first in [false, true] {
                let taken = scene.send(&mut enemy, None, vec![fates(0, far, (64, first), 0)]);
                assert_eq!((taken, scene.judged()), (BAD, before), "{far}");
            }
        }
        for channel in 4..=255 {
            let taken = scene.send(
                &mut enemy,
                None,
                vec![fates(channel, u32::MAX, (1, true), 0)],
            );
            assert_eq!(taken, BAD, "{channel}");
        }
        for old in [1 << 31, u32::MAX - 1, u32::MAX] {
            assert_taken(scene.send(&mut enemy, None, vec![fates(0, old, (64, true), 0)]));
            assert_eq!(scene.judged(), before, "{old}");
        }
    });
}

/// `[B2 R14]` An enemy that passes packets without telling what became of them, or tells it again and
/// otherwise, or of those that are still on their way: each has its word, and takes room until it has one.
#[test]
fn fates_that_never_come_use_up_the_send_budget() {
    case(|scene| {
        let mut enemy = scene.enemy();
        let mut sent = 0_u32;
        // given: it tells of each packet that it passes, of some twice / then: each has one word
        for token in 0..20_000 {
            assert_eq!(send(scene, &mut enemy, token), Ok(()));
            sent += 1;
            let told = fates(0, sent - 1, (1, false), 0);
            assert_taken(scene.send(&mut enemy, None, vec![told]));
            if token % 2 == 0 {
                let otherwise = fates(0, sent - 1, (1, false), 1);
                assert_taken(scene.send(&mut enemy, None, vec![otherwise]));
            }
        }
        assert_eq!(words(scene, Outcome::Delivered), 20_000);
        // when: it passes them and tells of every eighth / then: the send budget holds
        let full = (0..100_000).find(|&token| {
            let is_full = send(scene, &mut enemy, token).is_err();
            sent += u32::from(!is_full);
            let told = fates(0, sent - 1, (1, false), 0);
            if sent % 8 == 0 {
                assert_taken(scene.send(&mut enemy, None, vec![told]));
            }
            is_full
        });
        assert!(full.is_some(), "it is never full");
        // ... and when it tells, there is room
        let first = fates(0, sent - 1, (1, true), 0);
        assert_taken(scene.send(&mut enemy, None, vec![first]));
        assert_eq!(send(scene, &mut enemy, 0), Ok(()));
    });
}

/// The host sends a packet with a receipt, and the enemy acknowledges that.
fn send(scene: &mut Scene, enemy: &mut Remote<u32>, token: u64) -> Result<(), SendError> {
    let options = SendOptions::new(Mode::Unreliable).receipt(token);
    scene.queue(0, options, 10)?;
    scene.flush();
    let _ = scene.overhear(enemy);
    let ack = scene.acknowledgement(enemy);
    assert_taken(scene.send(enemy, Some(ack), Vec::new()));
    Ok(())
}

/// The number of receipts with this outcome.
fn words(scene: &Scene, what: Outcome) -> usize {
    let says =
        |event: &&Event<u32>| matches!(event, Event::Receipt { outcome, .. } if *outcome == what);
    scene.events.iter().filter(says).count()
}

/// `[B2 R13 R17]` An enemy that wants receipts for everything on all channels, and acknowledges nothing:
/// packets that come, that come late and that never come, tombstones, windows and more.
#[test]
fn a_sender_that_wants_receipts_and_acknowledges_none_is_bounded() {
    case(|scene| {
        let mut enemy = scene.enemy();
        for n in 0..20_000_u32 {
            let channel = (n % 4).to_le_bytes()[0];
            let id = n / 4 * 3;
            let mode = (n % 3).to_le_bytes()[0];
            let mut messages = vec![asking(packet(mode, channel, id, 5)).into()];
            if n % 5 == 0 {
                messages.push(asking(packet(2, channel, id.saturating_sub(1), 5)).into());
                messages.push(window(channel, u32::MAX));
            }
            if n % 7 == 0 {
                messages.push(tombstone(channel, u16::try_from(id + 1).unwrap(), 0));
            }
            let _ = scene.send(&mut enemy, None, messages);
            scene.read(ENEMY);
            scene.said.clear();
            if n % 100 == 0 {
                scene.pass(core::time::Duration::from_millis(600));
            }
        }
    });
}
