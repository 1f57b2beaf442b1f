//! Losses by chance, and those that are too many for that.

use crate::time::Instant;

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
