//! All runs, on several threads, in the order of the table.

use alloc::collections::BTreeMap;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use porous_sim::lab::{self, Controller, Row};

use super::Run;

/// Runs each row with each controller, and shows each run when it and all runs before it are done.
pub(super) fn all(
    rows: &[&'static Row],
    controllers: &[&'static Controller],
    quick: bool,
    threads: usize,
    show: impl Fn(&Run),
) -> Vec<Run> {
    let pairs = rows
        .iter()
        .flat_map(|&row| controllers.iter().map(move |&other| (row, other)));
    let pairs: Vec<(&Row, &Controller)> = pairs.collect();
    let begun = AtomicUsize::new(0);
    let (sender, done) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..threads {
            let (sender, begun, pairs) = (sender.clone(), &begun, &pairs);
            scope.spawn(move || {
                loop {
                    let index = begun.fetch_add(1, Ordering::Relaxed);
                    let Some(&(row, controller)) = pairs.get(index) else {
                        return;
                    };
                    let outcome = lab::run(row, controller, quick);
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
                let (row, controller) = pairs[next];
                next += 1;
                if let Some(outcome) = outcome {
                    let run = Run {
                        row,
                        controller,
                        outcome,
                    };
                    show(&run);
                    runs.push(run);
                }
            }
        }
        runs
    })
}
