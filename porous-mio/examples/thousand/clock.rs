//! The processor time of the program.

use core::time::Duration;

/// The processor time of all threads of this process, where the system can tell.
#[cfg(unix)]
pub(crate) fn computed() -> Option<Duration> {
    use rustix::time::{ClockId, clock_gettime};

    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).ok()
}

#[cfg(not(unix))]
pub(crate) fn computed() -> Option<Duration> {
    None
}
