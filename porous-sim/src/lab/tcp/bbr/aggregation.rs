//! Acknowledgements that come in bunches ("BBR.extra_acked"). Volumes are in segments.

use alloc::collections::VecDeque;

/// The round trips that the most is taken of, and in Startup.
const ROUNDS: u64 = 10;
const ROUNDS_OF_STARTUP: u64 = 1;

/// How many segments more were acknowledged than the bandwidth explains.
#[derive(Debug, Default)]
pub(super) struct Aggregation {
    /// When the bunch began, in seconds.
    since: f64,
    /// Segments acknowledged in this bunch.
    acked: f64,
    /// The number of a round trip and the most of it, from the most to the least.
    highest: VecDeque<(u64, f64)>,
}

impl Aggregation {
    pub(super) fn get(&self) -> f64 {
        self.highest.front().map_or(0.0, |&(_, extra)| extra)
    }

    /// Forgets what is too old in the round trip `round`.
    pub(super) fn expire(&mut self, round: u64, in_startup: bool) {
        let length = if in_startup {
            ROUNDS_OF_STARTUP
        } else {
            ROUNDS
        };
        self.highest.retain(|&(of, _)| of + length > round);
    }

    /// Takes note of `newly` segments in the round trip `round`. No bunch is larger than the window.
    pub(super) fn on_ack(&mut self, now: f64, newly: f64, round: u64, expected: Expected) {
        let mut explained = expected.bandwidth * (now - self.since);
        if self.acked <= explained {
            (self.since, self.acked, explained) = (now, 0.0, 0.0);
        }
        self.acked += newly;
        let extra = (self.acked - explained).min(expected.window);
        while self.highest.back().is_some_and(|&(_, than)| than <= extra) {
            self.highest.pop_back();
        }
        self.highest.push_back((round, extra));
    }
}

/// What is expected of acknowledgements.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    /// In segments a second.
    pub(super) bandwidth: f64,
    /// The congestion window.
    pub(super) window: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bunch_is_what_the_bandwidth_does_not_explain_and_is_forgotten() {
        let mut aggregation = Aggregation::default();
        let expected = Expected {
            bandwidth: 100.0,
            window: 50.0,
        };
        aggregation.on_ack(1.00, 2.0, 1, expected);
        aggregation.on_ack(1.02, 2.0, 1, expected);
        assert_eq!(aggregation.get(), 2.0);
        // Nothing for a while, and all at once: the first begins a bunch.
        aggregation.on_ack(1.50, 20.0, 2, expected);
        aggregation.on_ack(1.51, 20.0, 2, expected);
        assert_eq!(aggregation.get(), 39.0);
        aggregation.expire(11, false);
        assert_eq!(aggregation.get(), 39.0);
        aggregation.expire(12, false);
        assert_eq!(aggregation.get(), 0.0);
    }
}
