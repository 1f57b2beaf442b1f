//! The host sends to an enemy that gives it little room, or none, for ever.

use core::time::Duration;

use porous_proto::{Event, Mode, SendError};
use porous_tests::config::{by_policy, has_window};
use porous_tests::encoder::Offer;
use porous_tests::remote::Remote;

use crate::peers::{ack_of, all_up_to, assert_taken, noop, window};
use crate::scene::{ENEMY, Scene, case, case_with, config, offer};

/// An enemy that lets time pass, and says that it is there.
fn silent(scene: &mut Scene, enemy: &mut Remote<u32>, seconds: u64) {
    for _ in 0..seconds {
        scene.pass(Duration::from_secs(1));
        assert_taken(scene.send(enemy, None, vec![noop()]));
        scene.overhear(enemy);
    }
}

/// The enemy acknowledges everything at once but never moves a window, for `seconds`: the number of
/// frames with packets that the host sends.
fn agreeing(scene: &mut Scene, enemy: &mut Remote<u32>, seconds: u64) -> usize {
    let mut data = 0;
    for _ in 0..seconds {
        scene.flush();
        loop {
            let heard = scene.overhear(enemy);
            let frames = heard.iter().filter(|frame| frame.data > 0).count();
            let ack = all_up_to(enemy, enemy.newest.0);
            assert_taken(scene.send(enemy, Some(ack), vec![]));
            data += frames;
            if frames == 0 {
                break;
            }
        }
        scene.pass(Duration::from_secs(1));
        assert_taken(scene.send(enemy, None, vec![noop()]));
    }
    data
}

/// `[X10 R10]` The least windows and the least budget that an offer may have, and they never move: the
/// host queues what its send budget allows, says that it is full, and sends one packet.
#[test]
fn the_smallest_windows_that_never_move() {
    case_with(config().send_budget(12_740).unwrap(), |scene| {
        let mut enemy = scene.enemy_at(
            ENEMY,
            &Offer {
                windows: [4, 4],
                packet: 1,
                budget: 65,
                ..offer()
            },
        );
        let mut queued = 0;
        let refused = loop {
            match scene.queue(0, Mode::Reliable, 1) {
                Ok(()) => queued += 1,
                Err(error) => break error,
            }
        };
        // Of 12,740 bytes the packets of a channel that are not unreliable may take 9954.
        assert_eq!((queued, refused), (9954 / 65, SendError::Full));
        assert_eq!(scene.queue(1, Mode::Reliable, 2), Err(SendError::TooLarge));
        assert_eq!(agreeing(scene, &mut enemy, 60), 1);
        assert!(scene.state(ENEMY).is_some());
        assert_eq!(scene.stats().queued_bytes, 65 * (queued - 1));
    });
}

/// `[X10 R10 X25]` The windows move at last, one packet at a time: everything is sent, and `Writable`
/// is told once.
#[test]
fn the_smallest_windows_that_move_one_packet_at_a_time() {
    case_with(config().send_budget(12_740).unwrap(), |scene| {
        let mut enemy = scene.enemy_at(
            ENEMY,
            &Offer {
                windows: [4, 4],
                packet: 1,
                budget: 65,
                ..offer()
            },
        );
        while scene.queue(0, Mode::Reliable, 1).is_ok() {}
        scene.flush();
        let mut data = 0;
        for n in 0..9954 / 65 {
            let heard = scene.overhear(&mut enemy);
            data += heard.iter().filter(|frame| frame.data > 0).count();
            let ack = all_up_to(&enemy, enemy.newest.0);
            assert_taken(scene.send(&mut enemy, Some(ack), vec![window(0, n)]));
        }
        assert_eq!((data, scene.stats().queued_bytes), (153, 0));
        let is_writable = |event: &&Event<u32>| matches!(event, Event::Writable { .. });
        assert_eq!(scene.events.iter().filter(is_writable).count(), 1);
    });
}

/// `[X10]` The greatest windows, budgets, packets and rates that can be said: the host's own count.
#[test]
fn the_greatest_numbers_that_can_be_said() {
    case(|scene| {
        let offer = Offer {
            windows: [16, 16],
            packet: u32::MAX - 64,
            budget: u32::MAX,
            datagram: u16::MAX,
            extensions: u32::MAX,
            ..offer()
        };
        let mut enemy = scene.enemy_at(ENEMY, &offer);
        enemy.shape.window = 256;
        assert_eq!(
            scene.queue(0, Mode::Reliable, 65_537),
            Err(SendError::TooLarge)
        );
        for channel in 0..4 {
            assert_eq!(scene.queue(channel, Mode::Reliable, 65_536), Ok(()));
        }
        scene.flush();
        assert!(
            scene
                .said
                .iter()
                .all(|(_, datagram)| datagram.len() <= 1200)
        );
        silent(scene, &mut enemy, 5);
        // Under the modern policy each frame is repeated once, and some are at each timeout.
        let bound = by_policy(2 * 12_000 + 32 * 1200, 12_000);
        assert!(!has_window() || scene.stats().flight <= bound);
    });
}

