//! The bandwidth of the path, and whether the sender has reached it. Rates are in segments a second.

use super::super::delivery::Sample;

/// The highest rate of this and the previous cycle of `ProbeBW` ("BBR.max_bw Max Filter").
#[derive(Debug, Default)]
pub(super) struct Bandwidth {
    previous: f64,
    current: f64,
}

impl Bandwidth {
    pub(super) const fn get(&self) -> f64 {
        self.previous.max(self.current)
    }

    pub(super) const fn on_rate(&mut self, rate: f64) {
        self.current = self.current.max(rate);
    }

    /// Begins a cycle.
    pub(super) const fn advance(&mut self) {
        // A cycle without a sample, as in an outage, leaves the older ones.
        if self.current > 0.0 {
            self.previous = self.current;
            self.current = 0.0;
        }
    }
}

/// The rate that counts as growth, to the rate before.
const GROWTH: f64 = 1.25;

/// The path is full after this many round trips without growth.
const PLATEAU: u32 = 3;

/// The detector of a plateau ("Exiting Acceleration Based on Bandwidth Plateau").
#[derive(Debug, Default)]
pub(super) struct FullPipe {
    /// The rate from which growth is counted.
    base: f64,
    /// Round trips without growth.
    flat: u32,
    /// True if the path was ever full.
    pub(super) was_full: bool,
}

impl FullPipe {
    /// Looks for growth from this rate on.
    pub(super) const fn restart(&mut self, base: f64) {
        self.base = base;
        self.flat = 0;
    }

    /// Takes note of the sample at the beginning of a round trip.
    pub(super) fn on_round(&mut self, sample: &Sample) {
        if self.is_full() || sample.newest.held_back {
            return;
        }
        if sample.rate >= GROWTH * self.base {
            self.restart(sample.rate);
            return;
        }
        self.flat += 1;
        self.was_full |= self.is_full();
    }

    /// True if the path is full, as far as is known since [`FullPipe::restart`].
    pub(super) const fn is_full(&self) -> bool {
        self.flat >= PLATEAU
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::tcp::delivery::Sent;

    #[test]
    fn a_bandwidth_is_forgotten_after_two_cycles() {
        let mut bandwidth = Bandwidth::default();
        bandwidth.on_rate(9.0);
        bandwidth.advance();
        bandwidth.on_rate(5.0);
        assert_eq!(bandwidth.get(), 9.0);
        bandwidth.advance();
        assert_eq!(bandwidth.get(), 5.0);
        bandwidth.advance();
        assert_eq!(bandwidth.get(), 5.0, "no sample in this cycle");
    }

    #[test]
    fn three_round_trips_without_growth_are_a_plateau() {
        let mut pipe = FullPipe::default();
        for (rate, is_full) in [
            (10.0, false),
            (13.0, false),
            (14.0, false),
            (17.0, false),
            (17.0, false),
            (18.0, false),
            (19.0, true),
        ] {
            pipe.on_round(&Sample {
                newest: Sent::default(),
                volume: 1.0,
                rate,
                rtt: None,
            });
            assert_eq!(pipe.is_full(), is_full, "{rate}");
        }
        pipe.restart(19.0);
        assert!(!pipe.is_full() && pipe.was_full);
    }
}
