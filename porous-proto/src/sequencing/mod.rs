//! The sequencing layer: channels turn packets into messages and back, in order, and know nothing of frames
//! (§3.2).

#[cfg(any(test, feature = "audit"))]
mod audit;
mod backlog;
mod channels;
mod cuts;
mod delivery;
mod entry;
mod promises;
mod receive_queue;
mod receiver;
mod reports;
mod rules;
mod scheduler;
mod send_room;
mod sender;
#[cfg(test)]
mod tests;
mod transfer_window;
mod trust;

use core::time::Duration;

use bytes::Bytes;

pub(crate) use self::channels::Totals;
use self::channels::{ChannelTable, Shared};
use self::promises::Passed;
pub(crate) use self::promises::{Receipt, Receipts};
pub(crate) use self::receiver::Verdict;
use self::reports::{FateLog, Signals};
use self::rules::{expand_report, is_marked};
use self::scheduler::Scheduler;
use self::send_room::Refusal;
use self::trust::forgeable;
use crate::buffers::Buffers;
use crate::config::{Channel as Settings, Policy, Priority};
use crate::frame::{Channels, Control, Fates, Marker, Message, Mode, PACKET_CHARGE, Packet};
#[cfg(any(test, feature = "audit"))]
use crate::hooks::audit::Audit;
use crate::options::SendOptions;
use crate::serial;
use crate::source::{MessageBytes, NextMessage, Source};
use crate::stats::{ChannelStats, ReceiveProgress, SendProgress};
use crate::time::Instant;

/// What both hosts agreed on, as far as this layer needs it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SequencingParams {
    /// Channels of the connection: the smaller of what both hosts offer.
    pub(crate) channels: u8,
    /// The priority at which this host sends on each channel.
    pub(crate) priorities: Channels,
    /// Decides whether the channels of a priority take turns or share by weight.
    pub(crate) policy: Policy,
    /// N_Q: ids of a channel that may be in use at a time.
    pub(crate) window: u64,
    /// M, N_Q / 8: the last of each M ids is marked (§3.2.1).
    pub(crate) spacing: u64,
    /// Bits of a packet id on the wire, 16 or 24: Y of (16) and (17) is two to the power of this.
    pub(crate) id_bits: u32,
    /// The longest packet that both hosts take, in bytes.
    pub(crate) max_packet: u32,
    /// Bytes that the remote host keeps for this one at most, [`cost`] for each packet.
    pub(crate) remote_budget: u64,
    /// Bytes that this host keeps for the remote one at most, [`cost`] for each packet.
    pub(crate) receive_budget: u64,
    /// Bytes that may wait to be sent or acknowledged, [`cost`] for each packet.
    pub(crate) send_budget: u64,
}

impl SequencingParams {
    pub(crate) fn priority(&self, channel: u8) -> Priority {
        if self.priorities.is_high(channel) {
            Priority::High
        } else {
            Priority::Low
        }
    }
}

/// A packet for the application: channel, mode, bytes.
pub(crate) type Delivered = (u8, Mode, Bytes);

/// The sequencing layer of one peer: its channels, and what is due in them.
#[derive(Debug)]
pub(crate) struct Sequencing {
    table: ChannelTable,
    scheduler: Scheduler,
    signals: Signals,
    /// The id of the frame whose messages are being taken in.
    frame: u64,
}

impl Sequencing {
    /// Both hosts' ids start at 0 (`docs/deviations.md` Q12); tests start at others, so that ids wrap.
    /// Unreliable packets that have waited for longer than `age` are not begun.
    pub(crate) fn new(params: SequencingParams, first_id: u64, age: Duration) -> Self {
        Self {
            table: ChannelTable::new(params, first_id, age),
            scheduler: Scheduler::new(params.policy),
            signals: Signals::new(),
            frame: 0,
        }
    }

    /// `settings` are those of channel 0 and the ones that follow; channels beyond have the default.
    pub(crate) fn with_channels(mut self, settings: &[Settings]) -> Self {
        self.table.settings = settings.into();
        self
    }

    pub(crate) const fn totals(&self) -> &Totals {
        &self.table.totals
    }

