//! The only place that reads clocks.

use porous_proto::Instant;

/// The monotonic clock of the system, counted from the moment at which the program started it.
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
        #[cfg(test)]
        if let Some(time) = simulated::time() {
            return Instant::ZERO + time;
        }
        Instant::ZERO + self.epoch.elapsed()
    }
}

/// The seconds since 1970 by the clock of the system; 0 if it shows an earlier time.
#[cfg(feature = "seal")]
pub(crate) fn unix_seconds() -> u64 {
    unix_time().as_secs()
}

/// The time since 1970 by the clock of the system; 0 if it shows an earlier time.
#[cfg(any(feature = "seal", feature = "trace"))]
#[expect(clippy::disallowed_methods, reason = "this is the place")]
pub(crate) fn unix_time() -> core::time::Duration {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.unwrap_or_default()
}

/// A time that stands still unless a test moves it.
#[cfg(test)]
pub(crate) mod simulated {
    use core::cell::Cell;
    use core::time::Duration;

    thread_local! {
        static TIME: Cell<Option<Duration>> = const { Cell::new(None) };
    }

    /// While this value lives, all clocks of this thread show the simulated time.
    pub(crate) struct Simulated(());

    pub(crate) fn start() -> Simulated {
        // Not zero, which stands for "never" in a host that was not called yet.
        TIME.set(Some(Duration::from_secs(1)));
        Simulated(())
    }

    impl Drop for Simulated {
        fn drop(&mut self) {
            TIME.set(None);
        }
    }

    pub(crate) fn pass(time: Duration) {
        TIME.set(TIME.get().map(|now| now + time));
    }

    pub(super) fn time() -> Option<Duration> {
        TIME.get()
    }
}
