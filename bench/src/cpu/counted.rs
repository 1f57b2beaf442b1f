//! The part of a load that is counted.

use std::time::{Duration, Instant};

/// The time that the counted parts took.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    pub(crate) time: Duration,
}

/// Does a part of a load whose instructions and time count. Callgrind knows it by its name.
#[inline(never)]
pub(crate) fn counted<T>(counter: &mut Counter, work: impl FnOnce() -> T) -> T {
    #[expect(clippy::disallowed_methods, reason = "the time is what is measured")]
    let begin = Instant::now();
    let done = core::hint::black_box(work());
    counter.time += begin.elapsed();
    done
}
