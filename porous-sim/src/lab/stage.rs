//! A run: flows on one road, from one event to the next.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use porous_proto::Instant;

use super::bottleneck::Bottleneck;
use super::ends::{Ends, Seen};
use super::policer::Policer;
use super::record::Record;
use super::recording::Recording;
use super::road::Road;
use crate::{LinkConfig, Seed, Service};

/// The most rounds while no time passes. More of them are a bug: the run would never end.
const AT_ONCE: u32 = 100_000;

/// A change of the road during a run.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change {
    /// The rate of the bottleneck becomes this, in bits a second.
    Rate(u64),
    /// True: the bottleneck takes nothing from now on; false: it takes datagrams again.
    Down(bool),
    /// The delay of each path becomes this, each way.
    Delay(Duration),
    /// The way there takes this much longer than the way back.
    Detour(Duration),
    /// The loss behind the bottleneck becomes this, in percent.
    Loss(f64),
    /// No datagram comes back any more.
    NoFeedback,
}

pub(super) struct Stage {
    now: Instant,
    road: Road,
    flows: Vec<Flow>,
    /// The changes in the order of time.
    changes: VecDeque<(Instant, Change)>,
    record: Record,
    /// Waits for the first flow of porous.
    recording: Option<Recording>,
    rounds: u32,
}

/// A flow, and how it is served.
pub(super) struct Flow {
    name: String,
    pub(super) ends: Box<dyn Ends>,
    start: Instant,
    stop: Instant,
    begun: bool,
    service: [Service; 2],
    resting: [Instant; 2],
    inbox: [Vec<Vec<u8>>; 2],
    /// The latest instant at which end 0 sent, and the bytes that it sent then.
    burst: (Instant, u64),
    /// The most bytes that end 0 sent at one instant.
    largest_burst: u64,
}

/// A flow that is to be added.
pub(super) struct Entry {
    /// The name of its controller.
    pub(super) name: String,
    pub(super) ends: Box<dyn Ends>,
    /// The conditions of its datagrams behind the bottleneck, and on the way back.
    pub(super) there: LinkConfig,
    pub(super) back: LinkConfig,
    pub(super) start: Duration,
    /// When both ends vanish; `Duration::MAX` for never.
    pub(super) stop: Duration,
    pub(super) service: [Service; 2],
}

impl Stage {
    pub(super) fn new(bottleneck: Bottleneck, policer: Option<Policer>, seed: Seed) -> Self {
        Self {
            now: Instant::ZERO,
            road: Road::new(bottleneck, policer, seed),
            flows: Vec::new(),
            changes: VecDeque::new(),
            record: Record::default(),
            recording: None,
            rounds: 0,
        }
    }

    /// With a recording of a host of the first flow of porous.
    pub(super) fn recorded(mut self, recording: Option<Recording>) -> Self {
        self.recording = recording;
        self
    }

    pub(super) fn add(&mut self, mut entry: Entry) {
        let recording = self.recording.take();
        self.recording = recording.and_then(|recording| entry.ends.record(recording));
        self.road.add(entry.there, entry.back);
        self.record.add();
        self.flows.push(Flow {
            name: entry.name,
            ends: entry.ends,
            start: Instant::ZERO + entry.start,
            stop: Instant::ZERO + entry.stop,
            begun: false,
            service: entry.service,
            resting: [Instant::ZERO; 2],
            inbox: [Vec::new(), Vec::new()],
            burst: (Instant::ZERO, 0),
            largest_burst: 0,
        });
    }

    /// Schedules a change; to be called in the order of time.
    pub(super) fn at(&mut self, time: Duration, change: Change) {
        self.changes.push_back((Instant::ZERO + time, change));
    }

    /// Forgets the largest bursts so far.
    pub(super) fn forget_bursts(&mut self) {
        for flow in &mut self.flows {
            flow.largest_burst = 0;
        }
    }

    /// The most bytes that a flow sent at one instant.
    pub(super) fn largest_burst(&self, flow: usize) -> u64 {
        self.flows[flow].largest_burst
    }

