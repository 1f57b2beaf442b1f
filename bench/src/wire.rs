//! The path between two ends, and its counts.

use core::time::Duration;

use porous_proto::Instant;
use porous_sim::{Fate, Link, LinkConfig, Queue, Seed};

/// The bytes of IP and UDP before each datagram.
pub(crate) const UDP_OVERHEAD: u64 = 28;

/// The largest UDP payload that the path carries, as on Ethernet.
const MTU: usize = 1472;

/// The conditions of a path, the same both ways.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    /// The delay, one way.
    pub(crate) delay: Duration,
    /// How far the delay of a datagram may be from `delay`.
    pub(crate) jitter: Duration,
    /// Datagrams lost each way, in percent.
    pub(crate) loss: f64,
    /// Datagrams that arrive twice each way, in percent.
    pub(crate) duplicate: f64,
    /// Datagrams that are held back each way so that later ones overtake them, in percent.
    pub(crate) reorder: f64,
    /// The rate of the bottleneck each way, in bits a second, with IP and UDP headers; 0 for no limit.
    pub(crate) rate: u64,
    /// The longest wait before the bottleneck. A datagram that would wait longer is dropped.
    pub(crate) queue: Duration,
}

/// Both directions of a path.
pub(crate) struct Wire {
    path: Path,
    /// The links, by the end that sends on them.
    links: [Link; 2],
    /// The sum of the times that datagrams of the first end waited before the bottleneck.
    queued: Duration,
    carried: u64,
}

impl Wire {
    pub(crate) fn new(path: Path, seed: u64) -> Self {
        let config = LinkConfig::new()
            .delay(path.delay)
            .jitter(path.jitter)
            .loss(path.loss)
            .duplicate(path.duplicate)
            .reorder(path.reorder)
            .rate(path.rate)
            .queue(Queue::Time(path.queue))
            .mtu(MTU);
        Self {
            path,
            links: [0, 1].map(|way| Link::new(config, Seed::new(seed).child("link", way))),
            queued: Duration::ZERO,
            carried: 0,
        }
    }

    /// Puts a datagram of `end` on its way.
    pub(crate) fn send(&mut self, end: usize, now: Instant, datagram: Vec<u8>) -> Fate {
        let bits = 8 * (datagram.len() as u64 + UDP_OVERHEAD);
        let fate = self.links[end].send(now, datagram);
        if let (0, Fate::Carried { due, .. }) = (end, fate) {
            let leaves = (bits * 1_000_000).checked_div(self.path.rate).unwrap_or(0);
            let own = Duration::from_micros(leaves) + self.path.delay;
            self.queued += due.saturating_duration_since(now).saturating_sub(own);
            self.carried += 1;
        }
        fate
    }

    /// The next datagram that has arrived at `end`.
    pub(crate) fn receive(&mut self, end: usize, now: Instant) -> Option<Vec<u8>> {
        self.links[1 - end].receive(now)
    }

    /// When the next datagram arrives at `end`.
    pub(crate) fn next_arrival(&self, end: usize) -> Option<Instant> {
        self.links[1 - end].next_delivery()
    }

    /// Datagrams that were put on the path, both ways.
    pub(crate) fn datagrams(&self) -> u64 {
        self.links.iter().map(|link| link.stats().sent).sum()
    }

    /// The UDP payload bytes that were put on the path, both ways.
    pub(crate) fn bytes(&self) -> u64 {
        self.links.iter().map(|link| link.stats().bytes_sent).sum()
    }

    /// The mean time that datagrams of the first end waited before the bottleneck, in milliseconds. Has no
    /// meaning with jitter.
    pub(crate) fn mean_queue(&self) -> f64 {
        self.queued.as_secs_f64() * 1000.0 / self.carried.max(1) as f64
    }
}
