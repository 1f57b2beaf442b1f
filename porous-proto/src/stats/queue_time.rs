//! How long packets of a channel wait to be sent.

use core::time::Duration;

use super::extremes::Halves;
use crate::time::Instant;

/// Half of the time for which a maximum is remembered.
const HALF: Duration = Duration::from_millis(2500);

/// The times of one channel, in microseconds: 71 minutes stand for all that is longer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueTime {
    /// In eighths.
    smoothed: u64,
    longest: Halves<u32>,
}

impl QueueTime {
    pub(crate) const NONE: Self = Self {
        smoothed: 0,
        longest: Halves::new(0),
    };

    /// A packet has waited this long.
    pub(crate) fn sample(&mut self, waited: Duration, now: Instant) {
        let waited = u32::try_from(waited.as_micros()).unwrap_or(u32::MAX);
        self.smoothed = self.smoothed - self.smoothed / 8 + u64::from(waited);
        self.longest.slide(HALF, 0, now);
        self.longest.current = self.longest.current.max(waited);
    }

    pub(crate) const fn smoothed(&self) -> Duration {
        Duration::from_micros(self.smoothed / 8)
    }

    pub(crate) fn longest(&self) -> Duration {
        let longest = self.longest.before.max(self.longest.current);
        Duration::from_micros(longest.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn times_are_smoothed_and_the_longest_is_remembered_for_a_while() {
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let mut times = QueueTime::NONE;
        times.sample(80 * MS, at(1000));
        assert_eq!((times.smoothed(), times.longest()), (10 * MS, 80 * MS));
        for n in 0..40 {
            times.sample(16 * MS, at(1100 + 50 * n));
        }
        assert!(times.smoothed().abs_diff(16 * MS) < MS);
        assert_eq!(times.longest(), 80 * MS);
        times.sample(16 * MS, at(4000));
        assert_eq!(times.longest(), 80 * MS);
        times.sample(16 * MS, at(7000));
        assert_eq!(times.longest(), 16 * MS);
        times.sample(Duration::MAX, at(u64::MAX / 2000));
        assert!(times.longest() > Duration::from_secs(3600));
    }
}