    /// The names of the controllers of all flows.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.flows.iter().map(|flow| flow.name.as_str())
    }

    /// The state of a flow now.
    pub(super) fn seen(&self, flow: usize) -> Seen {
        self.flows[flow].ends.seen()
    }

    /// The samples so far.
    pub(super) const fn record(&self) -> &Record {
        &self.record
    }

    /// The small packets of a flow that have arrived: the times when each was sent and when it came, in
    /// microseconds.
    pub(super) fn small(&self, flow: usize) -> &[(u64, u64)] {
        self.flows[flow].ends.small()
    }

    /// Whether the connection of a flow has ended.
    pub(super) fn is_ended(&self, flow: usize) -> bool {
        self.flows[flow].ends.is_ended()
    }

    /// Goes on until this time.
    pub(super) fn run_until(&mut self, until: Duration) {
        let until = Instant::ZERO + until;
        while let Some(next) = self.next().filter(|&next| next <= until) {
            // Before the events of that time, which may change the state.
            self.sample_before(next);
            self.rounds = if next > self.now { 0 } else { self.rounds + 1 };
            assert!(self.rounds < AT_ONCE, "time stands still at {:?}", self.now);
            self.now = self.now.max(next);
            self.change();
            self.road.advance(self.now);
            for index in 0..self.flows.len() {
                self.serve(index);
            }
        }
        self.sample_before(until);
        self.now = self.now.max(until);
    }

    fn next(&self) -> Option<Instant> {
        let flows = self.flows.iter();
        let ends = flows.flat_map(|flow| [flow.due(0, self.now), flow.due(1, self.now)]);
        let change = self.changes.front().map(|&(time, _)| time);
        ends.chain([self.road.next(), change]).flatten().min()
    }

    /// Takes all samples that are due before this time.
    fn sample_before(&mut self, next: Instant) {
        while self.record.next_sample() < next {
            let at = self.record.next_sample();
            self.record.queue(self.road.queue_delay(at));
            for (index, flow) in self.flows.iter().enumerate() {
                let counts = self.road.counts(index);
                self.record.flow(index, flow.ends.seen(), counts);
            }
        }
    }

    fn change(&mut self) {
        while let Some(&(time, change)) = self.changes.front() {
            if time > self.now {
                return;
            }
            self.changes.pop_front();
            match change {
                Change::Rate(rate) => self.road.set_rate(rate),
                Change::Down(is_down) => self.road.set_down(is_down),
                Change::Delay(delay) => self.road.delay(delay),
                Change::Detour(detour) => self.road.detour(detour),
                Change::Loss(percent) => self.road.loss(percent),
                Change::NoFeedback => self.road.cut_back(),
            }
        }
    }

    /// Lets the ends of a flow do everything that is due.
    fn serve(&mut self, index: usize) {
        let (flow, now) = (&mut self.flows[index], self.now);
        if !flow.begun && flow.start <= now {
            flow.begun = true;
            flow.ends.begin(now);
        }
        for end in 0..2 {
            while let Some(datagram) = self.road.receive(index, end, now) {
                // Not yet to the end: one that is served by ticks takes it at its next tick.
                flow.inbox[end].push(datagram);
            }
            if flow.due(end, now).is_none_or(|due| due > now) {
                continue;
            }
            // Before the end works, so that what it does now cannot make it due again in the same tick.
            flow.resting[end] = flow.service[end].rest(now, 0);
            for datagram in core::mem::take(&mut flow.inbox[end]) {
                flow.ends.take(end, now, &datagram);
            }
            flow.ends.serve(end, now);
            while let Some(datagram) = flow.ends.next(end, now) {
                if end == 0 {
                    flow.count_burst(now, datagram.len() as u64);
                }
                self.road.send(index, end, now, datagram);
            }
        }
    }
}

impl Flow {
    /// When an end is served next.
    fn due(&self, end: usize, now: Instant) -> Option<Instant> {
        if now >= self.stop {
            return None;
        }
        if !self.begun {
            return (end == 0).then_some(self.start);
        }
        let wanted = if self.inbox[end].is_empty() {
            self.ends.deadline(end)?.max(now)
        } else {
            now
        };
        // An end by ticks waits for its next one, and a tick serves an end only once.
        Some(self.service[end].at_or_after(wanted.max(self.resting[end])))
    }

    fn count_burst(&mut self, now: Instant, bytes: u64) {
        let (at, sum) = self.burst;
        let sum = if at == now { sum + bytes } else { bytes };
        self.burst = (now, sum);
        self.largest_burst = self.largest_burst.max(sum);
    }
}
