//! The channels of a peer, each with its sending and its receiving half; what they count together; and in
//! which of them something arrived (§3.2).

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use bytes::Bytes;

use super::SequencingParams;
use super::promises::Receipts;
use super::receiver::Receiver;
use super::reports::Reports;
use super::scheduler::Lane;
use super::send_room::{Held, SendRoom, UNSETTLED};
use super::sender::Sender;
use crate::config::Channel as Settings;
use crate::frame::Mode;
use crate::hooks::work;
use crate::stats::QueueTime;
use crate::time::Instant;

/// Bytes and packets of all channels of a peer together. Bytes are those of [`cost`](super::cost).
#[derive(Debug, Default)]
pub(crate) struct Totals {
    /// Bytes charged to the remote's receive budget, until its window passes the packet.
    pub(crate) charged: u64,
    /// Bytes accepted by `send`, neither sent for good nor acknowledged.
    pub(crate) room: SendRoom,
    /// Reliable and passive packets that are not acknowledged.
    pub(crate) undelivered: u32,
    /// Packets that wait for their first fragment to be sent, or are being sent.
    pub(crate) unsent: u32,
    /// Bytes received and not yet consumed.
    pub(crate) kept: u64,
    /// Those of them that unreliable packets take.
    pub(crate) kept_unreliable: u64,
    /// Bytes consumed or skipped since all channels were last made to report.
    pub(crate) passed: u64,
    /// Packets that the remote window has passed, and whose receipts wait for the last word.
    pub(crate) unsettled: u32,
    /// Packets that waited too long to be sent, or to be sent again.
    pub(crate) expired: u64,
    /// Packets that a newer one with the same key took the place of.
    pub(crate) replaced: u64,
    /// Packets that the application cancelled.
    pub(crate) cancelled: u64,
    /// Incomplete unreliable packets that were given up.
    pub(crate) incomplete: u64,
    /// Complete unreliable packets that made room for others.
    pub(crate) evicted: u64,
    /// Ids that rings of receive queues were made for, or that packets leapt over: a measure of work.
    pub(crate) ring_ids: u64,
    pub(crate) receipts: Receipts,
    /// Channels and ids of packets that were given up, and whose bytes are still there.
    pub(super) given_up: Vec<(u8, u64)>,
}

impl Totals {
    /// Counts bytes that are kept of a packet.
    pub(super) fn keep(&mut self, mode: Mode, bytes: u64) {
        self.kept += bytes;
        if mode == Mode::Unreliable {
            self.kept_unreliable += bytes;
        }
    }

    /// Counts bytes that are no longer kept of a packet.
    pub(super) fn release(&mut self, mode: Mode, bytes: u64) {
        self.kept -= bytes;
        if mode == Mode::Unreliable {
            self.kept_unreliable -= bytes;
        }
    }

    /// Bytes that receipts take of the send budget: `told`, those of receipts that were not taken, and what
    /// is remembered of packets whose last word is not known.
    pub(super) fn receipts_cost(&self, told: u64) -> u64 {
        told + u64::from(self.unsettled) * UNSETTLED
    }
}

/// What a channel uses of its peer beside itself.
#[derive(Debug)]
pub(crate) struct Shared<'a> {
    pub(super) params: &'a SequencingParams,
    pub(super) totals: &'a mut Totals,
}

/// One channel of one peer.
#[derive(Debug)]
pub(crate) struct Channel {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    pub(crate) reports: Reports,
    pub(super) lane: Lane,
    pub(super) queue_time: QueueTime,
    /// True while it is in the scheduler's queues: it waits for its turn, or its cap holds it back.
    pub(crate) in_turn: bool,
    /// True while it is in the queue of channels that wait for room.
    pub(crate) blocked: bool,
    /// True while it is in the queue of channels in which something arrived.
    pub(crate) arrived: bool,
    /// True if something of that can be delivered: found anew after every change of the receiver.
    pub(crate) ready: bool,
}

impl Channel {
    pub(crate) fn new(
        params: &SequencingParams,
        settings: Settings,
        first_id: u64,
        age: Duration,
    ) -> Self {
        Self {
            sender: Sender::new(params.window, first_id, age),
            receiver: Receiver::new(first_id, settings.order),
            reports: Reports::new(first_id),
            queue_time: QueueTime::default(),
            lane: Lane::new(settings),
            in_turn: false,
            blocked: false,
            arrived: false,
            ready: false,
        }
    }

