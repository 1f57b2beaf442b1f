//! How many copies a packet gets if the application says nothing of them (`docs/deviations.md` P8): none
//! while the path keeps what is sent, and one or more for each small reliable packet while it loses frames.

#[cfg(test)]
mod tests;

use crate::config::Policy;
use crate::frame::{Length, Message, Mode, Packet};
use crate::source::MessageBytes;

/// Each frame counts for one of this many parts of the measured loss, as a shift: 256 frames, 4 s of a game
/// that sends 60 a second. A single loss is then 0.4 %, which is less than the first threshold, so that one
/// lost frame starts nothing, but two within some 300 frames do.
const MEMORY: u32 = 8;

/// All frames, in the units of the measured loss.
const ALL: u32 = 1 << 24;

/// The loss above which there is a first copy, a second and a third: half a percent, and then as much as
/// leaves a hundredth of the packets without any of their copies: p² at 10 %, p³ at 21 %.
const THRESHOLDS: [u32; 3] = [ALL / 200, ALL / 10, ALL / 5];

/// The most bytes of a packet that is copied. A datagram costs the path some 66 bytes before the first one of
/// its own (Ethernet, IPv4 and UDP): a copy that is no longer makes no datagram cost more than a second one
/// would, and nearly all events of games are shorter.
const SMALL: usize = 64;

/// Bytes that a message takes beside its payload, where ids are short.
const AROUND: usize = 8;

/// Copies are at most one of this many parts of all bytes that are sent. Events are rare, and have nearly all
/// of their copies for less. A flow of nothing but small packets would cost nearly twice as much with a copy of
/// each, and an application that wants this asks for it.
const SHARE: usize = 16;

/// The most bytes that add up without copies: enough for those of four small packets, as events come in
/// bursts.
const SAVED: usize = 4 * SHARE * (SMALL + AROUND);

/// The loss of one path, and the copies that follow from it.
#[derive(Debug)]
pub(crate) struct Redundancy {
    policy: Policy,
    /// The share of frames with data that were lost, as a moving average over frames: a share over a time, as
    /// statistics tell it, would take two losses among twenty frames for the same as two among a thousand.
    loss: u32,
    /// Copies of each small reliable packet.
    copies: u8,
    /// Bytes that were sent and that no copy was set against.
    saved: usize,
}

impl Redundancy {
    /// For a path of which nothing is known. Under the paper's policy there are no copies.
    pub(super) const fn new(policy: Policy) -> Self {
        Self {
            policy,
            loss: 0,
            copies: 0,
            saved: SAVED,
        }
    }

    /// A frame with data was acknowledged, for the first time and in time.
    #[inline]
    pub(super) fn on_acknowledged(&mut self) {
        // A path that loses nothing pays for no more than this.
        if self.loss > 0 {
            self.decay();
        }
    }

    #[cold]
    #[inline(never)]
    fn decay(&mut self) {
        self.set(self.loss - self.loss.div_ceil(1 << MEMORY));
    }

    /// A frame with data is considered dropped.
    pub(super) fn on_lost(&mut self) {
        if self.policy == Policy::Modern {
            self.set(self.loss + ((ALL - self.loss) >> MEMORY));
        }
    }

    /// A frame with data that was considered dropped was only late.
    pub(super) fn on_late(&mut self) {
        // What the verdict has added, or a little more: frames that overtake each other are no loss.
        self.set(self.loss.saturating_sub(ALL >> MEMORY));
    }

    /// The loss is this now.
    fn set(&mut self, loss: u32) {
        self.loss = loss;
        // A copy that has begun ends at half of the loss that begins it: near a threshold the number must not
        // change at every frame.
        self.copies = self.copies.clamp(thresholds(loss), thresholds(2 * loss));
    }

    /// A datagram of `len` bytes leaves.
    #[inline]
    pub(super) fn on_sent(&mut self, len: usize) {
        self.saved = (self.saved + len).min(SAVED);
    }

    /// The number of copies of a new message.
    #[inline]
    pub(super) fn copies(&mut self, message: &Message<MessageBytes>) -> u8 {
        if self.copies == 0 {
            0
        } else {
            self.copies_by_length(message)
        }
    }

    // Inlined, this would cost a path without loss more than the question whether there is any.
    #[cold]
    #[inline(never)]
    fn copies_by_length(&mut self, message: &Message<MessageBytes>) -> u8 {
        let Message::Packet(
            packet @ Packet {
                mode: Mode::Reliable,
                fragment: None,
                ..
            },
        ) = message
        else {
            return 0;
        };
        let len = packet.payload.length();
        if len > SMALL {
            return 0;
        }
        let cost = SHARE * (len + AROUND);
        let most = u8::try_from(self.saved / cost).unwrap_or(u8::MAX);
        let copies = self.copies.min(most);
        self.saved -= cost * usize::from(copies);
        copies
    }
}

/// The number of thresholds that the loss is above.
fn thresholds(loss: u32) -> u8 {
    let count = |count, &threshold| count + u8::from(loss > threshold);
    THRESHOLDS.iter().fold(0, count)
}
