//! The frames of this host, and what becomes of each: acknowledged, or considered dropped, because later ones
//! were acknowledged or because of time (§3.1.2, §3.1.5; `docs/deviations.md` T1).

use core::ops::RangeInclusive;

use super::TransferParams;
use super::acked::{Acked, LaterAcks};
use super::inbound::Inbound;
use super::messages::Messages;
use super::path::{NewestAcked, Newly, Path};
use super::probe::Probes;
use super::queue::{Kind, Taken, TransferQueue};
use super::recovery::Due;
use super::redundancy::Redundancy;
use super::signals::Sentinels;
use crate::config::Policy;
use crate::event::Ecn;
use crate::source::Source;
use crate::stats::Loss;
use crate::time::{Instant, Micros};
use crate::timer::{Timer, earliest};

/// The frames of this host to one peer, with the messages that are in frames or wait to be.
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
    /// `first` is the id of the first frame of this host.
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

    /// Takes acknowledged frames out of the transfer queue (§3.1.2), and then the frames that are considered
    /// dropped because of these. `is_trusted`: the remote host was not caught acknowledging what never came.
    /// Returns whether the acknowledgement told a round trip.
    #[inline]
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
        // A round trip is told by the newest frame alone, as the delay in the block is that of the newest. A
        // bare acknowledgement asks for none, so that its own may come at any time; a frame from before a
        // move took another path.
        let sent = newest.filter(|sent| sent.is_eliciting() && self.path.carried(largest));
        let newest = NewestAcked {
            id: largest,
            sent: sent.map(|sent| sent.at),
            was_marked: newest.is_some_and(|sent| sent.ecn == Ecn::Ect0),
        };
        // Controllers want the flight as it was before this acknowledgement took frames out of it.
        let mut newly = Newly {
            in_flight: self.queue.flight(),
            ..Newly::default()
        };
        // As it was before: frames of one acknowledgement may have arrived in any order.
        let before = self.later_acks.newest();
        acked.for_each_range(|low, high| {
            self.acknowledge(low..=high, before, &mut newly, inbound, source, now);
        });
        // Before records are forgotten below: the verdict on a probe needs them.
        if let Some(had_arrived) = self.probes.judge(&self.queue) {
            self.path.recovery.on_probed(had_arrived);
        }
        self.settle(now);
        // By the paper only pings measure round trips (§3.1.3).
        let sent = newest.sent.filter(|_| self.policy == Policy::Modern);
        let elapsed = sent.map(|sent| now.since(sent));
        if let Some(elapsed) = elapsed {
            let held_back = Micros::new(block.held_back());
            newly.rtt = self.path.rtt.on_ack(elapsed, held_back, now);
        }
        // A host that acknowledges what never came must not open the window by it (`docs/deviations.md` T26).
        if newly.frames > 0 && is_trusted {
            self.path.on_acked(&newly, now);
        }
        self.path.on_marks(&newest, block.marks, &self.queue, now);
        // Last: a controller hears of acknowledged frames before it hears of frames lost by the same block.
        self.drop_overtaken(source, now);
        elapsed.is_some()
    }

    /// These frames were acknowledged. `before`: the newest frame that was before.
    #[inline]
    fn acknowledge(
        &mut self,
        ids: RangeInclusive<u64>,
        before: Option<u64>,
        newly: &mut Newly,
        inbound: &mut Inbound,
        source: &mut impl Source,
        now: Instant,
    ) {
        let (mut from, high) = ids.into_inner();
        self.messages.on_late(from, high, source);
        while let Some(id) = self.queue.first_open(from, high) {
            from = id + 1;
            // A frame that was considered dropped was only late: its bytes have left the flight already, so
            // that it counts as a wrong verdict and not as news for the window.
            if let Some(late) = self.queue.take_late(id) {
                if late.is_data() {
                    self.figures.on_spurious(now);
                    if self.path.carried(id) {
                        self.messages.redundancy.on_late();
                    }
                }
                self.path.on_late(id, &late, now);
                self.path.on_overtaken(id, &late, now);
            }
            let Some(Taken { sent, contents }) = self.queue.take(id) else {
                continue;
            };
            if before.is_some_and(|newest| id < newest) {
                self.path.on_overtaken(id, &sent, now);
            }
            let is_aside = sent.kind == Kind::Aside;
            self.later_acks.on_acknowledged(id, is_aside);
            self.path.on_arrived(id, &sent, self.queue.flight(), now);
            // The remote host has got what this frame acknowledged: it need not be repeated (T5).
            if sent.reported > 0 {
                inbound.confirm(id, sent.reported);
            }
            self.messages.on_acknowledged(contents, source);
            if sent.is_data() {
                self.figures.on_acknowledged(now);
                self.messages.redundancy.on_acknowledged();
                newly.add(&sent);
            }
        }
    }

    /// Drops frames that later ones have overtaken (Figure 7).
    fn drop_overtaken(&mut self, source: &mut impl Source, now: Instant) {
        while let Some((id, sent)) = self.queue.oldest() {
            // Newer frames were overtaken by fewer, and sent later: the first that is not lost ends the walk.
            if !self.path.is_lost(id, &sent, &self.later_acks, now) {
                return;
            }
            self.drop_frame(id, source, now);
        }
    }

    /// A frame is considered dropped: it leaves the queue, and its reliable content waits to be sent under a
    /// new id.
    fn drop_frame(&mut self, id: u64, source: &mut impl Source, now: Instant) {
        // A transmission is dropped once: what is sent again is a new frame with a fate of its own
        // (`docs/deviations.md` T2, T6).
        let Some(taken) = self.queue.take_dropped(id) else {
            return;
        };
        self.settle(now);
        if taken.sent.is_data() {
            self.figures.on_lost(now);
            // What a move has cut off tells nothing of the path.
            if self.path.carried(id) {
                self.messages.redundancy.on_lost();
            }
        }
        self.path.on_lost(id, &taken.sent, &self.queue, now);
        self.salvage(id, taken, source);
    }

    /// Saves the messages of a frame that is given up: reliable ones are sent again, and the source hears of
    /// the others.
    fn salvage(&mut self, id: u64, taken: Taken, source: &mut impl Source) {
        let Taken { sent, contents } = taken;
        let remembered = self.queue.first();
        let is_reliable = self.messages.on_lost(id, contents, remembered, source);
        // By the paper a frame with nothing to be sent again leaves a sentinel, or a flow of which all is
        // lost could not go on. The modern policy needs none: a probe moves the window on
        // (`docs/deviations.md` T10).
        if self.policy == Policy::Paper && !is_reliable && sent.is_tracked() {
            self.sentinels.on_dropped(id, sent.sentinel);
        }
    }

    /// Makes room in the ring for the next frame: gives up the oldest open frames as long as the ring is full
    /// (`docs/deviations.md` P2).
    #[inline]
    pub(super) fn forget_oldest_if_full(&mut self, source: &mut impl Source) {
        while self.queue.is_full() {
            let Some((id, _)) = self.queue.oldest() else {
                return;
            };
            // Not a loss: nothing says that the frame did not arrive, so that the window does not shrink.
            if let Some(taken) = self.queue.take(id) {
                self.salvage(id, taken, source);
            }
            self.queue.settle(Instant::ZERO);
        }
    }

    /// Moves the queue on, and forgets frames that were considered dropped long ago.
    #[inline]
    fn settle(&mut self, now: Instant) {
        let memory = self.path.memory();
        self.queue.settle(now - memory);
    }

    /// The remote host has moved. `params` is `None` if only its port changed.
    pub(super) fn on_moved(
        &mut self,
        params: Option<&TransferParams>,
        source: &mut impl Source,
        now: Instant,
    ) {
        // From here on the fate of older frames tells nothing of the path (RFC 9000 §9.4), so that the drops
        // below are no congestion.
        let first = self.queue.next();
        self.path.begin_anew(first);
        self.probes.forget_asked();
        // What was sent to the old address and is not acknowledged is lost: reliable content is repeated at
        // once, instead of after a timeout.
        while let Some((id, _)) = self.queue.oldest() {
            self.drop_frame(id, source, now);
        }
        // Another port alone is the doing of a router on the same path, whose measurements hold on.
        if let Some(params) = params {
            self.path.renew(params, first);
            self.messages.redundancy = Redundancy::new(params.policy);
        }
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due next.
    pub(super) fn deadline(&self) -> Instant {
        let (recovery, _) = self.path.deadline(&self.queue, &self.later_acks);
        recovery.min(self.path.control.held_until())
    }

    /// What is due then, and when.
    pub(super) fn timer(&self) -> (Instant, Timer) {
        let (at, due) = self.path.deadline(&self.queue, &self.later_acks);
        let recovery = match due {
            Due::Loss => Timer::Loss,
            Due::Probe => Timer::Probe,
            Due::Timeout => Timer::Retransmission,
        };
        earliest([
            (at, recovery),
            (self.path.control.held_until(), Timer::Pace),
        ])
    }

    /// Drops frames whose acknowledgement is overdue (§3.1.5), or asks for it.
    pub(super) fn handle_timeout(&mut self, source: &mut impl Source, now: Instant) {
        self.path.control.handle_timeout(now);
        loop {
            // Until nothing is due, since each drop or probe changes what is next. Each turn moves the
            // deadline on.
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
                Due::Timeout => {
                    self.probes.probe_late(&self.queue, &mut self.path, now);
                    self.path.on_timeout(self.queue.next(), now);
                }
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

/// Counts of frames with data, to one peer.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    pub(crate) sent: u64,
    /// Frames that were acknowledged, in time or late.
    acknowledged: u64,
    /// Frames that were considered dropped, spurious ones included.
    pub(crate) lost: u64,
    /// Frames that were considered dropped and acknowledged after all.
    pub(crate) spurious: u64,
    /// The recent share of lost frames in what was sent.
    pub(crate) sent_loss: Loss,
}

impl Figures {
    /// A frame was acknowledged.
    pub(super) fn on_acknowledged(&mut self, now: Instant) {
        self.acknowledged += 1;
        self.note_fates(now);
    }

    /// A frame is considered dropped.
    pub(super) fn on_lost(&mut self, now: Instant) {
        self.lost += 1;
        self.note_fates(now);
    }

    /// A frame that was considered dropped was acknowledged after all.
    pub(super) fn on_spurious(&mut self, now: Instant) {
        self.spurious += 1;
        self.on_acknowledged(now);
    }

    fn note_fates(&mut self, now: Instant) {
        let lost = self.lost - self.spurious;
        self.sent_loss.note(self.acknowledged + lost, lost, now);
    }
}
