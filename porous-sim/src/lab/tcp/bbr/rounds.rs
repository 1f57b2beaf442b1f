//! Round trips counted by segments ("BBR.round_count: Tracking Packet-Timed Round Trips").

/// A round trip ends when a segment arrives that was sent after its beginning.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    /// A segment that was sent after this many had arrived ends the round trip.
    end: u64,
    count: u64,
    /// True if the newest acknowledgement has begun a round trip.
    has_begun: bool,
}

impl Rounds {
    /// Begins a round trip that is not counted.
    pub(super) const fn restart(&mut self, delivered: u64) {
        self.end = delivered;
    }

    /// Takes note of a segment that was sent after `before` had arrived, now that `delivered` have.
    /// Returns true if that begins a round trip.
    pub(super) const fn on_ack(&mut self, before: u64, delivered: u64) -> bool {
        self.has_begun = before >= self.end;
        if self.has_begun {
            self.restart(delivered);
            self.count += 1;
        }
        self.has_begun
    }

    pub(super) const fn has_begun(&self) -> bool {
        self.has_begun
    }

    pub(super) const fn count(&self) -> u64 {
        self.count
    }
}
