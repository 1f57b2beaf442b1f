//! What is counted of frames, for the application. Of all this only whether a frame has come decides
//! about what is sent: a peer that has said nothing is sent to where it asked from.

use super::missing::Missing;
use crate::stats::Loss;
use crate::time::Instant;

/// The figures of one peer.
#[derive(Debug)]
pub(crate) struct Figures {
    /// Frames with data: sent, acknowledged, considered dropped, and of those the ones that were
    /// acknowledged all the same.
    pub(crate) sent: u64,
    acknowledged: u64,
    pub(crate) lost: u64,
    pub(crate) spurious: u64,
    /// What came of the remote host's frames.
    missing: Missing,
    pub(crate) sent_loss: Loss,
    pub(crate) received_loss: Loss,
}

impl Figures {
    /// `first` is the id of the remote host's first frame.
    pub(super) const fn new(first: u64) -> Self {
        Self {
            sent: 0,
            acknowledged: 0,
            lost: 0,
            spurious: 0,
            missing: Missing::new(first),
            sent_loss: Loss::NONE,
            received_loss: Loss::NONE,
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

    /// The frame `id` of the remote host came for the first time.
    pub(super) fn on_received(&mut self, id: u64, nonce: bool, now: Instant) {
        self.missing.on_received(id, nonce);
        let missing = self.missing();
        self.received_loss
            .note(self.received() + missing, missing, now);
    }

    /// Frames of the remote host, of any kind, each counted once.
    pub(crate) const fn received(&self) -> u64 {
        self.missing.received()
    }

    /// Frames that it has sent before the newest one that came, and that did not come.
    pub(crate) fn missing(&self) -> u64 {
        self.missing.count()
    }
}
