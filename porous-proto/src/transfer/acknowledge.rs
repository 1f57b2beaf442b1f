//! What becomes of frames: acknowledged, or considered dropped, by acknowledgements or by time
//! (§3.1.2, §3.1.5).

use super::budget::Newly;
use super::late::Carried;
use super::queue::Late;
use super::recovery::{Due, Flight, Recovery};
use super::store::Delivery;
use super::{Acked, Probe, Record, Source, Transfer};
use crate::canary::{Bug, strikes};
use crate::time::Instant;

impl Transfer {
    /// Takes acknowledged frames out of the transfer queue (§3.1.2), and those that are considered
    /// dropped because of it.
    pub(crate) fn on_ack(&mut self, acked: &Acked<'_>, source: &mut impl Source, now: Instant) {
        let Acked { largest, block } = *acked;
        self.nonces.trust();
        let newest = self.queue.waits_since(largest);
        let newest = newest.filter(|_| largest >= self.path_began);
        let was_marked = self.queue.is_marked(largest);
        let (mut newly, in_flight) = (Newly::default(), self.queue.flight());
        acked.for_each_range(|low, high| self.acknowledge(low, high, &mut newly, source, now));
        self.judge_probe();
        self.queue.settle();
        let mut rtt = None;
        if let (Recovery::Modern(modern), Some(sent)) = (&mut self.recovery, newest) {
            let elapsed = now.saturating_duration_since(sent);
            rtt = modern.sample(elapsed, block.held_back(), now);
            if let Some(path) = rtt {
                self.figures.on_round_trip(path, now);
            }
            self.pings.on_sample(now);
        }
        self.tell_acknowledged(&newly, rtt, in_flight, now);
        self.judge_marks((largest, was_marked), block.marks, newest, now);
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
                self.note_passed(id, late.is_large);
                self.on_late(id, late, now);
            }
            let Some(mut record) = self.queue.take(id) else {
                continue;
            };
            self.later_acks.on_acknowledged(id, record.is_elsewhere);
            self.note_passed(id, record.is_large);
            self.marking.on_passed(id, record.is_marked);
            let is_idle = self.queue.flight() == 0;
            self.recovery
                .on_acknowledged(id, (record.bytes > 0, is_idle), now);
            if let Some(largest) = record.reported {
                self.received.confirm(id, largest);
                self.heard.confirm(id);
            }
            while let Some(arrived) = self.store.pop_arrived(&mut record.contents) {
                if let Some(outgoing) = arrived {
                    self.note_arrived(&outgoing.message, source);
                }
            }
            if record.bytes > 0 {
                self.figures.on_acknowledged(now);
                newly.bytes += record.bytes;
                newly.frames += 1;
                newly.sent = newly.sent.max(record.sent);
            }
        }
    }

    /// A frame was acknowledged that was considered dropped.
    fn on_late(&mut self, id: u64, late: Late, now: Instant) {
        if late.counted {
            self.figures.on_spurious(now);
        }
        if id < self.path_began {
            return;
        }
        match &mut self.recovery {
            // It was not lost, T_rto was too short (P1): the estimate has to know, or a line that is
            // slower than its pings would drop everything for ever.
            Recovery::Paper(paper) => paper.rtt.sample(now.saturating_duration_since(late.sent)),
            // What is outside the windows is no loss to them, and excuses none.
            Recovery::Modern(modern) if late.counted => {
                if modern.on_spurious(id, self.later_acks.next().saturating_sub(1)) {
                    self.budget.on_spurious();
                }
            }
            Recovery::Modern(_) => {}
        }
    }

    /// Frames that later ones overtook are considered dropped (Figure 7).
    fn drop_overtaken(&mut self, source: &mut impl Source, now: Instant) {
        while let Some((id, record)) = self.queue.oldest() {
            let lost = match &self.recovery {
                Recovery::Paper(_) => id < self.later_acks.dropped_below(),
                Recovery::Modern(modern) => {
                    let newest = self.later_acks.newest();
                    modern.is_lost((id, record.sent), newest, self.step, now)
                }
            };
            if !lost {
                return;
            }
            self.drop_frame(id, source, now);
        }
    }

    fn flight_view(&self) -> Flight {
        // A path that is silent must not get a second window of probes (RFC 9002 §7.5).
        let is_full = self.queue.flight() > self.budget.window(self.path_mtu().into());
        let unprobed = self.queue.unprobed().filter(|_| !is_full);
        let oldest = self.queue.oldest();
        Flight {
            oldest: oldest.map(|(id, record)| (id, record.sent)),
            unprobed: unprobed.map(|(_, record)| (record.sent, record.asks)),
        }
    }

    /// When the next frame will be considered dropped by time (§3.1.5), or asked after.
    pub(crate) fn recovery_deadline(&self) -> Instant {
        match &self.recovery {
            Recovery::Paper(_) => match self.queue.oldest() {
                Some((_, record)) => record.sent + self.resend_timeout(),
                None => Instant::NEVER,
            },
            Recovery::Modern(modern) => {
                let newest = self.later_acks.newest();
                modern.deadline(&self.flight_view(), newest, self.step).0
            }
        }
    }

    /// Frames that were not acknowledged for so long are considered dropped (§3.1.5), or asked
    /// after.
    pub(crate) fn handle_timeout(&mut self, source: &mut impl Source, now: Instant) {
        self.pings.handle_timeout(now);
        self.ack_timer.handle_timeout(now);
        self.budget.handle_timeout(now);
        while self.recovery_deadline() <= now {
            match self.due() {
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

    fn due(&self) -> Due {
        match &self.recovery {
            Recovery::Paper(_) => Due::Loss,
            Recovery::Modern(modern) => {
                let newest = self.later_acks.newest();
                modern.deadline(&self.flight_view(), newest, self.step).1
            }
        }
    }

    /// The reliable content that has waited for long goes out once more, in one datagram.
    fn probe_early(&mut self, now: Instant) {
        let Recovery::Modern(modern) = &mut self.recovery else {
            return;
        };
        modern.on_sent(now); // soon: or the timeout might come at the same time
        while let Some((id, record)) = self.queue.unprobed() {
            if record.sent + modern.early_probe(record.asks, self.step) > now {
                break;
            }
            let from = self.probe.map_or(id, |probe| probe.from);
            self.probe = Some(Probe::early(from, id + 1));
            self.queue.mark_probed(id);
        }
    }

    /// So does all that is on its way, in two datagrams; or a ping, if nothing of it is reliable or
    /// that was in vain too often.
    fn probe_late(&mut self, now: Instant) {
        if let Recovery::Modern(modern) = &mut self.recovery {
            let end = self.queue.next();
            let (repeats, again) = (modern.on_timeout(now), modern.timeouts() > 1);
            let from = if repeats { self.queue.base() } else { end };
            self.probe = Some(Probe::late(from, end, again));
        }
    }

    /// A transmission is dropped once: it leaves the queue, and its reliable content waits to be
    /// sent under a new id (`docs/deviations.md` T2, T6).
    pub(super) fn drop_frame(&mut self, id: u64, source: &mut impl Source, now: Instant) {
        let Some(record) = self.queue.take_dropped(id) else {
            return;
        };
        self.queue.settle();
        let is_here = id >= self.path_began;
        if record.is_large && is_here {
            self.note_vanished(id, now);
        }
        if record.is_marked && is_here {
            self.marking.on_lost(id);
        }
        if record.bytes > 0 {
            self.figures.on_lost(now);
            self.tell_lost((id, record.sent, record.bytes), now);
        }
        self.salvage(id, record, source);
    }

    /// What of a frame is sent again waits to be, and the source hears of the rest. All of it may only
    /// be late.
    fn salvage(&mut self, id: u64, mut record: Record, source: &mut impl Source) {
        let mut reliable = false;
        let is_paper = matches!(self.recovery, Recovery::Paper(_));
        let mut carried = Carried::default();
        loop {
            let ticket = self.store.ticket(&record.contents);
            let Some(lost) = self.store.pop(&mut record.contents) else {
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
        if is_paper && !reliable && record.tracked {
            self.sentinels.on_dropped(id, record.noop);
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
            if let Some(record) = self.queue.take(id) {
                self.salvage(id, record, source);
            }
            self.queue.settle();
        }
    }
}
