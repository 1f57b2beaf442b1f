//! What came of a scenario.

use alloc::string::String;
use alloc::vec::Vec;

use super::Scenario;
use super::flow::FlowSpec;
use crate::lab::ends::{Seen, Told};
use crate::lab::record::{Record, Span, jain, percentile, share};
use crate::lab::road::Counts;
use crate::lab::stage::Stage;

/// What came of a [`Scenario`], in the time that is measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// How long a datagram had to wait at the bottleneck, looked at each 10 ms.
    pub queue: Waits,
    /// Bytes with the headers of IP and UDP that passed the bottleneck, in percent of those that could have;
    /// `None` if nothing could.
    pub used_percent: Option<f64>,
    /// Bytes that arrived for the applications, in percent of those that could have passed the bottleneck; `None`
    /// if nothing could.
    pub goodput_percent: Option<f64>,
    /// Jain's index of fairness of the goodputs: 1 if all are alike, 1/n if one of n flows has all; `None` if
    /// nothing arrived.
    pub jain: Option<f64>,
    /// The flows, in the order in which the text names them.
    pub flows: Vec<FlowReport>,
}

/// Waiting times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Waits {
    /// The mean, in milliseconds.
    pub mean_ms: f64,
    /// What 95 percent did not exceed, in milliseconds.
    pub p95_ms: f64,
}

/// What a flow got. A percentage of datagrams is `None` if the flow sent none in the time that is measured.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowReport {
    /// The name of its controller.
    pub name: String,
    /// Bytes that arrived for the application, in kB a second.
    pub kbyte_per_s: f64,
    /// Datagrams that queue or policer did not take, in percent of those that were sent.
    pub dropped_percent: Option<f64>,
    /// Datagrams that the sender declared lost, in percent of those that were sent.
    pub lost_percent: Option<f64>,
    /// Datagrams that the sender declared lost and that arrived, in percent of those that were sent: what it
    /// declared beyond those that the road did lose, and at least those that it found out itself.
    pub falsely_lost_percent: Option<f64>,
    /// The time that packets took from application to application; `None` if the flow has none with a time.
    pub latency: Option<Latency>,
    /// What the statistics of the flow said of its path, and what the path was; `None` for TCP, and for a flow
    /// that was never connected in the time that is measured.
    pub beside: Option<Beside>,
    /// Whether the connection ended before it should have.
    pub is_ended: bool,
}

/// What a flow was told of its path beside what was true, in the means of a hundred looks a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beside {
    /// `PeerStats::rtt`, in milliseconds.
    pub told_rtt_ms: f64,
    /// `PeerStats::loss_sent`, in percent: the loss of the 5 to 10 s before each look.
    pub told_loss_percent: f64,
    /// `PeerStats::quality`, from 0 to 100.
    pub told_quality: f64,
    /// The time that the last datagram took there, queue included, and the last one back, in milliseconds.
    pub true_rtt_ms: f64,
    /// Datagrams that queue or policer did not take or that were lost behind these, in percent of those that
    /// were sent; `None` if none was.
    pub true_loss_percent: Option<f64>,
}

/// How long packets took, in milliseconds: what 50, 95 and 99 percent did not exceed. Packets count that were
/// sent in the time that is measured and arrived by its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Latency {
    /// The median.
    pub p50: f64,
    /// 95 percent.
    pub p95: f64,
    /// 99 percent.
    pub p99: f64,
}

impl Report {
    /// `capacity`: the bytes that could have passed.
    pub(super) fn new(scenario: &Scenario, stage: &Stage, capacity: f64) -> Self {
        let (record, span) = (stage.record(), [scenario.from, scenario.end]);
        let seconds = (scenario.end - scenario.from).as_secs_f64();
        let flows = 0..scenario.flows.len();
        let shares: Vec<f64> = flows
            .clone()
            .map(|flow| record.goodput(flow, span))
            .collect();
        let passed: f64 = flows.clone().map(|flow| record.rate(flow, span)).sum();
        let percent = |rate: f64| (capacity >= 1.0).then(|| 100.0 * rate * seconds / capacity);
        Self {
            queue: Waits {
                mean_ms: record.mean_queue(span),
                p95_ms: record.p95_queue(span),
            },
            used_percent: percent(passed),
            goodput_percent: percent(shares.iter().sum()),
            jain: jain(&shares),
            flows: flows
                .map(|flow| FlowReport::new(&scenario.flows[flow], stage, flow, span))
                .collect(),
        }
    }
}

impl FlowReport {
    fn new(spec: &FlowSpec, stage: &Stage, flow: usize, span: Span) -> Self {
        let record = stage.record();
        let [(before, sent_before), (after, sent_after)] = span.map(|at| record.at(flow, at));
        let percent = |count| share(count, sent_after.datagrams - sent_before.datagrams);
        let (declared, found) = (after.lost - before.lost, after.spurious - before.spurious);
        let gone = sent_after.gone() - sent_before.gone();
        Self {
            name: spec.name.clone(),
            kbyte_per_s: record.goodput(flow, span) / 1000.0,
            dropped_percent: record.dropped(flow, span),
            lost_percent: percent(declared),
            falsely_lost_percent: percent(declared.saturating_sub(gone).max(found)),
            latency: Latency::new(stage.small(flow), span),
            // A flow that has vanished is told nothing.
            beside: Beside::new(record, flow, [span[0], span[1].min(spec.stop)]),
            is_ended: stage.is_ended(flow),
        }
    }
}

impl Beside {
    fn new(record: &Record, flow: usize, span: Span) -> Option<Self> {
        let samples = record.samples(flow, span).iter();
        let looks: Vec<(Seen, Told, Counts)> = samples
            .filter_map(|&(seen, counts)| Some((seen, seen.told?, counts)))
            .collect();
        let [(.., first), (.., last)] = [looks.first()?, looks.last()?];
        let mean = |of: fn(&(Seen, Told, Counts)) -> f64| {
            looks.iter().map(of).sum::<f64>() / looks.len() as f64
        };
        let sent = last.datagrams - first.datagrams;
        Some(Self {
            told_rtt_ms: 1000.0 * mean(|(seen, ..)| seen.rtt.as_secs_f64()),
            told_loss_percent: mean(|(_, told, _)| f64::from(told.loss)) / 100.0,
            told_quality: mean(|(_, told, _)| told.quality.into()),
            true_rtt_ms: 1000.0 * mean(|(.., counts)| counts.round_trip().as_secs_f64()),
            true_loss_percent: share(last.gone() - first.gone(), sent),
        })
    }
}

impl Latency {
    /// `packets`: when each was sent, and when it came, in microseconds.
    fn new(packets: &[(u64, u64)], span: Span) -> Option<Self> {
        let [from, end] = span.map(|at| u64::try_from(at.as_micros()).unwrap_or(u64::MAX));
        let measured = packets
            .iter()
            .filter(|(sent, came)| *sent >= from && *came <= end);
        let mut times: Vec<u64> = measured
            .map(|(sent, came)| came.saturating_sub(*sent))
            .collect();
        times.sort_unstable();
        let ms = |rank| Some(percentile(&times, rank)? as f64 / 1000.0);
        Some(Self {
            p50: ms(50)?,
            p95: ms(95)?,
            p99: ms(99)?,
        })
    }
}
