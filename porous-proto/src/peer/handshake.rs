//! The connecting peer of a host that called `connect` (§2.3): it asks until it is acknowledged,
//! and remembers whose requests it has seen. It asks at one address or at several, which are
//! numbered here: all belong to one attempt with one random id, so that whatever addresses the two
//! hosts find each other by, it is the same connection (`docs/wire.md`, "Several addresses").

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;

use arrayvec::ArrayVec;

use super::settings::{Identity, Role};
use crate::event::DisconnectReason;
use crate::frame::{Connect, Offer, Refusal, Request};
use crate::time::Instant;
use crate::transfer::Written;
use crate::wire::NoRoom;

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

/// Remote hosts that may be remembered at a time.
const CANDIDATES_MAX: usize = 4;

/// A request that came from the remote address.
#[derive(Debug)]
struct Candidate {
    request: Connect,
    greeting: Box<[u8]>,
    /// It echoes our own nonce: its sender has seen our request.
    echoed: bool,
}

/// One of the addresses that are tried, and what has come from it.
#[derive(Debug)]
struct Way {
    candidates: ArrayVec<Candidate, CANDIDATES_MAX>,
    /// The newest cookie that a listener gave us.
    cookie: Option<u64>,
    /// The newest acknowledgement of our own nonce (`deviations.md` C4).
    locked: Option<Connect>,
    /// Somebody else asked since then: the remote host may have given up the attempt that
    /// acknowledged us, and begun another.
    contested: bool,
    /// A request is to be sent there (again).
    request_due: bool,
    /// The host that is there has refused, or given up.
    is_struck: bool,
    /// Nobody was bound to the port, and that was told.
    is_closed: bool,
    /// Nonces of requests to be acknowledged, one acknowledgement each.
    acks: ArrayVec<u64, CANDIDATES_MAX>,
}

impl Way {
    const fn new() -> Self {
        Self {
            candidates: ArrayVec::new_const(),
            cookie: None,
            locked: None,
            contested: false,
            request_due: true,
            is_struck: false,
            is_closed: false,
            acks: ArrayVec::new_const(),
        }
    }

    fn acknowledge(&mut self, nonce: u64) {
        if !self.acks.contains(&nonce) && !self.acks.is_full() {
            self.acks.push(nonce);
        }
    }

    /// What echoes our nonce is never evicted by what does not.
    fn remember(&mut self, request: &Request<'_>, echoed: bool) {
        let nonce = request.connect.nonce_self;
        if self.has_seen(nonce) {
            return;
        }
        if self.candidates.is_full() {
            let victim = self.candidates.iter().position(|other| !other.echoed);
            let Some(victim) = victim.or_else(|| echoed.then_some(0)) else {
                return;
            };
            self.candidates.remove(victim);
        }
        self.contested |= self
            .locked
            .as_ref()
            .is_some_and(|ack| ack.nonce_self != nonce);
        self.candidates.push(Candidate {
            request: request.connect.clone(),
            greeting: request.greeting.into(),
            echoed,
        });
    }

    /// Whether a request with this nonce has come.
    fn has_seen(&self, nonce: u64) -> bool {
        self.candidates
            .iter()
            .any(|candidate| candidate.request.nonce_self == nonce)
    }

    /// The remote host that a short datagram can only have come from: the one that has acknowledged
    /// us, or else the only one whose request was seen. Such a datagram stands for what is missing,
    /// the request or the acknowledgement (`docs/deviations.md` C9). None if it is not clear who that
    /// is: our next request is acknowledged again.
    fn sole_candidate(&self) -> Option<&Connect> {
        match (self.candidates.as_slice(), &self.locked) {
            (_, Some(locked)) => Some(locked).filter(|_| !self.contested),
            ([only], None) if !only.request.cookie => Some(&only.request),
            _ => None,
        }
    }

    /// A nonce of the remote host, for telling it that we give up.
    fn any_remote(&self) -> Option<u64> {
        let locked = self.locked.as_ref().map(|ack| ack.nonce_self);
        locked
            .or(self.cookie)
            .or_else(|| self.candidates.first().map(|c| c.request.nonce_self))
    }
}

/// A handshake under way.
#[derive(Debug)]
pub(crate) struct Handshake {
    /// When the next round of requests begins.
    pub(super) retry: Instant,
    interval: Duration,
    /// What the next interval is longer or shorter by is drawn from this.
    draw: u64,
    /// What our application says with its requests; empty if that is nothing.
    greeting: Box<[u8]>,
    /// The remote host connects to us, as we to it: until when we ask often,
    punching: Option<Instant>,
    /// and how often, unless more comes.
    punches: u8,
    /// The address that brought the first cookie, and until when it is alone.
    favourite: Option<(usize, Instant)>,
    /// One at least.
    ways: Vec<Way>,
    /// The address that the attempt has come to, once it has.
    pub(crate) winner: usize,
    /// The last refusal from one of several addresses.
    pub(super) refusal: Option<Refusal>,
}