    /// Offers what can be delivered. To be called after the receiver has changed.
    pub(crate) fn look_again(
        &mut self,
        channel: u8,
        params: &SequencingParams,
        arrived: &mut VecDeque<u8>,
    ) {
        self.ready = self.receiver.is_ready(params);
        if self.ready && !core::mem::replace(&mut self.arrived, true) {
            arrived.push_back(channel);
        }
    }
}

/// All channels of a peer.
#[derive(Debug)]
pub(super) struct ChannelTable {
    pub(super) params: SequencingParams,
    /// What this host wants of each channel, from channel 0 on; channels beyond have the default.
    pub(super) settings: Box<[Settings]>,
    /// By channel. Each is made on first use, as most are never used.
    made: Vec<Option<Box<Channel>>>,
    pub(super) totals: Totals,
    /// Channels in which something arrived since they were last read empty.
    arrived: VecDeque<u8>,
    /// No incomplete packet is to be given up before this time.
    pub(super) give_up_at: Instant,
    /// How old an unreliable packet may become before it is begun.
    pub(super) age: Duration,
    pub(super) first_id: u64,
}

impl ChannelTable {
    pub(super) fn new(params: SequencingParams, first_id: u64, age: Duration) -> Self {
        let mut made = Vec::new();
        made.resize_with(usize::from(params.channels), || None);
        Self {
            params,
            settings: Box::default(),
            made,
            totals: Totals {
                room: SendRoom::new(params.send_budget, params.channels),
                ..Totals::default()
            },
            arrived: VecDeque::new(),
            give_up_at: Instant::NEVER,
            age,
            first_id,
        }
    }

    pub(super) fn get(&self, channel: u8) -> Option<&Channel> {
        self.made.get(usize::from(channel))?.as_deref()
    }

    /// A channel, if it was made.
    pub(super) fn made(&mut self, channel: u8) -> Option<(&mut Channel, Shared<'_>)> {
        let made = self.made.get_mut(usize::from(channel))?.as_deref_mut()?;
        let (params, totals) = (&self.params, &mut self.totals);
        Some((made, Shared { params, totals }))
    }

    /// A channel, which is made if it was not; none beyond the agreed ones.
    #[inline]
    pub(super) fn get_mut(&mut self, channel: u8) -> Option<(&mut Channel, Shared<'_>)> {
        let index = usize::from(channel);
        if self.made.get(index)?.is_none() {
            self.make(index);
        }
        self.made(channel)
    }

    /// Makes a channel. Apart from what is done for each message, as it is done once: a channel is a
    /// kilobyte, and to build one in each caller would take their stack and their registers.
    #[cold]
    #[inline(never)]
    fn make(&mut self, index: usize) {
        let settings = self.settings.get(index).copied().unwrap_or_default();
        let made = Channel::new(&self.params, settings, self.first_id, self.age);
        if let Some(slot) = self.made.get_mut(index) {
            *slot = Some(Box::new(made));
        }
    }

    /// The id that the next packet of a channel gets, and n_b.
    pub(super) fn next_and_base(&self, channel: u8) -> (u64, u64) {
        let made = self.get(channel);
        made.map_or((self.first_id, self.first_id), |made| {
            (made.sender.window.next_id(), made.sender.window.base())
        })
    }

    /// Bytes that a channel takes of the send budget.
    pub(super) fn held(&self, channel: u8) -> Held {
        let made = self.get(channel);
        made.map_or_else(Held::default, |made| made.sender.held)
    }

    #[cfg(any(test, feature = "audit"))]
    pub(super) fn iter(&self) -> impl Iterator<Item = (u8, &Channel)> {
        let made = (0..=u8::MAX).zip(&self.made);
        made.filter_map(|(channel, made)| Some((channel, made.as_deref()?)))
    }

    /// Offers a channel in which something has come to the application. Whether a question about suspects
    /// becomes due.
    #[inline]
    pub(super) fn has_arrived(&mut self, channel: u8) -> bool {
        let Some((made, shared)) = self.get_mut(channel) else {
            return false;
        };
        made.ready = made.receiver.is_ready(shared.params);
        let asks = made.receiver.wants_to_ask();
        if !core::mem::replace(&mut made.arrived, true) {
            self.arrived.push_back(channel);
        }
        asks
    }

