//! A channel of either kind, and its share of a packet.

use alloc::boxed::Box;
use alloc::vec::Vec;

use bytes::Bytes;
use porous_proto::Instant;

use super::config::MessageChannel;
use super::id::ID_BITS;
use super::record::{Item, Turn};
use super::reliable::{self, Reliable};
use super::space::Space;
use super::unreliable::Unreliable;
use super::{MessageStats, Reason};
use crate::error::Error;
use crate::serialize::Serialize;
use crate::stream::{ReadStream, WriteStream};

/// A channel.
#[derive(Debug)]
pub(super) struct Channel<M> {
    pub(super) kind: Kind<M>,
    /// The most bytes of a packet that the channel may take.
    budget: usize,
}

/// Reliable or unreliable.
#[derive(Debug)]
pub(super) enum Kind<M> {
    Reliable(Box<Reliable<M>>),
    Unreliable(Unreliable<M>),
}

/// The channel's content of a packet that has come.
#[derive(Debug)]
pub(super) enum Arrived<M> {
    Reliable(reliable::Arrived<M>),
    Unreliable(Vec<M>),
}

impl<M: Serialize> Channel<M> {
    pub(super) fn new(config: &MessageChannel) -> Self {
        let kind = match config.is_reliable {
            true => Kind::Reliable(Box::new(Reliable::new(config))),
            false => Kind::Unreliable(Unreliable::new(config.queue, config.age)),
        };
        Self {
            kind,
            budget: config.budget,
        }
    }

    /// The most bits that the channel takes in any packet besides its content.
    pub(super) fn overhead(&self) -> u64 {
        match &self.kind {
            Kind::Reliable(reliable) => reliable.overhead([true; 2]),
            Kind::Unreliable(_) => 1,
        }
    }

    /// The bits that the channel takes in a packet that is sent now, besides its content.
    pub(super) fn overhead_now(&self) -> u64 {
        match &self.kind {
            Kind::Reliable(reliable) => reliable.overhead_now(),
            Kind::Unreliable(_) => 1,
        }
    }

    /// The bits of content that the channel may have in a packet with `bits` for all channels' content.
    pub(super) fn room(&self, bits: u64) -> u64 {
        let space = Space { bits, items: 0 };
        space.share(self.budget, self.overhead()).bits
    }

    /// Checks that a message of this length in bits can be sent.
    pub(super) fn check(&self, bits: u64, room: u64) -> Result<(), Reason> {
        let (head, is_full) = match &self.kind {
            // The first message in a packet has a whole id.
            Kind::Reliable(reliable) => (1 + ID_BITS, reliable.outbox.is_full()),
            Kind::Unreliable(unreliable) => (1, unreliable.is_full()),
        };
        if head + bits > room {
            return Err(Reason::TooLarge);
        }
        if is_full {
            return Err(Reason::Full);
        }
        Ok(())
    }

    /// Checks that a block can be sent; `bits` is the length of its message.
    pub(super) fn check_block(&self, bits: u64, block: &Bytes, room: u64) -> Result<(), Reason> {
        let Kind::Reliable(reliable) = &self.kind else {
            return Err(Reason::NoBlocks);
        };
        let blocks = reliable.blocks.as_ref().ok_or(Reason::NoBlocks)?;
        // The first piece has the message, and each other one at most as many bytes.
        let first = blocks.shape.bits((0, None), block.len(), 0);
        if block.len() > blocks.shape.max_block as usize || first + bits > room {
            return Err(Reason::TooLarge);
        }
        if blocks.outbox.is_full() {
            return Err(Reason::Full);
        }
        Ok(())
    }

    /// Sends a message that the caller has checked.
    pub(super) fn send(&mut self, message: M, bits: u64, urgency: u8) {
        match &mut self.kind {
            Kind::Reliable(reliable) => reliable.outbox.send(message, bits),
            Kind::Unreliable(unreliable) => unreliable.send(message, bits, urgency),
        }
    }

    /// Sends a block that the caller has checked.
    pub(super) fn send_block(&mut self, message: M, bits: u64, block: Bytes) {
        let Kind::Reliable(reliable) = &mut self.kind else {
            return;
        };
        if let Some(blocks) = &mut reliable.blocks {
            blocks.outbox.send(message, bits, block);
        }
    }

    /// The number of messages and blocks that were sent and may have to be sent again.
    pub(super) fn queued(&self) -> usize {
        match &self.kind {
            Kind::Reliable(reliable) => {
                let blocks = reliable.blocks.as_ref();
                let blocks = blocks.map_or(0, |blocks| blocks.outbox.len());
                reliable.outbox.len() + blocks
            }
            Kind::Unreliable(unreliable) => unreliable.len(),
        }
    }

    /// True if a message or piece of the channel has found no room for 250 ms, so that the channel
    /// chooses before its equals.
    pub(super) fn is_starving(&self, now: Instant) -> bool {
        match &self.kind {
            Kind::Reliable(reliable) => reliable.is_starving(now),
            Kind::Unreliable(_) => false,
        }
    }

    /// True if nothing of the channel waits for an acknowledgement.
    pub(super) fn is_at_rest(&self) -> bool {
        match &self.kind {
            Kind::Reliable(reliable) => reliable.is_at_rest(),
            Kind::Unreliable(_) => true,
        }
    }

    /// Chooses the channel's content of a packet.
    pub(super) fn choose(&mut self, turn: &Turn, space: &mut Space, stats: &mut MessageStats) {
        // No more than its budget, even of an empty packet.
        let share = space.share(self.budget, self.overhead_now());
        let mut left = share;
        match &mut self.kind {
            Kind::Reliable(reliable) => reliable.choose(turn, &mut left),
            Kind::Unreliable(unreliable) => stats.expired += unreliable.choose(turn, &mut left),
        }
        space.settle(&share, &left);
    }

