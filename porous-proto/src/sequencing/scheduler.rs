//! Which channel sends next, and what waits for that.
//!
//! Inside a priority (`docs/deviations.md` T21, Q15, P10), channels take turns by message under the
//! paper's policy; under the modern one they share by weight, in bytes. The sharing is start-time fair
//! queueing (Goyal, Vin, Cheng 1996): the channel goes first whose last message ended first, on a clock
//! on which a byte takes 1 / weight. Bytes are shared as by deficit round robin, but a turn is as short
//! as can be, however large the weights are: messages of one channel in a row are shorter on the wire
//! than those that alternate (`docs/wire.md`), so that it is one message, or small ones together.
//!
//! Packets that wait too long are dropped where they wait: unreliable ones (`docs/deviations.md` T8),
//! and those whose time to live is over (`docs/deviations.md` D1).

use alloc::collections::{BinaryHeap, VecDeque};
use core::cmp::Reverse;

use bytes::Bytes;

use super::backlog::end;
use super::channels::{Channel, ChannelTable};
use super::sent_packet;
use crate::bucket::Bucket;
use crate::config::{Channel as Settings, Policy, Priority};
use crate::frame::{Message, Mode};
use crate::hooks::work;
use crate::source::NextMessage;
use crate::time::Instant;

/// What a byte takes on the clock of a channel of weight 1.
const BYTE: u64 = 1 << 16;

/// Bytes that a message counts beside its payload: about what its head takes.
const HEAD: u64 = 8;

/// Small messages of a turn count less than this together, before the last one.
const TURN: u64 = 256;

/// What a message counts, for shares and caps.
fn cost<B: AsRef<[u8]>>(message: &Message<B>) -> u64 {
    match message {
        Message::Packet(packet) => packet.payload.as_ref().len() as u64 + HEAD,
        Message::Control(_) => HEAD,
    }
}

/// What the scheduler knows of a channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lane {
    weight: u8,
    /// When its last message ends, on the clock of its level.
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

/// A channel that waits for its turn: the least one is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    /// When its last message ended.
    start: u64,
    /// The order of coming, among those with the same start.
    number: u64,
    channel: u8,
}

/// The channels of a priority.
#[derive(Debug, Default)]
struct Level {
    turns: BinaryHeap<Reverse<Turn>>,
    /// The channel that goes on with its turn, and what is left of that.
    current: Option<Turn>,
    left: u64,
    /// When the latest message began.
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

    /// The channel whose turn it is, which leaves the queue.
    fn pop(&mut self, priority: Priority) -> Option<u8> {
        let level = &mut self.levels[priority as usize];
        if let Some(turn) = level.current.take() {
            return Some(turn.channel);
        }
        level.left = match self.policy {
            Policy::Paper => 0,
            Policy::Modern => TURN,
        };
        let Reverse(turn) = level.turns.pop()?;
        Some(turn.channel)
    }

