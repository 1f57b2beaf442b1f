//! The hosts of a world, and when each of them is called.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use porous_proto::{Config, Host, Instant};

use super::wires::Passage;
use crate::agenda::Agenda;
use crate::station::Station;
use crate::{ChaCha8Rng, Seed, SimAddress};

/// All stations, by address. Each has an appointment in the agenda, which follows what happens to it.
#[derive(Debug)]
pub(super) struct Stations<A> {
    stations: BTreeMap<A, Station<A>>,
    /// When each host is to be called.
    agenda: Agenda<A>,
    /// Hosts that an application has called since they last sent.
    touched: BTreeSet<A>,
    /// Hosts made so far.
    made: u64,
    /// The buffer that the hosts write their datagrams into.
    buffer: Vec<u8>,
}

impl<A: SimAddress> Stations<A> {
    pub(super) const fn new() -> Self {
        Self {
            stations: BTreeMap::new(),
            agenda: Agenda::new(),
            touched: BTreeSet::new(),
            made: 0,
            buffer: Vec::new(),
        }
    }

    /// Adds a host, in place of another one at this address.
    pub(super) fn add(&mut self, now: Instant, address: A, config: Config, seed: Seed) {
        // By the number of hosts, not by address: a program that starts again draws other numbers.
        let rng = seed.stream("host", self.made);
        self.made += 1;
        self.stations.insert(address, Station::new(config, rng));
        self.schedule(now, address);
    }

    /// Takes a host away. False if there was none.
    pub(super) fn remove(&mut self, address: A) -> bool {
        self.agenda.set(address, None);
        self.stations.remove(&address).is_some()
    }

    /// The host at this address and what surrounds it.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub(super) fn get(&self, address: A) -> &Station<A> {
        let station = self.stations.get(&address);
        station.unwrap_or_else(|| panic!("there is no host at {address:?}"))
    }

    /// As [`get`](Self::get), for changes that have no influence on when the host is called.
    pub(super) fn get_mut(&mut self, address: A) -> &mut Station<A> {
        let station = self.stations.get_mut(&address);
        station.unwrap_or_else(|| panic!("there is no host at {address:?}"))
    }

    /// Changes what surrounds a host, and then asks again when the host is to be called.
    pub(super) fn change(
        &mut self,
        now: Instant,
        address: A,
        change: impl FnOnce(&mut Station<A>),
    ) {
        change(self.get_mut(address));
        self.schedule(now, address);
    }

    /// The host for its application, which may leave something to send.
    pub(super) fn touch(&mut self, now: Instant, address: A) -> &mut Host<ChaCha8Rng, A> {
        self.change(now, address, Station::touch);
        self.touched.insert(address);
        &mut self.get_mut(address).host
    }

    /// The next host that an application has called and that has not sent since.
    pub(super) fn pop_touched(&mut self) -> Option<A> {
        while let Some(address) = self.touched.pop_first() {
            // The host may have been taken away meanwhile.
            if self.stations.contains_key(&address) {
                return Some(address);
            }
        }
        None
    }

    /// A datagram reaches an address. False if it was dropped, as the socket there had no room.
    pub(super) fn deliver(&mut self, now: Instant, passage: Passage<A>) -> bool {
        let Some(station) = self.stations.get_mut(&passage.to) else {
            return true; // there is no socket that could be full
        };
        let had_room = station.deliver(passage.from, passage.ecn, passage.datagram);
        self.schedule(now, passage.to);
        had_room
    }

    /// The next datagram that a host wants to send.
    pub(super) fn transmit(&mut self, now: Instant, from: A) -> Option<Passage<A>> {
        let station = self.stations.get_mut(&from)?;
        let (to, ecn, datagram) = station.transmit(now, &mut self.buffer)?;
        Some(Passage {
            from,
            to,
            ecn,
            datagram,
        })
    }

    /// Updates the agenda after something has changed at a host.
    pub(super) fn schedule(&mut self, now: Instant, address: A) {
        let due = self.get(address).due(now);
        self.agenda.set(address, due);
    }

    /// When the next host is to be called.
    pub(super) fn next(&self) -> Option<Instant> {
        self.agenda.next()
    }

    /// The hosts to be called at `now` or before, by time, then by address.
    pub(super) fn due(&self, now: Instant) -> Vec<A> {
        self.agenda.due(now)
    }
}
