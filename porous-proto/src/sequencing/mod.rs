//! §3.2: the sequencing layer. Channel objects turn packets into messages and back, in order, and
//! know nothing of frames.

mod ageing;
mod asking;
#[cfg(any(test, feature = "audit"))]
mod audit;
mod backlog;
mod channel;
mod check;
mod delivery;
mod entry;
mod fates;
mod lanes;
mod promises;
mod receive_queue;
mod receiver;
mod reports;
mod room;
mod rules;
mod send_room;
mod sender;
#[cfg(test)]
mod tests;
mod transfer_window;
mod trust;
mod turns;
mod window_ack;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use bytes::Bytes;

use self::ageing::Ageing;
use self::asking::Asking;
use self::channel::Channel;
use self::fates::{Passed, Repeated};
use self::lanes::Lanes;
pub(crate) use self::promises::{Receipt, Receipts};
pub(crate) use self::receiver::Verdict;
use self::send_room::{Refusal, SendRoom};
use crate::config::{Channel as Settings, Policy, Priority};
use crate::frame::{Channels, Control, Message, Mode, PACKET_CHARGE, Packet};
use crate::options::SendOptions;
use crate::progress::{ReceiveProgress, SendProgress};
use crate::time::Instant;
use crate::work;

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

/// Bytes and packets of all channels together.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    /// Charged to the remote's receive budget, until its window passes the packet.
    pub(crate) charged: u64,
    /// Accepted by `send`, neither sent for good nor acknowledged.
    pub(crate) room: SendRoom,
    /// Reliable and passive packets that are not acknowledged.
    pub(crate) undelivered: u32,
    /// Packets that wait for their first fragment to be sent, or are being sent.
    pub(crate) unsent: u32,
    /// Received and not yet consumed.
    pub(crate) kept: u64,
    /// Of those, what unreliable packets take.
    pub(crate) kept_unreliable: u64,
    /// Consumed or skipped since a window acknowledgement was last prompted.
    pub(crate) passed: u64,
    /// Packets that were passed, with receipts whose last word is not known yet.
    pub(crate) unsettled: u32,
    /// Packets that waited too long to be sent, or to be sent again.
    pub(crate) expired: u64,
    /// Packets that a newer one with the same key took the place of.
    pub(crate) replaced: u64,
    pub(crate) cancelled: u64,
    /// Incomplete unreliable packets that were given up.
    pub(crate) incomplete: u64,
    /// Complete ones that made room for others.
    pub(crate) evicted: u64,
    /// The ids that rings of receive queues were made for, or that packets leapt over.
    pub(crate) ring_ids: u64,
    pub(crate) receipts: Receipts,
}

/// The sequencing layer of one peer.
#[derive(Debug)]
pub(crate) struct Sequencing {
    params: SequencingParams,
    /// What this host wants of each channel; of those that have none here, the default.
    settings: Box<[Settings]>,
    /// Made on first use.
    channels: Vec<Option<Box<Channel>>>,
    totals: Totals,
    /// Channels with something to send (`docs/deviations.md` T21, Q15).
    lanes: Lanes,
    /// Channels that wait for room in their window or in the remote's budget.
    blocked: VecDeque<u8>,
    /// Channels in which something arrived since they were last read empty.
    arrived: VecDeque<u8>,
    /// Channels whose window acknowledgement is due.
    reports: VecDeque<u8>,
    /// FATES that were lost.
    repeated: Repeated,
    /// Since when some channel has passed packets without reporting.
    unreported_since: Option<Instant>,
    /// No incomplete packet is to be given up before this.
    give_up_at: Instant,
    ageing: Ageing,
    asking: Asking,
    /// Packets that found no room, since the application was last told that there is some.
    refusals: Vec<Refusal>,
    first_id: u64,
}

