//! Acknowledgements that are meant to lead the recovery of losses astray.
//!
//! What is repeated, what is taken for lost, and what is believed of it.

use core::time::Duration;

use porous_proto::congestion::Congestion;
use porous_proto::{DisconnectReason, Mode};
use porous_tests::config::{by_policy, has_window};
use porous_tests::encoder::Short;
use porous_tests::remote::Remote;

use crate::peers::{Heard, ack_of, all_up_to, assert_taken, noop, window};
use crate::scene::{ENEMY, Scene, case, case_with, config};

const SECOND: Duration = Duration::from_secs(1);
const MS: Duration = Duration::from_millis(1);

/// The number of frames that hold packets.
fn frames(heard: &[Heard]) -> usize {
    heard.iter().filter(|frame| frame.data > 0).count()
}

/// The host has packets to send that fill `frames`.
fn load(scene: &mut Scene, frames: usize) {
    for _ in 0..frames {
        assert_eq!(scene.queue(0, Mode::Reliable, 1000), Ok(()));
    }
}

/// The host sends `packets`, in a frame each.
fn small(scene: &mut Scene, mode: Mode, packets: u32) {
    for _ in 0..packets {
        assert_eq!(scene.queue(0, mode, 1), Ok(()));
        scene.flush();
    }
}

/// The enemy says that `packets` have all arrived and were read.
fn agree(scene: &mut Scene, enemy: &mut Remote<u32>, packets: u32) {
    loop {
        scene.overhear(enemy);
        let ack = all_up_to(enemy, enemy.newest.0);
        assert_taken(scene.send(enemy, Some(ack), vec![window(0, packets - 1)]));
        let stats = scene.stats();
        if stats.queued_bytes == 0 && stats.flight == 0 {
            return;
        }
    }
}

fn assert_nothing_is_open(scene: &Scene) {
    let stats = scene.stats();
    assert_eq!((stats.queued_bytes, stats.flight), (0, 0), "{stats:?}");
}

/// `[X8 R22]` Of what is sent for the first time nothing is acknowledged, only what is repeated: all of
/// it has arrived then.
#[test]
fn a_peer_that_acknowledges_only_what_is_repeated() {
    case(|scene| {
        let mut enemy = scene.enemy();
        for _ in 0..20 {
            load(scene, 10);
            scene.flush();
            let first = scene.overhear(&mut enemy).last().map_or(0, |last| last.id);
            scene.live(&mut enemy, 3 * SECOND, |scene, enemy, heard| {
                for frame in heard.iter().filter(|frame| frame.id > first) {
                    assert_taken(scene.send(enemy, Some(ack_of(frame.id)), Vec::new()));
                }
            });
            assert_nothing_is_open(scene);
        }
    });
}

/// `[X8 R9]` Of each flight only the newest frame is acknowledged: the rest is sent again, and less at
/// a time, and all arrives.
#[test]
fn a_peer_that_acknowledges_only_the_newest() {
    if !has_window() {
        return;
    }
    case(|scene| {
        let mut enemy = scene.enemy();
        load(scene, 50);
        scene.flush();
        let mut sent = 0;
        for _ in 0..60 {
            scene.live(&mut enemy, SECOND, |scene, enemy, heard| {
                sent += frames(&heard);
                if frames(&heard) > 0 {
                    assert_taken(scene.send(enemy, Some(ack_of(enemy.newest.0)), Vec::new()));
                }
            });
            assert_taken(scene.send(&mut enemy, None, vec![noop()]));
        }
        assert_nothing_is_open(scene);
        assert!(sent <= 500, "{sent}");
    });
}

/// `[X8 R9]` Data is never acknowledged, but pings are, and whatever holds no packet: what is sent
/// again becomes less, and each ping lets no more than a window of it go. The path seems to carry only
/// what is short: the connection ends.
#[test]
fn a_peer_that_acknowledges_only_pings() {
    if !has_window() {
        return;
    }
    case(|scene| {
        let mut enemy = scene.enemy();
        load(scene, 50);
        scene.flush();
        let mut sent = Vec::new();
        while scene.ends().is_empty() {
            let mut count = 0;
            scene.live(&mut enemy, SECOND, |scene, enemy, heard| {
                count += frames(&heard);
                for frame in heard.iter().filter(|frame| frame.data == 0) {
                    let ack = ack_of(frame.id);
                    if scene.ends().is_empty() {
                        assert_taken(scene.send(enemy, Some(ack), Vec::new()));
                    }
                }
            });
            if scene.ends().is_empty() {
                assert_taken(scene.send(&mut enemy, None, vec![noop()]));
            }
            sent.push(count);
            assert!(sent.len() < 60, "{sent:?}");
        }
        assert_eq!(scene.ends(), [DisconnectReason::PathTooNarrow]);
        assert!(sent[1..].iter().all(|&count| count <= 80), "{sent:?}");
    });
}

/// `[X8 R22]` What is on its way is acknowledged one frame at a time, the oldest first, each time that
/// something is repeated: no more than a few datagrams are sent for each acknowledgement.
#[test]
fn a_peer_that_acknowledges_the_oldest_whenever_something_is_repeated() {
    if !has_window() {
        return;
    }
    case(|scene| {
        let mut enemy = scene.enemy();
        load(scene, 200);
        let (mut said, mut acks) = (0, 0);
        let mut waiting: Vec<u32> = Vec::new();
        scene.live(&mut enemy, 20 * SECOND, |scene, enemy, heard| {
            said += heard.len();
            let data = heard.iter().filter(|frame| frame.data > 0);
            waiting.extend(data.map(|frame| frame.id));
            if !waiting.is_empty() {
                let oldest = waiting.remove(0);
                acks += 1;
                assert_taken(scene.send(enemy, Some(ack_of(oldest)), Vec::new()));
            }
        });
        assert!(said <= 4 * acks + 40, "{said} for {acks}");
    });
}

