//! The path without its queue, and how much a connection wants to have in the queue.

use crate::congestion::controller::Ack;
use crate::stats::Minimum;
use crate::time::{Instant, Micros};

/// Rate, in bytes a second, at which a connection wants to have one frame in the queue. The number of frames
/// grows with the square root of the rate: few enough to keep the queue short at any rate, and of two
/// connections the faster one has less in the queue for its rate, so that they meet.
const UNIT: u32 = 70_000;

/// A minute stands for all times that are longer, so that nothing can overflow. For this long what is known
/// of the path is kept beside rivals, which hide it.
pub(super) const LONGEST: Micros = Micros::from_secs(60);

/// An [`Ack`], as far as it matters here. No time in it is longer than [`LONGEST`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Acked {
    pub(super) now: Instant,
    pub(super) bytes: u32,
    pub(super) frames: u32,
    pub(super) sent: Instant,
    pub(super) rtt: Option<Micros>,
    pub(super) is_limited: bool,
    pub(super) step: Micros,
}

impl From<&Ack> for Acked {
    fn from(ack: &Ack) -> Self {
        Self {
            now: ack.now,
            bytes: ack.bytes,
            frames: ack.frames,
            sent: ack.sent,
            rtt: ack.rtt.map(|rtt| Micros::from(rtt).min(LONGEST)),
            is_limited: ack.is_limited,
            step: Micros::from(ack.step).min(LONGEST),
        }
    }
}

/// What is known of the path.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Path {
    base: Minimum,
}

impl Path {
    /// The shortest round trip of the last 5 to 10 s; zero before the first sample.
    pub(super) fn base(&self) -> Micros {
        self.base.get().unwrap_or_default()
    }

    /// A round trip took `rtt`. `keeps`: the shortest one must not be forgotten now.
    pub(super) fn on_round_trip(&mut self, rtt: Micros, keeps: bool, now: Instant) {
        let least = if keeps { self.base.get() } else { None };
        self.base.sample(rtt.min(least.unwrap_or(rtt)), now);
    }

    /// The part of a round trip that is the queue, as far as a host can see that is called late by `step`.
    pub(super) fn queue(&self, rtt: Micros, step: Micros) -> Micros {
        rtt - self.base() - step
    }

    /// Bytes that a connection with this window wants to have in the queue: one frame at least.
    pub(super) fn share(&self, window: u32, mtu: u32) -> u32 {
        // A base of nothing, as before the first sample, would give no rate.
        let rate = per_second(window, self.base().max(Micros::from_millis(1)));
        // In sixteenths, so that slow connections have no steps of whole frames.
        let frames = (256 * u64::from(rate) / u64::from(UNIT)).isqrt().max(16);
        let bytes = u64::from(mtu) * frames / 16;
        u32::try_from(bytes).unwrap_or(u32::MAX)
    }

    /// How long the queue is if only this connection has its share in it.
    pub(super) fn wanted(&self, window: u32, mtu: u32) -> Micros {
        u64::from(self.share(window, mtu)) * self.base() / window.max(1).into()
    }
}

/// One round trip: from an acknowledgement until one comes for what was sent after it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Round {
    pub(super) began: Instant,
    /// The shortest sample of the round trip in it.
    pub(super) rtt: Micros,
    /// Samples of the round trip in it.
    pub(super) samples: u32,
    /// Bytes that arrived in it.
    pub(super) delivered: u32,
    /// True if the window or the pace held data back at some time in it.
    pub(super) is_limited: bool,
}

impl Round {
    pub(super) const fn new(now: Instant) -> Self {
        Self {
            began: now,
            rtt: Micros::MAX,
            samples: 0,
            delivered: 0,
            is_limited: false,
        }
    }

    /// Takes an acknowledgement in. Returns whether the round is over.
    pub(super) fn on_ack(&mut self, ack: &Acked) -> bool {
        self.delivered = self.delivered.saturating_add(ack.bytes);
        self.is_limited |= ack.is_limited;
        if let Some(rtt) = ack.rtt {
            self.rtt = self.rtt.min(rtt);
            self.samples += 1;
        }
        ack.sent >= self.began
    }

    /// How fast data arrived, in bytes a second.
    pub(super) fn rate(&self, now: Instant) -> u32 {
        per_second(self.delivered, now.since(self.began))
    }
}

/// The rates of the last eight rounds, in bytes a second.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fastest {
    rates: [u32; 8],
    next: usize,
}

impl Fastest {
    pub(super) fn note(&mut self, rate: u32) {
        if let Some(place) = self.rates.get_mut(self.next) {
            *place = rate;
        }
        self.next = (self.next + 1) % self.rates.len();
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
