//! Which channel sends next, and which packets expire while they wait for it.
//!
//! Inside a priority (`docs/deviations.md` T21, Q15, P10), channels take turns by message under the
//! paper's policy; under the modern one they share by weight, in bytes. The sharing is start-time fair
//! queueing (Goyal, Vin, Cheng 1996): the channel goes first whose last message ended first, on a clock
//! on which a byte takes 1 / weight. Bytes are shared as by deficit round robin, but a turn is as short
//! as can be, however large the weights are. But messages of one channel in a row are shorter on the wire
//! than those that alternate (`docs/wire.md`): so a turn is one message, or several small ones.
//!
//! Packets that wait too long are dropped where they wait: unreliable ones (`docs/deviations.md` T8),
//! and those whose time to live is over (`docs/deviations.md` D1).

use alloc::collections::{BinaryHeap, VecDeque};
use core::cmp::Reverse;

use super::backlog::end;
use super::channels::{Channel, ChannelTable};
use super::sent_packet;
use crate::bucket::Bucket;
use crate::config::{Channel as Settings, Policy, Priority};
use crate::frame::{Length, Message, Mode};
use crate::hooks::work;
use crate::source::{MessageBytes, NextMessage};
use crate::time::Instant;

/// What a byte takes on the clock of a channel of weight 1. It is large, so that division by a weight, 255 at
/// most, loses next to nothing.
const BYTE: u64 = 1 << 16;

/// Bytes that a message counts beside its payload: about those of its head and fields.
const HEAD: u64 = 8;

/// Bytes that end a turn: it goes on until its messages count this much.
const TURN: u64 = 256;

/// Bytes that a message counts, for shares and caps.
fn cost<P: Length>(message: &Message<P>) -> u64 {
    match message {
        Message::Packet(packet) => packet.payload.length() as u64 + HEAD,
        Message::Control(_) => HEAD,
    }
}

/// What the scheduler knows of a channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lane {
    weight: u8,
    /// When its last message ends, on the clock of its priority, where a byte of weight 1 takes [`BYTE`].
    end: u64,
    bucket: Bucket,
}

impl Lane {
    pub(super) const fn new(settings: Settings) -> Self {
        Self {
            weight: settings.weight,
            end: 0,
            bucket: Bucket::new(settings.rate),
        }
    }
}

#[cfg(any(test, feature = "audit"))]
impl Lane {
    pub(super) fn audit(&self, longest: u64) {
        self.bucket.audit(longest);
    }
}

/// A channel that waits for its turn: the least is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    /// When its last message ended, on the clock of its priority.
    start: u64,
    /// A running number: among those with the same start the one that came first is next.
    number: u64,
    channel: u8,
}

/// The channels of a priority that have something to send.
#[derive(Debug, Default)]
struct Level {
    turns: BinaryHeap<Reverse<Turn>>,
    /// The channel that goes on with its turn, and the bytes that are left of it.
    current: Option<Turn>,
    left: u64,
    /// When the latest message began: the time of this priority's clock, which moves as bytes leave.
    clock: u64,
}

/// The queues of all channels with something to send.
#[derive(Debug)]
pub(super) struct Lanes {
    policy: Policy,
    levels: [Level; 2],
    next_number: u64,
    /// Channels that their cap holds back, and until when.
    held: BinaryHeap<Reverse<(Instant, u8)>>,
}

impl Lanes {
    fn new(policy: Policy) -> Self {
        Self {
            policy,
            levels: [Level::default(), Level::default()],
            next_number: 0,
            held: BinaryHeap::new(),
        }
    }

    /// The channel waits for its turn: the one that sent longest ago goes first.
    fn push(&mut self, priority: Priority, channel: u8, lane: &Lane) {
        let turn = self.turn(channel, lane);
        self.levels[priority as usize].turns.push(Reverse(turn));
    }

    fn turn(&mut self, channel: u8, lane: &Lane) -> Turn {
        let start = match self.policy {
            // All alike, so that the running number decides: channels take turns (T21).
            Policy::Paper => 0,
            Policy::Modern => lane.end,
        };
        let number = self.next_number;
        self.next_number += 1;
        Turn {
            start,
            number,
            channel,
        }
    }

