//! Assembly (§3.1, Figure 5): what goes into the next frame, and its bytes.

use super::congestion_control::Leaving;
use super::queue::{Content, Kind, Sent};
use super::store::{List, Outgoing, Store};
use super::{Delivery, Narrowed, Source, Transfer, Written};
use crate::config::Priority;
use crate::event::Ecn;
use crate::frame::{
    AckBlock, Context, Control, FrameWriter, Header, Ids, Layout, MAX_MESSAGES, MIN_PADDING,
    Message,
};
use crate::time::Instant;
use crate::wire::NoRoom;

/// What the next frame holds, chosen before a byte is written.
pub(super) struct Plan {
    ack: Option<(AckBlock, u64)>,
    /// Signalling that is made for this frame: at most noop, ping, pong and path response.
    pub(super) fresh: arrayvec::ArrayVec<Control, 4>,
    pub(super) contents: List,
    /// Whether messages of the send queue are in it, so that it counts in flight.
    pub(super) data: bool,
    /// Whether it only repeats what other frames carry.
    pub(super) repeats: bool,
    pub(super) header: Header,
    pub(super) layout: Layout,
    pub(super) len: usize,
    pub(super) messages: usize,
    /// Zeros at the end: it only tries whether the path carries so much.
    pub(super) padding: usize,
    /// It is about a path alone, and what was received is to be acknowledged by another.
    pub(super) is_aside: bool,
}

impl Plan {
    /// A frame without messages.
    pub(super) fn new(header: Header, context: Context) -> Self {
        Self {
            len: header.length(None) + context.tag,
            ack: None,
            fresh: arrayvec::ArrayVec::new(),
            contents: List::EMPTY,
            data: false,
            repeats: false,
            header,
            layout: Layout::new(context),
            messages: 0,
            padding: 0,
            is_aside: false,
        }
    }

    /// The block of a frame that has nothing else yet, and the newest id that it reports.
    fn acknowledge(&mut self, block: AckBlock, largest: u64) {
        self.len += block.length();
        self.ack = Some((block, largest));
    }

    /// Its bytes but for the block.
    fn len_beside_ack(&self) -> usize {
        let block = self.ack.as_ref().map_or(0, |(block, _)| block.length());
        self.len - block
    }

    /// Leaves the block out that is all there is, if a message of this length would find room without it.
    /// Whether it did.
    fn gives_way(&mut self, message: usize, limit: usize) -> bool {
        let len = self.len_beside_ack();
        let gives_way = self.messages == 0 && self.ack.is_some() && len + message <= limit;
        if gives_way {
            (self.ack, self.len) = (None, len);
        }
        gives_way
    }

    pub(super) fn control(&mut self, control: Control) {
        let message = Message::<&[u8]>::Control(control);
        self.len += self.layout.length(&message);
        self.layout.push(&message);
        self.messages += 1;
    }

    /// Whether there is a sentinel (4) in it. The one of a probe of the MTU only carries the padding.
    fn has_sentinel(&self) -> bool {
        self.padding == 0 && self.fresh.contains(&Control::Noop)
    }

    /// What the frame is, if it has this length.
    fn kind(&self, bytes: u32, store: &Store) -> Kind {
        if self.data {
            let asks = self.header.ack_now;
            let content = if self.repeats {
                Content::Repeated
            } else if store.has_reliable(&self.contents) {
                Content::Reliable { asks }
            } else {
                Content::Unreliable
            };
            Kind::Data { bytes, content }
        } else if self.has_sentinel() || !self.contents.is_empty() {
            Kind::Signal
        } else if self.is_aside && self.padding == 0 {
            Kind::Aside
        } else if self.messages > 0 {
            Kind::Ping
        } else {
            Kind::Ack
        }
    }
}

impl Transfer {
    /// Writes the next datagram, if there is one to be sent now, and its length. An error is a bug:
    /// a planned frame did not fit. Its stack is not to be a part of its caller's.
    #[inline(never)]
    pub(crate) fn poll_transmit(
        &mut self,
        source: &mut impl Source,
        now: Instant,
        buf: &mut [u8],
    ) -> Result<Option<Written>, NoRoom> {
        // A probe of the path is not held back, and is not to count as the data before it.
        self.gate.ask();
        let max = self.largest().min(buf.len());
        // It is large, and a microcontroller's stack is not: there is one of it.
        let mut plan = Plan::new(self.header(now), self.params.context);
        if !self.plan_path_probe(&mut plan, now, buf.len())
            && !self.plan(&mut plan, source, now, max)
        {
            return Ok(None);
        }
        self.forget_oldest_if_full(source);
        let len = self.write(&plan, buf)?;
        debug_assert!(len <= max || plan.padding > 0, "no longer than planned");
        let ecn = self.path.marking.mark(plan.data && !plan.repeats);
        self.remember(&mut plan, (len, ecn), now);
        Ok(Some(Written {
            len,
            ecn,
            dont_fragment: len > usize::from(self.params.max_datagram),
        }))
    }

