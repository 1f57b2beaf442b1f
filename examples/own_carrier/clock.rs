//! The clock that all hosts share.

use core::time::Duration;

use porous_proto::Instant;

/// A clock that counts microseconds since the program began.
pub(crate) struct Clock(std::time::Instant);

impl Clock {
    #[expect(clippy::disallowed_methods, reason = "this is the place")]
    pub(crate) fn start() -> Self {
        Self(std::time::Instant::now())
    }

    pub(crate) fn now(&self) -> Instant {
        Instant::ZERO + self.0.elapsed()
    }

    /// Waits for the next picture: here, for 5 ms.
    pub(crate) fn wait_for_frame(&self) {
        std::thread::park_timeout(Duration::from_millis(5));
    }
}
