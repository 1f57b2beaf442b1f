//! Congestion control on one path: the window of a controller, and what every controller needs around it.

use alloc::boxed::Box;

use super::TransferParams;
use crate::bucket::{Bucket, Cap};
use crate::config::Policy;
use crate::congestion::{Ack, Congestion, Controller, MAX_WINDOW, Trouble, initial_window};
use crate::stats::Peak;
use crate::time::{Instant, Micros};

/// The congestion control of one path.
#[derive(Debug)]
pub(super) struct CongestionControl {
    controller: Box<dyn Controller>,
    /// Bounds of the window and the pace. `None` under the paper's policy with the paper's controller, which
    /// has neither (`docs/deviations.md` P12).
    around: Option<Around>,
    /// True if the window or the pace held data back when the host last had a chance to send.
    is_limited: bool,
    /// Until when the pace or the cap holds data back; never if neither does.
    held_until: Instant,
}

/// What the host does around a controller.
#[derive(Debug)]
struct Around {
    pacer: Pacer,
    /// The most bytes that were in flight in the last 5 to 10 s.
    peak: Peak,
    /// Bytes of the frames that left ahead of the window or the pace since bulk left last. `u32::MAX` before
    /// any bulk has left.
    lent: u32,
}

/// What a frame does to the loan: bytes that urgent data may send ahead of the window and the pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loan {
    /// Nothing.
    Untouched,
    /// It leaves on loan.
    Taken,
    /// Bulk is in it, so that all that was lent is paid back: bulk leaves neither ahead of the window or the
    /// pace, nor while urgent data waits.
    PaidBack,
}

/// A frame that leaves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaving {
    /// Bytes of the frame.
    pub(super) bytes: u32,
    /// Bytes that the frame adds to the flight: all with data, and 0 without.
    pub(super) in_flight: u32,
    /// True if the frame has data that the cap could have held back.
    pub(super) can_wait: bool,
    /// Bytes of the flight with this frame.
    pub(super) flight: u32,
    pub(super) loan: Loan,
}

impl CongestionControl {
    pub(super) fn new(params: &TransferParams) -> Self {
        let around = || Around {
            pacer: Pacer::new(params.bandwidth()),
            peak: Peak::default(),
            lent: u32::MAX,
        };
        let is_published =
            params.policy == Policy::Paper && matches!(params.congestion, Congestion::Paper);
        Self {
            controller: params.congestion.controller(params.max_datagram.into()),
            around: (!is_published).then(around),
            is_limited: false,
            held_until: Instant::NEVER,
        }
    }

    /// W_c in bytes, where datagrams have at most `mtu` bytes.
    pub(super) fn window(&self, mtu: u32) -> u32 {
        let window = self.controller.window();
        let Some(around) = &self.around else {
            return window;
        };
        if window >= MAX_WINDOW {
            return window; // such a window is no limit: see `Controller::window`
        }
        // A window that the sender did not use gives no right to a burst: it is worth twice what was in
        // flight recently, or the initial window. Half of the range is left, so that sums of windows and
        // frames cannot overflow.
        let most = around.peak.get().saturating_mul(2).min(MAX_WINDOW);
        // Two frames at least, whatever a controller of an application says (RFC 9002 §7.2).
        window.min(most.max(initial_window(mtu))).max(2 * mtu)
    }

    /// W_c in bytes as the controller has it.
    #[cfg(test)]
    pub(super) fn own_window(&self) -> u32 {
        self.controller.window()
    }

    /// The pace that the controller wants, in bytes a second; `None` leaves it to the host.
    pub(super) fn pacing_rate(&self) -> Option<u32> {
        self.controller.pacing_rate()
    }

    /// When the pace or the cap lets data go again.
    pub(super) const fn held_until(&self) -> Instant {
        self.held_until
    }

    /// Whether the pace or the cap holds data back now.
    #[inline]
    pub(super) fn is_held(&mut self, pace: &Pace, now: Instant) -> bool {
        let Some(around) = &mut self.around else {
            return false;
        };
        let until = around.pacer.hold(pace, now);
        self.held_until = until.unwrap_or(Instant::NEVER);
        until.is_some()
    }

    /// The most bytes of a frame with urgent data that leaves ahead of the window and the pace, where
    /// datagrams have at most `mtu` bytes.
    pub(super) fn lends(&self, mtu: u32) -> u32 {
        let Some(around) = &self.around else {
            return 0;
        };
        // Bulk that leaves shows that urgent data does not fill the path by itself. Without bulk, what is
        // ahead of the window would only wait in the queue of the path, and never be paid back. The cap is
        // what both hosts agreed on, for all data.
        if around.lent >= LOAN * mtu || around.pacer.is_capped() {
            return 0;
        }
        let most = (LOAN * mtu).min(self.window(mtu) / 4);
        most.saturating_sub(around.lent)
    }

    /// Data that was held back may leave: the deadline is over.
    pub(super) fn handle_timeout(&mut self, now: Instant) {
        if self.held_until <= now {
            self.held_until = Instant::NEVER;
        }
    }

    /// `is_limited`: data waits that the window or the pace holds back.
    pub(super) const fn set_limited(&mut self, is_limited: bool) {
        self.is_limited = is_limited;
    }

    /// Whether the cap of the rate holds data back.
    pub(super) fn is_capped(&self) -> bool {
        let around = self.around.as_ref();
        around.is_some_and(|around| around.pacer.is_capped())
    }

