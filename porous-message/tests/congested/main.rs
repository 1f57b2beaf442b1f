//! Sessions over hosts whose congestion controller holds back: everything arrives, and soon.

#![expect(clippy::unwrap_used, reason = "a test")]

mod play;

use core::time::Duration;

use porous_proto::congestion::Congestion;
use porous_sim::{LinkConfig, Queue, Seed};

use crate::play::{By, Load, Seen, play, play_on};

const MS: Duration = Duration::from_millis(1);

/// The most bytes that may wait in a host, as its budget counts them: a few packets.
const WAITING: usize = 20_000;

const SEEDS: [u64; 3] = [1, 2, 3];

fn seed(number: u64) -> Seed {
    Seed::from_env(Seed::new(number))
}

/// Jitter that does not reorder, which a controller takes for a queue.
fn jittery() -> LinkConfig {
    LinkConfig::new().delay(45 * MS).jitter(20 * MS)
}

/// A line with a rate of which 25 kB/s of messages are four fifths.
fn thin() -> LinkConfig {
    let queue = Queue::Time(200 * MS);
    LinkConfig::new().delay(50 * MS).rate(256_000).queue(queue)
}

/// Checks that all messages arrive, within `most` milliseconds, and that little waits.
fn soon(line: LinkConfig, load: &Load, most: u64) -> Vec<Seen> {
    let seen = SEEDS.map(|number| {
        let seed = seed(number);
        let seen = play(seed, line, load);
        let (arrived, late) = (seen.took.len(), seen.within(95));
        assert_eq!(arrived, seen.sent, "{load:?} {seed}");
        assert!(late <= most, "{late} ms, {load:?} {seed}");
        assert!(seen.waiting < WAITING, "{} {seed}", seen.waiting);
        seen
    });
    seen.into()
}

const SESSIONS: [By; 2] = [By::Session, By::FarSession];

#[test]
fn jitter_without_loss_is_no_reason_to_be_late() {
    for by in SESSIONS {
        soon(jittery(), &Load::new(by), 100);
        let both = true;
        soon(
            jittery(),
            &Load {
                both,
                ..Load::new(by)
            },
            100,
        );
    }
}

#[test]
fn jitter_and_five_per_cent_of_loss_cost_a_round_trip() {
    for by in SESSIONS {
        soon(jittery().loss(5.0), &Load::new(by), 400);
    }
    let session = play(seed(1), jittery().loss(5.0), &Load::new(By::Session));
    let host = play(seed(1), jittery().loss(5.0), &Load::new(By::Host));
    assert!(session.wire <= host.wire, "{} {}", session.wire, host.wire);
}

#[test]
fn a_thin_line_is_filled_and_not_flooded() {
    for by in SESSIONS {
        soon(thin(), &Load::new(by), 1000);
        let both = true;
        soon(
            thin(),
            &Load {
                both,
                ..Load::new(by)
            },
            1000,
        );
    }
}

#[test]
fn a_message_is_sent_once_however_far_away() {
    for delay in [5, 60, 120, 300] {
        let line = LinkConfig::new().delay(delay * MS);
        for seen in soon(line, &Load::new(By::Session), u64::from(delay) + 32) {
            // The host assumes a round trip of 200 ms until it has measured one.
            let first = if delay > 120 { 600 } else { 0 };
            let resent = seen.messages.resent;
            assert!(resent <= first, "{resent} at {delay} ms");
        }
    }
}

#[test]
fn heavy_loss_and_bursts_are_borne() {
    let bursts = LinkConfig::new().delay(30 * MS).burst_loss(1.0, 20.0, 80.0);
    for by in SESSIONS {
        soon(bursts, &Load::new(by), 300);
        soon(jittery().loss(20.0), &Load::new(by), 1500);
        // The controller sends hardly as much as the load, and the host's own packets take seconds,
        // too.
        soon(jittery().loss(30.0), &Load::new(by), 20_000);
    }
}

/// Messages that cannot be sent wait where the application sees them.
#[test]
fn more_than_the_line_carries_is_refused_and_what_was_taken_arrives() {
    for by in SESSIONS {
        let each = 40;
        let seen = play(
            seed(1),
            thin(),
            &Load {
                each,
                ..Load::new(by)
            },
        );
        assert!(seen.waiting < WAITING, "{} {}", seen.waiting, seed(1));
        // 32 kB/s for 90 s, of which messages are nine tenths.
        let arrived = seen.took.len() * play::LEN;
        assert!(arrived > 90 * 28_000, "{arrived} {}", seed(1));
        // Those of packets that the full queue of the line drops, and few others.
        let stats = &seen.messages;
        assert!(stats.resent < stats.sent / 40, "{stats:?}");
    }
}

/// A case where the congestion window does not tell the rate.
#[test]
fn a_rate_is_kept_without_a_queue() {
    for (rate, each) in [(40_000, 15), (20_000, 6)] {
        let congestion = Congestion::Fixed { rate };
        let load = Load {
            each,
            congestion,
            ..Load::new(By::Session)
        };
        soon(jittery(), &load, 150);
        soon(jittery().loss(5.0), &load, 400);
    }
}

/// A packet may wait in the host for a tenth of a second, and longer than its acknowledgement takes.
#[test]
fn messages_of_packets_that_wait_in_the_host_do_not_go_into_others() {
    let congestion = Congestion::Fixed { rate: 10_000 };
    let load = Load {
        each: 8,
        congestion,
        ..Load::new(By::Session)
    };
    let seen = play(seed(1), LinkConfig::new().delay(100 * MS), &load);
    assert_eq!(seen.took.len(), seen.sent, "{}", seed(1));
    assert!(seen.messages.resent < 1000, "{:?}", seen.messages);
}

#[test]
fn bulk_of_low_priority_beside_it_does_not_starve_it() {
    for by in SESSIONS {
        let load = Load {
            each: 5,
            bulk: true,
            ..Load::new(by)
        };
        // One run in six has a second or two in which the controller takes a queue for that of others.
        soon(LinkConfig::new().delay(40 * MS).rate(4_000_000), &load, 150);
        soon(thin(), &load, 1500);
    }
}

#[test]
fn after_a_second_without_a_line_all_comes_soon() {
    let line = |tick| jittery().down((500..560).contains(&(tick % 1000)));
    for by in SESSIONS {
        let seen = play_on(seed(1), line, &Load::new(by));
        assert_eq!(seen.took.len(), seen.sent, "{}", seed(1));
        // The slowest messages take the second of the outage and the time to catch up.
        assert!(seen.within(99) < 1500, "{} {}", seen.within(99), seed(1));
    }
}
