//! The part of frames that is lost.

use crate::time::Instant;

/// All frames, where a part of them is told in 1024ths.
pub(super) const ALL: u32 = 1024;

/// The part of frames that is lost, smoothed over `FRAMES` frames. In 2^20ths, so that little is lost by
/// rounding.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Part<const FRAMES: u32>(u32);

impl<const FRAMES: u32> Part<FRAMES> {
    const ONE: u32 = 1 << 20;

    fn acknowledged(&mut self, frames: u32) {
        self.0 -= self.0 * frames.min(FRAMES) / FRAMES;
    }

    const fn lost(&mut self) {
        self.0 += (Self::ONE - self.0) / FRAMES;
    }

    /// In 1024ths.
    pub(super) const fn get(self) -> u32 {
        self.0 / (Self::ONE / ALL)
    }
}

/// A count of frames.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Count {
    pub(super) lost: u32,
    pub(super) all: u32,
}

impl Count {
    /// In 1024ths.
    pub(super) fn part(self) -> u32 {
        let part = u64::from(self.lost) * u64::from(ALL) / u64::from(self.all.max(1));
        u32::try_from(part).unwrap_or(ALL)
    }
}

/// What became of frames.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Losses {
    /// What was counted since the window changed.
    pub(super) count: Count,
    /// Frames that were sent before this time are not in the count: they tell of another window.
    since: Instant,
    /// The part of the last 32 frames or so.
    pub(super) last: Part<32>,
    /// The part of the last 256 frames or so.
    pub(super) recent: Part<256>,
}

impl Losses {
    /// The window has changed: the count begins anew.
    pub(super) fn begin_anew(&mut self, now: Instant) {
        (self.count, self.since) = (Count::default(), now);
    }

    /// `frames` frames were acknowledged, the newest of which was sent at `sent`.
    pub(super) fn on_acknowledged(&mut self, frames: u32, sent: Instant) {
        self.last.acknowledged(frames);
        self.recent.acknowledged(frames);
        if sent >= self.since {
            self.count.all = self.count.all.saturating_add(frames);
        }
    }

    /// A frame was lost that was sent at `sent`.
    pub(super) fn on_lost(&mut self, sent: Instant) {
        self.last.lost();
        self.recent.lost();
        if sent >= self.since {
            self.count.lost = self.count.lost.saturating_add(1);
            self.count.all = self.count.all.saturating_add(1);
        }
    }
}
