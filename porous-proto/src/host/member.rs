//! A peer and where it is. A peer has one address that it is sent to, its way 0. The others are ways
//! from 1 on: those that an attempt tries (`docs/wire.md`, "Several addresses"; `docs/deviations.md`
//! D11), and those that the remote host of a connection is known by.

use alloc::boxed::Box;
use core::time::Duration;

use arrayvec::ArrayVec;

use super::roaming::{Heard, Roaming};
use crate::event::Ignored;
use crate::frame::{Refusal, Request};
use crate::ids::Address;
use crate::peer::{Peer, Settings, Tick};
use crate::time::Instant;
use crate::transfer::Written;

/// The most addresses of one peer.
pub(super) const ADDRESSES_MAX: usize = 8;

/// The most beside the one that it is sent to.
const OTHERS_MAX: usize = ADDRESSES_MAX - 1;

/// Where hosts were met while connecting, and their nonces.
pub(super) type Remotes<A> = ArrayVec<(A, u64), ADDRESSES_MAX>;

/// An address of a peer.
#[derive(Clone, Copy, Debug)]
struct Place<A> {
    address: A,
    /// Our peer is there: its nonce has come from this address. Without that it may be anybody's.
    is_same: bool,
}

/// Where a peer is, or may be, beside where it is sent to.
#[derive(Debug)]
struct Elsewhere<A> {
    /// Its ways from 1 on.
    others: ArrayVec<Place<A>, OTHERS_MAX>,
    /// Only of a peer that was heard of at none of its addresses.
    roaming: Option<Roaming<A>>,
}

/// A peer, with its addresses.
#[derive(Debug)]
pub(super) struct Member<A> {
    pub(super) peer: Peer,
    /// Where it is sent to.
    main: Place<A>,
    /// Few peers have more.
    elsewhere: Option<Box<Elsewhere<A>>>,
}

impl<A: Address> Member<A> {
    /// A peer at this address, that may be at up to 7 others as well.
    pub(super) fn new(peer: Peer, address: A, others: &[A]) -> Self {
        let place = |address, is_same| Place { address, is_same };
        let mut member = Self {
            peer,
            main: place(address, true),
            elsewhere: None,
        };
        if !others.is_empty() {
            let others = others.iter().map(|&address| place(address, false));
            member.elsewhere_mut().others.extend(others);
        }
        member
    }

    fn elsewhere_mut(&mut self) -> &mut Elsewhere<A> {
        self.elsewhere.get_or_insert_with(|| {
            let (others, roaming) = (ArrayVec::new(), None);
            Box::new(Elsewhere { others, roaming })
        })
    }

    fn roaming_mut(&mut self) -> Option<&mut Roaming<A>> {
        self.elsewhere.as_mut()?.roaming.as_mut()
    }

    fn places(&self) -> impl Iterator<Item = &Place<A>> {
        let others = self.elsewhere.iter().flat_map(|it| &it.others);
        core::iter::once(&self.main).chain(others)
    }

    fn places_mut(&mut self) -> impl Iterator<Item = &mut Place<A>> {
        let others = self.elsewhere.iter_mut().flat_map(|it| &mut it.others);
        core::iter::once(&mut self.main).chain(others)
    }

    /// Where it is sent to.
    pub(super) const fn address(&self) -> A {
        self.main.address
    }

    /// All of its addresses, in the order of their numbers.
    pub(super) fn addresses(&self) -> impl Iterator<Item = A> {
        self.places().map(|place| place.address)
    }

    /// The number of an address.
    pub(super) fn way(&self, address: A) -> Option<usize> {
        self.addresses().position(|own| own == address)
    }

    /// The number of an address from which the peer is taken to write: while it is tried, and when
    /// it is known to be there.
    pub(super) fn way_in(&self, from: A) -> Option<usize> {
        if from == self.main.address {
            return Some(0); // most datagrams
        }
        let mut places = self.places().enumerate();
        let (way, place) = places.find(|(_, place)| place.address == from)?;
        (place.is_same || self.peer.is_attempt()).then_some(way)
    }

    /// The peer has written from this address of its.
    pub(super) fn confirm(&mut self, way: usize) {
        if let Some(place) = self.places_mut().nth(way) {
            place.is_same = true;
        }
    }

    /// Takes away an address of which it is not known that the peer is there. Whether it was one.
    pub(super) fn release(&mut self, address: A) -> bool {
        let before = self.places().count();
        self.retain_others(|other| other.is_same || other.address != address);
        self.places().count() < before
    }

    fn retain_others(&mut self, test: impl Fn(&Place<A>) -> bool) {
        if let Some(elsewhere) = &mut self.elsewhere {
            elsewhere.others.retain(|other| test(other));
        }
    }

    /// From now on the peer is sent to another one of its addresses.
    pub(super) fn make_main(&mut self, way: usize) {
        let other = way.checked_sub(1);
        let mut places = self.places_mut();
        let (main, other) = (places.next(), other.and_then(|other| places.nth(other)));
        if let (Some(main), Some(other)) = (main, other) {
            core::mem::swap(main, other);
            main.is_same = true;
        }
    }

    /// The host of the peer asks from this address, and has proved to be there. As long as it has said
    /// nothing else, that is where it is answered: a peer that connected to us is sent to where it
    /// last wrote from, until the first datagram of the connection has told by which of our addresses
    /// it came to us. False if the peer has too many addresses.
    pub(super) fn asked_from(&mut self, address: A) -> bool {
        let way = match self.way(address) {
            Some(way) => way,
            None => {
                let (others, is_same) = (&mut self.elsewhere_mut().others, true);
                if others.try_push(Place { address, is_same }).is_err() {
                    return false;
                }
                others.len()
            }
        };
        self.confirm(way);
        if self.peer.is_inbound() && self.peer.is_silent() {
            self.make_main(way);
        }
        true
    }

