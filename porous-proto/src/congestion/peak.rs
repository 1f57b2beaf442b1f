//! The most that was in flight of late: a window that nobody used gives no right to a burst.

use core::time::Duration;

use crate::time::Instant;

/// Half of what is remembered, so that a peak counts for five to ten seconds.
const HALF: Duration = Duration::from_secs(5);

/// The peak of the flight size, over two halves of the recent past.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peak {
    began: Instant,
    current: u32,
    before: u32,
}

impl Peak {
    pub(crate) const fn new() -> Self {
        Self {
            began: Instant::ZERO,
            current: 0,
            before: 0,
        }
    }

    /// So many bytes are in flight.
    pub(crate) fn note(&mut self, flight: u32, now: Instant) {
        let age = now.saturating_duration_since(self.began);
        if age >= HALF {
            self.before = if age < 2 * HALF { self.current } else { 0 };
            (self.current, self.began) = (0, now);
        }
        self.current = self.current.max(flight);
    }

    pub(crate) const fn get(&self) -> u32 {
        if self.current > self.before {
            self.current
        } else {
            self.before
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peak_counts_for_five_to_ten_seconds() {
        let at = |seconds| Instant::ZERO + Duration::from_secs(seconds);
        let mut peak = Peak::new();
        peak.note(100, at(1));
        peak.note(7, at(4));
        assert_eq!(peak.get(), 100);
        peak.note(7, at(5));
        assert_eq!(peak.get(), 100);
        peak.note(8, at(10));
        assert_eq!(peak.get(), 8);
        peak.note(3, at(60));
        assert_eq!(peak.get(), 3);
    }
}
