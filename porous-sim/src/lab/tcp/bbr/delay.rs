//! The round trip without queues ("BBR.min_rtt: Estimated Minimum Round-Trip Time"). Times in seconds.

/// How long a round trip is the shortest.
const WINDOW: f64 = 10.0;

/// The time between two looks at the path without a queue.
const INTERVAL: f64 = 5.0;

#[derive(Debug)]
pub(super) struct Delay {
    /// The shortest round trip within [`WINDOW`], and when it was measured.
    least: f64,
    least_at: f64,
    /// The shortest round trip within [`INTERVAL`], and when it was measured.
    recent: f64,
    recent_at: f64,
}

impl Delay {
    pub(super) const fn new() -> Self {
        Self {
            least: f64::INFINITY,
            least_at: 0.0,
            recent: f64::INFINITY,
            recent_at: 0.0,
        }
    }

    /// The shortest round trip; `None` before the first sample.
    pub(super) fn get(&self) -> Option<f64> {
        self.least.is_finite().then_some(self.least)
    }

    /// Takes note of a round trip. Returns true if no shorter one was seen for so long that it is time for
    /// `ProbeRTT`.
    pub(super) fn on_ack(&mut self, now: f64, rtt: Option<f64>) -> bool {
        let is_due = self.recent.is_finite() && now > self.recent_at + INTERVAL;
        if let Some(rtt) = rtt.filter(|&rtt| rtt < self.recent || is_due) {
            (self.recent, self.recent_at) = (rtt, now);
        }
        if self.recent < self.least || now > self.least_at + WINDOW {
            (self.least, self.least_at) = (self.recent, self.recent_at);
        }
        is_due
    }

    /// Counts the time to the next look from now.
    pub(super) const fn postpone(&mut self, now: f64) {
        self.recent_at = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_is_due_after_five_seconds_and_a_round_trip_is_forgotten_after_ten() {
        let mut delay = Delay::new();
        assert!(!delay.on_ack(100.0, Some(0.05)), "a flow that began late");
        assert!(!delay.on_ack(104.0, Some(0.06)));
        assert!(delay.on_ack(105.1, Some(0.07)));
        assert_eq!(delay.get(), Some(0.05));
        delay.postpone(105.3);
        assert!(!delay.on_ack(110.2, Some(0.08)));
        assert_eq!(delay.get(), Some(0.07));
    }
}
