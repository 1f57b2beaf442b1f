//! One situation, described in a line of text: `porous sim road`.

mod flow;
mod report;
mod text;
mod weather;

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

pub use report::{Beside, FlowReport, Latency, Report, Waits};
pub use text::ScenarioError;

use flow::FlowSpec;

use super::bottleneck::{Bottleneck, Line};
use super::opportunities::Opportunities;
use super::policer::Policer;
use super::recording::Recording;
use super::stage::{Change, Entry, Stage};
use super::waiting::Order;
use crate::{LinkConfig, Queue, Seed, Service};

/// What waits in front of the bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    /// A drop-tail queue of this percentage of the product of rate and round trip.
    Percent(u64),
    /// A drop-tail queue in which nothing waits for longer.
    Time(Duration),
    CoDel,
    FqCoDel,
}

/// One situation: a road, what happens to it, and the flows that are on it. Made from text:
///
/// ```
/// use porous_sim::lab::Scenario;
///
/// let scenario: Scenario = "rate=2000 rtt=40 q=codel flow=lean flow=tcpcubic@5 end=20".parse()?;
/// let report = scenario.run();
/// assert_eq!(report.flows.len(), 2);
/// assert!(report.used_percent > Some(90.0));
/// # Ok::<(), porous_sim::lab::ScenarioError>(())
/// ```
///
/// # The text
///
/// Words `KEY=VALUE`, divided by spaces, in any order; `at` and `flow` may come more than once, and of the
/// others the last counts. Numbers may have decimals but where they count something. Times are in milliseconds
/// unless said. Periods (TAU, PERIOD, S of `step`) are 1 ms at least.
///
/// | key | meaning | default |
/// |---|---|---|
/// | `rate=KBITS` | rate of the bottleneck in kbit/s, with the headers of IP and UDP | 10000 |
/// | `rtt=MS` | round trip without any queue; half of it each way | 50 |
/// | `q=PERCENT`, `q=time:MS`, `q=codel`, `q=fqcodel` | queue: a percentage of a BDP (rate times `rtt`), a longest wait in milliseconds, CoDel (RFC 8289), FQ-CoDel (RFC 8290) | 100 |
/// | `loss=PERCENT`, `aloss=PERCENT` | lost by chance: behind the bottleneck; of what comes back | 0 |
/// | `jit=MS` | each datagram is under way up to this much shorter or longer | 0.2 |
/// | `jre=1` | datagrams with jitter overtake each other | 0 |
/// | `jstep=MS` | jitter comes in steps: rounded up to a multiple of this | 0 |
/// | `wander=J:TAU` | the way there takes U(0, J) ms longer, drawn anew after U(0, 2 TAU) ms, in order | |
/// | `radio=LO:HI:TAU` | the rate is U(LO, HI) kbit/s, drawn anew after U(0, 2 TAU) ms | |
/// | `policer=BYTES` | no queue: what exceeds the rate, and BYTES at once (1 GiB at most), is dropped | |
/// | `ticks=HZ` | hosts of porous are called this often, one half a tick after the other | when due |
/// | `at=SECOND:delay:MS`, `:rate:KBITS`, `:loss:PERCENT`, `:down:1` | from then on: delay one way, both ways; rate; loss; 1: nothing is taken, 0: it is again | |
/// | `every=PERIOD:LEN` | nothing is taken in the last LEN ms of each PERIOD ms | |
/// | `step=LO:HI:S` | the delay one way is rtt/2 ± U(LO, HI) ms, drawn anew each S seconds | |
/// | `gap=MS` | from one flow of `NAME*N` to the next | 130 |
/// | `trace=FILE` | packets of 1500 bytes leave when a line of this file says, in milliseconds (as for Mahimahi); without `radio`, `policer` and changes of the rate | |
/// | `from=S`, `end=S` | what is measured, in seconds | 10, 60 |
/// | `seed=N` | the seed of all chance | 1 |
/// | `flow=NAME[*N][+WORK]…[@START[-STOP]][:RTT]` | N flows that begin at START seconds and vanish at STOP, with a round trip of their own | `default` |
///
/// Names are `lean`, `reno`, `cubic`, `paper`, `fixed` and `binary` (both are told 1 MB/s), `default` (what a
/// host has that is not told), and models of TCP: `tcpreno`, `tcpcubic`, `tcpbbr`. A flow sends reliable
/// bulk data, and TCP nothing else; or what `+WORK` says:
///
/// - `+game`: 60 unreliable packets of 100 bytes a second, and bulk data at low priority;
/// - `+stRATExBYTES`: RATE packets of BYTES bytes a second, unreliable; with an `r` behind it reliable;
/// - `+pushSECONDSxBYTES`: the packets of a game without bulk data, and BYTES bytes at once SECONDS seconds
///   after the connection was established. With `+st` before it, its packets take the place of the game's.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Bits a second.
    rate: u64,
    rtt: Duration,
    before: Before,
    loss: f64,
    loss_back: f64,
    jitter: Duration,
    jitter_step: Duration,
    jitter_reorders: bool,
    wander: Option<[Duration; 2]>,
    /// Least and greatest rate in bits a second, and the mean time between changes.
    radio: Option<(u64, u64, Duration)>,
    policer: Option<u64>,
    ticks: Option<u32>,
    at: Vec<(Duration, Change)>,
    every: Option<[Duration; 2]>,
    step: Option<[Duration; 3]>,
    gap: Duration,
    trace: Option<Arc<Opportunities>>,
    flows: Vec<FlowSpec>,
    from: Duration,
    end: Duration,
    seed: Seed,
}

