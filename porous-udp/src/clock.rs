//! The only place that reads a clock.

use porous_proto::Instant;

/// The monotonic clock of the system, counted from a moment of our own.
///
/// ```
/// use porous_udp::Clock;
///
/// let clock = Clock::start();
/// let before = clock.now();
/// assert!(clock.now() >= before);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    epoch: std::time::Instant,
}

impl Clock {
    /// A clock that begins at zero now.
    ///
    /// ```
    /// let clock = porous_udp::Clock::start();
    /// # let _ = clock;
    /// ```
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this is the place")]
    pub fn start() -> Self {
        Self {
            epoch: std::time::Instant::now(),
        }
    }

    /// The time since the clock was started. A copy of a clock shows the same time.
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_udp::{Clock, Instant};
    ///
    /// let elapsed = Clock::start().now().saturating_duration_since(Instant::ZERO);
    /// assert!(elapsed < Duration::from_secs(60));
    /// ```
    #[must_use]
    pub fn now(&self) -> Instant {
        Instant::ZERO + self.epoch.elapsed()
    }
}