    /// Offers what can be delivered. To be called after the receiver has changed without an arrival.
    pub(super) fn look_again(&mut self, channel: u8) {
        let made = self.made.get_mut(usize::from(channel));
        if let Some(made) = made.and_then(Option::as_deref_mut) {
            made.look_again(channel, &self.params, &mut self.arrived);
        }
    }

    /// Consumes the next packet of the next channel that has one (§3.2.3), which then waits for the
    /// others (`deviations.md` Q11): the channel, and the packet unless there was less to deliver than
    /// it seemed.
    #[inline]
    pub(super) fn consume_next(&mut self) -> Option<(u8, Option<(Mode, Bytes)>)> {
        while let Some(channel) = self.arrived.pop_front() {
            work::count(1);
            let (made, mut shared) = self.get_mut(channel)?;
            // Offered, but not ready: what has come waits for something, or has made room since.
            made.arrived = made.ready;
            if !made.ready {
                continue;
            }
            let consumed = made.receiver.consume(&mut shared);
            made.ready = made.receiver.is_ready(shared.params);
            made.arrived = consumed.is_some();
            if made.arrived {
                // Behind the others, so that a channel with many packets holds none of them up (Q11).
                self.arrived.push_back(channel);
            }
            return Some((channel, consumed));
        }
        None
    }

    /// Whether some channel has a packet to be consumed.
    pub(super) fn is_readable(&self) -> bool {
        work::count(self.arrived.len() as u64);
        let front = |&channel: &u8| self.get(channel).is_some_and(|made| made.ready);
        self.arrived.iter().any(front)
    }

    /// Whether `more` bytes can be kept. Unreliable packets make room if they must, and stay if that would
    /// not be enough. `may_keep`: bytes that the host has for this peer.
    #[inline]
    pub(super) fn make_room(&mut self, more: u64, may_keep: u64) -> bool {
        let budget = self.params.receive_budget.min(may_keep);
        let Some(kept) = budget.checked_sub(more) else {
            return false;
        };
        // Reliable and passive packets are acknowledged, and never make room. If they alone take too much,
        // nothing is thrown out: the datagram is refused anyway.
        if self.totals.kept.saturating_sub(kept) > self.totals.kept_unreliable {
            return false;
        }
        // Incomplete ones first: they may never be complete.
        for complete in [false, true] {
            for (channel, made) in (0..=u8::MAX).zip(&mut self.made) {
                if self.totals.kept <= kept {
                    return true;
                }
                work::count(1);
                let Some(made) = made else { continue };
                let delivery = &mut made.receiver.delivery;
                // A packet that waited behind one of these may be deliverable now.
                if delivery.evict(complete, kept, &mut self.totals) {
                    made.look_again(channel, &self.params, &mut self.arrived);
                }
            }
        }
        self.totals.kept <= kept
    }

    /// Gives up the incomplete packets whose time has come (`docs/deviations.md` Q10).
    pub(super) fn give_up_overdue(&mut self, now: Instant) {
        if self.give_up_at > now {
            return;
        }
        // It was noted when a fragment came, and later ones may have put it off: each channel says anew.
        self.give_up_at = Instant::NEVER;
        for (channel, made) in (0..=u8::MAX).zip(&mut self.made) {
            work::count(1);
            let Some(made) = made else { continue };
            let delivery = &mut made.receiver.delivery;
            let any = delivery.give_up_overdue(&mut self.totals, now);
            self.give_up_at = self.give_up_at.min(delivery.partials.due());
            // As in `make_room`: what waited behind them may be deliverable now.
            if any {
                made.look_again(channel, &self.params, &mut self.arrived);
            }
        }
    }

    /// The connection has ended: tells receipts of what can no longer arrive, and offers to the application
    /// what was held back because others might come before it.
    pub(super) fn close(&mut self) {
        for (channel, made) in (0..=u8::MAX).zip(&mut self.made) {
            let Some(made) = made else { continue };
            made.sender.close(&mut self.totals);
            // Before the look: suspects can be delivered once they are believed.
            made.receiver.believe_all();
            made.look_again(channel, &self.params, &mut self.arrived);
        }
    }
}
