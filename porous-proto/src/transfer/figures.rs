//! What is counted and measured of frames, for the application. Of all this only whether a round trip
//! was measured, and whether a frame has come, decide about what is sent: data is paced from the first
//! round trip on (`Transfer::pace`), and a peer that has said nothing is sent to where it asked from.

use core::time::Duration;

use super::missing::Missing;
use super::recovery::Minimum;
use crate::stats::{Jitter, Loss};
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
    pub(crate) jitter: Jitter,
    minimum: Minimum,
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
            jitter: Jitter::NONE,
            minimum: Minimum::new(),
        }
    }

    /// The shortest round trip of late; zero before the first.
    pub(crate) fn minimum(&self) -> Duration {
        self.minimum.get().unwrap_or_default()
    }

    /// A round trip took this long.
    pub(super) fn on_round_trip(&mut self, rtt: Duration, now: Instant) {
        self.jitter.sample(rtt);
        self.minimum.sample(rtt, now);
    }

    /// The shortest round trip was another path's.
    pub(super) const fn on_new_path(&mut self) {
        self.minimum = Minimum::new();
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
