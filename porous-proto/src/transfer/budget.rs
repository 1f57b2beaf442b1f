//! What may be sent now: the window of a controller, and what every controller needs around it.

use alloc::boxed::Box;
use core::time::Duration;

use super::pacer::{Pace, Pacer};
use super::recovery::Recovery;
use super::{Transfer, TransferParams};
use crate::config::Policy;
use crate::congestion::{
    Ack, Congestion, Controller, MAX_WINDOW, Peak, Signal, Trouble, initial_window,
};
use crate::time::Instant;

/// The congestion control of one peer.
#[derive(Debug)]
pub(super) struct Budget {
    controller: Box<dyn Controller>,
    /// None where all is as published.
    limits: Option<Limits>,
    /// Whether the window or the pace held data back when there was last a chance to send.
    is_limited: bool,
    /// The pace holds data back until then.
    held_until: Instant,
}

/// What is added to a controller's window.
#[derive(Debug)]
struct Limits {
    pacer: Pacer,
    peak: Peak,
}

/// What an acknowledgement has acknowledged for the first time.
#[derive(Debug, Default)]
pub(super) struct Newly {
    pub(super) bytes: u32,
    pub(super) frames: u32,
    /// When the newest was sent.
    pub(super) sent: Instant,
}

impl Budget {
    pub(super) fn new(params: &TransferParams) -> Self {
        let limits = || Limits {
            pacer: Pacer::new(params.bandwidth),
            peak: Peak::new(),
        };
        // The window of the paper is all there is, if all of it is the paper's.
        let is_published =
            params.policy == Policy::Paper && matches!(params.congestion, Congestion::Paper);
        Self {
            controller: params.congestion.controller(params.max_datagram.into()),
            limits: (!is_published).then(limits),
            is_limited: false,
            held_until: Instant::NEVER,
        }
    }

    /// W_c.
    pub(super) fn window(&self, mtu: u32) -> u32 {
        let window = self.controller.window();
        let Some(limits) = &self.limits else {
            return window;
        };
        if window >= MAX_WINDOW {
            return window; // that is none
        }
        // Half of the range is left, so that sums of windows and frames cannot overflow.
        let most = limits.peak.get().saturating_mul(2).min(MAX_WINDOW);
        window.min(most.max(initial_window(mtu))).max(2 * mtu)
    }

    /// W_c as the controller has it.
    #[cfg(test)]
    pub(super) fn own_window(&self) -> u32 {
        self.controller.window()
    }

    /// When the pace lets data go.
    pub(super) const fn held_until(&self) -> Instant {
        self.held_until
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

    /// A frame of so many bytes leaves, with data that could have waited or without.
    pub(super) fn count(&mut self, len: u32, data: bool, now: Instant) {
        if let Some(limits) = &mut self.limits {
            limits.pacer.count(len.into(), data, now);
        }
    }

    /// The cap of the rate holds data back.
    pub(super) fn is_capped(&self) -> bool {
        let limits = self.limits.as_ref();
        limits.is_some_and(|limits| limits.pacer.is_capped())
    }

    /// So many of its bytes, and so many in all, are in flight then.
    pub(super) fn on_sent(&mut self, bytes: u32, flight: u32, now: Instant) {
        if let Some(limits) = &mut self.limits {
            limits.pacer.on_sent(bytes.into());
            limits.peak.note(0, now); // time passes
        }
        if bytes > 0 {
            self.controller.on_sent(now, bytes, flight);
        }
    }

    /// Sets W_c and nothing else, to draw a figure.
    #[cfg(test)]
    pub(super) fn set_controller(&mut self, controller: Box<dyn Controller>) {
        self.limits = None;
        self.controller = controller;
    }

    /// Datagrams can have so many bytes from now on.
    pub(super) fn on_mtu(&mut self, mtu: u16) {
        self.controller.on_mtu(mtu.into());
    }

    /// Of the path that the connection takes now, nothing is known.
    pub(super) fn on_new_path(&mut self, params: &TransferParams) {
        self.controller = params.congestion.controller(params.max_datagram.into());
        if let Some(limits) = &mut self.limits {
            limits.peak = Peak::new();
        }
    }

    /// Nothing was lost in the last episode.
    pub(super) fn on_spurious(&mut self) {
        self.controller.on_spurious();
    }
}

#[cfg(any(test, feature = "audit"))]
impl Budget {
    /// # Panics
    ///
    /// If the cap was not kept.
    pub(super) fn audit(&self, longest: u64) {
        if let Some(limits) = &self.limits {
            limits.pacer.audit(longest);
        }
    }
}

impl Transfer {
    /// W_c.
    pub(crate) fn window(&self) -> u32 {
        let mtu = self.path_mtu().into();
        let window = self.budget.window(mtu);
        // Who acknowledges what never came would empty the flight for nothing: two frames, until it
        // is believed again (T26).
        if self.nonces.is_trusted() {
            window
        } else {
            window.min(2 * mtu)
        }
    }

