//! The connecting peer of a host that called `connect` (§2.3): it asks until it is acknowledged,
//! and remembers whose requests it has seen. It asks at one address or at several, which are
//! numbered here: all belong to one attempt with one random id, so that whatever addresses the two
//! hosts find each other by, it is the same connection (`docs/wire.md`, "Several addresses").

mod way;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;

use self::way::Way;
use crate::event::Refusal;
use crate::frame::{Connect, Request};
use crate::time::Instant;

/// The first interval between requests; each is half as long again as the one before
/// (`deviations.md` C17). Each is by up to a quarter longer or shorter than that, or hosts that begin
/// together, as all do whose server comes back, would ask together every time.
const INTERVAL_MIN: Duration = Duration::from_millis(100);
const INTERVAL_MAX: Duration = Duration::from_secs(1);

/// While both hosts connect to each other they ask more often, so that a hole in a NAT is hit
/// from both sides.
const PUNCH_INTERVAL: Duration = Duration::from_millis(50);
const PUNCH_TIME: Duration = Duration::from_secs(1);

/// The number of our requests that one of the remote host makes come sooner. It may be forged, and a
/// forger must not make us send much more than it has sent.
const PUNCHES: u8 = 2;

/// The most that may wait: those of a second.
const PUNCHES_MAX: u8 = 20;

/// For so long only the first address that gave a cookie gets it back (RFC 8305 §5): if several are
/// those of different listeners, the others need not make a peer that comes to nothing.
const ALONE: Duration = Duration::from_millis(250);

/// A handshake under way.
#[derive(Debug)]
pub(crate) struct Handshake {
    interval: Duration,
    /// What the next interval is longer or shorter by is drawn from this.
    draw: u64,
    /// What our application says with its requests; empty if that is nothing.
    pub(crate) greeting: Box<[u8]>,
    /// The remote host connects to us, as we to it: until when we ask often,
    punching: Option<Instant>,
    /// and how often, unless more comes.
    punches: u8,
    /// The address that brought the first cookie, and until when it is alone.
    favourite: Option<(usize, Instant)>,
    first: Way,
    /// None, if there is one address.
    others: Vec<Way>,
    /// The address that the attempt has come to, once it has.
    pub(crate) winner: usize,
    /// The last refusal from one of several addresses.
    pub(crate) refusal: Option<Refusal>,
    /// At which addresses nobody was bound to the port, a bit each.
    closed: u8,
}

/// A request to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DueRequest {
    pub(crate) way: usize,
    /// To be brought back.
    pub(crate) cookie: Option<u64>,
    /// The time of the next round, if this is the last one of a round.
    pub(crate) retry: Option<Instant>,
}

impl Handshake {
    /// An attempt at this number of addresses, at least one, with this greeting. `draw`: a number that
    /// no other attempt has.
    pub(crate) fn new(ways: usize, greeting: &[u8], draw: u64) -> Self {
        Self {
            interval: INTERVAL_MIN,
            draw,
            greeting: greeting.into(),
            punching: None,
            punches: 0,
            favourite: None,
            first: Way::new(),
            others: (1..ways).map(|_| Way::new()).collect(),
            winner: 0,
            refusal: None,
            closed: 0,
        }
    }

    fn ways(&self) -> impl Iterator<Item = &Way> {
        core::iter::once(&self.first).chain(&self.others)
    }

    fn ways_mut(&mut self) -> impl Iterator<Item = &mut Way> {
        core::iter::once(&mut self.first).chain(&mut self.others)
    }

    fn way_mut(&mut self, way: usize) -> Option<&mut Way> {
        match way.checked_sub(1) {
            None => Some(&mut self.first),
            Some(other) => self.others.get_mut(other),
        }
    }

    fn way(&self, way: usize) -> Option<&Way> {
        match way.checked_sub(1) {
            None => Some(&self.first),
            Some(other) => self.others.get(other),
        }
    }

    /// How many addresses there are.
    pub(crate) fn len(&self) -> usize {
        1 + self.others.len()
    }

    /// It is time for requests to all addresses.
    pub(crate) fn begin_round(&mut self) {
        for way in self.ways_mut() {
            way.request_due = !way.is_struck;
        }
    }

    /// The request that is to be sent now.
    pub(crate) fn next_request(&mut self, now: Instant) -> Option<DueRequest> {
        let (way, cookie) = self.due(now).next()?;
        if let Some(at) = self.way_mut(way) {
            at.request_due = false;
        }
        let is_last = self.due(now).next().is_none();
        let retry = is_last.then(|| self.next_retry(now));
        Some(DueRequest { way, cookie, retry })
    }

    /// The addresses that are to be asked now, and the cookies that are brought back.
    fn due(&self, now: Instant) -> impl Iterator<Item = (usize, Option<u64>)> {
        let held = move |way: usize| {
            let other = |(favourite, until)| favourite != way && now < until;
            self.favourite.is_some_and(other)
        };
        let due =
            move |&(way, at): &(usize, &Way)| at.request_due && !(at.cookie.is_some() && held(way));
        let ways = self.ways().enumerate().filter(due);
        ways.map(|(way, at)| (way, at.cookie))
    }

    /// The time of the round after the one that ends now.
    fn next_retry(&mut self, now: Instant) -> Instant {
        if self.punches > 0 && self.punching.is_some_and(|until| now < until) {
            self.punches -= 1;
            return now + PUNCH_INTERVAL;
        }
        let interval = self.interval;
        self.interval = (interval * 3 / 2).min(INTERVAL_MAX);
        now + interval * 3 / 4 + interval / 512 * u32::from(self.next_draw())
    }

