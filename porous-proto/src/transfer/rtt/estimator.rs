//! A smoothed round-trip time from many samples, in integers (RFC 9002 §5, RFC 7323 appendix G;
//! `docs/deviations.md` T13).

use core::time::Duration;

use crate::time::Instant;

/// Round trip that is assumed before the first sample (§3.1.3).
const INITIAL: Duration = Duration::from_millis(200);

/// Longest round trip that counts: nothing overflows, and the estimate outlives a jump of the clock.
const LONGEST: Duration = Duration::from_secs(60);

/// Samples in a round trip that count in full. Where there are more, each counts less, so that a flow of 60
/// or 240 frames a second remembers as many round trips as one with two samples in each.
const SAMPLES: u32 = 2;

/// A smoothed round-trip time and its variation, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Estimator {
    smoothed: u64,
    variation: u64,
    latest: u64,
    /// True once there was a sample.
    is_measured: bool,
    /// When the current round of samples began, which lasts for a smoothed round trip.
    round_began: Instant,
    /// Samples in the current round.
    in_round: u32,
    /// Samples in the last whole round.
    rate: u32,
}

impl Estimator {
    pub(super) const fn new() -> Self {
        let initial = nanos(INITIAL);
        Self {
            smoothed: initial,
            variation: initial / 2,
            latest: initial,
            is_measured: false,
            round_began: Instant::ZERO,
            in_round: 0,
            rate: 0,
        }
    }

    /// A round trip took this long.
    pub(super) fn sample(&mut self, rtt: Duration, now: Instant) {
        self.latest = nanos(rtt);
        if !self.is_measured {
            // The first sample replaces what was assumed, which averages would remember for many round trips
            // (RFC 9002 §5.3).
            self.is_measured = true;
            (self.smoothed, self.variation) = (self.latest, self.latest / 2);
            self.round_began = now;
            return;
        }
        self.count(now);
        // At least 1: where samples are rare each counts in full.
        let weight = i64::from((self.rate / SAMPLES).max(1));
        let error = signed(self.latest) - signed(self.smoothed);
        let surprise = error.abs() - signed(self.variation);
        self.variation = self
            .variation
            .saturating_add_signed(surprise / (4 * weight));
        self.smoothed = self.smoothed.saturating_add_signed(error / (8 * weight));
    }

    fn count(&mut self, now: Instant) {
        self.in_round = self.in_round.saturating_add(1);
        if now.saturating_duration_since(self.round_began) >= self.smoothed() {
            self.rate = self.in_round;
            (self.in_round, self.round_began) = (0, now);
        }
    }

    pub(super) const fn smoothed(&self) -> Duration {
        Duration::from_nanos(self.smoothed)
    }

    pub(super) const fn variation(&self) -> Duration {
        Duration::from_nanos(self.variation)
    }

    pub(super) const fn latest(&self) -> Duration {
        Duration::from_nanos(self.latest)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a minute at most")]
const fn nanos(duration: Duration) -> u64 {
    let nanos = duration.as_nanos();
    let longest = LONGEST.as_nanos();
    if nanos < longest {
        nanos as u64
    } else {
        longest as u64
    }
}

/// The conversion cannot fail: no time is longer than [`LONGEST`].
fn signed(nanos: u64) -> i64 {
    i64::try_from(nanos).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn after(samples: &[(u64, u32)]) -> Estimator {
        let mut estimator = Estimator::new();
        for &(at, rtt) in samples {
            estimator.sample(rtt * MS, Instant::ZERO + Duration::from_millis(at));
        }
        estimator
    }

    #[test]
    fn the_first_sample_replaces_what_was_believed() {
        let estimator = after(&[(0, 40)]);
        assert_eq!(estimator.smoothed(), 40 * MS);
        assert_eq!(estimator.variation(), 20 * MS);
    }

    #[test]
    fn two_samples_a_round_trip_count_in_full() {
        let estimator = after(&[(0, 40), (40, 80)]);
        assert_eq!(estimator.smoothed(), 45 * MS);
        assert_eq!(estimator.variation(), 25 * MS);
        assert_eq!(estimator.latest(), 80 * MS);
    }

    /// The memory is one of round trips, not of samples.
    #[test]
    fn many_samples_a_round_trip_count_less() {
        let sparse: Vec<_> = (0..400)
            .map(|n| (n * 50, if n < 200 { 40 } else { 80 }))
            .collect();
        let dense: Vec<_> = (0..4000)
            .map(|n| (n * 5, if n < 2000 { 40 } else { 80 }))
            .collect();
        let until = |samples: &[(u64, u32)], at| {
            let samples: Vec<_> = samples.iter().copied().filter(|&(t, _)| t <= at).collect();
            after(&samples).smoothed().as_millis()
        };
        for at in [10_200, 10_400, 10_800] {
            let (few, many) = (until(&sparse, at), until(&dense, at));
            assert!(few.abs_diff(many) <= 6, "{few} and {many} after {at}");
        }
    }

    #[test]
    fn absurd_samples_do_not_overflow() {
        let mut estimator = Estimator::new();
        for _ in 0..1000 {
            estimator.sample(Duration::MAX, Instant::NEVER);
            estimator.sample(Duration::ZERO, Instant::ZERO);
        }
        assert!(estimator.smoothed() <= LONGEST && estimator.variation() <= LONGEST);
    }
}
