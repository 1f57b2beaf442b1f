//! Several flows, and the shares that they get.

use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

use crate::lab::case::{Case, Path, ms, s};
use crate::lab::measure::{Gate, Measure, ratio};
use crate::lab::record::{Span, jain};
use crate::lab::stage::Stage;
use crate::lab::tcp::Tcp;
use crate::lab::work::Work;
use crate::rand_core::Rng as _;
use crate::{Queue, below};

type Ran = (Stage, Vec<Measure>);

fn shares(stage: &Stage, span: Span) -> Vec<f64> {
    let record = stage.record();
    (0..record.flows())
        .map(|flow| record.goodput(flow, span))
        .collect()
}

fn road() -> Path {
    Path::new(10_000, 50)
}

/// `count` flows of one kind, which begin a little one after the other.
fn alike(case: &Case, count: u64) -> Ran {
    let path = road();
    let (begin, end) = (case.seconds(60, 30), case.seconds(90, 60));
    let mut stage = path.stage(case);
    for n in 0..count {
        stage.add(path.flow(case, n, Work::bulk(), ms(n * 130)));
    }
    stage.run_until(end);
    let span = [begin, end];
    let gate = case.by_class(Gate::AtLeast(0.95), Gate::AtLeast(0.90));
    let record = stage.record();
    let measures = vec![
        Measure::new("Jain", jain(&shares(&stage, span)), "").gate(gate),
        Measure::new("utilisation", record.utilisation(path.rate, span), "%"),
        Measure::new("mean queue", record.mean_queue(span), "ms"),
    ];
    (stage, measures)
}

pub(super) fn jain_2(case: &Case) -> Ran {
    alike(case, 2)
}

pub(super) fn jain_4(case: &Case) -> Ran {
    alike(case, 4)
}

pub(super) fn jain_8(case: &Case) -> Ran {
    alike(case, 8)
}

/// The smaller of two shares, in percent of both; `None` if nothing arrived.
fn smaller(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    let least = shares.iter().copied().reduce(f64::min)?;
    (sum > 0.0).then(|| 100.0 * least / sum)
}

/// Tries of a row whose result depends much on which flow begins first.
const TRIES: u64 = 5;

/// A start within the first second, different in each try.
fn start(case: &Case, attempt: u64) -> Duration {
    let mut rng = case.seed.stream("start", attempt);
    Duration::from_micros(below(rng.next_u64(), 1_000_000))
}

pub(super) fn equal(case: &Case) -> Ran {
    let (path, span) = (road(), [s(10), s(20)]);
    let attempt = |n| {
        let mut stage = path.stage(case);
        stage.add(path.flow(case, 0, Work::bulk(), s(0)));
        stage.add(path.flow(case, 1, Work::bulk(), start(case, n) / 10));
        stage.run_until(span[1]);
        stage
    };
    // The first try is the one that is drawn; the worst of all tries counts.
    let stage = attempt(0);
    let others = (1..case.tries(TRIES)).map(|n| shares(&attempt(n), span));
    let all = core::iter::once(shares(&stage, span)).chain(others);
    let worst = all.filter_map(|shares| smaller(&shares)).reduce(f64::min);
    let record = stage.record();
    let measures = vec![
        Measure::new("smaller share", worst, "%").gate(case.of_delay(Gate::AtLeast(40.0))),
        Measure::new("utilisation", record.utilisation(path.rate, span), "%"),
        Measure::new("mean queue", record.mean_queue(span), "ms"),
    ];
    (stage, measures)
}

pub(super) fn jain_rtt(case: &Case) -> Ran {
    let (near, far) = (Path::new(10_000, 25), Path::new(10_000, 100));
    let end = case.seconds(90, 25);
    let mut stage = road().stage(case);
    stage.add(near.flow(case, 0, Work::bulk(), s(0)));
    stage.add(far.flow(case, 1, Work::bulk(), ms(130)));
    stage.run_until(end);
    let span = [case.seconds(60, 15), end];
    let shares = shares(&stage, span);
    let record = stage.record();
    let measures = vec![
        Measure::new("Jain", jain(&shares), ""),
        Measure::new("near to far", ratio(shares[0], shares[1]), ""),
        Measure::new("utilisation", record.utilisation(near.rate, span), "%"),
        Measure::new("mean queue", record.mean_queue(span), "ms"),
    ];
    (stage, measures)
}

/// A second flow begins after the first has had the whole bottleneck for a while.
pub(super) fn late(case: &Case) -> Ran {
    let path = road();
    let (joins, end) = (case.seconds(20, 5), case.seconds(60, 30));
    let mut stage = path.stage(case);
    stage.add(path.flow(case, 0, Work::bulk(), s(0)));
    stage.add(path.flow(case, 1, Work::bulk(), joins));
    stage.run_until(end);
    let record = stage.record();
    let fair = path.rate as f64 / 8.0 / 2.0;
    let gate = case.by_class(Gate::AtMost(20.0), Gate::AtMost(15.0));
    let after = [joins + s(20), end];
    let measures = vec![
        Measure::new(
            "80 % of a fair share",
            record.reaches(1, 0.8 * fair, joins),
            "s",
        )
        .gate(gate),
        Measure::new("Jain from 20 s later", jain(&shares(&stage, after)), ""),
        Measure::new("mean queue", record.mean_queue([joins, end]), "ms"),
    ];
    (stage, measures)
}

/// The controller beside TCP, both beginning at about the same time, and their shares over all tries.
fn beside(case: &Case, path: Path, tcp: Tcp, gate: Option<Gate>) -> Ran {
    let span = [case.seconds(20, 10), case.seconds(80, 40)];
    let attempt = |n| {
        let mut stage = path.stage(case);
        stage.add(path.flow(case, 0, Work::bulk(), start(case, 2 * n)));
        stage.add(path.competitor(case, tcp, start(case, 2 * n + 1)));
        stage.run_until(span[1]);
        let shares = shares(&stage, span);
        (stage, shares)
    };
    let (stage, first) = attempt(0);
    let others = (1..case.tries(TRIES)).map(|n| attempt(n).1);
    let [ours, theirs] = others.fold([first[0], first[1]], |[ours, theirs], other| {
        [ours + other[0], theirs + other[1]]
    });
    let record = stage.record();
    let measures = vec![
        Measure::new("to TCP", ours / theirs.max(1.0), "").gate(gate),
        Measure::new("utilisation", record.utilisation(path.rate, span), "%"),
        Measure::new("mean queue", record.mean_queue(span), "ms"),
    ];
    (stage, measures)
}

pub(super) fn reno_1(case: &Case) -> Ran {
    let gate = case.gate(Gate::Within(0.5, 2.0));
    beside(case, road(), Tcp::Reno, gate)
}

pub(super) fn reno_half(case: &Case) -> Ran {
    beside(case, road().bdp(50), Tcp::Reno, None)
}

pub(super) fn reno_4(case: &Case) -> Ran {
    beside(case, road().bdp(400), Tcp::Reno, None)
}

pub(super) fn reno_codel(case: &Case) -> Ran {
    beside(case, road().queue(Queue::CODEL), Tcp::Reno, None)
}

pub(super) fn cubic_half(case: &Case) -> Ran {
    beside(case, road().bdp(50), Tcp::Cubic, None)
}

pub(super) fn cubic_1(case: &Case) -> Ran {
    beside(case, road(), Tcp::Cubic, None)
}

pub(super) fn cubic_4(case: &Case) -> Ran {
    beside(case, road().bdp(400), Tcp::Cubic, None)
}
