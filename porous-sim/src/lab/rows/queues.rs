//! One flow alone: the share of the bottleneck that it uses, and the queue that it makes.

use alloc::vec;
use alloc::vec::Vec;

use crate::Queue;
use crate::lab::case::{Case, Path, ms, s};
use crate::lab::measure::{Gate, Measure};
use crate::lab::stage::Stage;
use crate::lab::work::Work;

type Ran = (Stage, Vec<Measure>);

/// The measures of a flow that is alone, after its first five seconds.
fn alone(case: &Case, path: Path) -> Ran {
    let end = case.seconds(30, 20);
    let mut stage = path.stage(case);
    stage.add(path.flow(case, 0, Work::bulk(), s(0)));
    stage.run_until(end);
    let (record, span) = (stage.record(), [s(5), end]);
    let measures = vec![
        Measure::new("utilisation", record.utilisation(path.rate, span), "%"),
        Measure::new("mean queue", record.mean_queue(span), "ms"),
        Measure::new("p95 queue", record.p95_queue(span), "ms"),
        Measure::new("overhead", record.overhead(0, span, 0), "%"),
        Measure::new(
            "overhead with IP and UDP",
            record.overhead(0, span, 28),
            "%",
        ),
        Measure::new("dropped", record.dropped(0, span), "%"),
    ];
    (stage, measures)
}

/// Adds a gate to one of the measures.
fn ask(ran: &mut Ran, what: &str, gate: Option<Gate>) {
    for measure in ran.1.iter_mut().filter(|measure| measure.what == what) {
        measure.gate = gate;
    }
}

/// At 10 Mbit/s, RTT 50 ms, with a queue of this percentage of a BDP.
fn alone_at(case: &Case, percent: u64) -> Ran {
    alone(case, Path::new(10_000, 50).bdp(percent))
}

pub(super) fn alone_half(case: &Case) -> Ran {
    alone_at(case, 50)
}

pub(super) fn alone_1(case: &Case) -> Ran {
    alone_at(case, 100)
}

pub(super) fn alone_4(case: &Case) -> Ran {
    let mut ran = alone_at(case, 400);
    // The whole queue is 200 ms, and one datagram behind it.
    let gate = case.by_class(Gate::AtMost(202.0), Gate::AtMost(30.0));
    ask(&mut ran, "p95 queue", gate);
    ran
}

pub(super) fn alone_8(case: &Case) -> Ran {
    alone_at(case, 800)
}

pub(super) fn alone_codel(case: &Case) -> Ran {
    alone(case, Path::new(10_000, 50).queue(Queue::CODEL))
}

pub(super) fn alone_slow(case: &Case) -> Ran {
    alone(case, Path::new(1000, 50).bdp(400))
}

pub(super) fn alone_far(case: &Case) -> Ran {
    alone(case, Path::new(10_000, 300))
}

pub(super) fn alone_near(case: &Case) -> Ran {
    alone(case, Path::new(100_000, 10))
}

/// A queue of 64 kB.
const QUEUE: Queue = Queue::Bytes(64_000);

fn fast(case: &Case, path: Path) -> Ran {
    let mut ran = alone(case, path.queue(QUEUE));
    ask(&mut ran, "mean queue", case.of_delay(Gate::AtMost(25.0)));
    ask(&mut ran, "utilisation", case.gate(Gate::AtLeast(96.0)));
    ask(&mut ran, "overhead", case.gate(Gate::AtMost(2.8)));
    ran
}

pub(super) fn fast_64k(case: &Case) -> Ran {
    fast(case, Path::new(10_000, 50))
}

pub(super) fn fast_64k_ticks(case: &Case) -> Ran {
    fast(case, Path::new(10_000, 50).ticks())
}

fn slow(case: &Case, path: Path) -> Ran {
    let mut ran = alone(case, path.queue(QUEUE));
    ask(&mut ran, "mean queue", case.of_delay(Gate::AtMost(100.0)));
    ask(&mut ran, "utilisation", case.gate(Gate::AtLeast(92.0)));
    ran
}

pub(super) fn slow_64k(case: &Case) -> Ran {
    slow(case, Path::new(2000, 50))
}

pub(super) fn slow_64k_ticks(case: &Case) -> Ran {
    slow(case, Path::new(2000, 50).ticks())
}

/// The share of the bottleneck that carries useful data, from the first datagram on.
fn file(case: &Case, kbits: u64, loss: f64, least: f64) -> Ran {
    let gate = case.of_delay(Gate::AtLeast(least));
    let end = s(20);
    let path = Path::new(kbits, 60).queue(Queue::Time(ms(60))).loss(loss);
    let mut stage = path.stage(case);
    stage.add(path.flow(case, 0, Work::bulk(), s(0)));
    stage.run_until(end);
    let (record, span) = (stage.record(), [s(0), end]);
    let goodput = 8.0 * record.goodput(0, span) / path.rate as f64;
    let measures = vec![
        Measure::new("goodput", goodput, "").gate(gate),
        Measure::new("mean queue", record.mean_queue(span), "ms"),
        Measure::new(
            "overhead with IP and UDP",
            record.overhead(0, span, 28),
            "%",
        ),
    ];
    (stage, measures)
}

pub(super) fn file_5(case: &Case) -> Ran {
    file(case, 5000, 0.0, 0.93)
}

pub(super) fn file_5_loss(case: &Case) -> Ran {
    file(case, 5000, 1.0, 0.905)
}

pub(super) fn file_100(case: &Case) -> Ran {
    file(case, 100_000, 0.0, 0.88)
}

pub(super) fn file_100_loss(case: &Case) -> Ran {
    file(case, 100_000, 1.0, 0.80)
}
