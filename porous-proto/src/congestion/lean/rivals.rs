//! Whether others fill the queue (Copa, §3.2: a queue that never empties is somebody else's).

use core::time::Duration;

use crate::stats::Peak;
use crate::time::Instant;

/// A queue that does not become shorter for so many rounds although we give way is filled by others;
/// for fewer, if they were there of late.
const ROUNDS: u32 = 6;
const ROUNDS_AGAIN: u32 = 2;

/// They were there of late if they were within this time.
const OF_LATE: Duration = Duration::from_secs(10);

/// What is seen of others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rivals {
    /// For so many rounds the queue has been too long, and how long it was in the first.
    rounds: u32,
    first: Duration,
    /// When they were last seen.
    seen: Option<Instant>,
    /// The largest window of late: what we had before we gave way.
    peak: Peak,
}

impl Rivals {
    pub(super) const fn new() -> Self {
        Self {
            rounds: 0,
            first: Duration::ZERO,
            seen: None,
            peak: Peak::NONE,
        }
    }

    /// The window of a round.
    pub(super) fn note(&mut self, window: u32, now: Instant) {
        self.peak.note(window, now);
    }

    /// What we had of late.
    pub(super) fn window(&self) -> u32 {
        self.peak.get()
    }

    /// Something was lost in the competition: it is not to be had any more.
    pub(super) fn forget(&mut self, window: u32, now: Instant) {
        self.peak = Peak::NONE;
        self.note(window, now);
    }

    /// A round in which we give way, with so much more in the queue than we want to have there, on a
    /// path that takes `base` without it. Whether others fill it.
    pub(super) fn on_round(&mut self, excess: Duration, base: Duration, now: Instant) -> bool {
        let of_late = |at| now.saturating_duration_since(at) < OF_LATE;
        let (part, enough) = if self.seen.is_some_and(of_late) {
            (8, ROUNDS_AGAIN)
        } else {
            (4, ROUNDS)
        };
        if excess < base / part {
            self.rounds = 0;
            return false;
        }
        if self.rounds == 0 || excess < self.first / 4 * 3 {
            (self.rounds, self.first) = (0, excess);
        }
        self.rounds += 1;
        let are_there = self.rounds >= enough;
        if are_there {
            self.rounds = 0;
        }
        are_there
    }

    /// A round of competition, with a queue that is next to nothing, or not. Whether they are gone.
    pub(super) fn on_competing_round(&mut self, is_empty: bool, now: Instant) -> bool {
        self.seen = Some(now);
        self.rounds = if is_empty { self.rounds + 1 } else { 0 };
        let are_gone = self.rounds >= 4;
        if are_gone {
            self.rounds = 0;
        }
        are_gone
    }
}
