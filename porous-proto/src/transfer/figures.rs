//! What is counted of our own frames, for the application. Nothing of it decides about what is sent.

use crate::stats::Loss;
use crate::time::Instant;

/// The figures of one peer, of frames with data.
#[derive(Debug)]
pub(crate) struct Figures {
    /// Frames with data: sent, acknowledged, considered dropped, and of those the ones that were
    /// acknowledged all the same.
    pub(crate) sent: u64,
    acknowledged: u64,
    pub(crate) lost: u64,
    pub(crate) spurious: u64,
    pub(crate) sent_loss: Loss,
}

impl Figures {
    pub(super) const fn new() -> Self {
        Self {
            sent: 0,
            acknowledged: 0,
            lost: 0,
            spurious: 0,
            sent_loss: Loss::NONE,
        }
    }

    /// A frame with data was acknowledged.
    pub(super) fn on_acknowledged(&mut self, now: Instant) {
        self.acknowledged += 1;
        self.note_fates(now);
    }

    /// It is considered dropped.
    pub(super) fn on_lost(&mut self, now: Instant) {
        self.lost += 1;
        self.note_fates(now);
    }

    /// It was considered dropped, and acknowledged then.
    pub(super) fn on_spurious(&mut self, now: Instant) {
        self.spurious += 1;
        self.on_acknowledged(now);
    }

    fn note_fates(&mut self, now: Instant) {
        let lost = self.lost - self.spurious;
        self.sent_loss.note(self.acknowledged + lost, lost, now);
    }
}
