//! The path without its queue, and how much a connection wants to have in the queue.

use super::round::LONGEST;
use crate::congestion::Ack;
use crate::stats::{Minimum, Ring, VALUES, per_second, scaled};
use crate::time::Micros;

/// Rate, in bytes a second, at which a connection wants to have one frame in the queue. The number of frames
/// grows with the square root of the rate: few enough to keep the queue short at any rate, and of two
/// connections the faster one has less in the queue for its rate, so that they meet.
const UNIT: u32 = 70_000;

/// The least that a connection wants to have in the queue, in sixteenths of a frame. Less, and 32 connections
/// on a slow line would never see each other.
const LEAST: u64 = 8;

/// Half of the time in seconds for which the shortest round trip is remembered. It is longer than others usually
/// keep a queue full: a connection that forgets the path without the queue takes the queue for the path.
const BASE_HALF: u64 = 30;

/// What frames of others and drains make rounds differ by, on a path without jitter.
const QUIET: Micros = Micros::from_millis(2);

/// What is known of the path.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Path {
    /// The most bytes of a datagram.
    pub(super) mtu: u32,
    /// The smoothed round trip.
    pub(super) smoothed: Micros,
    /// How late this host is called, so that round trips look longer.
    pub(super) step: Micros,
    base: Minimum<BASE_HALF>,
    /// A round trip as it usually is without a queue; the base counts if that is longer.
    floor: Micros,
    /// The shortest round trip of each of the last rounds.
    recent: Ring<Micros>,
    /// How much longer frames took to come through than the fastest of their round, in each of the last rounds.
    /// The least counts, as a queue that grows makes single rounds longer.
    pub(super) spread: Ring<Micros>,
}

impl Path {
    /// The shortest round trip of the last 30 to 60 s; zero before the first sample.
    pub(super) fn base(&self) -> Micros {
        self.base.get().unwrap_or_default()
    }

    /// A round trip as it usually is without a queue: with the jitter of the path, which the base is without.
    pub(super) fn floor(&self) -> Micros {
        self.floor.max(self.base())
    }

    /// Without a queue a round trip usually takes `rtt`.
    pub(super) const fn set_floor(&mut self, rtt: Micros) {
        self.floor = rtt;
    }

    /// The window was not used in a round of `rtt`: a queue in it is not made by this connection.
    pub(super) fn learn(&mut self, rtt: Micros) {
        self.floor = (7 * self.floor() + rtt) / 8;
    }

    pub(super) fn on_ack(&mut self, ack: &Ack) {
        self.smoothed = ack.smoothed_rtt.into();
        self.step = ack.step.into();
        if let Some(rtt) = ack.rtt {
            self.base.sample(rtt.into(), ack.now);
        }
    }

    /// The shortest round trip of a round was `rtt`.
    pub(super) fn on_round(&mut self, rtt: Micros) {
        self.recent.note(rtt.min(LONGEST));
        if self.recent.count == VALUES {
            // No recent round trip was as long: the path has become shorter.
            self.floor = self.floor.min(self.recent.max());
        }
    }

    /// The round trip before the window changes: the last one, or the mean of four where they differ.
    pub(super) fn usual(&self) -> Micros {
        let count = if self.noise().is_zero() { 1 } else { 4 };
        let last = self.recent.values.into_iter().take(count);
        Micros::new(last.map(Micros::get).sum::<u64>() / count as u64)
    }

    /// How much the round trips of rounds differ from each other although the queue is the same: the mean
    /// difference of one round from the next, without what a path without jitter has.
    pub(super) fn noise(&self) -> Micros {
        if self.recent.count < VALUES {
            return Micros::ZERO;
        }
        let rounds = self.recent.values.windows(2);
        let sum: u64 = rounds.map(|two| two[0].get().abs_diff(two[1].get())).sum();
        // Frames that come spread out show jitter. Bursts of the sender spread them by as much as a path
        // without jitter makes rounds differ.
        let quiet = QUIET - (self.spread.min() - QUIET);
        let noise = Micros::new(sum / (VALUES as u64 - 1)) - quiet;
        // More is a queue that comes and goes, as where the rate of a path has changed.
        noise.min(self.floor() / 4)
    }

    /// Whether the round trips of the last rounds differ by no more than noise: nobody makes a queue longer
    /// and shorter.
    pub(super) fn is_steady(&self) -> bool {
        self.recent.max() - self.recent.min() <= self.floor() / 8 + self.slack()
    }

    /// Whether the floor is the shortest round trip that is remembered, but for noise. A floor above it may be
    /// a queue that never became empty.
    pub(super) fn is_trusted(&self) -> bool {
        self.floor() - self.base() <= self.base() / 8 + self.slack()
    }

    fn slack(&self) -> Micros {
        4 * self.noise() + Micros::from_millis(1) + self.step
    }

    /// The part of a round trip that is the queue, as far as this host can see.
    pub(super) fn queue(&self, rtt: Micros) -> Micros {
        rtt - self.floor().max(self.base() + self.step)
    }

    /// Whether the queue is longer than this connection alone would make it with this window.
    pub(super) fn is_long(&self, window: u32) -> bool {
        let own = self.floor() / 8 + self.wanted(window) + 2 * self.noise() + self.step;
        self.recent.values[0] - self.floor() > own
    }

    /// Whether a round trip of `rtt` has no more of a queue in it than a connection with this window wants.
    pub(super) fn is_empty(&self, rtt: Micros, window: u32) -> bool {
        // Jitter of an eighth of the path is no queue of others.
        let least = (2 * self.noise()).max(self.floor() / 8);
        rtt <= self.floor() + self.wanted(window).max(least) + self.step
    }

    /// Bytes that a connection with this window wants to have in the queue.
    pub(super) fn share(&self, window: u32) -> u32 {
        // A floor of nothing, as before the first sample, would give no rate.
        let rate = per_second(window, self.floor().max(Micros::from_millis(1)));
        // In sixteenths, so that slow connections have no steps of whole frames.
        let frames = u64::from(rate) * 256 / u64::from(UNIT);
        scaled(self.mtu, frames.isqrt().max(LEAST), 16)
    }

    /// How long the queue is if only this connection has its share in it.
    pub(super) fn wanted(&self, window: u32) -> Micros {
        u64::from(self.share(window)) * self.floor() / window.max(1).into()
    }
}
