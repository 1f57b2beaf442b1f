//! The connecting peer of a host that called `connect`: it sends requests until it is acknowledged, and
//! remembers whose requests it has seen (§2.3). It asks at one address or at several, which are numbered
//! here. All belong to one attempt with one random id: by whatever addresses the two hosts find each
//! other, they get the same connection (`docs/wire.md`, "Several addresses").

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;

use arrayvec::ArrayVec;

#[cfg(feature = "seal")]
use super::sealed_attempt::{Forms, SealedAttempt};
#[cfg(feature = "seal")]
use super::sealed_session::Sealed;
use super::settings::{Identity, Role};
use crate::event::DisconnectReason;
#[cfg(feature = "seal")]
use crate::frame::SecondAuth;
use crate::frame::{Connect, Offer, Refusal, Request};
use crate::time::Instant;
use crate::transfer::Written;
use crate::wire::NoRoom;

/// The first interval between rounds of requests; each is half as long again as the one before
/// (`deviations.md` C17).
const INTERVAL_MIN: Duration = Duration::from_millis(100);
/// The longest interval between rounds of requests.
const INTERVAL_MAX: Duration = Duration::from_secs(1);

/// The interval between rounds of requests while both hosts connect to each other: they ask more often,
/// so that a hole in a NAT is hit from both sides while it is open.
const PUNCH_INTERVAL: Duration = Duration::from_millis(50);
/// The time for which requests may come in short intervals, from the remote host's first request on.
const PUNCH_TIME: Duration = Duration::from_secs(1);

/// The number of our requests that one request of the remote host makes come sooner. That one may be
/// forged, and a forger must not make this host send much more than it has sent itself.
const PUNCHES: u8 = 2;

/// The most such requests that may wait: those of a second.
const PUNCHES_MAX: u8 = 20;

/// The time for which only the first address that gave a cookie gets it back (RFC 8305 §5): if other
/// listeners are at the other addresses, they need not make peers that nothing comes of.
const ALONE: Duration = Duration::from_millis(250);

/// The most remote hosts that an attempt remembers for each address.
const CANDIDATES_MAX: usize = 4;

/// A request that came from an address of the attempt.
#[derive(Debug)]
struct Candidate {
    request: Connect,
    greeting: Box<[u8]>,
    /// The request as it came, which a sealed handshake binds; empty in other attempts.
    #[cfg(feature = "seal")]
    form: Box<[u8]>,
    /// True if it came, perhaps again, after the last request that was sent for it.
    #[cfg(feature = "seal")]
    is_due: bool,
    /// True if it echoes our own nonce: its sender has seen our request.
    echoed: bool,
}

/// One of the addresses that are tried, and what has come from there.
#[derive(Debug)]
struct Way {
    candidates: ArrayVec<Candidate, CANDIDATES_MAX>,
    /// The newest cookie of a listener.
    cookie: Option<u64>,
    /// The newest acknowledgement of our own nonce (`deviations.md` C4).
    locked: Option<Connect>,
    /// True if a request with another nonce came after that acknowledgement: the remote host may have
    /// given up the attempt that acknowledged us, and begun another.
    contested: bool,
    /// True if a request is to be sent to the address (again).
    request_due: bool,
    /// True if the host at the address has refused or given up, or the system cannot send there.
    is_struck: bool,
    /// True if the host at the address has said that it has given up.
    gave_up: bool,
    /// True if the application was told that nothing is bound to the port.
    is_closed: bool,
    /// The nonces of requests to be acknowledged, with one acknowledgement each.
    acks: ArrayVec<u64, CANDIDATES_MAX>,
}

impl Way {
    const fn new() -> Self {
        Self {
            candidates: ArrayVec::new_const(),
            cookie: None,
            locked: None,
            contested: false,
            request_due: true, // the first round is due at once
            is_struck: false,
            gave_up: false,
            is_closed: false,
            acks: ArrayVec::new_const(),
        }
    }

    fn acknowledge(&mut self, nonce: u64) {
        // One that finds no room is asked for again by the next request.
        if !self.acks.contains(&nonce) && !self.acks.is_full() {
            self.acks.push(nonce);
        }
    }

