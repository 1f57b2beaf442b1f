//! What may be sent now: the window of a controller, and what every controller needs around it.

use alloc::boxed::Box;

use super::recovery::Recovery;
use super::{Transfer, TransferParams};
use crate::congestion::{Ack, Controller, Trouble};
use crate::time::Instant;

/// The congestion control of one peer.
#[derive(Debug)]
pub(super) struct Budget {
    controller: Box<dyn Controller>,
    /// Whether the window held data back when there was last a chance to send.
    pub(super) is_limited: bool,
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
        Self {
            controller: params.congestion.controller(params.max_datagram.into()),
            is_limited: false,
        }
    }

    /// W_c.
    pub(super) fn window(&self) -> u32 {
        self.controller.window()
    }

    /// Sets W_c, to draw a figure.
    #[cfg(test)]
    pub(super) fn set_controller(&mut self, controller: Box<dyn Controller>) {
        self.controller = controller;
    }

    /// Datagrams can have so many bytes from now on.
    pub(super) fn on_mtu(&mut self, mtu: u16) {
        self.controller.on_mtu(mtu.into());
    }

    /// Nothing was lost in the last episode.
    pub(super) fn on_spurious(&mut self) {
        self.controller.on_spurious();
    }
}

impl Transfer {
    /// Tells the controller of what was acknowledged, when there were so many bytes in flight.
    pub(super) fn tell_acknowledged(
        &mut self,
        newly: &Newly,
        rtt: Option<core::time::Duration>,
        in_flight: u32,
        now: Instant,
    ) {
        if newly.frames == 0 || !self.nonces.is_trusted() {
            return;
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
            step: self.step,
        });
    }

    /// A frame with data is considered dropped.
    pub(super) fn tell_lost(&mut self, (id, sent, bytes): (u64, Instant, u32), now: Instant) {
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