    /// Checks the books of the layer. No message counts more than `longest` bytes.
    #[cfg(any(test, feature = "audit"))]
    pub(crate) fn audit(&self, audit: &mut Audit, longest: u64) {
        audit::check(&self.table, &self.scheduler, audit, longest);
    }

    // Time.

    /// The host looks at what is to be done: see [`Scheduler::look`].
    #[inline]
    pub(crate) fn look(&mut self, now: Instant) {
        self.scheduler.look(now, &mut self.table);
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        self.look(now);
        self.signals.handle_timeout(now, &mut self.table);
    }

    /// Drops the packets that have expired.
    pub(crate) fn drop_expired(&mut self, now: Instant) {
        self.scheduler.drop_expired(now, &mut self.table);
    }

    /// When [`handle_timeout`](Self::handle_timeout) has something to do: to report packets that were passed,
    /// to give up incomplete ones, to drop expired ones, to send an answer that was held back, or to give a
    /// channel its turn that its cap held back.
    pub(crate) fn deadline(&self) -> Instant {
        (self.signals.report_deadline())
            .min(self.signals.answer_deadline())
            .min(self.table.give_up_at)
            .min(self.scheduler.expiry)
            .min(self.scheduler.lanes.due())
    }

    // Sending.

    /// Whether the send budget has room for a packet of `len` bytes, beside `receipts` bytes for receipts
    /// that the application has not taken. A refusal is remembered: see [`has_new_room`](Self::has_new_room).
    #[inline]
    pub(crate) fn has_room(&mut self, channel: u8, mode: Mode, len: usize, receipts: u64) -> bool {
        let wanted = Refusal {
            channel,
            mode,
            cost: cost(len),
        };
        let held = self.table.held(channel);
        let receipts = self.table.totals.receipts_cost(receipts);
        self.table.totals.room.has_room(wanted, held, receipts)
    }

    /// Whether a packet that was refused fits now, and half of the room that its channel can use is free.
    pub(crate) fn has_new_room(&self, receipts: u64) -> bool {
        let totals = &self.table.totals;
        let held = |channel| self.table.held(channel);
        totals
            .room
            .has_new_room(held, totals.receipts_cost(receipts))
    }

    /// To be called when the application is told that there is room.
    pub(crate) fn forget_refusals(&mut self) {
        self.table.totals.room.forget_refusals();
    }

    /// Queues a packet. The caller has checked the channel, the length and the send budget.
    #[inline]
    pub(crate) fn send(&mut self, channel: u8, payload: Bytes, options: impl Into<SendOptions>) {
        let options = options.into();
        let Some((made, shared)) = self.table.get_mut(channel) else {
            return;
        };
        made.sender.queue(payload, options, shared.totals);
        self.scheduler.queued(channel, &mut self.table);
    }

    /// Changes the cap of a channel, in bytes a second.
    pub(crate) fn set_rate(&mut self, channel: u8, rate: u32, now: Instant) {
        self.scheduler.set_rate(channel, rate, now, &mut self.table);
    }

    /// Cancels the packets with this receipt: whether there were any.
    pub(crate) fn cancel(&mut self, channel: u8, token: u64) -> bool {
        let Some((made, mut shared)) = self.table.made(channel) else {
            return false;
        };
        let any = made.sender.cancel(channel, token, &mut shared);
        if any {
            // The remote host may have to be told, and what was given up is no longer charged to its budget.
            self.scheduler.wants_turn(channel, &mut self.table);
            self.scheduler.unblock(&mut self.table);
        }
        any
    }

    /// The next receipt that is to be told.
    pub(crate) fn next_receipt(&mut self) -> Option<Receipt> {
        self.table.totals.receipts.pop()
    }

    /// The connection has ended: returns all receipts that are to be told.
    pub(crate) fn close(&mut self) -> Receipts {
        self.table.close();
        core::mem::take(&mut self.table.totals.receipts)
    }

    /// Checks a window acknowledgement: false if it names a packet that was never sent (`docs/deviations.md`
    /// Q8), unless a single forged frame can have made the remote host pass it (P14).
    pub(crate) fn check_window(&self, channel: u8, id: u32) -> bool {
        let (next, base) = self.table.next_and_base(channel);
        let end = next + forgeable(self.table.params.window);
        // An old one has no effect, and is not refused: reports may overtake each other.
        expand_report(id, base).is_none_or(|id| id < end)
    }