    /// Remembers a request, if there is room. `echoed`: it echoes our nonce.
    fn remember(&mut self, request: &Request<'_>, echoed: bool) {
        let nonce = request.connect.nonce_self;
        if self.has_seen(nonce) {
            return;
        }
        // A request that echoes our nonce is never evicted by one that does not, which anybody could forge
        // without having seen ours. Among those that echo it the newest stay.
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
            #[cfg(feature = "seal")]
            form: Box::default(),
            #[cfg(feature = "seal")]
            is_due: false,
            echoed,
        });
    }

    /// Remembers a request whole, as a sealed handshake needs it. `echoed`: it echoes our nonce.
    #[cfg(feature = "seal")]
    fn remember_form(&mut self, request: &Request<'_>, echoed: bool) {
        let form = request.form();
        // By the whole form, and not by the nonce: a copy with another offer must not hide the true one.
        let known = (self.candidates.iter_mut()).find(|other| *other.form == *form);
        if let Some(known) = known {
            known.is_due = true;
            return;
        }
        if self.candidates.is_full() {
            // One that does not echo our nonce goes first, as anybody could forge it without having seen ours, and
            // takes no place of one that does. The host that was heard first has its turn, however many forgers
            // come behind it, and is waited for.
            let may_go = |other: &Candidate| !other.is_due && (echoed || !other.echoed);
            let blind = (self.candidates.iter()).position(|other| echoed && !other.echoed);
            let victim = blind.or_else(|| self.candidates.iter().rposition(may_go));
            let Some(victim) = victim else {
                return;
            };
            self.candidates.remove(victim);
        }
        self.candidates.push(Candidate {
            request: request.connect.clone(),
            greeting: Box::default(),
            form: form.into(),
            is_due: true,
            echoed,
        });
    }

    /// Whether requests are due to more than one host that gave a cookie.
    #[cfg(feature = "seal")]
    fn owes_several(&self) -> bool {
        let due = self.candidates.iter().filter(|candidate| candidate.is_due);
        due.count() > 1
    }

    /// An address has one host, unless the attempt is sealed.
    #[cfg(not(feature = "seal"))]
    #[expect(clippy::unused_self, reason = "as with the feature")]
    const fn owes_several(&self) -> bool {
        false
    }

    /// Whether a request with this nonce has come.
    fn has_seen(&self, nonce: u64) -> bool {
        self.candidates
            .iter()
            .any(|candidate| candidate.request.nonce_self == nonce)
    }

    /// The only remote host that a short datagram can have come from; `None` if there may be several.
    /// Such a datagram stands for what is missing, the request or the acknowledgement
    /// (`docs/deviations.md` C9).
    fn sole_candidate(&self) -> Option<&Connect> {
        match (self.candidates.as_slice(), &self.locked) {
            // Contested, it is left to the acknowledgement of our next request to tell.
            (_, Some(locked)) => Some(locked).filter(|_| !self.contested),
            ([only], None) if !only.request.cookie => Some(&only.request),
            _ => None,
        }
    }

    /// A nonce of the host at this address, to tell it that the attempt is given up.
    fn any_remote(&self) -> Option<u64> {
        let locked = self.locked.as_ref().map(|ack| ack.nonce_self);
        locked
            .or(self.cookie) // a listener that has made a peer knows it by this
            .or_else(|| self.candidates.first().map(|c| c.request.nonce_self))
    }
}

/// A handshake under way.
#[derive(Debug)]
pub(crate) struct Handshake {
    /// When the next round of requests begins.
    pub(super) retry: Instant,
    /// The next interval between rounds, before chance makes it longer or shorter.
    interval: Duration,
    /// The state of the generator of that chance.
    draw: u64,
    /// What our application says with its requests; empty if it says nothing.
    greeting: Box<[u8]>,
    /// Until when rounds may come in short intervals, as the remote host connects to us, too.
    punching: Option<Instant>,
    /// The number of rounds that still come in short intervals.
    punches: u8,
    /// The address that brought the first cookie, and until when it alone gets its cookie back.
    favourite: Option<(usize, Instant)>,
    /// The addresses, at least one.
    ways: Vec<Way>,
    /// The number of the address that the attempt has come to, once it has.
    pub(crate) winner: usize,
    /// The last refusal from one of several addresses.
    pub(super) refusal: Option<Refusal>,
    /// There if the connection is to be sealed.
    #[cfg(feature = "seal")]
    sealed: Option<Box<SealedAttempt>>,
}

