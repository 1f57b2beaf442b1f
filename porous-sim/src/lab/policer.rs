//! A policer: it drops traffic above a rate, and has no queue.

use porous_proto::Instant;

/// A token bucket that drops datagrams instead of queueing them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Policer {
    /// The rate in bytes a second.
    rate: u64,
    /// The most that may pass at once, in millionths of a byte: bytes a second times microseconds.
    depth: u64,
    tokens: u64,
    at: Instant,
}

impl Policer {
    /// Lets `rate` bytes a second pass, and `depth` bytes at once.
    pub(super) const fn new(rate: u64, depth: u64) -> Self {
        Self {
            rate,
            depth: depth * 1_000_000,
            tokens: depth * 1_000_000,
            at: Instant::ZERO,
        }
    }

    /// Lets this number of bytes a second pass from now on.
    pub(super) const fn set_rate(&mut self, rate: u64) {
        self.rate = rate;
    }

    /// True if a datagram of this length passes.
    pub(super) fn takes(&mut self, now: Instant, bytes: u64) -> bool {
        let passed = now.as_micros().saturating_sub(self.at.as_micros());
        self.at = self.at.max(now);
        let earned = passed.saturating_mul(self.rate);
        self.tokens = self.tokens.saturating_add(earned).min(self.depth);
        let rest = self.tokens.checked_sub(bytes * 1_000_000);
        // A dropped datagram uses no tokens.
        self.tokens = rest.unwrap_or(self.tokens);
        rest.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policer_drops_datagrams_above_its_rate() {
        let mut policer = Policer::new(1000, 100);
        let at = Instant::from_micros;
        assert!(policer.takes(at(0), 100));
        assert!(!policer.takes(at(0), 1));
        assert!(policer.takes(at(50_000), 50), "a thousand a second");
        assert!(!policer.takes(at(50_000), 1));
        assert!(policer.takes(at(9_000_000), 100));
        assert!(!policer.takes(at(9_000_000), 1), "no more than the depth");
        // An hour at 100 Gbit/s.
        let mut fast = Policer::new(12_500_000_000, 100);
        assert!(fast.takes(at(3_600_000_000), 100) && !fast.takes(at(3_600_000_000), 1));
    }
}
