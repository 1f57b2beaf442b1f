//! Sessions of `porous-message` beside the host's own reliable packets, on paths where a connection
//! cannot send everything at once.

mod game;

use core::time::Duration;
use std::fmt::Write as _;
use std::io;
use std::path::Path;

use porous_sim::{LinkConfig, Queue};
use serde::Serialize;

use self::game::{By, Seen, play};
use crate::wire::UDP_OVERHEAD;

const MS: Duration = Duration::from_millis(1);

/// The carriers that are compared, in the order of the tables.
const VARIANTS: [(&str, By); 3] = [
    ("session", By::Session),
    ("session-far", By::FarSession),
    ("host", By::Host),
];

/// A path. `both` is true if both ends send.
struct Road {
    name: &'static str,
    line: LinkConfig,
    both: bool,
}

fn roads() -> Vec<Road> {
    let jittery = LinkConfig::new().delay(45 * MS).jitter(20 * MS);
    let queue = Queue::Time(200 * MS);
    let thin = LinkConfig::new().delay(50 * MS).rate(256_000).queue(queue);
    let near = LinkConfig::new().delay(30 * MS);
    let road = |name, line| Road {
        name,
        line,
        both: false,
    };
    vec![
        road("90 ms, jitter 20 ms, no loss", jittery),
        road("90 ms, jitter 20 ms, loss 5 %", jittery.loss(5.0)),
        Road {
            both: true,
            ..road(
                "90 ms, jitter 20 ms, loss 5 %, both ways",
                jittery.loss(5.0),
            )
        },
        road("90 ms, jitter 20 ms, loss 20 %", jittery.loss(20.0)),
        road("90 ms, jitter 20 ms, loss 30 %", jittery.loss(30.0)),
        road("100 ms, 256 kbit/s, queue 200 ms", thin),
        road("240 ms", LinkConfig::new().delay(120 * MS)),
        road("60 ms, bursts of 5 lost", near.burst_loss(1.0, 20.0, 80.0)),
    ]
}

/// A line of a table: all runs together. Bytes and datagrams are the mean of the runs.
#[derive(Debug, Serialize)]
struct Row {
    road: &'static str,
    carrier: &'static str,
    sent: u64,
    delivered: u64,
    p50_ms: f64,
    p95_ms: f64,
    p99_ms: f64,
    wire_bytes: u64,
    ip_bytes: u64,
    datagrams: u64,
    /// The most bytes that waited in any run.
    waiting_bytes: u64,
}

impl Row {
    fn of(road: &'static str, carrier: &'static str, runs: &[Seen]) -> Self {
        let mut took: Vec<u64> = runs.iter().flat_map(|run| &run.took).copied().collect();
        took.sort_unstable();
        let at = |percent: usize| {
            let rank = (took.len() * percent).div_ceil(100);
            took.get(rank.saturating_sub(1)).copied().unwrap_or(0) as f64 / 1000.0
        };
        let sum = |of: fn(&Seen) -> u64| runs.iter().map(of).sum::<u64>();
        let (seeds, bytes) = (runs.len() as u64, sum(|run| run.bytes));
        let datagrams = sum(|run| run.datagrams) / seeds;
        Self {
            road,
            carrier,
            sent: sum(|run| run.sent),
            delivered: took.len() as u64,
            p50_ms: at(50),
            p95_ms: at(95),
            p99_ms: at(99),
            wire_bytes: bytes / seeds,
            ip_bytes: bytes / seeds + UDP_OVERHEAD * datagrams,
            datagrams,
            waiting_bytes: runs.iter().map(|run| run.waiting).max().unwrap_or(0),
        }
    }

    fn line(&self) -> String {
        let kb = |bytes: u64| (bytes + 500) / 1000;
        let [p50, p95, p99] = [self.p50_ms, self.p95_ms, self.p99_ms];
        format!(
            "| {} | {} | {} | {p50:.1} | {p95:.1} | {p99:.1} | {} | {} | {} | {} |\n",
            self.carrier,
            self.sent,
            self.delivered,
            kb(self.wire_bytes),
            kb(self.ip_bytes),
            self.datagrams,
            self.waiting_bytes,
        )
    }
}

/// Measures all, and writes `sessions.md` and `sessions.json` into a folder.
pub(crate) fn main(folder: &Path, seconds: u64, seeds: u64) -> io::Result<()> {
    let mut rows = Vec::new();
    for Road { name, line, both } in roads() {
        for (carrier, by) in VARIANTS {
            let run = |seed| play(line, (by, both), seconds, seed);
            let runs: Vec<Seen> = (1..=seeds).map(run).collect();
            rows.push(Row::of(name, carrier, &runs));
        }
    }
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("sessions.md"), markdown(&rows))?;
    let json = serde_json::to_string_pretty(&rows)?;
    std::fs::write(folder.join("sessions.json"), json + "\n")
}

/// One table for each road.
fn markdown(rows: &[Row]) -> String {
    let mut text = String::from("# Sessions\n\nWhat the columns mean: see `bench/README.md`.\n");
    let columns =
        "sent | delivered | p50 ms | p95 ms | p99 ms | wire kB | IP kB | datagrams | waiting B";
    let rule = " --: |".repeat(9);
    for road in rows.chunk_by(|row, next| row.road == next.road) {
        // To write to a string never fails.
        _ = write!(
            text,
            "\n## {}\n\n| carrier | {columns} |\n| --- |{rule}\n",
            road[0].road
        );
        text.extend(road.iter().map(Row::line));
    }
    text
}