impl Handshake {
    /// An attempt at `ways` addresses, at least one, with this greeting. `draw`: a number that no other
    /// attempt has.
    pub(crate) fn new(ways: usize, greeting: &[u8], draw: u64) -> Self {
        Self {
            retry: Instant::NEVER, // set at the end of the first round
            interval: INTERVAL_MIN,
            draw,
            greeting: greeting.into(),
            punching: None,
            punches: 0,
            favourite: None,
            ways: (0..ways).map(|_| Way::new()).collect(),
            winner: 0,
            refusal: None,
            #[cfg(feature = "seal")]
            sealed: None,
        }
    }

    /// The attempt at a sealed connection.
    #[cfg(feature = "seal")]
    pub(crate) fn sealed(self, sealed: SealedAttempt) -> Self {
        let sealed = Some(Box::new(sealed));
        Self { sealed, ..self }
    }

    /// Whether there are several addresses.
    pub(super) fn is_choice(&self) -> bool {
        self.ways.len() > 1
    }

    /// When [`handle_timeout`](Self::handle_timeout) has something to do.
    pub(super) fn deadline(&self) -> Instant {
        #[cfg(feature = "seal")]
        if let Some(sealed) = &self.sealed {
            return self.retry.min(sealed.due());
        }
        self.retry
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) {
        if self.retry <= now {
            self.retry = Instant::NEVER;
            self.begin_round();
        }
    }

    /// Makes requests to all addresses due that are not struck off.
    fn begin_round(&mut self) {
        for way in &mut self.ways {
            way.request_due = !way.is_struck;
        }
    }

    /// Writes the next datagram, and says to which address.
    pub(super) fn write(
        &mut self,
        own: &Identity,
        ours: &Offer,
        request_size: usize,
        now: Instant,
        buf: &mut [u8],
    ) -> Result<Option<(usize, Written)>, NoRoom> {
        // An acknowledgement may be all that the remote host waits for.
        if let Some((way, nonce)) = self.next_ack() {
            let len = own.acknowledge(nonce, ours, Role::Leader, buf)?;
            return Ok(Some((way, Written::plain(len))));
        }
        let Some((way, cookie)) = self.next_request(now) else {
            return Ok(None);
        };
        #[cfg(feature = "seal")]
        if self.sealed.is_some() {
            let len = self.write_sealed(way, own, ours, buf)?;
            let padded = pad(len, request_size, buf)?;
            return Ok(Some((way, Written::plain(padded))));
        }
        let connect = own.connect(cookie.unwrap_or(0), ours, Role::Leader);
        // An echoed cookie is acknowledged and repeated in one datagram (§2.3).
        let start = match cookie {
            Some(_) => connect.encode_acknowledge(buf)?,
            None => 0,
        };
        let rest = buf.get_mut(start..).ok_or(NoRoom)?;
        let len = start + connect.encode_request(&self.greeting, rest)?;
        let padded = pad(len, request_size, buf)?;
        Ok(Some((way, Written::plain(padded))))
    }

    /// Writes a request, with message 1 before it if it is the turn of a host that gave a cookie.
    #[cfg(feature = "seal")]
    fn write_sealed(
        &mut self,
        way: usize,
        own: &Identity,
        ours: &Offer,
        buf: &mut [u8],
    ) -> Result<usize, NoRoom> {
        let at = self.ways.get_mut(way).ok_or(NoRoom)?;
        let sealed = self.sealed.as_mut().ok_or(NoRoom)?;
        // Each that was heard is answered at once: the others may be forged.
        let due = at.candidates.iter().position(|candidate| candidate.is_due);
        let turn = due.or_else(|| sealed.take_turn(at.candidates.len()));
        let Some(candidate) = turn.and_then(|turn| at.candidates.get_mut(turn)) else {
            return own.connect_sealed(0, ours).encode_request(&[], buf);
        };
        candidate.is_due = false;
        let connect = own.connect_sealed(candidate.request.nonce_self, ours);
        // The message is made of the request that follows it.
        let form = encoded(&connect)?;
        let start = sealed.write(&connect, &candidate.forms(&form), buf)?;
        let len = start + form.len();
        let place = buf.get_mut(start..len).ok_or(NoRoom)?;
        place.copy_from_slice(&form);
        Ok(len)
    }

