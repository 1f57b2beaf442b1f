//! TCP as it is met on the Internet, to share a bottleneck with: a sender that always has data, and
//! a receiver, both by the RFCs.
//!
//! Segments of 1448 bytes in packets of 1500; acknowledgements of 52 bytes and 8 more for each of at
//! most three SACK blocks (RFC 2018), for every second segment or after 40 ms, at once if a segment is
//! missing (RFC 5681 §4.2). The window grows by Reno (RFC 5681) or Cubic (RFC 9438), or both window and
//! rate follow BBR ([`bbr`]); all begin with ten segments (RFC 6928). Losses are found by SACK (RFC 6675), or
//! by a timer (RFC 6298) of at least 200 ms, the minimum of real systems. Segments are counted, not bytes,
//! and their numbers do not wrap.

mod bbr;
mod control;
mod cubic;
mod delivery;
mod receiver;
mod reno;
mod scoreboard;
mod sender;
#[cfg(test)]
mod tests;
mod window;

use alloc::boxed::Box;
use alloc::vec::Vec;

use porous_proto::Instant;

use self::bbr::Bbr;
use self::control::Control;
use self::cubic::Cubic;
use self::receiver::Receiver;
use self::reno::Reno;
use self::sender::Sender;
use self::window::Windowed;
use super::ends::{Ends, Seen};
use crate::Seed;

/// The data of a segment, in bytes.
pub(super) const SEGMENT: u64 = 1448;

/// The length of a packet with a segment in bytes, without the 28 that the road adds to each datagram.
const PACKET: usize = 1500 - 28;

/// The length of an acknowledgement without SACK blocks, also without these 28 bytes.
const ACK: usize = 52 - 28;

/// The first window, in segments (RFC 6928).
const INITIAL_WINDOW: f64 = 10.0;

/// The algorithm of the congestion control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tcp {
    /// RFC 5681.
    Reno,
    /// RFC 9438.
    Cubic,
    /// draft-ietf-ccwg-bbr.
    Bbr,
}

impl Tcp {
    /// The name of the controller in tables.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Reno => "tcp-reno",
            Self::Cubic => "tcp-cubic",
            Self::Bbr => "tcp-bbr",
        }
    }

    /// `seed` is of all chance in the control.
    fn control(self, seed: Seed) -> Box<dyn Control> {
        match self {
            Self::Reno => Box::new(Windowed::new(Reno)),
            Self::Cubic => Box::new(Windowed::new(Cubic::default())),
            Self::Bbr => Box::new(Bbr::new(seed)),
        }
    }
}

/// A flow of TCP.
#[derive(Debug)]
pub(super) struct TcpFlow {
    sender: Sender,
    receiver: Receiver,
}

impl TcpFlow {
    pub(super) fn new(tcp: Tcp, seed: Seed) -> Self {
        Self {
            sender: Sender::new(tcp.control(seed)),
            receiver: Receiver::default(),
        }
    }
}

impl Ends for TcpFlow {
    fn begin(&mut self, now: Instant) {
        self.sender.begin(now);
    }

    fn take(&mut self, end: usize, now: Instant, datagram: &[u8]) {
        if end == 0 {
            self.sender.take(now, datagram);
        } else {
            self.receiver.take(now, datagram);
        }
    }

    fn serve(&mut self, end: usize, now: Instant) {
        if end == 0 {
            self.sender.serve(now);
        }
    }

    fn next(&mut self, end: usize, now: Instant) -> Option<Vec<u8>> {
        if end == 0 {
            self.sender.next(now)
        } else {
            self.receiver.next(now)
        }
    }

    fn deadline(&self, end: usize) -> Option<Instant> {
        if end == 0 {
            self.sender.deadline()
        } else {
            self.receiver.deadline()
        }
    }

    fn seen(&self) -> Seen {
        Seen {
            delivered: self.receiver.in_order() * SEGMENT,
            ..self.sender.seen()
        }
    }
}

/// A segment as bytes: its number, and the time when it was sent (RFC 7323).
fn segment(number: u32, now: Instant) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(PACKET);
    bytes.extend_from_slice(&number.to_le_bytes());
    bytes.extend_from_slice(&now.as_micros().to_le_bytes());
    bytes.resize(PACKET, 0);
    bytes
}

/// The content of an acknowledgement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Acknowledgement {
    /// All segments before this one have arrived.
    before: u32,
    /// The timestamp of the segment that caused the acknowledgement, in microseconds.
    echo: u64,
    /// Ranges of other segments that have arrived, each with the number after its last, the newest
    /// first.
    blocks: Vec<[u32; 2]>,
}

impl Acknowledgement {
    fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(ACK + 24);
        bytes.extend_from_slice(&self.before.to_le_bytes());
        bytes.extend_from_slice(&self.echo.to_le_bytes());
        bytes.resize(ACK, 0);
        for number in self.blocks.iter().flatten() {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    fn decode(bytes: &[u8]) -> Self {
        // Only packets of these models come here, so a short one is read as zeros and not refused.
        let (head, blocks) = bytes.split_at_checked(ACK).unwrap_or((bytes, &[]));
        let numbers: Vec<u32> = blocks
            .chunks_exact(4)
            .map(|bytes| u32_of(bytes, 0))
            .collect();
        Self {
            before: u32_of(head, 0),
            echo: u64_of(head, 4),
            blocks: numbers
                .chunks_exact(2)
                .map(|ends| [ends[0], ends[1]])
                .collect(),
        }
    }
}

/// A number from a packet of ours; 0 if the packet ends before.
fn u32_of(bytes: &[u8], at: usize) -> u32 {
    let rest = bytes.get(at..).and_then(|rest| rest.first_chunk());
    rest.map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

fn u64_of(bytes: &[u8], at: usize) -> u64 {
    let rest = bytes.get(at..).and_then(|rest| rest.first_chunk());
    rest.map_or(0, |bytes| u64::from_le_bytes(*bytes))
}