impl Handshake {
    /// An attempt at this number of addresses, at least one, with this greeting. `draw`: a number that
    /// no other attempt has.
    pub(crate) fn new(ways: usize, greeting: &[u8], draw: u64) -> Self {
        Self {
            retry: Instant::NEVER,
            interval: INTERVAL_MIN,
            draw,
            greeting: greeting.into(),
            punching: None,
            punches: 0,
            favourite: None,
            ways: (0..ways).map(|_| Way::new()).collect(),
            winner: 0,
            refusal: None,
        }
    }

    /// Whether there are several addresses.
    pub(super) fn is_choice(&self) -> bool {
        self.ways.len() > 1
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) {
        if self.retry <= now {
            self.retry = Instant::NEVER;
            self.begin_round();
        }
    }

    /// It is time for requests to all addresses.
    fn begin_round(&mut self) {
        for way in &mut self.ways {
            way.request_due = !way.is_struck;
        }
    }

    /// Writes the next datagram: to which address.
    pub(super) fn write(
        &mut self,
        own: &Identity,
        ours: &Offer,
        request_size: usize,
        now: Instant,
        buf: &mut [u8],
    ) -> Result<Option<(usize, Written)>, NoRoom> {
        if let Some((way, nonce)) = self.next_ack() {
            let len = own.acknowledge(nonce, ours, Role::Leader, buf)?;
            return Ok(Some((way, Written::plain(len))));
        }
        let Some((way, cookie)) = self.next_request(now) else {
            return Ok(None);
        };
        let connect = own.connect(cookie.unwrap_or(0), ours, Role::Leader);
        // An echoed cookie is acknowledged and repeated in one datagram (§2.3).
        let start = match cookie {
            Some(_) => connect.encode_acknowledge(buf)?,
            None => 0,
        };
        let rest = buf.get_mut(start..).ok_or(NoRoom)?;
        let len = start + connect.encode_request(&self.greeting, rest)?;
        let padded = len.max(request_size);
        buf.get_mut(len..padded).ok_or(NoRoom)?.fill(0);
        Ok(Some((way, Written::plain(padded))))
    }

    /// The address of the request that is to be sent now, and the cookie that it brings back. After
    /// the last one of a round the time of the next round is set.
    fn next_request(&mut self, now: Instant) -> Option<(usize, Option<u64>)> {
        let (way, cookie) = self.due(now).next()?;
        self.ways[way].request_due = false;
        if self.due(now).next().is_none() {
            self.retry = self.next_retry(now);
        }
        Some((way, cookie))
    }

