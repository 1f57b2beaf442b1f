//! The situations: each a row of the table.

mod applications;
mod changes;
mod fairness;
mod noise;
mod queues;
mod roads;
mod table;

use alloc::vec::Vec;

use roads::ROADS;
use table::OWN;

use super::SEED;
use super::case::Case;
use super::measure::Measure;
use super::scenario::FlowReport;
use super::stage::Stage;
use crate::Seed;

/// A situation.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The name of the row in tables and on the command line.
    pub name: &'static str,
    /// A description of the situation, in a sentence or two.
    pub about: &'static str,
    /// True if a sender of bulk data only can take part.
    pub bulk: bool,
    /// True if the row is drawn.
    pub plot: bool,
    pub(super) run: Situation,
}

/// How the flows of a row are put on a road.
#[derive(Clone, Copy, Debug)]
pub(super) enum Situation {
    Own(fn(&Case) -> (Stage, Vec<Measure>)),
    Road(roads::Asked),
}

impl Situation {
    pub(super) fn run(&self, case: &Case) -> (Stage, Vec<Measure>, Vec<FlowReport>) {
        match self {
            Self::Own(run) => {
                let (stage, measures) = run(case);
                (stage, measures, Vec::new())
            }
            Self::Road(asked) => asked.run(case),
        }
    }
}

/// All situations, in the order of the table.
///
/// ```
/// use porous_sim::lab::rows;
///
/// assert!(rows().any(|row| row.name == "alone-1"));
/// ```
pub fn rows() -> impl Iterator<Item = &'static Row> {
    OWN.iter().chain(ROADS)
}

/// A row that is not drawn.
const fn row(
    name: &'static str,
    about: &'static str,
    run: fn(&Case) -> (Stage, Vec<Measure>),
) -> Row {
    Row {
        name,
        about,
        bulk: true,
        plot: false,
        run: Situation::Own(run),
    }
}

impl Row {
    /// The seed of all chance in the run of this number. A road has the number itself, as `seed=` of its text;
    /// other rows each have seeds of their own.
    pub(super) fn seed(&self, number: u64) -> Seed {
        match self.run {
            // Run 1 is that of the tables, which had the first child before there were others.
            Situation::Own(_) => SEED.child(self.name, number.wrapping_sub(1)),
            Situation::Road(_) => Seed::new(number),
        }
    }

    const fn drawn(mut self) -> Self {
        self.plot = true;
        self
    }

    /// With packets that TCP does not have.
    const fn for_games(mut self) -> Self {
        self.bulk = false;
        self
    }
}
