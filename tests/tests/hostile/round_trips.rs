//! Round trips that never were, of nothing or of minutes, and what is sent because of them.

use core::time::Duration;

use porous_proto::{Mode, PeerStats};
use porous_tests::config::by_policy;
use porous_tests::remote::Remote;

use crate::peers::{ack_of, assert_taken, limits, noop, pong, pongs};
use crate::scene::{Cost, ENEMY, Scene, case, offer};

/// Pings are answered before they come, so that they seem to take no time at all.
fn foresee(scene: &mut Scene, enemy: &mut Remote<u32>) {
    for _ in 0..120 {
        assert_eq!(scene.queue(0, Mode::Unreliable, 10), Ok(()));
        scene.live(enemy, Duration::from_millis(200), |scene, enemy, heard| {
            let (ack, pongs) = (scene.acknowledgement(enemy), pongs(&heard));
            if !pongs.is_empty() {
                assert_taken(scene.send(enemy, Some(ack), pongs));
            }
        });
    }
    assert_eq!(scene.stats().rtt, Duration::ZERO);
}

fn times(stats: &PeerStats) -> (Duration, Duration, Duration) {
    (stats.rtt, stats.rtt_variance, stats.resend_timeout)
}

/// `[X9 B5]` Pings are answered in no time, and nothing else is: nothing is sent without end.
#[test]
fn round_trips_of_nothing_do_not_make_the_host_repeat_itself_without_end() {
    let cost = Cost {
        bytes: 17_000,
        steps: 240,
    };
    case(cost, |scene| {
        let mut enemy = scene.enemy();
        foresee(scene, &mut enemy);
        assert_eq!(scene.queue(0, Mode::Reliable, 10), Ok(()));
        let before = scene.stats().datagrams_sent;
        scene.live(&mut enemy, Duration::from_secs(2), |scene, enemy, heard| {
            let pongs = pongs(&heard);
            if !pongs.is_empty() {
                assert_taken(scene.send(enemy, None, pongs));
            }
        });
        let sent = scene.stats().datagrams_sent - before;
        assert!(sent < 2100, "{sent}");
    });
}

/// `[X9 R25]` The host is stepped for each datagram of a flood, and pongs come before their pings do.
/// P4.
#[test]
fn a_flood_does_not_make_the_host_repeat_itself_faster_and_faster() {
    let cost = Cost {
        bytes: 17_000,
        steps: 240,
    };
    case(cost, |scene| {
        let mut enemy = scene.enemy();
        foresee(scene, &mut enemy);
        for _ in 0..300 {
            scene.now = scene.now + Duration::from_micros(5);
            let now = scene.now;
            scene.host.call(|host| host.handle_timeout(now));
        }
        assert_taken(scene.send(&mut enemy, None, vec![noop()]));
        assert_eq!(scene.queue(0, Mode::Reliable, 10), Ok(()));
        let before = scene.stats().datagrams_sent;
        scene.pass(Duration::from_secs(1));
        let sent = scene.stats().datagrams_sent - before;
        assert!(by_policy(5..20, 500..1100).contains(&sent), "{sent}");
    });
}

/// `[X9]` Answers to every ping that there could be: the one that was sent counts, once. Under the
/// modern policy none does.
#[test]
fn pongs_of_all_pings_are_one_round_trip() {
    let cost = Cost {
        bytes: 9500,
        steps: 100,
    };
    case(cost, |scene| {
        let mut enemy = scene.enemy();
        scene.pass(Duration::from_millis(50));
        let before = scene.stats();
        for first in (0..=u16::MAX).rev().step_by(100) {
            let all = (first.saturating_sub(99)..=first).map(pong).collect();
            assert_taken(scene.send(&mut enemy, None, all));
        }
        let once = scene.stats();
        let counts = once.rtt < before.rtt && once.rtt >= before.rtt * 7 / 8;
        let is_right = by_policy(times(&once) == times(&before), counts);
        assert!(is_right, "{once:?}");
        // Or it is too much work.
        scene.now = scene.now + Duration::from_secs(1);
        for first in (0..=u16::MAX).step_by(100) {
            let all = (first..=first.saturating_add(99)).map(pong).collect();
            assert_taken(scene.send(&mut enemy, None, all));
        }
        assert_eq!(times(&scene.stats()), times(&once));
    });
}

/// `[X9 X16]` The pong of one ping, a thousand times, ever later.
#[test]
fn copies_of_a_pong_are_no_round_trips() {
    let cost = Cost {
        bytes: 9500,
        steps: 100,
    };
    case(cost, |scene| {
        let mut enemy = scene.enemy();
        assert_taken(scene.send(&mut enemy, None, vec![pong(0)]));
        let once = scene.stats();
        for _ in 0..1000 {
            scene.now = scene.now + Duration::from_micros(10);
            assert_taken(scene.send(&mut enemy, None, vec![pong(0)]));
        }
        assert_eq!(times(&scene.stats()), times(&once));
    });
}

