//! Many seeds, on several threads.

use core::ops::Range;

use porous_proto::Policy;

use super::{Outcome, run};
use crate::threads;

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
    each: impl FnMut(Outcome),
) {
    let job = |seed| run(seed, policy, false);
    threads::in_order(seeds, threads, stop, job, each);
}
