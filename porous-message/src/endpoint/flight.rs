//! What is in the packets on their way, by their numbers.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::record::Item;

/// The most packets on their way: of older ones, acknowledgements come too late.
const PACKETS: u64 = 1024;

/// A packet that was not acknowledged.
#[derive(Debug)]
struct Packet {
    items: Box<[Item]>,
    /// The carrier says so. It may still turn out to have arrived.
    is_lost: bool,
}

/// The packets that were not acknowledged.
#[derive(Debug, Default)]
pub(super) struct Flight {
    /// By number, counted from the first one without turning.
    packets: BTreeMap<u64, Packet>,
    newest: Option<u64>,
}

impl Flight {
    /// This is the number of the next packet, whether there will be anything in it or not. Numbers
    /// only grow, however far: so what looks older is more than half of a turn ahead.
    pub(super) fn advance(&mut self, sequence: u16) {
        let newest = self.newest.unwrap_or_else(|| sequence.into());
        let newest = newest + u64::from(sequence.wrapping_sub(low(newest)));
        self.newest = Some(newest);
        let first = newest.saturating_sub(PACKETS - 1);
        while let Some(oldest) = self.packets.first_entry().filter(|old| *old.key() < first) {
            oldest.remove();
        }
    }

    /// This is in the newest packet.
    pub(super) fn insert(&mut self, items: Vec<Item>) {
        if let Some(newest) = self.newest {
            let items = items.into();
            let is_lost = false;
            self.packets.insert(newest, Packet { items, is_lost });
        }
    }

    /// Which of those that are remembered has this number.
    fn number(&self, sequence: u16) -> Option<u64> {
        let newest = self.newest?;
        newest.checked_sub(low(newest).wrapping_sub(sequence).into())
    }

    /// What is in the packet, if nothing is known of it.
    pub(super) fn items(&self, sequence: u16) -> &[Item] {
        let number = self.number(sequence);
        let packet = number.and_then(|number| self.packets.get(&number));
        packet.map_or(&[], |packet| &packet.items)
    }

    /// The packet is lost. What was in it.
    pub(super) fn lost(&mut self, sequence: u16) -> &[Item] {
        let number = self.number(sequence);
        let packet = number.and_then(|number| self.packets.get_mut(&number));
        packet.map_or(&[], |packet| {
            packet.is_lost = true;
            &packet.items
        })
    }

    /// The packet has arrived. What was in it, if it is the first time.
    pub(super) fn acked(&mut self, sequence: u16) -> Option<Box<[Item]>> {
        let packet = self.packets.remove(&self.number(sequence)?)?;
        self.shrink();
        Some(packet.items)
    }

    /// Nobody waits for what was in those that were lost.
    pub(super) fn forget_lost(&mut self) {
        self.packets.retain(|_, packet| !packet.is_lost);
        self.shrink();
    }

    fn shrink(&mut self) {
        if self.packets.is_empty() {
            self.packets = BTreeMap::new(); // one that is empty may keep a node
        }
    }
}

/// The number as it is on the wire.
const fn low(number: u64) -> u16 {
    let [low, high, ..] = number.to_le_bytes();
    u16::from_le_bytes([low, high])
}
