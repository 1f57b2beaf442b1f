//! Spreads what the window lets go over the round trip (RFC 9002 §7.7), and keeps to the rate that
//! the hosts agreed on.

use core::time::Duration;

use super::congestion_control::Leaving;
use crate::bucket::{Bucket, Cap};
use crate::time::Instant;

/// Frames that a host may send at once after a silence (RFC 9002 §7.7), one of them on credit.
const BURST: u32 = 10;

/// A pause between frames is at least this long: to be called for each frame of a fast connection
/// would cost the host more than the pace is worth.
const QUANTUM: Duration = Duration::from_millis(1);

/// The cap of the host on what it sends to all of its peers, as one of them sees it
/// (`docs/deviations.md` P11).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gate {
    /// No data may leave.
    pub(super) is_shut: bool,
    /// Data waits for nothing but that.
    pub(crate) waits: bool,
    /// There was data in the last datagram that could have waited: not only repeated in a probe, or
    /// copied where there was room.
    pub(crate) data: bool,
}

impl Gate {
    /// The peer is about to be asked for a datagram.
    pub(crate) const fn set_shut(&mut self, is_shut: bool) {
        self.is_shut = is_shut;
    }

    /// It is asked.
    pub(super) const fn ask(&mut self) {
        (self.waits, self.data) = (false, false);
    }

    /// How long the next datagram with data may be, if it was this otherwise.
    pub(super) const fn limit(&self, otherwise: usize) -> usize {
        if self.is_shut { 0 } else { otherwise }
    }
}

/// The rates of one peer.
#[derive(Debug)]
pub(super) struct Pacer {
    pace: Bucket,
    cap: Cap,
}

/// How fast frames may leave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// Bytes a second; none before the first round trip.
    pub(super) rate: Option<u32>,
    /// B of (10), in bytes a second.
    pub(super) bandwidth: u32,
    pub(super) mtu: u32,
    /// How late the host is stepped when something is due.
    pub(super) step: Duration,
}

impl Pacer {
    pub(super) const fn new(bandwidth: u32) -> Self {
        Self {
            pace: Bucket::new(u32::MAX),
            cap: Cap::new(bandwidth),
        }
    }

    /// Until when data is held back.
    pub(super) fn hold(&mut self, pace: &Pace, now: Instant) -> Option<Instant> {
        if let Some(rate) = pace.rate {
            self.pace.pace(rate, burst(rate, pace), now);
        }
        self.cap.set_rate(pace.bandwidth, now);
        let capped = self.cap.hold(pace.step, now);
        let until = self.pace.hold(now).max(capped)?;
        Some(until.max(now + QUANTUM))
    }

    pub(super) fn on_sent(&mut self, leaving: &Leaving, now: Instant) {
        if leaving.can_wait {
            self.cap.spend(leaving.bytes.into(), now);
        } else {
            self.cap.count(leaving.bytes.into());
        }
        // What is not in flight is not held back by the pace and does not use it up, or many
        // acknowledgements would stop all data where the pace is slow.
        self.pace.spend(leaving.in_flight.into());
    }

    /// The cap holds data back.
    pub(super) const fn is_capped(&self) -> bool {
        self.cap.is_holding()
    }
}

#[cfg(any(test, feature = "audit"))]
impl Pacer {
    /// # Panics
    ///
    /// If the cap was not kept.
    pub(super) fn audit(&self, longest: u64) {
        self.cap.audit(longest);
    }
}

/// What may be saved up: a host that is called once a step sends all of a step at once. A step and
/// a quarter, for those that come late.
fn burst(rate: u32, pace: &Pace) -> u64 {
    let step = pace.step + pace.step / 4 + QUANTUM;
    let bytes = u128::from(rate) * step.as_micros() / 1_000_000;
    let least = u64::from((BURST - 1) * pace.mtu);
    u64::try_from(bytes).unwrap_or(u64::MAX).max(least)
}
