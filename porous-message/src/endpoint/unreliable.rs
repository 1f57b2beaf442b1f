//! Messages that are in one packet each.

use alloc::collections::VecDeque;
use core::cmp::Reverse;
use core::time::Duration;

use porous_proto::Instant;

use super::record::Turn;
use super::space::Space;
use crate::error::Error;
use crate::serialize::Serialize;
use crate::shrink::shrink;
use crate::stream::{Stream, WriteStream};

/// A message that waits for room in a packet.
#[derive(Debug)]
struct Waiting<M> {
    message: M,
    bits: u64,
    urgency: u8,
    /// When the first packet was made that the message could have been in.
    since: Option<Instant>,
    /// True if the message goes into the packet that is being made.
    is_chosen: bool,
}

/// An unreliable channel, both ways.
#[derive(Debug)]
pub(super) struct Unreliable<M> {
    /// The most urgent message first, and of the same urgency, the oldest.
    waiting: VecDeque<Waiting<M>>,
    queue: u16,
    age: Duration,
    arrived: VecDeque<M>,
}

impl<M: Serialize> Unreliable<M> {
    pub(super) const fn new(queue: u16, age: Duration) -> Self {
        Self {
            waiting: VecDeque::new(),
            queue,
            age,
            arrived: VecDeque::new(),
        }
    }

    /// The number of messages that wait to be sent.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn is_full(&self) -> bool {
        self.waiting.len() >= self.queue.into()
    }

    pub(super) fn send(&mut self, message: M, bits: u64, urgency: u8) {
        let place = |other: &Waiting<M>| Reverse(other.urgency) <= Reverse(urgency);
        let place = self.waiting.partition_point(place);
        let waiting = Waiting {
            message,
            bits,
            urgency,
            since: None,
            is_chosen: false,
        };
        self.waiting.insert(place, waiting);
    }

    /// Chooses the most urgent messages, as many as fit. Returns how many are given up because they
    /// have waited for too long.
    pub(super) fn choose(&mut self, turn: &Turn, space: &mut Space) -> u64 {
        let before = self.waiting.len();
        let age = self.age;
        self.waiting.retain_mut(|waiting| {
            // The age counts from the first packet that could have had the message: a host that sends no
            // packets for a while gives nothing up for that.
            let since = waiting.since.get_or_insert(turn.now);
            turn.now <= *since + age
        });
        for waiting in &mut self.waiting {
            waiting.is_chosen = space.take(1 + waiting.bits);
        }
        (before - self.waiting.len()) as u64
    }

    /// Writes the chosen messages, and a bit that says that no other follows.
    pub(super) fn write(&mut self, stream: &mut WriteStream<'_>) -> Result<(), Error> {
        for waiting in self.waiting.iter_mut().filter(|waiting| waiting.is_chosen) {
            stream.bool(&mut true)?;
            waiting.message.serialize(stream)?;
        }
        stream.bool(&mut false)
    }

    /// The chosen messages are in a packet, and are forgotten.
    pub(super) fn sent(&mut self) {
        self.waiting.retain(|waiting| !waiting.is_chosen);
        shrink(&mut self.waiting);
    }

    /// A message has come. True if there was room; if not, the oldest message is dropped for it.
    pub(super) fn insert(&mut self, message: M) -> bool {
        let has_room = self.arrived.len() < self.queue.into();
        if !has_room {
            self.arrived.pop_front();
        }
        self.arrived.push_back(message);
        has_room
    }

    pub(super) fn receive(&mut self) -> Option<M> {
        let message = self.arrived.pop_front();
        shrink(&mut self.arrived);
        message
    }
}
