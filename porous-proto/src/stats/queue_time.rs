//! How long packets of a channel wait to be sent.

use core::time::Duration;

use crate::time::Instant;

/// Half of the time that a maximum is remembered.
const HALF: Duration = Duration::from_millis(2500);

/// The times of one channel, in microseconds: an hour stands for all that is longer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct QueueTime {
    /// In eighths.
    smoothed: u64,
    /// Of the half before, and of this one.
    longest: [u32; 2],
    began: Instant,
}

impl QueueTime {
    /// A packet has waited this long.
    pub(crate) fn sample(&mut self, waited: Duration, now: Instant) {
        let waited = u32::try_from(waited.as_micros()).unwrap_or(u32::MAX);
        self.smoothed = self.smoothed - self.smoothed / 8 + u64::from(waited);
        let age = now.saturating_duration_since(self.began);
        if age >= HALF {
            let before = if age < 2 * HALF { self.longest[1] } else { 0 };
            (self.longest, self.began) = ([before, 0], now);
        }
        self.longest[1] = self.longest[1].max(waited);
    }

    pub(crate) const fn smoothed(&self) -> Duration {
        Duration::from_micros(self.smoothed / 8)
    }

    pub(crate) fn longest(&self) -> Duration {
        let [before, current] = self.longest;
        Duration::from_micros(before.max(current).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn times_are_smoothed_and_the_longest_is_remembered_for_a_while() {
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let mut times = QueueTime::default();
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
