//! §3.2: the sequencing layer. Channel objects turn packets into messages and back, in order, and
//! know nothing of frames.

#[cfg(any(test, feature = "audit"))]
mod audit;
mod backlog;
mod channels;
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
use crate::config::{Channel as Settings, Policy, Priority};
use crate::frame::{Channels, Control, Fates, Marker, Message, Mode, PACKET_CHARGE, Packet};
#[cfg(any(test, feature = "audit"))]
use crate::hooks::audit::Audit;
use crate::options::SendOptions;
use crate::progress::{ReceiveProgress, SendProgress};
use crate::serial;
use crate::source::{NextMessage, Source};
use crate::stats::ChannelStats;
use crate::time::Instant;

/// What both hosts agreed on, as far as this layer needs it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SequencingParams {
    pub(crate) channels: u8,
    /// With which priority we send on each channel.
    pub(crate) priorities: Channels,
    /// How channels of a priority share.
    pub(crate) policy: Policy,
    /// N_Q.
    pub(crate) window: u64,
    /// M: N_Q / 8 (§3.2.1).
    pub(crate) spacing: u64,
    /// 16 or 24: Y of (16) and (17) is two to the power of this.
    pub(crate) id_bits: u32,
    pub(crate) max_packet: u32,
    /// What the remote host keeps for us at most.
    pub(crate) remote_budget: u64,
    /// What we keep for the remote host at most.
    pub(crate) receive_budget: u64,
    /// What may wait to be sent or acknowledged.
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
    /// The id of the frame whose messages are taken in.
    frame: u64,
}

impl Sequencing {
    /// Both hosts' ids start at 0 (`docs/deviations.md` Q12); tests start elsewhere. Unreliable
    /// packets that are older than `age` are not sent.
    pub(crate) fn new(params: SequencingParams, first_id: u64, age: Duration) -> Self {
        Self {
            table: ChannelTable::new(params, first_id, age),
            scheduler: Scheduler::new(params.policy),
            signals: Signals::new(),
            frame: 0,
        }
    }

    /// With settings of each channel; those of the others are the default.
    pub(crate) fn with_channels(mut self, settings: &[Settings]) -> Self {
        self.table.settings = settings.into();
        self
    }

    pub(crate) const fn totals(&self) -> &Totals {
        &self.table.totals
    }

    /// The books of the layer. No message counts more than `longest`.
    #[cfg(any(test, feature = "audit"))]
    pub(crate) fn audit(&self, audit: &mut Audit, longest: u64) {
        audit::check(&self.table, &self.scheduler, audit, longest);
    }

    // Time.

    /// The host looks what is to be done: see [`Scheduler::look`].
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

    /// When [`handle_timeout`](Self::handle_timeout) has something to do: packets that were passed are
    /// to be reported, incomplete ones given up or expired ones dropped, an answer may be sent, or a
    /// channel that its cap holds back.
    pub(crate) fn deadline(&self) -> Instant {
        (self.signals.report_deadline())
            .min(self.signals.answer_deadline())
            .min(self.table.give_up_at)
            .min(self.scheduler.expiry)
            .min(self.scheduler.lanes.due())
    }

    // Sending.

    /// Whether the send budget has room for a packet, beside `receipts` bytes for receipts that were
    /// not taken. If not, that is remembered: see [`has_new_room`](Self::has_new_room).
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

    /// Whether a packet was refused that fits now, where half of the room is free again.
    pub(crate) fn has_new_room(&self, receipts: u64) -> bool {
        let totals = &self.table.totals;
        let held = |channel| self.table.held(channel);
        totals
            .room
            .has_new_room(held, totals.receipts_cost(receipts))
    }

    /// The application is told that there is room.
    pub(crate) fn forget_refusals(&mut self) {
        self.table.totals.room.forget_refusals();
    }

    /// Queues a packet. The caller has checked the channel, the length and the send budget.
    pub(crate) fn send(&mut self, channel: u8, payload: Bytes, options: impl Into<SendOptions>) {
        let options = options.into();
        let Some((made, shared)) = self.table.get_mut(channel) else {
            return;
        };
        made.sender.queue(payload, options, shared.totals);
        self.scheduler.queued(channel, &mut self.table);
    }