    /// The remote receive window has passed the packet `id`: Q_t moves on (16).
    pub(crate) fn on_window(&mut self, channel: u8, id: u32) {
        if let Some((made, shared)) = self.table.get_mut(channel) {
            if let Some(id) = expand_report(id, made.sender.window.base()) {
                made.sender.advance_past(id, Passed::Unseen, shared.totals);
            }
        }
        self.scheduler.unblock(&mut self.table);
    }

    /// The remote receive window has passed the packet `id`: what became of it and of those before it.
    pub(crate) fn on_fates(&mut self, channel: u8, id: u32, fates: Fates) {
        const HALF: u64 = 1 << 31;
        if let Some((made, shared)) = self.table.get_mut(channel) {
            // One behind n_b counts as well, other than in a WINDOW: FATES come in any order, and each one
            // settles packets of its own.
            if let Some(id) = serial::expand(id, 32, made.sender.window.base(), HALF) {
                made.sender.on_fates(id, fates, shared.totals);
            }
        }
        self.scheduler.unblock(&mut self.table);
    }

    /// The remote host asks how far this one has come on a channel.
    pub(crate) fn on_ask(&mut self, channel: u8, number: u16) {
        self.signals.answer(channel, number);
    }

    /// How far the oldest packet with this receipt has come, until its receipt is told.
    pub(crate) fn send_progress(&self, channel: u8, token: u64) -> Option<SendProgress> {
        self.table.get(channel)?.sender.progress(token)
    }

    pub(crate) fn channel_stats(&self, channel: u8) -> ChannelStats {
        let made = self.table.get(channel);
        made.map_or_else(ChannelStats::default, |made| ChannelStats {
            queue_time: made.queue_time.smoothed().into(),
            queue_time_longest: made.queue_time.longest().into(),
            waiting: made.sender.waiting_count(),
        })
    }

    // Receiving.

    /// Checks a packet message against what is known, without changing anything.
    #[inline]
    pub(crate) fn check_packet(&self, packet: &Packet<&[u8]>) -> Verdict {
        let params = &self.table.params;
        if packet.channel >= params.channels || packet.part().1 > params.max_packet {
            return Verdict::Violation;
        }
        match self.table.get(packet.channel) {
            Some(made) => made.receiver.check(packet, params),
            // A check changes nothing: the channel is made when the packet is taken in.
            None => {
                let names = (packet.id, packet.dependency.into());
                receiver::check_first(names, params, self.table.first_id)
            }
        }
    }

    /// Checks a sentinel packet: only marked ids (18) have one.
    pub(crate) fn check_sentinel(&self, marker: Marker) -> Verdict {
        if !is_marked(marker.id.into(), self.table.params.spacing) {
            return Verdict::Violation;
        }
        // Unlike a tombstone it takes nothing of the receive budget, as what is stale (Q2).
        match self.check_tombstone(marker) {
            Verdict::Violation => Verdict::Violation,
            Verdict::Begin | Verdict::Join(_) | Verdict::Stale => Verdict::Stale,
        }
    }

    /// Checks a tombstone.
    pub(crate) fn check_tombstone(&self, marker: Marker) -> Verdict {
        let params = &self.table.params;
        if marker.channel >= params.channels {
            return Verdict::Violation;
        }
        match self.table.get(marker.channel) {
            Some(made) => made.receiver.check_marker(marker, params),
            None => {
                let names = (marker.id, marker.dependency);
                receiver::check_first(names, params, self.table.first_id)
            }
        }
    }

    /// Whether `more` bytes can be kept: see [`ChannelTable::make_room`].
    #[inline]
    pub(crate) fn make_room(&mut self, more: u64, may_keep: u64) -> bool {
        self.table.make_room(more, may_keep)
    }

    /// The messages that are taken in from now on are those of this frame.
    pub(crate) const fn begin_frame(&mut self, id: u64) {
        self.frame = id;
    }

