//! A reliable channel: messages in order, and blocks beside them.

use alloc::vec::Vec;

use bytes::Bytes;
use porous_proto::Instant;

use super::block_inbox::BlockInbox;
use super::block_outbox::BlockOutbox;
use super::config::MessageChannel;
use super::echo;
use super::fragment::{Fragment, Shape};
use super::id;
use super::inbox::Inbox;
use super::outbox::Outbox;
use super::record::{Item, Turn};
use super::space::Space;
use crate::error::Error;
use crate::serialize::Serialize;
use crate::stream::{ReadStream, Stream, WriteStream};

/// A reliable channel, both ways.
#[derive(Debug)]
pub(super) struct Reliable<M> {
    pub(super) outbox: Outbox<M>,
    pub(super) inbox: Inbox<M>,
    pub(super) blocks: Option<Blocks<M>>,
}

/// The blocks of a channel, both ways.
#[derive(Debug)]
pub(super) struct Blocks<M> {
    pub(super) shape: Shape,
    pub(super) outbox: BlockOutbox<M>,
    pub(super) inbox: BlockInbox<M>,
}

/// The content of a reliable channel in a packet that has come.
#[derive(Debug)]
pub(super) struct Arrived<M> {
    /// The ids of the next message and the next block that the other end waits for, if the packet has
    /// them.
    confirmed: [Option<u32>; 2],
    messages: Vec<(u32, M)>,
    fragments: Vec<Fragment<M>>,
}

impl<M: Serialize> Reliable<M> {
    pub(super) fn new(config: &MessageChannel) -> Self {
        let shape = config.shape();
        let blocks = || Blocks {
            shape,
            outbox: BlockOutbox::new(shape, config.queue, config.block_window),
            inbox: BlockInbox::new(shape, config.block_window),
        };
        Self {
            outbox: Outbox::new(config.queue, config.window),
            inbox: Inbox::new(config.window),
            blocks: (config.max_block > 0).then(blocks),
        }
    }

    /// The ids that the channel tells the other end in any packet that is sent now: the next message
    /// and the next block, unless the other end knows them.
    fn told(&self) -> [Option<u32>; 2] {
        let next = self.inbox.next();
        let message = self.inbox.echo.is_due(next).then_some(next);
        let block = self.blocks.as_ref().and_then(|blocks| {
            let next = blocks.inbox.next();
            blocks.inbox.echo.is_due(next).then_some(next)
        });
        [message, block]
    }

    /// True if all is confirmed, and the other end knows what has been received here.
    pub(super) fn is_at_rest(&self) -> bool {
        let blocks = self.blocks.as_ref();
        let are_sent = blocks.is_none_or(|blocks| blocks.outbox.len() == 0);
        self.outbox.len() == 0 && are_sent && self.told() == [None; 2]
    }

    /// The bits that the channel takes in a packet without its content; `told` is true for each of the
    /// two ids that it tells the other end.
    pub(super) fn overhead(&self, told: [bool; 2]) -> u64 {
        let blocks = u64::from(self.blocks.is_some());
        1 + echo::bits(told[0]) + blocks * (1 + echo::bits(told[1]))
    }

    pub(super) fn overhead_now(&self) -> u64 {
        self.overhead(self.told().map(|next| next.is_some()))
    }

    /// True if the ids that the channel tells are worth a packet of their own.
    pub(super) fn is_pressing(&self, turn: &Turn) -> bool {
        let blocks = |blocks: &Blocks<M>| blocks.inbox.echo.is_pressing(blocks.inbox.next(), turn);
        self.inbox.echo.is_pressing(self.inbox.next(), turn)
            || self.blocks.as_ref().is_some_and(blocks)
    }

    /// Chooses messages and pieces of blocks.
    pub(super) fn choose(&mut self, turn: &Turn, space: &mut Space) {
        let Some(blocks) = &mut self.blocks else {
            return self.outbox.choose(turn, space);
        };
        // Messages first: blocks take the room that messages leave, unless a piece starves.
        if blocks.outbox.is_starving(turn.now) {
            blocks.outbox.choose(turn, space);
            self.outbox.choose(turn, space);
        } else {
            self.outbox.choose(turn, space);
            blocks.outbox.choose(turn, space);
        }
    }

