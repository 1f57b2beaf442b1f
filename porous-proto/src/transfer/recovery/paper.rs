//! Loss detection by the paper. Three later acknowledgements or T_rto drop a frame (§3.1.3, §3.1.5,
//! Figure 7). Drops make the sender back off once in a round trip, and reset the window if nothing arrives
//! for long (§3.1.4). Sentinel frames move the remote window on (§3.1.2).

use super::{Due, Flight, Lost, Recovery};
use crate::congestion::Signal;
use crate::time::{Instant, Micros};
use crate::transfer::acked::LaterAcks;
use crate::transfer::rtt::Rtt;

/// T_rto in the longest time without an acknowledgement before the window is reset: ρ of (13).
const RESET_FACTOR: u64 = 8;

/// The rules of the paper, on one path.
#[derive(Debug, Default)]
pub(crate) struct Paper {
    /// Drops before this time cause no second backoff.
    backed_off_until: Instant,
    /// When the first frame was dropped since data was last acknowledged.
    first_drop: Option<Instant>,
}

impl Recovery for Paper {
    fn on_acknowledged(&mut self, _: u64, data: bool, _: bool, _: Instant) {
        // An acknowledged ping or bare acknowledgement does not count: the reset is for paths on which data
        // does not arrive.
        if data {
            self.first_drop = None;
        }
    }

    fn on_spurious(&mut self, _: u64) -> bool {
        // (13) is for paths on which no data arrives, and this has arrived. What (11) has set stays.
        self.first_drop = None;
        false
    }

    fn is_lost(&self, (id, _): (u64, Instant), acks: &LaterAcks, _: &Rtt, _: Instant) -> bool {
        id < acks.dropped_below()
    }

    fn deadline(&self, flight: &Flight, _: &LaterAcks, rtt: &Rtt) -> (Instant, Due) {
        // Only the oldest frame can time out: ids are in the order of sending. Nothing doubles here, as the
        // timeout of the published revision does not grow (the modern rules do otherwise: T3).
        let sent = flight.oldest.map_or(Instant::NEVER, |(_, sent)| sent);
        (sent + self.patience(rtt), Due::Loss)
    }

    fn patience(&self, rtt: &Rtt) -> Micros {
        rtt.timeout()
    }

    fn on_lost(&mut self, _: &Lost, rtt: &Rtt, now: Instant) -> Signal {
        let reset_timeout = RESET_FACTOR * rtt.timeout(); // (13)
        let first = *self.first_drop.get_or_insert(now);
        if now.since(first) > reset_timeout {
            // The next reset needs as long a silence again.
            self.first_drop = Some(now);
            // A reset is a backoff as well: otherwise the other drops of the same step would set W_s by
            // (12), and overwrite what (14) has set (`docs/deviations.md` P13).
            self.backed_off_until = now + rtt.smoothed();
            Signal::Persistent
        } else if now >= self.backed_off_until {
            // What is dropped within a round trip was sent before the sender could react to the first
            // drop (11).
            self.backed_off_until = now + rtt.smoothed();
            Signal::Loss
        } else {
            Signal::FurtherLoss
        }
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::config::Policy;

    const MS: Micros = Micros::from_millis(1);

    /// The state after a first drop, with round trips of a little more than 100 ms, and when that drop was.
    fn dropped_once() -> (Paper, Rtt, Instant) {
        let (mut paper, mut rtt) = (Paper::default(), Rtt::new(Policy::Paper));
        (0..200).for_each(|_| rtt.on_pong(100 * MS, Instant::ZERO));
        let at = Instant::ZERO + Micros::from_secs(1);
        assert_eq!(paper.on_lost(&LOST, &rtt, at), Signal::Loss);
        (paper, rtt, at)
    }

    const LOST: Lost = Lost {
        id: 0,
        sent: Instant::ZERO,
        next: 1,
        is_alone: false,
    };

    /// T15.
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

        let (mut paper, rtt, at) = dropped_once();
        assert!(!paper.on_spurious(0), "late data has arrived, too");
        let signal = paper.on_lost(&LOST, &rtt, at + 8 * rtt.timeout() + MS);
        assert_eq!(signal, Signal::Loss);
    }
}
