//! A host of an exploration as its application sees it.

use alloc::collections::BTreeMap;

use porous_proto::{Instant, PeerId};

/// A live peer, as far as the application knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    /// The number of the host that it is, once the two are connected.
    pub(super) remote: Option<u32>,
}

/// A host, from one start of its program to the next.
#[derive(Debug)]
pub(super) struct Actor {
    /// Its address, which is its number at first.
    pub(super) place: u32,
    /// The number of its side in the contract.
    pub(super) side: usize,
    pub(super) peers: BTreeMap<PeerId, Known>,
    /// The hosts of which it wants to be connected to one.
    pub(super) dials: Option<&'static [u32]>,
    /// When it dials (again), if it does.
    pub(super) dials_at: Option<Instant>,
    /// True once its program was started again, or it has said goodbye: connections with it may end.
    pub(super) has_ended: bool,
}

/// The least number that is no host's. The address of a host is its number, and this times the number of its moves
/// more.
const STRIDE: u32 = 10;

/// The number of the host that has, or had, this address.
pub(super) const fn host_at(place: u32) -> u32 {
    place % STRIDE
}

impl Actor {
    pub(super) const fn new(number: u32, side: usize) -> Self {
        Self {
            place: number,
            side,
            peers: BTreeMap::new(),
            dials: None,
            dials_at: None,
            has_ended: false,
        }
    }

    /// The host has another address from now on.
    pub(super) const fn move_on(&mut self) {
        self.place += STRIDE;
    }

    /// The peers with which the host is connected, and the numbers of their hosts.
    pub(super) fn connected(&self) -> impl Iterator<Item = (PeerId, u32)> {
        let peers = self.peers.iter();
        peers.filter_map(|(&peer, known)| known.remote.map(|remote| (peer, remote)))
    }
}
