//! When a short frame id is unambiguous (`docs/wire.md`, "Frame ids").

use core::time::Duration;

use crate::serial::reach;
use crate::time::Instant;

/// How late a datagram may be and still be decoded exactly.
pub(crate) const HORIZON: Duration = Duration::from_secs(2);

const BUCKETS: usize = 8;

/// How far ids (i_b, or k) moved in the last two seconds, in buckets of a quarter of a second.
#[derive(Debug)]
pub(crate) struct Advance {
    /// The next id when each of the last buckets began.
    at: [u64; BUCKETS + 1],
    /// The number of the current bucket.
    current: u64,
}

impl Advance {
    pub(crate) const fn new(first: u64) -> Self {
        Self {
            at: [first; BUCKETS + 1],
            current: 0,
        }
    }

    fn bucket(now: Instant) -> u64 {
        #[expect(clippy::cast_possible_truncation, reason = "250,000")]
        const MICROS: u64 = HORIZON.as_micros() as u64 / BUCKETS as u64;
        now.as_micros() / MICROS
    }

    /// The next id is about to leave `next`.
    pub(crate) fn note(&mut self, next: u64, now: Instant) {
        let bucket = Self::bucket(now);
        for _ in 0..bucket.saturating_sub(self.current).min(BUCKETS as u64 + 1) {
            self.at.rotate_left(1);
            self.at[BUCKETS] = next;
        }
        self.current = self.current.max(bucket);
    }

    /// How far the ids moved in the last two seconds, up to `next`.
    pub(crate) fn moved(&self, next: u64, now: Instant) -> u64 {
        let passed = Self::bucket(now)
            .saturating_sub(self.current)
            .min(BUCKETS as u64 + 1);
        let index = usize::try_from(passed).unwrap_or(BUCKETS + 1);
        let before = self.at.get(index).copied().unwrap_or(next);
        next - before
    }

    /// Whether an id of `width` bytes can be told from one that is up to two seconds late.
    pub(crate) fn allows(&self, width: u32, next: u64, now: Instant) -> bool {
        self.moved(next, now) < 3 * reach(width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_width_is_refused_while_the_ids_move_too_fast_for_it() {
        let mut advance = Advance::new(0);
        let t = |ms| Instant::ZERO + Duration::from_millis(ms);
        advance.note(0, t(1000));
        assert!(advance.allows(1, 191, t(1100)));
        assert!(!advance.allows(1, 192, t(1100)) && advance.allows(2, 192, t(1100)));
        assert!(!advance.allows(1, 192, t(3000)));
        assert!(advance.allows(1, 192, t(3300)));
        assert!(advance.allows(4, 1 << 31, t(1100)));
    }
}
