//! When to look for more bandwidth, and what the last look has shown ("Time Scale for Bandwidth Probing",
//! "Precautionary Bandwidth Probing").

use chacha20::ChaCha8Rng;
use chacha20::rand_core::Rng;

use crate::Seed;

/// The least and the most seconds between two probes; the flow draws a time between them.
const WAIT: [f64; 2] = [2.0, 3.0];

/// The most round trips between two probes, of flows whose windows are large.
const MOST_ROUNDS: f64 = 63.0;

#[derive(Debug)]
pub(super) struct Probe {
    draws: ChaCha8Rng,
    /// When the newest cycle began, and how long to wait for the next probe, in seconds.
    since: f64,
    wait: f64,
    /// Round trips since the last probe.
    rounds: u64,
    /// True while acknowledgements are of segments that were sent to look for bandwidth, and their losses
    /// have not been answered.
    pub(super) has_samples: bool,
    /// True after a probe, until a round trip has passed.
    pub(super) is_stopping: bool,
    /// True if the last probe lost too much.
    pub(super) was_too_high: bool,
    /// True if the last probe ended early because the one before had lost too much.
    pub(super) was_cautious: bool,
}

impl Probe {
    pub(super) fn new(seed: Seed) -> Self {
        Self {
            draws: seed.stream("probe", 0),
            since: 0.0,
            wait: 0.0,
            rounds: 0,
            has_samples: false,
            is_stopping: false,
            was_too_high: false,
            was_cautious: false,
        }
    }

    /// Begins to wait (`PickProbeWait`). The draws keep flows from probing at the same time.
    pub(super) fn wait(&mut self, now: f64) {
        let draw = self.draws.next_u64();
        self.rounds = draw & 1;
        let part = (draw >> 32) as f64 / 4_294_967_296.0;
        self.wait = WAIT[0] + part * (WAIT[1] - WAIT[0]);
        self.since = now;
        self.is_stopping = true;
    }

    pub(super) const fn on_round(&mut self) {
        self.rounds += 1;
    }

    /// True if it is time to look for bandwidth. `flight` is the volume that the flow wants in flight: Reno
    /// would take as many round trips to grow by as many segments.
    pub(super) fn is_due(&self, now: f64, flight: f64) -> bool {
        now > self.since + self.wait || self.rounds as f64 >= flight.min(MOST_ROUNDS)
    }

    /// Begins to fill the path, before the probe itself.
    pub(super) const fn refill(&mut self) {
        self.is_stopping = false;
        self.was_cautious = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_is_due_by_time_or_by_round_trips() {
        let mut probe = Probe::new(Seed::new(1));
        probe.wait(10.0);
        assert!(!probe.is_due(12.0, 40.0));
        assert!(probe.is_due(13.01, 40.0));
        for _ in 0..38 {
            probe.on_round();
        }
        assert!(!probe.is_due(10.0, 40.0));
        probe.on_round();
        probe.on_round();
        assert!(probe.is_due(10.0, 40.0));
        assert!(!probe.is_due(10.0, 1000.0));
    }
}