/// `[X8 R22]` All of a flight seems to be lost, and then nothing of it was, again and again: the window
/// is given back, but what is lost in truth still makes it smaller.
#[test]
fn losses_that_are_taken_back_do_not_excuse_others() {
    // One that minds each loss.
    case_with(config().congestion(Congestion::Paper), |scene| {
        let mut enemy = scene.enemy();
        for n in 1..=100 {
            small(scene, Mode::Reliable, 8);
            scene.overhear(&mut enemy);
            let newest = enemy.newest.0;
            assert_taken(scene.send(&mut enemy, Some(ack_of(newest)), Vec::new()));
            scene.now = scene.now + 10 * MS;
            let all = all_up_to(&enemy, newest);
            assert_taken(scene.send(&mut enemy, Some(all), Vec::new()));
            agree(scene, &mut enemy, 8 * n);
        }
        let before = scene.stats();
        assert!(before.window >= by_policy(12_000, 1200), "{before:?}");
        // What is late by more than a round trip is lost, however wide the thresholds are by now.
        for n in 1..=10 {
            small(scene, Mode::Reliable, 8);
            scene.overhear(&mut enemy);
            let newest = enemy.newest.0;
            assert_taken(scene.send(&mut enemy, Some(ack_of(newest)), Vec::new()));
            // The others never came.
            enemy.heard.retain(|&id, _| id >= newest);
            scene.pass(SECOND);
            agree(scene, &mut enemy, 800 + 8 * n);
        }
        let after = scene.stats();
        // Under the paper's, one later acknowledgement tells of no loss.
        let lost = after.frames_lost - before.frames_lost;
        assert!(lost >= by_policy(10, 1), "{after:?}");
        let most = by_policy(before.window / 2, before.window.max(500_000));
        assert!(after.window <= most, "{before:?} {after:?}");
    });
}

/// `[X8]` All frames of a flight are acknowledged after the newest one, and the flights are ever
/// longer: what is overtaken is waited for, by however many others it was, and lost in the end.
#[test]
fn acknowledgements_that_are_overtaken_by_ever_more() {
    case(|scene| {
        let mut enemy = scene.enemy();
        let mut packets = 0;
        for distance in (1..100).chain(core::iter::repeat_n(100, 20)) {
            let before = scene.stats().frames_lost;
            small(scene, Mode::Unreliable, distance + 1);
            packets += distance + 1;
            scene.overhear(&mut enemy);
            let newest = ack_of(enemy.newest.0);
            assert_taken(scene.send(&mut enemy, Some(newest), Vec::new()));
            let lost = scene.stats().frames_lost - before;
            // Under the paper's, three later acknowledgements tell of a loss.
            let is_told = by_policy(distance > 1 && lost > 0, false);
            assert!(!is_told, "{distance}");
            agree(scene, &mut enemy, packets);
        }
        let before = scene.stats().frames_lost;
        small(scene, Mode::Unreliable, 101);
        scene.overhear(&mut enemy);
        let newest = ack_of(enemy.newest.0);
        assert_taken(scene.send(&mut enemy, Some(newest), Vec::new()));
        scene.pass(SECOND);
        let lost = scene.stats().frames_lost - before;
        assert_eq!(lost, by_policy(100, lost));
    });
}

/// `[X9 X8]` Acknowledgements that were not held back at all, they say, or for the longest time that
/// can be said, in turns: no round trip is taken to be shorter than the shortest, or longer than it
/// was.
#[test]
fn delays_of_nothing_and_of_the_longest_leave_round_trips_between() {
    case(|scene| {
        let mut enemy = scene.enemy();
        for n in 1..=200 {
            load(scene, 1);
            scene.flush();
            scene.overhear(&mut enemy);
            scene.pass(50 * MS);
            let mut ack = all_up_to(&enemy, enemy.newest.0);
            ack.delay = Some(if n % 2 == 0 { 0 } else { 255 });
            assert_taken(scene.send(&mut enemy, Some(ack), Vec::new()));
            agree(scene, &mut enemy, n);
        }
        let stats = scene.stats();
        let longest = by_policy(50 * MS, 200 * MS);
        assert!(stats.rtt <= longest, "{stats:?}");
        assert!(stats.resend_timeout <= SECOND, "{stats:?}");
    });
}

/// `[R15 R21]` Frames by the thousand that want an acknowledgement at once: a short datagram each.
#[test]
fn floods_that_want_an_answer_at_once_get_a_short_one_each() {
    case(|scene| {
        let mut enemy = scene.enemy();
        scene.pass(SECOND);
        scene.said.clear();
        let mut heard = 0;
        for _ in 0..10_000 {
            let frame = Short {
                ack_now: true,
                ..enemy.short(None, vec![noop()])
            };
            assert_taken(scene.send_frame(&mut enemy, &frame));
            scene.now = scene.now + Duration::from_micros(10);
            let said = core::mem::take(&mut scene.said);
            let lengths = said.iter().filter(|(to, _)| *to == ENEMY);
            assert!(lengths.clone().all(|(_, said)| said.len() <= 40));
            heard += lengths.count();
        }
        assert!((9_000..=10_000).contains(&heard), "{heard}");
    });
}
