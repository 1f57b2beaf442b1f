//! How a sender learns what its receiver has received: each packet may tell the receiver's next id.

use porous_proto::Instant;

use super::id::{self, ID_BITS};
use super::record::Turn;
use crate::error::Error;
use crate::stream::Stream;

/// What the other end knows of this end's next id.
#[derive(Debug, Default)]
pub(super) struct Echo {
    /// The newest id in a packet that has arrived.
    told: u32,
    /// The id that was last sent, and when.
    sent: Option<(u32, Instant)>,
    /// True if a message or piece came that had been received before: the other end may not know the
    /// id.
    again: bool,
}

impl Echo {
    /// True if a packet that is sent anyway should tell the id.
    pub(super) const fn is_due(&self, next: u32) -> bool {
        self.again || self.told != next
    }

    /// True if the id is worth a packet of its own.
    pub(super) fn is_pressing(&self, next: u32, turn: &Turn) -> bool {
        // After a repetition at once, as the other end sends again until it is told; otherwise once in a
        // resend time.
        let was_sent = |(sent, at): (u32, Instant)| sent == next && turn.now < at + turn.resend;
        self.is_due(next) && (self.again || !self.sent.is_some_and(was_sent))
    }

    /// A message or piece came that had been received before.
    pub(super) const fn repeat(&mut self) {
        self.again = true;
    }

    /// The id is in this packet.
    pub(super) const fn sent(&mut self, next: u32, turn: &Turn) {
        self.sent = Some((next, turn.now));
        self.again = false;
    }

    /// A packet with the id `value` has arrived.
    pub(super) fn acked(&mut self, value: u32, next: u32) {
        // An id that is older than the newest known is ignored.
        if value.wrapping_sub(self.told) <= next.wrapping_sub(self.told) {
            self.told = value;
        }
    }
}

/// Writes a bit, which is set if an id follows, and the id.
pub(super) fn serialize<S: Stream>(stream: &mut S, next: &mut Option<u32>) -> Result<(), Error> {
    stream.option(next, |id, stream| id::serialize(stream, id))
}

/// The bits that [`serialize`] takes.
pub(super) const fn bits(is_there: bool) -> u64 {
    if is_there { 1 + ID_BITS } else { 1 }
}