    /// The channel whose turn it was sends a message that counts this number of bytes. It begins now,
    /// if the channel was silent: nothing is owed to it. It goes on if its turn is not over, or waits
    /// for the next.
    fn sent(&mut self, priority: Priority, channel: u8, lane: &mut Lane, bytes: u64) {
        let level = &mut self.levels[priority as usize];
        level.clock = lane.end.max(level.clock);
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

    /// The channel's cap holds it back until then.
    fn hold(&mut self, channel: u8, until: Instant) {
        self.held.push(Reverse((until, channel)));
    }

    /// A channel that was held back until now, or before.
    fn release(&mut self, now: Instant) -> Option<u8> {
        if self.due() > now {
            return None;
        }
        let Reverse((_, channel)) = self.held.pop()?;
        Some(channel)
    }

    /// Lets a channel go whose cap has changed. Whether it was held back.
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

    /// All channels, in no order that means anything.
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
    /// Nothing expires before this. Packets are sent in the meantime, so it may be early.
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
    pub(super) fn queued(&mut self, channel: u8, table: &mut ChannelTable) {
        self.fresh = true;
        self.wants_turn(channel, table);
    }

    pub(super) fn wants_turn(&mut self, channel: u8, table: &mut ChannelTable) {
        let Some((made, shared)) = table.made(channel) else {
            return;
        };
        if !core::mem::replace(&mut made.in_turn, true) {
            self.lanes
                .push(shared.params.priority(channel), channel, &made.lane);
        }
    }

    /// Room appeared in a window or in the remote's budget: each channel that waited gets a turn.
    pub(super) fn unblock(&mut self, table: &mut ChannelTable) {
        while let Some(channel) = self.blocked.pop_front() {
            work::count(1);
            if let Some((made, ..)) = table.made(channel) {
                made.blocked = false;
            }
            self.wants_turn(channel, table);
        }
    }

    /// The next new message of this priority, with `most` bytes of a packet at most, and how it is to
    /// be sent. A channel that had its turn waits for the others.
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
                self.lanes.hold(channel, until);
                continue;
            }
            let next = made.sender.next_message((channel, most), &mut shared);
            if let Some(next) = next {
                let cost = cost(&next.message);
                self.lanes.sent(priority, channel, &mut made.lane, cost);
                return Some(next);
            }
            made.in_turn = false;
            if made.sender.has_more() && !core::mem::replace(&mut made.blocked, true) {
                self.blocked.push_back(channel);
            }
        }
        None
    }

    /// A message is in the next frame. If it is the first of its packet, that has waited until now.
    pub(super) fn sent(&self, message: &Message<Bytes>, table: &mut ChannelTable) {
        let Some((channel, id)) = sent_packet(message) else {
            return;
        };
        let Some((made, shared)) = table.get_mut(channel) else {
            return;
        };
        if let Some(since) = made.sender.take_since(id, shared.params) {
            let waited = self.now.saturating_duration_since(since);
            made.queue_time.sample(waited, self.now);
        }
    }

    /// Changes the cap of a channel. If it was held back, it is looked at anew.
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
        if self.lanes.let_go(channel) {
            made.in_turn = false;
            self.wants_turn(channel, table);
        }
    }

    /// Channels that their caps held back until now get a turn.
    fn release_held(&mut self, table: &mut ChannelTable) {
        while let Some(channel) = self.lanes.release(self.now) {
            work::count(1);
            if let Some((made, shared)) = table.made(channel) {
                made.lane.bucket.release(self.now);
                self.lanes
                    .push(shared.params.priority(channel), channel, &made.lane);
            }
        }
    }

    /// The host looks what is to be done: packets wait from when it first did, as `send` is told no
    /// time. Those that have expired are dropped.
    pub(super) fn look(&mut self, now: Instant, table: &mut ChannelTable) {
        self.now = now;
        if core::mem::take(&mut self.fresh) {
            // `send` has given their channels a turn.
            for channel in self.lanes.channels() {
                if let Some((made, ..)) = table.made(channel) {
                    made.sender.look(now);
                    self.expiry = self.expiry.min(made.sender.next_expiry());
                }
            }
        }
        self.drop_expired(now, table);
        self.release_held(table);
    }

    /// Drops the packets that have expired. Of one that has begun to be sent, nothing else is.
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
            self.expiry = self.expiry.min(made.sender.next_expiry());
            self.wants_turn_for_controls(channel, table);
        }
        if table.totals.expired > expired {
            // What waited behind them may fit.
            self.unblock(table);
        }
    }

    /// Whether a message that waits is still of use: its packet has not been passed by the receive
    /// window (`docs/deviations.md` Q9), is not too old to be begun (T8), and was not given up (D1).
    pub(super) fn is_current(&self, message: &Message<Bytes>, table: &ChannelTable) -> bool {
        let Some((channel, id)) = sent_packet(message) else {
            return true;
        };
        let made = table.get(channel);
        made.is_some_and(|made| made.sender.is_current(id, &table.params))
            && !self.is_given_up(message, table)
    }

    /// Whether this message belongs to a packet of which nothing is to be sent any more.
    fn is_given_up(&self, message: &Message<Bytes>, table: &ChannelTable) -> bool {
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

    /// A message that was no longer [current](Self::is_current) is not sent. If others wait for its
    /// packet, a tombstone is sent instead.
    pub(super) fn skipped(&mut self, message: &Message<Bytes>, table: &mut ChannelTable) {
        if !self.is_given_up(message, table) {
            return; // the receive window has passed it
        }
        if let Message::Packet(packet) = message {
            let (channel, which) = (packet.channel, (packet.id, packet.dependency.into()));
            if let Some((made, mut shared)) = table.get_mut(channel) {
                made.sender.give_up(channel, which, &mut shared);
            }
            self.wants_turn_for_controls(channel, table);
            self.unblock(table);
        }
    }

    /// The remote host has to be told of a packet that was given up.
    fn wants_turn_for_controls(&mut self, channel: u8, table: &mut ChannelTable) {
        let owes = |made: &Channel| !made.sender.controls.is_empty();
        if table.get(channel).is_some_and(owes) {
            self.wants_turn(channel, table);
        }
    }
}
