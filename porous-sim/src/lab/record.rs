//! The samples of a run, a hundred a second, and the results that follow from them.

use alloc::vec::Vec;
use core::time::Duration;

use porous_proto::Instant;

use super::ends::Seen;
use super::road::Counts;

/// The time between samples.
pub(super) const SAMPLE: Duration = Duration::from_millis(10);

/// A span of time: start and end.
pub(super) type Span = [Duration; 2];

/// All samples of one run.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// The time that a datagram would have waited for the bottleneck, for each sample.
    queue: Vec<Duration>,
    /// The samples of each flow.
    flows: Vec<Vec<(Seen, Counts)>>,
}

impl Record {
    pub(super) fn add(&mut self) {
        self.flows.push(Vec::new());
    }

    pub(super) fn next_sample(&self) -> Instant {
        Instant::ZERO + SAMPLE * u32::try_from(self.queue.len()).unwrap_or(u32::MAX)
    }

    pub(super) fn queue(&mut self, delay: Duration) {
        self.queue.push(delay);
    }

    pub(super) fn flow(&mut self, index: usize, seen: Seen, counts: Counts) {
        self.flows[index].push((seen, counts));
    }

    pub(super) fn flows(&self) -> usize {
        self.flows.len()
    }

    /// The index of the last sample at this time or before.
    fn index(&self, time: Duration) -> usize {
        let index = time.as_micros() / SAMPLE.as_micros();
        usize::try_from(index)
            .unwrap_or(usize::MAX)
            // A time beyond the run stands for the last sample.
            .min(self.queue.len().saturating_sub(1))
    }

    /// The state of a flow at this time.
    pub(super) fn at(&self, flow: usize, time: Duration) -> (Seen, Counts) {
        let samples = &self.flows[flow];
        samples.get(self.index(time)).copied().unwrap_or_default()
    }

    /// The samples of a flow.
    pub(super) fn samples(&self, flow: usize, [from, to]: Span) -> &[(Seen, Counts)] {
        let span = self.index(from)..=self.index(to);
        self.flows[flow].get(span).unwrap_or_default()
    }

    /// The application data that arrived, in bytes a second.
    pub(super) fn goodput(&self, flow: usize, [from, to]: Span) -> f64 {
        let arrived = |time| self.at(flow, time).0.delivered;
        (arrived(to) - arrived(from)) as f64 / (to - from).as_secs_f64()
    }

    /// The data that passed the bottleneck, in bytes a second.
    pub(super) fn rate(&self, flow: usize, [from, to]: Span) -> f64 {
        let carried = |time| self.at(flow, time).1.carried;
        (carried(to) - carried(from)) as f64 / (to - from).as_secs_f64()
    }

    /// The share of a bottleneck of `rate` bits a second that was used, in percent.
    pub(super) fn utilisation(&self, rate: u64, [from, to]: Span) -> f64 {
        let flows = 0..self.flows();
        let sum: f64 = flows.map(|flow| self.rate(flow, [from, to])).sum();
        100.0 * 8.0 * sum / rate as f64
    }

    /// The bytes that a flow sent beyond the application data that arrived, in percent of the latter.
    /// `headers`: the bytes of IP and UDP to count for each datagram. `None` if nothing arrived.
    pub(super) fn overhead(&self, flow: usize, [from, to]: Span, headers: u64) -> Option<f64> {
        let [(before, sent_before), (after, sent_after)] = [from, to].map(|at| self.at(flow, at));
        let datagrams = sent_after.datagrams - sent_before.datagrams;
        let sent = sent_after.offered - sent_before.offered;
        // `offered` counts the headers of IP and UDP. Those that are not asked for are taken off.
        let bytes = sent - (super::road::HEADERS - headers) * datagrams;
        let percent = share(bytes, after.delivered - before.delivered)?;
        Some(percent - 100.0)
    }

    /// The share of a flow's datagrams that the bottleneck did not take, in percent. `None` if it sent none.
    pub(super) fn dropped(&self, flow: usize, [from, to]: Span) -> Option<f64> {
        let [before, after] = [from, to].map(|at| self.at(flow, at).1);
        let datagrams = after.datagrams - before.datagrams;
        share(after.dropped - before.dropped, datagrams)
    }

    /// The waiting times at the bottleneck, from the shortest to the longest.
    fn queues(&self, [from, to]: Span) -> Vec<Duration> {
        let span = self.index(from)..=self.index(to);
        let mut all = self.queue.get(span).unwrap_or_default().to_vec();
        all.sort_unstable();
        all
    }

    /// The mean waiting time, in milliseconds.
    pub(super) fn mean_queue(&self, span: Span) -> f64 {
        let all = self.queues(span);
        let sum: Duration = all.iter().sum();
        1000.0 * sum.as_secs_f64() / all.len().max(1) as f64
    }

