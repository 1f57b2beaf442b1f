//! One round trip after the other: what each has shown, and how fast data arrived in the recent ones.

use super::losses::ALL;
use crate::congestion::Ack;
use crate::stats::{per_second, scaled, time_of};
use crate::time::{Instant, Micros};

/// A minute stands for all times that are longer, so that nothing can overflow.
pub(super) const LONGEST: Micros = Micros::from_secs(60);

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
    /// The most bytes that were in flight in it.
    flight: u32,
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
        self.flight = self.flight.max(ack.in_flight);
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

    /// How much longer a frame takes to come through than the fastest of the round. In jitter samples of the
    /// round trip do not tell: they are of frames that overtake others. What is in flight and the rate at which
    /// it arrives do (Little's law). Of 1024 frames in flight `lost` will not arrive, and are not counted.
    pub(super) fn spread(&self, lost: u32) -> Micros {
        let flight = scaled(self.flight, (ALL - lost).into(), ALL.into());
        time_of(flight, self.rate()).min(LONGEST) - self.rtt()
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