    /// The channel whose turn it is.
    fn first(&self, priority: Priority) -> Option<u8> {
        let level = &self.levels[priority as usize];
        let next = || level.turns.peek().map(|Reverse(turn)| turn);
        level
            .current
            .as_ref()
            .or_else(next)
            .map(|turn| turn.channel)
    }

    /// The channel whose turn it is, which leaves the queue.
    fn pop(&mut self, priority: Priority) -> Option<u8> {
        let level = &mut self.levels[priority as usize];
        // It goes on even if another channel has become the least: its next message is shorter here.
        if let Some(turn) = level.current.take() {
            return Some(turn.channel);
        }
        level.left = match self.policy {
            // A turn is one message, however small.
            Policy::Paper => 0,
            Policy::Modern => TURN,
        };
        let Reverse(turn) = level.turns.pop()?;
        Some(turn.channel)
    }

    /// The channel whose turn it was sends a message that counts `bytes`. It goes on if its turn is not over,
    /// or waits for the next.
    #[inline]
    fn sent(&mut self, priority: Priority, channel: u8, lane: &mut Lane, bytes: u64) {
        let level = &mut self.levels[priority as usize];
        // A channel that was silent begins now, not where its last message ended: nothing is owed to it.
        level.clock = lane.end.max(level.clock);
        // `Channel::weight` makes no weight 0; a division must not be able to panic all the same.
        let takes = bytes.saturating_mul(BYTE) / u64::from(lane.weight.max(1));
        lane.end = level.clock.saturating_add(takes);
        lane.bucket.spend(bytes);
        let turn = self.turn(channel, lane);
        let level = &mut self.levels[priority as usize];
        level.left = level.left.saturating_sub(bytes);
        if level.left > 0 {
            level.current = Some(turn);
        } else {
            level.turns.push(Reverse(turn));
        }
    }

    /// Holds a channel back until this time, for its cap.
    fn hold(&mut self, channel: u8, until: Instant) {
        self.held.push(Reverse((until, channel)));
    }

    /// Takes out a channel that was held back until now or an earlier time.
    fn release(&mut self, now: Instant) -> Option<u8> {
        if self.due() > now {
            return None;
        }
        let Reverse((_, channel)) = self.held.pop()?;
        Some(channel)
    }

    /// Takes out a channel whose cap has changed. Whether it was held back.
    fn let_go(&mut self, channel: u8) -> bool {
        let before = self.held.len();
        self.held.retain(|Reverse((_, other))| *other != channel);
        self.held.len() < before
    }

    /// When a channel that is held back may send.
    pub(super) fn due(&self) -> Instant {
        let next = self.held.peek();
        next.map_or(Instant::NEVER, |Reverse((until, _))| *until)
    }

    /// All channels with something to send, in an order that must not matter.
    fn channels(&self) -> impl Iterator<Item = u8> {
        let turns = self.levels.iter().flat_map(|level| {
            let waiting = level.turns.iter().map(|Reverse(turn)| turn);
            waiting.chain(&level.current)
        });
        let turns = turns.map(|turn| turn.channel);
        turns.chain(self.held.iter().map(|Reverse((_, channel))| *channel))
    }
}

/// The sending side of all channels: their queues, and when something is to be done in one of them.
#[derive(Debug)]
pub(super) struct Scheduler {
    pub(super) lanes: Lanes,
    /// Channels that wait for room in their window or in the remote's budget.
    blocked: VecDeque<u8>,
    /// The latest look: `send` is told no time.
    pub(super) now: Instant,
    /// Nothing expires before this time. It may be early, as packets are sent in the meantime.
    pub(super) expiry: Instant,
    /// True if packets were queued since the latest look.
    fresh: bool,
}

impl Scheduler {
    pub(super) fn new(policy: Policy) -> Self {
        Self {
            lanes: Lanes::new(policy),
            blocked: VecDeque::new(),
            now: Instant::ZERO,
            expiry: Instant::NEVER,
            fresh: false,
        }
    }

    /// How many places a channel has in the queues.
    #[cfg(any(test, feature = "audit"))]
    pub(super) fn turns(&self, channel: u8) -> usize {
        self.lanes
            .channels()
            .filter(|&other| other == channel)
            .count()
    }