    /// The 95th percentile of the waiting time, in milliseconds.
    pub(super) fn p95_queue(&self, span: Span) -> f64 {
        let p95 = percentile(&self.queues(span), 95);
        1000.0 * p95.unwrap_or_default().as_secs_f64()
    }

    /// Two times in seconds after `from`: when the waiting time, after it was above `most`, is first below
    /// again, and when it begins to stay below for `lasting`. Both are 0 if it was never above.
    pub(super) fn queue_back(&self, most: Duration, from: Duration, lasting: Duration) -> [f64; 2] {
        // Not from `from` on: the queue needs a while to grow after the change.
        let above = self.first(from, |at| self.queue_at(at) > most);
        if above.is_infinite() {
            return [0.0, 0.0];
        }
        let above = from + Duration::from_secs_f64(above);
        let below = self.first(above, |at| self.queue_at(at) <= most);
        let passed = (above - from).as_secs_f64();
        [below + passed, self.queue_below(most, from, lasting)]
    }

    /// The first time after which the waiting time stays below `most` for `lasting`, in seconds after
    /// `from`; infinite if it never does.
    fn queue_below(&self, most: Duration, from: Duration, lasting: Duration) -> f64 {
        let needed = self.index(lasting);
        let (mut since, mut length) = (self.index(from), 0);
        for (index, &delay) in self.queue.iter().enumerate().skip(self.index(from)) {
            if delay >= most {
                (since, length) = (index + 1, 0);
                continue;
            }
            length += 1;
            if length >= needed {
                break;
            }
        }
        if length < needed {
            return f64::INFINITY;
        }
        (SAMPLE.as_secs_f64() * since as f64 - from.as_secs_f64()).max(0.0)
    }

    /// The seconds after `from` until a flow begins to take `rate` bytes a second through the bottleneck for
    /// a whole second.
    pub(super) fn reaches(&self, flow: usize, rate: f64, from: Duration) -> f64 {
        let over = Duration::from_secs(1);
        self.first(from, |at| {
            at + over < self.length() && self.rate(flow, [at, at + over]) >= rate
        })
    }

    /// The seconds after `from` until `is_so` is first true; infinite if it never is.
    pub(super) fn first(&self, from: Duration, is_so: impl Fn(Duration) -> bool) -> f64 {
        let mut at = from;
        while at < self.length() {
            if is_so(at) {
                return (at - from).as_secs_f64();
            }
            at += SAMPLE;
        }
        f64::INFINITY
    }

    /// Times that the window of a flow fell by more than a tenth while a datagram was considered lost.
    pub(super) fn cuts(&self, flow: usize, span: Span) -> usize {
        let fell = |pair: &&[(Seen, Counts)]| {
            let [before, after] = [pair[0].0, pair[1].0];
            after.window < 0.9 * before.window && after.lost > before.lost
        };
        self.samples(flow, span).windows(2).filter(fell).count()
    }

    pub(super) fn queue_at(&self, time: Duration) -> Duration {
        self.queue
            .get(self.index(time))
            .copied()
            .unwrap_or_default()
    }

    /// The length of the run.
    pub(super) fn length(&self) -> Duration {
        SAMPLE * u32::try_from(self.queue.len()).unwrap_or(u32::MAX)
    }
}

/// How much this is of all, in percent; `None` of nothing.
pub(super) fn share(part: u64, all: u64) -> Option<f64> {
    (all > 0).then(|| 100.0 * part as f64 / all as f64)
}

/// The least of these sorted values such that `percent` percent of all values are not above it; `None` of none.
pub(super) fn percentile<T: Copy>(values: &[T], percent: usize) -> Option<T> {
    let rank = (values.len() * percent).div_ceil(100).saturating_sub(1);
    values.get(rank).copied()
}

/// Jain's index of fairness: 1 if all shares are equal, 1/n if one has all; `None` if nobody has any.
pub(super) fn jain(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    if squares <= 0.0 {
        return None;
    }
    Some(sum * sum / (shares.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fairness() {
        assert_eq!(jain(&[5.0, 5.0, 5.0]), Some(1.0));
        assert_eq!(jain(&[1.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert_eq!(jain(&[0.0]), None);
    }

    #[test]
    fn ranks() {
        let values: Vec<u32> = (1..=100).collect();
        let of = [50, 95, 99].map(|p| percentile(&values, p));
        assert_eq!(of, [50, 95, 99].map(Some));
        assert_eq!(percentile(&[7], 99), Some(7));
        assert_eq!(percentile::<u32>(&[], 99), None);
    }

    #[test]
    fn a_share_of_nothing_is_none() {
        assert_eq!([share(1, 4), share(0, 0)], [Some(25.0), None]);
    }
}
