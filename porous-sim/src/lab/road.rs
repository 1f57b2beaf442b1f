//! The road that all flows of a run share: one bottleneck, and behind it a path of each flow's own.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use porous_proto::Instant;

use super::policer::Policer;
use crate::{Fate, Link, LinkConfig, Seed};

/// The bytes of IP and UDP before each datagram.
pub(super) const HEADERS: u64 = 28;

/// Datagrams of end 0 of every flow go through `shared`, then through the `there` of their flow.
/// Datagrams of end 1 go through `back` alone.
#[derive(Debug)]
pub(super) struct Road {
    shared: Link,
    policer: Option<Policer>,
    /// The flows of the datagrams in `shared`, in order.
    owners: VecDeque<usize>,
    /// When the last bit of the queue has left.
    free_at: Instant,
    seed: Seed,
    ways: Vec<Way>,
}

#[derive(Debug)]
struct Way {
    there: Link,
    back: Link,
    count: Counts,
}

/// Counts of a flow at the bottleneck, in bytes with the headers of IP and UDP.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// Bytes that were sent to the bottleneck.
    pub(super) offered: u64,
    pub(super) datagrams: u64,
    /// Bytes that the bottleneck took.
    pub(super) carried: u64,
    /// Datagrams that the bottleneck did not take.
    pub(super) dropped: u64,
}

impl Road {
    pub(super) fn new(shared: LinkConfig, policer: Option<Policer>, seed: Seed) -> Self {
        Self {
            shared: Link::new(shared, seed.child("shared", 0)),
            policer,
            owners: VecDeque::new(),
            free_at: Instant::ZERO,
            seed,
            ways: Vec::new(),
        }
    }

    /// Adds a flow, with its own conditions there and back.
    pub(super) fn add(&mut self, there: LinkConfig, back: LinkConfig) {
        let index = self.ways.len() as u64;
        self.ways.push(Way {
            there: Link::new(there, self.seed.child("there", index)),
            back: Link::new(back, self.seed.child("back", index)),
            count: Counts::default(),
        });
    }

    /// Changes the conditions of the bottleneck.
    pub(super) fn change(&mut self, change: impl FnOnce(LinkConfig) -> LinkConfig) {
        self.shared.set_config(change(*self.shared.config()));
    }

    /// Changes the delay of all paths behind the bottleneck.
    pub(super) fn delay(&mut self, delay: Duration) {
        for way in &mut self.ways {
            way.there.set_config(way.there.config().delay(delay));
        }
    }

    /// Cuts all paths back.
    pub(super) fn cut_back(&mut self) {
        for way in &mut self.ways {
            way.back.set_config(way.back.config().down(true));
        }
    }

    /// Puts a datagram of an end on its way.
    pub(super) fn send(&mut self, flow: usize, end: usize, now: Instant, datagram: Vec<u8>) {
        let way = &mut self.ways[flow];
        if end == 1 {
            // Acknowledgements share no bottleneck: nothing holds up what comes back.
            way.back.send(now, datagram);
            return;
        }
        let bytes = datagram.len() as u64 + HEADERS;
        way.count.offered += bytes;
        way.count.datagrams += 1;
        let passes = self
            .policer
            .as_mut()
            .is_none_or(|policer| policer.takes(now, bytes));
        let fate = passes.then(|| self.shared.send(now, datagram));
        if let Some(Fate::Carried { due, .. }) = fate {
            way.count.carried += bytes;
            self.free_at = due;
            // The shared link keeps the order, so datagrams leave it in the order of their owners.
            self.owners.push_back(flow);
        } else {
            way.count.dropped += 1;
        }
    }

    /// Moves datagrams that have left the bottleneck to the paths behind it.
    pub(super) fn advance(&mut self, now: Instant) {
        while let Some(left) = self.shared.next_delivery().filter(|&left| left <= now) {
            let Some(datagram) = self.shared.receive(left) else {
                return;
            };
            if let Some(flow) = self.owners.pop_front() {
                // From the time at which it left, not from now, or a late call would add to its delay.
                self.ways[flow].there.send(left, datagram);
            }
        }
    }

    /// The next datagram that has arrived at an end.
    pub(super) fn receive(&mut self, flow: usize, end: usize, now: Instant) -> Option<Vec<u8>> {
        let way = &mut self.ways[flow];
        let link = if end == 0 {
            &mut way.back
        } else {
            &mut way.there
        };
        link.receive(now)
    }

    /// When the next datagram leaves the bottleneck or arrives.
    pub(super) fn next(&self) -> Option<Instant> {
        let ways = self.ways.iter();
        let ends = ways.flat_map(|way| [way.there.next_delivery(), way.back.next_delivery()]);
        ends.chain([self.shared.next_delivery()]).flatten().min()
    }

    /// How long a datagram that is sent now would wait.
    pub(super) fn queue_delay(&self, now: Instant) -> Duration {
        self.free_at.saturating_duration_since(now)
    }

    pub(super) fn counts(&self, flow: usize) -> Counts {
        self.ways[flow].count
    }
}
