//! The clock of one machine, which need not agree with the world's.

use porous_proto::Instant;

/// Parts of which the drift of a clock is counted.
const PPM: i128 = 1_000_000;

/// A clock that shows `shown` at the time `at` of the world, and goes on from there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalClock {
    at: Instant,
    shown: Instant,
    /// By how many millionths the clock is too fast; negative if it is too slow.
    drift: i32,
}

impl LocalClock {
    /// A clock that agrees with the world's.
    pub(crate) const fn new() -> Self {
        Self {
            at: Instant::ZERO,
            shown: Instant::ZERO,
            drift: 0,
        }
    }

    pub(crate) fn set_drift(&mut self, now: Instant, ppm: i32) {
        // The time so far is kept as the old drift made it.
        self.shown = self.show(now);
        self.at = now;
        // A clock that stands still or runs backwards would never show a deadline.
        self.drift = ppm.max(-999_999);
    }

    /// Puts the clock forward, or back.
    pub(crate) fn jump(&mut self, now: Instant, by_micros: i64) {
        let shown = self.show(now).as_micros();
        self.shown = Instant::from_micros(shown.saturating_add_signed(by_micros));
        self.at = now;
    }

    /// The time that the clock shows at a time of the world.
    pub(crate) fn show(&self, now: Instant) -> Instant {
        let passed = micros(now) - micros(self.at);
        at_micros(micros(self.shown) + (passed * self.rate()).div_euclid(PPM))
    }

    /// The first time of the world at which the clock shows `shown`, or more.
    pub(crate) fn when(&self, shown: Instant) -> Instant {
        let to_pass = micros(shown) - micros(self.shown);
        let rate = self.rate();
        // Rounded up, so that the clock shows `shown` by then and a host is not called too early.
        at_micros(micros(self.at) + (to_pass * PPM + rate - 1).div_euclid(rate))
    }

    fn rate(self) -> i128 {
        PPM + i128::from(self.drift)
    }
}

fn micros(instant: Instant) -> i128 {
    i128::from(instant.as_micros())
}

fn at_micros(micros: i128) -> Instant {
    Instant::from_micros(u64::try_from(micros.max(0)).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Instant {
        Instant::from_micros(micros)
    }

    #[test]
    fn a_right_clock_shows_the_time() {
        let clock = LocalClock::new();
        for time in [at(0), at(7), at(u64::MAX)] {
            assert_eq!((clock.show(time), clock.when(time)), (time, time));
        }
    }

    #[test]
    fn drift_begins_when_it_is_set() {
        let mut clock = LocalClock::new();
        clock.set_drift(at(1_000_000), 500);
        assert_eq!(clock.show(at(1_000_000)), at(1_000_000));
        assert_eq!(clock.show(at(2_000_000)), at(2_000_500));
        clock.set_drift(at(2_000_000), -1000);
        assert_eq!(clock.show(at(3_000_000)), at(2_999_500));
    }

    #[test]
    fn a_clock_jumps_forwards_and_backwards() {
        let mut clock = LocalClock::new();
        clock.jump(at(100), 50);
        assert_eq!(clock.show(at(101)), at(151));
        clock.jump(at(101), -1000);
        assert_eq!(clock.show(at(101)), at(0));
        assert_eq!(clock.when(at(10)), at(111));
    }

    #[test]
    fn a_deadline_is_never_met_early() {
        for drift in [-999_999, -300, 0, 1, 777, 5_000_000] {
            let mut clock = LocalClock::new();
            clock.set_drift(at(10), drift);
            for shown in 10..500 {
                let when = clock.when(at(shown));
                assert!(clock.show(when) >= at(shown), "{drift} {shown}");
                let before = at(when.as_micros() - 1);
                assert!(clock.show(before) < at(shown), "{drift} {shown}");
            }
        }
    }
}