/// `[X9]` Pings are answered as late as they can be without an end of the connection: the estimate
/// follows, and the host goes on to send and to ping.
#[test]
fn round_trips_of_many_seconds_do_not_silence_the_host() {
    let cost = Cost {
        bytes: 16_000,
        steps: 100,
    };
    case(cost, |scene| {
        let mut enemy = scene.enemy();
        let (mut asked, mut quiet) = (Vec::new(), 0);
        for _ in 0..120 {
            scene.pass(Duration::from_secs(1));
            let heard = scene.overhear(&mut enemy);
            quiet = if pongs(&heard).is_empty() {
                quiet + 1
            } else {
                0
            };
            // Under the modern policy each acknowledgement puts the next ping off.
            assert!(quiet < by_policy(14, 1), "no ping for so many seconds");
            let newest = heard.last().map(|frame| ack_of(frame.id));
            asked.push((newest, pongs(&heard)));
            let (newest, mut messages) = match asked.len().checked_sub(9) {
                Some(late) => asked[late].clone(),
                None => (None, Vec::new()),
            };
            messages.push(noop());
            // Only the modern policy measures acknowledgements.
            assert_taken(scene.send(&mut enemy, by_policy(newest, None), messages));
        }
        let stats = scene.stats();
        let (low, high) = (Duration::from_secs(5), Duration::from_secs(60));
        assert!((low..high).contains(&stats.rtt), "{stats:?}");
        assert_eq!(scene.queue(0, Mode::Reliable, 10), Ok(()));
        scene.flush();
        assert!(
            scene
                .overhear(&mut enemy)
                .iter()
                .any(|frame| frame.data > 0)
        );
    });
}

/// The estimates after many frames that were given up and are acknowledged so much later.
fn late(scene: &mut Scene, pauses: u32) -> PeerStats {
    let mut enemy = scene.enemy();
    for _ in 0..40 {
        assert_eq!(scene.queue(0, Mode::Unreliable, 10), Ok(()));
        scene.flush();
        scene.overhear(&mut enemy);
        let frame = enemy.newest.0;
        for _ in 0..pauses {
            scene.pass(Duration::from_secs(9));
            assert_taken(scene.send(&mut enemy, None, vec![noop()]));
        }
        for _ in 0..3 {
            assert_taken(scene.send(&mut enemy, Some(ack_of(frame)), vec![]));
        }
    }
    scene.stats()
}

/// `[X9 X8]` Frames that were given up are acknowledged most of a minute later, again and again: each
/// counts once, and T_rto stays below five minutes.
#[test]
fn acknowledgements_that_are_late_by_most_of_a_minute_are_believed_once() {
    let cost = Cost {
        bytes: 17_000,
        steps: 140,
    };
    case(cost, |scene| {
        let stats = late(scene, 5);
        let minute = Duration::from_secs(60);
        assert!(stats.rtt <= minute && stats.rtt > minute / 20, "{stats:?}");
        assert!(stats.resend_timeout <= 5 * minute, "{stats:?}");
    });
}

/// `[X9 X8]` Frames that were given up minutes ago are acknowledged: nobody remembers them. The modern
/// policy gives none up because of time alone, and takes no round trip to be longer than a minute.
#[test]
fn acknowledgements_that_are_late_by_minutes_are_a_minute_at_most() {
    let cost = Cost {
        bytes: 43_000,
        steps: 760,
    };
    case(cost, |scene| {
        let stats = late(scene, 20);
        let (minute, initial) = (Duration::from_secs(60), Duration::from_millis(200));
        let times = by_policy(minute / 20..=minute, initial..=initial);
        assert!(times.contains(&stats.rtt), "{stats:?}");
        assert!(stats.resend_timeout <= 5 * minute, "{stats:?}");
    });
}

/// `[X10 B5 X9]` The enemy wants a byte a second, and then nearly all that can be said, with round trips of nothing:
/// there is always room for two frames, no more leaves than was asked for and a frame, and nothing is
/// searched for.
#[test]
fn rates_of_one_byte_and_of_everything_leave_room_for_two_frames() {
    let cost = Cost {
        bytes: 18_000,
        steps: 240,
    };
    case(cost, |scene| {
        let mut offer = offer();
        offer.rates = [1, 1];
        let mut enemy = scene.enemy_at(ENEMY, &offer);
        foresee(scene, &mut enemy);
        let mut packets = 0;
        for (serial, rate) in (1..).zip([1, 2, u32::MAX - 1, 1, 1200, 1]) {
            assert_taken(scene.send(&mut enemy, None, vec![limits(serial, rate)]));
            let (before, mut rounds) = (packets, 0..100);
            while rounds.next().is_some() {
                if scene.stats().queued_bytes < 2000 {
                    assert_eq!(scene.queue(1, Mode::Unreliable, 1100), Ok(()));
                }
                scene.flush();
                let heard = scene.overhear(&mut enemy);
                packets += heard.iter().filter(|frame| frame.data > 1000).count();
                let ack = scene.acknowledgement(&enemy);
                let newest = u32::try_from(packets).unwrap().checked_sub(1);
                let passed = newest.map(|newest| crate::peers::window(1, newest));
                assert_taken(scene.send(&mut enemy, Some(ack), passed.into_iter().collect()));
                scene.pass(Duration::from_millis(50));
            }
            let stats = scene.stats();
            let window = by_policy(2400..=u32::MAX, 2400..=2400);
            assert!(window.contains(&stats.window), "{rate}: {stats:?}");
            // Five seconds, under the policy that looks at them.
            let sent = packets - before;
            let most = (5 * u64::from(rate)).div_ceil(1100) + 1;
            let most = by_policy(usize::try_from(most).unwrap(), usize::MAX);
            assert!(sent <= most, "{rate}: {sent} packets");
            assert!(rate < 1200 || sent >= 4, "{rate}: {sent} packets");
        }
    });
}
