//! The clocks: one for the time that a run takes, and that of the system.

use core::time::Duration;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// A clock that runs since it was made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock(Instant);

impl Clock {
    #[expect(
        clippy::disallowed_methods,
        reason = "the user wants to know, and to stop in time"
    )]
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

/// The seconds since 1970, in which tokens say how long they last; `None` before.
#[expect(
    clippy::disallowed_methods,
    reason = "a ticket is made at the time of day"
)]
pub(crate) fn unix_seconds() -> Option<u64> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.ok().map(|since| since.as_secs())
}
