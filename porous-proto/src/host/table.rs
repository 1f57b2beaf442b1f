//! The peers of a host: slots with generations, found by id, by connection id and by address.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::num::NonZeroU32;

use super::member::Member;
use super::slot_mask::SlotMask;
use crate::frame::ConnectionId;
use crate::hooks::work;
use crate::ids::{Address, PeerId, Slot};
use crate::peer::{Peer, PeerState};

#[derive(Debug)]
struct Row<A> {
    generation: NonZeroU32,
    member: Option<Member<A>>,
}

/// A peer that was found by one of its addresses.
pub(super) struct Found<'t, A> {
    pub(super) slot: Slot,
    /// The number of that address among the peer's.
    pub(super) way: usize,
    pub(super) member: &'t mut Member<A>,
}

/// The peers, with their indices.
#[derive(Debug)]
pub(super) struct Table<A> {
    rows: Vec<Row<A>>,
    free: Vec<Slot>,
    mask: SlotMask,
    /// The peers whose connection ids do not hold their slots.
    by_connection_id: BTreeMap<ConnectionId, Slot>,
    /// The peers that connected to us, by the nonces of their remote hosts.
    by_remote_nonce: BTreeMap<u64, Slot>,
    /// All addresses of all peers. Several peers may have one address.
    by_address: BTreeSet<(A, Slot)>,
}

