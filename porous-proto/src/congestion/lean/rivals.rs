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

/// One frame in so many is not lost by chance, counted over so many frames.
const PART: u32 = 8;
const FRAMES: u32 = 128;

/// What became of frames.
#[derive(Clone, Copy, Debug)]
pub(super) struct Losses {
    acknowledged: u32,
    lost: u32,
    /// What was sent before then does not count: it tells of another window.
    since: Instant,
    /// The part that was lost last, in 256ths, as far as it may be chance.
    part: u32,
}

impl Losses {
    pub(super) const fn new() -> Self {
        Self {
            acknowledged: 0,
            lost: 0,
            since: Instant::ZERO,
            part: 0,
        }
    }

    /// The window has changed for good.
    pub(super) const fn begin_anew(&mut self, now: Instant) {
        (self.acknowledged, self.lost, self.since) = (0, 0, now);
    }

    /// So many frames were acknowledged, the newest of which was sent then. Whether too many were
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
