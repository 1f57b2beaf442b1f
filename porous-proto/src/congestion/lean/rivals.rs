//! Whether a queue is that of others (Copa, §3.2: one that never empties is).

use super::path::Path;
use crate::stats::Peak;
use crate::time::{Instant, Micros};

/// Rounds with a queue that is too long after which it is doubtful whose it is.
const DOUBT: u32 = 4;

/// No shorter queue is doubtful.
const LEAST: Micros = Micros::from_millis(2);

/// What is seen of other connections in the queue.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rivals {
    /// Consecutive rounds with a queue that is too long.
    rounds: u32,
    /// How much too long the queue was in the first of them.
    first: Micros,
    /// The largest window of the last 5 to 10 s: that of before this connection gave way.
    pub(super) peak: Peak,
}

impl Rivals {
    /// A frame was lost in the competition: the path does not hold the larger windows of before.
    pub(super) fn forget(&mut self, window: u32, now: Instant) {
        self.peak = Peak::default();
        self.peak.note(window, now);
    }

    /// A round with this queue, in which this connection gives way. Returns whether it is doubtful whose the
    /// queue is.
    pub(super) fn on_round(&mut self, queue: Micros, path: &Path) -> bool {
        // What exceeds the share of this connection although the window has given way belongs to others, or
        // to the path.
        let excess = queue - path.wanted(self.peak.get()) - 2 * path.noise();
        if excess < (path.floor() / 16).max(LEAST) {
            self.rounds = 0;
            return false;
        }
        // A queue that becomes shorter by a quarter gives way: it was made by this connection, or by ones
        // like it.
        if self.rounds == 0 || excess < self.first / 4 * 3 {
            (self.rounds, self.first) = (0, excess);
        }
        self.rounds = (self.rounds + 1) % DOUBT;
        self.rounds == 0
    }
}
