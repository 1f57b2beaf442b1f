//! The results: a table with a column for each protocol, and JSON.

use core::time::Duration;
use std::fmt::Write as _;

use serde::Serialize;

use super::game::{Game, Kind};
use super::plan;
use crate::args::Demo;
use crate::run::Seen;
use crate::wire::UDP_OVERHEAD;
use crate::workload::Latency;

/// All of a run: the conditions, the best that they allow, and what each protocol made of them.
#[derive(Debug, Serialize)]
pub(super) struct Report<'a> {
    conditions: &'a Demo,
    best: Best,
    pub(super) protocols: [Column; 2],
}

/// The best that the conditions allow.
#[derive(Debug, Serialize)]
struct Best {
    /// The time of a datagram, one way.
    one_way_ms: f64,
    /// The same with all of the jitter: the slowest datagram.
    slowest_ms: f64,
    /// The time of a message that is lost once, and sent again when that is known.
    repaired_ms: f64,
    /// The states that the links do not lose, in percent.
    states_percent: f64,
    /// The bytes of all messages and files, without any that a protocol adds.
    wire_bytes: u64,
}

/// A protocol, with all clients together.
#[derive(Debug, Serialize)]
pub(super) struct Column {
    pub(super) protocol: &'static str,
    pub(super) events: Delivery,
    pub(super) states: Delivery,
    pub(super) updates: Delivery,
    /// The time after which every client had its file, in seconds; `None` if one never had it.
    pub(super) file_s: Option<f64>,
    /// UDP payloads, both ways, from the first datagram of the handshake.
    wire_bytes: u64,
    /// Bytes with IP and UDP headers, both ways.
    ip_bytes: u64,
    datagrams: u64,
    /// Clients that could not connect, or whose connection was given up.
    pub(super) lost_connections: u64,
}

/// The messages of a kind.
#[derive(Debug, Serialize)]
pub(super) struct Delivery {
    pub(super) sent: u64,
    pub(super) delivered: u64,
    /// `None` if none was delivered.
    pub(super) latency_ms: Option<Latency>,
}

impl<'a> Report<'a> {
    pub(super) fn new(args: &'a Demo, protocols: [Column; 2]) -> Self {
        let one_way_ms = ms(args.delay());
        let best = Best {
            one_way_ms,
            slowest_ms: ms(args.delay() + args.delay_jitter()),
            repaired_ms: 3.0 * one_way_ms,
            states_percent: 100.0 - args.loss,
            wire_bytes: plan(args).bytes() * u64::from(args.clients),
        };
        Self {
            conditions: args,
            best,
            protocols,
        }
    }

    pub(super) fn markdown(&self) -> String {
        let best = &self.best;
        let mut text = format!(
            "## {}\n\nThe best that the conditions allow: {} ms, and {} ms for what was lost once and is \
             sent again when that is known. Seed {}.\n\n| | best |",
            conditions(self.conditions),
            best.one_way_ms,
            best.repaired_ms,
            self.conditions.seed
        );
        for column in &self.protocols {
            // To write to a string never fails.
            _ = write!(text, " {} |", column.protocol);
        }
        text.push_str("\n| --- | --: | --: | --: |\n");
        let states = format!("{:.1} %", best.states_percent);
        self.kind(&mut text, "events", "all", |column| &column.events);
        self.kind(&mut text, "states", &states, |column| &column.states);
        self.kind(&mut text, "updates", "all", |column| &column.updates);
        if self.conditions.file_bytes > 0 {
            self.line(&mut text, "files, s", "", |column| {
                let seconds = column.file_s.map(|seconds| format!("{seconds:.2}"));
                seconds.unwrap_or_else(|| "never".to_owned())
            });
        }
        let kb = |bytes: u64| ((bytes + 500) / 1000).to_string();
        let least = kb(best.wire_bytes);
        self.line(
            &mut text,
            "wire, kB",
            &least,
            |column| kb(column.wire_bytes),
        );
        self.line(&mut text, "IP, kB", "", |column| kb(column.ip_bytes));
        self.line(&mut text, "datagrams", "", |column| {
            column.datagrams.to_string()
        });
        self.line(&mut text, "lost connections", "0", |column| {
            column.lost_connections.to_string()
        });
        text
    }

