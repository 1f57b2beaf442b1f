//! What drops mean for the window by the rules of the paper (§3.1.4, §3.1.5): one backoff in a round
//! trip, and a reset if nothing arrives for long.

use core::time::Duration;

use crate::congestion::Signal;
use crate::time::Instant;

/// ρ of (13).
const RESET_FACTOR: u32 = 8;

/// The drops of one peer.
#[derive(Debug)]
pub(super) struct Drops {
    /// No second backoff before this time.
    backed_off_until: Instant,
    /// The first drop since an acknowledgement last came.
    first: Option<Instant>,
}

impl Drops {
    pub(super) const fn new() -> Self {
        Self {
            backed_off_until: Instant::ZERO,
            first: None,
        }
    }

    pub(super) const fn on_acknowledged(&mut self) {
        self.first = None;
    }

    /// A frame is considered dropped.
    pub(super) fn on_dropped(
        &mut self,
        now: Instant,
        rtt: Duration,
        resend_timeout: Duration,
    ) -> Signal {
        let reset_timeout = RESET_FACTOR * resend_timeout; // (13)
        let first = *self.first.get_or_insert(now);
        if now.saturating_duration_since(first) > reset_timeout {
            self.first = Some(now);
            // A reset is a backoff, too: the drops of the same step would overwrite (14) by (12)
            // (`docs/deviations.md` P13).
            self.backed_off_until = now + rtt;
            Signal::Persistent
        } else if now >= self.backed_off_until {
            self.backed_off_until = now + rtt;
            Signal::Loss
        } else {
            Signal::FurtherLoss
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);
    const RTT: Duration = Duration::from_millis(100);
    const RTO: Duration = Duration::from_millis(120);
    const T0: Instant = Instant::ZERO;

    fn dropped_once() -> Drops {
        let mut drops = Drops::new();
        assert_eq!(drops.on_dropped(T0, RTT, RTO), Signal::Loss);
        drops
    }

    #[test]
    fn equation_11_a_drop_halves_the_window_once_a_round_trip() {
        let mut drops = dropped_once();
        let signal = drops.on_dropped(T0 + 99 * MS, RTT, RTO);
        assert_eq!(signal, Signal::FurtherLoss);
        assert_eq!(drops.on_dropped(T0 + RTT, RTT, RTO), Signal::Loss);
    }

    #[test]
    fn equation_13_reset_comes_after_eight_timeouts_without_an_acknowledgement() {
        let mut drops = dropped_once();
        assert_eq!(drops.on_dropped(T0 + 8 * RTO, RTT, RTO), Signal::Loss);
        let signal = drops.on_dropped(T0 + 8 * RTO + MS, RTT, RTO);
        assert_eq!(signal, Signal::Persistent);

        let mut drops = dropped_once();
        drops.on_acknowledged();
        let signal = drops.on_dropped(T0 + 8 * RTO + MS, RTT, RTO);
        assert_eq!(signal, Signal::Loss);
    }
}