impl<A: Address> Table<A> {
    pub(super) const fn new(mask: SlotMask) -> Self {
        Self {
            rows: Vec::new(),
            free: Vec::new(),
            mask,
            by_connection_id: BTreeMap::new(),
            by_remote_nonce: BTreeMap::new(),
            by_address: BTreeSet::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.len() == self.free.len()
    }

    /// The slot that the next peer gets.
    fn next_slot(&self) -> Slot {
        let new = || u32::try_from(self.rows.len()).map_or(Slot::new(u32::MAX), Slot::new);
        self.free.last().copied().unwrap_or_else(new)
    }

    /// Makes the random bytes of a connection id hold the slot that the next peer gets.
    pub(super) fn put_next_slot(&self, id: &mut [u8]) {
        self.mask.put(self.next_slot(), id);
    }

    /// The same, and makes the bits of the id's first byte that are set in `bits` those of `shard`.
    pub(super) fn put_next_slot_and_shard(&self, id: &mut [u8], shard: u8, bits: u8) {
        self.mask.put_sharded(self.next_slot(), id, shard, bits);
    }

    pub(super) fn insert(&mut self, member: Member<A>) -> PeerId {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.rows.push(Row {
                generation: NonZeroU32::MIN,
                member: None,
            });
            // Memory ends before numbers do.
            Slot::new(u32::try_from(self.rows.len() - 1).unwrap_or(u32::MAX))
        });
        // Empty ids name nobody: peers of such a host are found by address.
        let peer = &member.peer;
        let id = peer.connection_id();
        // Compared, as the slot may be another one than the id was drawn for.
        if !id.is_empty() && self.mask.slot(id.as_bytes()) != Some(slot) {
            self.by_connection_id.insert(id, slot);
        }
        if let (true, Some(nonce)) = (peer.is_inbound(), peer.remote_nonce()) {
            // A live peer stays the one that is found: its nonce is no secret.
            let is_free = (self.by_remote_nonce_mut(nonce))
                .is_none_or(|(_, known)| !known.peer.state().is_live());
            if is_free {
                self.by_remote_nonce.insert(nonce, slot);
            }
        }
        let addresses = member.addresses();
        self.by_address
            .extend(addresses.map(|address| (address, slot)));
        self.rows[slot.index()].member = Some(member);
        self.id(slot)
    }

    pub(super) fn remove(&mut self, slot: Slot) {
        let row = &mut self.rows[slot.index()];
        let Some(member) = row.member.take() else {
            return;
        };
        // Names come round only after 2^32 - 1 peers in one slot.
        let next = row.generation.checked_add(1);
        row.generation = next.unwrap_or(NonZeroU32::MIN);
        self.by_connection_id.remove(&member.peer.connection_id());
        if let Some(nonce) = member.peer.remote_nonce() {
            // A later peer may have come with the same nonce, by chance or by malice: it stays.
            if self.by_remote_nonce.get(&nonce) == Some(&slot) {
                self.by_remote_nonce.remove(&nonce);
            }
        }
        for address in member.addresses() {
            self.by_address.remove(&(address, slot));
        }
        self.free.push(slot);
    }

    /// The current name of the peer in a slot.
    pub(super) fn id(&self, slot: Slot) -> PeerId {
        let row = self.rows.get(slot.index());
        let generation = row.map_or(NonZeroU32::MIN, |row| row.generation);
        PeerId { generation, slot }
    }

    pub(super) fn get(&self, id: PeerId) -> Option<&Member<A>> {
        self.at(id.slot).filter(|_| self.id(id.slot) == id)
    }

    pub(super) fn get_mut(&mut self, id: PeerId) -> Option<&mut Member<A>> {
        let is_current = self.id(id.slot) == id;
        self.at_mut(id.slot).filter(|_| is_current)
    }

    fn at(&self, slot: Slot) -> Option<&Member<A>> {
        self.rows.get(slot.index())?.member.as_ref()
    }

    pub(super) fn at_mut(&mut self, slot: Slot) -> Option<&mut Member<A>> {
        self.rows.get_mut(slot.index())?.member.as_mut()
    }

    /// The peers at an address: a live one, newcomers that have yet to prove themselves, peers that ended
    /// a while ago, and peers that were there before another one moved to this address.
    fn by_address(&self, address: A) -> impl Iterator<Item = (Slot, &Member<A>)> {
        let range = (address, Slot::new(0))..=(address, Slot::new(u32::MAX));
        self.by_address.range(range).filter_map(|&(_, slot)| {
            work::count(1); // the network has a say in how many share an address
            Some((slot, self.at(slot)?))
        })
    }

    /// The first peer at an address for which this holds.
    pub(super) fn find(&self, address: A, test: impl Fn(&Peer) -> bool) -> Option<Slot> {
        let mut members = self.by_address(address);
        let found = members.find(|(_, member)| test(&member.peer));
        found.map(|(slot, _)| slot)
    }

    /// As [`find`](Self::find).
    pub(super) fn find_mut(
        &mut self,
        address: A,
        test: impl Fn(&Peer) -> bool,
    ) -> Option<Found<'_, A>> {
        let slot = self.find(address, test)?;
        let member = self.at_mut(slot)?;
        let way = member.way(address)?;
        Some(Found { slot, way, member })
    }

    /// The first peer at an address, with its addresses, for which this holds.
    pub(super) fn member_mut(
        &mut self,
        address: A,
        test: impl Fn(&Member<A>) -> bool,
    ) -> Option<(Slot, &mut Member<A>)> {
        let mut members = self.by_address(address);
        let (slot, _) = members.find(|(_, member)| test(member))?;
        drop(members);
        Some((slot, self.at_mut(slot)?))
    }

    /// Takes from a peer the addresses at which it has not been heard.
    #[cfg(feature = "seal")]
    pub(super) fn retain_heard(&mut self, slot: Slot) {
        let forgotten = self.at_mut(slot).map(Member::retain_same);
        for address in forgotten.into_iter().flatten() {
            self.by_address.remove(&(address, slot));
        }
    }

    /// A live peer, which is no attempt, that is sent to this address and gives way to the newcomer in this
    /// slot.
    pub(super) fn other_at(
        &mut self,
        address: A,
        newcomer: Slot,
    ) -> Option<(Slot, &mut Member<A>)> {
        let new = &self.at(newcomer)?.peer;
        let is_other = |&(slot, member): &(Slot, &Member<A>)| {
            let is_at = slot != newcomer && member.address() == address;
            let is_live = member.peer.state().is_live() && !member.peer.is_attempt();
            is_at && is_live && member.peer.gives_way_to(new.is_sealed())
        };
        let (slot, _) = self.by_address(address).find(is_other)?;
        Some((slot, self.at_mut(slot)?))
    }

    /// The address that everything is sent to, if there is only one.
    pub(super) fn only_address(&self) -> Option<A> {
        // The index has an entry for each peer and address: one entry is one peer.
        let &(address, _) = self.by_address.first()?;
        (self.by_address.len() == 1).then_some(address)
    }

    /// The peer that a short datagram from this address is for.
    pub(super) fn connection_mut(
        &mut self,
        from: A,
        id: ConnectionId,
    ) -> Option<(Slot, &mut Member<A>)> {
        let slot = if id.is_empty() {
            // Without ids a host tells its peers apart by address.
            self.find(from, |peer| peer.state().is_open())?
        } else {
            self.by_connection_id(id)?
        };
        let member = self.at_mut(slot)?;
        // A peer that timed out has forgotten its connection, even if it is still there: its remote host
        // gets a reset.
        (member.peer.state() != PeerState::Zombie).then_some((slot, member))
    }

    /// As [`connection_mut`](Self::connection_mut).
    #[cfg(feature = "record")]
    pub(super) fn connection(&self, from: A, id: ConnectionId) -> Option<&Peer> {
        let slot = if id.is_empty() {
            self.find(from, |peer| peer.state().is_open())?
        } else {
            self.by_connection_id(id)?
        };
        Some(&self.at(slot)?.peer)
    }

    fn by_connection_id(&self, id: ConnectionId) -> Option<Slot> {
        let is_its = |member: &Member<A>| member.peer.connection_id() == id;
        let held = self.mask.slot(id.as_bytes());
        let held = held.filter(|&slot| self.at(slot).is_some_and(is_its));
        held.or_else(|| self.by_connection_id.get(&id).copied())
    }

    pub(super) fn has_connection_id(&self, id: ConnectionId) -> bool {
        self.by_connection_id(id).is_some()
    }

    /// The peer that connected to us, whose remote host has this nonce.
    pub(super) fn by_remote_nonce_mut(&mut self, nonce: u64) -> Option<(Slot, &mut Member<A>)> {
        let slot = *self.by_remote_nonce.get(&nonce)?;
        Some((slot, self.at_mut(slot)?))
    }

    /// Notes that the remote host of a peer asks from this address, which may be a new one of the peer.
    /// False if the peer has too many addresses.
    pub(super) fn asked_from(&mut self, slot: Slot, address: A) -> bool {
        let member = self.at_mut(slot);
        let is_asked = member.is_some_and(|member| member.asked_from(address));
        if is_asked {
            self.by_address.insert((address, slot));
        }
        is_asked
    }

    /// Takes an address away from a peer that has not been heard there. False if it has been, or has no
    /// such address.
    pub(super) fn release(&mut self, slot: Slot, address: A) -> bool {
        let member = self.at_mut(slot);
        let is_released = member.is_some_and(|member| member.release(address));
        is_released && self.by_address.remove(&(address, slot))
    }

    /// Notes that a peer has moved.
    pub(super) fn on_moved(&mut self, slot: Slot, from: A, to: A) {
        self.by_address.remove(&(from, slot));
        self.by_address.insert((to, slot));
    }

    /// The slots there are, with peers and without.
    pub(super) fn slots(&self) -> impl Iterator<Item = Slot> + use<A> {
        let end = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        (0..end).map(Slot::new)
    }

    /// The peer in a slot, if it is connected.
    pub(super) fn connected_at(&self, slot: Slot) -> Option<PeerId> {
        let is_connected = self.at(slot)?.peer.state() == PeerState::Connected;
        is_connected.then(|| self.id(slot))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (PeerId, &Member<A>)> {
        self.rows.iter().zip(0..).filter_map(|(row, number)| {
            let (generation, slot) = (row.generation, Slot::new(number));
            Some((PeerId { generation, slot }, row.member.as_ref()?))
        })
    }

    /// # Panics
    ///
    /// If an index has more or fewer entries than there are peers for it.
    #[cfg(any(test, feature = "audit"))]
    pub(super) fn audit(&self) {
        let members = || self.iter().map(|(_, member)| member);
        let mut in_map = 0;
        for (peer, member) in self.iter() {
            let id = member.peer.connection_id();
            let found = self.by_connection_id(id);
            assert!(id.is_empty() || found == Some(peer.slot), "{peer:?}");
            in_map += usize::from(self.by_connection_id.contains_key(&id));
        }
        assert_eq!(self.by_connection_id.len(), in_map, "connection ids");
        let addresses: usize = members().map(|member| member.addresses().count()).sum();
        assert_eq!(self.by_address.len(), addresses, "addresses of peers");
    }
}