impl Sequencing {
    /// Both hosts' ids start at 0 (`docs/deviations.md` Q12); tests start elsewhere. Unreliable
    /// packets that are older than `age` are not sent.
    pub(crate) fn new(params: SequencingParams, first_id: u64, age: Duration) -> Self {
        let mut channels = Vec::new();
        channels.resize_with(usize::from(params.channels), || None);
        Self {
            params,
            settings: Box::default(),
            channels,
            totals: Totals {
                room: SendRoom::new(params.send_budget, params.channels),
                ..Totals::default()
            },
            lanes: Lanes::new(params.policy),
            blocked: VecDeque::new(),
            arrived: VecDeque::new(),
            reports: VecDeque::new(),
            repeated: Repeated::default(),
            unreported_since: None,
            give_up_at: Instant::NEVER,
            ageing: Ageing::new(age),
            asking: Asking::new(),
            refusals: Vec::new(),
            first_id,
        }
    }

    /// With settings of each channel; those of the others are the default.
    pub(crate) fn with_channels(mut self, settings: &[Settings]) -> Self {
        self.settings = settings.into();
        self
    }

    pub(crate) const fn totals(&self) -> &Totals {
        &self.totals
    }

    fn get(&self, channel: u8) -> Option<&Channel> {
        self.channels.get(usize::from(channel))?.as_deref()
    }

    fn get_mut(&mut self, channel: u8) -> Option<(&mut Channel, &SequencingParams, &mut Totals)> {
        let slot = self.channels.get_mut(usize::from(channel))?;
        let (first, params, age) = (self.first_id, &self.params, self.ageing.age);
        let settings = self.settings.get(usize::from(channel)).copied();
        let make = || {
            Box::new(Channel::new(
                params,
                settings.unwrap_or_default(),
                first,
                age,
            ))
        };
        let made = slot.get_or_insert_with(make);
        Some((made, params, &mut self.totals))
    }

    // Sending.

    /// Queues a packet. The caller has checked the channel, the length and the send budget.
    pub(crate) fn send(&mut self, channel: u8, payload: Bytes, options: impl Into<SendOptions>) {
        let options = options.into();
        let Some((made, _, totals)) = self.get_mut(channel) else {
            return;
        };
        made.sender.queue(payload, options, totals);
        self.ageing.fresh = true;
        self.wants_turn(channel);
    }

    /// Whether a message that waits is still of use: its packet has not been passed by the receive
    /// window (`docs/deviations.md` Q9), is not too old to be begun (T8), and was not given up (D1).
    pub(crate) fn is_current(&self, message: &Message<Bytes>) -> bool {
        match sent_packet(message) {
            Some((channel, id)) => {
                self.get(channel)
                    .is_some_and(|made| made.sender.is_current(id, &self.params))
                    && !self.is_given_up(message)
            }
            None => true,
        }
    }

    /// The message was cut off another one, which ends where it begins.
    pub(crate) fn cut(&mut self, message: &Message<Bytes>) {
        let Message::Packet(packet) = message else {
            return;
        };
        if let Some((made, params, _)) = self.get_mut(packet.channel) {
            made.sender.cut(packet.id, packet.part().0, params);
        }
    }

    /// How far the oldest packet with this receipt has come, until that is told.
    pub(crate) fn send_progress(&self, channel: u8, token: u64) -> Option<SendProgress> {
        self.get(channel)?.sender.progress(token)
    }

    /// How much has come of the oldest packet that came in part, and is no suspect.
    pub(crate) fn receive_progress(&self, channel: u8) -> Option<ReceiveProgress> {
        let receiver = &self.get(channel)?.receiver;
        let parts = receiver
            .delivery
            .queue
            .first_partial(receiver.believed_end())?;
        Some(ReceiveProgress {
            len: parts.whole(),
            received: u32::try_from(parts.len()).unwrap_or(u32::MAX),
        })
    }

