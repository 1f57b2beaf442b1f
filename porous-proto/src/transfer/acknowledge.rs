//! What becomes of frames: acknowledged, or considered dropped, by acknowledgements or by time
//! (§3.1.2, §3.1.5).

use super::late::Carried;
use super::path::{NewestAcked, Newly};
use super::queue::{Kind, Taken};
use super::recovery::{Due, Question};
use super::store::Delivery;
use super::{Acked, Probe, Source, Transfer};
use crate::canary::{Bug, strikes};
use crate::config::Policy;
use crate::event::Ecn;
use crate::time::Instant;

impl Transfer {
    /// Takes acknowledged frames out of the transfer queue (§3.1.2), and those that are considered
    /// dropped because of it.
    pub(crate) fn on_ack(&mut self, acked: &Acked<'_>, source: &mut impl Source, now: Instant) {
        let Acked { largest, block } = *acked;
        self.nonces.trust();
        let newest = self.queue.get(largest);
        let sent = newest.filter(|sent| sent.is_eliciting());
        let sent = sent.map(|sent| sent.at);
        let newest = NewestAcked {
            id: largest,
            sent: sent.filter(|_| self.path.carried(largest)),
            was_marked: newest.is_some_and(|sent| sent.ecn == Ecn::Ect0),
        };
        let mut newly = Newly {
            in_flight: self.queue.flight(),
            ..Newly::default()
        };
        acked.for_each_range(|low, high| self.acknowledge(low, high, &mut newly, source, now));
        self.judge_probe();
        self.queue.settle();
        if let (Policy::Modern, Some(sent)) = (self.params.policy, newest.sent) {
            let elapsed = now.saturating_duration_since(sent);
            newly.rtt = self.path.rtt.on_ack(elapsed, block.held_back(), now);
            self.pings.on_sample(now);
        }
        if newly.frames > 0 && self.nonces.is_trusted() {
            self.path.on_acked(&newly, now);
        }
        self.path.on_marks(&newest, block.marks, &self.queue, now);
        self.drop_overtaken(source, now);
    }

    fn acknowledge(
        &mut self,
        low: u64,
        high: u64,
        newly: &mut Newly,
        source: &mut impl Source,
        now: Instant,
    ) {
        self.arrive_late(low, high, source);
        let mut from = low;
        while let Some(id) = self.queue.first_open(from, high) {
            from = id + 1;
            if let Some(late) = self.queue.take_late(id) {
                self.path.on_passed(id, late.is_large);
                if late.is_data() {
                    self.figures.on_spurious(now);
                }
                self.path.on_late(id, &late, &self.later_acks, now);
            }
            let Some(Taken { sent, mut contents }) = self.queue.take(id) else {
                continue;
            };
            self.later_acks
                .on_acknowledged(id, sent.kind == Kind::Aside);
            self.path.on_passed(id, sent.is_large);
            self.path.marking.on_passed(id, sent.ecn == Ecn::Ect0);
            let is_idle = self.queue.flight() == 0;
            self.path
                .recovery
                .on_acknowledged(id, sent.is_data(), is_idle, now);
            if sent.reported > 0 {
                self.received.confirm(id, sent.reported);
                self.heard.confirm(id);
            }
            while let Some(arrived) = self.store.pop_arrived(&mut contents) {
                if let Some(outgoing) = arrived {
                    self.note_arrived(&outgoing.message, source);
                }
            }
            if sent.is_data() {
                self.figures.on_acknowledged(now);
                newly.bytes += sent.bytes();
                newly.frames += 1;
                newly.sent = newly.sent.max(sent.at);
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

    /// When the next frame will be considered dropped by time (§3.1.5), or asked after.
    pub(crate) fn recovery_deadline(&self) -> Instant {
        let (at, _) = self.path.deadline(&self.queue, &self.later_acks);
        at
    }

    /// Frames that were not acknowledged for so long are considered dropped (§3.1.5), or asked
    /// after.
    pub(crate) fn handle_timeout(&mut self, source: &mut impl Source, now: Instant) {
        self.pings.handle_timeout(now);
        self.ack_timer.handle_timeout(now);
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
                Due::Probe => self.probe_early(now),
                Due::Timeout => self.probe_late(now),
            }
        }
    }

    /// The reliable content that has waited for long goes out once more, in one datagram.
    fn probe_early(&mut self, now: Instant) {
        self.path.recovery.on_sent(now); // soon: or the timeout might come at the same time
        while let Some((id, sent)) = self.queue.unprobed() {
            let asks = sent.probe().unwrap_or_default();
            let wait = self.path.recovery.early_probe(asks, &self.path.rtt);
            if sent.at + wait > now {
                break;
            }
            let from = self.probe.map_or(id, |probe| probe.from);
            self.probe = Some(Probe::early(from, id + 1));
            self.queue.mark_probed(id);
        }
    }

    /// So does all that is on its way, in two datagrams; or a ping, if nothing of it is reliable or too
    /// many such probes were not answered.
    fn probe_late(&mut self, now: Instant) {
        if let Some(Question { repeats, is_again }) = self.path.recovery.on_timeout(now) {
            let end = self.queue.next();
            let from = if repeats { self.queue.base() } else { end };
            self.probe = Some(Probe::late(from, end, is_again));
        }
    }

    /// A transmission is dropped once: it leaves the queue, and its reliable content waits to be
    /// sent under a new id (`docs/deviations.md` T2, T6).
    pub(super) fn drop_frame(&mut self, id: u64, source: &mut impl Source, now: Instant) {
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

    /// What of a frame is sent again waits to be, and the source hears of the rest. All of it may only
    /// be late.
    fn salvage(&mut self, id: u64, taken: Taken, source: &mut impl Source) {
        let Taken { sent, mut contents } = taken;
        let mut reliable = false;
        let is_paper = self.params.policy == Policy::Paper;
        let mut carried = Carried::default();
        loop {
            let ticket = self.store.ticket(&contents);
            let Some(lost) = self.store.pop(&mut contents) else {
                break;
            };
            let Some(mut outgoing) = lost else {
                carried.open.extend(ticket); // another frame carries it
                continue;
            };
            match outgoing.delivery {
                Delivery::Reliable => {
                    reliable = true;
                    if strikes(Bug::ForgetsResend) {
                        continue;
                    }
                    // Whoever waits for it has waited for long (P8).
                    outgoing.copies = outgoing.copies.max(u8::from(!is_paper));
                    let ticket = self.send_queue.push_again(&mut self.store, outgoing);
                    carried.open.push(ticket);
                }
                Delivery::Unreliable | Delivery::Latest => {
                    let matters = self.limits.on_lost(&outgoing.message);
                    if source.lost(&outgoing.message) || matters {
                        carried.given_up.push(outgoing.message);
                    }
                }
            }
        }
        // The modern policy needs none: a probe moves the window on (`docs/deviations.md` T10).
        if is_paper && !reliable && sent.is_tracked() {
            self.sentinels.on_dropped(id, sent.sentinel);
        }
        let most = self.params.window;
        let context = (&self.store, self.queue.next(), most);
        self.dropped.insert(id, carried, context);
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
}
