//! The part of frames that is lost.

use crate::stats::scaled;
use crate::time::Instant;

/// All frames, where a part of them is told in 1024ths.
pub(super) const ALL: u32 = 1024;

/// The part of frames that is lost, smoothed over `FRAMES` frames. In 2^20ths, so that little is lost by
/// rounding.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Part<const FRAMES: u32>(u32);

impl<const FRAMES: u32> Part<FRAMES> {
    const ONE: u32 = 1 << 20;

    fn note(&mut self, acknowledged: u32, lost: u32) {
        self.0 -= self.0 * acknowledged.min(FRAMES) / FRAMES;
        self.0 += (Self::ONE - self.0) * lost.min(FRAMES) / FRAMES;
    }

    /// In 1024ths.
    pub(super) const fn get(self) -> u32 {
        self.0 / (Self::ONE / ALL)
    }
}

/// What became of frames.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Losses {
    /// When the window changed. Frames that were sent before are not in the count: they tell of another
    /// window.
    pub(super) since: Instant,
    /// Frames of the count, and those of them that were lost.
    pub(super) all: u32,
    pub(super) lost: u32,
    /// The part of the last 32 frames or so.
    pub(super) last: Part<32>,
    /// The part of the last 256 frames or so.
    pub(super) recent: Part<256>,
}

impl Losses {
    /// The window has changed: the count begins anew.
    pub(super) fn begin_anew(&mut self, now: Instant) {
        (self.since, self.all, self.lost) = (now, 0, 0);
    }

    /// Frames were acknowledged, or lost. The newest of them was sent at `sent`.
    pub(super) fn note(&mut self, acknowledged: u32, lost: u32, sent: Instant) {
        self.last.note(acknowledged, lost);
        self.recent.note(acknowledged, lost);
        if sent >= self.since {
            self.all = self.all.saturating_add(acknowledged).saturating_add(lost);
            self.lost = self.lost.saturating_add(lost);
        }
    }

    /// The part of the count that was lost, in 1024ths.
    pub(super) fn part(&self) -> u32 {
        scaled(ALL, self.lost.into(), self.all.into())
    }
}
