//! What is checked of a datagram's messages before anything changes.

use super::Session;
use crate::event::Ignored;
use crate::frame::{Control, Message, Packet};
use crate::sequencing::{Verdict, cost};

impl Session {
    /// Makes room in the receive budget for the messages of a datagram, which [need](Self::needed) so
    /// much. `may_keep`: what the host has for this peer. What is thrown out may be the packet that one of them would have joined, which then begins
    /// it anew and needs more: each time around, at least one packet is gone.
    pub(super) fn make_room(
        &mut self,
        messages: &[Message<&[u8]>],
        mut needed: u64,
        may_keep: u64,
    ) -> Result<(), Ignored> {
        let mut room = 0;
        while needed > room {
            if !self.sequencing.make_room(needed, may_keep) {
                return Err(Ignored::OverBudget);
            }
            room = needed;
            needed = self.needed(messages)?;
        }
        Ok(())
    }

    /// Checks the messages of a datagram: what they take of the receive budget.
    pub(super) fn needed(&self, messages: &[Message<&[u8]>]) -> Result<u64, Ignored> {
        let mut needed = 0;
        for (n, message) in messages.iter().enumerate() {
            let packet = packet_of(message);
            let len = packet.map_or(0, |packet| packet.payload.len());
            needed += match self.check(message) {
                Verdict::Begin if follows(packet, &messages[..n]) => len as u64,
                Verdict::Begin => cost(len),
                Verdict::Join(news) => news as u64,
                Verdict::Stale => 0,
                Verdict::Violation => return Err(Ignored::BadMessage),
            };
        }
        Ok(needed)
    }

    fn check(&self, message: &Message<&[u8]>) -> Verdict {
        let valid = |valid| {
            if valid {
                Verdict::Stale
            } else {
                Verdict::Violation
            }
        };
        match *message {
            Message::Packet(ref packet) => self.sequencing.check_packet(packet),
            Message::Control(
                Control::Window { channel, id } | Control::Fates { channel, id, .. },
            ) => valid(
                channel < self.agreement.channels && self.sequencing.check_window(channel, id),
            ),
            Message::Control(Control::Ask { channel, .. } | Control::Told { channel, .. }) => {
                valid(channel < self.agreement.channels)
            }
            Message::Control(Control::Sentinel { channel, id, .. }) => {
                self.sequencing.check_sentinel(channel, id)
            }
            Message::Control(Control::Tombstone { channel, id, .. }) => {
                self.sequencing.check_tombstone(channel, id)
            }
            Message::Control(_) => Verdict::Stale,
        }
    }
}

const fn packet_of<'m, 'p>(message: &'m Message<&'p [u8]>) -> Option<&'m Packet<&'p [u8]>> {
    match message {
        Message::Packet(packet) => Some(packet),
        Message::Control(_) => None,
    }
}

/// Whether a fragment follows another one of its packet in the same datagram. The packet is charged
/// once, or the largest one that is allowed would not fit.
fn follows(packet: Option<&Packet<&[u8]>>, before: &[Message<&[u8]>]) -> bool {
    packet.is_some_and(|packet| {
        let same = |other: &Packet<&[u8]>| (other.channel, other.id) == (packet.channel, packet.id);
        packet.fragment.is_some() && before.iter().filter_map(packet_of).any(same)
    })
}
