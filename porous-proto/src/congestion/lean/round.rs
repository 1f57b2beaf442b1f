//! One round trip after the other: what each has shown, and how fast data arrived in the recent ones.

use crate::congestion::Ack;
use crate::time::{Instant, Micros};

/// A minute stands for all times that are longer, so that nothing can overflow.
pub(super) const LONGEST: Micros = Micros::from_secs(60);

/// In microseconds.
const SECOND: u64 = 1_000_000;

/// One round trip: from an acknowledgement until one comes for what was sent after it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Round {
    began: Instant,
    /// The last acknowledgement in it.
    pub(super) now: Instant,
    /// The shortest sample of the round trip in it.
    shortest: Option<Micros>,
    /// Bytes that arrived in it.
    delivered: u32,
    /// Those that arrived while the window or the pace held data back.
    limited: u32,
}

impl Round {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            began: now,
            ..Self::default()
        }
    }

    /// Takes an acknowledgement in. Returns whether the round is over.
    pub(super) fn on_ack(&mut self, ack: &Ack) -> bool {
        self.now = ack.now;
        self.delivered = self.delivered.saturating_add(ack.bytes);
        if ack.is_limited {
            self.limited = self.limited.saturating_add(ack.bytes);
        }
        if let Some(rtt) = ack.rtt {
            self.shortest = Some(self.rtt().min(rtt.into()));
        }
        ack.sent >= self.began
    }

    /// The shortest sample of the round trip in it; for ever if there was none.
    pub(super) fn rtt(&self) -> Micros {
        self.shortest.unwrap_or(Micros::MAX)
    }

    /// How fast data arrived, in bytes a second.
    pub(super) fn rate(&self) -> u32 {
        per_second(self.delivered, self.now.since(self.began))
    }

    /// Whether the window or the pace held data back at some time.
    pub(super) const fn is_limited(&self) -> bool {
        self.limited > 0
    }

    /// Whether the window or the pace held data back for most of the round: the losses of a connection that
    /// waits only for what is sent again are not those of its window.
    pub(super) const fn is_used(&self) -> bool {
        self.is_limited() && self.limited >= self.delivered - self.limited
    }
}

/// Values that are remembered.
pub(super) const VALUES: usize = 8;

/// The last [`VALUES`] values, the newest first; those that are not known yet are zero.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Recent<T> {
    pub(super) values: [T; VALUES],
    /// How many are known.
    pub(super) count: usize,
}

impl<T: Copy + Default + Ord> Recent<T> {
    pub(super) fn note(&mut self, value: T) {
        self.values.rotate_right(1);
        self.values[0] = value;
        self.count = VALUES.min(self.count + 1);
    }

    pub(super) fn max(&self) -> T {
        self.values.into_iter().max().unwrap_or_default()
    }

    pub(super) fn min(&self) -> T {
        self.values.into_iter().min().unwrap_or_default()
    }
}

/// `amount` · `times` / `parts`.
pub(super) fn scaled(amount: u32, times: u64, parts: u64) -> u32 {
    let scaled = u64::from(amount).saturating_mul(times) / parts.max(1);
    u32::try_from(scaled).unwrap_or(u32::MAX)
}

/// `bytes` in this time, in bytes a second. At most half of the range, so that sums of rates cannot overflow.
pub(super) fn per_second(bytes: u32, time: Micros) -> u32 {
    scaled(bytes, SECOND, time.get()).min(u32::MAX / 2)
}

/// Bytes that are sent at `rate` bytes a second in this time. At most half of the range.
pub(super) fn bytes_in(rate: u32, time: Micros) -> u32 {
    scaled(rate, time.get(), SECOND).min(u32::MAX / 2)
}