    /// How long a datagram with data may be by the congestion window.
    pub(super) fn room(&self, max: usize) -> usize {
        let available = self.window().saturating_sub(self.queue.flight());
        max.min(usize::try_from(available).unwrap_or(usize::MAX))
    }

    /// The same, by the pace too.
    pub(super) fn allowance(&mut self, max: usize, now: Instant) -> usize {
        let pace = self.pace();
        let Some(limits) = &mut self.budget.limits else {
            return self.room(max);
        };
        let held = limits.pacer.hold(&pace, now);
        self.budget.held_until = held.unwrap_or(Instant::NEVER);
        if held.is_some() { 0 } else { self.room(max) }
    }

    /// How fast frames may leave.
    pub(super) fn pace(&self) -> Pace {
        let mtu = self.path_mtu().into();
        let is_known = !self.figures.minimum().is_zero();
        Pace {
            rate: is_known.then(|| self.pacing_rate()),
            bandwidth: self.params.bandwidth,
            mtu,
            step: self.lag,
        }
    }

    /// What the controller says, or a window in four fifths of a round trip (RFC 9002 §7.7); in
    /// bytes a second, never so few that nothing would leave.
    fn pacing_rate(&self) -> u32 {
        let rate = self.budget.controller.pacing_rate().unwrap_or_else(|| {
            let micros = self.recovery.average().as_micros().max(1);
            let rate = u128::from(self.window()) * 1_250_000 / micros;
            u32::try_from(rate).unwrap_or(u32::MAX)
        });
        rate.max(self.path_mtu().into())
    }

    /// Tells the controller of what was acknowledged, when there were so many bytes in flight.
    pub(super) fn tell_acknowledged(
        &mut self,
        newly: &Newly,
        rtt: Option<Duration>,
        in_flight: u32,
        now: Instant,
    ) {
        if newly.frames == 0 || !self.nonces.is_trusted() {
            return;
        }
        // What was in flight counts when an acknowledgement comes, or a burst would allow itself.
        if let Some(limits) = &mut self.budget.limits {
            limits.peak.note(in_flight, now);
        }
        self.budget.controller.on_ack(&Ack {
            now,
            bytes: newly.bytes,
            frames: newly.frames,
            sent: newly.sent,
            rtt,
            smoothed_rtt: self.recovery.average(),
            in_flight,
            is_limited: self.budget.is_limited,
            bandwidth: self.params.bandwidth,
            step: self.lag,
        });
    }

    /// A router has marked a frame: what is sent now was sent before anything can be done about it.
    pub(super) fn tell_marked(&mut self, id: u64, sent: Instant, now: Instant) {
        let next = self.queue.next();
        let Recovery::Modern(modern) = &mut self.recovery else {
            return;
        };
        if modern.on_marked(id, next) {
            self.budget.controller.on_trouble(&Trouble {
                now,
                signal: Signal::Mark,
                bytes: 0,
                sent,
                in_flight: self.queue.flight(),
            });
        }
    }

    /// A frame with data is considered dropped.
    pub(super) fn tell_lost(&mut self, (id, sent, bytes): (u64, Instant, u32), now: Instant) {
        if id < self.path_began {
            return;
        }
        let next = self.queue.next();
        let signal = match &mut self.recovery {
            Recovery::Paper(paper) => paper.on_dropped(self.step, now),
            Recovery::Modern(modern) => {
                let alone = self.queue.has_acknowledged(self.last_lost, id);
                modern.on_lost((id, sent), next, alone, self.step)
            }
        };
        self.last_lost = id;
        self.budget.controller.on_trouble(&Trouble {
            now,
            signal,
            bytes,
            sent,
            in_flight: self.queue.flight(),
        });
    }
}