    /// Takes in a packet message that was checked.
    #[inline]
    pub(crate) fn on_packet(
        &mut self,
        packet: &Packet<&[u8]>,
        now: Instant,
        buffers: &mut Buffers,
    ) {
        let (channel, frame) = (packet.channel, self.frame);
        let Some((made, mut shared)) = self.table.get_mut(channel) else {
            return;
        };
        if packet.receipt {
            // From the first packet on that asks, FATES are told in place of WINDOW, from where the last
            // WINDOW ended.
            let (reported, base) = (made.reports.reported, made.receiver.base());
            let log = || FateLog::new(reported, base, shared.params).into();
            made.receiver.delivery.fates.get_or_insert_with(log);
        }
        let is_late = made
            .receiver
            .delivery
            .comes_too_late(packet.id, shared.params);
        (made.receiver).insert(packet, (frame, now), &mut shared, buffers);
        let due = made.receiver.delivery.partials.due();
        self.table.give_up_at = self.table.give_up_at.min(due);
        if is_late {
            // Without FATES at once the sender would take the acknowledgement for a delivery (D2).
            self.signals.wants_report(channel, &mut self.table);
        }
        self.has_arrived(channel);
    }

    /// Takes in a sentinel packet (§3.2.2).
    pub(crate) fn on_sentinel(&mut self, marker: Marker) {
        if let Some((made, mut shared)) = self.table.get_mut(marker.channel) {
            (made.receiver).insert_sentinel(marker, self.frame, &mut shared);
            self.has_arrived(marker.channel);
        }
    }

    /// Takes in a tombstone: a reliable or passive packet that is consumed as empty.
    pub(crate) fn on_tombstone(&mut self, marker: Marker) {
        if let Some((made, mut shared)) = self.table.get_mut(marker.channel) {
            (made.receiver).insert_tombstone(marker, self.frame, &mut shared);
            self.has_arrived(marker.channel);
        }
    }

    /// The remote host tells how far it has come.
    pub(crate) fn on_told(&mut self, channel: u8, number: u16, next: u32) {
        // A channel that was not made has asked nothing.
        if let Some((made, mut shared)) = self.table.made(channel) {
            made.receiver.told(number, next, &mut shared);
            self.has_arrived(channel);
        }
    }

    /// A frame is refused because a message of it cannot be true: what two frames have contradicted is
    /// forgotten, so that the next one is taken (Q13).
    pub(crate) fn on_refused(&mut self, frame: u64, messages: &[Message<&[u8]>]) {
        for message in messages {
            let Message::Packet(packet) = message else {
                continue;
            };
            // Nothing is kept of a channel that was not made: nothing to contradict.
            let Some((made, mut shared)) = self.table.made(packet.channel) else {
                continue;
            };
            if (made.receiver).on_contradiction(packet, frame, &mut shared) {
                self.has_arrived(packet.channel);
            }
        }
    }

    fn has_arrived(&mut self, channel: u8) {
        if self.table.has_arrived(channel) {
            self.signals.ask(channel);
        }
    }

    /// Consumes the next packet of any channel that can be delivered (§3.2.3). Channels take turns
    /// (`deviations.md` Q11).
    #[inline]
    pub(crate) fn receive(&mut self, now: Instant) -> Option<Delivered> {
        while let Some((channel, consumed)) = self.table.consume_next() {
            // Also if there was nothing to deliver: the window may have passed a sentinel.
            self.signals.prompt_report(channel, now, &mut self.table);
            if let Some((mode, payload)) = consumed {
                return Some((channel, mode, payload));
            }
        }
        None
    }

    /// What [`receive`](Self::receive) makes due: see [`Signals::pending`].
    pub(crate) fn reports(&self) -> (usize, Option<Instant>) {
        self.signals.pending()
    }

    /// Whether [`receive`](Self::receive) would deliver something.
    pub(crate) fn is_readable(&self) -> bool {
        self.table.is_readable()
    }

    /// How much has come of the oldest packet that came in part and that the remote host is believed to have
    /// sent.
    pub(crate) fn receive_progress(&self, channel: u8) -> Option<ReceiveProgress> {
        let receiver = &self.table.get(channel)?.receiver;
        let parts = (receiver.delivery.queue).first_partial(receiver.believed_end())?;
        Some(ReceiveProgress {
            len: parts.whole(),
            received: u32::try_from(parts.len()).unwrap_or(u32::MAX),
        })
    }
}

