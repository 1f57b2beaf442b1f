//! The round trip, smoothed.

use core::time::Duration;

/// The longest round trip that counts: a host that pauses for a minute would otherwise seem far away long
/// after.
pub(super) const MAX_RTT: Duration = Duration::from_secs(1);

/// An average that moves a tenth of the way towards each round trip.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rtt(Option<Duration>);

impl Rtt {
    pub(super) fn sample(&mut self, round_trip: Duration) {
        let sample = round_trip.min(MAX_RTT);
        let moved = self.0.map(|average| (9 * average + sample) / 10);
        self.0 = moved.or(Some(sample));
    }

    pub(super) const fn average(&self) -> Option<Duration> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The average in microseconds after samples in milliseconds.
    fn after(samples: &[u64]) -> Option<u128> {
        let mut rtt = Rtt::default();
        for sample in samples {
            rtt.sample(Duration::from_millis(*sample));
        }
        rtt.average().map(|average| average.as_micros())
    }

    #[test]
    fn the_first_round_trip_is_taken_and_each_one_moves_it_by_a_tenth() {
        assert_eq!(after(&[]), None);
        assert_eq!(after(&[100]), Some(100_000));
        assert_eq!(after(&[100, 200]), Some(110_000));
        assert_eq!(after(&[100, 200, 200]), Some(119_000));
        assert_eq!(after(&[100, 200, 200, 200]), Some(127_100));
        assert_eq!(after(&[100, 0, 0]), Some(81_000));
    }

    #[test]
    fn the_average_comes_within_a_microsecond_from_above_and_below() {
        for start in [0, 1000] {
            let mut samples = [50; 200];
            samples[0] = start;
            let average = after(&samples).unwrap();
            assert!(average.abs_diff(50_000) <= 1, "{average}");
        }
    }

    #[test]
    fn a_pause_counts_as_a_second() {
        assert_eq!(after(&[u64::MAX]), Some(1_000_000));
        assert_eq!(after(&[100, 60_000]), Some(190_000));
    }
}
