//! The content of the packets on their way, by their numbers.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::record::Item;

/// The most packets on their way: an acknowledgement of an older one comes too late.
const PACKETS: u64 = 1024;

/// A packet on its way, with its content.
#[derive(Debug)]
struct Packet {
    items: Box<[Item]>,
    /// True once the carrier said that the packet is lost. It may still turn out to have arrived.
    is_lost: bool,
}

/// The packets that were not acknowledged.
#[derive(Debug, Default)]
pub(super) struct Flight {
    /// Packets by number, counted from the first one without wrapping.
    packets: BTreeMap<u64, Packet>,
    newest: Option<u64>,
}

impl Flight {
    /// `sequence` is the number of the next packet, whether the packet will have content or not.
    /// Numbers only grow, by any distance: a number that looks older is more than half a turn ahead.
    pub(super) fn advance(&mut self, sequence: u16) {
        // The first number is any: a carrier may have sent packets before.
        let newest = self.newest.unwrap_or_else(|| sequence.into());
        let newest = newest + u64::from(sequence.wrapping_sub(low(newest)));
        self.newest = Some(newest);
        let first = newest.saturating_sub(PACKETS - 1);
        while let Some(oldest) = self.packets.first_entry().filter(|old| *old.key() < first) {
            oldest.remove();
        }
    }

    /// The newest packet has these items.
    pub(super) fn insert(&mut self, items: Vec<Item>) {
        if let Some(newest) = self.newest {
            let items = items.into();
            let is_lost = false;
            self.packets.insert(newest, Packet { items, is_lost });
        }
    }

    /// The unwrapped number of a remembered packet with this sequence number.
    fn number(&self, sequence: u16) -> Option<u64> {
        let newest = self.newest?;
        newest.checked_sub(low(newest).wrapping_sub(sequence).into())
    }

    /// The items of the packet, if its fate is unknown.
    pub(super) fn items(&self, sequence: u16) -> &[Item] {
        let number = self.number(sequence);
        let packet = number.and_then(|number| self.packets.get(&number));
        packet.map_or(&[], |packet| &packet.items)
    }

    /// The packet is lost. Returns its items; `None` if it is not remembered: its acknowledgement came before, or it is
    /// too old.
    pub(super) fn lost(&mut self, sequence: u16) -> Option<&[Item]> {
        let packet = self.packets.get_mut(&self.number(sequence)?)?;
        // Kept all the same: an acknowledgement may be late.
        packet.is_lost = true;
        Some(&packet.items)
    }

    /// The packet has arrived. Returns its items, the first time.
    pub(super) fn acked(&mut self, sequence: u16) -> Option<Box<[Item]>> {
        let packet = self.packets.remove(&self.number(sequence)?)?;
        self.shrink();
        Some(packet.items)
    }

    /// Forgets lost packets: nobody waits for their items.
    pub(super) fn forget_lost(&mut self) {
        self.packets.retain(|_, packet| !packet.is_lost);
        self.shrink();
    }

    fn shrink(&mut self) {
        if self.packets.is_empty() {
            self.packets = BTreeMap::new(); // an empty map may keep a node
        }
    }
}

/// The number as it is on the wire.
const fn low(number: u64) -> u16 {
    let [low, high, ..] = number.to_le_bytes();
    u16::from_le_bytes([low, high])
}
