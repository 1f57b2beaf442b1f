//! Whose turn it is to send, inside a priority (`docs/deviations.md` T21, P10): under the paper's policy
//! channels take turns by message; under the modern one they share by weight, in bytes.
//!
//! The sharing is start-time fair queueing (Goyal, Vin, Cheng 1996): the channel goes first whose
//! last message ended first, on a clock on which a byte takes 1 / weight. Bytes are shared as by
//! deficit round robin, but a turn is as short as can be, however large the weights are: messages
//! of one channel in a row are shorter on the wire than those that alternate (`docs/wire.md`), so
//! that it is one message, or small ones together.

use alloc::collections::BinaryHeap;
use core::cmp::Reverse;

use crate::bucket::Bucket;
use crate::config::{Channel as Settings, Policy, Priority};
use crate::frame::Message;
use crate::time::Instant;

/// What a byte takes on the clock of a channel of weight 1.
const BYTE: u64 = 1 << 16;

/// A message counts so many bytes beside its payload: about what its head takes.
const HEAD: u64 = 8;

/// Small messages of a turn count less than this together, before the last one.
const TURN: u64 = 256;

/// What a message counts, for shares and caps.
pub(super) fn cost<B: AsRef<[u8]>>(message: &Message<B>) -> u64 {
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
    pub(super) bucket: Bucket,
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

/// A channel that waits for its turn: the least one is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    /// When its last message ended.
    start: u64,
    /// Who came first, among those with the same.
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
    pub(super) fn new(policy: Policy) -> Self {
        Self {
            policy,
            levels: [Level::default(), Level::default()],
            next_number: 0,
            held: BinaryHeap::new(),
        }
    }

    /// The channel waits for its turn: who sent last long ago goes first.
    pub(super) fn push(&mut self, priority: Priority, channel: u8, lane: &Lane) {
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
    pub(super) fn pop(&mut self, priority: Priority) -> Option<u8> {
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

    /// The channel whose turn it was sends a message that counts so many bytes. It begins now, if
    /// the channel was silent: nothing is owed to it. It goes on if its turn is not over, or waits
    /// for the next.
    pub(super) fn sent(&mut self, priority: Priority, channel: u8, lane: &mut Lane, bytes: u64) {
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
    pub(super) fn hold(&mut self, channel: u8, until: Instant) {
        self.held.push(Reverse((until, channel)));
    }

    /// A channel that was held back until now, or before.
    pub(super) fn release(&mut self, now: Instant) -> Option<u8> {
        if self.due() > now {
            return None;
        }
        let Reverse((_, channel)) = self.held.pop()?;
        Some(channel)
    }

    /// Lets a channel go whose cap has changed. Whether it was held back.
    pub(super) fn let_go(&mut self, channel: u8) -> bool {
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
    pub(super) fn channels(&self) -> impl Iterator<Item = u8> {
        let turns = self.levels.iter().flat_map(|level| {
            let waiting = level.turns.iter().map(|Reverse(turn)| turn);
            waiting.chain(&level.current)
        });
        let turns = turns.map(|turn| turn.channel);
        turns.chain(self.held.iter().map(|Reverse((_, channel))| *channel))
    }
}