    /// A message arrived at the remote host.
    pub(crate) fn acknowledged(&mut self, message: &Message<Bytes>) {
        match *message {
            Message::Packet(Packet {
                channel,
                id,
                mode,
                fragment,
                ..
            }) => {
                if let Some((made, params, totals)) = self.get_mut(channel) {
                    made.sender.acknowledged(id, fragment, params, totals);
                }
                if mode == Mode::Unreliable {
                    self.unblock_senders();
                }
            }
            Message::Control(Control::Tombstone { channel, id, .. }) => {
                if let Some((made, params, totals)) = self.get_mut(channel) {
                    made.sender.buried(id, params, totals);
                }
            }
            Message::Control(Control::Window { channel, id }) => self.is_reported(channel, id),
            Message::Control(_) => {}
        }
    }

    /// A message that is not sent again was dropped. Whether it matters if it arrives nevertheless.
    pub(crate) fn lost(&mut self, message: &Message<Bytes>) -> bool {
        let mut matters = false;
        match *message {
            Message::Packet(Packet { channel, id, .. }) => {
                if let Some((made, params, totals)) = self.get_mut(channel) {
                    matters = made.sender.lost(id, params, totals);
                }
                self.unblock_senders();
            }
            Message::Control(Control::Window { channel, id }) => {
                if let Some((made, ..)) = self.get_mut(channel) {
                    matters = made.reports.is_newest(id);
                    if matters {
                        self.wants_report(channel);
                    }
                }
            }
            Message::Control(Control::Ask { channel, number }) => self.ask_again(channel, number),
            Message::Control(control @ Control::Fates { .. }) => self.repeated.push(control),
            // Nobody has heard the answer.
            Message::Control(Control::Told {
                channel, number, ..
            }) => self.on_ask(channel, number),
            Message::Control(_) => {}
        }
        matters
    }

    /// The remote receive window passed the packet `id`: Q_t moves on (16).
    pub(crate) fn on_window(&mut self, channel: u8, id: u32) {
        if let Some((made, _, totals)) = self.get_mut(channel) {
            if let Some(id) = window_ack::expand(id, made.sender.base()) {
                made.sender.advance_past(id, Passed::Unseen, totals);
            }
        }
        self.unblock_senders();
    }

    /// Room appeared in a window or in the remote's budget: whoever waited gets a turn.
    fn unblock_senders(&mut self) {
        while let Some(channel) = self.blocked.pop_front() {
            work::count(1);
            if let Some((made, ..)) = self.get_mut(channel) {
                made.blocked = false;
            }
            self.wants_turn(channel);
        }
    }

    /// Cancels the packets with this receipt: whether there were any.
    pub(crate) fn cancel(&mut self, channel: u8, token: u64) -> bool {
        let Some(Some(made)) = self.channels.get_mut(usize::from(channel)) else {
            return false;
        };
        let any = made
            .sender
            .cancel(channel, token, &self.params, &mut self.totals);
        if any {
            self.wants_turn(channel);
            self.unblock_senders();
        }
        any
    }

    /// The next receipt that is to be told.
    pub(crate) fn next_receipt(&mut self) -> Option<Receipt> {
        self.totals.receipts.pop()
    }

    /// The connection has ended: what is open is lost, and what has come of packets is no longer held
    /// back because others may come before them. All receipts that are to be told.
    pub(crate) fn close(&mut self) -> Receipts {
        for (channel, made) in (0..=u8::MAX).zip(&mut self.channels) {
            let Some(made) = made else { continue };
            made.sender.close(&mut self.totals);
            made.receiver.believe_all();
            made.look_again(channel, &self.params, &mut self.arrived);
        }
        core::mem::take(&mut self.totals.receipts)
    }

    // Receiving.

