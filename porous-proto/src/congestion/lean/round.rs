//! One round trip after the other: what each has shown, and how fast data arrived in the recent ones.

use crate::congestion::Ack;
use crate::time::{Instant, Micros};

/// A minute stands for all times that are longer, so that nothing can overflow.
pub(super) const LONGEST: Micros = Micros::from_secs(60);

/// One round trip: from an acknowledgement until one comes for what was sent after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    began: Instant,
    /// The shortest sample of the round trip in it.
    pub(super) rtt: Micros,
    /// Samples of the round trip in it.
    pub(super) samples: u32,
    /// Bytes that arrived in it.
    delivered: u32,
    /// Those that arrived while the window or the pace held data back.
    limited: u32,
}

impl Round {
    pub(super) const fn new(now: Instant) -> Self {
        Self {
            began: now,
            rtt: Micros::MAX,
            samples: 0,
            delivered: 0,
            limited: 0,
        }
    }

    /// Takes an acknowledgement in. Returns whether the round is over.
    pub(super) fn on_ack(&mut self, ack: &Ack) -> bool {
        self.delivered = self.delivered.saturating_add(ack.bytes);
        if ack.is_limited {
            self.limited = self.limited.saturating_add(ack.bytes);
        }
        if let Some(rtt) = ack.rtt {
            self.rtt = self.rtt.min(rtt.into());
            self.samples += 1;
        }
        ack.sent >= self.began
    }

    /// How fast data arrived, in bytes a second.
    pub(super) fn rate(&self, now: Instant) -> u32 {
        per_second(self.delivered, now.since(self.began))
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

/// The rates of the last eight rounds, in bytes a second.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fastest {
    rates: [u32; 8],
    next: u32,
}

impl Fastest {
    pub(super) fn note(&mut self, rate: u32) {
        let place = self.next as usize % self.rates.len();
        if let Some(place) = self.rates.get_mut(place) {
            *place = rate;
        }
        self.next = self.next.wrapping_add(1);
    }

    pub(super) fn get(&self) -> u32 {
        self.rates.iter().copied().max().unwrap_or(0)
    }
}

/// `bytes` in this time, in bytes a second. At most half of the range, so that sums of rates cannot overflow.
pub(super) fn per_second(bytes: u32, time: Micros) -> u32 {
    let rate = u64::from(bytes) * 1_000_000 / time.get().max(1);
    u32::try_from(rate).unwrap_or(u32::MAX).min(u32::MAX / 2)
}

/// Bytes that are sent at `rate` bytes a second in this time.
pub(super) fn bytes_in(rate: u32, time: Micros) -> u32 {
    let bytes = u64::from(rate).saturating_mul(time.get()) / 1_000_000;
    u32::try_from(bytes).unwrap_or(u32::MAX).min(u32::MAX / 2)
}