/// What the transfer layer sees of this one.
impl Source for Sequencing {
    fn has_signal(&self) -> bool {
        self.signals.are_due()
    }

    fn has_message(&mut self) -> bool {
        self.scheduler.has_message(&mut self.table)
    }

    fn next_signal(&mut self) -> Option<Control> {
        self.signals.next(self.scheduler.now, &mut self.table)
    }

    fn next_message(&mut self, priority: Priority, most: usize) -> Option<NextMessage> {
        self.scheduler.next_message(priority, most, &mut self.table)
    }

    fn kept(&self, part: &Packet<MessageBytes>) -> Option<&[u8]> {
        let made = self.table.get(part.channel)?;
        made.sender.kept(part, &self.table.params)
    }

    fn cut(&mut self, message: &Message<MessageBytes>) {
        let Message::Packet(packet) = message else {
            return;
        };
        if let Some((made, shared)) = self.table.get_mut(packet.channel) {
            made.sender.cut(packet.id, packet.part().0, shared.params);
        }
    }

    fn is_current(&self, message: &Message<MessageBytes>) -> bool {
        self.scheduler.is_current(message, &self.table)
    }

    fn skipped(&mut self, message: &Message<MessageBytes>) {
        self.scheduler.skipped(message, &mut self.table);
    }

    fn sent(&mut self, message: &Message<MessageBytes>) {
        self.scheduler.sent(message, &mut self.table);
    }

    fn acknowledged(&mut self, message: &Message<MessageBytes>) {
        match *message {
            Message::Packet(Packet {
                channel,
                id,
                mode,
                fragment,
                ..
            }) => {
                if let Some((made, mut shared)) = self.table.get_mut(channel) {
                    made.sender.acknowledged(id, fragment, &mut shared);
                }
                // Its arrival ends its charge to the remote's budget, and so may let a channel go on (Q2).
                if mode == Mode::Unreliable {
                    self.scheduler.unblock(&mut self.table);
                }
            }
            Message::Control(Control::Tombstone(Marker { channel, id, .. })) => {
                if let Some((made, mut shared)) = self.table.get_mut(channel) {
                    made.sender.buried(id, &mut shared);
                }
            }
            Message::Control(Control::Window { channel, id }) => {
                self.signals.is_reported(channel, id, &mut self.table);
            }
            Message::Control(_) => {}
        }
    }

    fn lost(&mut self, message: &Message<MessageBytes>) -> bool {
        match *message {
            Message::Packet(Packet { channel, id, .. }) => {
                let made = self.table.get_mut(channel);
                let matters =
                    made.is_some_and(|(made, mut shared)| made.sender.lost(id, &mut shared));
                self.scheduler.unblock(&mut self.table);
                return matters;
            }
            Message::Control(Control::Window { channel, id }) => {
                // Not repeated as it was: the newest report of the channel says more (§3.2.1).
                return self.signals.report_lost(channel, id, &mut self.table);
            }
            Message::Control(Control::Ask { channel, number }) => {
                // Under a new number, so that a late answer is not taken for one to the repeated question.
                self.signals.ask_again(channel, number, &mut self.table);
            }
            // Each packet is told of in one message only, so that a lost one is repeated as it was.
            Message::Control(control @ Control::Fates { .. }) => self.signals.repeat(control),
            // The remote host still waits: it is answered by what is true when the new answer leaves.
            Message::Control(Control::Told {
                channel, number, ..
            }) => self.signals.answer(channel, number),
            Message::Control(_) => {}
        }
        false
    }
}

/// Channel and id of the packet that a sent message belongs to.
const fn sent_packet(message: &Message<MessageBytes>) -> Option<(u8, u32)> {
    match *message {
        Message::Packet(Packet { channel, id, .. })
        | Message::Control(
            Control::Sentinel(Marker { channel, id, .. })
            | Control::Tombstone(Marker { channel, id, .. }),
        ) => Some((channel, id)),
        Message::Control(_) => None,
    }
}

/// Bytes that a packet takes of a budget: the charge for each packet makes short ones cost something.
pub(crate) fn cost(len: usize) -> u64 {
    len as u64 + u64::from(PACKET_CHARGE)
}
