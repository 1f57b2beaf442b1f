//! How long an early probe waits (`docs/deviations.md` P6).

use core::time::Duration;

use super::estimator::Estimator;

/// Clocks and hosts are not more exact than this (RFC 9002, kGranularity).
const GRANULARITY: Duration = Duration::from_millis(1);

/// No honest host holds an acknowledgement back for longer: what is longer tells of losses.
const HOLD_MAX: Duration = Duration::from_millis(25);

/// What lets a probe wait longer than a round trip of the path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Early {
    /// How long the remote host holds acknowledgements back that nobody asked for.
    hold: Duration,
}

impl Early {
    pub(crate) const fn new() -> Self {
        Self { hold: HOLD_MAX }
    }

    /// The time after which a frame without an acknowledgement is probed, which asked for one at
    /// once or not. Times of the path know how seldom both hosts look, so no step comes on top; and a
    /// host that is called at the frames of a game is called half a step too late on average, so it
    /// is due that much earlier.
    pub(crate) fn wait(&self, path: &Estimator, at_once: bool, step: Duration) -> Duration {
        let smoothed = path.smoothed();
        let variation = (2 * path.variation()).max(GRANULARITY);
        let hold = if at_once { Duration::ZERO } else { self.hold };
        smoothed + variation + hold - (step / 2).min(smoothed / 8)
    }

    /// A round trip was measured, with an acknowledgement that was held back for so long.
    pub(crate) fn on_sample(&mut self, delay: Duration) {
        self.hold = (7 * self.hold + delay.min(HOLD_MAX)) / 8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Instant;

    const MS: Duration = Duration::from_millis(1);
    const RTT: Duration = Duration::from_millis(64);

    /// Round trips that do not vary.
    fn settled() -> Estimator {
        let mut path = Estimator::new();
        for n in 0..200 {
            path.sample(RTT, Instant::from_micros(64_000 * n));
        }
        path
    }

    /// P6.
    #[test]
    fn who_is_called_late_probes_half_a_step_early() {
        let (path, early) = (settled(), Early::new());
        assert_eq!(early.wait(&path, true, 16 * MS), RTT + MS - 8 * MS);
        assert_eq!(early.wait(&path, true, 500 * MS), RTT + MS - RTT / 8);
    }

    /// P6.
    #[test]
    fn what_the_remote_host_holds_back_is_waited_for_unless_asked_for() {
        let (path, mut early) = (settled(), Early::new());
        for _ in 0..100 {
            early.on_sample(10 * MS);
        }
        let asked = early.wait(&path, true, Duration::ZERO);
        let held = early.wait(&path, false, Duration::ZERO) - asked;
        assert!(held.as_millis() == 10, "{held:?}");
        // An acknowledgement that was lost looks as if it had been held for long.
        for _ in 0..100 {
            early.on_sample(1000 * MS);
        }
        assert!(early.wait(&path, false, Duration::ZERO) <= asked + 25 * MS);
    }
}
