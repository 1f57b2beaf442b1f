//! A row for one controller: the path, and the flows that are put on it.

use core::cell::RefCell;
use core::time::Duration;

use super::bottleneck::{Bottleneck, Line};
use super::controllers::{Class, Controller, Subject};
use super::measure::Gate;
use super::policer::Policer;
use super::recording::Recording;
use super::stage::{Entry, Stage};
use super::tcp::Tcp;
use super::waiting::Order;
use super::work::Work;
use crate::{LinkConfig, Queue, Seed, Service};

/// A controller in a row, at full length or as a first look.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) controller: Controller,
    /// True for a first look, which is shorter.
    pub(super) quick: bool,
    pub(super) seed: Seed,
    /// Waits for the first road of the row, which takes it.
    pub(super) recording: RefCell<Option<Recording>>,
}

impl Case {
    /// The length of a run in seconds: `all`, or `quick` for a first look.
    pub(super) const fn seconds(&self, all: u64, quick: u64) -> Duration {
        Duration::from_secs(if self.quick { quick } else { all })
    }

    /// The number of tries: `all`, or two for a first look.
    pub(super) const fn tries(&self, all: u64) -> u64 {
        if self.quick { 2 } else { all }
    }

    /// A gate for all controllers that have gates.
    pub(super) fn gate(&self, gate: Gate) -> Option<Gate> {
        self.by_class(gate, gate)
    }

    /// A gate for controllers that keep the queue short.
    pub(super) fn of_delay(&self, gate: Gate) -> Option<Gate> {
        (self.controller.class == Class::Delay).then_some(gate)
    }

    /// A gate for controllers that go on until a loss, and one for those that keep the queue short.
    pub(super) fn by_class(&self, loss: Gate, delay: Gate) -> Option<Gate> {
        match self.controller.class {
            Class::Report => None,
            Class::Loss => Some(loss),
            Class::Delay => Some(delay),
        }
    }
}

/// The jitter of every path. Without jitter, flows keep their phase, and a full drop-tail queue always
/// drops the same flow's datagrams (Floyd and Jacobson, "On Traffic Phase Effects in Packet-Switched
/// Gateways", 1991).
pub(super) const UNEVEN: Duration = Duration::from_micros(200);

/// Both ends are served when a datagram comes or a timer is due.
const EVENTS: [Service; 2] = [Service::Event; 2];

/// The conditions of a path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path {
    /// The rate of the bottleneck in bits a second; 0 is no bottleneck.
    pub(super) rate: u64,
    pub(super) rtt: Duration,
    queue: Queue,
    policer: Option<Policer>,
    /// The loss of data behind the bottleneck, in percent.
    loss: f64,
    jitter: Duration,
    reorders: bool,
    service: [Service; 2],
}

/// A duration in milliseconds.
pub(super) const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A duration in seconds.
pub(super) const fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

impl Path {
    /// A path with this rate in kbit/s and this round trip in milliseconds, with one BDP of drop-tail
    /// queue.
    pub(super) fn new(kbits: u64, rtt: u64) -> Self {
        let path = Self {
            rate: kbits * 1000,
            rtt: ms(rtt),
            // Replaced at once by `bdp`, which needs the rate and the round trip.
            queue: Queue::CODEL,
            policer: None,
            loss: 0.0,
            jitter: UNEVEN,
            reorders: false,
            service: EVENTS,
        };
        path.bdp(100)
    }

    /// With a drop-tail queue of this percentage of the product of bandwidth and round trip.
    pub(super) fn bdp(self, percent: u64) -> Self {
        let rtt = u64::try_from(self.rtt.as_millis()).unwrap_or(u64::MAX);
        self.queue(Queue::Bytes(self.rate / 8 * rtt * percent / 100_000))
    }

    pub(super) const fn queue(mut self, queue: Queue) -> Self {
        self.queue = queue;
        self
    }

    pub(super) const fn loss(mut self, percent: f64) -> Self {
        self.loss = percent;
        self
    }

    /// No queue, but a policer that passes the rate, and `depth` bytes at once.
    pub(super) const fn policed(mut self, depth: u64) -> Self {
        self.policer = Some(Policer::new(self.rate / 8, depth));
        self
    }

    /// Each datagram is under way up to `jitter` shorter or longer; `reorders` is true if datagrams may
    /// overtake.
    pub(super) const fn jitter(mut self, jitter: Duration, reorders: bool) -> Self {
        self.jitter = jitter;
        self.reorders = reorders;
        self
    }

    /// Both hosts of porous flows are served 60 times a second, one half a tick after the other.
    pub(super) fn ticks(mut self) -> Self {
        let every = s(1) / 60;
        self.service = [Duration::ZERO, every / 2].map(|offset| Service::Tick { every, offset });
        self
    }

    /// The road, without flows.
    pub(super) fn stage(&self, case: &Case) -> Stage {
        // A policer has no queue, so the line behind it has no limit of its own.
        let line = if self.policer.is_some() || self.rate == 0 {
            Line::Open
        } else {
            Line::Rate(self.rate)
        };
        let bottleneck = Bottleneck::new(line, Order::Arrival(self.queue));
        Stage::new(bottleneck, self.policer, case.seed).recorded(case.recording.take())
    }

    /// A flow of the controller that is measured.
    pub(super) fn flow(&self, case: &Case, index: u64, work: Work, start: Duration) -> Entry {
        let service = match case.controller.subject {
            Subject::Porous(_) => self.service,
            // TCP runs in a kernel, whatever the ticks of a game.
            Subject::Tcp(_) => EVENTS,
        };
        let ends = case
            .controller
            .subject
            .ends(work, case.seed.child("flow", index));
        let line = LinkConfig::new().delay(self.rtt / 2);
        Entry {
            name: case.controller.name.into(),
            ends,
            there: line
                .loss(self.loss)
                // Loss and jitter are behind the bottleneck, so that lost data has used its rate.
                .jitter(self.jitter)
                .jitter_reorders(self.reorders),
            back: line,
            start,
            stop: Duration::MAX,
            service,
        }
    }

    /// A flow of TCP beside it.
    pub(super) fn competitor(&self, case: &Case, tcp: Tcp, start: Duration) -> Entry {
        Entry {
            name: tcp.name().into(),
            ends: Subject::Tcp(tcp).ends(Work::bulk(), case.seed),
            service: EVENTS,
            ..self.flow(case, 0, Work::bulk(), start)
        }
    }
}