    /// The address of the request that is to be sent now, and the cookie that the request brings back.
    fn next_request(&mut self, now: Instant) -> Option<(usize, Option<u64>)> {
        let (way, cookie) = self.due(now).next()?;
        let at = &mut self.ways[way];
        at.request_due = at.owes_several();
        // Intervals count from the end of a round, however late the host sends.
        if self.due(now).next().is_none() {
            self.retry = self.next_retry(now);
        }
        Some((way, cookie))
    }

    /// The addresses that are to be asked now, and the cookies that the requests bring back.
    fn due(&self, now: Instant) -> impl Iterator<Item = (usize, Option<u64>)> {
        // Only cookies are held back: an address that has given none is asked as before.
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
        // By up to a quarter longer or shorter: hosts that begin together, as all do whose server comes
        // back, would otherwise ask together every time.
        let interval = self.interval;
        self.interval = (interval * 3 / 2).min(INTERVAL_MAX);
        now + interval * 3 / 4 + interval / 512 * u32::from(self.next_draw())
    }

    /// The next of 256 equally likely numbers.
    const fn next_draw(&mut self) -> u8 {
        // Knuth's linear congruential generator of 64 bits, of which only the high bits are good.
        let next = self.draw.wrapping_mul(6_364_136_223_846_793_005);
        self.draw = next.wrapping_add(1_442_695_040_888_963_407);
        self.draw.to_be_bytes()[0]
    }

