//! What the program has cost, in time of the processor.

use core::time::Duration;

/// The time that all threads of this process have computed, where the system can tell.
#[cfg(unix)]
pub(crate) fn computed() -> Option<Duration> {
    use rustix::time::{ClockId, clock_gettime};

    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).ok()
}

#[cfg(not(unix))]
pub(crate) fn computed() -> Option<Duration> {
    None
}
