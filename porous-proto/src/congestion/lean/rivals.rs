//! Whether others fill the queue (Copa, §3.2: a queue that never empties is somebody else's).

use core::time::Duration;

use crate::stats::Peak;
use crate::time::Instant;

/// Rounds in which a queue does not become shorter although we give way, after which it is taken to be
/// filled by others; fewer, if they were there recently.
const ROUNDS: u32 = 6;
const ROUNDS_AGAIN: u32 = 2;

/// How long they count as recent.
const OF_LATE: Duration = Duration::from_secs(10);

/// What is seen of others.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rivals {
    /// Rounds for which the queue has been too long, and how long it was in the first.
    rounds: u32,
    first: Duration,
    /// When they were last seen.
    seen: Option<Instant>,
    /// The largest recent window: what we had before we gave way.
    peak: Peak,
}

impl Rivals {
    /// The window of a round.
    pub(super) fn note(&mut self, window: u32, now: Instant) {
        self.peak.note(window, now);
    }

    /// The largest recent window.
    pub(super) fn window(&self) -> u32 {
        self.peak.get()
    }

    /// Something was lost in the competition: it is not to be had any more.
    pub(super) fn forget(&mut self, window: u32, now: Instant) {
        self.peak = Peak::default();
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

/// A loss of one frame in this many is no chance, counted over this many frames.
const PART: u32 = 8;
const FRAMES: u32 = 128;

/// What became of frames.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Losses {
    acknowledged: u32,
    lost: u32,
    /// What was sent before then does not count: it tells of another window.
    since: Instant,
    /// The part that was lost last, in 256ths, as far as it may be chance.
    part: u32,
}

impl Losses {
    /// The window has changed for good.
    pub(super) const fn begin_anew(&mut self, now: Instant) {
        (self.acknowledged, self.lost, self.since) = (0, 0, now);
    }

    /// `frames` were acknowledged, the newest of which was sent then. Whether too many were
    /// lost.
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

    /// In 256ths.
    pub(super) const fn part(&self) -> u32 {
        self.part
    }
}
