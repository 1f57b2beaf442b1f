//! What comes from the remote host: which frames, with which marks, and when they are acknowledged.

use super::TransferParams;
use super::ack_timer::{AckTimer, Urgency};
use super::ecn::Heard;
use super::nonces::SKIP_SPAN;
use super::received::{Arrival, Received, Report};
use crate::event::Ecn;
use crate::frame::Short;
use crate::stats::Loss;
use crate::time::{Instant, Micros};

/// Bytes that a full frame may lack to the largest datagram: the reserve around a part of a packet.
const FULL_SLACK: u16 = 48;

/// Time after content that is sent again for which a missing frame may have had such content, too.
const RELIABLE: Micros = Micros::from_secs(1);

/// Time after a frame that others had overtaken for which a missing frame may be another one.
const REORDERING: Micros = Micros::from_secs(10);

/// The frames of the remote host.
#[derive(Debug)]
pub(crate) struct Inbound {
    pub(super) received: Received,
    heard: Heard,
    pub(crate) ack_timer: AckTimer,
    asked: Asked,
    missing: Missing,
    loss: Loss,
    /// Until when a missing frame may have had content that is sent again.
    reliable_until: Instant,
    /// Until when a missing frame may only have been overtaken.
    reordered_until: Instant,
}

/// What a frame that was taken says of the path on which it came.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathWords {
    pub(crate) id: u64,
    /// True if no frame with a larger id has come.
    pub(crate) is_newest: bool,
    /// A challenge by which the remote host finds out whether this host is where it sends to.
    pub(crate) challenge: Option<u64>,
    /// An answer to a challenge of this host.
    pub(crate) response: Option<u64>,
}

/// A frame that came, as far as its acknowledgement needs it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incoming {
    pub(crate) id: u64,
    /// The codepoint of its IP header.
    pub(crate) ecn: Ecn,
    /// How soon it wants to be acknowledged; `None` if it need not be.
    pub(crate) urgency: Option<Urgency>,
}

impl Inbound {
    /// `first` is the id of the remote host's first frame.
    pub(super) fn new(params: &TransferParams, first: u64) -> Self {
        Self {
            received: Received::new(params.behind, params.window, first),
            heard: Heard::default(),
            ack_timer: AckTimer::new(
                params.policy,
                params.max_datagram.saturating_sub(FULL_SLACK),
            ),
            asked: Asked::new(first),
            missing: Missing::new(first),
            loss: Loss::default(),
            reliable_until: Instant::ZERO,
            reordered_until: Instant::ZERO,
        }
    }

    /// The full id of a frame, from its `width` low bytes. `None` if no id can be meant.
    pub(crate) fn expand(&self, low: u32, width: u8) -> Option<u64> {
        self.received.expand(low, width)
    }

    pub(crate) fn classify(&self, id: u64) -> Arrival {
        self.received.classify(id)
    }

    /// Whether a frame with this id is newer than all before it. To be asked before the frame is noted.
    pub(crate) const fn is_newest(&self, id: u64) -> bool {
        id >= self.received.next()
    }

    /// A frame came from beyond the receive window.
    pub(crate) const fn note_beyond(&mut self, id: u64) {
        self.received.note_beyond(id);
    }

    /// What a frame with this id says of its path by its place among others. To be called before the frame is
    /// noted.
    pub(crate) const fn path_words(&self, id: u64) -> PathWords {
        PathWords {
            id,
            is_newest: self.is_newest(id),
            challenge: None,
            response: None,
        }
    }

    /// Notes a valid frame. `own_next` is the id of the next frame of this host.
    #[inline]
    pub(super) fn on_frame(
        &mut self,
        frame: &Incoming,
        short: &Short<'_>,
        own_next: u64,
        now: Instant,
    ) {
        let Incoming { id, ecn, urgency } = *frame;
        let expected = self.received.next();
        let is_new = (self.received).record(id, short.id_width, short.nonce, own_next);
        self.heard.on_frame(ecn, id >= expected, is_new, own_next);
        if is_new {
            self.missing.on_received(id, short.nonce);
            let missing = self.missing.count();
            let all = self.missing.received() + missing;
            self.loss.note(all, missing, now);
        }
        if let Some(urgency) = urgency {
            self.asked.on_frame(id, now);
            if urgency >= Urgency::High {
                self.reliable_until = now + RELIABLE;
            }
            // A loss or a mark is news of congestion, and the sender has to hear of it at once (T19, D9).
            let is_news = ecn == Ecn::Ce || id > expected && self.may_be_lost(now);
            let at_once = if is_news { Urgency::AtOnce } else { urgency };
            let bytes = u16::try_from(short.bytes.len()).unwrap_or(u16::MAX);
            self.ack_timer.on_frame(at_once, bytes, now);
        }
        if id >= expected {
            // The delay that a block tells is that of its newest frame.
            self.ack_timer.on_newest(now);
        } else if is_new {
            self.reordered_until = now + REORDERING;
        }
    }

