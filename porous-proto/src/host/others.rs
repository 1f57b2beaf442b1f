//! Peers with several addresses: those that an attempt tries, and those that the remote host of a
//! connection is known by. A peer has one address that it is sent to, number 0; the others, from 1
//! on, are kept here, so that a peer with a single one pays nothing.

use super::Address;
use super::peers::Peers;

/// The most addresses of one peer.
pub(super) const ADDRESSES_MAX: usize = 8;

/// An address beside the one that a peer is sent to.
#[derive(Debug)]
pub(super) struct Other<A> {
    address: A,
    /// Our peer is there: its nonce has come from this address. Without that it may be anybody's.
    is_same: bool,
}

impl<A: Address> Peers<A> {
    /// Gives a new peer more addresses to try.
    pub(super) fn add_others(&mut self, slot: u32, addresses: &[A]) {
        if addresses.is_empty() {
            return;
        }
        let other = |&address: &A| Other {
            address,
            is_same: false,
        };
        let others = addresses.iter().map(other).collect();
        self.others.insert(slot, others);
        self.by_address
            .extend(addresses.iter().map(|&address| (address, slot)));
    }

    /// An address from which the host of this peer has written. False if there are too many.
    pub(super) fn add_same(&mut self, slot: u32, address: A) -> bool {
        if self.way(slot, address).is_some() {
            self.confirm(slot, address);
            return true;
        }
        let others = self.others.entry(slot).or_default();
        let room = others.len() + 1 < ADDRESSES_MAX;
        if room {
            others.push(Other {
                address,
                is_same: true,
            });
            self.by_address.insert((address, slot));
        }
        room
    }

    pub(super) fn forget_others(&mut self, slot: u32) {
        for other in self.others.remove(&slot).unwrap_or_default() {
            self.by_address.remove(&(other.address, slot));
        }
    }

    /// Takes away an address of which it is not known that the peer is there. Whether it was one.
    pub(super) fn release(&mut self, slot: u32, address: A) -> bool {
        let Some(others) = self.others.get_mut(&slot) else {
            return false;
        };
        let unknown = |other: &Other<A>| other.address == address && !other.is_same;
        let Some(place) = others.iter().position(unknown) else {
            return false;
        };
        others.remove(place);
        self.by_address.remove(&(address, slot))
    }

    /// The number of an address of a peer.
    pub(super) fn way(&self, slot: u32, address: A) -> Option<usize> {
        if self.at(slot)?.0 == address {
            return Some(0);
        }
        let mut others = self.others.get(&slot)?.iter();
        Some(1 + others.position(|other| other.address == address)?)
    }

    /// The number of an address from which a peer is taken to write: while it is tried, and when it
    /// is known to be there.
    pub(super) fn way_in(&self, slot: u32, from: A) -> Option<usize> {
        let way = self.way(slot, from)?;
        let Some(other) = way.checked_sub(1) else {
            return Some(0);
        };
        let is_same = self.others.get(&slot)?.get(other)?.is_same;
        let tried = self.at(slot)?.1.is_attempt();
        (is_same || tried).then_some(way)
    }

    pub(super) fn address_at(&self, slot: u32, way: usize) -> Option<A> {
        match way.checked_sub(1) {
            None => self.at(slot).map(|&(address, _)| address),
            Some(other) => Some(self.others.get(&slot)?.get(other)?.address),
        }
    }

    /// The peer has written from this address of its.
    pub(super) fn confirm(&mut self, slot: u32, address: A) {
        let others = self.others.get_mut(&slot).into_iter().flatten();
        for other in others.filter(|other| other.address == address) {
            other.is_same = true;
        }
    }

    /// From now on the peer is sent to another one of its addresses.
    pub(super) fn make_main(&mut self, slot: u32, way: usize) {
        let Some(place) = way.checked_sub(1) else {
            return;
        };
        let mut others = self.others.remove(&slot).unwrap_or_default();
        if let (Some(other), Some((main, _))) = (others.get_mut(place), self.at_mut(slot)) {
            core::mem::swap(main, &mut other.address);
            other.is_same = true;
        }
        self.others.insert(slot, others);
    }

    /// The attempt of this peer has come to one of its addresses; its host is at others as well.
    pub(super) fn choose(&mut self, slot: u32, winner: usize, is_same: impl Fn(usize) -> bool) {
        let others = self.others.get_mut(&slot).into_iter().flatten();
        for (way, other) in (1..).zip(others) {
            other.is_same = is_same(way);
        }
        self.make_main(slot, winner);
        if let Some(old) = winner.checked_sub(1) {
            let others = self.others.get_mut(&slot);
            if let Some(other) = others.and_then(|others| others.get_mut(old)) {
                other.is_same = is_same(0);
            }
        }
    }

    /// How many there are.
    #[cfg(any(test, feature = "audit"))]
    pub(super) fn count_others(&self) -> usize {
        self.others.values().map(|others| others.len()).sum()
    }
}
