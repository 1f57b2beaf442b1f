//! Reliable-ordered messages, the sending half.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use porous_proto::Instant;

use super::hunger::Hunger;
use super::id;
use super::record::{Doubt, Fate, Turn};
use super::space::Space;
use crate::error::Error;
use crate::serialize::Serialize;
use crate::shrink::shrink;
use crate::stream::{Stream, WriteStream};

/// A message on its way.
#[derive(Debug)]
struct Outgoing<M> {
    message: M,
    bits: u64,
    fate: Fate,
}

/// The messages of a channel that are not confirmed.
#[derive(Debug)]
pub(super) struct Outbox<M> {
    /// Messages by id, from the oldest on.
    messages: VecDeque<Outgoing<M>>,
    /// The id of the first of `messages`.
    oldest: u32,
    queue: u16,
    window: u16,
    doubt: Doubt,
    hunger: Hunger<u32>,
    /// The ids in the packet that is being made.
    chosen: Vec<u32>,
}

impl<M: Serialize> Outbox<M> {
    pub(super) fn new(queue: u16, window: u16) -> Self {
        Self {
            messages: VecDeque::new(),
            oldest: 0,
            queue,
            window,
            doubt: Doubt::default(),
            hunger: Hunger::new(),
            chosen: Vec::new(),
        }
    }

    /// The number of messages that are not confirmed.
    pub(super) fn len(&self) -> usize {
        self.messages.len()
    }

    pub(super) fn is_full(&self) -> bool {
        self.len() >= self.queue.into()
    }

    /// On message send: keeps the message and its measured length in bits under the next id, as not
    /// sent yet. The caller has seen that there is room.
    pub(super) fn send(&mut self, message: M, bits: u64) {
        let fate = Fate::default();
        self.messages.push_back(Outgoing {
            message,
            bits,
            fate,
        });
    }

    fn place(&self, id: u32) -> usize {
        id.wrapping_sub(self.oldest) as usize
    }

    fn get_mut(&mut self, id: u32) -> Option<&mut Outgoing<M>> {
        let place = self.place(id);
        self.messages.get_mut(place)
    }

    /// On packet send: from the oldest message to the newest, chooses each that was not sent within the
    /// resend time and fits into the room that is left.
    pub(super) fn choose(&mut self, turn: &Turn, space: &mut Space) {
        self.chosen = Vec::new();
        self.doubt_oldest(turn);
        let (mut previous, mut passed_over) = (None, None);
        // The range does not end: there are more of its numbers than ids.
        let ids = (0..).map(|ahead| self.oldest.wrapping_add(ahead));
        // None beyond the window: the receiver could not buffer it, and would drop a message whose packet
        // it acknowledges.
        let on_their_way = self.messages.iter().take(self.window.into());
        for (id, outgoing) in ids.zip(on_their_way) {
            if !outgoing.fate.is_due(turn) {
                continue;
            }
            if space.take(1 + id::bits_after(id, previous) + outgoing.bits) {
                self.chosen.push(id);
                previous = Some(id);
                continue;
            }
            // A later message may be shorter, and fill the room: only a full packet ends the search.
            passed_over = passed_over.or(Some(id));
            if space.bits < 2 || space.items == 0 {
                break;
            }
        }
        let is_due = |id| {
            let outgoing = self.messages.get(self.place(id));
            let is_due = outgoing.is_some_and(|outgoing| outgoing.fate.is_due(turn));
            is_due && !self.chosen.contains(&id)
        };
        self.hunger = self.hunger.after(passed_over, is_due, turn.now);
    }

    /// True if a message has found no room for 250 ms.
    pub(super) fn is_starving(&self, now: Instant) -> bool {
        self.hunger.starving(now).is_some()
    }

    /// Sends the oldest message again if it was acknowledged long ago and is still not confirmed.
    fn doubt_oldest(&mut self, turn: &Turn) {
        match self.messages.front_mut() {
            // Nothing is before the oldest: a receiver that has it confirms it as soon as its application
            // takes it.
            Some(outgoing) if outgoing.fate.acked => {
                if self.doubt.strikes(turn.now) {
                    outgoing.fate.doubt();
                }
            }
            _ => self.doubt.pause(),
        }
    }

    /// Writes the chosen messages, and a bit that says that no other follows.
    pub(super) fn write(&mut self, stream: &mut WriteStream<'_>) -> Result<(), Error> {
        let mut previous = None;
        for &id in &self.chosen {
            let place = id.wrapping_sub(self.oldest) as usize;
            let Some(outgoing) = self.messages.get_mut(place) else {
                continue;
            };
            stream.bool(&mut true)?;
            id::serialize_after(stream, &mut { id }, previous)?;
            outgoing.message.serialize(stream)?;
            previous = Some(id);
        }
        stream.bool(&mut false)
    }

    /// The chosen messages are in this packet: calls `on_row` with the first id and the length of each
    /// row of ids. Returns how many messages were in an earlier packet.
    pub(super) fn sent(&mut self, turn: &Turn, mut on_row: impl FnMut(u32, u16)) -> u64 {
        let chosen = core::mem::take(&mut self.chosen);
        let mut again = 0;
        for &id in &chosen {
            if let Some(outgoing) = self.get_mut(id) {
                again += u64::from(outgoing.fate.sent(turn));
            }
        }
        for row in chosen.chunk_by(|id, next| id.wrapping_add(1) == *next) {
            // A row is no longer than a window.
            on_row(row[0], u16::try_from(row.len()).unwrap_or(u16::MAX));
        }
        again
    }

    /// On packet ack: the message has arrived, and is not sent again.
    pub(super) fn acked(&mut self, id: u32) {
        if let Some(outgoing) = self.get_mut(id) {
            outgoing.fate.acked();
        }
    }

    /// The message is in a packet that has not left.
    pub(super) fn waits(&mut self, id: u32, packet: u16, now: Instant) {
        if let Some(outgoing) = self.get_mut(id) {
            outgoing.fate.waits(packet, now);
        }
    }

    /// The message was in a packet that is lost.
    pub(super) fn lost(&mut self, id: u32, packet: u16) {
        if let Some(outgoing) = self.get_mut(id) {
            outgoing.fate.lost(packet);
        }
    }

    /// The acknowledgement of a packet was taken back.
    pub(super) fn taken_back(&mut self, packet: u16) {
        for outgoing in &mut self.messages {
            outgoing.fate.taken_back(packet);
        }
    }

    /// The receiver waits for `next`: removes all messages before it. An id that was never sent, or is
    /// older than the newest known, changes nothing.
    pub(super) fn confirm(&mut self, next: u32) {
        let count = next.wrapping_sub(self.oldest) as usize;
        if count == 0 || count > self.len() {
            return;
        }
        self.messages.drain(..count);
        shrink(&mut self.messages);
        self.oldest = next;
        self.doubt.clear();
    }
}