    /// Takes a request from an address of the attempt. One with a cookie echoes our nonce.
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
            // Brought back at once: the next round may be a second away.
            at.cookie = Some(connect.nonce_self);
            at.request_due = !at.is_struck;
            self.favourite.get_or_insert((way, now + ALONE));
        } else {
            at.is_struck = false; // a new attempt of a host that had refused or given up
        }
        #[cfg(feature = "seal")]
        if self.sealed.is_some() {
            // Of two hosts that connect to each other the one with the smaller random id begins, and the other
            // one waits for its message.
            if connect.cookie || own < connect.nonce_self {
                at.remember_form(request, echoed);
            }
            return;
        }
        if !connect.cookie {
            at.acknowledge(connect.nonce_self);
        }
        at.remember(request, echoed);
    }

    /// Notes a request without a cookie, and gives the time of our next one if that comes sooner now.
    fn punch(&mut self, now: Instant) -> Option<Instant> {
        // For a second from the first such request on: what a forger can bring about ends.
        let until = *self.punching.get_or_insert(now + PUNCH_TIME);
        let begins = self.punches == 0 && now < until;
        self.punches = (self.punches + PUNCHES).min(PUNCHES_MAX) - u8::from(begins);
        begins.then(|| now + PUNCH_INTERVAL)
    }

    /// The next acknowledgement to be sent: to which address, and of which nonce.
    fn next_ack(&mut self) -> Option<(usize, u64)> {
        let mut ways = self.ways.iter_mut().enumerate();
        ways.find_map(|(way, at)| Some((way, at.acks.pop_at(0)?)))
    }

    /// Whether a request has come that was not acknowledged.
    pub(super) fn owes_ack(&self) -> bool {
        self.ways.iter().any(|at| !at.acks.is_empty())
    }

    /// Whether a request with this nonce has come.
    pub(super) fn has_seen(&self, nonce: u64) -> bool {
        self.ways.iter().any(|at| at.has_seen(nonce))
    }

    /// Takes an acknowledgement of our own nonce.
    pub(super) fn on_acknowledge(&mut self, way: usize, ack: &Connect) {
        // The newest one tells which host the remote one is: an earlier one may be of an attempt that was
        // given up since (C4).
        if let Some(at) = self.ways.get_mut(way) {
            (at.locked, at.contested) = (Some(ack.clone()), false);
        }
    }

    /// The remote host and its address, if the two hosts know each other (Figure 2).
    pub(super) fn established(&self) -> Option<(usize, Connect)> {
        // A request from any address tells who the host is. An acknowledgement, before or after it, has
        // sent our nonce back from the address that counts.
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

    /// The hosts that were met, one at each address, by their nonces: they have to be told if nothing
    /// comes of the attempt.
    pub(crate) fn remotes(&self) -> impl Iterator<Item = (usize, u64)> {
        let ways = self.ways.iter().enumerate();
        ways.filter_map(|(way, at)| Some((way, at.any_remote()?)))
    }

    /// Whether a request or an acknowledgement with this nonce has come from an address.
    pub(crate) fn has_heard(&self, way: usize, nonce: u64) -> bool {
        let acknowledged = |at: &Way| at.locked.as_ref().map(|ack| ack.nonce_self) == Some(nonce);
        let heard = |at: &Way| at.has_seen(nonce) || acknowledged(at);
        self.ways.get(way).is_some_and(heard)
    }

    /// The refusal that tells why nothing came of the attempt, if there is one: also one that was not believed while
    /// somebody might still have proved to be meant.
    pub(super) fn refused(&self) -> Option<Refusal> {
        #[cfg(feature = "seal")]
        if let Some(sealed) = &self.sealed {
            return self.refusal.or_else(|| sealed.doubted());
        }
        self.refusal
    }

    /// Why nothing came of the attempt in its time.
    pub(super) fn why_nothing_came(&self) -> DisconnectReason {
        // One of several addresses may have refused: that tells more than the silence of the others.
        let said = |at: &Way| at.gave_up || at.any_remote().is_some();
        #[cfg(feature = "seal")]
        if self.sealed.as_ref().is_some_and(|sealed| sealed.has_failed) {
            return DisconnectReason::Refused(Refusal::Security);
        }
        match self.refused() {
            Some(refusal) => DisconnectReason::Refused(refusal),
            None if self.ways.iter().any(said) => DisconnectReason::Unfinished,
            None => DisconnectReason::NeverAnswered,
        }
    }

    /// Takes out the greeting of the host with this nonce, which is the remote host. Empty if its request
    /// was not remembered.
    pub(super) fn take_greeting(&mut self, nonce: u64) -> Box<[u8]> {
        let mut met = self.ways.iter_mut().flat_map(|at| &mut at.candidates);
        let remote = met.find(|it| it.request.nonce_self == nonce);
        remote
            .map(|it| core::mem::take(&mut it.greeting))
            .unwrap_or_default()
    }

    /// Whether the host with this nonce is a listener: this nonce came as a cookie.
    pub(super) fn is_cookie(&self, nonce: u64) -> bool {
        let mut met = self.ways.iter().flat_map(|at| &at.candidates);
        met.any(|it| it.request.cookie && it.request.nonce_self == nonce)
    }

    /// Notes that the port of an address is closed. Whether that is new.
    pub(super) fn note_closed(&mut self, way: usize) -> bool {
        let at = self.ways.get_mut(way);
        at.is_some_and(|at| !core::mem::replace(&mut at.is_closed, true))
    }

    /// Strikes an address off, and all from which a request with this nonce has come: the host there does
    /// not want a connection. Whether no address is left.
    pub(super) fn strike(&mut self, way: usize, nonce: Option<u64>, now: Instant) -> bool {
        for (n, at) in self.ways.iter_mut().enumerate() {
            if n == way || nonce.is_some_and(|nonce| at.has_seen(nonce)) {
                // Nothing that came from it counts any more, neither for the outcome nor for goodbyes.
                *at = Way {
                    request_due: false,
                    is_struck: true,
                    gave_up: at.gave_up || nonce.is_some(),
                    is_closed: at.is_closed,
                    ..Way::new()
                };
            }
        }
        // The others need not wait any longer: the next cookie to come has the time to itself.
        let struck = |(favourite, _): (usize, _)| self.ways[favourite].is_struck;
        if self.favourite.is_some_and(struck) {
            self.favourite = None;
        }
        // It may have been the last one of a round that was to be asked: then the round ends here.
        if self.retry.is_never() && self.due(now).next().is_none() {
            self.retry = self.next_retry(now);
        }
        self.ways.iter().all(|at| at.is_struck)
    }
}

