//! The workloads: their applications and paths, and the summary of several runs.

use core::time::Duration;

use clap::ValueEnum;
use serde::Serialize;

use crate::bulk::Bulk;
use crate::messages::{Messages, Plan, channels, game};
use crate::peer::Variant;
use crate::run::{Seen, run};
use crate::wire::{Path, UDP_OVERHEAD};

/// A frame of a game.
const FRAME: Duration = Duration::from_micros(16_667);

const MILLISECOND: Duration = Duration::from_millis(1);

const HALF: Duration = Duration::from_micros(500);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Workload {
    /// A game: states and events, both ways
    A,
    /// A file, one way
    B,
    /// Four channels of reliable messages, both ways
    C,
}

impl Workload {
    pub(crate) const ALL: [Self; 3] = [Self::A, Self::B, Self::C];

    /// The losses that are tried, in percent.
    pub(crate) const fn losses(self) -> &'static [f64] {
        match self {
            Self::A => &[0.0, 2.0, 5.0, 20.0],
            Self::B => &[0.0, 1.0, 3.0],
            Self::C => &[5.0],
        }
    }

    /// The times between service steps that are tried.
    pub(crate) const fn steps(self) -> &'static [Duration] {
        match self {
            Self::A | Self::C => &[FRAME, MILLISECOND],
            Self::B => &[FRAME, MILLISECOND, HALF],
        }
    }

    const fn path(self, loss: f64) -> Path {
        let (rtt, jitter, mbits, queue) = match self {
            Self::A => (60, 5, 10, 100),
            Self::B => (60, 0, 20, 60),
            Self::C => (100, 0, 10, 100),
        };
        Path {
            delay: Duration::from_millis(rtt / 2),
            jitter: Duration::from_millis(jitter),
            loss,
            duplicate: 0.0,
            reorder: 0.0,
            rate: mbits * 1_000_000,
            queue: Duration::from_millis(queue),
        }
    }
}

/// The size of each workload.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) duration: Duration,
    pub(crate) file: u64,
    /// Runs, with seeds from 1.
    pub(crate) seeds: u64,
}

/// The conditions of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) workload: Workload,
    pub(crate) loss: f64,
    pub(crate) step: Duration,
}

/// A line of a table: one protocol under one set of conditions, all runs together. Bytes and
/// datagrams are the mean of the runs.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) workload: Workload,
    pub(crate) loss_percent: f64,
    pub(crate) step_ms: f64,
    pub(crate) peer: &'static str,
    /// UDP payloads, both ways.
    pub(crate) wire_bytes: u64,
    /// Bytes with IP and UDP headers, both ways.
    pub(crate) ip_bytes: u64,
    pub(crate) datagrams: u64,
    /// Runs in which an end gave the connection up.
    pub(crate) lost_connections: u64,
    /// Reliable messages that did not arrive, in all runs.
    pub(crate) missing: u64,
    #[serde(flatten)]
    pub(crate) seen: Figures,
}

/// The results of the application.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Figures {
    /// The results of messages.
    Messages {
        /// The latencies of reliable messages.
        latency_ms: Latency,
        /// Unreliable messages that arrived, in percent; `None` if none were sent.
        states_percent: Option<f64>,
    },
    /// The results of a file, each the mean of the runs.
    Bulk {
        /// The goodput as a part of the rate of the bottleneck.
        goodput: f64,
        /// Bytes of UDP payload, both ways, for each byte of the file that arrived.
        wire_per_payload: f64,
        mean_queue_ms: f64,
    },
}

/// Percentiles in milliseconds; 0 if no message arrived.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Latency {
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) max: f64,
}

impl Latency {
    /// The percentiles of times in microseconds. Percentile p is the smallest time that at least p % of the
    /// times do not exceed.
    pub(crate) fn of(mut micros: Vec<u64>) -> Self {
        micros.sort_unstable();
        let at = |percent: usize| {
            let rank = (micros.len() * percent).div_ceil(100);
            let micros = micros.get(rank.saturating_sub(1)).copied();
            micros.unwrap_or(0) as f64 / 1000.0
        };
        Self {
            p50: at(50),
            p99: at(99),
            max: at(100),
        }
    }
}

/// All runs of a protocol under one set of conditions.
pub(crate) fn measure(case: Case, variant: Variant, size: Size) -> Row {
    let (seen, figures, missing) = match case.workload {
        Workload::A => messages(case, variant, size, game),
        Workload::B => bulk(case, variant, size),
        Workload::C => messages(case, variant, size, channels),
    };
    let mean = |of: fn(&Seen) -> u64| seen.iter().map(of).sum::<u64>() / size.seeds;
    let (wire_bytes, datagrams) = (mean(|seen| seen.bytes), mean(|seen| seen.datagrams));
    Row {
        workload: case.workload,
        loss_percent: case.loss,
        step_ms: case.step.as_micros() as f64 / 1000.0,
        peer: variant.name,
        wire_bytes,
        ip_bytes: wire_bytes + UDP_OVERHEAD * datagrams,
        datagrams,
        lost_connections: seen.iter().filter(|seen| seen.lost).count() as u64,
        missing,
        seen: figures,
    }
}

fn messages(case: Case, variant: Variant, size: Size, plan: Plan) -> (Vec<Seen>, Figures, u64) {
    let (mut seen, mut latencies, mut states, mut missing) = (Vec::new(), Vec::new(), [0, 0], 0);
    for seed in 1..=size.seeds {
        let mut messages = Messages::new(plan, size.duration, seed);
        let path = case.workload.path(case.loss);
        let ends = (variant.open)(seed);
        seen.push(run(ends, path, case.step, &mut messages, seed));
        latencies.extend(messages.latencies());
        let [sent, arrived] = messages.states();
        states = [states[0] + sent, states[1] + arrived];
        missing += messages.missing();
    }
    let [sent, arrived] = states;
    let figures = Figures::Messages {
        latency_ms: Latency::of(latencies),
        states_percent: (sent > 0).then(|| 100.0 * arrived as f64 / sent as f64),
    };
    (seen, figures, missing)
}

fn bulk(case: Case, variant: Variant, size: Size) -> (Vec<Seen>, Figures, u64) {
    let path = case.workload.path(case.loss);
    let (mut seen, mut goodput, mut overhead, mut queue) = (Vec::new(), 0.0, 0.0, 0.0);
    let mut missing = 0;
    for seed in 1..=size.seeds {
        let mut bulk = Bulk::new(size.file);
        let run = run((variant.open)(seed), path, case.step, &mut bulk, seed);
        goodput += 8.0 * bulk.goodput() / path.rate as f64;
        overhead += run.bytes as f64 / bulk.arrived().max(1) as f64;
        queue += run.mean_queue;
        missing += bulk.missing();
        seen.push(run);
    }
    let runs = size.seeds as f64;
    let figures = Figures::Bulk {
        goodput: goodput / runs,
        wire_per_payload: overhead / runs,
        mean_queue_ms: queue / runs,
    };
    (seen, figures, missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_times_that_were_seen() {
        let latency = Latency::of((1..=200).rev().map(|n| n * 1000).collect());
        let [p50, p99, max] = [100.0, 198.0, 200.0];
        assert_eq!(latency, Latency { p50, p99, max });
        let [p50, p99, max] = [0.0; 3];
        assert_eq!(Latency::of(Vec::new()), Latency { p50, p99, max });
    }
}
