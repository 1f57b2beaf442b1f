//! Congestion control on one path: the window of a controller, and what every controller needs around
//! it.

use alloc::boxed::Box;

use super::TransferParams;
use super::pacer::{Pace, Pacer};
use crate::config::Policy;
use crate::congestion::{Ack, Congestion, Controller, MAX_WINDOW, Trouble, initial_window};
use crate::stats::Peak;
use crate::time::Instant;

/// The congestion control of one path.
#[derive(Debug)]
pub(super) struct CongestionControl {
    controller: Box<dyn Controller>,
    /// What is done around the controller. `None` where all is as the paper has it.
    around: Option<Around>,
    /// The window or the pace held data back when there was last a chance to send.
    is_limited: bool,
    /// Until when the pace holds data back.
    held_until: Instant,
}

#[derive(Debug)]
struct Around {
    pacer: Pacer,
    /// The most that was in flight: a window that nobody used gives no right to a burst.
    peak: Peak,
}

/// A frame that leaves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaving {
    /// All of its bytes.
    pub(super) bytes: u32,
    /// Those of them that are in flight: all with data, and none without.
    pub(super) in_flight: u32,
    /// It has data that the cap could have held back.
    pub(super) can_wait: bool,
    /// The flight size with it.
    pub(super) flight: u32,
}

impl CongestionControl {
    pub(super) fn new(params: &TransferParams) -> Self {
        let around = || Around {
            pacer: Pacer::new(params.bandwidth()),
            peak: Peak::NONE,
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

    /// W_c.
    pub(super) fn window(&self, mtu: u32) -> u32 {
        let window = self.controller.window();
        let Some(around) = &self.around else {
            return window;
        };
        if window >= MAX_WINDOW {
            return window; // that is none
        }
        // Half of the range is left, so that sums of windows and frames cannot overflow.
        let most = around.peak.get().saturating_mul(2).min(MAX_WINDOW);
        window.min(most.max(initial_window(mtu))).max(2 * mtu)
    }

    /// W_c as the controller has it.
    #[cfg(test)]
    pub(super) fn own_window(&self) -> u32 {
        self.controller.window()
    }

    /// What the controller wants, in bytes a second.
    pub(super) fn pacing_rate(&self) -> Option<u32> {
        self.controller.pacing_rate()
    }

    /// When the pace lets data go.
    pub(super) const fn held_until(&self) -> Instant {
        self.held_until
    }

    /// Whether the pace or the cap holds data back now.
    pub(super) fn is_held(&mut self, pace: &Pace, now: Instant) -> bool {
        let Some(around) = &mut self.around else {
            return false;
        };
        let until = around.pacer.hold(pace, now);
        self.held_until = until.unwrap_or(Instant::NEVER);
        until.is_some()
    }

    /// Data that was held back may go.
    pub(super) fn handle_timeout(&mut self, now: Instant) {
        if self.held_until <= now {
            self.held_until = Instant::NEVER;
        }
    }

    /// Whether data waits that the window or the pace holds back.
    pub(super) const fn set_limited(&mut self, is_limited: bool) {
        self.is_limited = is_limited;
    }

    /// The cap of the rate holds data back.
    pub(super) fn is_capped(&self) -> bool {
        let around = self.around.as_ref();
        around.is_some_and(|around| around.pacer.is_capped())
    }

    pub(super) fn on_sent(&mut self, leaving: &Leaving, now: Instant) {
        if let Some(around) = &mut self.around {
            around.pacer.on_sent(leaving, now);
            around.peak.note(0, now); // time passes
        }
        if leaving.in_flight > 0 {
            let Leaving {
                in_flight, flight, ..
            } = *leaving;
            self.controller.on_sent(now, in_flight, flight);
        }
    }

    pub(super) fn on_ack(&mut self, ack: &Ack) {
        // The flight counts when an acknowledgement comes, or a burst would allow itself.
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

    /// Sets W_c and nothing else, to draw a figure.
    #[cfg(test)]
    pub(super) fn set_controller(&mut self, controller: Box<dyn Controller>) {
        self.around = None;
        self.controller = controller;
    }

    /// Datagrams can have so many bytes from now on.
    pub(super) fn on_mtu(&mut self, mtu: u16) {
        self.controller.on_mtu(mtu.into());
    }

    /// The connection has moved here from a path with that control. Its rates go on: they are agreed
    /// on with the remote host, and do not depend on where it is.
    pub(super) fn inherit(&mut self, from: Self) {
        if let (Some(around), Some(before)) = (&mut self.around, from.around) {
            around.pacer = before.pacer;
        }
        (self.is_limited, self.held_until) = (from.is_limited, from.held_until);
    }

    /// Nothing was lost in the last episode.
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
