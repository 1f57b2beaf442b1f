//! What the receive queue holds of a packet: its sentinel alone, some of its bytes, or all of them.

use alloc::boxed::Box;

use bytes::Bytes;

use super::cost;
use crate::buffers::{Buffers, Reassembly};
use crate::frame::{Mode, Packet};

/// What is there of a packet.
#[derive(Debug)]
pub(crate) enum Content {
    /// Nothing but its sentinel, or nothing yet (§3.2.2).
    Sentinel,
    Partial(Box<Reassembly>),
    Complete(Bytes),
    /// A reliable or passive packet that was given up. It is consumed like a packet, and not delivered.
    Tombstone,
    /// A packet of an unordered channel that was delivered, and that m_b has not passed.
    Delivered,
    /// A tombstone of an unordered channel that was consumed, and that m_b has not passed.
    Buried,
}

/// An entry of the queue.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) mode: Mode,
    /// Distance to the reliable packet that must be delivered before, 0 for none (§3.2.3).
    pub(crate) dependency: u32,
    /// True once a sentinel has come for the packet.
    pub(crate) sentinel: bool,
    pub(crate) content: Content,
}

impl Entry {
    pub(crate) const fn new(mode: Mode, dependency: u32, content: Content) -> Self {
        Self {
            mode,
            dependency,
            sentinel: false,
            content,
        }
    }

    /// Bytes of the packet that are there.
    pub(crate) fn len(&self) -> usize {
        match &self.content {
            Content::Sentinel | Content::Tombstone | Content::Delivered | Content::Buried => 0,
            Content::Partial(parts) => parts.len(),
            Content::Complete(payload) => payload.len(),
        }
    }

    /// Bytes that the entry takes of the receive budget.
    pub(crate) fn cost(&self) -> u64 {
        match self.content {
            // Both hosts leave sentinels out of the count: of a channel there are at most N_Q / M (Q2). What
            // was delivered takes no memory beside its entry.
            Content::Sentinel | Content::Delivered | Content::Buried => 0,
            Content::Partial(_) | Content::Complete(_) | Content::Tombstone => cost(self.len()),
        }
    }

    /// Adds the bytes of a message that was checked.
    pub(crate) fn add(&mut self, packet: &Packet<&[u8]>, buffers: &mut Buffers) {
        let (offset, len) = packet.part();
        if matches!(self.content, Content::Sentinel) {
            self.content = match packet.fragment {
                None => Content::Complete(buffers.copy(packet.payload)),
                Some(_) => Content::Partial(buffers.reassembly(len)),
            };
        }
        let Content::Partial(parts) = &mut self.content else {
            return;
        };
        let Some(news) = parts.news(offset, packet.payload) else {
            return;
        };
        if !parts.add(offset, packet.payload, news) {
            return;
        }
        let complete = core::mem::replace(&mut self.content, Content::Sentinel);
        if let Content::Partial(parts) = complete {
            self.content = Content::Complete(buffers.finish(parts));
        }
    }

    /// Whether there is nothing but its sentinel.
    pub(crate) const fn is_sentinel(&self) -> bool {
        self.sentinel && matches!(self.content, Content::Sentinel)
    }

    /// Whether it waits for nothing but its turn to be consumed.
    pub(crate) const fn is_complete(&self) -> bool {
        matches!(self.content, Content::Complete(_) | Content::Tombstone)
    }
}
