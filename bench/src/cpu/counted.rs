//! The part of a load that is counted.

use core::hint::black_box;
use core::time::Duration;

use crate::clock::timed;

/// The time that the counted parts took.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    pub(crate) time: Duration,
}

/// Does a part of a load whose instructions and time count. Callgrind knows it by its name.
#[inline(never)]
pub(crate) fn counted<T>(counter: &mut Counter, work: impl FnOnce() -> T) -> T {
    let (done, time) = timed(work);
    counter.time += time;
    black_box(done)
}
