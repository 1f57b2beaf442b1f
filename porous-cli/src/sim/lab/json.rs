//! The numbers as JSON.

use porous_sim::lab::{Gate, Measure};
use serde::Serialize;

use super::Run;

/// What `--json` writes.
#[derive(Debug, Serialize)]
pub(super) struct Results {
    runs: Vec<Of>,
    gates: usize,
    missed: usize,
}

/// A controller in a row.
#[derive(Debug, Serialize)]
struct Of {
    row: &'static str,
    controller: &'static str,
    measures: Vec<Number>,
}

#[derive(Debug, Serialize)]
struct Number {
    what: &'static str,
    /// Null if there is none, and if the awaited state never came.
    value: Option<f64>,
    never: bool,
    unit: &'static str,
    gate: Option<Bounds>,
    holds: Option<bool>,
}

/// A gate: null where it has no such bound.
#[derive(Debug, Serialize)]
struct Bounds {
    at_least: Option<f64>,
    at_most: Option<f64>,
}

impl Results {
    pub(super) fn new(runs: &[Run]) -> Self {
        let measures = runs.iter().flat_map(|run| &run.outcome.measures);
        let holds: Vec<bool> = measures.filter_map(Measure::holds).collect();
        Self {
            runs: runs.iter().map(Of::new).collect(),
            gates: holds.len(),
            missed: holds.iter().filter(|&&holds| !holds).count(),
        }
    }
}

impl Of {
    fn new(run: &Run) -> Self {
        Self {
            row: run.row.name,
            controller: run.controller.name,
            measures: run.outcome.measures.iter().map(Number::new).collect(),
        }
    }
}

impl Number {
    fn new(measure: &Measure) -> Self {
        Self {
            what: measure.what,
            value: measure.value.filter(|value| value.is_finite()),
            never: measure.value.is_some_and(f64::is_infinite),
            unit: measure.unit,
            gate: measure.gate.map(Bounds::new),
            holds: measure.holds(),
        }
    }
}

impl Bounds {
    const fn new(gate: Gate) -> Self {
        let (at_least, at_most) = match gate {
            Gate::AtLeast(least) => (Some(least), None),
            Gate::AtMost(most) => (None, Some(most)),
            Gate::Within(least, most) => (Some(least), Some(most)),
        };
        Self { at_least, at_most }
    }
}