/// What a sealed handshake adds.
#[cfg(feature = "seal")]
impl Handshake {
    /// Whether the connection is to be sealed: then nothing that is said in plain makes it.
    pub(super) const fn is_sealed(&self) -> bool {
        self.sealed.is_some()
    }

    /// The attempt at a sealed connection, if this is one.
    pub(super) fn sealing(&self) -> Option<&SealedAttempt> {
        self.sealed.as_deref()
    }

    /// Notes that a host could not prove that it is the one that was meant.
    pub(super) fn note_failure(&mut self) {
        if let Some(sealed) = &mut self.sealed {
            sealed.has_failed = true;
        }
    }

    /// Whether a host that offers this can be sealed with, or need not be.
    pub(super) fn suits(&self, ours: &Offer, theirs: &Offer) -> bool {
        let sealed = self.sealed.as_ref();
        sealed.is_none_or(|sealed| sealed.suits(ours, theirs))
    }

    /// Opens message 2, which came from some address: what the handshake has come to, who the remote host
    /// is, and what it says. `None` if it does not open.
    pub(super) fn finish(
        &mut self,
        own: &Identity,
        ours: &Offer,
        second: &SecondAuth<'_>,
        now: Instant,
    ) -> Option<(Sealed, Connect, Vec<u8>)> {
        if !self.sealed.as_mut()?.may_look(now) {
            return None;
        }
        let own = own.connect_sealed(second.nonce_self, ours);
        let form = encoded(&own).ok()?;
        let sealed = self.sealed.as_mut()?;
        let met = self.ways.iter().flat_map(|at| &at.candidates);
        let mut same = met.filter(|it| it.request.nonce_self == second.nonce_self);
        let found = same.find_map(|candidate| {
            let forms = candidate.forms(&form);
            let (sealed, connection_id, said) = sealed.finish(&own.offer, &forms, second)?;
            let remote = Connect {
                cookie: false,
                connection_id,
                ..candidate.request.clone()
            };
            Some((sealed, remote, said))
        });
        sealed.has_failed |= found.is_none();
        found
    }

    /// Whether a refusal from this address has to wait, as anybody may have forged it.
    pub(super) fn doubts(&mut self, way: usize, refusal: Refusal, now: Instant) -> bool {
        let Some(sealed) = &mut self.sealed else {
            return false;
        };
        let at = self.ways.get_mut(way).filter(|at| !at.is_struck);
        if let (true, Some(at)) = (sealed.doubt(way, refusal, now), at) {
            // The cookie may have been forged, and the refusal be the answer to what was made of it.
            sealed.turn_to(at.candidates.len());
            at.request_due = true;
        }
        true
    }

    /// The next refusal that has waited for long enough, and the address that it came from.
    pub(super) fn next_refusal(&mut self, now: Instant) -> Option<(usize, Refusal)> {
        self.sealed.as_mut()?.next_refusal(now)
    }
}

#[cfg(feature = "seal")]
impl Candidate {
    /// The forms that a handshake with this host binds. `ours`: our request.
    fn forms<'a>(&'a self, ours: &'a [u8]) -> Forms<'a> {
        Forms {
            ours,
            theirs: &self.form,
            offer: &self.request.offer,
        }
    }
}

/// A request, without a greeting.
#[cfg(feature = "seal")]
pub(crate) fn encoded(request: &Connect) -> Result<Vec<u8>, NoRoom> {
    let mut form = alloc::vec![0; request.encoded_length(&[])];
    request.encode_request(&[], &mut form)?;
    Ok(form)
}

/// Pads a request of `len` bytes with zeros, or the remote host does not answer: no answer is longer than its
/// request (C1). Returns the new length.
fn pad(len: usize, request_size: usize, buf: &mut [u8]) -> Result<usize, NoRoom> {
    let padded = len.max(request_size);
    buf.get_mut(len..padded).ok_or(NoRoom)?.fill(0);
    Ok(padded)
}

#[cfg(test)]
mod tests;
