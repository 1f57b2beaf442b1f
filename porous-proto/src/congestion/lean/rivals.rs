//! Whether other connections fill the queue (Copa, §3.2: a queue that never empties is that of others).

use crate::stats::Peak;
use crate::time::{Instant, Micros};

/// Rounds in which the queue does not become shorter although this connection gives way, after which others
/// are taken to fill it.
const ROUNDS: u32 = 6;

/// The same if others have filled it recently.
const ROUNDS_AGAIN: u32 = 2;

/// How long rivals count as recent.
const RECENT: Micros = Micros::from_secs(10);

/// What is seen of other connections in the queue.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rivals {
    /// Consecutive rounds with a queue that is too long; beside rivals, with next to none.
    rounds: u32,
    /// How much too long the queue was in the first of them.
    first: Micros,
    /// When rivals were last seen.
    seen: Option<Instant>,
    /// The largest window of the last 5 to 10 s: that of before this connection gave way.
    peak: Peak,
}

impl Rivals {
    /// The window of a round, in bytes.
    pub(super) fn note(&mut self, window: u32, now: Instant) {
        self.peak.note(window, now);
    }

    /// The largest recent window, in bytes.
    pub(super) fn window(&self) -> u32 {
        self.peak.get()
    }

    /// A frame was lost in the competition: the path does not hold the larger windows of before.
    pub(super) fn forget(&mut self, window: u32, now: Instant) {
        self.peak = Peak::default();
        self.note(window, now);
    }

    /// A round in which this connection gives way. `excess`: how much longer the queue is than it wants;
    /// `base`: the round trip without a queue. Returns whether others fill the queue.
    pub(super) fn on_round(&mut self, excess: Micros, base: Micros, now: Instant) -> bool {
        let recently = |at| now.since(at) < RECENT;
        // Rivals that were there a moment ago are likelier to be the reason again.
        let (part, enough) = if self.seen.is_some_and(recently) {
            (8, ROUNDS_AGAIN)
        } else {
            (4, ROUNDS)
        };
        if excess < base / part {
            self.rounds = 0;
            return false;
        }
        // A queue that becomes shorter by a quarter gives way: it was made by this connection, or by ones
        // like it.
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

    /// A round beside rivals. `is_empty`: the queue is next to nothing. Returns whether they are gone.
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

/// A loss of more than one frame in this many is no chance.
const PART: u32 = 8;

/// Frames over which that is counted.
const FRAMES: u32 = 128;

/// What became of frames since the window last changed for good.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Losses {
    acknowledged: u32,
    lost: u32,
    /// Frames that were sent before this time do not count: they tell of another window.
    since: Instant,
    /// The part of frames that was lost last, in 256ths, as far as it may be chance.
    part: u32,
}

impl Losses {
    /// The window has changed for good.
    pub(super) const fn begin_anew(&mut self, now: Instant) {
        (self.acknowledged, self.lost, self.since) = (0, 0, now);
    }

    /// `frames` frames were acknowledged, the newest of which was sent at `sent`. Returns whether too many
    /// were lost.
    pub(super) fn on_acknowledged(&mut self, frames: u32, sent: Instant) -> bool {
        if sent < self.since {
            return false;
        }
        self.acknowledged = self.acknowledged.saturating_add(frames);
        let all = self.acknowledged.saturating_add(self.lost);
        if all < FRAMES {
            return false;
        }
        let part = u64::from(self.lost) * 256 / u64::from(all);
        (self.acknowledged, self.lost) = (0, 0);
        self.part = u32::try_from(part).unwrap_or(256).min(256 / PART);
        part > u64::from(256 / PART)
    }

    pub(super) fn on_lost(&mut self, sent: Instant) {
        if sent >= self.since {
            self.lost = self.lost.saturating_add(1);
        }
    }

    /// The part of frames that was lost last, in 256ths, as far as it may be chance.
    pub(super) const fn part(&self) -> u32 {
        self.part
    }
}
