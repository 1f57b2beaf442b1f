//! What losses tell of the path: bounds of the rate and of the flight ("Updating the Model Upon Packet
//! Loss"). Rates are in segments a second, volumes in segments; a bound that is not set is infinite.

use super::super::delivery::{Sample, Sent};
use super::rounds::Rounds;

/// The loss that is accepted of a round trip (BBR.LossThresh).
const THRESHOLD: f64 = 0.02;

/// What is left by a round trip with losses, at the least (BBR.Beta).
pub(super) const BETA: f64 = 0.7;

/// The part of the long-term bound that is left to other flows (BBR.Headroom).
const HEADROOM: f64 = 0.15;

/// The losses since a segment was sent, and the flight that it was sent in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loss {
    lost: f64,
    in_flight: f64,
}

impl Loss {
    /// The losses since `sent`, now that `lost` segments have been lost.
    pub(super) fn since(sent: &Sent, lost: u64) -> Self {
        Self {
            lost: (lost - sent.lost) as f64,
            in_flight: f64::from(sent.in_flight),
        }
    }

    /// True if the loss says that too much was in flight.
    pub(super) fn is_too_high(self) -> bool {
        self.lost > THRESHOLD * self.in_flight
    }

    /// The flight at which the loss became too high, if the last segment that was lost made it so
    /// (`InflightAtLoss`).
    pub(super) fn flight(self) -> f64 {
        let before = self.in_flight - 1.0;
        let prefix = (THRESHOLD * before - (self.lost - 1.0)) / (1.0 - THRESHOLD);
        // No less than nothing of the segment: the earlier losses may have been too many already.
        before + prefix.max(0.0)
    }
}

/// The bounds from the losses of this cycle ("When not Probing for Bandwidth").
#[derive(Debug)]
pub(super) struct ShortTerm {
    rounds: Rounds,
    /// True if a segment was lost in this round trip.
    has_lost: bool,
    /// Ranges of segments lost in this round trip, and the last of these segments.
    ranges: u32,
    last_lost: u32,
    /// The highest rate and the most volume of a sample in this round trip.
    latest_rate: f64,
    latest_volume: f64,
    pub(super) bandwidth: f64,
    pub(super) flight: f64,
}

impl ShortTerm {
    pub(super) fn new() -> Self {
        Self {
            rounds: Rounds::default(),
            has_lost: false,
            ranges: 0,
            last_lost: 0,
            latest_rate: 0.0,
            latest_volume: 0.0,
            bandwidth: f64::INFINITY,
            flight: f64::INFINITY,
        }
    }

    pub(super) const fn has_lost(&self) -> bool {
        self.has_lost
    }

    /// True if the newest acknowledgement has ended a round trip.
    pub(super) const fn has_ended_round(&self) -> bool {
        self.rounds.has_begun()
    }

    /// Ranges of segments that were lost in this round trip.
    pub(super) const fn ranges(&self) -> u32 {
        self.ranges
    }

    pub(super) const fn latest_volume(&self) -> f64 {
        self.latest_volume
    }

    pub(super) fn on_lost(&mut self, number: u32, delivered: u64) {
        if !self.has_lost {
            self.rounds.restart(delivered);
        }
        if self.ranges == 0 || number != self.last_lost + 1 {
            self.ranges += 1;
        }
        self.last_lost = number;
        self.has_lost = true;
    }

    /// To be called before all else that an acknowledgement does. Returns true if it ends a round trip
    /// with losses.
    pub(super) fn on_ack(&mut self, sample: &Sample, delivered: u64) -> bool {
        self.latest_rate = self.latest_rate.max(sample.rate);
        self.latest_volume = self.latest_volume.max(sample.volume);
        let ended = self.rounds.on_ack(sample.newest.delivered, delivered);
        ended && core::mem::take(&mut self.has_lost)
    }

    /// To be called after all else that an acknowledgement does.
    pub(super) fn advance(&mut self, sample: &Sample) {
        if self.rounds.has_begun() {
            self.latest_rate = sample.rate;
            self.latest_volume = sample.volume;
            self.ranges = 0;
        }
    }

    /// Lowers the bounds to what a round trip with losses has delivered. `bandwidth` and `window` are the
    /// bounds if there were none.
    pub(super) fn lower(&mut self, bandwidth: f64, window: f64) {
        let lower = |bound: f64, first: f64, latest: f64| {
            let bound = if bound.is_finite() { bound } else { first };
            latest.max(BETA * bound)
        };
        self.bandwidth = lower(self.bandwidth, bandwidth, self.latest_rate);
        self.flight = lower(self.flight, window, self.latest_volume);
    }

