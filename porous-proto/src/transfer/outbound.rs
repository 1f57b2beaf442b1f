//! Our frames, and what becomes of them: acknowledged, or considered dropped, by acknowledgements or by
//! time (§3.1.2, §3.1.5; `docs/deviations.md` T1).

use super::TransferParams;
use super::acked::{Acked, LaterAcks};
use super::inbound::Inbound;
use super::messages::Messages;
use super::path::{NewestAcked, Newly, Path};
use super::probe::Probes;
use super::queue::{Kind, Taken, TransferQueue};
use super::recovery::Due;
use super::signals::Sentinels;
use crate::config::Policy;
use crate::event::Ecn;
use crate::source::Source;
use crate::stats::Loss;
use crate::time::Instant;

/// The frames of one peer, with the messages that are in them or wait to be.
#[derive(Debug)]
pub(crate) struct Outbound {
    policy: Policy,
    pub(super) messages: Messages,
    pub(crate) queue: TransferQueue,
    pub(crate) path: Path,
    pub(super) probes: Probes,
    pub(crate) later_acks: LaterAcks,
    pub(super) sentinels: Sentinels,
    pub(crate) figures: Figures,
}

impl Outbound {
    /// `first` is the id of our first frame.
    pub(super) fn new(params: &TransferParams, first: u64) -> Self {
        Self {
            policy: params.policy,
            messages: Messages::new(params),
            queue: TransferQueue::new(params.window, first),
            path: Path::new(params, first),
            probes: Probes::default(),
            later_acks: LaterAcks::new(first),
            sentinels: Sentinels::new(params.window),
            figures: Figures::default(),
        }
    }

    /// Takes acknowledged frames out of the transfer queue (§3.1.2), and those that are considered
    /// dropped because of it. `is_trusted`: the remote host was not caught acknowledging what never
    /// came. Whether it told a round trip.
    pub(super) fn on_ack(
        &mut self,
        acked: &Acked<'_>,
        is_trusted: bool,
        inbound: &mut Inbound,
        source: &mut impl Source,
        now: Instant,
    ) -> bool {
        let Acked { largest, block } = *acked;
        let newest = self.queue.get(largest);
        let sent = newest.filter(|sent| sent.is_eliciting() && self.path.carried(largest));
        let newest = NewestAcked {
            id: largest,
            sent: sent.map(|sent| sent.at),
            was_marked: newest.is_some_and(|sent| sent.ecn == Ecn::Ect0),
        };
        let mut newly = Newly {
            in_flight: self.queue.flight(),
            ..Newly::default()
        };
        acked.for_each_range(|low, high| {
            self.acknowledge(low, high, &mut newly, inbound, source, now);
        });
        if let Some(had_arrived) = self.probes.judge(&self.queue) {
            self.path.recovery.on_probed(had_arrived);
        }
        self.queue.settle();
        let sent = newest.sent.filter(|_| self.policy == Policy::Modern);
        let elapsed = sent.map(|sent| now.saturating_duration_since(sent));
        if let Some(elapsed) = elapsed {
            newly.rtt = self.path.rtt.on_ack(elapsed, block.held_back(), now);
        }
        // A host that acknowledges what never came must not open the window by it.
        if newly.frames > 0 && is_trusted {
            self.path.on_acked(&newly, now);
        }
        self.path.on_marks(&newest, block.marks, &self.queue, now);
        self.drop_overtaken(source, now);
        elapsed.is_some()
    }

    /// The frames from `low` to `high` were acknowledged.
    fn acknowledge(
        &mut self,
        low: u64,
        high: u64,
        newly: &mut Newly,
        inbound: &mut Inbound,
        source: &mut impl Source,
        now: Instant,
    ) {
        self.messages.on_late(low, high, source);
        let mut from = low;
        while let Some(id) = self.queue.first_open(from, high) {
            from = id + 1;
            if let Some(late) = self.queue.take_late(id) {
                if late.is_data() {
                    self.figures.on_spurious(now);
                }
                self.path.on_late(id, &late, &self.later_acks, now);
            }
            let Some(Taken { sent, contents }) = self.queue.take(id) else {
                continue;
            };
            let is_aside = sent.kind == Kind::Aside;
            self.later_acks.on_acknowledged(id, is_aside);
            self.path.on_arrived(id, &sent, self.queue.flight(), now);
            if sent.reported > 0 {
                inbound.confirm(id, sent.reported);
            }
            self.messages.on_acknowledged(contents, source);
            if sent.is_data() {
                self.figures.on_acknowledged(now);
                newly.add(&sent);
            }
        }
    }

