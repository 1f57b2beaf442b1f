//! How fast both hosts want a connection to be (`docs/deviations.md` C14), and how they tell each
//! other: LIMITS, sent at once, and again until the newest is acknowledged.

use bytes::Bytes;

use super::Transfer;
use crate::frame::{Control, Message};

/// So far ahead of the last one that was acknowledged is no serial, since half of the numbers ahead is
/// behind.
const AHEAD_MAX: u16 = 1 << 14;

/// What was said of rates.
#[derive(Debug)]
pub(super) struct Limits {
    /// The serial of the newest limits that the remote host sent.
    theirs: u16,
    /// The newest limits that we sent.
    ours: (u16, u32),
    /// The serial of ours that the remote host has.
    known: u16,
    /// They are to be sent, or sent again.
    is_due: bool,
    /// What the application wants to receive, in bytes a second.
    wanted: u32,
}

impl Limits {
    /// The handshake said what we want to receive.
    pub(super) const fn new(receive_rate: u32) -> Self {
        Self {
            theirs: 0,
            ours: (0, receive_rate),
            known: 0,
            is_due: false,
            wanted: receive_rate,
        }
    }

    /// The limits that are to be sent now.
    pub(super) const fn take_due(&mut self) -> Option<Control> {
        let (serial, rate) = self.ours;
        if self.wanted != rate && serial.wrapping_sub(self.known) < AHEAD_MAX {
            self.ours = (serial.wrapping_add(1), self.wanted);
            self.is_due = true;
        }
        if !core::mem::replace(&mut self.is_due, false) {
            return None;
        }
        let (serial, receive_rate) = self.ours;
        Some(Control::Limits {
            serial,
            receive_rate,
        })
    }

    /// A message has arrived.
    pub(super) fn on_acknowledged(&mut self, message: &Message<Bytes>) {
        if let Message::Control(Control::Limits { serial, .. }) = *message {
            if is_newer(serial, self.known) {
                self.known = serial;
            }
            self.is_due &= self.known != self.ours.0;
        }
    }

    /// A message was lost: only the newest limits are worth another. Whether it was these.
    pub(super) fn on_lost(&mut self, message: &Message<Bytes>) -> bool {
        let Message::Control(Control::Limits { serial, .. }) = *message else {
            return false;
        };
        let is_newest = serial == self.ours.0 && serial != self.known;
        self.is_due |= is_newest;
        is_newest
    }
}

const fn is_newer(serial: u16, than: u16) -> bool {
    let ahead = serial.wrapping_sub(than);
    ahead > 0 && ahead < 1 << 15
}

impl Transfer {
    /// The remote host changed what it wants to receive.
    pub(crate) fn on_limits(&mut self, serial: u16, receive_rate: u32) {
        if is_newer(serial, self.limits.theirs) {
            self.limits.theirs = serial;
            self.params.remote_rate = receive_rate;
            self.path.set_bandwidth(self.params.bandwidth());
        }
    }

    /// The application changed what it wants to send.
    pub(crate) fn set_send_rate(&mut self, rate: u32) {
        self.params.send_rate = rate;
        self.path.set_bandwidth(self.params.bandwidth());
    }

    /// And what it wants to receive, in bytes a second.
    pub(crate) const fn set_receive_rate(&mut self, rate: u32) {
        self.limits.wanted = rate;
    }
}