    /// Whether a frame that is missing may be lost and have had content that has to be sent again.
    fn may_be_lost(&self, now: Instant) -> bool {
        // Where frames overtake each other, a gap is mostly filled before its sender believes in a loss, and
        // content that needs a quick answer asks for one (T19).
        now < self.reliable_until && now >= self.reordered_until
    }

    /// What the next frame acknowledges; `None` if there is nothing worth a report. `in_doubt`: a ping of this
    /// host is not answered yet.
    #[inline]
    pub(super) fn report(&self, in_doubt: bool, now: Instant) -> Option<Report> {
        let is_owed = self.ack_timer.is_owed();
        if !is_owed && !self.asked.is_worth_a_report(&self.received, in_doubt, now) {
            return None;
        }
        let mut report = self.received.report(self.ack_timer.held_back(now))?;
        report.block.marks = self.heard.marks();
        Some(report)
    }

    /// A frame with this report will leave.
    pub(super) fn on_planned(&mut self, report: &Report) {
        self.received.reported(report);
        self.asked.told = report.end;
    }

    /// A frame leaves. `with_report`: it acknowledges.
    pub(super) const fn on_sent(&mut self, with_report: bool) {
        // A frame may leave without its acknowledgement, for want of room: then the timer stays. If there is
        // nothing to report any more, as the remote host has confirmed all, there is nothing to wait for
        // either.
        if with_report || !self.received.has_report() {
            self.ack_timer.on_sent();
        }
    }

    /// The frame `own_id` of this host was acknowledged, whose block settles the ids before `end`.
    pub(super) fn confirm(&mut self, own_id: u64, end: u64) {
        self.received.confirm(own_id, end);
        self.heard.confirm(own_id);
    }

    /// Frames that came, of any kind; duplicates do not count.
    pub(crate) const fn frames(&self) -> u64 {
        self.missing.received()
    }

    /// Frames that the remote host sent before the newest one that came, and that did not come.
    pub(crate) fn missing(&self) -> u64 {
        self.missing.count()
    }

    /// Share of the frames that did not come recently, in hundredths of a percent.
    pub(crate) fn recent_loss(&self) -> u16 {
        self.loss.recent()
    }
}

/// Time after which a frame that asked for an acknowledgement is not reported again while nothing shows that
/// frames get lost: a sender that awaits one for longer asks anew.
const REPEATED: Micros = Micros::from_secs(1);

/// Frames that ask for no acknowledgement after which one is sent nevertheless, in a frame that leaves anyway:
/// so the remote host learns which of its own acknowledgements have come, and need not be repeated. Half of
/// the ids that [`Received`] can report in the shortest block, or less, as these may be about two frames each.
const TOLD_AFTER: u64 = 8;

/// Which frames of the remote host a report is worth its bytes for (`docs/deviations.md` T5).
#[derive(Debug)]
struct Asked {
    /// One past the newest frame that asked for an acknowledgement.
    end: u64,
    /// When the last such frame came.
    at: Instant,
    /// One past the newest frame that was reported.
    told: u64,
}

impl Asked {
    const fn new(first: u64) -> Self {
        Self {
            end: first,
            at: Instant::ZERO,
            told: first,
        }
    }

    /// A frame came that asks for an acknowledgement.
    fn on_frame(&mut self, id: u64, now: Instant) {
        self.end = self.end.max(id + 1);
        self.at = now;
    }

    /// Whether what was received is worth telling although nothing asks for it now.
    fn is_worth_a_report(&self, received: &Received, in_doubt: bool, now: Instant) -> bool {
        // Where pings get lost, so do acknowledgements.
        let repeats = in_doubt || now < self.at + REPEATED;
        repeats && received.is_open_below(self.end) || received.next() >= self.told + TOLD_AFTER
    }
}

/// Frames without a nonce bit after which the sender is taken to have no nonces, and to leave no ids out. By
/// chance 64 random bits are all 0 once in 2^64.
const PLAIN: u64 = 64;

/// Counts the frames of the remote host that did not come. A sender with nonces leaves one id of each span of
/// 512 out, which is not missing (`docs/deviations.md` T26).
#[derive(Debug)]
pub(super) struct Missing {
    /// The id of the first frame of the remote host.
    first: u64,
    /// One past the newest id that came.
    next: u64,
    /// The span of the newest id: its id divided by [`SKIP_SPAN`].
    span: u64,
    /// Frames that came.
    received: u64,
    /// Frames that came with an id in the newest span.
    in_span: u64,
    /// Earlier spans in which an id did not come. One id of each was left out by the sender.
    left_out: u64,
    /// True once a nonce bit was set. Senders that leave ids out set such bits.
    has_nonces: bool,
}

