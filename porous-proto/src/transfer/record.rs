//! What a host remembers of a frame that it has sent. It is packed: a peer has a record for each frame on its
//! way, and for some behind them.

use super::queue::{Content, Kind, Sent};
use super::store::{Chain, List};
use crate::event::Ecn;
use crate::time::Instant;

/// What has become of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// Neither acknowledged nor considered dropped.
    Open,
    /// Considered dropped. An acknowledgement may still come, late.
    Dropped,
    /// Acknowledged, or given up because the queue was full.
    Settled,
    /// Nothing was sent under its id.
    LeftOut,
}

/// The kinds of a frame with data, by [`Content`], and then those without, as bits 2 to 4 of the flags have
/// them.
const KINDS: u8 = 0b111 << 2;
const UNRELIABLE: u8 = 0;
const RELIABLE: u8 = 1 << 2;
const ASKING: u8 = 2 << 2;
const REPEATED: u8 = 3 << 2;
const SIGNAL: u8 = 4 << 2;
const PING: u8 = 5 << 2;
const ASIDE: u8 = 6 << 2;
const ACK: u8 = 7 << 2;

const FATES: u8 = 0b11;
const MARKED: u8 = 1 << 5;
const LARGE: u8 = 1 << 6;
const SENTINEL: u8 = 1 << 7;

/// A frame, and what has become of it.
#[derive(Debug)]
pub(super) struct Record {
    at: Instant,
    reported: u64,
    contents: Chain,
    /// Bytes in flight, if the frame has data.
    bytes: u16,
    flags: u8,
}

// A peer has one for each frame that is on its way, and 64 after losses.
const _: () = assert!(size_of::<Record>() == 24);

impl Record {
    /// A frame that is on its way.
    pub(super) fn new(sent: &Sent, contents: List) -> Self {
        let kind = match sent.kind {
            Kind::Data { content, .. } => match content {
                Content::Unreliable => UNRELIABLE,
                Content::Reliable => RELIABLE,
                Content::Asking => ASKING,
                Content::Repeated => REPEATED,
            },
            Kind::Signal => SIGNAL,
            Kind::Ping => PING,
            Kind::Aside => ASIDE,
            Kind::Ack => ACK,
        };
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        // This host marks with ECT(0) or not at all (`docs/deviations.md` D9).
        let marked = flag(sent.ecn == Ecn::Ect0, MARKED);
        let rest = flag(sent.is_large, LARGE) | flag(sent.sentinel, SENTINEL);
        Self {
            at: sent.at,
            reported: sent.reported,
            contents: contents.close(),
            // No datagram is longer (UDP).
            bytes: u16::try_from(sent.bytes()).unwrap_or(u16::MAX),
            flags: Fate::Open as u8 | kind | marked | rest,
        }
    }

    /// An id under which nothing is sent.
    pub(super) const fn left_out() -> Self {
        Self {
            at: Instant::ZERO,
            reported: 0,
            contents: Chain::EMPTY,
            bytes: 0,
            flags: Fate::LeftOut as u8 | ACK,
        }
    }

    pub(super) const fn fate(&self) -> Fate {
        match self.flags & FATES {
            0 => Fate::Open,
            1 => Fate::Dropped,
            2 => Fate::Settled,
            _ => Fate::LeftOut,
        }
    }

    /// When the frame was sent.
    pub(super) const fn sent_at(&self) -> Instant {
        self.at
    }

    pub(super) const fn set_fate(&mut self, fate: Fate) {
        self.flags = self.flags & !FATES | fate as u8;
    }

    /// Whether the sender awaits an acknowledgement of the frame: see [`Sent::is_tracked`].
    pub(super) const fn is_awaited(&self) -> bool {
        self.flags & FATES == Fate::Open as u8 && self.flags & KINDS <= SIGNAL
    }

    /// Whether the frame has data of which an early probe may repeat something: see [`Sent::probe`].
    pub(super) const fn may_be_probed(&self) -> bool {
        matches!(self.flags & KINDS, RELIABLE | ASKING)
    }

    /// Bytes of the frame in flight while it is on its way.
    pub(super) const fn bytes(&self) -> u32 {
        self.bytes as u32
    }

    pub(super) fn sent(&self) -> Sent {
        let data = |content| Kind::Data {
            bytes: self.bytes(),
            content,
        };
        let kind = match self.flags & KINDS {
            UNRELIABLE => data(Content::Unreliable),
            RELIABLE => data(Content::Reliable),
            ASKING => data(Content::Asking),
            REPEATED => data(Content::Repeated),
            SIGNAL => Kind::Signal,
            PING => Kind::Ping,
            ASIDE => Kind::Aside,
            _ => Kind::Ack,
        };
        let has = |flag| self.flags & flag != 0;
        Sent {
            at: self.at,
            kind,
            ecn: if has(MARKED) { Ecn::Ect0 } else { Ecn::NotEct },
            is_large: has(LARGE),
            sentinel: has(SENTINEL),
            reported: self.reported,
        }
    }

    /// The messages of the frame.
    pub(super) const fn contents(&self) -> Chain {
        self.contents
    }

    /// Takes the messages of the frame out of the record.
    pub(super) const fn take_contents(&mut self) -> List {
        core::mem::replace(&mut self.contents, Chain::EMPTY).open()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_says_what_was_put_into_it() {
        let contents = [
            Content::Unreliable,
            Content::Reliable,
            Content::Asking,
            Content::Repeated,
        ];
        let data = contents.map(|content| Kind::Data {
            bytes: 65_507,
            content,
        });
        let others = [Kind::Signal, Kind::Ping, Kind::Aside, Kind::Ack];
        for kind in data.into_iter().chain(others) {
            for bits in 0..8 {
                let sent = Sent {
                    at: Instant::from_micros(1 << 63),
                    kind,
                    ecn: if bits & 1 == 0 {
                        Ecn::NotEct
                    } else {
                        Ecn::Ect0
                    },
                    is_large: bits & 2 != 0,
                    sentinel: bits & 4 != 0,
                    reported: u64::MAX - 1,
                };
                let mut record = Record::new(&sent, List::EMPTY);
                assert_eq!(record.fate(), Fate::Open);
                assert_eq!(record.is_awaited(), sent.is_tracked());
                assert_eq!(record.may_be_probed(), sent.probe().is_some());
                assert_eq!(record.bytes(), sent.bytes());
                for fate in [Fate::Dropped, Fate::Settled, Fate::LeftOut] {
                    record.set_fate(fate);
                    assert_eq!((record.sent(), record.fate()), (sent, fate));
                    assert!(!record.is_awaited());
                }
            }
        }
    }
}
