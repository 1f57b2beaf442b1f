//! Paths that lose, reorder, pause or police although no queue is full.

use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

use porous_proto::Mode;

use crate::lab::case::{Case, Path, ms, s};
use crate::lab::measure::{Gate, Measure};
use crate::lab::stage::{Change, Stage};
use crate::lab::work::Work;
use crate::rand_core::Rng as _;
use crate::{Queue, below};

type Ran = (Stage, Vec<Measure>);

fn road() -> Path {
    Path::new(10_000, 50)
}

/// One flow, until `end`.
fn alone(case: &Case, path: Path, end: Duration) -> Stage {
    let mut stage = path.stage(case);
    stage.add(path.flow(case, 0, Work::bulk(), s(0)));
    stage.run_until(end);
    stage
}

pub(super) fn wide_loss(case: &Case) -> Ran {
    let end = case.seconds(20, 12);
    // Rate 0 is no bottleneck, so only a mistaken answer to loss slows the controller down.
    let stage = alone(case, Path::new(0, 100).loss(1.0), end);
    let goodput = stage.record().goodput(0, [s(5), end]) / 1e6;
    let gate = case.of_delay(Gate::AtLeast(7.0));
    let measures = vec![Measure::new("goodput from 5 s on", goodput, "MB/s").gate(gate)];
    (stage, measures)
}

fn lossy(case: &Case, percent: f64) -> Ran {
    let (path, end) = (road().loss(percent), case.seconds(30, 15));
    let stage = alone(case, path, end);
    let (record, span) = (stage.record(), [s(5), end]);
    let measures = vec![
        Measure::new("utilisation", record.utilisation(path.rate, span), "%"),
        Measure::new("mean queue", record.mean_queue(span), "ms"),
        Measure::new("overhead", record.overhead(0, span, 0), "%"),
    ];
    (stage, measures)
}

pub(super) fn loss_1(case: &Case) -> Ran {
    lossy(case, 1.0)
}

pub(super) fn loss_5(case: &Case) -> Ran {
    lossy(case, 5.0)
}

/// Datagrams overtake each other, and none is lost, so each cut of the window is a mistake.
pub(super) fn reorder(case: &Case) -> Ran {
    let work = Work::steady(500, 1000, Mode::Unreliable);
    reordered(case, work, case.gate(Gate::AtMost(1.0)))
}

/// The same with bulk data. No gate: the queue drops some datagrams, so some cuts are right.
pub(super) fn reorder_bulk(case: &Case) -> Ran {
    reordered(case, Work::bulk(), None)
}

fn reordered(case: &Case, work: Work, gate: Option<Gate>) -> Ran {
    let path = road().jitter(ms(5), true);
    let end = case.seconds(70, 30);
    let mut stage = path.stage(case);
    stage.add(path.flow(case, 0, work, s(0)));
    stage.run_until(end);
    let (record, span) = (stage.record(), [s(10), end]);
    let minutes = (end - s(10)).as_secs_f64() / 60.0;
    let cuts = record.cuts(0, span) as f64 / minutes;
    let [before, after] = span.map(|at| record.at(0, at).0);
    let (lost, spurious) = (after.lost - before.lost, after.spurious - before.spurious);
    let measures = vec![
        Measure::new("cuts a minute", cuts, "").gate(gate),
        Measure::new("taken for lost", lost as f64, ""),
        Measure::new("of these only late", spurious as f64, ""),
        Measure::new("utilisation", record.utilisation(path.rate, span), "%"),
    ];
    (stage, measures)
}

/// A radio: its rate changes all the time, and sometimes it pauses.
pub(super) fn wifi(case: &Case) -> Ran {
    let path = Path::new(20_000, 40).queue(Queue::Bytes(256_000));
    let end = case.seconds(40, 15);
    let mut stage = path.stage(case);
    stage.add(path.flow(case, 0, Work::bulk(), s(0)));
    let mut rng = case.seed.stream("air", 0);
    let mut draw = |from, to| from + below(rng.next_u64(), to - from);
    let (mut at, mut bits) = (Duration::ZERO, 0.0);
    while at < end {
        let (rate, lasts) = (draw(2_000_000, 30_000_000), ms(draw(20, 200)));
        stage.at(at, Change::Rate(rate));
        at += lasts;
        bits += rate as f64 * lasts.as_secs_f64();
        if draw(0, 4) == 0 {
            // Datagrams sent in a pause come late, and together.
            let pause = ms(draw(5, 60));
            stage.at(at, Change::Detour(pause));
            at += pause;
            bits += rate as f64 * pause.as_secs_f64();
            stage.at(at, Change::Detour(Duration::ZERO));
        }
    }
    stage.run_until(end);
    let (record, span) = (stage.record(), [s(5), end]);
    let mean = bits / at.as_secs_f64() / 8.0;
    let measures = vec![
        Measure::new("of the mean rate", 100.0 * record.rate(0, span) / mean, "%"),
        Measure::new("mean queue", record.mean_queue(span), "ms"),
        Measure::new("p95 queue", record.p95_queue(span), "ms"),
        Measure::new("dropped", record.dropped(0, span), "%"),
    ];
    (stage, measures)
}

pub(super) fn policer(case: &Case) -> Ran {
    let (path, end) = (road().policed(30_000), case.seconds(30, 15));
    let stage = alone(case, path, end);
    let (record, span) = (stage.record(), [s(5), end]);
    let measures = vec![
        Measure::new("utilisation", record.utilisation(path.rate, span), "%"),
        Measure::new("dropped", record.dropped(0, span), "%"),
    ];
    (stage, measures)
}
