//! The data that the application of a porous flow sends.

use alloc::vec;
use core::time::Duration;

use porous_proto::{ChannelId, Instant, Mode, PeerId};

use super::host::FlowHost;

/// Small packets go first, bulk last.
pub(super) const SMALL: ChannelId = ChannelId(0);
pub(super) const BULK: ChannelId = ChannelId(1);

/// A file goes in packets of this length in bytes.
static PIECE: [u8; 16 << 10] = [0; 16 << 10];

/// The most bytes of a file that are queued or under way at once; the rest of the send budget is for
/// small packets.
const MOST_QUEUED: usize = 3 << 20;

/// The application's traffic; times count from when the connection is established.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Work {
    steady: Option<Steady>,
    bulk: bool,
    push: Option<Push>,
}

/// Packets of one length at a steady rate.
#[derive(Clone, Copy, Debug)]
struct Steady {
    /// Packets a second.
    rate: u64,
    bytes: usize,
    mode: Mode,
}

/// A burst of bytes.
#[derive(Clone, Copy, Debug)]
struct Push {
    after: Duration,
    bytes: usize,
}

impl Work {
    /// Bulk data: as much as the network takes.
    pub(super) const fn bulk() -> Self {
        Self {
            steady: None,
            bulk: true,
            push: None,
        }
    }

    /// A game's states: 60 unreliable packets of 100 bytes a second.
    pub(super) const fn game() -> Self {
        Self::steady(60, 100, Mode::Unreliable)
    }

    /// `rate` packets a second.
    pub(super) const fn steady(rate: u64, bytes: usize, mode: Mode) -> Self {
        Self {
            steady: Some(Steady { rate, bytes, mode }),
            bulk: false,
            push: None,
        }
    }

    /// Adds a file at low priority.
    pub(super) const fn and_bulk(mut self) -> Self {
        self.bulk = true;
        self
    }

    /// Adds a burst of `bytes` bytes.
    pub(super) const fn and_push(mut self, after: Duration, bytes: usize) -> Self {
        self.push = Some(Push { after, bytes });
        self
    }
}

/// The work of one flow while it goes on.
#[derive(Debug)]
pub(super) struct Working {
    work: Work,
    since: Instant,
    /// Steady packets that were sent.
    count: u64,
    /// Bytes of steady packets and of the burst that were sent so far.
    pub(super) offered: u64,
}

impl Working {
    pub(super) const fn new(work: Work, since: Instant) -> Self {
        Self {
            work,
            since,
            count: 0,
            offered: 0,
        }
    }

    /// When the next packet is due, bulk data aside.
    pub(super) fn next(&self) -> Option<Instant> {
        let steady = self
            .work
            .steady
            .map(|steady| self.since + Duration::from_micros(self.count * 1_000_000 / steady.rate));
        let push = self.work.push.map(|push| self.since + push.after);
        [steady, push].into_iter().flatten().min()
    }

    /// Sends the packets that are due.
    pub(super) fn act(&mut self, now: Instant, host: &mut FlowHost, peer: PeerId) {
        while let Some(due) = self.next().filter(|&due| due <= now) {
            let push = self.work.push.filter(|push| self.since + push.after == due);
            if let Some(push) = push {
                self.work.push = None;
                self.offered += push.bytes as u64;
                host.send(peer, BULK, vec![0; push.bytes], Mode::Reliable);
            } else if let Some(steady) = self.work.steady {
                self.count += 1;
                self.offered += steady.bytes as u64;
                let mut packet = vec![0; steady.bytes];
                // When the packet was due, not when it is sent: a late tick counts as delay.
                packet[..8].copy_from_slice(&due.as_micros().to_le_bytes());
                host.send(peer, SMALL, packet, steady.mode);
            }
        }
        let queued = |host: &FlowHost| host.queued_bytes(peer).unwrap_or(usize::MAX);
        // After the small packets, whose room the file must not take.
        while self.work.bulk && queued(host) < MOST_QUEUED {
            host.send(peer, BULK, &PIECE[..], Mode::Reliable);
        }
    }
}