impl Default for Scenario {
    fn default() -> Self {
        let ms = Duration::from_millis;
        Self {
            rate: 10_000_000,
            rtt: ms(50),
            before: Before::Percent(100),
            loss: 0.0,
            loss_back: 0.0,
            jitter: super::case::UNEVEN,
            jitter_step: Duration::ZERO,
            jitter_reorders: false,
            wander: None,
            radio: None,
            policer: None,
            ticks: None,
            at: Vec::new(),
            every: None,
            step: None,
            gap: ms(130),
            trace: None,
            flows: vec![FlowSpec::default()],
            from: ms(10_000),
            end: ms(60_000),
            seed: Seed::new(1),
        }
    }
}

impl Scenario {
    /// Runs it in virtual time: the same text gives the same numbers on every machine.
    ///
    /// ```
    /// use porous_sim::lab::Scenario;
    ///
    /// let report = Scenario::default().run();
    /// assert!(report.goodput_percent > Some(90.0) && report.queue.p95_ms < 20.0);
    /// ```
    #[must_use]
    pub fn run(&self) -> Report {
        self.report(&self.stage(None))
    }

    /// Whether a flow is of porous. Models of TCP have no hosts that could be recorded.
    ///
    /// ```
    /// use porous_sim::lab::Scenario;
    ///
    /// let scenario: Scenario = "flow=tcpreno".parse()?;
    /// assert!(!scenario.has_hosts() && Scenario::default().has_hosts());
    /// # Ok::<(), porous_sim::lab::ScenarioError>(())
    /// ```
    #[must_use]
    pub fn has_hosts(&self) -> bool {
        self.flows.iter().any(FlowSpec::is_porous)
    }

    /// The same, and records a host of the first flow of porous, if [there is one](Self::has_hosts). Hosts that are
    /// recorded have addresses of IP, on which the nonces of a connection depend, so the numbers differ a little
    /// from those of [`run`](Self::run), as with another seed.
    ///
    /// ```
    /// use porous_sim::lab::{End, Recording, Scenario};
    /// use porous_trace::{Keep, Recorder};
    ///
    /// let scenario: Scenario = "from=1 end=3".parse()?;
    /// let recorded = [End::Client, End::Server].map(|end| {
    ///     let recorder = Recorder::new(std::io::sink(), Keep::nothing());
    ///     scenario.run_recorded(Recording { end, recorder })
    /// });
    /// assert_eq!(recorded[0], recorded[1]);
    /// # Ok::<(), porous_sim::lab::ScenarioError>(())
    /// ```
    #[must_use]
    pub fn run_recorded(&self, recording: Recording) -> Report {
        self.report(&self.stage(Some(recording)))
    }

    /// The run to its end.
    pub(super) fn stage(&self, recording: Option<Recording>) -> Stage {
        let stage = Stage::new(self.bottleneck(), self.policer(), self.seed);
        let mut stage = stage.recorded(recording);
        for (index, flow) in self.flows.iter().enumerate() {
            stage.add(self.entry(index as u64, flow));
        }
        for (time, change) in self.changes() {
            stage.at(time, change);
        }
        stage.run_until(self.end);
        stage
    }

    /// What came of a run.
    pub(super) fn report(&self, stage: &Stage) -> Report {
        Report::new(self, stage, self.capacity(&self.changes()))
    }

    /// The same with a third of what is measured, for a first look.
    pub(super) fn shorter(self) -> Self {
        Self {
            end: self.from + (self.end - self.from) / 3,
            ..self
        }
    }

    /// The same with another seed.
    pub(super) fn seeded(self, seed: Seed) -> Self {
        Self { seed, ..self }
    }

    fn bottleneck(&self) -> Bottleneck {
        let line = match &self.trace {
            // A policer has no queue, so the line behind it has no limit of its own.
            _ if self.policer.is_some() => Line::Open,
            Some(trace) => Line::Trace(Arc::clone(trace)),
            None => Line::Rate(self.rate),
        };
        let order = match self.before {
            Before::Percent(percent) => {
                let micros = u64::try_from(self.rtt.as_micros()).unwrap_or(u64::MAX);
                let bdp = u128::from(self.mean_rate()) * u128::from(micros) / 8_000_000;
                let bytes = bdp * u128::from(percent) / 100;
                Order::Arrival(Queue::Bytes(u64::try_from(bytes).unwrap_or(u64::MAX)))
            }
            Before::Time(longest) => Order::Arrival(Queue::Time(longest)),
            Before::CoDel => Order::Arrival(Queue::CODEL),
            Before::FqCoDel => Order::Fair,
        };
        Bottleneck::new(line, order)
    }

    /// The rate in bits a second, or the mean rate of the trace.
    fn mean_rate(&self) -> u64 {
        self.trace.as_ref().map_or(self.rate, |trace| trace.rate())
    }

    fn policer(&self) -> Option<Policer> {
        let depth = self.policer?;
        Some(Policer::new(self.rate / 8, depth))
    }

    fn entry(&self, index: u64, flow: &FlowSpec) -> Entry {
        let rtt = flow.rtt.unwrap_or(self.rtt);
        let service = match self.ticks.filter(|_| flow.is_porous()) {
            None => [Service::Event; 2],
            Some(hz) => {
                let every = Duration::from_secs(1) / hz;
                [Duration::ZERO, every / 2].map(|offset| Service::Tick { every, offset })
            }
        };
        let way = LinkConfig::new().delay(rtt / 2);
        Entry {
            name: flow.name.clone(),
            ends: flow.ends(self.seed.child("flow", index)),
            // Loss and jitter are behind the bottleneck, so that lost data has used its rate.
            there: way
                .loss(self.loss)
                .jitter(self.jitter)
                .jitter_step(self.jitter_step)
                .jitter_reorders(self.jitter_reorders),
            back: way.loss(self.loss_back),
            start: flow.start,
            stop: flow.stop,
            service,
        }
    }
}
