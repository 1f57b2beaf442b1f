//! A clock for the time that a run takes.

use core::time::Duration;
use std::time::Instant;

/// A clock that runs since it was made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock(Instant);

impl Clock {
    #[expect(
        clippy::disallowed_methods,
        reason = "the user wants to know, and to stop in time"
    )]
    pub(super) fn start() -> Self {
        Self(Instant::now())
    }

    pub(super) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}
