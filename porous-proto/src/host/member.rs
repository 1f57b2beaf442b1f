//! A peer and its addresses, which are numbered: each number is a way. Way 0 is the address that
//! datagrams to the peer go to. Ways from 1 on are the other addresses that an attempt tries
//! (`docs/wire.md`, "Several addresses"; `docs/deviations.md` D11), or that the remote host of a
//! connection is known by.

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

/// The most addresses of one peer beside the one that it is sent to.
const OTHERS_MAX: usize = ADDRESSES_MAX - 1;

/// The addresses and nonces of hosts that were met while connecting.
pub(super) type Remotes<A> = ArrayVec<(A, u64), ADDRESSES_MAX>;

/// An address of a peer.
#[derive(Clone, Copy, Debug)]
struct Place<A> {
    address: A,
    /// True if the peer's remote host is there: its nonce has come from this address, or of a sealed
    /// connection a sealed frame. Otherwise the address may be anybody's.
    is_same: bool,
    /// True if a newcomer has asked from this address, and was not answered there yet.
    asks: bool,
}

impl<A> Place<A> {
    const fn new(address: A, is_same: bool) -> Self {
        let asks = false;
        Self {
            address,
            is_same,
            asks,
        }
    }
}

/// Where the remote host of a peer is, or may be, beside the address that it is sent to.
#[derive(Debug)]
struct OtherAddresses<A> {
    /// The ways from 1 on.
    others: ArrayVec<Place<A>, OTHERS_MAX>,
    /// There once a datagram has come from an address that is none of the peer's.
    roaming: Option<Roaming<A>>,
}

/// A peer, with its addresses.
#[derive(Debug)]
pub(super) struct Member<A> {
    pub(super) peer: Peer,
    /// Way 0: the address that the peer is sent to.
    main: Place<A>,
    /// Boxed, as few peers have more than one address.
    other_addresses: Option<Box<OtherAddresses<A>>>,
}

impl<A: Address> Member<A> {
    /// A peer at this address, whose remote host may be at up to 7 others as well.
    pub(super) fn new(peer: Peer, address: A, others: &[A]) -> Self {
        let mut member = Self {
            peer,
            main: Place::new(address, true),
            other_addresses: None,
        };
        // Most peers have one address, and no allocation for others.
        if !others.is_empty() {
            let others = others.iter().map(|&address| Place::new(address, false));
            member.other_addresses_mut().others.extend(others);
        }
        member
    }

    fn other_addresses_mut(&mut self) -> &mut OtherAddresses<A> {
        self.other_addresses.get_or_insert_with(|| {
            let (others, roaming) = (ArrayVec::new(), None);
            Box::new(OtherAddresses { others, roaming })
        })
    }

    fn roaming_mut(&mut self) -> Option<&mut Roaming<A>> {
        self.other_addresses.as_mut()?.roaming.as_mut()
    }

    fn places(&self) -> impl Iterator<Item = &Place<A>> {
        let others = self.other_addresses.iter().flat_map(|it| &it.others);
        core::iter::once(&self.main).chain(others)
    }

    fn places_mut(&mut self) -> impl Iterator<Item = &mut Place<A>> {
        let others = self
            .other_addresses
            .iter_mut()
            .flat_map(|it| &mut it.others);
        core::iter::once(&mut self.main).chain(others)
    }

    /// Whether this host follows the peer to other addresses.
    pub(super) const fn roams(&self, ours: &Settings) -> bool {
        ours.config.path.follows(self.peer.is_sealed())
    }

    /// The address that the peer is sent to.
    pub(super) const fn address(&self) -> A {
        self.main.address
    }

    /// All addresses of the peer, in the order of their numbers.
    pub(super) fn addresses(&self) -> impl Iterator<Item = A> {
        self.places().map(|place| place.address)
    }

    /// The number of an address.
    pub(super) fn way(&self, address: A) -> Option<usize> {
        self.addresses().position(|own| own == address)
    }

    /// The number of an address from which datagrams of the peer are taken; `None` of any other.
    pub(super) fn way_in(&self, from: A) -> Option<usize> {
        if from == self.main.address {
            return Some(0); // most datagrams
        }
        // Another host that an attempt has asked as well may use the same connection id: once the
        // attempt is over, only addresses count at which the remote host's nonce was heard.
        let mut places = self.places().enumerate();
        let (way, place) = places.find(|(_, place)| place.address == from)?;
        let may_be_same = self.peer.is_attempt() || self.is_silent_newcomer();
        (place.is_same || may_be_same).then_some(way)
    }

    /// Notes that the remote host has written from this address of the peer.
    pub(super) fn confirm(&mut self, way: usize) {
        if let Some(place) = self.places_mut().nth(way) {
            place.is_same = true;
        }
    }

