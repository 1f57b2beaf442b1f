//! The shortest round trip of the last ten seconds.

use core::time::Duration;

use crate::time::Instant;

/// Half of the time that a minimum is remembered.
const HALF: Duration = Duration::from_secs(5);

/// A minimum over a window that slides in halves: over the last 5 to 10 s.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Minimum {
    began: Instant,
    current: Duration,
    before: Duration,
}

impl Minimum {
    pub(crate) const fn new() -> Self {
        Self {
            began: Instant::ZERO,
            current: Duration::MAX,
            before: Duration::MAX,
        }
    }

    pub(crate) fn sample(&mut self, rtt: Duration, now: Instant) {
        let age = now.saturating_duration_since(self.began);
        if age >= HALF {
            self.before = if age < 2 * HALF { self.current } else { rtt };
            (self.current, self.began) = (rtt, now);
        }
        self.current = self.current.min(rtt);
    }

    /// None before the first sample.
    pub(crate) fn get(&self) -> Option<Duration> {
        let least = self.current.min(self.before);
        (least < Duration::MAX).then_some(least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_minimum_lasts_for_five_to_ten_seconds() {
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let mut minimum = Minimum::new();
        assert_eq!(minimum.get(), None);
        minimum.sample(30 * MS, at(0));
        for n in 1..20 {
            minimum.sample(50 * MS, at(n * 500));
            let expected = if n < 20 { 30 } else { 50 };
            assert_eq!(minimum.get(), Some(expected * MS), "{n}");
        }
        minimum.sample(50 * MS, at(10_000));
        assert_eq!(minimum.get(), Some(50 * MS));
        minimum.sample(60 * MS, at(60_000));
        assert_eq!(minimum.get(), Some(60 * MS));
    }
}