    /// Frames that later ones overtook are considered dropped (Figure 7).
    fn drop_overtaken(&mut self, source: &mut impl Source, now: Instant) {
        while let Some((id, sent)) = self.queue.oldest() {
            if !self.path.is_lost(id, sent, &self.later_acks, now) {
                return;
            }
            self.drop_frame(id, source, now);
        }
    }

    /// A transmission is dropped once: it leaves the queue, and its reliable content waits to be
    /// sent under a new id (`docs/deviations.md` T2, T6).
    fn drop_frame(&mut self, id: u64, source: &mut impl Source, now: Instant) {
        let Some(taken) = self.queue.take_dropped(id) else {
            return;
        };
        self.queue.settle();
        if taken.sent.is_data() {
            self.figures.on_lost(now);
        }
        self.path.on_lost(id, &taken.sent, &self.queue, now);
        self.salvage(id, taken, source);
    }

    /// What was in a frame that is given up.
    fn salvage(&mut self, id: u64, taken: Taken, source: &mut impl Source) {
        let Taken { sent, contents } = taken;
        let next = self.queue.next();
        let is_reliable = self.messages.on_lost(id, contents, next, source);
        // The modern policy needs none: a probe moves the window on (`docs/deviations.md` T10).
        if self.policy == Policy::Paper && !is_reliable && sent.is_tracked() {
            self.sentinels.on_dropped(id, sent.sentinel);
        }
    }

    pub(super) fn forget_oldest_if_full(&mut self, source: &mut impl Source) {
        while self.queue.is_full() {
            let Some((id, _)) = self.queue.oldest() else {
                return;
            };
            if let Some(taken) = self.queue.take(id) {
                self.salvage(id, taken, source);
            }
            self.queue.settle();
        }
    }

    /// The remote host has moved. What was sent to where it was and is not acknowledged is lost, so
    /// that what is reliable of it is repeated at once; and that tells nothing of where it is (RFC 9000
    /// §9.4). Without parameters only its port is another, which is the doing of a router on the same
    /// path.
    pub(super) fn on_moved(
        &mut self,
        params: Option<&TransferParams>,
        source: &mut impl Source,
        now: Instant,
    ) {
        let first = self.queue.next();
        self.path.begin_anew(first);
        self.probes.forget_asked();
        while let Some((id, _)) = self.queue.oldest() {
            self.drop_frame(id, source, now);
        }
        if let Some(params) = params {
            self.path.renew(params, first);
        }
    }

    /// When something is due by itself.
    pub(super) fn deadline(&self) -> Instant {
        let (recovery, _) = self.path.deadline(&self.queue, &self.later_acks);
        recovery.min(self.path.control.held_until())
    }

    /// Frames whose acknowledgement is overdue are considered dropped (§3.1.5), or asked
    /// after.
    pub(super) fn handle_timeout(&mut self, source: &mut impl Source, now: Instant) {
        self.path.control.handle_timeout(now);
        loop {
            let (at, due) = self.path.deadline(&self.queue, &self.later_acks);
            if at > now {
                return;
            }
            match due {
                Due::Loss => {
                    let Some((id, _)) = self.queue.oldest() else {
                        return;
                    };
                    self.drop_frame(id, source, now);
                }
                Due::Probe => self
                    .probes
                    .probe_early(&mut self.queue, &mut self.path, now),
                Due::Timeout => self.probes.probe_late(&self.queue, &mut self.path, now),
            }
        }
    }
}

#[cfg(any(test, feature = "audit"))]
impl Outbound {
    /// # Panics
    ///
    /// If the flight size is not the sum of its parts, or a message is in no list.
    pub(crate) fn audit(&self, audit: &mut crate::hooks::audit::Audit, longest: u64) {
        let sent = self.queue.outstanding();
        let in_flight: u64 = sent.map(|(sent, _)| u64::from(sent.bytes())).sum();
        assert_eq!(u64::from(self.queue.flight()), in_flight, "flight size");
        let in_frames = self.queue.outstanding().map(|(_, contents)| contents);
        audit.messages += self.messages.audit(in_frames);
        self.path.control.audit(longest);
        audit.flight += in_flight;
    }
}

/// The figures of one peer, of frames with data.
#[derive(Debug, Default)]
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
