//! The least and the greatest of recent values, in a few bytes: over a time that slides in halves.

use core::time::Duration;

use crate::time::Instant;

/// Half of the time for which an extreme of a path is remembered.
const HALF: Duration = Duration::from_secs(5);

/// What was noted in the current half and in the one before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Halves<T> {
    began: Instant,
    pub(super) before: T,
    pub(super) current: T,
}

impl<T: Copy> Halves<T> {
    /// `none` is the value of a half in which nothing was noted.
    pub(super) const fn new(none: T) -> Self {
        Self {
            began: Instant::ZERO,
            before: none,
            current: none,
        }
    }

    /// Forgets what is older than two halves.
    pub(super) fn slide(&mut self, half: Duration, none: T, now: Instant) {
        let age = now.saturating_duration_since(self.began);
        if age >= half {
            self.before = if age < 2 * half { self.current } else { none };
            (self.current, self.began) = (none, now);
        }
    }
}

/// The shortest time of the last 5 to 10 s.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Minimum(Halves<Duration>);

impl Minimum {
    pub(crate) const NONE: Self = Self(Halves::new(Duration::MAX));

    pub(crate) fn sample(&mut self, time: Duration, now: Instant) {
        self.0.slide(HALF, Duration::MAX, now);
        self.0.current = self.0.current.min(time);
    }

    /// `None` before the first sample.
    pub(crate) fn get(&self) -> Option<Duration> {
        let least = self.0.current.min(self.0.before);
        (least < Duration::MAX).then_some(least)
    }
}

/// The most bytes of the last 5 to 10 s.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peak(Halves<u32>);

impl Peak {
    pub(crate) const NONE: Self = Self(Halves::new(0));

    pub(crate) fn note(&mut self, bytes: u32, now: Instant) {
        self.0.slide(HALF, 0, now);
        self.0.current = self.0.current.max(bytes);
    }

    pub(crate) fn get(&self) -> u32 {
        self.0.current.max(self.0.before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn a_minimum_lasts_for_five_to_ten_seconds() {
        let mut minimum = Minimum::NONE;
        assert_eq!(minimum.get(), None);
        minimum.sample(30 * MS, at(0));
        for n in 1..20 {
            minimum.sample(50 * MS, at(n * 500));
            assert_eq!(minimum.get(), Some(30 * MS), "{n}");
        }
        minimum.sample(50 * MS, at(10_000));
        assert_eq!(minimum.get(), Some(50 * MS));
        minimum.sample(60 * MS, at(60_000));
        assert_eq!(minimum.get(), Some(60 * MS));
    }

    #[test]
    fn a_peak_lasts_for_five_to_ten_seconds() {
        let mut peak = Peak::NONE;
        peak.note(100, at(1000));
        peak.note(7, at(4000));
        assert_eq!(peak.get(), 100);
        peak.note(7, at(5000));
        assert_eq!(peak.get(), 100);
        peak.note(8, at(10_000));
        assert_eq!(peak.get(), 8);
        peak.note(3, at(60_000));
        assert_eq!(peak.get(), 3);
    }
}
