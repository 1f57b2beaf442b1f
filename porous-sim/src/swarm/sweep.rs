//! Many seeds, on several threads.

use alloc::collections::BTreeMap;
use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;

use super::{Outcome, run};

/// Runs so many seeds from `first` on, on so many threads, and hands out how each went in the order
/// of the seeds, so that what is handed out does not depend on the number of threads. No seed is
/// begun any more when `stop` says so; it is asked before each.
///
/// ```
/// let mut seeds = Vec::new();
/// porous_sim::swarm::sweep(1, 4, 2, || false, |outcome| seeds.push(outcome.seed));
/// assert_eq!(seeds, [1, 2, 3, 4]);
/// ```
pub fn sweep(
    first: u64,
    count: u64,
    threads: usize,
    stop: impl Fn() -> bool + Sync,
    mut each: impl FnMut(Outcome),
) {
    let begun = AtomicU64::new(0);
    let (sender, outcomes) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            let sender = sender.clone();
            let (begun, stop) = (&begun, &stop);
            scope.spawn(move || {
                while !stop() {
                    let number = begun.fetch_add(1, Ordering::Relaxed);
                    if number >= count || sender.send(run(first + number, false)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        let mut next = first;
        for outcome in outcomes {
            waiting.insert(outcome.seed, outcome);
            while let Some(outcome) = waiting.remove(&next) {
                next += 1;
                each(outcome);
            }
        }
    });
}