    /// The addresses that are to be asked now, and the cookies that are brought back.
    fn due(&self, now: Instant) -> impl Iterator<Item = (usize, Option<u64>)> {
        let held = move |way: usize| {
            let other = |(favourite, until)| favourite != way && now < until;
            self.favourite.is_some_and(other)
        };
        let due =
            move |&(way, at): &(usize, &Way)| at.request_due && !(at.cookie.is_some() && held(way));
        let ways = self.ways.iter().enumerate().filter(due);
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
    pub(super) fn on_request(&mut self, way: usize, request: &Request<'_>, own: u64, now: Instant) {
        let connect = &request.connect;
        if !connect.cookie {
            let soon = self.punch(now).unwrap_or(Instant::NEVER);
            self.retry = self.retry.min(soon);
        }
        let Some(at) = self.ways.get_mut(way) else {
            return;
        };
        let echoed = connect.nonce_peer == own;
        if connect.cookie {
            at.cookie = Some(connect.nonce_self);
            at.request_due = !at.is_struck;
        } else {
            at.is_struck = false; // a new attempt of a host that had refused or given up
            at.acknowledge(connect.nonce_self);
        }
        at.remember(request, echoed);
        if connect.cookie {
            self.favourite.get_or_insert((way, now + ALONE));
        }
    }

    /// A request without a cookie has come: the time of our next one at the latest, for a second from
    /// the first such request on.
    fn punch(&mut self, now: Instant) -> Option<Instant> {
        let until = *self.punching.get_or_insert(now + PUNCH_TIME);
        let begins = self.punches == 0 && now < until;
        self.punches = (self.punches + PUNCHES).min(PUNCHES_MAX) - u8::from(begins);
        begins.then(|| now + PUNCH_INTERVAL)
    }

    /// The next acknowledgement to be sent: where, and of which nonce.
    fn next_ack(&mut self) -> Option<(usize, u64)> {
        let mut ways = self.ways.iter_mut().enumerate();
        ways.find_map(|(way, at)| Some((way, at.acks.pop_at(0)?)))
    }

    /// Whether a request was seen and not acknowledged.
    pub(super) fn owes_ack(&self) -> bool {
        self.ways.iter().any(|at| !at.acks.is_empty())
    }

    /// Whether a request with this nonce has come.
    pub(super) fn has_seen(&self, nonce: u64) -> bool {
        self.ways.iter().any(|at| at.has_seen(nonce))
    }

    /// An acknowledgement of our own nonce came: the newest one decides who the remote host is.
    pub(super) fn on_acknowledge(&mut self, way: usize, ack: &Connect) {
        if let Some(at) = self.ways.get_mut(way) {
            (at.locked, at.contested) = (Some(ack.clone()), false);
        }
    }

    /// The remote host, and the address where it is: once a request of it has come, from anywhere,
    /// and from there an acknowledgement, in either order (Figure 2).
    pub(super) fn established(&self) -> Option<(usize, Connect)> {
        let mut ways = self.ways.iter().enumerate();
        ways.find_map(|(way, at)| {
            let ack = at.locked.as_ref()?;
            let is_known = self.has_seen(ack.nonce_self);
            is_known.then(|| (way, ack.clone()))
        })
    }

    /// See [`Way::sole_candidate`].
    pub(super) fn sole_candidate(&self, way: usize) -> Option<&Connect> {
        self.ways.get(way)?.sole_candidate()
    }

    /// The hosts that were met, one at each address, by their nonces: for telling them that nothing
    /// comes of the attempt.
    pub(crate) fn remotes(&self) -> impl Iterator<Item = (usize, u64)> {
        let ways = self.ways.iter().enumerate();
        ways.filter_map(|(way, at)| Some((way, at.any_remote()?)))
    }

    /// Whether the host with this nonce has been heard at an address.
    pub(crate) fn has_heard(&self, way: usize, nonce: u64) -> bool {
        let acknowledged = |at: &Way| at.locked.as_ref().map(|ack| ack.nonce_self) == Some(nonce);
        let heard = |at: &Way| at.has_seen(nonce) || acknowledged(at);
        self.ways.get(way).is_some_and(heard)
    }

    /// Why nothing came of the attempt in its time. One of several addresses may have said why not.
    pub(super) fn why_nothing_came(&self) -> DisconnectReason {
        let said = |at: &Way| at.is_struck || at.any_remote().is_some();
        match self.refusal {
            Some(refusal) => DisconnectReason::Refused(refusal),
            None if self.ways.iter().any(said) => DisconnectReason::Unfinished,
            None => DisconnectReason::NeverAnswered,
        }
    }

    /// The greeting of the host with this nonce, which is the remote host. Empty if its request is not
    /// among those that are remembered.
    pub(super) fn take_greeting(&mut self, nonce: u64) -> Box<[u8]> {
        let mut met = self.ways.iter_mut().flat_map(|at| &mut at.candidates);
        let remote = met.find(|it| it.request.nonce_self == nonce);
        remote
            .map(|it| core::mem::take(&mut it.greeting))
            .unwrap_or_default()
    }

    /// Whether the host with this nonce is a listener: a request has come in which this was a cookie.
    pub(super) fn is_cookie(&self, nonce: u64) -> bool {
        let mut met = self.ways.iter().flat_map(|at| &at.candidates);
        met.any(|it| it.request.cookie && it.request.nonce_self == nonce)
    }

    /// The port of an address is closed. Whether that is new.
    pub(super) fn note_closed(&mut self, way: usize) -> bool {
        let at = self.ways.get_mut(way);
        at.is_some_and(|at| !core::mem::replace(&mut at.is_closed, true))
    }

    /// Strikes an address off, and all where this nonce was seen: the host that is there does not want
    /// us. Whether none is left.
    pub(super) fn strike(&mut self, way: usize, nonce: Option<u64>) -> bool {
        for (n, at) in self.ways.iter_mut().enumerate() {
            if n == way || nonce.is_some_and(|nonce| at.has_seen(nonce)) {
                *at = Way {
                    request_due: false,
                    is_struck: true,
                    is_closed: at.is_closed,
                    ..Way::new()
                };
            }
        }
        let struck = |(favourite, _): (usize, _)| self.ways[favourite].is_struck;
        if self.favourite.is_some_and(struck) {
            self.favourite = None;
        }
        self.ways.iter().all(|at| at.is_struck)
    }
}

#[cfg(test)]
mod tests;