    pub(super) fn remember(&mut self, plan: &mut Plan, (len, ecn): (usize, Ecn), now: Instant) {
        self.await_copies(&plan.contents, now);
        let is_large = self.note_length(plan, len, now);
        let bytes = u32::try_from(len).unwrap_or(u32::MAX);
        let sent = Sent {
            at: now,
            kind: plan.kind(bytes, &self.store),
            ecn,
            is_large,
            sentinel: plan.has_sentinel(),
            reported: plan.ack.as_ref().map_or(0, |(_, largest)| largest + 1),
        };
        if sent.is_data() {
            self.figures.sent += 1;
            self.pings.on_data(now, self.path.rtt.smoothed());
            self.ack_timer.on_data(now);
        }
        if sent.is_tracked() {
            self.path.recovery.on_sent(now);
        }
        let left_out = plan.ack.is_none() && self.received.has_report();
        if !plan.is_aside && !left_out {
            self.ack_timer.on_sent();
        }
        self.widths.note(self.queue.next(), now);
        let contents = core::mem::replace(&mut plan.contents, List::EMPTY);
        self.queue.push(sent, contents);
        let leaving = Leaving {
            bytes,
            in_flight: sent.bytes(),
            can_wait: self.gate.data,
            flight: self.queue.flight(),
        };
        self.path.control.on_sent(&leaving, now);
        self.leave_out();
    }

    /// False if nothing is to be sent.
    fn plan(
        &mut self,
        plan: &mut Plan,
        source: &mut impl Source,
        now: Instant,
        max: usize,
    ) -> bool {
        let ack_due = self.ack_timer.pending;
        if let Some((mut block, largest)) = self.received.report(self.ack_timer.held_back(now)) {
            block.marks = self.heard.marks();
            plan.acknowledge(block, largest);
        }
        self.plan_control(plan, source, now, max);
        let max = self.plan_probe(plan, source, now, max);
        let (repeated, before) = (plan.messages, plan.len_beside_ack());
        self.plan_data(plan, source, (max, ack_due), now);
        plan.repeats &= plan.messages == repeated;
        if self.path.recovery.is_lossy(now) {
            plan.header.ack_now |= self.store.has_reliable(&plan.contents);
        }
        if plan.messages == 0 && !ack_due {
            return false;
        }
        let news = plan.len_beside_ack() - before;
        self.plan_copies(plan, source, now, (news, max));
        if let Some((_, largest)) = &plan.ack {
            self.received.reported(*largest);
        }
        true
    }

    /// Signalling is outside the congestion window (§3.1.3, `docs/deviations.md` T20).
    fn plan_control(
        &mut self,
        plan: &mut Plan,
        source: &mut impl Source,
        now: Instant,
        max: usize,
    ) {
        if core::mem::take(&mut self.sentinels.pending) {
            plan.fresh.push(Control::Noop);
        }
        if self.pings.pending {
            plan.fresh.push(Control::Ping(
                self.pings.send(now, self.path.rtt.smoothed()),
            ));
        }
        plan.fresh.extend(self.answers.take(now));
        for index in 0..plan.fresh.len() {
            plan.control(plan.fresh[index]);
        }
        const LIMITS_LEN: usize = 8;
        if plan.len + LIMITS_LEN <= max {
            if let Some(control) = self.limits.take_due() {
                self.plan_latest(plan, control);
            }
        }
        const SIGNAL_LEN: usize = 16;
        while plan.len + SIGNAL_LEN <= max && plan.messages < MAX_MESSAGES {
            let Some(control) = source.next_signal() else {
                break;
            };
            self.plan_latest(plan, control);
        }
    }

    /// Signalling that is said anew if it is lost, as it is then.
    fn plan_latest(&mut self, plan: &mut Plan, control: Control) {
        plan.control(control);
        let outgoing = Outgoing {
            message: Message::Control(control),
            delivery: Delivery::Latest,
            priority: Priority::High,
            copies: 0,
            probed: false,
        };
        self.store.push(&mut plan.contents, outgoing);
    }

    /// Fills the frame from the send queue, high priority first, as far as the transfer window,
    /// the congestion window and the MTU allow. A message that does not fit ends the frame, so
    /// that nothing overtakes it (Figure 5).
    /// What was received is acknowledged in the same frame, unless a message finds no room then, and
    /// nobody waits for it: it may be long for many round trips.
    fn plan_data(
        &mut self,
        plan: &mut Plan,
        source: &mut impl Source,
        (max, ack_due): (usize, bool),
        now: Instant,
    ) {
        if !self.queue.has_room() {
            return;
        }
        let (flight, is_trusted) = (self.queue.flight(), self.nonces.is_trusted());
        let otherwise = self.path.allowance(flight, is_trusted, max, now);
        let limit = self.gate.limit(otherwise);
        self.path.control.set_limited(false);
        for priority in [Priority::High, Priority::Low] {
            while self.refill(source, priority) {
                if plan.messages >= MAX_MESSAGES {
                    return;
                }
                self.cut_front(source, priority);
                let Some(front) = self.send_queue.front(&mut self.store, priority) else {
                    break;
                };
                let len = plan.layout.length(&front.message);
                let is_long = !ack_due && plan.len + len > max;
                if plan.len + len > limit && !(is_long && plan.gives_way(len, limit)) {
                    let is_part =
                        matches!(&front.message, Message::Packet(p) if p.fragment.is_some());
                    self.path.mtu.on_full(plan.len + len, is_part);
                    self.path.control.set_limited(otherwise < max);
                    self.gate.waits = plan.len + len <= otherwise;
                    return;
                }
                plan.layout.push(&front.message);
                plan.len += len;
                plan.messages += 1;
                plan.data = true;
                self.gate.data = true;
                source.sent(&front.message);
                self.send_queue
                    .shift(&mut self.store, priority, &mut plan.contents);
            }
        }
    }

