//! The path without its queue, and what belongs into the queue.

use core::time::Duration;

use super::round::per_second;
use crate::stats::Minimum;
use crate::time::Instant;

/// A connection keeps as many frames in the queue as the square root of its rate in units of so many
/// bytes a second, and one at least: few enough to keep the queue short at any rate, and of two
/// connections the faster one has less in it for its rate, so that they meet.
const UNIT: u32 = 70_000;

/// What is known of the path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path {
    base: Minimum,
}

impl Path {
    pub(super) const fn new() -> Self {
        Self {
            base: Minimum::NONE,
        }
    }

    /// The shortest round trip of late; zero before the first.
    pub(super) fn base(&self) -> Duration {
        self.base.get().unwrap_or_default()
    }

    /// A round trip. `keeps`: what is known of the path is not to be forgotten now.
    pub(super) fn on_round_trip(&mut self, rtt: Duration, keeps: bool, now: Instant) {
        let least = if keeps { self.base.get() } else { None };
        self.base.sample(rtt.min(least.unwrap_or(rtt)), now);
    }

    /// How much of a round trip is the queue, as far as a host can see that is called so late.
    pub(super) fn queue(&self, rtt: Duration, step: Duration) -> Duration {
        rtt.saturating_sub(self.base()).saturating_sub(step)
    }

    /// How many bytes a connection with this window wants to have in the queue.
    pub(super) fn share(&self, window: u32, mtu: u32) -> u32 {
        let rate = per_second(window, self.base().max(Duration::from_millis(1)));
        // In sixteenths, so that slow connections have no steps of whole frames.
        let frames = (256 * u64::from(rate) / u64::from(UNIT)).isqrt().max(16);
        let bytes = u64::from(mtu) * frames / 16;
        u32::try_from(bytes).unwrap_or(u32::MAX)
    }

    /// How long the queue is then, if nobody else has anything in it.
    pub(super) fn wanted(&self, window: u32, mtu: u32) -> Duration {
        let micros = self.base().as_micros() * u128::from(self.share(window, mtu));
        let micros = micros / u128::from(window.max(1));
        Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
    }
}