    /// Changes the cap of a channel.
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
            self.scheduler.wants_turn(channel, &mut self.table);
            self.scheduler.unblock(&mut self.table);
        }
        any
    }

    /// The next receipt that is to be told.
    pub(crate) fn next_receipt(&mut self) -> Option<Receipt> {
        self.table.totals.receipts.pop()
    }

    /// The connection has ended. All receipts that are to be told.
    pub(crate) fn close(&mut self) -> Receipts {
        self.table.close();
        core::mem::take(&mut self.table.totals.receipts)
    }

    /// Checks a window acknowledgement: false if it names a packet that was never sent
    /// (`docs/deviations.md` Q8), and that no single forged frame can have made the remote host believe in.
    pub(crate) fn check_window(&self, channel: u8, id: u32) -> bool {
        let (next, base) = self.table.next_and_base(channel);
        let end = next + forgeable(self.table.params.window);
        expand_report(id, base).is_none_or(|id| id < end)
    }

    /// The remote receive window passed the packet `id`: Q_t moves on (16).
    pub(crate) fn on_window(&mut self, channel: u8, id: u32) {
        if let Some((made, shared)) = self.table.get_mut(channel) {
            if let Some(id) = expand_report(id, made.sender.window.base()) {
                made.sender.advance_past(id, Passed::Unseen, shared.totals);
            }
        }
        self.scheduler.unblock(&mut self.table);
    }

    /// The remote receive window passed the packet `id`: what became of those before it.
    pub(crate) fn on_fates(&mut self, channel: u8, id: u32, fates: Fates) {
        const HALF: u64 = 1 << 31;
        if let Some((made, shared)) = self.table.get_mut(channel) {
            if let Some(id) = serial::expand(id, 32, made.sender.window.base(), HALF) {
                made.sender.on_fates(id, fates, shared.totals);
            }
        }
        self.scheduler.unblock(&mut self.table);
    }

    /// The remote host asks how far we have come on a channel.
    pub(crate) fn on_ask(&mut self, channel: u8, number: u16) {
        self.signals.answer(channel, number);
    }

    /// How far the oldest packet with this receipt has come, until that is told.
    pub(crate) fn send_progress(&self, channel: u8, token: u64) -> Option<SendProgress> {
        self.table.get(channel)?.sender.progress(token)
    }

    pub(crate) fn channel_stats(&self, channel: u8) -> ChannelStats {
        let made = self.table.get(channel);
        made.map_or_else(ChannelStats::default, |made| ChannelStats {
            queue_time: made.queue_time.smoothed(),
            queue_time_longest: made.queue_time.longest(),
            waiting: made.sender.waiting_count(),
        })
    }

    // Receiving.

    /// Checks a packet message against what is known, without changing anything.
    pub(crate) fn check_packet(&self, packet: &Packet<&[u8]>) -> Verdict {
        let params = &self.table.params;
        if packet.channel >= params.channels || packet.part().1 > params.max_packet {
            return Verdict::Violation;
        }
        match self.table.get(packet.channel) {
            Some(made) => made.receiver.check(packet, params),
            None => receiver::check_first(packet, params, self.table.first_id),
        }
    }

    /// Checks a sentinel packet: only marked ids (18) have one.
    pub(crate) fn check_sentinel(&self, marker: Marker) -> Verdict {
        let params = &self.table.params;
        if marker.channel < params.channels && is_marked(marker.id.into(), params.spacing) {
            Verdict::Stale
        } else {
            Verdict::Violation
        }
    }

    /// Checks a tombstone.
    pub(crate) fn check_tombstone(&self, marker: Marker) -> Verdict {
        let params = &self.table.params;
        if marker.channel >= params.channels {
            return Verdict::Violation;
        }
        match self.table.get(marker.channel) {
            Some(made) => made.receiver.check_tombstone(marker.id, params),
            None => Verdict::Begin,
        }
    }

    /// Whether `more` bytes can be kept: see [`ChannelTable::make_room`].
    pub(crate) fn make_room(&mut self, more: u64, may_keep: u64) -> bool {
        self.table.make_room(more, may_keep)
    }

    /// The messages that come next are those of this frame.
    pub(crate) const fn begin_frame(&mut self, id: u64) {
        self.frame = id;
    }

    /// Takes in a packet message that was checked.
    pub(crate) fn on_packet(&mut self, packet: &Packet<&[u8]>, now: Instant) {
        let (channel, frame) = (packet.channel, self.frame);
        let Some((made, mut shared)) = self.table.get_mut(channel) else {
            return;
        };
        if packet.receipt {
            // The fates of this channel are told from now on.
            let (reported, base) = (made.reports.reported, made.receiver.base());
            let log = || FateLog::new(reported, base, shared.params).into();
            made.receiver.delivery.fates.get_or_insert_with(log);
        }
        let is_late = made
            .receiver
            .delivery
            .comes_too_late(packet.id, shared.params);
        made.receiver.insert(packet, frame, now, &mut shared);
        let due = made.receiver.delivery.partials.due();
        self.table.give_up_at = self.table.give_up_at.min(due);
        if is_late {
            // The acknowledgement alone would say that it was delivered.
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
        if let Some((made, mut shared)) = self.table.made(channel) {
            made.receiver.told(number, next, &mut shared);
            self.has_arrived(channel);
        }
    }

    /// A frame is refused, because a message of it cannot be: what has been contradicted by two frames is
    /// forgotten, so that the next one is taken.
    pub(crate) fn on_refused(&mut self, frame: u64, messages: &[Message<&[u8]>]) {
        for message in messages {
            let Message::Packet(packet) = message else {
                continue;
            };
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

    /// Consumes the next packet of any channel that can be delivered (§3.2.3). Channels take
    /// turns (`deviations.md` Q11).
    pub(crate) fn receive(&mut self, now: Instant) -> Option<Delivered> {
        while let Some((channel, consumed)) = self.table.consume_next() {
            self.signals.prompt_report(channel, now, &mut self.table);
            if let Some((mode, payload)) = consumed {
                return Some((channel, mode, payload));
            }
        }
        None
    }

    /// Whether [`receive`](Self::receive) would deliver something.
    pub(crate) fn is_readable(&self) -> bool {
        self.table.is_readable()
    }

    /// How much has come of the oldest packet that came in part, and is no suspect.
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
    fn next_signal(&mut self) -> Option<Control> {
        self.signals.next(self.scheduler.now, &mut self.table)
    }

    fn next_message(&mut self, priority: Priority, most: usize) -> Option<NextMessage> {
        self.scheduler.next_message(priority, most, &mut self.table)
    }

    fn cut(&mut self, message: &Message<Bytes>) {
        let Message::Packet(packet) = message else {
            return;
        };
        if let Some((made, shared)) = self.table.get_mut(packet.channel) {
            made.sender.cut(packet.id, packet.part().0, shared.params);
        }
    }

    fn is_current(&self, message: &Message<Bytes>) -> bool {
        self.scheduler.is_current(message, &self.table)
    }

    fn skipped(&mut self, message: &Message<Bytes>) {
        self.scheduler.skipped(message, &mut self.table);
    }

    fn sent(&mut self, message: &Message<Bytes>) {
        self.scheduler.sent(message, &mut self.table);
    }

    fn acknowledged(&mut self, message: &Message<Bytes>) {
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

    fn lost(&mut self, message: &Message<Bytes>) -> bool {
        match *message {
            Message::Packet(Packet { channel, id, .. }) => {
                let made = self.table.get_mut(channel);
                let matters =
                    made.is_some_and(|(made, mut shared)| made.sender.lost(id, &mut shared));
                self.scheduler.unblock(&mut self.table);
                return matters;
            }
            Message::Control(Control::Window { channel, id }) => {
                return self.signals.report_lost(channel, id, &mut self.table);
            }
            Message::Control(Control::Ask { channel, number }) => {
                self.signals.ask_again(channel, number, &mut self.table);
            }
            Message::Control(control @ Control::Fates { .. }) => self.signals.repeat(control),
            // Nobody has heard the answer.
            Message::Control(Control::Told {
                channel, number, ..
            }) => self.signals.answer(channel, number),
            Message::Control(_) => {}
        }
        false
    }
}

/// Channel and id of the packet that a sent message belongs to.
const fn sent_packet(message: &Message<Bytes>) -> Option<(u8, u32)> {
    match *message {
        Message::Packet(Packet { channel, id, .. })
        | Message::Control(
            Control::Sentinel(Marker { channel, id, .. })
            | Control::Tombstone(Marker { channel, id, .. }),
        ) => Some((channel, id)),
        Message::Control(_) => None,
    }
}

/// What a packet costs of a budget.
pub(crate) fn cost(len: usize) -> u64 {
    len as u64 + u64::from(PACKET_CHARGE)
}