    /// A packet was queued on this channel.
    #[inline]
    pub(super) fn queued(&mut self, channel: u8, table: &mut ChannelTable) {
        self.fresh = true;
        self.wants_turn(channel, table);
    }

    pub(super) fn wants_turn(&mut self, channel: u8, table: &mut ChannelTable) {
        let Some((made, shared)) = table.made(channel) else {
            return;
        };
        // A channel has one place at a time, whatever it asks for.
        if !core::mem::replace(&mut made.in_turn, true) {
            self.lanes
                .push(shared.params.priority(channel), channel, &made.lane);
        }
    }

    /// Room may have appeared in a window or in the remote's budget: each channel that waited gets a turn.
    pub(super) fn unblock(&mut self, table: &mut ChannelTable) {
        while let Some(channel) = self.blocked.pop_front() {
            work::count(1);
            if let Some((made, ..)) = table.made(channel) {
                made.blocked = false;
            }
            self.wants_turn(channel, table);
        }
    }

    /// Whether a channel whose turn may come has something to send. Channels that have nothing leave the
    /// queue, as at their turns.
    #[inline]
    pub(super) fn has_message(&mut self, table: &mut ChannelTable) -> bool {
        for priority in [Priority::High, Priority::Low] {
            while let Some(channel) = self.lanes.first(priority) {
                work::count(1);
                let Some((made, ..)) = table.made(channel) else {
                    return false;
                };
                if made.sender.has_more() {
                    return true;
                }
                made.in_turn = false;
                self.lanes.pop(priority);
            }
        }
        false
    }

    /// The next new message of this priority, with `most` bytes of a packet at most, and how it is to be
    /// sent.
    #[inline]
    pub(super) fn next_message(
        &mut self,
        priority: Priority,
        most: usize,
        table: &mut ChannelTable,
    ) -> Option<NextMessage> {
        while let Some(channel) = self.lanes.pop(priority) {
            work::count(1);
            let (made, mut shared) = table.made(channel)?;
            if let Some(until) = made.lane.bucket.hold(self.now) {
                // Still `in_turn`: it has a place, among those that are held back, and must not get another.
                self.lanes.hold(channel, until);
                continue;
            }
            let next = made.sender.next_message((channel, most), &mut shared);
            if let Some(next) = next {
                let cost = cost(&next.message);
                self.lanes.sent(priority, channel, &mut made.lane, cost);
                return Some(next);
            }
            // Only now, and not when its last message left: whether it has more is found out at its turn.
            made.in_turn = false;
            // It has more and cannot send it: its window or the remote's budget is full.
            if made.sender.has_more() && !core::mem::replace(&mut made.blocked, true) {
                self.blocked.push_back(channel);
            }
        }
        None
    }

    /// A message is in the next frame. If it is the first one of its packet, the packet's time in the queue
    /// ends now.
    #[inline]
    pub(super) fn sent(&self, message: &Message<MessageBytes>, table: &mut ChannelTable) {
        let Some((channel, id)) = sent_packet(message) else {
            return;
        };
        let Some((made, shared)) = table.get_mut(channel) else {
            return;
        };
        if let Some(waited) = made.sender.take_waited(id, self.now, shared.params) {
            made.queue_time.sample(waited, self.now);
        }
    }

    /// Changes the cap of a channel, in bytes a second.
    pub(super) fn set_rate(
        &mut self,
        channel: u8,
        rate: u32,
        now: Instant,
        table: &mut ChannelTable,
    ) {
        let Some((made, ..)) = table.get_mut(channel) else {
            return;
        };
        made.lane.bucket.set_rate(rate, now);
        // It was held back until a time that the old cap gave.
        if self.lanes.let_go(channel) {
            made.in_turn = false;
            self.wants_turn(channel, table);
        }
    }

    /// Channels that their caps held back until now get a turn.
    fn release_held(&mut self, table: &mut ChannelTable) {
        // It keeps its `in_turn`: it only changes its place.
        while let Some(channel) = self.lanes.release(self.now) {
            work::count(1);
            if let Some((made, shared)) = table.made(channel) {
                made.lane.bucket.release(self.now);
                self.lanes
                    .push(shared.params.priority(channel), channel, &made.lane);
            }
        }
    }

