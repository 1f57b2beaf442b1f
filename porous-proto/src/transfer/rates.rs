//! How many bytes a second both hosts want to send and to receive (`docs/deviations.md` C14), and how they
//! tell each other: by LIMITS, which are sent at once, and again until the newest is acknowledged.

use super::TransferParams;
use crate::frame::{Control, Message};
use crate::source::MessageBytes;

/// Serials wrap: never run more than 2^14 ahead of the last one that was acknowledged. Half of all serials
/// ahead of one count as behind it.
const AHEAD_MAX: u16 = 1 << 14;

/// The rates that both hosts want, in bytes a second.
#[derive(Debug)]
pub(super) struct Rates {
    /// The most that this host wants to send.
    send: u32,
    /// The most that the remote host wants to receive.
    remote: u32,
    /// Serial of the newest LIMITS of the remote host.
    remote_serial: u16,
    /// The most that this host wants to receive.
    receive: u32,
    /// Serial and rate of the newest LIMITS that this host sent.
    told: (u16, u32),
    /// The newest serial that the remote host has acknowledged.
    known: u16,
    /// True if LIMITS are to be sent, for the first time or again.
    is_due: bool,
}

impl Rates {
    /// The rates that the handshake has told.
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

    /// B of (10), in bytes a second.
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

    /// Whether LIMITS are to be sent now.
    pub(super) const fn are_due(&self) -> bool {
        self.is_due || self.is_news()
    }

    /// Whether a rate is to be told that was not told yet.
    const fn is_news(&self) -> bool {
        let (serial, rate) = self.told;
        // If too many LIMITS are unacknowledged, the change waits: a later one would look older.
        self.receive != rate && serial.wrapping_sub(self.known) < AHEAD_MAX
    }

    /// The LIMITS that are to be sent now.
    pub(super) const fn take_due(&mut self) -> Option<Control> {
        // A new serial only for a rate that is not told yet.
        if self.is_news() {
            self.told = (self.told.0.wrapping_add(1), self.receive);
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

    /// A message of this host has arrived.
    pub(super) fn on_acknowledged(&mut self, message: &Message<MessageBytes>) {
        if let Message::Control(Control::Limits { serial, .. }) = *message {
            if is_newer(serial, self.known) {
                self.known = serial;
            }
            self.is_due &= self.known != self.told.0;
        }
    }

    /// A message of this host was lost. Returns whether it was the newest LIMITS.
    pub(super) fn on_lost(&mut self, message: &Message<MessageBytes>) -> bool {
        let Message::Control(Control::Limits { serial, .. }) = *message else {
            return false;
        };
        // Only the newest LIMITS are worth another message: older ones would be ignored.
        let is_newest = serial == self.told.0 && serial != self.known;
        self.is_due |= is_newest;
        is_newest
    }
}

const fn is_newer(serial: u16, than: u16) -> bool {
    let ahead = serial.wrapping_sub(than);
    ahead > 0 && ahead < 1 << 15
}
