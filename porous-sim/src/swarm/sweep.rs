//! Many seeds, on several threads.

use alloc::collections::BTreeMap;
use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;

use porous_proto::Policy;

use super::{Outcome, run};

/// [Runs](run) these seeds on `threads` threads, and hands out the outcomes in the order of the seeds,
/// so that they do not depend on the number of threads. No seed is begun once `stop` returns true; it
/// is asked before each.
///
/// ```
/// let mut seeds = Vec::new();
/// porous_sim::swarm::sweep(1..5, None, 2, || false, |outcome| seeds.push(outcome.seed));
/// assert_eq!(seeds, [1, 2, 3, 4]);
/// ```
pub fn sweep(
    seeds: Range<u64>,
    policy: Option<Policy>,
    threads: usize,
    stop: impl Fn() -> bool + Sync,
    mut each: impl FnMut(Outcome),
) {
    let begun = AtomicU64::new(seeds.start);
    let (sender, outcomes) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            let sender = sender.clone();
            let (begun, stop) = (&begun, &stop);
            let end = seeds.end;
            scope.spawn(move || {
                while !stop() {
                    let seed = begun.fetch_add(1, Ordering::Relaxed);
                    if seed >= end || sender.send(run(seed, policy, false)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        let mut next = seeds.start;
        for outcome in outcomes {
            waiting.insert(outcome.seed, outcome);
            while let Some(outcome) = waiting.remove(&next) {
                next += 1;
                each(outcome);
            }
        }
    });
}
