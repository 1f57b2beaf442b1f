//! The clock that all threads share.

use porous_proto::Instant;

/// A clock that counts microseconds since it was started. A copy shows the same time.
#[derive(Clone, Copy)]
pub(crate) struct Clock(std::time::Instant);

impl Clock {
    #[expect(clippy::disallowed_methods, reason = "this is the place")]
    pub(crate) fn start() -> Self {
        Self(std::time::Instant::now())
    }

    pub(crate) fn now(self) -> Instant {
        Instant::ZERO + self.0.elapsed()
    }
}