    /// True if what the channel tells the other end is worth a packet of its own.
    pub(super) fn is_pressing(&self, turn: &Turn) -> bool {
        match &self.kind {
            Kind::Reliable(reliable) => reliable.is_pressing(turn),
            Kind::Unreliable(_) => false,
        }
    }

    pub(super) fn write(&mut self, stream: &mut WriteStream<'_>) -> Result<(), Error> {
        match &mut self.kind {
            Kind::Reliable(reliable) => reliable.write(stream),
            Kind::Unreliable(unreliable) => unreliable.write(stream),
        }
    }

    /// Notes that all that was written is in this packet. Returns the number of messages and pieces that
    /// were in an earlier packet, too.
    pub(super) fn sent(&mut self, position: u8, turn: &Turn, items: &mut Vec<Item>) -> u64 {
        match &mut self.kind {
            Kind::Reliable(reliable) => reliable.sent(position, turn, items),
            Kind::Unreliable(unreliable) => {
                unreliable.sent();
                0
            }
        }
    }

    /// Reads what [`write`](Self::write) wrote, and changes nothing.
    pub(super) fn read(
        &self,
        stream: &mut ReadStream<'_>,
        items: &mut u32,
    ) -> Result<Arrived<M>, Error> {
        if let Kind::Reliable(reliable) = &self.kind {
            return Ok(Arrived::Reliable(reliable.read(stream, items)?));
        }
        let mut messages = Vec::new();
        while reliable::more(stream, items)? {
            let mut message = M::blank();
            message.serialize(stream)?;
            messages.push(message);
        }
        Ok(Arrived::Unreliable(messages))
    }

    /// Takes what [`read`](Self::read) returned.
    pub(super) fn arrived(&mut self, arrived: Arrived<M>, stats: &mut MessageStats) {
        match (&mut self.kind, arrived) {
            (Kind::Reliable(reliable), Arrived::Reliable(arrived)) => {
                stats.duplicates += reliable.arrived(arrived);
            }
            (Kind::Unreliable(unreliable), Arrived::Unreliable(messages)) => {
                for message in messages {
                    stats.overrun += u64::from(!unreliable.insert(message));
                }
            }
            // A channel reads its own kind only.
            (Kind::Reliable(_), Arrived::Unreliable(_))
            | (Kind::Unreliable(_), Arrived::Reliable(_)) => {}
        }
    }

    /// The packet with this item has arrived.
    pub(super) fn acked(&mut self, item: Item) {
        let Kind::Reliable(reliable) = &mut self.kind else {
            return;
        };
        match (item, &mut reliable.blocks) {
            (Item::Messages { first, count, .. }, _) => {
                for id in row(first, count) {
                    reliable.outbox.acked(id);
                }
            }
            (Item::NextMessage { next, .. }, _) => {
                let own = reliable.inbox.next();
                reliable.inbox.echo.acked(next, own);
            }
            (Item::Fragment { block, index, .. }, Some(blocks)) => {
                blocks.outbox.acked(block, index);
            }
            (Item::NextBlock { next, .. }, Some(blocks)) => {
                let own = blocks.inbox.next();
                blocks.inbox.echo.acked(next, own);
            }
            (Item::Fragment { .. } | Item::NextBlock { .. }, None) => {}
        }
    }

    /// The packet with this item has not left.
    pub(super) fn waits(&mut self, item: Item, packet: u16, now: Instant) {
        let Kind::Reliable(reliable) = &mut self.kind else {
            return;
        };
        match (item, &mut reliable.blocks) {
            (Item::Messages { first, count, .. }, _) => {
                for id in row(first, count) {
                    reliable.outbox.waits(id, packet, now);
                }
            }
            (Item::Fragment { block, index, .. }, Some(blocks)) => {
                blocks.outbox.waits(block, index, packet, now);
            }
            (Item::Fragment { .. } | Item::NextMessage { .. } | Item::NextBlock { .. }, _) => {}
        }
    }

    /// The packet with this item is lost.
    pub(super) fn lost(&mut self, item: Item, packet: u16) {
        let Kind::Reliable(reliable) = &mut self.kind else {
            return;
        };
        match (item, &mut reliable.blocks) {
            (Item::Messages { first, count, .. }, _) => {
                for id in row(first, count) {
                    reliable.outbox.lost(id, packet);
                }
            }
            (Item::Fragment { block, index, .. }, Some(blocks)) => {
                blocks.outbox.lost(block, index, packet);
            }
            (Item::Fragment { .. } | Item::NextMessage { .. } | Item::NextBlock { .. }, _) => {}
        }
    }

    /// The acknowledgement of a packet was taken back.
    pub(super) fn taken_back(&mut self, packet: u16) {
        if let Kind::Reliable(reliable) = &mut self.kind {
            reliable.outbox.taken_back(packet);
            if let Some(blocks) = &mut reliable.blocks {
                blocks.outbox.taken_back(packet);
            }
        }
    }

    pub(super) fn receive(&mut self) -> Option<(M, Option<Bytes>)> {
        match &mut self.kind {
            Kind::Reliable(reliable) => reliable.receive(),
            Kind::Unreliable(unreliable) => Some((unreliable.receive()?, None)),
        }
    }
}

/// The `count` ids of a row, from `first` on.
fn row(first: u32, count: u16) -> impl Iterator<Item = u32> {
    (0..u32::from(count)).map(move |ahead| first.wrapping_add(ahead))
}
