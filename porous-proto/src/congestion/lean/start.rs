//! Slow start: how fast the window grows at first, and when it is enough.

use core::time::Duration;

use super::path::{Path, bytes_in, per_second};
use crate::congestion::controller::Ack;
use crate::time::Instant;

/// A queue of this part of the round trip ends it, but at least and at most of so long (HyStart++,
/// RFC 9406 §4.2).
const PART: u32 = 8;
const LEAST: Duration = Duration::from_millis(4);
const MOST: Duration = Duration::from_millis(16);

/// Round trips in a row that must agree on it (RFC 9406, `N_RTT_SAMPLE`), and fewer where the host
/// is called so late that each of them stands for several.
const SAMPLES: usize = 8;
const SAMPLES_LATE: usize = 2;

/// The most by which the window is multiplied in a round trip.
const FASTEST: u32 = 8;

/// What slow start goes by.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Start {
    train: Train,
    /// The last round trips, and how many there were.
    recent: [Duration; SAMPLES],
    samples: usize,
}

impl Start {
    pub(super) fn on_ack(&mut self, ack: &Ack) {
        self.train.on_ack(ack);
        if let Some(rtt) = ack.rtt {
            if let Some(place) = self.recent.get_mut(self.samples % SAMPLES) {
                *place = rtt;
            }
            self.samples = self.samples.wrapping_add(1);
        }
    }

    /// What the acknowledged bytes add to the window: as much again, or more as long as the window is
    /// less than three quarters of what the first frames tell that the path holds.
    pub(super) fn growth(&self, ack: &Ack, window: u32, path: &Path) -> u32 {
        let fits = bytes_in(self.train.rate(ack.step), path.base()) / 4 * 3;
        let most = ack.bytes.saturating_mul(FASTEST - 1);
        most.min(fits.saturating_sub(window)).max(ack.bytes)
    }

    /// Whether there is a queue: all of the last round trips have seen it.
    pub(super) fn is_enough(&self, step: Duration, path: &Path) -> bool {
        let needed = if step > LEAST { SAMPLES_LATE } else { SAMPLES };
        if self.samples < needed {
            return false;
        }
        let last = (1..=needed).map(|back| self.recent[(self.samples - back) % SAMPLES]);
        let least = last.min().unwrap_or_default();
        Self::is_long(least, step, path)
    }

    /// Whether there is a queue in this round trip.
    pub(super) fn is_long(rtt: Duration, step: Duration, path: &Path) -> bool {
        path.queue(rtt, step) > (path.base() / PART).clamp(LEAST, MOST)
    }
}

/// The frames that left at once before a round trip was known: how far apart they came tells how fast
/// the path is.
#[derive(Clone, Copy, Debug, Default)]
struct Train {
    /// When they were sent.
    sent: Option<Instant>,
    /// When the first and the last was acknowledged.
    first: Instant,
    last: Instant,
    /// All of them but the first.
    bytes: u32,
}

impl Train {
    fn on_ack(&mut self, ack: &Ack) {
        match self.sent {
            None => {
                (self.sent, self.first, self.last) = (Some(ack.sent), ack.now, ack.now);
                self.bytes = ack.bytes - ack.bytes / ack.frames.max(1);
            }
            Some(sent) if sent == ack.sent => {
                self.bytes = self.bytes.saturating_add(ack.bytes);
                self.last = ack.now;
            }
            Some(_) => {}
        }
    }

    /// In bytes a second, at least: the first acknowledgement may have been seen too late.
    fn rate(&self, step: Duration) -> u32 {
        let time = self.last.saturating_duration_since(self.first);
        per_second(self.bytes, time + step.max(Duration::from_millis(1)))
    }
}
