//! The path changes, or fails.

use alloc::vec;
use alloc::vec::Vec;

use crate::lab::case::{Case, Path, ms, s};
use crate::lab::measure::{Gate, Measure, limited};
use crate::lab::stage::{Change, Stage};
use crate::lab::work::Work;

type Ran = (Stage, Vec<Measure>);

fn road() -> Path {
    Path::new(10_000, 50)
}

/// The capacity falls to a fifth, and comes back.
pub(super) fn fall(case: &Case) -> Ran {
    let path = road();
    let (falls, rises) = (case.seconds(20, 8), case.seconds(40, 20));
    let end = case.seconds(60, 30);
    let mut stage = path.stage(case);
    stage.add(path.flow(case, 0, Work::bulk(), s(0)));
    stage.at(falls, Change::Rate(2_000_000));
    stage.at(rises, Change::Rate(10_000_000));
    stage.run_until(end);
    let record = stage.record();
    let [first, lasting] = record.queue_back(ms(100), falls, s(1));
    let gate = case.by_class(Gate::AtMost(5.0), Gate::AtMost(3.0));
    let lasts = case.of_delay(Gate::AtMost(3.0));
    let slow = [falls + s(5), rises];
    let most = 0.8 * path.rate as f64 / 8.0;
    let measures = vec![
        Measure::new("queue back at 100 ms", first, "s").gate(gate),
        Measure::new("and below for a second", lasting, "s").gate(lasts),
        Measure::new(
            "utilisation of the 2 Mbit/s",
            record.utilisation(2_000_000, slow),
            "%",
        ),
        Measure::new("mean queue at 2 Mbit/s", record.mean_queue(slow), "ms"),
        Measure::new(
            "80 % of 10 Mbit/s again",
            record.reaches(0, most, rises),
            "s",
        ),
    ];
    (stage, measures)
}

/// No datagram gets through for five seconds.
pub(super) fn black_hole(case: &Case) -> Ran {
    let path = road();
    let gone = case.seconds(20, 8);
    let back = gone + s(5);
    let mut stage = path.stage(case);
    stage.add(path.flow(case, 0, Work::bulk(), s(0)));
    stage.at(gone, Change::Down(true));
    stage.at(back, Change::Down(false));
    stage.run_until(back + case.seconds(20, 10));
    let record = stage.record();
    let before = record.rate(0, [gone - s(2), gone]);
    let sent = |at| record.at(0, at).1.offered as f64 / 1000.0;
    let window = record.at(0, gone).0.window / 1000.0;
    // A window may have been on its way when the hole opened; probes may add two initial windows.
    let most = window + 2.0 * 12.0;
    let measures = vec![
        Measure::new("80 % again", record.reaches(0, 0.8 * before, back), "s")
            .gate(case.gate(Gate::AtMost(3.0))),
        Measure::new("sent into the hole", sent(back) - sent(gone), "kB")
            .gate(case.gate(Gate::AtMost(most))),
        Measure::new("window before", limited(window), "kB"),
    ];
    (stage, measures)
}

/// No datagram comes back any more.
pub(super) fn no_feedback(case: &Case) -> Ran {
    let path = road();
    let gone = s(10);
    let mut stage = path.stage(case);
    stage.add(path.flow(case, 0, Work::bulk(), s(0)));
    stage.at(gone, Change::NoFeedback);
    stage.run_until(gone + s(31));
    let record = stage.record();
    let sent = |from, to| {
        let [before, after] = [from, to].map(|at| record.at(0, gone + at).1.datagrams);
        (after - before) as f64
    };
    let measures = vec![
        // One datagram in a round trip would be 200.
        Measure::new("datagrams from 1 s to 11 s", sent(s(1), s(11)), "")
            .gate(case.gate(Gate::AtMost(200.0))),
        // One datagram in ten round trips.
        Measure::new("datagrams from 11 s to 31 s", sent(s(11), s(31)), "")
            .gate(case.gate(Gate::AtMost(40.0))),
    ];
    (stage, measures)
}
