//! The peers of a host: slots with generations, found by id, by connection id and by address.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::num::NonZeroU32;

use super::Address;
use super::others::Other;
use super::roaming::Roaming;
use crate::frame::ConnectionId;
use crate::peer::Peer;
use crate::work;

/// Names a peer of a host. The name of a peer that has ended is never given to another.
///
/// ```
/// use porous_proto::PeerId;
///
/// assert_eq!(size_of::<Option<PeerId>>(), size_of::<u64>());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerId {
    /// Never 0, so that no name is 0 as a number.
    generation: NonZeroU32,
    pub(super) slot: u32,
}

impl PeerId {
    /// As a number, for a foreign interface: never 0, so that 0 can stand for nobody there.
    ///
    /// ```
    /// # use porous_proto::doc::example_pair;
    /// let (_host, peer) = example_pair();
    /// assert_ne!(peer.to_u64(), 0);
    /// ```
    #[must_use]
    pub const fn to_u64(self) -> u64 {
        (self.generation.get() as u64) << 32 | self.slot as u64
    }

    /// From a number made by [`to_u64`](Self::to_u64). `None` for 0 and whatever else is below 2³²,
    /// which no peer is ever called; any other number is a name, if not of a peer.
    ///
    /// ```
    /// use porous_proto::PeerId;
    ///
    /// assert_eq!(PeerId::from_u64(7 << 32 | 3).map(PeerId::to_u64), Some(7 << 32 | 3));
    /// assert_eq!(PeerId::from_u64(0), None);
    /// ```
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
    pub const fn from_u64(n: u64) -> Option<Self> {
        match NonZeroU32::new((n >> 32) as u32) {
            Some(generation) => Some(Self {
                generation,
                slot: n as u32,
            }),
            None => None,
        }
    }
}

#[derive(Debug)]
struct Slot<A> {
    generation: NonZeroU32,
    peer: Option<(A, Peer)>,
    /// Only of a peer that was heard of from elsewhere.
    roaming: Option<Box<Roaming<A>>>,
}

/// The table.
#[derive(Debug)]
pub(crate) struct Peers<A> {
    slots: Vec<Slot<A>>,
    free: Vec<u32>,
    by_connection_id: BTreeMap<ConnectionId, u32>,
    /// Those that connected to us, by their nonces.
    by_remote_nonce: BTreeMap<u64, u32>,
    pub(super) by_address: BTreeSet<(A, u32)>,
    /// The further addresses of those that have some.
    pub(super) others: BTreeMap<u32, Vec<Other<A>>>,
}