    /// Takes away an address at which the remote host has not been heard. False if it has been, or if
    /// the peer has no such address.
    pub(super) fn release(&mut self, address: A) -> bool {
        let before = self.places().count();
        self.retain_others(|other| other.is_same || other.address != address);
        self.places().count() < before
    }

    fn retain_others(&mut self, test: impl Fn(&Place<A>) -> bool) {
        if let Some(other_addresses) = &mut self.other_addresses {
            other_addresses.others.retain(|other| test(other));
        }
    }

    /// Makes this way the peer's way 0: the peer is sent to this address from now on.
    pub(super) fn make_main(&mut self, way: usize) {
        let other = way.checked_sub(1);
        let mut places = self.places_mut();
        let (main, other) = (places.next(), other.and_then(|other| places.nth(other)));
        if let (Some(main), Some(other)) = (main, other) {
            // The old one stays a way: the remote host may still write from it.
            core::mem::swap(main, other);
            main.is_same = true;
        }
    }

    /// Whether the remote host has been heard at this address of the peer.
    pub(super) fn is_same_at(&self, address: A) -> bool {
        let mut places = self.places();
        places.any(|place| place.is_same && place.address == address)
    }

    /// Forgets the addresses from which the connection was asked for, and nothing of it has come. Gives them.
    #[cfg(feature = "seal")]
    pub(super) fn retain_same(&mut self) -> ArrayVec<A, OTHERS_MAX> {
        let others = self.places().filter(|place| !place.is_same);
        let forgotten = others.map(|place| place.address).take(OTHERS_MAX).collect();
        self.retain_others(|other| other.is_same);
        forgotten
    }

    /// Whether the remote host has asked for this connection, and nothing of the connection has come yet.
    fn is_silent_newcomer(&self) -> bool {
        self.is_silent() && self.peer.state().is_open()
    }

    fn is_silent(&self) -> bool {
        self.peer.is_inbound() && self.peer.is_silent()
    }

    /// Takes a request from this address, where its sender has proved to be: it is answered. False if the peer
    /// has too many addresses.
    pub(super) fn asked_from(&mut self, address: A) -> bool {
        // What is due by now goes to the main address, unless another one has asked for it.
        let is_due = self.peer.is_answer_due() || self.peer.is_asked();
        let main_asks = is_due && !self.places().any(|place| place.asks);
        let way = match self.way(address) {
            Some(way) => way,
            None => {
                let others = &mut self.other_addresses_mut().others;
                if others.try_push(Place::new(address, false)).is_err() {
                    return false;
                }
                others.len()
            }
        };
        if self.other_addresses.is_some() && self.is_silent_newcomer() {
            self.main.asks |= main_asks;
            if let Some(place) = self.places_mut().nth(way) {
                place.asks = true;
            }
        }
        // An eavesdropper knows the nonce, too, but cannot make a sealed frame.
        if !self.peer.is_sealed() {
            self.confirm(way);
            if self.is_silent() {
                // What else is said before the first datagram of the connection goes where it last asked.
                self.make_main(way);
            }
        }
        self.peer.on_repeated_request();
        true
    }

    /// The way that a datagram goes to which was written for this one. A newcomer is answered at each
    /// address that it asks from: it may try several of ours, and if the last one alone were answered,
    /// an eavesdropper that repeats its requests would get all answers.
    #[cold]
    fn way_to(&mut self, way: usize) -> usize {
        let is_newcomer = self.is_silent_newcomer();
        let (mut asking, mut are_more) = (None, false);
        for (way, place) in self.places_mut().enumerate() {
            if core::mem::take(&mut place.asks) && is_newcomer {
                place.asks = asking.is_some();
                are_more |= place.asks;
                asking = asking.or(Some(way));
            }
        }
        if are_more {
            self.peer.on_repeated_request();
        }
        asking.unwrap_or(way)
    }

    /// The hosts that were met in a handshake, which have to know if nothing comes of it.
    pub(super) fn remotes(&self) -> Remotes<A> {
        self.at_ways(self.peer.remotes())
    }

    fn at_ways(&self, remotes: impl Iterator<Item = (usize, u64)>) -> Remotes<A> {
        let at = |(way, nonce)| Some((self.addresses().nth(way)?, nonce));
        remotes.filter_map(at).take(ADDRESSES_MAX).collect()
    }

    /// If an attempt at several addresses has come to one of them, makes that one the peer's address.
    /// Gives, once, the other hosts that were met on the way: they have to be told that nothing comes of
    /// the attempt for them.
    pub(super) fn choose_way(&mut self) -> Remotes<A> {
        let Some(handshake) = self.peer.take_ways() else {
            return Remotes::new();
        };
        let theirs = self.peer.remote_nonce();
        let is_same = |way| theirs.is_some_and(|nonce| handshake.has_heard(way, nonce));
        // The remote host itself may have been met at several of the addresses.
        let strangers = handshake.remotes().filter(|&(way, _)| !is_same(way));
        let strangers = self.at_ways(strangers);
        for (way, place) in self.places_mut().enumerate() {
            place.is_same = is_same(way);
        }
        self.make_main(handshake.winner);
        self.main.is_same = true;
        strangers
    }