    /// The lines of one kind of messages.
    fn kind(&self, text: &mut String, name: &str, best: &str, of: fn(&Column) -> &Delivery) {
        self.line(text, &format!("{name}, delivered"), best, |column| {
            let Delivery {
                sent, delivered, ..
            } = of(column);
            format!("{delivered} of {sent}")
        });
        let slowest = self.best.slowest_ms;
        let bests = [
            ("p50", self.best.one_way_ms),
            ("p99", slowest),
            ("max", slowest),
        ];
        for (index, (percentile, best)) in bests.into_iter().enumerate() {
            let name = format!("{name}, {percentile} ms");
            self.line(text, &name, &format!("{best:.1}"), |column| {
                let Some(Latency { p50, p99, max }) = of(column).latency_ms else {
                    return "-".to_owned();
                };
                format!("{:.1}", [p50, p99, max][index])
            });
        }
    }

    /// One line of the table.
    fn line(&self, text: &mut String, name: &str, best: &str, cell: impl Fn(&Column) -> String) {
        let [first, second] = &self.protocols;
        // To write to a string never fails.
        _ = writeln!(
            text,
            "| {name} | {best} | {} | {} |",
            cell(first),
            cell(second)
        );
    }
}

impl Column {
    pub(super) fn of(protocol: &'static str, runs: &[(Seen, Game)]) -> Self {
        let sum = |of: fn(&Seen) -> u64| runs.iter().map(|(seen, _)| of(seen)).sum::<u64>();
        let kind = |kind| Delivery::of(kind, runs);
        let (wire_bytes, datagrams) = (sum(|seen| seen.bytes), sum(|seen| seen.datagrams));
        let files: Option<Vec<_>> = runs.iter().map(|(_, game)| game.file_took()).collect();
        let last = files.and_then(|files| files.into_iter().max());
        Self {
            protocol,
            events: kind(Kind::Event),
            states: kind(Kind::State),
            updates: kind(Kind::Update),
            file_s: last.map(|last| last.as_secs_f64()),
            wire_bytes,
            ip_bytes: wire_bytes + UDP_OVERHEAD * datagrams,
            datagrams,
            lost_connections: sum(|seen| seen.lost.into()),
        }
    }
}

impl Delivery {
    fn of(kind: Kind, runs: &[(Seen, Game)]) -> Self {
        let took: Vec<u64> = runs.iter().flat_map(|(_, game)| game.took(kind)).collect();
        Self {
            sent: runs.iter().map(|(_, game)| game.sent(kind)).sum(),
            delivered: took.len() as u64,
            latency_ms: (!took.is_empty()).then(|| Latency::of(took)),
        }
    }
}

/// The conditions in words.
fn conditions(args: &Demo) -> String {
    let plural = if args.clients == 1 { "" } else { "s" };
    let mut text = format!(
        "{} client{plural}, {} s: one way {} ms",
        args.clients,
        args.seconds,
        ms(args.delay())
    );
    let mut add = |is_set: bool, words: String| {
        if is_set {
            text.push_str(&words);
        }
    };
    let jitter = ms(args.delay_jitter());
    add(jitter > 0.0, format!(" and up to {jitter} ms more or less"));
    for (percent, what) in [
        (args.loss, "lost"),
        (args.duplicate, "doubled"),
        (args.reorder, "held back"),
    ] {
        add(percent > 0.0, format!(", {percent} % {what}"));
    }
    add(args.rate > 0, format!(", {} kbit/s", args.rate));
    add(args.file_bytes == 0, ", no file".to_owned());
    add(
        args.file_bytes > 0,
        format!(
            ", a file of {} bytes, {} ahead",
            args.file_bytes, args.file_window
        ),
    );
    text
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
