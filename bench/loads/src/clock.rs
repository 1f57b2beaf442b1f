//! The one clock that is read: beside counts of instructions stands the time that the work took.

use std::time::{Duration, Instant};

/// Does some work, and says how long it took.
#[expect(clippy::disallowed_methods, reason = "the time is what is measured")]
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let begin = Instant::now();
    let done = work();
    (done, begin.elapsed())
}