    /// Takes a request from an address that this attempt tries. The answer has the attempt's own nonce
    /// and is no cookie: each host has named the other's address (`deviations.md` C16).
    pub(super) fn on_request(
        &mut self,
        way: usize,
        request: &Request<'_>,
        ours: &Settings,
        now: Instant,
    ) -> Result<(), Ignored> {
        let connect = &request.connect;
        let own = self.peer.nonce();
        // Our own nonce comes from a mirror: its datagrams are those that we have sent. A cookie has to
        // echo our nonce, or it belongs to another attempt.
        if connect.nonce_self == own || (connect.cookie && connect.nonce_peer != own) {
            return Err(Ignored::UnknownNonce);
        }
        // A cookie alone can be of another application here: a request was refused before (C8).
        let application_id = connect.offer.application;
        if application_id == ours.offer.application {
            self.peer.on_request(way, request, ours, now);
        } else {
            let refusal = Refusal::Incompatible { application_id };
            self.peer.on_refused(way, refusal, now);
        }
        Ok(())
    }

    /// Notes that a datagram of the connection was taken. Whether the remote host has proved that it has
    /// moved to the address that it came from. `roams`: whether this host follows the peer.
    pub(super) fn on_heard(
        &mut self,
        heard: &Heard<A>,
        roams: bool,
        draw: impl FnOnce() -> u64,
        now: Instant,
    ) -> bool {
        let Heard { from, words, .. } = *heard;
        // Two hosts that know several addresses of each other may send to one and receive from another:
        // that is no move. But a challenge is answered where it came from (RFC 9000 §8.2.2).
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
        let roaming = &mut self.other_addresses_mut().roaming;
        let roaming = roaming.get_or_insert_with(|| Roaming::new(now));
        roaming.on_heard_at_other_address(heard, patience, draw, now)
    }

    /// Notes that the remote host has moved to the address of this datagram. `same_host`: only the port
    /// is another one. Whether the application has to be told: not if an event of a move waits.
    pub(super) fn on_moved(&mut self, heard: &Heard<A>, same_host: bool, now: Instant) -> bool {
        let from = core::mem::replace(&mut self.main.address, heard.from);
        // It is way 0 now, and must not stand in the list twice.
        self.retain_others(|other| other.address != heard.from);
        self.peer.on_moved(same_host, now);
        let roaming = self.roaming_mut();
        roaming.is_some_and(|roaming| roaming.on_moved(from, heard.words.id, now))
    }

    /// Notes that the application takes the event of a move, and says where the peer is by now.
    pub(super) fn moved_taken(&mut self) -> A {
        if let Some(roaming) = self.roaming_mut() {
            roaming.moved_taken();
        }
        self.main.address
    }

    /// Does what is due. `timeout`: how long after a move the previous address is remembered.
    pub(super) fn handle_timeout(
        &mut self,
        tick: Tick,
        timeout: Duration,
        draw: impl FnOnce() -> u64,
    ) {
        self.peer.handle_timeout(tick);
        // Has no deadline of its own: the previous address is tried when the peer's pings are due.
        let other_addresses = self.other_addresses.as_mut();
        if let Some(roaming) = other_addresses.and_then(|it| it.roaming.as_mut()) {
            let patience = self.peer.resend_timeout();
            roaming.try_previous(patience, timeout, draw, tick.now);
        }
    }

    /// Writes the next datagram, if there is one, and says where to.
    pub(super) fn poll_transmit(
        &mut self,
        ours: &Settings,
        tick: Tick,
        buf: &mut [u8],
    ) -> Option<(A, Written)> {
        let other_addresses = self.other_addresses.as_mut();
        if let Some(roaming) = other_addresses.and_then(|it| it.roaming.as_mut()) {
            // Before the peer's own datagrams: few leave, as three bytes do for each that has come.
            let challenge = roaming.poll_transmit(&mut self.peer, tick.now, buf);
            if challenge.is_some() {
                return challenge;
            }
        }
        let (way, mut written) = self.peer.poll_transmit(ours, tick, buf)?;
        if self.other_addresses.is_none() {
            return Some((self.main.address, written)); // most peers
        }
        let way = self.way_to(way);
        written.more |= self.peer.is_answer_due(); // at another address
        let to = self.addresses().nth(way).unwrap_or(self.main.address);
        Some((to, written))
    }
}
