//! The road that all flows of a run share: one bottleneck, and behind it a path of each flow's own.

use alloc::vec::Vec;
use core::time::Duration;

use porous_proto::Instant;

use super::bottleneck::{Bottleneck, Parcel};
use super::policer::Policer;
use crate::{Fate, Link, LinkConfig, Seed};

/// The bytes of IP and UDP before each datagram.
pub(super) const HEADERS: u64 = 28;

/// Datagrams of end 0 of every flow go through the policer and the bottleneck, then through the `there` of their
/// flow. Datagrams of end 1 go through `back` alone.
#[derive(Debug)]
pub(super) struct Road {
    bottleneck: Bottleneck,
    policer: Option<Policer>,
    seed: Seed,
    /// What the way there takes longer than the way back.
    detour: Duration,
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
    /// Bytes that have passed the bottleneck.
    pub(super) carried: u64,
    /// Datagrams that policer and bottleneck did not take, or threw out.
    pub(super) dropped: u64,
    /// Datagrams that were lost behind the bottleneck.
    pub(super) lost: u64,
    /// How long the last datagram takes there, queue included, and the last one back.
    pub(super) took: [Duration; 2],
}

impl Counts {
    /// Datagrams that did not arrive.
    pub(super) const fn gone(&self) -> u64 {
        self.dropped + self.lost
    }

    pub(super) fn round_trip(&self) -> Duration {
        self.took.iter().sum()
    }

    /// A datagram was sent by this end, and met this fate.
    fn takes(&mut self, end: usize, sent: Instant, fate: Fate) {
        if let Fate::Carried { due, .. } = fate {
            self.took[end] = due.saturating_duration_since(sent);
        }
    }
}

impl Road {
    pub(super) fn new(bottleneck: Bottleneck, policer: Option<Policer>, seed: Seed) -> Self {
        Self {
            bottleneck,
            policer,
            seed,
            detour: Duration::ZERO,
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

    /// While it is down, the bottleneck takes nothing.
    pub(super) fn set_down(&mut self, is_down: bool) {
        self.bottleneck.set_down(is_down);
    }

    /// Changes the rate of policer or bottleneck, in bits a second.
    pub(super) fn set_rate(&mut self, rate: u64) {
        match &mut self.policer {
            Some(policer) => policer.set_rate(rate / 8),
            None => self.bottleneck.set_rate(rate),
        }
    }

    /// Changes the delay of all paths, each way.
    pub(super) fn delay(&mut self, delay: Duration) {
        for way in &mut self.ways {
            let there = delay.saturating_add(self.detour);
            way.there.set_config(way.there.config().delay(there));
            way.back.set_config(way.back.config().delay(delay));
        }
    }

    /// The way there takes this much longer than the way back.
    pub(super) fn detour(&mut self, detour: Duration) {
        self.detour = detour;
        for way in &mut self.ways {
            let there = way.back.config().delay.saturating_add(detour);
            way.there.set_config(way.there.config().delay(there));
        }
    }

    /// Changes the loss of all paths behind the bottleneck, in percent.
    pub(super) fn loss(&mut self, percent: f64) {
        for way in &mut self.ways {
            way.there.set_config(way.there.config().loss(percent));
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
            let fate = way.back.send(now, datagram);
            way.count.takes(1, now, fate);
            return;
        }
        let bytes = datagram.len() as u64 + HEADERS;
        way.count.offered += bytes;
        way.count.datagrams += 1;
        let mut policer = self.policer.as_mut();
        if policer.as_mut().is_none_or(|it| it.takes(now, bytes)) {
            self.bottleneck.send(Parcel {
                flow,
                came: now,
                datagram,
            });
            self.count_drops();
        } else {
            way.count.dropped += 1;
        }
    }

    fn count_drops(&mut self) {
        while let Some(flow) = self.bottleneck.dropped() {
            self.ways[flow].count.dropped += 1;
        }
    }

    /// Moves datagrams that have left the bottleneck to the paths behind it.
    pub(super) fn advance(&mut self, now: Instant) {
        while let Some((parcel, left)) = self.bottleneck.receive(now) {
            let (way, came) = (&mut self.ways[parcel.flow], parcel.came);
            way.count.carried += parcel.bytes();
            // From the time at which it left, not from now, or a late call would add to its delay.
            let fate = way.there.send(left, parcel.datagram);
            way.count.lost += u64::from(fate == Fate::Lost);
            way.count.takes(0, came, fate);
            self.count_drops();
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
        ends.chain([self.bottleneck.next()]).flatten().min()
    }

    /// How long a datagram that is sent now would wait.
    pub(super) fn queue_delay(&self, now: Instant) -> Duration {
        self.bottleneck.delay(now)
    }

    pub(super) fn counts(&self, flow: usize) -> Counts {
        self.ways[flow].count
    }
}
