//! Loss detection as the paper has it: three later acknowledgements or T_rto drop a frame (§3.1.3,
//! §3.1.5, Figure 7), drops mean one backoff in a round trip and a reset if nothing arrives for long
//! (§3.1.4), and sentinel frames move the remote window on (§3.1.2).

use super::{Due, Flight, Lost, Recovery};
use crate::congestion::Signal;
use crate::time::Instant;
use crate::transfer::acked::LaterAcks;
use crate::transfer::rtt::Rtt;

/// ρ of (13).
const RESET_FACTOR: u32 = 8;

/// The rules of the paper, on one path.
#[derive(Debug)]
pub(crate) struct Paper {
    /// There is no second backoff before this time.
    backed_off_until: Instant,
    /// The first drop since an acknowledgement last came.
    first_drop: Option<Instant>,
}

impl Paper {
    pub(super) const fn new() -> Self {
        Self {
            backed_off_until: Instant::ZERO,
            first_drop: None,
        }
    }
}

impl Recovery for Paper {
    fn on_acknowledged(&mut self, _: u64, data: bool, _: bool, _: Instant) {
        if data {
            self.first_drop = None;
        }
    }

    fn is_lost(&self, (id, _): (u64, Instant), acks: &LaterAcks, _: &Rtt, _: Instant) -> bool {
        id < acks.dropped_below()
    }

    fn deadline(&self, flight: &Flight, _: &LaterAcks, rtt: &Rtt) -> (Instant, Due) {
        let sent = flight.oldest.map_or(Instant::NEVER, |(_, sent)| sent);
        (sent + rtt.timeout(), Due::Loss)
    }

    fn on_lost(&mut self, _: &Lost, rtt: &Rtt, now: Instant) -> Signal {
        let reset_timeout = RESET_FACTOR * rtt.timeout(); // (13)
        let first = *self.first_drop.get_or_insert(now);
        if now.saturating_duration_since(first) > reset_timeout {
            self.first_drop = Some(now);
            // A reset is a backoff, too: the drops of the same step would overwrite (14) by (12)
            // (`docs/deviations.md` P13).
            self.backed_off_until = now + rtt.smoothed();
            Signal::Persistent
        } else if now >= self.backed_off_until {
            self.backed_off_until = now + rtt.smoothed();
            Signal::Loss
        } else {
            Signal::FurtherLoss
        }
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;
    use crate::config::Policy;

    const MS: Duration = Duration::from_millis(1);

    /// Round trips of a little more than 100 ms, and T0, when a first frame was dropped.
    fn dropped_once() -> (Paper, Rtt, Instant) {
        let (mut paper, mut rtt) = (Paper::new(), Rtt::new(Policy::Paper));
        (0..200).for_each(|_| rtt.on_pong(100 * MS, Instant::ZERO));
        let at = Instant::ZERO + Duration::from_secs(1);
        assert_eq!(paper.on_lost(&LOST, &rtt, at), Signal::Loss);
        (paper, rtt, at)
    }

    const LOST: Lost = Lost {
        id: 0,
        sent: Instant::ZERO,
        next: 1,
        is_alone: false,
    };

    #[test]
    fn equation_11_a_drop_halves_the_window_once_a_round_trip() {
        let (mut paper, rtt, at) = dropped_once();
        let mut lose = |at| paper.on_lost(&LOST, &rtt, at);
        assert_eq!(lose(at + 99 * MS), Signal::FurtherLoss);
        assert_eq!(lose(at + rtt.smoothed()), Signal::Loss);
    }

    #[test]
    fn equation_13_reset_comes_after_eight_timeouts_without_an_acknowledgement() {
        let (mut paper, rtt, at) = dropped_once();
        let reset = at + 8 * rtt.timeout();
        assert_eq!(paper.on_lost(&LOST, &rtt, reset), Signal::Loss);
        assert_eq!(paper.on_lost(&LOST, &rtt, reset + MS), Signal::Persistent);

        let (mut paper, rtt, at) = dropped_once();
        paper.on_acknowledged(0, true, false, at);
        let signal = paper.on_lost(&LOST, &rtt, at + 8 * rtt.timeout() + MS);
        assert_eq!(signal, Signal::Loss);
    }
}
