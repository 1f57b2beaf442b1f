//! Round-trip time and resend timeout (§3.1.3), in integers.

use core::time::Duration;

/// T_rtt,avg at the start (§3.1.3).
const INITIAL_RTT_US: u64 = 200_000;

/// T_rto (7) is at least so much longer than a round trip: whoever answers pings before they have
/// come and makes the host step often would else be sent to without end (`deviations.md` P4; RFC
/// 9002 §6.2.1, kGranularity).
const GRANULARITY: Duration = Duration::from_millis(1);

/// The estimates of (5)-(7), in microseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rtt {
    average: u64,
    variance: u64,
}

impl Rtt {
    pub(crate) const fn new() -> Self {
        Self {
            average: INITIAL_RTT_US,
            variance: INITIAL_RTT_US / 2,
        }
    }

    /// A ping took this long. The variance comes first: (6) uses the average before (5).
    pub(crate) fn sample(&mut self, ping: Duration) {
        // A minute stands for all that is worse, so that nothing can overflow.
        let ping = u64::try_from(ping.as_micros())
            .unwrap_or(u64::MAX)
            .min(60_000_000);
        self.variance = (3 * self.variance + self.average.abs_diff(ping)) / 4; // (6)
        self.average = (7 * self.average + ping) / 8; // (5)
    }

    /// T_rtt,avg.
    pub(crate) const fn average(&self) -> Duration {
        Duration::from_micros(self.average)
    }

    /// T_rtt,var.
    pub(crate) const fn variance(&self) -> Duration {
        Duration::from_micros(self.variance)
    }

    /// T_rto (7), where `step` is T_step,avg, the average time between steps.
    pub(crate) fn resend_timeout(&self, step: Duration) -> Duration {
        self.average() + step.max(4 * self.variance()).max(GRANULARITY) // (7)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn equation_05_average_moves_by_an_eighth() {
        let mut rtt = Rtt::new();
        rtt.sample(40 * MS);
        assert_eq!(rtt.average(), 180 * MS);
    }

    #[test]
    fn equation_06_variance_uses_the_average_before_the_sample() {
        let mut rtt = Rtt::new();
        assert_eq!(rtt.variance(), 100 * MS);
        rtt.sample(40 * MS);
        // 0.75 * 100 + 0.25 * |200 - 40|
        assert_eq!(rtt.variance(), 115 * MS);
    }

    #[test]
    fn equation_07_timeout_is_at_least_a_step_above_the_average() {
        let mut rtt = Rtt::new();
        assert_eq!(rtt.resend_timeout(Duration::ZERO), 600 * MS);
        for _ in 0..200 {
            rtt.sample(50 * MS);
        }
        let timeout = rtt.resend_timeout(16 * MS);
        assert!(timeout > 65 * MS && timeout < 67 * MS, "{timeout:?}");
    }

    /// P4.
    #[test]
    fn round_trips_of_nothing_leave_a_millisecond() {
        let mut rtt = Rtt::new();
        for _ in 0..200 {
            rtt.sample(Duration::ZERO);
        }
        assert_eq!(rtt.resend_timeout(Duration::ZERO), MS);
        assert_eq!(rtt.resend_timeout(2 * MS), 2 * MS);
    }

    #[test]
    fn absurd_samples_do_not_overflow() {
        let mut rtt = Rtt::new();
        for _ in 0..1000 {
            rtt.sample(Duration::MAX);
        }
        assert!(rtt.average() <= 60_000 * MS);
    }
}