/// `[R10 B2 X25]` Nothing is acknowledged and no window moves, and the host has more to say all the
/// time: what is unreliable grows old and leaves, what is reliable waits.
#[test]
fn unreliable_packets_that_cannot_leave_grow_old() {
    case_with(config().send_budget(100_000).unwrap(), |scene| {
        let mut enemy = scene.enemy();
        for _ in 0..20 {
            assert_eq!(scene.queue(1, Mode::Reliable, 1000), Ok(()));
        }
        let mut full = 0;
        for _ in 0..100 {
            for _ in 0..12 {
                full += u32::from(scene.queue(0, Mode::Unreliable, 1000).is_err());
            }
            silent(scene, &mut enemy, 1);
            assert!(scene.stats().queued_bytes <= 100_000);
        }
        let stats = scene.stats();
        assert!(stats.packets_expired > 800, "{stats:?}");
        assert!(full < 100, "{full}");
        assert!(stats.queued_bytes >= 15 * 1064, "{stats:?}");
    });
}

/// `[R10 X25]` All is acknowledged, but nothing is read: the host keeps to the budget that it was
/// given, for ever, and the connection lives.
#[test]
fn a_remote_reader_that_stops_is_sent_its_budget() {
    case(|scene| {
        let mut enemy = scene.enemy_at(
            ENEMY,
            &Offer {
                budget: 70_000,
                ..offer()
            },
        );
        for channel in 0..4 {
            for _ in 0..100 {
                assert_eq!(scene.queue(channel, Mode::Reliable, 1000), Ok(()));
            }
        }
        let sent = agreeing(scene, &mut enemy, 100);
        assert_eq!(sent, 70_000 / 1064);
        let audit = scene.host.host.audit();
        assert!(audit.charged <= 70_000 + 1064, "{audit:?}");
    });
}

/// `[R10 B2 X10]` One byte less than a packet needs: it is never sent, what is smaller on other
/// channels is, and the packet holds up its own channel only.
#[test]
fn a_budget_that_a_packet_does_not_fit_into_once_more() {
    case(|scene| {
        let budget = 1000 + 64;
        let mut enemy = scene.enemy_at(
            ENEMY,
            &Offer {
                packet: 1000,
                budget,
                ..offer()
            },
        );
        assert_eq!(scene.queue(0, Mode::Reliable, 1), Ok(()));
        scene.flush();
        scene.overhear(&mut enemy);
        assert_eq!(scene.queue(1, Mode::Reliable, 1000), Ok(()));
        assert_eq!(agreeing(scene, &mut enemy, 10), 0);
        for n in 0..10 {
            assert_eq!(scene.queue(2, Mode::Reliable, 5), Ok(()));
            assert_eq!(agreeing(scene, &mut enemy, 1), 1, "{n}");
        }
        for (channel, newest) in [(0, 0), (2, 9)] {
            assert_taken(scene.send(&mut enemy, None, vec![window(channel, newest)]));
        }
        assert_eq!(agreeing(scene, &mut enemy, 1), 1);
    });
}

/// `[R9 B2 X10]` The window of frames is the smallest one, and one frame of it is never acknowledged:
/// others are sent as it is given up, and all is delivered in the end.
#[test]
fn one_frame_that_is_never_acknowledged_in_the_smallest_window() {
    case(|scene| {
        let mut enemy = scene.enemy_at(
            ENEMY,
            &Offer {
                windows: [4, 8],
                ..offer()
            },
        );
        for _ in 0..200 {
            assert_eq!(scene.queue(0, Mode::Reliable, 1000), Ok(()));
        }
        scene.flush();
        for _ in 0..1000 {
            for frame in scene.overhear(&mut enemy) {
                if frame.id % 16 != 7 {
                    let ack = ack_of(frame.id);
                    assert_taken(scene.send(&mut enemy, Some(ack), vec![]));
                }
            }
            scene.pass(Duration::from_millis(50));
        }
        assert_eq!(scene.stats().queued_bytes, 0);
    });
}