    /// The host looks at what is to be done: new packets wait from now on, as `send` is told no time; expired
    /// ones are dropped; and channels that their caps held back until now get a turn.
    #[inline]
    pub(super) fn look(&mut self, now: Instant, table: &mut ChannelTable) {
        self.now = now;
        // No datagram is being planned that could name their bytes.
        while let Some((channel, id)) = table.totals.given_up.pop() {
            if let Some((made, ..)) = table.made(channel) {
                made.sender.window.release(id);
            }
        }
        if core::mem::take(&mut self.fresh) {
            // A channel with new packets is among these: `send` has given it a turn.
            for channel in self.lanes.channels() {
                if let Some((made, shared)) = table.made(channel) {
                    made.sender.look(now, shared.totals);
                    self.expiry = self.expiry.min(made.sender.next_expiry());
                }
            }
        }
        self.drop_expired(now, table);
        self.release_held(table);
    }

    /// Drops the packets that have expired. Of one that has begun to be sent, the rest is not.
    pub(super) fn drop_expired(&mut self, now: Instant, table: &mut ChannelTable) {
        if self.expiry > now || self.expiry.is_never() {
            return;
        }
        self.expiry = Instant::NEVER;
        let expired = table.totals.expired;
        for channel in 0..table.params.channels {
            let Some((made, mut shared)) = table.made(channel) else {
                continue;
            };
            made.sender.drop_expired(channel, now, &mut shared);
            // Made anew from all channels: the time may have been that of a packet that was sent since.
            self.expiry = self.expiry.min(made.sender.next_expiry());
            self.wants_turn_for_controls(channel, table);
        }
        if table.totals.expired > expired {
            // What waited behind them may fit, also in the remote's budget.
            self.unblock(table);
        }
    }

    /// Whether a message that waits is still of use: its packet has not been passed by the receive
    /// window (`docs/deviations.md` Q9), is not too old to be begun (T8), and was not given up (D1).
    pub(super) fn is_current(&self, message: &Message<MessageBytes>, table: &ChannelTable) -> bool {
        let Some((channel, id)) = sent_packet(message) else {
            return true;
        };
        let made = table.get(channel);
        made.is_some_and(|made| made.sender.is_current(id, &table.params))
            && !self.is_given_up(message, table)
    }

    /// Whether this message belongs to a packet of which nothing is to be sent any more.
    fn is_given_up(&self, message: &Message<MessageBytes>, table: &ChannelTable) -> bool {
        let Message::Packet(packet) = message else {
            return false;
        };
        let Some(made) = table.get(packet.channel) else {
            return false;
        };
        if made.sender.is_given_up(packet.id, self.now, &table.params) {
            return true;
        }
        // An unreliable packet may have become too old while it was the next in turn and there was no
        // room for its beginning.
        let begins = packet.fragment.is_none_or(|fragment| fragment.offset == 0);
        packet.mode == Mode::Unreliable && begins && {
            let begun = made.sender.begun(packet.id, &table.params);
            end(begun, table.age) <= self.now
        }
    }

    /// A message that is no longer [current](Self::is_current) is not sent. If others may wait for its
    /// packet, a tombstone is sent instead.
    pub(super) fn skipped(&mut self, message: &Message<MessageBytes>, table: &mut ChannelTable) {
        if !self.is_given_up(message, table) {
            return; // the receive window has passed it
        }
        if let Message::Packet(packet) = message {
            let (channel, which) = (packet.channel, (packet.id, packet.dependency.into()));
            if let Some((made, mut shared)) = table.get_mut(channel) {
                made.sender.give_up(channel, which, &mut shared);
            }
            self.wants_turn_for_controls(channel, table);
            // An unreliable packet is no longer charged to the remote's budget: others may fit.
            self.unblock(table);
        }
    }

    /// Gives the channel a turn if it has to tell the remote host of a packet that was given up.
    fn wants_turn_for_controls(&mut self, channel: u8, table: &mut ChannelTable) {
        let owes = |made: &Channel| !made.sender.controls.is_empty();
        if table.get(channel).is_some_and(owes) {
            self.wants_turn(channel, table);
        }
    }
}