impl<A: Address> Peers<A> {
    pub(crate) const fn new() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            by_connection_id: BTreeMap::new(),
            by_remote_nonce: BTreeMap::new(),
            by_address: BTreeSet::new(),
            others: BTreeMap::new(),
        }
    }

    pub(crate) fn insert(&mut self, address: A, peer: Peer) -> PeerId {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot {
                generation: NonZeroU32::MIN,
                peer: None,
                roaming: None,
            });
            // Memory ends before numbers do.
            u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX)
        });
        if !peer.connection_id().is_empty() {
            self.by_connection_id.insert(peer.connection_id(), slot);
        }
        if let (true, Some(nonce)) = (peer.is_inbound(), peer.remote_nonce()) {
            self.by_remote_nonce.insert(nonce, slot);
        }
        self.by_address.insert((address, slot));
        let place = &mut self.slots[slot as usize];
        place.peer = Some((address, peer));
        PeerId {
            generation: place.generation,
            slot,
        }
    }

    pub(crate) fn remove(&mut self, slot: u32) {
        let place = &mut self.slots[slot as usize];
        if let Some((address, peer)) = place.peer.take() {
            let next = place.generation.checked_add(1);
            place.generation = next.unwrap_or(NonZeroU32::MIN);
            place.roaming = None;
            self.by_connection_id.remove(&peer.connection_id());
            if let Some(nonce) = peer.remote_nonce() {
                if self.by_remote_nonce(nonce) == Some(slot) {
                    self.by_remote_nonce.remove(&nonce);
                }
            }
            self.forget_others(slot);
            self.by_address.remove(&(address, slot));
            self.free.push(slot);
        }
    }

    /// The current name of a slot.
    pub(crate) fn id(&self, slot: u32) -> PeerId {
        let generation = self
            .slots
            .get(slot as usize)
            .map_or(NonZeroU32::MIN, |place| place.generation);
        PeerId { generation, slot }
    }

    pub(crate) fn get(&self, id: PeerId) -> Option<&(A, Peer)> {
        let place = self.slots.get(id.slot as usize)?;
        place
            .peer
            .as_ref()
            .filter(|_| place.generation == id.generation)
    }

    pub(crate) fn get_mut(&mut self, id: PeerId) -> Option<&mut Peer> {
        let place = self.slots.get_mut(id.slot as usize)?;
        let current = place.generation == id.generation;
        place
            .peer
            .as_mut()
            .filter(|_| current)
            .map(|(_, peer)| peer)
    }

    pub(crate) fn at(&self, slot: u32) -> Option<&(A, Peer)> {
        self.slots.get(slot as usize)?.peer.as_ref()
    }

    pub(crate) fn at_mut(&mut self, slot: u32) -> Option<&mut (A, Peer)> {
        self.slots.get_mut(slot as usize)?.peer.as_mut()
    }

    /// A peer, with its address and where else it may be.
    #[expect(clippy::type_complexity, reason = "the parts of a slot")]
    pub(super) fn place_mut(
        &mut self,
        slot: u32,
    ) -> Option<(&A, &mut Peer, &mut Option<Box<Roaming<A>>>)> {
        let place = self.slots.get_mut(slot as usize)?;
        let (address, peer) = place.peer.as_mut()?;
        Some((address, peer, &mut place.roaming))
    }

    /// A peer has moved.
    pub(super) fn relocate(&mut self, slot: u32, to: A) {
        self.forget_other(slot, to);
        if let Some((address, _)) = self.at_mut(slot) {
            let from = core::mem::replace(address, to);
            self.by_address.remove(&(from, slot));
            self.by_address.insert((to, slot));
        }
    }

    pub(crate) fn by_connection_id(&self, id: ConnectionId) -> Option<u32> {
        self.by_connection_id.get(&id).copied()
    }

    /// The peer that connected to us with this nonce.
    pub(crate) fn by_remote_nonce(&self, nonce: u64) -> Option<u32> {
        self.by_remote_nonce.get(&nonce).copied()
    }

    /// The peers at an address: one that is live, newcomers that have yet to prove themselves, those
    /// that ended a while ago, and those that were there before a live one moved to it.
    pub(crate) fn by_address(&self, address: A) -> impl Iterator<Item = (u32, &Peer)> {
        let range = self.by_address.range((address, 0)..=(address, u32::MAX));
        range.filter_map(|&(_, slot)| {
            work::count(1);
            Some((slot, &self.at(slot)?.1))
        })
    }

    /// The first peer at an address for which this holds.
    pub(crate) fn find(&self, address: A, test: impl Fn(&Peer) -> bool) -> Option<u32> {
        self.by_address(address)
            .find(|(_, peer)| test(peer))
            .map(|(slot, _)| slot)
    }

    /// How many peers are in the index of connection ids, or have none, and in that of addresses.
    #[cfg(any(test, feature = "audit"))]
    pub(crate) fn indexed(&self) -> [usize; 2] {
        let without_id = self
            .iter()
            .filter(|(_, peer)| peer.connection_id().is_empty());
        [
            self.by_connection_id.len() + without_id.count(),
            self.by_address.len() - self.count_others(),
        ]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (PeerId, &Peer)> {
        self.slots.iter().enumerate().filter_map(|(slot, place)| {
            let slot = u32::try_from(slot).unwrap_or(u32::MAX);
            let (_, peer) = place.peer.as_ref()?;
            Some((
                PeerId {
                    generation: place.generation,
                    slot,
                },
                peer,
            ))
        })
    }
}
