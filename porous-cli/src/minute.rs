//! A value for each second of the last minute, for a graph.

use alloc::collections::VecDeque;
use core::time::Duration;

/// Seconds that are remembered, the current one included.
const SECONDS: usize = porous_metrics::SECONDS;

/// The greatest value of each second, or the sum of its values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Minute {
    /// The oldest first; `None` for a second without a value.
    seconds: VecDeque<Option<u64>>,
    /// The number of the newest second.
    newest: u64,
}

impl Minute {
    /// Notes a value, which counts if it is the greatest of its second.
    pub(crate) fn greatest(&mut self, now: Duration, value: u64) {
        let place = self.place(now);
        *place = Some(place.unwrap_or(0).max(value));
    }

    /// Notes an amount, which is added to those of its second.
    pub(crate) fn add(&mut self, now: Duration, amount: u64) {
        let place = self.place(now);
        *place = Some(place.unwrap_or(0).saturating_add(amount));
    }

    /// The place of this second, which may be a new one.
    fn place(&mut self, now: Duration) -> &mut Option<u64> {
        let second = now.as_secs();
        if self.seconds.is_empty() {
            self.newest = second;
            self.seconds.push_back(None);
        }
        // After a pause of more than a minute nothing of the past is left.
        let new = second.saturating_sub(self.newest).min(SECONDS as u64);
        for _ in 0..new {
            if self.seconds.len() == SECONDS {
                self.seconds.pop_front();
            }
            self.seconds.push_back(None);
        }
        self.newest = self.newest.max(second);
        let last = self.seconds.len() - 1;
        &mut self.seconds[last]
    }

    /// The seconds, the oldest first.
    pub(crate) fn seconds(&self) -> Vec<Option<u64>> {
        self.seconds.iter().copied().collect()
    }

    /// The value of the last second that is over; without one, that of the current second.
    pub(crate) fn last(&self) -> Option<u64> {
        let over = self.seconds.iter().rev().nth(1);
        *over.or_else(|| self.seconds.back())?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn a_second_has_the_greatest_value_or_the_sum() {
        let (mut greatest, mut sum) = (Minute::default(), Minute::default());
        for (millis, value) in [(5000, 3), (5900, 7), (5999, 5), (7000, 1)] {
            greatest.greatest(at(millis), value);
            sum.add(at(millis), value);
        }
        assert_eq!(greatest.seconds(), [Some(7), None, Some(1)]);
        assert_eq!(sum.seconds(), [Some(15), None, Some(1)]);
        assert_eq!(sum.last(), None, "nothing was noted in the sixth second");
        sum.add(at(8000), 2);
        assert_eq!(sum.last(), Some(1));
    }

    #[test]
    fn a_minute_is_remembered() {
        let mut minute = Minute::default();
        assert_eq!(minute.last(), None);
        for second in 0..100 {
            minute.add(at(1000 * second), second);
        }
        assert_eq!(minute.seconds().len(), SECONDS);
        assert_eq!(minute.seconds()[0], Some(40));
        minute.add(at(1_000_000), 1);
        assert_eq!(minute.seconds().iter().flatten().count(), 1);
    }
}