    /// True if a message or piece has found no room for 250 ms.
    pub(super) fn is_starving(&self, now: Instant) -> bool {
        let blocks = self.blocks.as_ref();
        self.outbox.is_starving(now) || blocks.is_some_and(|blocks| blocks.outbox.is_starving(now))
    }

    pub(super) fn write(&mut self, stream: &mut WriteStream<'_>) -> Result<(), Error> {
        let [mut message, mut block] = self.told();
        echo::serialize(stream, &mut message)?;
        self.outbox.write(stream)?;
        if let Some(blocks) = &mut self.blocks {
            echo::serialize(stream, &mut block)?;
            blocks.outbox.write(stream)?;
        }
        Ok(())
    }

    /// Notes that all that was written is in this packet. Returns the number of messages and pieces that
    /// were in an earlier packet, too.
    pub(super) fn sent(&mut self, channel: u8, turn: &Turn, items: &mut Vec<Item>) -> u64 {
        let [message, block] = self.told();
        if let Some(next) = message {
            self.inbox.echo.sent(next, turn);
            items.push(Item::NextMessage { channel, next });
        }
        let mut again = self.outbox.sent(turn, |first, count| {
            items.push(Item::Messages {
                channel,
                first,
                count,
            });
        });
        if let Some(blocks) = &mut self.blocks {
            if let Some(next) = block {
                blocks.inbox.echo.sent(next, turn);
                items.push(Item::NextBlock { channel, next });
            }
            again += blocks.outbox.sent(turn, |block, index| {
                items.push(Item::Fragment {
                    channel,
                    block,
                    index,
                });
            });
        }
        again
    }

    /// Reads what [`write`](Self::write) wrote, and changes nothing.
    pub(super) fn read(
        &self,
        stream: &mut ReadStream<'_>,
        items: &mut u32,
    ) -> Result<Arrived<M>, Error> {
        let mut arrived = Arrived {
            confirmed: [None; 2],
            messages: Vec::new(),
            fragments: Vec::new(),
        };
        echo::serialize(stream, &mut arrived.confirmed[0])?;
        let mut previous = None;
        while more(stream, items)? {
            let (mut id, mut message) = (0, M::blank());
            id::serialize_after(stream, &mut id, previous)?;
            self.inbox.check(id)?;
            message.serialize(stream)?;
            arrived.messages.push((id, message));
            previous = Some(id);
        }
        let Some(blocks) = &self.blocks else {
            return Ok(arrived);
        };
        echo::serialize(stream, &mut arrived.confirmed[1])?;
        let mut previous = None;
        while more(stream, items)? {
            let fragment = Fragment::read(stream, previous, &blocks.shape)?;
            blocks.inbox.check(&fragment.head)?;
            previous = Some(fragment.head.block);
            arrived.fragments.push(fragment);
        }
        Ok(arrived)
    }

    /// Takes what was read. Returns the number of messages and pieces that had come before.
    pub(super) fn arrived(&mut self, arrived: Arrived<M>) -> u64 {
        let mut again = 0;
        if let Some(next) = arrived.confirmed[0] {
            self.outbox.confirm(next);
        }
        for (id, message) in arrived.messages {
            again += u64::from(!self.inbox.insert(id, message));
        }
        if let Some(blocks) = &mut self.blocks {
            if let Some(next) = arrived.confirmed[1] {
                blocks.outbox.confirm(next);
            }
            for fragment in arrived.fragments {
                again += u64::from(!blocks.inbox.insert(fragment));
            }
        }
        again
    }

    /// The next message in order, or otherwise a block that is whole.
    pub(super) fn receive(&mut self) -> Option<(M, Option<Bytes>)> {
        if let Some(message) = self.inbox.receive() {
            return Some((message, None));
        }
        let (message, block) = self.blocks.as_mut()?.inbox.receive()?;
        Some((message, Some(block)))
    }
}

/// True if another item follows; `items` is the number of items that the packet may still have.
pub(super) fn more(stream: &mut ReadStream<'_>, items: &mut u32) -> Result<bool, Error> {
    let mut more = false;
    stream.bool(&mut more)?;
    if more {
        *items = items.checked_sub(1).ok_or(Error::OutOfRange)?;
    }
    Ok(more)
}
