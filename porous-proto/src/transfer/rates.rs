//! How fast both hosts want a connection to be (`docs/deviations.md` C14), and how they tell each
//! other: LIMITS, sent at once, and again until the newest is acknowledged.

use bytes::Bytes;

use super::TransferParams;
use crate::frame::{Control, Message};

/// The most serials after the last one that was acknowledged. They wrap: half of the numbers ahead of one
/// is behind it.
const AHEAD_MAX: u16 = 1 << 14;

/// The rates that both hosts want, in bytes a second.
#[derive(Debug)]
pub(super) struct Rates {
    /// The most that we want to send.
    send: u32,
    /// The most that the remote host wants to receive, and the serial of the newest LIMITS with that.
    remote: u32,
    remote_serial: u16,
    /// The most that we want to receive.
    receive: u32,
    /// The newest LIMITS that we sent.
    told: (u16, u32),
    /// The serial of ours that the remote host has.
    known: u16,
    /// LIMITS are to be sent, or sent again.
    is_due: bool,
}

impl Rates {
    /// The handshake said what both want.
    pub(super) const fn new(params: &TransferParams) -> Self {
        Self {
            send: params.send_rate,
            remote: params.remote_rate,
            remote_serial: 0,
            receive: params.receive_rate,
            told: (0, params.receive_rate),
            known: 0,
            is_due: false,
        }
    }

    /// B of (10).
    pub(super) fn bandwidth(&self) -> u32 {
        self.send.min(self.remote)
    }

    /// The remote host wants to receive no more than this.
    pub(super) const fn on_limits(&mut self, serial: u16, receive_rate: u32) {
        if is_newer(serial, self.remote_serial) {
            (self.remote_serial, self.remote) = (serial, receive_rate);
        }
    }

    /// The application wants to send no more than this.
    pub(super) const fn set_send(&mut self, rate: u32) {
        self.send = rate;
    }

    /// The application wants to receive no more than this.
    pub(super) const fn set_receive(&mut self, rate: u32) {
        self.receive = rate;
    }

    /// The limits that are to be sent now.
    pub(super) const fn take_due(&mut self) -> Option<Control> {
        let (serial, rate) = self.told;
        if self.receive != rate && serial.wrapping_sub(self.known) < AHEAD_MAX {
            self.told = (serial.wrapping_add(1), self.receive);
            self.is_due = true;
        }
        if !core::mem::replace(&mut self.is_due, false) {
            return None;
        }
        let (serial, receive_rate) = self.told;
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
            self.is_due &= self.known != self.told.0;
        }
    }

    /// A message was lost: only the newest limits are worth another. Whether it was these.
    pub(super) fn on_lost(&mut self, message: &Message<Bytes>) -> bool {
        let Message::Control(Control::Limits { serial, .. }) = *message else {
            return false;
        };
        let is_newest = serial == self.told.0 && serial != self.known;
        self.is_due |= is_newest;
        is_newest
    }
}

const fn is_newer(serial: u16, than: u16) -> bool {
    let ahead = serial.wrapping_sub(than);
    ahead > 0 && ahead < 1 << 15
}
