//! The congestion laboratory: controllers on shared bottlenecks, alone, among flows of their own kind,
//! and beside TCP, in virtual time. Behind the feature `lab`; `porous sim lab` runs it.
//!
//! Each of the [`rows()`] is a situation; [`run`] puts one of the [`CONTROLLERS`] into it and returns
//! measures, and the gates that these should pass.

mod bottleneck;
mod case;
mod controllers;
mod ends;
mod host;
mod measure;
mod opportunities;
mod policer;
mod porous;
mod record;
mod recording;
mod road;
mod rows;
mod scenario;
mod series;
mod stage;
mod tcp;
mod waiting;
mod work;

use alloc::vec::Vec;
use core::cell::RefCell;
use core::time::Duration;

pub use controllers::{CONTROLLERS, Controller};
pub use measure::{Gate, Measure};
pub use recording::{End, Recording};
pub use rows::{Row, rows};
pub use scenario::{Beside, FlowReport, Latency, Report, Scenario, ScenarioError, Waits};
pub use series::{Line, Point};

use case::Case;

use crate::Seed;

/// The seed of which those of rows with code of their own are made.
const SEED: Seed = Seed::new(2018);

/// The result of a row for a controller.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The numbers.
    pub measures: Vec<Measure>,
    /// The run over time: a line for each flow, the controller's first.
    pub lines: Vec<Line>,
    /// The flows of a row that is a [`Scenario`], the controller's first; none for other rows.
    pub flows: Vec<FlowReport>,
}

/// Puts a controller into the situation of a row. `None` if the controller cannot take part, as TCP
/// in the rows with packets of games. `quick` shortens the run where a short one shows much the same.
/// `seed` decides all chance; the tables of `docs/lab` have 1.
///
/// # Panics
///
/// If a connection ends, which no row should bring about.
///
/// ```
/// use porous_sim::lab::{CONTROLLERS, rows, run};
///
/// let row = rows().find(|row| row.name == "loss-2").unwrap();
/// let outcome = run(row, &CONTROLLERS[0], true, 1).unwrap();
/// assert_eq!(outcome.measures[0].what, "delivered of what was offered");
/// ```
#[must_use]
pub fn run(row: &Row, controller: &Controller, quick: bool, seed: u64) -> Option<Outcome> {
    if !row.bulk && controller.is_tcp() {
        return None;
    }
    Some(outcome(row, controller, quick, seed, None))
}

/// The same, and records a host of the controller: of a row with several tries that of the first. `None` also if
/// the controller is a model of TCP, which has no host. Hosts that are recorded have addresses of IP, on which the
/// nonces of a connection depend, so the numbers differ a little from those of [`run`], as with another seed.
///
/// # Panics
///
/// As [`run`].
///
/// ```
/// use porous_sim::lab::{CONTROLLERS, End, Recording, rows, run_recorded};
/// use porous_trace::{Keep, Recorder};
///
/// let row = rows().find(|row| row.name == "loss-2").unwrap();
/// let recorded = [End::Client, End::Server].map(|end| {
///     let recorder = Recorder::new(std::io::sink(), Keep::nothing());
///     let recording = Recording { end, recorder };
///     run_recorded(row, &CONTROLLERS[0], true, 1, recording).unwrap().lines
/// });
/// assert_eq!(recorded[0], recorded[1]);
/// ```
#[must_use]
pub fn run_recorded(
    row: &Row,
    controller: &Controller,
    quick: bool,
    seed: u64,
    recording: Recording,
) -> Option<Outcome> {
    (!controller.is_tcp()).then(|| outcome(row, controller, quick, seed, Some(recording)))
}

fn outcome(
    row: &Row,
    controller: &Controller,
    quick: bool,
    seed: u64,
    recording: Option<Recording>,
) -> Outcome {
    let case = Case {
        controller: *controller,
        quick,
        seed: row.seed(seed),
        recording: RefCell::new(recording),
    };
    let (stage, mut measures, flows) = row.run.run(&case);
    if !measures.iter().any(|measure| measure.what == "dropped") {
        // Every row of the tables tells what its flow lost at the bottleneck.
        let all = [Duration::ZERO, stage.record().length()];
        measures.push(Measure::new("dropped", stage.record().dropped(0, all), "%"));
    }
    let ended = (0..stage.record().flows()).any(|flow| stage.is_ended(flow));
    assert!(
        !ended,
        "{}: a connection of {} ended, seed {seed}",
        row.name, controller.name
    );
    Outcome {
        measures,
        lines: series::lines(&stage),
        flows,
    }
}
