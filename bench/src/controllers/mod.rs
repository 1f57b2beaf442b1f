//! Our controllers beside quinn-proto's, over random acknowledgement traces.
//!
//! quinn-proto deviates from the RFCs. So a third controller stands between the two: a model of the RFC
//! in floating point, in which each deviation of quinn-proto is a [rule](Rules) that can be switched on.
//! After every event, the window of the model without rules has to be within a frame of ours, and that of
//! the model with all rules within a frame of quinn-proto's. So the rules are all differences between
//! ours and quinn-proto's.
//!
//! `cargo test --release --manifest-path bench/Cargo.toml controllers` prints the largest differences.

mod cubic;
mod reno;
mod rtts;
mod subjects;
mod trace;

use std::io::Write as _;
use std::time::Duration;

use porous_proto::Instant;
use porous_proto::congestion::Congestion;
use quinn_proto::RttEstimator;

use self::rtts::estimators;
use self::subjects::{Ours, Quinns};
use self::trace::{Event, trace};

/// Traces, each with a seed of its own.
const TRACES: u64 = 1000;
/// Events in each trace.
const EVENTS: usize = 2000;

/// A controller with a window.
trait Subject {
    /// Tells the controller what happened.
    fn tell(&mut self, now: Instant, event: &Event);

    /// The congestion window in bytes.
    fn window(&self) -> f64;
}

/// The largest difference between the windows of two controllers.
#[derive(Clone, Copy, Default)]
struct Distance {
    /// The difference in frames.
    most: f64,
    /// The seed of the trace in which it was largest.
    seed: u64,
}

/// Tells all controllers the same events, and returns the largest difference of each from the first. The
/// window of the first decides what the trace sends.
fn distances(
    rtts: &[RttEstimator],
    subjects: impl Fn(u32) -> Vec<Box<dyn Subject>>,
) -> Vec<Distance> {
    let times: Vec<Duration> = rtts.iter().map(RttEstimator::get).collect();
    let mut distances = Vec::new();
    for seed in 0..TRACES {
        let (mtu, mut trace) = trace(seed, &times);
        let mut subjects = subjects(mtu);
        distances.resize(subjects.len(), Distance::default());
        for _ in 0..EVENTS {
            let (now, event) = trace.next(subjects[0].window() as u32);
            for subject in &mut subjects {
                subject.tell(now, &event);
            }
            let first = subjects[0].window();
            for (subject, distance) in subjects.iter().zip(&mut distances) {
                let most = (subject.window() - first).abs() / f64::from(mtu);
                if most > distance.most {
                    *distance = Distance { most, seed };
                }
            }
        }
    }
    distances
}

/// Prints to stderr itself, which the test runner does not capture.
fn print(what: &str, distance: Distance) {
    let Distance { most, seed } = distance;
    let _ = writeln!(
        std::io::stderr(),
        "{what}: {most:.3} frames at most (seed {seed})"
    );
}

fn assert_together(what: &str, distance: Distance) {
    print(what, distance);
    assert!(
        distance.most <= 1.0,
        "{what}: {:.3} frames apart with seed {}",
        distance.most,
        distance.seed
    );
}

/// Checks that a rule makes a difference. If it makes none, it explains nothing, or no trace comes to it.
fn assert_needed(what: &str, distance: Distance) {
    print(what, distance);
    assert!(distance.most > 0.5, "{what}: makes no difference");
}

#[test]
fn reno_is_where_the_rfc_is_and_its_rules_are_all_that_quinns_differs_in() {
    let rtts = estimators();
    let ours = distances(&rtts, |mtu| {
        let mut subjects: Vec<Box<dyn Subject>> = vec![
            Box::new(Ours::new(Congestion::Reno, mtu, &rtts)),
            Box::new(reno::Model::new(mtu, reno::RFC)),
            Box::new(Quinns::new_reno(mtu, &rtts)),
        ];
        for (_, rules) in reno::EACH {
            subjects.push(Box::new(reno::Model::new(mtu, rules)));
        }
        subjects
    });
    let quinns = distances(&rtts, |mtu| {
        vec![
            Box::new(Quinns::new_reno(mtu, &rtts)),
            Box::new(reno::Model::new(mtu, reno::QUINN)),
        ]
    });
    assert_together("reno: ours and the RFC", ours[1]);
    assert_together("reno: quinn's and the RFC with all rules", quinns[1]);
    print("reno: ours and quinn's", ours[2]);
    for ((name, _), distance) in reno::EACH.iter().zip(&ours[3..]) {
        assert_needed(&format!("reno: ours and the RFC with {name}"), *distance);
    }
}

#[test]
fn cubic_is_where_the_rfc_is_and_its_rules_are_all_that_quinns_differs_in() {
    let rtts = estimators();
    let times: Vec<f64> = rtts.iter().map(|rtt| rtt.get().as_secs_f64()).collect();
    let ours = distances(&rtts, |mtu| {
        let mut subjects: Vec<Box<dyn Subject>> = vec![
            Box::new(Ours::new(Congestion::Cubic, mtu, &rtts)),
            Box::new(cubic::Model::new(mtu, cubic::RFC, &times)),
            Box::new(Quinns::cubic(mtu, &rtts)),
        ];
        for (_, rules) in cubic::EACH {
            subjects.push(Box::new(cubic::Model::new(mtu, rules, &times)));
        }
        subjects
    });
    let quinns = distances(&rtts, |mtu| {
        vec![
            Box::new(Quinns::cubic(mtu, &rtts)),
            Box::new(cubic::Model::new(mtu, cubic::QUINN, &times)),
        ]
    });
    assert_together("cubic: ours and the RFC", ours[1]);
    assert_together("cubic: quinn's and the RFC with all rules", quinns[1]);
    print("cubic: ours and quinn's", ours[2]);
    for ((name, _), distance) in cubic::EACH.iter().zip(&ours[3..]) {
        assert_needed(&format!("cubic: ours and the RFC with {name}"), *distance);
    }
}
