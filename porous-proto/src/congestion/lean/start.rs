//! Slow start: how fast the window grows at first, and when it is wide enough.

use super::path::Path;
use crate::congestion::Ack;
use crate::stats::{Ring, VALUES, bytes_in, per_second};
use crate::time::{Instant, Micros};

/// A queue that is longer than one of this many parts of the round trip ends slow start (HyStart++,
/// RFC 9406 §4.2).
const PART: u64 = 8;

/// No shorter queue ends slow start.
const LEAST: Micros = Micros::from_millis(4);

/// Each longer queue ends slow start.
const MOST: Micros = Micros::from_millis(16);

/// Consecutive samples of the round trip that must show such a queue (RFC 9406, `N_RTT_SAMPLE`).
const SAMPLES: usize = VALUES;

/// The same where this host is called so late that each sample stands for several.
const LATE: usize = 2;

/// The largest factor by which the window grows in a round trip.
const FASTEST: u32 = 8;

/// Rounds in which data arrives no faster after which the path is full, if frames get lost. Two, as one round
/// may wait for an acknowledgement.
const STILL: u32 = 2;

/// What slow start knows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Start {
    train: Train,
    /// The last samples of the round trip.
    recent: Ring<Micros>,
    /// The fastest rate at which data arrived in a round, in bytes a second.
    fastest: u32,
    /// Rounds since then that were no faster by a quarter.
    still: u32,
}

impl Start {
    /// Slow start begins once more. What the first frames told and the last samples of the round trip are kept: the
    /// path is most often the same, and its queue may be full.
    pub(super) const fn begin_anew(&mut self) {
        (self.fastest, self.still) = (0, 0);
    }

    pub(super) fn on_ack(&mut self, ack: &Ack) {
        self.train.on_ack(ack);
        if let Some(rtt) = ack.rtt {
            self.recent.note(rtt.into());
        }
    }

    /// Data arrived at `rate` bytes a second in a round. `is_used`: the window held data back for most of it.
    /// Returns whether it becomes no faster, though the window grows.
    pub(super) const fn on_round(&mut self, rate: u32, is_used: bool) -> bool {
        if rate > self.fastest / 4 * 5 {
            (self.fastest, self.still) = (rate, 0);
        } else if is_used {
            self.still = self.still.saturating_add(1);
        }
        self.still >= STILL
    }

    /// Bytes that an acknowledgement adds to the window.
    pub(super) fn growth(&self, ack: &Ack, window: u32, path: &Path) -> u32 {
        // At least as much as was acknowledged; more while the window is below three quarters of what the
        // path holds by the first frames.
        let fits = bytes_in(self.train.rate(path.step), path.base()) / 4 * 3;
        let most = ack.bytes.saturating_mul(FASTEST - 1);
        most.min(fits.saturating_sub(window)).max(ack.bytes)
    }

    /// Whether the window is wide enough: all of the last samples have seen a queue.
    #[inline]
    pub(super) fn is_enough(&self, path: &Path) -> bool {
        let needed = if path.step > LEAST { LATE } else { SAMPLES };
        // The newest first, which has mostly seen none: then no other need be looked at.
        let mut last = self.recent.values.into_iter().take(needed);
        self.recent.count >= needed && last.all(|rtt| Self::is_long(rtt, path))
    }

    /// Whether this round trip has a queue in it that ends slow start.
    pub(super) fn is_long(rtt: Micros, path: &Path) -> bool {
        path.queue(rtt) > (path.base() / PART).clamp(LEAST, MOST)
    }
}

/// The frames that left at once before a round trip was known. How far apart they arrive tells how fast the
/// path is.
#[derive(Clone, Copy, Debug, Default)]
struct Train {
    /// When they were sent; `None` before the first acknowledgement.
    sent: Option<Instant>,
    /// When the first of them was acknowledged.
    first: Instant,
    /// How much later the last of them was acknowledged so far.
    time: Micros,
    /// Bytes of all of them but the first: these arrived after `first`.
    bytes: u32,
}

impl Train {
    fn on_ack(&mut self, ack: &Ack) {
        if self.sent.is_none() {
            (self.sent, self.first) = (Some(ack.sent), ack.now);
            self.bytes = ack.bytes - ack.bytes / ack.frames.max(1);
        } else if self.sent == Some(ack.sent) {
            self.bytes = self.bytes.saturating_add(ack.bytes);
            self.time = ack.now.since(self.first);
        }
    }

    /// The rate of the path in bytes a second, rather too low.
    fn rate(&self, step: Micros) -> u32 {
        // The first acknowledgement may have been seen up to a step too late, so that the time looks too
        // short.
        per_second(self.bytes, self.time + step.max(Micros::from_millis(1)))
    }
}
