//! The average round-trip time of pings and its variance, as the paper has them (§3.1.3), in integers.

use core::time::Duration;

/// T_rtt,avg at the start (§3.1.3).
const INITIAL_RTT_US: u64 = 200_000;

/// The estimates of (5) and (6), in microseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pings {
    average: u64,
    variance: u64,
}

impl Pings {
    pub(super) const fn new() -> Self {
        Self {
            average: INITIAL_RTT_US,
            variance: INITIAL_RTT_US / 2,
        }
    }

    /// A ping took this long. The variance comes first: (6) uses the average before (5).
    pub(super) fn sample(&mut self, ping: Duration) {
        // A minute stands for all that is worse, so that nothing can overflow.
        let ping = u64::try_from(ping.as_micros())
            .unwrap_or(u64::MAX)
            .min(60_000_000);
        self.variance = (3 * self.variance + self.average.abs_diff(ping)) / 4; // (6)
        self.average = (7 * self.average + ping) / 8; // (5)
    }

    /// T_rtt,avg.
    pub(super) const fn average(&self) -> Duration {
        Duration::from_micros(self.average)
    }

    /// T_rtt,var.
    pub(super) const fn variance(&self) -> Duration {
        Duration::from_micros(self.variance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn equation_05_average_moves_by_an_eighth() {
        let mut rtt = Pings::new();
        rtt.sample(40 * MS);
        assert_eq!(rtt.average(), 180 * MS);
    }

    #[test]
    fn equation_06_variance_uses_the_average_before_the_sample() {
        let mut rtt = Pings::new();
        assert_eq!(rtt.variance(), 100 * MS);
        rtt.sample(40 * MS);
        // 0.75 * 100 + 0.25 * |200 - 40|
        assert_eq!(rtt.variance(), 115 * MS);
    }

    #[test]
    fn absurd_samples_do_not_overflow() {
        let mut rtt = Pings::new();
        for _ in 0..1000 {
            rtt.sample(Duration::MAX);
        }
        assert!(rtt.average() <= 60_000 * MS);
    }
}