    /// One of 256 numbers (Knuth's linear congruential generator for 64 bits, of which the high bits
    /// are good).
    const fn next_draw(&mut self) -> u8 {
        let next = self.draw.wrapping_mul(6_364_136_223_846_793_005);
        self.draw = next.wrapping_add(1_442_695_040_888_963_407);
        self.draw.to_be_bytes()[0]
    }

    /// A request came from an address that we connect to. One with a cookie echoes our nonce.
    pub(crate) fn on_request(&mut self, way: usize, request: &Request<'_>, own: u64, now: Instant) {
        let connect = &request.connect;
        let Some(at) = self.way_mut(way) else { return };
        let echoed = connect.nonce_peer == own;
        if connect.cookie {
            at.cookie = Some(connect.nonce_self);
            at.request_due = !at.is_struck;
        } else {
            at.is_struck = false; // a new attempt of whoever had refused or given up
            at.acknowledge(connect.nonce_self);
        }
        at.remember(request, echoed);
        if connect.cookie {
            self.favourite.get_or_insert((way, now + ALONE));
        }
    }

    /// A request without a cookie has come: the time of our next one at the latest, for a second from
    /// the first such request on.
    pub(crate) fn punch(&mut self, now: Instant) -> Option<Instant> {
        let until = *self.punching.get_or_insert(now + PUNCH_TIME);
        let begins = self.punches == 0 && now < until;
        self.punches = (self.punches + PUNCHES).min(PUNCHES_MAX) - u8::from(begins);
        begins.then(|| now + PUNCH_INTERVAL)
    }

    /// The next acknowledgement to be sent: where, and of which nonce.
    pub(crate) fn next_ack(&mut self) -> Option<(usize, u64)> {
        let mut ways = self.ways_mut().enumerate();
        ways.find_map(|(way, at)| Some((way, at.next_ack()?)))
    }

    /// Whether a request was seen and not acknowledged.
    pub(crate) fn owes_ack(&self) -> bool {
        self.ways().any(Way::owes_ack)
    }

    /// Whether a request with this nonce has come.
    pub(crate) fn has_seen(&self, nonce: u64) -> bool {
        self.ways().any(|at| at.has_seen(nonce))
    }

    /// An acknowledgement of our own nonce came.
    pub(crate) fn on_acknowledge(&mut self, way: usize, ack: &Connect) {
        if let Some(at) = self.way_mut(way) {
            at.on_acknowledge(ack);
        }
    }

    /// The remote host, and the address where it is: once a request of it has come, from anywhere,
    /// and from there an acknowledgement, in either order (Figure 2).
    pub(crate) fn established(&self) -> Option<(usize, &Connect)> {
        let mut ways = self.ways().enumerate();
        ways.find_map(|(way, at)| {
            let ack = at.locked.as_ref()?;
            self.has_seen(ack.nonce_self).then_some((way, ack))
        })
    }

    /// See [`Way::sole_candidate`].
    pub(crate) fn sole_candidate(&self, way: usize) -> Option<&Connect> {
        self.way(way).and_then(Way::sole_candidate)
    }

    /// Who was met at each address: a nonce, for telling that nothing comes of the attempt.
    pub(crate) fn remotes(&self) -> impl Iterator<Item = (usize, u64)> {
        let ways = self.ways().enumerate();
        ways.filter_map(|(way, at)| Some((way, at.any_remote()?)))
    }

    /// Whether the host with this nonce has been heard at an address.
    pub(crate) fn has_heard(&self, way: usize, nonce: u64) -> bool {
        let acknowledged = |at: &Way| at.locked.as_ref().map(|ack| ack.nonce_self) == Some(nonce);
        self.way(way)
            .is_some_and(|at| at.has_seen(nonce) || acknowledged(at))
    }

    /// Whether anybody has said anything at one of the addresses.
    pub(crate) fn was_heard(&self) -> bool {
        self.ways()
            .any(|at| at.is_struck || at.any_remote().is_some())
    }

    /// The greeting of the host with this nonce, which is the remote host. Empty if its request is not
    /// among those that are remembered.
    pub(crate) fn take_greeting(&mut self, nonce: u64) -> Box<[u8]> {
        let greeting = self.ways_mut().find_map(|at| at.take_greeting(nonce));
        greeting.unwrap_or_default()
    }

    /// Whether the host with this nonce is a listener.
    pub(crate) fn is_cookie(&self, nonce: u64) -> bool {
        self.ways().any(|at| at.is_cookie(nonce))
    }

    /// The port of an address is closed. Whether that is new.
    pub(crate) fn note_closed(&mut self, way: usize) -> bool {
        let bit = u32::try_from(way)
            .ok()
            .and_then(|way| 1_u8.checked_shl(way));
        let bit = bit.unwrap_or(0) & !self.closed;
        self.closed |= bit;
        bit != 0
    }

    /// Strikes an address off, and all where this nonce was seen: whoever is there does not want
    /// us. Whether none is left.
    pub(crate) fn strike(&mut self, way: usize, nonce: Option<u64>) -> bool {
        for (n, at) in self.ways_mut().enumerate() {
            if n == way || nonce.is_some_and(|nonce| at.has_seen(nonce)) {
                *at = Way::new();
                at.request_due = false;
                at.is_struck = true;
            }
        }
        let struck = |(favourite, _)| self.way(favourite).is_none_or(|at| at.is_struck);
        if self.favourite.is_some_and(struck) {
            self.favourite = None;
        }
        self.ways().all(|at| at.is_struck)
    }
}

#[cfg(test)]
mod tests;
