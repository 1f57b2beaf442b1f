//! Reliable-ordered messages, the half that sends.

use super::record::{Doubt, Fate, Turn};
use super::space::Space;
use crate::error::Error;
use crate::sequence_buffer::SequenceBuffer;
use crate::serialize::Serialize;
use crate::stream::{MeasureStream, Stream, WriteStream};

/// A message on its way.
#[derive(Debug)]
struct Outgoing<M> {
    message: M,
    bits: u64,
    fate: Fate,
}

/// The messages of a channel that are not confirmed, by id.
#[derive(Debug)]
pub(super) struct Outbox<M> {
    messages: SequenceBuffer<Outgoing<M>>,
    /// The first that is not confirmed.
    oldest: u16,
    /// The id of the next one.
    next: u16,
    queue: u16,
    window: u16,
    doubt: Doubt,
    /// What goes into the packet that is being made.
    chosen: alloc::vec::Vec<u16>,
}

impl<M: Serialize> Outbox<M> {
    pub(super) fn new(queue: u16, window: u16) -> Self {
        Self {
            messages: SequenceBuffer::new(queue.into()),
            oldest: 0,
            next: 0,
            queue,
            window,
            doubt: Doubt::default(),
            chosen: alloc::vec::Vec::new(),
        }
    }

    /// How many are not confirmed.
    pub(super) const fn len(&self) -> u16 {
        self.next.wrapping_sub(self.oldest)
    }

    pub(super) const fn is_full(&self) -> bool {
        self.len() >= self.queue
    }

    /// On message send: what was measured is kept beside the message, by the next id, as not sent
    /// yet. The caller has seen that there is room.
    pub(super) fn send(&mut self, message: M, bits: u64) {
        let fate = Fate::default();
        let outgoing = Outgoing {
            message,
            bits,
            fate,
        };
        self.messages.insert(self.next, outgoing);
        self.next = self.next.wrapping_add(1);
    }

    /// On packet send: from the oldest message to the newest, each that was not sent of late and
    /// fits into what is left. None that the receiver could not buffer: it would be lost, and its
    /// packet acknowledged.
    pub(super) fn choose(&mut self, turn: &Turn, space: &mut Space) {
        self.chosen.clear();
        self.doubt_oldest(turn);
        let mut previous = None;
        for ahead in 0..self.len().min(self.window) {
            if space.bits < 2 || space.items == 0 {
                return;
            }
            let id = self.oldest.wrapping_add(ahead);
            let Some(outgoing) = self.messages.get(id) else {
                continue;
            };
            let is_due = outgoing.fate.is_due(turn);
            if is_due && space.take(1 + id_bits(id, previous) + outgoing.bits) {
                self.chosen.push(id);
                previous = Some(id);
            }
        }
    }

    /// The oldest is acknowledged, so it should have been confirmed at once.
    fn doubt_oldest(&mut self, turn: &Turn) {
        match self.messages.get_mut(self.oldest) {
            Some(outgoing) if outgoing.fate.acked => {
                if self.doubt.strikes(turn.now) {
                    outgoing.fate.doubt();
                }
            }
            _ => self.doubt.clear(),
        }
    }

    pub(super) fn chosen(&self) -> &[u16] {
        &self.chosen
    }

    /// What was chosen, and a bit that tells that this is all.
    pub(super) fn write(&mut self, stream: &mut WriteStream<'_>) -> Result<(), Error> {
        let mut previous = None;
        for id in &self.chosen {
            let Some(outgoing) = self.messages.get_mut(*id) else {
                continue;
            };
            stream.bool(&mut true)?;
            serialize_id(stream, &mut { *id }, previous)?;
            outgoing.message.serialize(stream)?;
            previous = Some(*id);
        }
        stream.bool(&mut false)
    }

    /// What was chosen is in this packet. Returns how many were in one before.
    pub(super) fn sent(&mut self, turn: &Turn) -> u64 {
        let mut again = 0;
        for id in &self.chosen {
            if let Some(outgoing) = self.messages.get_mut(*id) {
                again += u64::from(outgoing.fate.sent(turn));
            }
        }
        again
    }

    /// On packet ack: the message has arrived, and is not sent again.
    pub(super) fn acked(&mut self, id: u16, packet: u16) {
        if let Some(outgoing) = self.messages.get_mut(id) {
            outgoing.fate.acked(packet);
        }
    }

    /// The message was in a packet that is lost.
    pub(super) fn lost(&mut self, id: u16, packet: u16) {
        if let Some(outgoing) = self.messages.get_mut(id) {
            outgoing.fate.lost(packet);
        }
    }

    /// The receiver waits for `next`: all before it are removed. What was never sent, or is older
    /// than what is known, says nothing.
    pub(super) fn confirm(&mut self, next: u16) {
        let count = next.wrapping_sub(self.oldest);
        if count > self.len() {
            return;
        }
        for _ in 0..count {
            self.messages.remove(self.oldest);
            self.oldest = self.oldest.wrapping_add(1);
            self.doubt.clear();
        }
    }
}

/// An id: all of the first in a packet, and of the others how far they are from the one before.
pub(super) fn serialize_id<S: Stream>(
    stream: &mut S,
    id: &mut u16,
    previous: Option<u16>,
) -> Result<(), Error> {
    match previous {
        Some(previous) => stream.relative(id, previous),
        None => stream.ranged(id, 0..=u16::MAX),
    }
}

/// How many bits that takes.
fn id_bits(id: u16, previous: Option<u16>) -> u64 {
    let mut stream = MeasureStream::new();
    // Every id can be measured.
    let _ = serialize_id(&mut stream, &mut { id }, previous);
    stream.measured()
}
