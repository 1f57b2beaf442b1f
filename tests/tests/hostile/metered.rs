//! A host whose memory and work are counted.

use allocation_counter::measure;
use porous_proto::Host;
use porous_proto::hooks::work;
use porous_sim::ChaCha8Rng;

use crate::costs::Cost;

/// The host of all cases. Addresses are numbers.
pub(crate) type Victim = Host<ChaCha8Rng, u32>;

/// A host, the bytes that it holds, and the most that it has held and done.
pub(crate) struct Metered {
    pub(crate) host: Victim,
    live: i64,
    base: i64,
    peak: i64,
    steps: u64,
}

impl Metered {
    pub(crate) fn new(make: impl FnOnce() -> Victim) -> Self {
        let mut host = None;
        let live = measure(|| host = Some(make())).bytes_current;
        Self {
            host: host.unwrap(),
            live,
            base: live,
            peak: live,
            steps: 0,
        }
    }

    /// Calls the host. What the call itself returns must hold no memory.
    pub(crate) fn call<T>(&mut self, act: impl FnOnce(&mut Victim) -> T) -> T {
        let (mut result, host, before) = (None, &mut self.host, work::done());
        let memory = measure(|| result = Some(act(host)));
        self.steps = self.steps.max(work::done() - before);
        let most = i64::try_from(memory.bytes_max).unwrap();
        self.peak = self.peak.max(self.live + most);
        self.live += memory.bytes_current;
        result.unwrap()
    }

    /// From now on costs are counted.
    pub(crate) const fn begin(&mut self) {
        (self.base, self.peak, self.steps) = (self.live, self.live, 0);
    }

    /// The most that the host has held and done since [`Self::begin`].
    pub(crate) const fn cost(&self) -> Cost {
        Cost {
            bytes: (self.peak - self.base).unsigned_abs(),
            steps: self.steps,
        }
    }

    /// The bytes that it still holds, beyond those at the beginning.
    pub(crate) const fn bytes_left(&self) -> i64 {
        self.live - self.base
    }
}