    #[inline]
    pub(super) fn on_sent(&mut self, leaving: &Leaving, now: Instant) {
        if let Some(around) = &mut self.around {
            around.pacer.on_sent(leaving, now);
            around.peak.note(0, now); // only time counts here: old flights are forgotten
            match leaving.loan {
                Loan::Untouched => {}
                Loan::Taken => around.lent = around.lent.saturating_add(leaving.bytes),
                Loan::PaidBack => around.lent = 0,
            }
        }
        // Controllers hear of nothing that is outside the congestion window (T20).
        if leaving.in_flight > 0 {
            let Leaving {
                in_flight, flight, ..
            } = *leaving;
            self.controller.on_sent(now, in_flight, flight);
        }
    }

    #[inline]
    pub(super) fn on_ack(&mut self, ack: &Ack) {
        // A flight counts once some of it is acknowledged: counted when it is sent, a burst would allow
        // itself.
        if let Some(around) = &mut self.around {
            around.peak.note(ack.in_flight, ack.now);
        }
        self.controller.on_ack(&Ack {
            is_limited: self.is_limited,
            ..*ack
        });
    }

    pub(super) fn on_trouble(&mut self, trouble: &Trouble) {
        self.controller.on_trouble(trouble);
    }

    /// Replaces the controller and all around it, to draw a figure.
    #[cfg(test)]
    pub(super) fn set_controller(&mut self, controller: Box<dyn Controller>) {
        self.around = None;
        self.controller = controller;
    }

    /// Datagrams can have `mtu` bytes from now on.
    pub(super) fn on_mtu(&mut self, mtu: u16) {
        self.controller.on_mtu(mtu.into());
    }

    /// The connection has moved here from a path with the control `from`.
    pub(super) fn inherit(&mut self, from: Self) {
        if let (Some(around), Some(before)) = (&mut self.around, from.around) {
            // The cap goes on with its debts, as the rates are agreed on with the remote host and do not
            // depend on its address: moving must not let more leave. The rest was learnt of the old path.
            around.pacer = before.pacer;
        }
        (self.is_limited, self.held_until) = (from.is_limited, from.held_until);
    }

    /// Nothing was lost in the last episode: all of it only came late.
    pub(super) fn on_spurious(&mut self) {
        self.controller.on_spurious();
    }
}

#[cfg(any(test, feature = "audit"))]
impl CongestionControl {
    /// # Panics
    ///
    /// If the cap was not kept.
    pub(super) fn audit(&self, longest: u64) {
        if let Some(around) = &self.around {
            around.pacer.audit(longest);
        }
    }
}

/// Frames that a host may send at once after a silence (RFC 9002 §7.7). One of them is on credit.
const BURST: u32 = 10;

/// Full frames that urgent data may be ahead of the window and the pace, a quarter of the window at most: one
/// for the events of a step, and one for the states of a game beside them.
const LOAN: u32 = 2;

/// The least time for which data is held back: to be called for each frame of a fast connection would cost
/// the host more than the pace is worth.
const QUANTUM: Micros = Micros::from_millis(1);

/// The cap of the host on what it sends to all of its peers, as one peer sees it (`docs/deviations.md` P11).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gate {
    /// True while no data may leave.
    pub(super) is_shut: bool,
    /// True if data waits for nothing but this gate.
    pub(crate) waits: bool,
    /// True if the last datagram had data that could have waited. What a probe repeats, or what was copied
    /// into spare bytes, could not.
    pub(crate) data: bool,
}

impl Gate {
    /// The host is about to ask this peer for a datagram.
    pub(crate) const fn set_shut(&mut self, is_shut: bool) {
        self.is_shut = is_shut;
    }

    /// The host asks for a datagram.
    pub(super) const fn ask(&mut self) {
        (self.waits, self.data) = (false, false);
    }

    /// The most bytes of the next datagram with data, where `otherwise` is what all other limits allow.
    pub(super) const fn limit(&self, otherwise: usize) -> usize {
        if self.is_shut { 0 } else { otherwise }
    }
}

/// The pace and the cap of one peer.
#[derive(Debug)]
pub(super) struct Pacer {
    pace: Bucket,
    cap: Cap,
}

/// How fast frames may leave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// In bytes a second; `None` before the first round trip.
    pub(super) rate: Option<u32>,
    /// B of (10), in bytes a second.
    pub(super) bandwidth: u32,
    pub(super) mtu: u32,
    /// How late the host is stepped when something is due.
    pub(super) step: Micros,
}

impl Pacer {
    pub(super) const fn new(bandwidth: u32) -> Self {
        Self {
            pace: Bucket::new(u32::MAX),
            cap: Cap::new(bandwidth),
        }
    }

    /// Until when data is held back; `None` if it may leave now.
    #[inline]
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
        // Only what the pace holds back uses it up: otherwise many acknowledgements would stop all data where
        // the pace is slow.
        self.pace.spend(leaving.in_flight.into());
    }

    /// Whether the cap held data back at the last look.
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

/// Bytes that the pace saves while nothing is sent.
fn burst(rate: u32, pace: &Pace) -> u64 {
    // A host that is called once a step sends all of a step at once: a step and a quarter, for steps that
    // come late.
    let step = pace.step + pace.step / 4 + QUANTUM;
    let bytes = u64::from(rate).saturating_mul(step.get()) / 1_000_000;
    bytes.max(u64::from((BURST - 1) * pace.mtu))
}