    /// Makes sure that the front of the send queue is worth sending. False if there is nothing.
    fn refill(&mut self, source: &mut impl Source, priority: Priority) -> bool {
        while let Some(front) = self.send_queue.front(&mut self.store, priority) {
            if source.is_current(&front.message) {
                return true;
            }
            if let Some(useless) = self.send_queue.pop(&mut self.store, priority) {
                source.skipped(&useless.message);
            }
        }
        let most = self.most_of_packet();
        let Some(next) = source.next_message(priority, most) else {
            return false;
        };
        self.send_queue.push_new(
            &mut self.store,
            Outgoing {
                message: next.message,
                delivery: next.delivery,
                priority,
                copies: next.copies,
                probed: false,
            },
        );
        true
    }

    /// How long the next datagram may be. What has to be answered, as others are lost, perhaps because
    /// they are too large, is not.
    pub(super) fn largest(&self) -> usize {
        let insists = self.probe.is_some_and(|probe| probe.insists);
        usize::from(if insists {
            self.path.mtu.sure()
        } else {
            self.path.mtu.current()
        })
    }

    /// How long a datagram may be that asks after others, unless a message fits into no such one.
    pub(super) fn surest(&self) -> usize {
        self.path.mtu.sure().into()
    }

    /// What has been found of the path that the application does not know yet.
    pub(crate) const fn take_narrowed(&mut self) -> Option<Narrowed> {
        self.path.mtu.take_narrowed()
    }

    /// A ping padded to the size that is to be tried; false if none is. It is outside both windows,
    /// and its loss means nothing for them.
    pub(super) fn plan_path_probe(&mut self, plan: &mut Plan, now: Instant, room: usize) -> bool {
        let size = self.path.probe_mtu(self.queue.next(), now);
        let Some(size) = size.map(usize::from) else {
            return false;
        };
        let noop = Message::<&[u8]>::Control(Control::Noop);
        let least = plan.len + plan.layout.length(&noop);
        if size > room || size < least + MIN_PADDING {
            return false;
        }
        plan.is_aside = true;
        plan.header.ack_now = true;
        plan.fresh.push(Control::Noop);
        plan.control(Control::Noop);
        plan.padding = size - plan.len;
        plan.len = size;
        true
    }

    /// A frame of this length takes the next id: whether it is large.
    pub(super) fn note_length(&mut self, plan: &Plan, len: usize, now: Instant) -> bool {
        let size = u16::try_from(len).unwrap_or(u16::MAX);
        if plan.padding > 0 {
            self.path.mtu.on_probe(plan.header.id, size, now);
            // It is in no window, and much may follow before it is acknowledged.
            self.queue.keep_next();
            return false;
        }
        size > self.path.mtu.largest_small()
    }

    /// The head of the next frame.
    pub(super) fn header(&mut self, now: Instant) -> Header {
        let id = self.queue.next();
        Header {
            connection_id: self.params.connection_id,
            id,
            id_width: self.widths.choose(id, self.later_acks.next(), now),
            nonce: self.nonces.bit(id),
            ack_now: false,
        }
    }

    /// Writes a frame as it was planned.
    pub(super) fn write(&self, plan: &Plan, buf: &mut [u8]) -> Result<usize, NoRoom> {
        let ack = plan.ack.as_ref().map(|(block, _)| block);
        let mut writer = FrameWriter::new(buf, &plan.header, ack, self.params.context)?;
        let mut left = plan.messages + usize::from(plan.padding > 0);
        for control in &plan.fresh {
            left -= 1;
            writer.message(&Message::<&[u8]>::Control(*control), left == 0)?;
        }
        for outgoing in self.store.iter(&plan.contents) {
            left -= 1;
            writer.message(&outgoing.message, left == 0)?;
        }
        if plan.padding > 0 {
            writer.padding(plan.padding)?;
        }
        let len = writer.finish();
        let ids = Ids {
            frame: plan.header.id,
            acked: plan.ack.as_ref().map(|(_, largest)| *largest),
        };
        self.params.check.append(buf, len, ids)
    }
}
