//! The traffic of games: little for a long time, then much, and both at once.

use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

use porous_proto::Mode;

use crate::lab::case::{Case, Path, ms, s};
use crate::lab::measure::{Gate, Measure, limited, ratio};
use crate::lab::record::percentile;
use crate::lab::road::HEADERS;
use crate::lab::stage::Stage;
use crate::lab::work::Work;

type Ran = (Stage, Vec<Measure>);

/// The longest datagram of a porous flow, in bytes.
const MTU: f64 = 1200.0;

fn road() -> Path {
    Path::new(10_000, 50)
}

/// 40 kB/s, at 2 % loss.
pub(super) fn loss_2(case: &Case) -> Ran {
    let path = road().loss(2.0);
    let end = case.seconds(60, 10);
    let mut stage = path.stage(case);
    let work = Work::steady(60, 667, Mode::Reliable);
    stage.add(path.flow(case, 0, work, s(0)));
    stage.run_until(end);
    // The data that was offered a second ago should be there.
    let offered = stage.record().at(0, end - s(1)).0.offered as f64;
    let delivered = ratio(stage.record().at(0, end).0.delivered as f64, offered);
    let delivered = delivered.map(|ratio| (100.0 * ratio).min(100.0));
    let delays = delays(&stage, path, s(0));
    let measures = vec![
        Measure::new("delivered of what was offered", delivered, "%")
            .gate(case.gate(Gate::AtLeast(99.0))),
        Measure::new("p99 delay", percentile(&delays, 99), "ms"),
    ];
    (stage, measures)
}

/// The delays of small packets that were sent at `from` or later, without the path's own delay, in
/// milliseconds, from the shortest to the longest.
fn delays(stage: &Stage, path: Path, from: Duration) -> Vec<f64> {
    let own = path.rtt.as_micros() as f64 / 2.0;
    let small = stage.small(0).iter();
    let small = small.filter(|(sent, _)| u128::from(*sent) >= from.as_micros());
    let mut delays: Vec<f64> = small
        .map(|&(sent, came)| (came.saturating_sub(sent) as f64 - own) / 1000.0)
        .collect();
    delays.sort_by(f64::total_cmp);
    delays
}

/// A minute of little traffic gives no right to a large burst.
pub(super) fn push(case: &Case) -> Ran {
    pushed(case, road(), None)
}

/// On a long and fast road whose delay varies: little traffic tells nothing of it.
pub(super) fn push_far(case: &Case) -> Ran {
    let path = Path::new(50_000, 150).jitter(ms(20), false);
    pushed(case, path, case.of_delay(Gate::AtMost(1.5)))
}

/// The packets of a game, then a megabyte at once. `takes`: how long that may take, in seconds.
fn pushed(case: &Case, path: Path, takes: Option<Gate>) -> Ran {
    let after = case.seconds(60, 20);
    let mut stage = path.stage(case);
    let work = Work::game().and_push(after, 1_000_000);
    stage.add(path.flow(case, 0, work, s(0)));
    stage.run_until(after);
    // The bursts of the start are not those of the push.
    stage.forget_bursts();
    stage.run_until(after + s(15));
    let burst = stage.largest_burst(0) as f64 / MTU;
    let record = stage.record();
    let pushed = record.at(0, after).0.delivered as f64 + 1_000_000.0;
    let there = record.first(after, |at| record.at(0, at).0.delivered as f64 >= pushed);
    let measures = vec![
        Measure::new("largest burst", burst, "MTU").gate(case.gate(Gate::AtMost(10.0))),
        Measure::new("1 MB takes", there, "s").gate(takes),
        Measure::new(
            "p95 queue after",
            record.p95_queue([after, after + s(2)]),
            "ms",
        ),
        Measure::new(
            "window before",
            limited(record.at(0, after).0.window / MTU),
            "MTU",
        ),
    ];
    (stage, measures)
}

/// Small packets pass a bulk transfer on the same connection.
pub(super) fn priority(case: &Case) -> Ran {
    let path = road().bdp(400);
    let mut stage = path.stage(case);
    stage.add(path.flow(case, 0, Work::game().and_bulk(), s(0)));
    stage.run_until(case.seconds(30, 12));
    let [all, settled] = [s(0), s(5)].map(|from| delays(&stage, path, from));
    let own = (MTU + HEADERS as f64) / 1250.0;
    let sent = stage.seen(0).offered as f64 / 100.0;
    let measures = vec![
        Measure::new(
            "p99 until out of the bottleneck",
            percentile(&settled, 99),
            "ms",
        )
        .gate(case.of_delay(Gate::AtMost(own + 10.0))),
        Measure::new("p50", percentile(&settled, 50), "ms"),
        Measure::new("p99 with the start", percentile(&all, 99), "ms"),
        Measure::new(
            "small packets that came",
            ratio(100.0 * all.len() as f64, sent),
            "%",
        ),
    ];
    (stage, measures)
}
