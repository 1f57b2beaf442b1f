//! What the receive queue holds of a packet: nothing but its sentinel, some of its fragments, or all
//! of it.

use alloc::boxed::Box;

use bytes::Bytes;

use super::cost;
use super::fragment::Reassembly;
use crate::frame::{Mode, Packet};

/// What is there of a packet.
#[derive(Debug)]
pub(crate) enum Content {
    /// Nothing but its sentinel (§3.2.2).
    Sentinel,
    Partial(Box<Reassembly>),
    Complete(Bytes),
    /// A reliable or passive packet that was given up: consumed, not delivered.
    Tombstone,
    /// It was delivered, and m_b has not passed it: on an unordered channel.
    Delivered,
    /// The same of a tombstone, which was consumed.
    Buried,
}

/// An entry of the queue.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) mode: Mode,
    pub(crate) dependency: u32,
    /// A sentinel has come for it.
    pub(crate) sentinel: bool,
    pub(crate) content: Content,
}

impl Entry {
    /// Bytes of the packet that are there.
    pub(crate) fn len(&self) -> usize {
        match &self.content {
            Content::Sentinel | Content::Tombstone | Content::Delivered | Content::Buried => 0,
            Content::Partial(parts) => parts.len(),
            Content::Complete(payload) => payload.len(),
        }
    }

    pub(crate) fn cost(&self) -> u64 {
        match self.content {
            // The sender does not count sentinels either, and of them there are at most N_Q / M.
            Content::Sentinel | Content::Delivered | Content::Buried => 0,
            Content::Partial(_) | Content::Complete(_) | Content::Tombstone => cost(self.len()),
        }
    }

    /// Adds a message that was checked.
    pub(crate) fn add(&mut self, packet: &Packet<&[u8]>) {
        let (offset, len) = packet.part();
        if matches!(self.content, Content::Sentinel) {
            self.content = match packet.fragment {
                None => Content::Complete(Bytes::copy_from_slice(packet.payload)),
                Some(_) => Content::Partial(Box::new(Reassembly::new(len))),
            };
        }
        let Content::Partial(parts) = &mut self.content else {
            return;
        };
        let Some(news) = parts.news(offset, packet.payload) else {
            return;
        };
        if parts.add(offset, packet.payload, news) {
            let parts = core::mem::replace(&mut **parts, Reassembly::new(0));
            self.content = Content::Complete(parts.finish());
        }
    }

    /// Whether there is nothing but its sentinel.
    pub(crate) const fn is_sentinel(&self) -> bool {
        self.sentinel && matches!(self.content, Content::Sentinel)
    }

    /// Whether it waits for nothing but its turn.
    pub(crate) const fn is_complete(&self) -> bool {
        matches!(self.content, Content::Complete(_) | Content::Tombstone)
    }
}
