//! The latencies of packets: a histogram, so that a long run needs no more memory than a short one.

use core::time::Duration;

/// The width of a bucket in microseconds: finer than the ticks of the programs that measure.
const BUCKET: u128 = 100;

/// The number of buckets. The last one takes everything from ten minutes on.
const BUCKETS: usize = 6_000_000;

/// Counts of latencies, to a tenth of a millisecond.
#[derive(Clone, Debug, Default)]
pub(crate) struct Latencies {
    /// Packets of each bucket, up to the bucket of the longest latency.
    counts: Vec<u32>,
    total: u64,
}

impl Latencies {
    pub(crate) fn record(&mut self, latency: Duration) {
        let bucket = usize::try_from(latency.as_micros() / BUCKET).unwrap_or(BUCKETS);
        let bucket = bucket.min(BUCKETS - 1);
        if bucket >= self.counts.len() {
            // Only up to the longest latency: all buckets would take 24 MB for each kind.
            self.counts.resize(bucket + 1, 0);
        }
        self.counts[bucket] += 1;
        self.total += 1;
    }

    /// The least latency, in milliseconds, that `percent` percent of the packets did not exceed; `None`
    /// without packets.
    pub(crate) fn percentile(&self, percent: u64) -> Option<f64> {
        let rank = (self.total * percent).div_ceil(100).max(1);
        let mut seen = 0;
        let reaches = |&count: &u32| {
            seen += u64::from(count);
            seen >= rank
        };
        let bucket = self.counts.iter().position(reaches)?;
        Some(bucket as f64 / 10.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(millis: impl IntoIterator<Item = u64>) -> Latencies {
        let mut latencies = Latencies::default();
        for ms in millis {
            latencies.record(Duration::from_millis(ms));
        }
        latencies
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let hundred = of(1..=100);
        assert_eq!(hundred.percentile(50), Some(50.0));
        assert_eq!(hundred.percentile(95), Some(95.0));
        assert_eq!(hundred.percentile(99), Some(99.0));
        assert_eq!(hundred.percentile(100), Some(100.0));
        assert_eq!(of([10, 20, 30]).percentile(50), Some(20.0));
        assert_eq!(of([10, 20, 30]).percentile(99), Some(30.0));
    }

    #[test]
    fn few_or_none() {
        assert_eq!(of([]).percentile(50), None);
        let one = of([7]);
        assert_eq!(
            (one.percentile(0), one.percentile(99)),
            (Some(7.0), Some(7.0))
        );
    }

    #[test]
    fn a_tenth_of_a_millisecond() {
        let mut latencies = Latencies::default();
        latencies.record(Duration::from_micros(30_250));
        assert_eq!(latencies.percentile(50), Some(30.2));
        latencies.record(Duration::MAX);
        assert_eq!(latencies.percentile(99), Some(599_999.9));
    }
}
