//! The situations: each a row of the table.

mod applications;
mod changes;
mod fairness;
mod noise;
mod queues;
mod table;

use alloc::vec::Vec;

pub use table::ROWS;

use super::case::Case;
use super::measure::Measure;
use super::stage::Stage;

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
    pub(super) run: fn(&Case) -> (Stage, Vec<Measure>),
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
        run,
    }
}

/// A row with packets that TCP does not have.
const fn games(
    name: &'static str,
    about: &'static str,
    run: fn(&Case) -> (Stage, Vec<Measure>),
) -> Row {
    Row {
        bulk: false,
        ..row(name, about, run)
    }
}

impl Row {
    const fn drawn(mut self) -> Self {
        self.plot = true;
        self
    }
}