impl Missing {
    pub(super) const fn new(first: u64) -> Self {
        Self {
            first,
            next: first,
            span: first / SKIP_SPAN,
            received: 0,
            in_span: 0,
            left_out: 0,
            has_nonces: false,
        }
    }

    /// Whether an id of the newest span, before `end`, did not come: it may be the one that was left out.
    fn has_gap(&self, end: u64) -> bool {
        end - (self.span * SKIP_SPAN).max(self.first) > self.in_span
    }

    /// The frame `id` came for the first time.
    pub(super) fn on_received(&mut self, id: u64, nonce: bool) {
        let span = id / SKIP_SPAN;
        if span > self.span {
            // The newest span is over. Spans between it and the new one have no frame at all, so that each
            // has a hole.
            let has_gap = self.has_gap((self.span + 1) * SKIP_SPAN);
            self.left_out += u64::from(has_gap) + (span - self.span - 1);
            (self.span, self.in_span) = (span, 0);
        }
        self.next = self.next.max(id + 1);
        self.received += 1;
        self.in_span += u64::from(span == self.span);
        self.has_nonces |= nonce;
    }

    pub(super) const fn received(&self) -> u64 {
        self.received
    }

    /// Frames with an id below the newest that did not come. Too low by one at most until the newest span is
    /// over.
    pub(super) fn count(&self) -> u64 {
        let mut left_out = 0;
        // The receiver cannot know which id is left out, or a liar would know it as well. So one hole of each
        // span counts as that id, until the nonces show that the sender leaves none out (T26).
        if self.has_nonces || self.received < PLAIN {
            left_out = self.left_out + u64::from(self.has_gap(self.next));
        }
        // Frames with an id below the first one are in `received`, but not in `sent`.
        let sent = self.next - self.first;
        sent.saturating_sub(self.received).saturating_sub(left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// T5.
    #[test]
    fn frames_that_ask_for_nothing_are_told_of_after_each_eighth() {
        let at = |ms| Instant::ZERO + Micros::from_millis(ms);
        let (mut asked, mut received) = (Asked::new(0), Received::new(256, 4096, 0));
        for id in 0..8 {
            assert!(!asked.is_worth_a_report(&received, true, at(0)), "{id}");
            received.record(id, 4, false, 0);
        }
        assert!(asked.is_worth_a_report(&received, false, at(0)));
        asked.told = 8;
        assert!(!asked.is_worth_a_report(&received, true, at(0)));
        // One that asks is told of for a second, or longer while a ping is not answered.
        received.record(8, 4, false, 0);
        asked.on_frame(8, at(100));
        asked.told = 9;
        assert!(asked.is_worth_a_report(&received, false, at(1099)));
        assert!(!asked.is_worth_a_report(&received, false, at(1100)));
        assert!(asked.is_worth_a_report(&received, true, at(1100)));
        received.confirm(0, 9);
        assert!(!asked.is_worth_a_report(&received, true, at(1100)));
    }

    /// The frames that count as missing after all have come but those that `lost` says. `skips`: one id of
    /// each 512 is left out, at another place in each span.
    fn missing(frames: u64, skips: bool, lost: impl Fn(u64) -> bool) -> u64 {
        let mut missing = Missing::new(0);
        for id in 0..frames {
            let is_left_out = skips && id % SKIP_SPAN == (id / SKIP_SPAN * 37 + 511) % SKIP_SPAN;
            if !is_left_out && !lost(id) {
                missing.on_received(id, skips && id % 3 == 0);
            }
        }
        missing.count()
    }

    #[test]
    fn what_is_left_out_is_never_missing() {
        for frames in 0..3000 {
            assert_eq!(missing(frames, true, |_| false), 0, "{frames}");
            assert_eq!(missing(frames, false, |_| false), 0, "{frames}");
        }
    }

    #[test]
    fn what_is_lost_is_missing_to_the_frame_when_the_span_is_over() {
        for skips in [true, false] {
            for (each, of_each) in [(7, 7), (100, 1), (600, 1), (1500, 40)] {
                let lost = |id| id < 51_200 && id % each >= each - of_each.min(each - 1);
                let all = (0..51_200).filter(|&id| lost(id)).count() as u64;
                let counted = missing(51_200 + 1, skips, lost);
                // An id that was left out may be among those that would have been lost.
                let both = if skips { 100 } else { 0 };
                assert!(
                    counted <= all && counted + both >= all,
                    "{counted} of {all}"
                );
            }
        }
    }

    #[test]
    fn an_outage_of_whole_spans_and_what_comes_late_are_counted() {
        let mut missing = Missing::new(1000);
        for id in (1000..1100).chain(5000..5100) {
            missing.on_received(id, true);
        }
        // Each of the spans 2 to 9 has one id that was left out.
        assert_eq!(missing.count(), 3900 - 8);
        for id in 1100..5000 {
            if id % SKIP_SPAN != 511 {
                missing.on_received(id, true);
            }
        }
        assert_eq!(missing.count(), 0);
    }
}