    /// The hosts that have been met in a handshake and should know if nothing comes of it.
    pub(super) fn remotes(&self) -> Remotes<A> {
        self.at_ways(self.peer.remotes())
    }

    fn at_ways(&self, remotes: impl Iterator<Item = (usize, u64)>) -> Remotes<A> {
        let at = |(way, nonce)| Some((self.addresses().nth(way)?, nonce));
        remotes.filter_map(at).take(ADDRESSES_MAX).collect()
    }

    /// If an attempt at several addresses has come to one of them: from now on that is where the peer
    /// is. Other hosts that were met on the way are to be told, once, that nothing comes of it.
    pub(super) fn choose_way(&mut self) -> Remotes<A> {
        let Some(handshake) = self.peer.take_ways() else {
            return Remotes::new();
        };
        let theirs = self.peer.remote_nonce();
        let is_same = |way| theirs.is_some_and(|nonce| handshake.has_heard(way, nonce));
        let strangers = handshake.remotes().filter(|&(way, _)| !is_same(way));
        let strangers = self.at_ways(strangers);
        for (way, place) in self.places_mut().enumerate() {
            place.is_same = is_same(way);
        }
        self.make_main(handshake.winner);
        self.main.is_same = true;
        strangers
    }

    /// A request came from an address that this attempt tries: we answer with our own nonce
    /// (`deviations.md` C16).
    pub(super) fn on_request(
        &mut self,
        way: usize,
        request: &Request<'_>,
        ours: &Settings,
        now: Instant,
    ) -> Result<(), Ignored> {
        let connect = &request.connect;
        let own = self.peer.nonce();
        // Our own nonce is a mirror's: what comes from there is what we have sent.
        if connect.nonce_self == own || (connect.cookie && connect.nonce_peer != own) {
            return Err(Ignored::UnknownNonce);
        }
        let application_id = connect.offer.application;
        if application_id == ours.offer.application {
            self.peer.on_request(way, request, ours, now);
        } else {
            let refusal = Refusal::Incompatible { application_id };
            self.peer.on_refused(way, refusal, now);
        }
        Ok(())
    }

    /// A datagram of the connection was taken. Whether the remote host has proved that it has moved
    /// to where that came from. `roams`: [`Config::roaming`](crate::Config::roaming).
    pub(super) fn on_heard(
        &mut self,
        heard: &Heard<A>,
        roams: bool,
        draw: impl FnOnce() -> u64,
        now: Instant,
    ) -> bool {
        let Heard { from, words, .. } = *heard;
        // Two hosts that know several addresses of each other may send by one and receive by
        // another. But a challenge is answered where it came from.
        let is_answered_here = words.challenge.is_none() || !roams;
        let way = self.way_in(from);
        if way == Some(0) || (way.is_some() && is_answered_here) {
            if let Some(data) = words.challenge {
                self.peer.answer_challenge(data, now);
            }
            if let Some(roaming) = self.roaming_mut() {
                roaming.on_heard_here(words.id, now);
            }
            return false;
        }
        let patience = self.peer.resend_timeout();
        let roaming = &mut self.elsewhere_mut().roaming;
        let roaming = roaming.get_or_insert_with(|| Roaming::new(now));
        roaming.on_heard_elsewhere(heard, patience, draw, now)
    }

    /// The remote host has moved to where this datagram came from, at which the path is the same if
    /// only the port is another one. Whether the application is to be told: not if an event waits.
    pub(super) fn on_moved(&mut self, heard: &Heard<A>, same_host: bool, now: Instant) -> bool {
        let from = core::mem::replace(&mut self.main.address, heard.from);
        self.retain_others(|other| other.address != heard.from);
        self.peer.on_moved(same_host, now);
        let roaming = self.roaming_mut();
        roaming.is_some_and(|roaming| roaming.on_moved(from, heard.words.id, now))
    }

    /// The application takes the event: where the peer is by now.
    pub(super) fn moved_taken(&mut self) -> A {
        if let Some(roaming) = self.roaming_mut() {
            roaming.moved_taken();
        }
        self.main.address
    }

    /// Something is due: also to look for the remote host where it was, if it is silent where it is.
    /// `timeout`: how long it is known where that was.
    pub(super) fn handle_timeout(
        &mut self,
        tick: Tick,
        timeout: Duration,
        draw: impl FnOnce() -> u64,
    ) {
        self.peer.handle_timeout(tick);
        let elsewhere = self.elsewhere.as_mut();
        if let Some(roaming) = elsewhere.and_then(|it| it.roaming.as_mut()) {
            let patience = self.peer.resend_timeout();
            roaming.try_previous(patience, timeout, draw, tick.now);
        }
    }

    /// Writes the next datagram, if there is one: where to.
    pub(super) fn poll_transmit(
        &mut self,
        ours: &Settings,
        tick: Tick,
        buf: &mut [u8],
    ) -> Option<(A, Written)> {
        let elsewhere = self.elsewhere.as_mut();
        if let Some(roaming) = elsewhere.and_then(|elsewhere| elsewhere.roaming.as_mut()) {
            let elsewhere = roaming.poll_transmit(&mut self.peer, tick.now, buf);
            if elsewhere.is_some() {
                return elsewhere;
            }
        }
        let (way, written) = self.peer.poll_transmit(ours, tick, buf)?;
        let to = self.addresses().nth(way).unwrap_or(self.main.address);
        Some((to, written))
    }
}
