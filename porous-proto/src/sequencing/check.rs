//! What to think of a message, before anything changes.

use super::receiver::{self, Verdict};
use super::rules::is_marked;
use super::trust::forgeable;
use super::{Sequencing, window_ack};
use crate::frame::Packet;

impl Sequencing {
    /// Checks a window acknowledgement: false if it names a packet that was never sent
    /// (`docs/deviations.md` Q8), and that no single forged frame can have made the remote host believe in.
    pub(crate) fn check_window(&self, channel: u8, id: u32) -> bool {
        let next = self
            .get(channel)
            .map_or(self.first_id, |made| made.sender.next_id());
        let base = self
            .get(channel)
            .map_or(self.first_id, |made| made.sender.base());
        let end = next + forgeable(self.params.window);
        window_ack::expand(id, base).is_none_or(|id| id < end)
    }

    /// Checks a packet message against what is known, without changing anything.
    pub(crate) fn check_packet(&self, packet: &Packet<&[u8]>) -> Verdict {
        if packet.channel >= self.params.channels || !self.fits(packet) {
            return Verdict::Violation;
        }
        match self.get(packet.channel) {
            Some(made) => made.receiver.check(packet, &self.params),
            None => receiver::check_first(packet, &self.params, self.first_id),
        }
    }

    /// Whether the packet as a whole is within the agreed maximum.
    fn fits(&self, packet: &Packet<&[u8]>) -> bool {
        packet.part().1 <= self.params.max_packet
    }

    /// Checks a sentinel packet: only marked ids (18) have one.
    pub(crate) fn check_sentinel(&self, channel: u8, id: u32) -> Verdict {
        if channel < self.params.channels && is_marked(u64::from(id), self.params.spacing) {
            Verdict::Stale
        } else {
            Verdict::Violation
        }
    }

    /// Checks a tombstone.
    pub(crate) fn check_tombstone(&self, channel: u8, id: u32) -> Verdict {
        if channel >= self.params.channels {
            return Verdict::Violation;
        }
        match self.get(channel) {
            Some(made) => made.receiver.check_tombstone(id, &self.params),
            None => Verdict::Begin,
        }
    }
}