    /// Forgets the bounds.
    pub(super) const fn forget_bounds(&mut self) {
        (self.bandwidth, self.flight) = (f64::INFINITY, f64::INFINITY);
    }

    /// Forgets the losses and the samples of this round trip.
    pub(super) const fn forget_round(&mut self) {
        self.has_lost = false;
        (self.latest_rate, self.latest_volume) = (0.0, 0.0);
    }
}

/// The bound of the flight from the losses of the last probe (BBR.inflight_longterm).
#[derive(Debug)]
pub(super) struct LongTerm {
    pub(super) flight: f64,
    /// Segments acknowledged since the bound was raised.
    acked: f64,
    /// Segments that have to be acknowledged for each by which the bound is raised.
    step: f64,
    /// Round trips of this probe in which the bound was raised.
    rounds: u32,
}

impl LongTerm {
    pub(super) const fn new() -> Self {
        Self {
            flight: f64::INFINITY,
            acked: 0.0,
            step: f64::INFINITY,
            rounds: 0,
        }
    }

    /// The bound less what is left to other flows (`InflightWithHeadroom`).
    pub(super) fn with_headroom(&self) -> f64 {
        if self.flight.is_infinite() {
            return f64::INFINITY;
        }
        self.flight - (HEADROOM * self.flight).max(1.0)
    }

    /// True if a flight of this size leaves no room for a whole segment.
    pub(super) fn is_reached(&self, flight: u32) -> bool {
        f64::from(flight) + 1.0 > self.flight
    }

    /// Takes note that a flight of this size was delivered well.
    pub(super) fn allow(&mut self, flight: u32) {
        if self.flight.is_finite() {
            self.flight = self.flight.max(flight.into());
        }
    }

    /// Begins with slow growth.
    pub(super) const fn restart(&mut self) {
        (self.acked, self.rounds) = (0.0, 0);
    }

    /// Doubles the growth of a round trip (`RaiseInflightLongtermSlope`).
    pub(super) fn steepen(&mut self, window: f64) {
        let growth = 1_u32 << self.rounds;
        self.rounds = (self.rounds + 1).min(30);
        self.step = (window / f64::from(growth)).max(1.0);
    }

    /// Raises the bound, which has kept the window at this size (`ProbeInflightLongtermUpward`).
    pub(super) fn raise(&mut self, newly: u32) {
        self.acked += f64::from(newly);
        while self.acked >= self.step {
            self.acked -= self.step;
            self.flight += 1.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loss_is_too_high_above_two_percent_of_the_flight() {
        let sent = |in_flight| Sent {
            in_flight,
            lost: 3,
            ..Sent::default()
        };
        assert!(!Loss::since(&sent(100), 5).is_too_high());
        assert!(Loss::since(&sent(99), 5).is_too_high());
        // 2 of 100, and a fiftieth of what comes after.
        assert_eq!(Loss::since(&sent(101), 6).flight(), 100.0);
    }

    #[test]
    fn a_round_trip_with_losses_lowers_the_bounds_to_its_rate_but_not_below_seven_tenths() {
        let mut short = ShortTerm::new();
        let sample = |rate, delivered| Sample {
            newest: Sent {
                delivered,
                ..Sent::default()
            },
            volume: 40.0,
            rate,
            rtt: None,
        };
        assert!(!short.on_ack(&sample(95.0, 0), 10));
        short.advance(&sample(95.0, 0));
        short.on_lost(7, 10);
        assert!(!short.on_ack(&sample(90.0, 9), 11));
        assert!(short.on_ack(&sample(90.0, 10), 12));
        short.lower(100.0, 80.0);
        assert_eq!((short.bandwidth, short.flight), (95.0, 56.0));
        short.advance(&sample(90.0, 10));
        short.forget_round();
        short.lower(100.0, 80.0);
        assert_eq!(short.bandwidth, 95.0 * BETA);
        short.forget_bounds();
        assert_eq!(short.flight, f64::INFINITY);
    }

    #[test]
    fn neighbours_that_are_lost_are_one_range() {
        let mut short = ShortTerm::new();
        for number in [4, 5, 6, 9, 10, 20] {
            short.on_lost(number, 0);
        }
        assert_eq!(short.ranges(), 3);
    }

    #[test]
    fn the_long_term_bound_rises_faster_in_each_round_trip() {
        let mut long = LongTerm::new();
        long.flight = 40.0;
        for rise in [1.0, 2.0, 4.0, 8.0] {
            let before = long.flight;
            long.steepen(40.0);
            for _ in 0..40 {
                long.raise(1);
            }
            assert_eq!(long.flight - before, rise);
        }
    }
}
