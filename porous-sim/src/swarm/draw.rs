//! Numbers from a stream of a seed.

use alloc::vec::Vec;
use core::time::Duration;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::Rng;

use crate::{Seed, below};

/// One stream, by name: drawing from it changes nothing that is drawn from others.
#[derive(Debug)]
pub(super) struct Draw(ChaCha8Rng);

impl Draw {
    pub(super) fn new(seed: Seed, name: &str, index: usize) -> Self {
        Self(seed.stream(name, index as u64))
    }

    /// From 0 to `n - 1`.
    pub(super) fn below(&mut self, n: u64) -> u64 {
        below(self.0.next_u64(), n)
    }

    /// From `low` to `high`, both included.
    pub(super) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// From `low` to `high`; each doubling is as likely as any other.
    pub(super) fn log(&mut self, low: u64, high: u64) -> u64 {
        let doublings = u64::from((high / low.max(1)).max(1).ilog2());
        let low = low.max(1) << self.between(0, doublings);
        self.between(low, (2 * low).min(high).max(low)).min(high)
    }

    /// True in `percent` of a hundred cases.
    pub(super) fn often(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of the values.
    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        let index = usize::try_from(self.below(from.len() as u64));
        from[index.unwrap_or(0)]
    }

    /// An index less than `len`.
    pub(super) fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.below(len as u64)).unwrap_or(0)
    }

    /// Two different indices less than `len`.
    pub(super) fn two(&mut self, len: usize) -> (usize, usize) {
        let a = self.index(len);
        (a, (a + 1 + self.index(len - 1)) % len)
    }

    /// A duration from `low` to `high` milliseconds, drawn as [`log`](Self::log) does.
    pub(super) fn millis(&mut self, low: u64, high: u64) -> Duration {
        Duration::from_millis(self.log(low, high))
    }

    /// Up to `tenths` tenths of a percent, in percent.
    pub(super) fn percent(&mut self, tenths: u64) -> f64 {
        let tenths = self.log(1, tenths);
        u32::try_from(tenths).map_or(0.0, |tenths| f64::from(tenths) / 10.0)
    }

    pub(super) fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = alloc::vec![0; len];
        self.0.fill_bytes(&mut bytes);
        bytes
    }
}
