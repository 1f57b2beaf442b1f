//! CoDel, the queue that controls the delay it makes (RFC 8289).

use core::time::Duration;

/// The state of RFC 8289 §5.2. Times are in microseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CoDel {
    /// When the wait will have been above the target for an interval; `None` if it is below now.
    first_above: Option<u64>,
    /// True while datagrams are dropped: the wait has been above the target for an interval.
    dropping: bool,
    /// When the next datagram is dropped, while `dropping`.
    drop_next: u64,
    /// Datagrams dropped in this episode.
    count: u64,
    /// `count` when this episode began.
    last_count: u64,
}

impl CoDel {
    /// True if a datagram is to be dropped that leaves the queue at `now` after it waited for
    /// `sojourn`. `stands` is true if more than one packet waited.
    pub(crate) fn drops(
        &mut self,
        now: u64,
        sojourn: u64,
        stands: bool,
        [target, interval]: [Duration; 2],
    ) -> bool {
        let (target, interval) = (micros(target), micros(interval));
        if !self.is_bad(now, stands && sojourn >= target, interval) {
            self.dropping = false;
            return false;
        }
        if self.dropping {
            if now < self.drop_next {
                return false;
            }
            self.count += 1;
            self.drop_next += step(interval, self.count);
            return true;
        }
        self.dropping = true;
        // An episode that follows soon goes on at the pace that the one before had reached; 16 intervals
        // are soon, as in the RFC.
        let recent = now.saturating_sub(self.drop_next) < interval.saturating_mul(16);
        let since = self.count.saturating_sub(self.last_count);
        self.count = if recent && since > 1 { since } else { 1 };
        self.last_count = self.count;
        self.drop_next = now.saturating_add(step(interval, self.count));
        true
    }

    /// True if the wait has been too long for an interval.
    fn is_bad(&mut self, now: u64, above: bool, interval: u64) -> bool {
        if !above {
            self.first_above = None;
            return false;
        }
        let first = *self
            .first_above
            .get_or_insert_with(|| now.saturating_add(interval));
        now >= first
    }
}

/// The time to the next drop: the interval divided by the square root of the count.
const fn step(interval: u64, count: u64) -> u64 {
    match interval.saturating_mul(interval).checked_div(count) {
        Some(square) => square.isqrt(),
        None => interval,
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const TIMES: [Duration; 2] = [Duration::from_millis(5), Duration::from_millis(100)];

    /// The milliseconds at which a datagram is dropped, if one leaves each millisecond after a wait of
    /// `wait(time)` milliseconds.
    fn drops(codel: &mut CoDel, times: core::ops::Range<u64>, wait: fn(u64) -> u64) -> Vec<u64> {
        times
            .filter(|&ms| codel.drops(ms * 1000, wait(ms) * 1000, true, TIMES))
            .collect()
    }

    #[test]
    fn a_queue_that_stands_loses_more_and_more() {
        let found = drops(&mut CoDel::default(), 0..500, |_| 6);
        // After 100 ms, then 100, 100/sqrt(2), 100/sqrt(3) ms later, and so on.
        assert_eq!(found, [100, 200, 271, 329, 379, 424, 464]);
    }

    #[test]
    fn a_burst_passes() {
        let short = |ms| if ms % 100 == 99 { 4 } else { 50 };
        assert!(drops(&mut CoDel::default(), 0..1000, short).is_empty());
        let mut codel = CoDel::default();
        let one_packet = (0..1000).any(|ms| codel.drops(ms * 1000, 50_000, false, TIMES));
        assert!(!one_packet, "a slow link is not a full one");
    }

    #[test]
    fn codel_resumes_its_pace_after_a_short_pause() {
        let mut codel = CoDel::default();
        assert_eq!(drops(&mut codel, 0..400, |_| 6).len(), 5);
        assert!(drops(&mut codel, 400..500, |_| 0).is_empty());
        // There were four drops after the first: the next episode begins at that pace.
        assert_eq!(drops(&mut codel, 500..700, |_| 6), [600, 650, 695]);
        assert!(drops(&mut codel, 700..9000, |_| 0).is_empty());
        assert_eq!(drops(&mut codel, 9000..9250, |_| 6), [9100, 9200]);
    }
}
