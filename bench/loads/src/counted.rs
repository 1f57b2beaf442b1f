//! The part of a load that is counted.

use core::hint::black_box;
use core::time::Duration;

use crate::clock::timed;

/// The allocations of some work.
#[derive(Clone, Copy, Debug, Default)]
pub struct Allocations {
    /// Allocations that were made. To make one longer counts, too.
    pub count: u64,
    /// Bytes that the work allocated less those that it freed.
    pub held: i64,
}

/// Does some work, and counts its allocations.
pub type Measure = fn(&mut dyn FnMut()) -> Allocations;

/// What the counted parts took.
#[derive(Debug, Default)]
pub struct Counter {
    pub time: Duration,
    /// Zero where nothing counts allocations.
    pub allocations: u64,
    /// Bytes that are held of all that the counted parts allocated, and those that were [`aside`](Self::aside).
    pub held: i64,
    measure: Option<Measure>,
}

impl Counter {
    pub fn new(measure: Option<Measure>) -> Self {
        Self {
            measure,
            ..Self::default()
        }
    }

    /// Does work that does not count, but for the memory that stays.
    pub fn aside<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let (done, allocations) = measured(self.measure, work);
        self.held += allocations.held;
        done
    }
}

/// Does a part of a load whose instructions, time and allocations count. Callgrind knows it by its name.
#[inline(never)]
pub fn counted<T>(counter: &mut Counter, work: impl FnOnce() -> T) -> T {
    let ((done, allocations), time) = timed(|| measured(counter.measure, work));
    counter.time += time;
    counter.allocations += allocations.count;
    counter.held += allocations.held;
    black_box(done)
}

fn measured<T>(measure: Option<Measure>, work: impl FnOnce() -> T) -> (T, Allocations) {
    let Some(measure) = measure else {
        return (work(), Allocations::default());
    };
    let (mut work, mut done) = (Some(work), None);
    let allocations = measure(&mut || done = work.take().map(|work| work()));
    (done.expect("the work was done"), allocations)
}
