//! How the sender learns what its receiver has received: each packet may tell the next id.

use porous_proto::Instant;

use super::id::{self, ID_BITS};
use super::record::Turn;
use crate::error::Error;
use crate::stream::Stream;

/// What of one's own next id the other end knows.
#[derive(Debug, Default)]
pub(super) struct Echo {
    /// It was in a packet that has arrived.
    told: u32,
    /// It was last sent, and when.
    sent: Option<(u32, Instant)>,
    /// Something came that had been received before: the other end may not know.
    again: bool,
}

impl Echo {
    /// Whether a packet that is sent anyway should tell it.
    pub(super) const fn is_due(&self, next: u32) -> bool {
        self.again || self.told != next
    }

    /// Whether it is worth a packet of its own.
    pub(super) fn is_pressing(&self, next: u32, turn: &Turn) -> bool {
        let was_sent = |(sent, at): (u32, Instant)| sent == next && turn.now < at + turn.resend;
        self.is_due(next) && (self.again || !self.sent.is_some_and(was_sent))
    }

    /// Something came that had been received before.
    pub(super) const fn repeat(&mut self) {
        self.again = true;
    }

    /// It is in this packet.
    pub(super) const fn sent(&mut self, next: u32, turn: &Turn) {
        self.sent = Some((next, turn.now));
        self.again = false;
    }

    /// A packet with this has arrived.
    pub(super) fn acked(&mut self, value: u32, next: u32) {
        // Not one that is older than what is known.
        if value.wrapping_sub(self.told) <= next.wrapping_sub(self.told) {
            self.told = value;
        }
    }
}

/// A bit that tells whether there is one, and the id.
pub(super) fn serialize<S: Stream>(stream: &mut S, next: &mut Option<u32>) -> Result<(), Error> {
    stream.option(next, |id, stream| id::serialize(stream, id))
}

/// How many bits that takes.
pub(super) const fn bits(is_there: bool) -> u64 {
    if is_there { 1 + ID_BITS } else { 1 }
}
