//! The congestion laboratory: controllers on shared bottlenecks, alone, among their like, and beside
//! TCP, in virtual time. Behind the feature `lab`; `porous sim lab` runs it.
//!
//! Each of the [`ROWS`] is a situation; [`run`] puts one of the [`CONTROLLERS`] into it and says what
//! came of it, and what should have.

mod case;
mod controllers;
mod ends;
mod measure;
mod policer;
mod porous;
mod record;
mod road;
mod rows;
mod series;
mod stage;
mod tcp;
mod work;

use alloc::vec::Vec;

pub use controllers::{CONTROLLERS, Controller};
pub use measure::{Gate, Measure};
pub use rows::{ROWS, Row};
pub use series::{Line, Point};

use case::Case;
use controllers::Subject;

use crate::Seed;

/// All chance of the laboratory follows from this.
const SEED: Seed = Seed::new(2018);

/// What came of a row for a controller.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The numbers.
    pub measures: Vec<Measure>,
    /// How it went: a line for each flow, the controller's first.
    pub lines: Vec<Line>,
}

/// Puts a controller into the situation of a row; `None` if it has nothing to do there, as TCP with
/// the packets of games. `quick` is shorter where that says much the same.
///
/// # Panics
///
/// If a connection ends: no row breaks any.
///
/// ```
/// use porous_sim::lab::{CONTROLLERS, ROWS, run};
///
/// let row = ROWS.iter().find(|row| row.name == "loss-2").unwrap();
/// let outcome = run(row, &CONTROLLERS[0], true).unwrap();
/// assert_eq!(outcome.measures[0].what, "delivered of what was offered");
/// ```
#[must_use]
pub fn run(row: &Row, controller: &Controller, quick: bool) -> Option<Outcome> {
    if !row.bulk && matches!(controller.subject, Subject::Tcp(_)) {
        return None;
    }
    let case = Case {
        controller: *controller,
        quick,
        seed: SEED.child(row.name, 0),
    };
    let (stage, measures) = (row.run)(&case);
    Some(Outcome {
        measures,
        lines: series::lines(stage.record()),
    })
}