    /// Takes in a packet message that was checked.
    pub(crate) fn on_packet(&mut self, packet: &Packet<&[u8]>, now: Instant) {
        let (channel, frame) = (packet.channel, self.asking.frame);
        if packet.receipt {
            self.begin_fates(channel);
        }
        let Some((made, params, totals)) = self.get_mut(channel) else {
            return;
        };
        let is_late = made.receiver.delivery.comes_too_late(packet.id, params);
        made.receiver.insert(packet, frame, params, (totals, now));
        let due = made.receiver.delivery.partials.due();
        self.give_up_at = self.give_up_at.min(due);
        if is_late {
            // The acknowledgement alone would say that it was delivered.
            self.wants_report(channel);
        }
        self.has_arrived(channel);
    }

    /// Takes in a sentinel packet (§3.2.2).
    pub(crate) fn on_sentinel(&mut self, channel: u8, id: u32, dependency: u32) {
        let frame = self.asking.frame;
        let Some((made, params, totals)) = self.get_mut(channel) else {
            return;
        };
        made.receiver
            .insert_sentinel((id, dependency), frame, params, totals);
        self.has_arrived(channel);
    }

    /// Takes in a tombstone: a reliable or passive packet that is consumed as empty.
    pub(crate) fn on_tombstone(&mut self, channel: u8, id: u32, dependency: u32) {
        let frame = self.asking.frame;
        let Some((made, params, totals)) = self.get_mut(channel) else {
            return;
        };
        made.receiver
            .insert_tombstone((id, dependency), frame, params, totals);
        self.has_arrived(channel);
    }

    /// A frame is refused, because a message of it cannot be: what has been contradicted by two frames is
    /// forgotten, so that the next one is taken.
    pub(crate) fn on_refused(&mut self, frame: u64, messages: &[Message<&[u8]>]) {
        for message in messages {
            let Message::Packet(packet) = message else {
                continue;
            };
            if self.get(packet.channel).is_none() {
                continue;
            }
            let Some((made, params, totals)) = self.get_mut(packet.channel) else {
                continue;
            };
            if (made.receiver).on_contradiction(packet, frame, params, totals) {
                self.has_arrived(packet.channel);
            }
        }
    }

    fn has_arrived(&mut self, channel: u8) {
        if let Some((made, params, _)) = self.get_mut(channel) {
            made.ready = made.receiver.is_ready(params);
            let asks = made.receiver.wants_to_ask();
            if !core::mem::replace(&mut made.arrived, true) {
                self.arrived.push_back(channel);
            }
            if asks {
                self.asking.ask(channel);
            }
        }
    }

    /// Consumes the next packet of any channel that can be delivered (§3.2.3). Channels take
    /// turns (`deviations.md` Q11).
    pub(crate) fn receive(&mut self, now: Instant) -> Option<Delivered> {
        while let Some(channel) = self.arrived.pop_front() {
            work::count(1);
            let (made, params, totals) = self.get_mut(channel)?;
            made.arrived = made.ready;
            if !made.ready {
                continue;
            }
            let consumed = made.receiver.consume(params, totals);
            made.ready = made.receiver.is_ready(params);
            made.arrived = consumed.is_some();
            if made.arrived {
                self.arrived.push_back(channel);
            }
            self.prompt_report(channel, now);
            if let Some((mode, payload)) = consumed {
                return Some((channel, mode, payload));
            }
        }
        None
    }

    /// Whether [`receive`](Self::receive) would deliver something.
    pub(crate) fn is_readable(&self) -> bool {
        work::count(self.arrived.len() as u64);
        let front = |&channel: &u8| self.get(channel).is_some_and(|made| made.ready);
        self.arrived.iter().any(front)
    }
}

/// Channel and id of the packet that a sent message belongs to.
const fn sent_packet(message: &Message<Bytes>) -> Option<(u8, u32)> {
    match *message {
        Message::Packet(Packet { channel, id, .. })
        | Message::Control(
            Control::Sentinel { channel, id, .. } | Control::Tombstone { channel, id, .. },
        ) => Some((channel, id)),
        Message::Control(_) => None,
    }
}

/// What a packet costs of a budget.
pub(crate) fn cost(len: usize) -> u64 {
    len as u64 + u64::from(PACKET_CHARGE)
}
