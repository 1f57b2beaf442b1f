//! All runs of the laboratory, on several threads, in the order of the table.

use alloc::collections::BTreeMap;
use core::ops::RangeInclusive;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use porous_sim::lab::{self, Controller, Outcome, Row};

/// What runs: each row with each controller at each seed.
pub(super) struct Plan {
    pub(super) rows: Vec<&'static Row>,
    pub(super) controllers: Vec<Controller>,
    pub(super) seeds: RangeInclusive<u64>,
    pub(super) quick: bool,
}

/// What came of a controller in a row at a seed.
pub(super) struct Run {
    pub(super) row: &'static Row,
    pub(super) controller: Controller,
    pub(super) outcome: Outcome,
}

impl Run {
    /// `None` if the controller cannot take part in the row.
    fn of(row: &'static Row, controller: Controller, outcome: Option<Outcome>) -> Option<Self> {
        outcome.map(|outcome| Self {
            row,
            controller,
            outcome,
        })
    }
}

impl Plan {
    /// The runs, ordered by row, then by controller, then by seed.
    fn runs(&self) -> Vec<(&'static Row, Controller, u64)> {
        let mut runs = Vec::new();
        for &row in &self.rows {
            for &controller in &self.controllers {
                runs.extend(self.seeds.clone().map(|seed| (row, controller, seed)));
            }
        }
        runs
    }

    /// The number of runs, those in which a controller cannot take part included.
    pub(super) fn len(&self) -> u64 {
        self.runs().len() as u64
    }
}

/// Runs the first row of a plan with its first controller, records a host, and shows the run when it is done.
pub(super) fn recorded(
    plan: &Plan,
    recording: lab::Recording,
    mut show: impl FnMut(Option<&Run>),
) -> Vec<Run> {
    let mut runs = Vec::new();
    if let Some(&(row, controller, seed)) = plan.runs().first() {
        let outcome = lab::run_recorded(row, &controller, plan.quick, seed, recording);
        let run = Run::of(row, controller, outcome);
        show(run.as_ref());
        runs.extend(run);
    }
    runs
}

/// Runs a plan, and shows each run when it and all runs before it are done; `None` is a controller that cannot
/// take part in a row.
pub(super) fn all(plan: &Plan, threads: usize, mut show: impl FnMut(Option<&Run>)) -> Vec<Run> {
    let planned = plan.runs();
    let begun = AtomicUsize::new(0);
    let (sender, done) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..threads {
            let (sender, begun, planned) = (sender.clone(), &begun, &planned);
            scope.spawn(move || {
                loop {
                    let index = begun.fetch_add(1, Ordering::Relaxed);
                    let Some((row, controller, seed)) = planned.get(index) else {
                        return;
                    };
                    let outcome = lab::run(row, controller, plan.quick, *seed);
                    if sender.send((index, outcome)).is_err() {
                        return;
                    }
                }
            });
        }
        // The loop below ends when the last sender is gone, and this one would never be.
        drop(sender);
        let (mut waiting, mut runs) = (BTreeMap::new(), Vec::new());
        let mut next = 0;
        for (index, outcome) in done {
            // Runs end in any order, and are shown in the order of the table.
            waiting.insert(index, outcome);
            while let Some(outcome) = waiting.remove(&next) {
                let (row, controller, _) = planned[next];
                next += 1;
                let run = Run::of(row, controller, outcome);
                show(run.as_ref());
                runs.extend(run);
            }
        }
        runs
    })
}
