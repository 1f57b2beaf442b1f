//! What comes from the remote host: which frames, with which marks, and when it is acknowledged.

use super::TransferParams;
use super::ack_timer::AckTimer;
use super::ecn::Heard;
use super::missing::Missing;
use super::received::{Arrival, Received, Report};
use crate::event::Ecn;
use crate::frame::Short;
use crate::stats::Loss;
use crate::time::Instant;

/// A frame is full if it has no more room than this: the reserve around a part of a packet.
const FULL_SLACK: usize = 48;

/// The frames of the remote host.
#[derive(Debug)]
pub(crate) struct Inbound {
    pub(super) received: Received,
    heard: Heard,
    pub(crate) ack_timer: AckTimer,
    missing: Missing,
    loss: Loss,
    max_datagram: u16,
}

/// What a frame that was taken says of the path that it came on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathWords {
    /// Its id.
    pub(crate) id: u64,
    /// No newer one has come.
    pub(crate) is_newest: bool,
    /// The remote host wants to know whether we are where it sends to.
    pub(crate) challenge: Option<u64>,
    /// It answers a challenge of ours.
    pub(crate) response: Option<u64>,
}

/// A frame that came, as far as it has to be acknowledged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incoming {
    pub(crate) id: u64,
    /// What its IP header said.
    pub(crate) ecn: Ecn,
    /// It wants to be acknowledged.
    pub(crate) is_eliciting: bool,
}

impl Inbound {
    /// `first` is the id of the remote host's first frame.
    pub(super) fn new(params: &TransferParams, first: u64) -> Self {
        Self {
            received: Received::new(params.behind, params.window, first),
            heard: Heard::default(),
            ack_timer: AckTimer::new(params.policy),
            missing: Missing::new(first),
            loss: Loss::NONE,
            max_datagram: params.max_datagram,
        }
    }

    /// The full id of a frame, if there is one that it can be.
    pub(crate) fn expand(&self, low: u32, width: u8) -> Option<u64> {
        self.received.expand(low, width)
    }

    pub(crate) fn classify(&self, id: u64) -> Arrival {
        self.received.classify(id)
    }

    /// A frame came from beyond the receive window.
    pub(crate) const fn note_beyond(&mut self, id: u64) {
        self.received.note_beyond(id);
    }

    /// What the frame with this id, which has not been noted yet, says by its place.
    pub(crate) const fn path_words(&self, id: u64) -> PathWords {
        PathWords {
            id,
            is_newest: id >= self.received.next(),
            challenge: None,
            response: None,
        }
    }

    /// Notes a valid frame. `own_next` is the id of our next frame.
    pub(super) fn on_frame(
        &mut self,
        frame: &Incoming,
        short: &Short<'_>,
        own_next: u64,
        now: Instant,
    ) {
        let Incoming { id, ecn, .. } = *frame;
        let expected = self.received.next();
        let is_new = (self.received).record(id, short.id_width, short.nonce, own_next);
        self.heard.on_frame(ecn, id >= expected, is_new, own_next);
        if is_new {
            self.missing.on_received(id, short.nonce);
            let missing = self.missing.count();
            let all = self.missing.received() + missing;
            self.loss.note(all, missing, now);
        }
        if id >= expected {
            self.ack_timer.on_newest(now);
        }
        if frame.is_eliciting {
            // A gap or a mark is news of congestion.
            let at_once = short.ack_now || id != expected || ecn == Ecn::Ce;
            let is_full = short.bytes.len() + FULL_SLACK >= usize::from(self.max_datagram);
            self.ack_timer.on_frame(at_once, is_full, now);
        }
    }

    /// What the next frame acknowledges.
    pub(super) fn report(&self, now: Instant) -> Option<Report> {
        let mut report = self.received.report(self.ack_timer.held_back(now))?;
        report.block.marks = self.heard.marks();
        Some(report)
    }

    /// A frame with this report will leave.
    pub(super) fn on_planned(&mut self, report: &Report) {
        self.received.reported(report.end);
    }

    /// A frame leaves, with what is to be acknowledged if there is anything, or without.
    pub(super) const fn on_sent(&mut self, with_report: bool) {
        if with_report || !self.received.has_report() {
            self.ack_timer.on_sent();
        }
    }

    /// Our own frame `own_id`, whose block reported ids before `end`, was acknowledged.
    pub(super) fn confirm(&mut self, own_id: u64, end: u64) {
        self.received.confirm(own_id, end);
        self.heard.confirm(own_id);
    }

    /// Frames that came, of any kind, each counted once.
    pub(crate) const fn frames(&self) -> u64 {
        self.missing.received()
    }

    /// Frames that were sent before the newest one that came, and that did not come.
    pub(crate) fn missing(&self) -> u64 {
        self.missing.count()
    }

    /// How much did not come recently, in hundredths of a percent.
    pub(crate) fn recent_loss(&self) -> u16 {
        self.loss.recent()
    }
}
