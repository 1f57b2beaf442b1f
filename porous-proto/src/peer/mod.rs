//! A peer object. It holds no address, no random source and no reference to another peer (§2.2).

mod agreement;
mod application;
mod connected;
mod disconnect;
mod effort;
mod handshake;
mod outbox;
#[cfg(feature = "seal")]
mod sealed_attempt;
#[cfg(feature = "seal")]
mod sealed_session;
#[cfg(feature = "seal")]
mod sealing;
mod session;
mod settings;
mod state;

use alloc::boxed::Box;
use core::time::Duration;

pub(crate) use self::agreement::Agreement;
use self::application::Books;
use self::connected::{Connected, Flush};
pub(crate) use self::disconnect::LINGER;
use self::disconnect::{Answer, Disconnecting};
pub(crate) use self::handshake::Handshake;
#[cfg(feature = "seal")]
pub(crate) use self::handshake::encoded;
pub(crate) use self::outbox::News;
use self::outbox::Outbox;
#[cfg(feature = "seal")]
pub(crate) use self::sealed_attempt::SealedAttempt;
#[cfg(feature = "seal")]
pub(crate) use self::sealed_session::{Sealed, Side};
#[cfg(feature = "seal")]
pub(crate) use self::sealing::Met;
use self::session::Session;
use self::settings::{Excuses, Role};
pub(crate) use self::settings::{Identity, Settings, Tick};
pub(crate) use self::state::Cause;
pub use self::state::PeerState;
use self::state::Phase;
use crate::buffers::Memory;
use crate::config::{Config, Timeouts};
use crate::event::{Disconnect, DisconnectReason, Ecn, Ignored};
use crate::frame::{Connect, Refusal, RefusalData, Request, Short};
#[cfg(feature = "seal")]
use crate::seal::Secured;
use crate::time::Instant;
use crate::transfer::{Narrowed, PathWords, Written};
use crate::wire::NoRoom;

/// A connection to a remote host, or what is left of one (§2.2).
#[derive(Debug)]
pub struct Peer {
    phase: Phase,
    identity: Identity,
    role: Role,
    timeouts: Timeouts,
    /// What the remote application said with its request.
    greeting: Box<[u8]>,
    /// There if the connection is sealed.
    #[cfg(feature = "seal")]
    secured: Option<Box<Secured>>,
    /// True if the remote host's request is to be answered (again): by an acknowledgement while there is
    /// a connection, by a goodbye or a refusal when that is over.
    answer_due: bool,
    excuses: Excuses,
    books: Books,
    outbox: Outbox,
}

impl Peer {
    fn new(phase: Phase, identity: Identity, timeouts: Timeouts, role: Role) -> Self {
        Self {
            phase,
            identity,
            role,
            timeouts,
            greeting: Box::default(),
            #[cfg(feature = "seal")]
            secured: None,
            answer_due: false,
            excuses: Excuses::default(),
            books: Books::new(),
            outbox: Outbox::default(),
        }
    }

    /// A peer that we connect to.
    pub(crate) fn outgoing(
        now: Instant,
        identity: Identity,
        timeouts: Timeouts,
        handshake: Handshake,
    ) -> Self {
        let phase = Phase::Attempt {
            handshake: Box::new(handshake),
            ends: now + timeouts.connect_timeout,
        };
        Self {
            outbox: Outbox::known(), // `connect` has told the application of it
            ..Self::new(phase, identity, timeouts, Role::Leader)
        }
    }

    /// A peer that connects to us, whose remote host has proved that it receives at its address. The
    /// caller [admits](Self::admit) it, or has the application [asked](Self::ask).
    pub(crate) fn incoming(
        now: Instant,
        identity: Identity,
        request: &Request<'_>,
        agreement: Agreement,
        config: &Config,
    ) -> Self {
        // The session is made before the application decides: the request is not kept.
        let phase = Phase::Newcomer {
            session: Session::new(&identity, &request.connect, agreement, config),
            asked: true,
            ends: now + config.timeouts.connect_timeout,
        };
        Self {
            greeting: request.greeting.into(),
            ..Self::new(phase, identity, config.timeouts, Role::Listener)
        }
    }

    /// Seals the connection of a newcomer, whose message 1 said this in the place of its greeting.
    #[cfg(feature = "seal")]
    pub(crate) fn seal(&mut self, sealed: Sealed, greeting: &[u8], first: u64, now: Instant) {
        self.secured = Some(sealed.secured());
        self.greeting = greeting.into();
        if let Some(session) = self.phase.session_mut() {
            session.seal(sealed, first, now);
        }
    }

    /// Every change of state, by Figure 1: `next` makes the new phase of the old one. False if the cause
    /// means nothing in this state.
    fn enter(&mut self, cause: Cause, next: impl FnOnce(Phase) -> Phase) -> bool {
        let Some(state) = self.state().after(cause) else {
            return false;
        };
        self.phase = next(core::mem::take(&mut self.phase));
        debug_assert_eq!(self.state(), state, "{cause:?}");
        if state == PeerState::Connected {
            self.outbox.on_connected();
        }
        true
    }

    // Getting connected (§2.3).

    /// Has the application asked whether it wants this peer.
    pub(crate) const fn ask(&mut self) {
        self.outbox.on_request();
    }

    /// Grants the request. `pending`: true if the peer has to prove itself by a datagram of the new
    /// connection.
    pub(crate) fn admit(&mut self, pending: bool, now: Instant) {
        if let Phase::Newcomer { asked, ends, .. } = &mut self.phase {
            (*asked, self.answer_due) = (false, true);
            *ends = now + self.timeouts.connect_timeout; // the application's time to decide does not count
        }
        if !pending {
            self.establish(None, now);
        }
    }

    /// Establishes the connection: a newcomer has proved itself or need not, or an attempt has `found`
    /// its remote host.
    fn establish(&mut self, found: Option<Box<Session>>, now: Instant) {
        let timeout = self.timeouts.timeout;
        self.enter(Cause::Established, |phase| {
            let (session, attempt) = match (phase, found) {
                (Phase::Newcomer { session, .. }, _) => (session, None),
                (Phase::Attempt { handshake, .. }, Some(session)) => (session, Some(handshake)),
                (other, _) => return other,
            };
            // With one address there is nothing to choose, and nobody to turn down.
            let ways = attempt.filter(|attempt| attempt.is_choice());
            Phase::Connected(Connected::new(session, ways, now, timeout))
        });
    }

    /// Refuses the request. The peer lingers, so that a repeated request is refused again.
    pub(crate) fn refuse(&mut self, said: RefusalData, now: Instant) {
        let refusal = Refusal::Application(said);
        self.turn_away(refusal, DisconnectReason::Refused(refusal), now);
    }

    /// As [`refuse`](Self::refuse), with what the remote host is told, and the reason that our own
    /// application is.
    fn turn_away(&mut self, refusal: Refusal, reason: DisconnectReason, now: Instant) {
        self.end(Cause::Refused, reason, now);
        if let Phase::Disconnected(ended) = &mut self.phase {
            ended.answer = Answer::Refusal(Box::new(refusal));
            self.answer_due = true;
        }
    }

    /// The handshake of an attempt, as long as that has no outcome.
    fn attempt(&mut self) -> Option<&mut Handshake> {
        let Phase::Attempt { handshake, .. } = &mut self.phase else {
            return None;
        };
        Some(handshake)
    }

    /// Takes a request from an address of this peer, which is an attempt.
    pub(crate) fn on_request(
        &mut self,
        way: usize,
        request: &Request<'_>,
        ours: &Settings,
        now: Instant,
    ) {
        let own = self.identity.nonce;
        #[cfg(feature = "seal")]
        if (self.attempt()).is_some_and(|it| !it.suits(&ours.offer, &request.connect.offer)) {
            return self.on_refused(way, Refusal::Security, now);
        }
        if let Some(handshake) = self.attempt() {
            handshake.on_request(way, request, own, now);
            self.try_establish(ours, now);
        }
    }

    /// Takes an acknowledgement of our nonce. One that echoes another nonce is ignored
    /// (`deviations.md` C3).
    pub(crate) fn on_acknowledge(
        &mut self,
        way: usize,
        ack: &Connect,
        ours: &Settings,
        now: Instant,
    ) {
        #[cfg(feature = "seal")]
        if self.attempt().is_some_and(|it| it.is_sealed()) {
            return; // nothing that is said in plain makes a sealed connection
        }
        if let Some(handshake) = self.attempt() {
            handshake.on_acknowledge(way, ack);
            self.try_establish(ours, now);
        }
    }

    fn try_establish(&mut self, ours: &Settings, now: Instant) {
        let Some((way, remote)) = self.attempt().and_then(|it| it.established()) else {
            return;
        };
        match self.session_with(&remote, ours) {
            Some(session) => self.accept_remote(way, &remote, session, now),
            // The two hosts have met, and cannot talk: as if the other one had refused.
            None => {
                let application_id = remote.offer.application;
                self.on_refused(way, Refusal::Incompatible { application_id }, now);
            }
        }
    }

    /// A session with this remote host; `None` if its application is another one.
    fn session_with(&self, remote: &Connect, ours: &Settings) -> Option<Box<Session>> {
        let agreement = Agreement::new(&self.identity.offer(&ours.offer), &remote.offer)?;
        #[cfg(feature = "seal")]
        let agreement = if self.is_sealed_attempt() {
            agreement.sealed()
        } else {
            agreement
        };
        let (own, config) = (&self.identity, &ours.config);
        Some(Session::new(own, remote, agreement, config))
    }

    #[cfg(feature = "seal")]
    const fn is_sealed_attempt(&self) -> bool {
        matches!(&self.phase, Phase::Attempt { handshake, .. } if handshake.is_sealed())
    }

    /// Ends the attempt with this remote host, at this address.
    fn accept_remote(&mut self, way: usize, remote: &Connect, session: Box<Session>, now: Instant) {
        let Phase::Attempt { handshake, .. } = &mut self.phase else {
            return;
        };
        handshake.winner = way;
        // The host with the smaller nonce follows; of a listener and the host that connects to it, the
        // listener does (D11).
        let nonce = remote.nonce_self;
        if self.identity.nonce < nonce && !handshake.is_cookie(nonce) {
            self.role = Role::Follower;
        }
        self.greeting = handshake.take_greeting(nonce);
        // Several requests of the remote host may wait: one acknowledgement serves for all.
        self.answer_due |= handshake.owes_ack();
        self.establish(Some(session), now);
    }

    /// The attempt that the connection came of, if it had several addresses: once, when the connection
    /// is established.
    pub(crate) const fn take_ways(&mut self) -> Option<Box<Handshake>> {
        let Phase::Connected(connected) = &mut self.phase else {
            return None;
        };
        connected.ways.take()
    }

    /// Takes the request of this connection once more: our answer was lost.
    pub(crate) fn on_repeated_request(&mut self) {
        self.answer_due |= !self.is_asked(); // without an answer of the application there is none
    }

    /// Whether the request is to be answered (again).
    pub(crate) const fn is_answer_due(&self) -> bool {
        self.answer_due
    }

    /// Takes a refusal from this address, which names our nonce. The attempt ends when all have refused.
    pub(crate) fn on_refused(&mut self, way: usize, refusal: Refusal, now: Instant) {
        #[cfg(feature = "seal")]
        if (self.attempt()).is_some_and(|it| it.doubts(way, refusal, now)) {
            return;
        }
        self.on_believed_refusal(way, refusal, now);
    }

    fn on_believed_refusal(&mut self, way: usize, refusal: Refusal, now: Instant) {
        let Some(handshake) = self.attempt() else {
            return;
        };
        handshake.refusal = Some(refusal);
        if handshake.strike(way, None, now) {
            self.end(Cause::Refused, DisconnectReason::Refused(refusal), now);
        }
    }

    /// Notes that the system cannot send to this address. The attempt ends when no address is left.
    pub(crate) fn on_unreachable(&mut self, way: usize, now: Instant) {
        let Some(handshake) = self.attempt() else {
            return;
        };
        if handshake.strike(way, None, now) {
            let refused = handshake.refused().map(DisconnectReason::Refused);
            let reason = refused.unwrap_or(DisconnectReason::Unreachable);
            self.end(Cause::Cancelled, reason, now);
        }
    }

    /// Notes that the port of this address is closed. Whether the application has to be told: once for
    /// each address.
    pub(crate) fn on_port_closed(&mut self, way: usize) -> bool {
        self.attempt()
            .is_some_and(|handshake| handshake.note_closed(way))
    }

    // Being connected (§2.4).

    /// Takes a short datagram with our connection id, from one of the peer's addresses: what it says of
    /// the path that it came on.
    pub(crate) fn handle_short(
        &mut self,
        way: usize,
        short: &Short<'_>,
        ecn: Ecn,
        ours: &Settings,
        tick: Tick,
        memory: &mut Memory,
    ) -> Result<PathWords, Ignored> {
        let is_asked = self.is_asked();
        let result = match &mut self.phase {
            Phase::Attempt { .. } => {
                self.take_for_acknowledgement(way, short, ecn, ours, tick, memory)
            }
            Phase::Newcomer { session, .. } if !is_asked => {
                session.handle_short(short, ecn, tick, memory)
            }
            Phase::Connected(connected) => connected.session.handle_short(short, ecn, tick, memory),
            Phase::Newcomer { .. }
            | Phase::Disconnecting(_)
            | Phase::Disconnected(_)
            | Phase::Zombie(_) => Err(Ignored::WrongState),
        };
        match result {
            Ok(_) => self.heard(tick.now),
            #[cfg(feature = "seal")]
            Err(Ignored::Unauthenticated) if self.is_worn_out() => {
                let reason = DisconnectReason::TooManyForgeries;
                self.end(Cause::TimedOut, reason, tick.now);
                return result;
            }
            // No sign of life: anybody can repeat what a peer once sent, long after it is gone.
            Err(Ignored::Duplicate) => {}
            Err(_) => return result,
        }
        self.check_flushed(tick.now); // it may acknowledge the last that a flush waits for
        result
    }

    /// Notes that a valid datagram came.
    fn heard(&mut self, now: Instant) {
        self.excuses = Excuses::default();
        #[cfg(feature = "seal")]
        if let Some(secured) = &mut self.secured {
            secured.is_heard = true;
        }
        // A newcomer proves itself by it; nothing else is established by being heard.
        if let Phase::Connected(connected) = &mut self.phase {
            connected.heard(now, self.timeouts.timeout);
        } else {
            self.establish(None, now);
        }
    }

    /// Takes a valid datagram for the acknowledgement of an attempt, if the remote host's request has told
    /// who that is (`deviations.md` C9).
    fn take_for_acknowledgement(
        &mut self,
        way: usize,
        short: &Short<'_>,
        ecn: Ecn,
        ours: &Settings,
        tick: Tick,
        memory: &mut Memory,
    ) -> Result<PathWords, Ignored> {
        #[cfg(feature = "seal")]
        if self.is_sealed_attempt() {
            return Err(Ignored::WrongState); // it came before the message that has its key
        }
        let sole = self.attempt().and_then(|it| it.sole_candidate(way));
        let remote = sole.cloned().ok_or(Ignored::WrongState)?;
        // The request may be forged, and the connection id guessed: that the sender knows our nonce is
        // proved by the check over both nonces, before anything else of the datagram is looked at.
        let session = self.session_with(&remote, ours);
        let mut session = session.ok_or(Ignored::WrongState)?;
        let words = session.handle_short(short, ecn, tick, memory)?;
        self.accept_remote(way, &remote, session, tick.now);
        Ok(words)
    }

    /// Takes a reset with the id that we send, from the remote host's address.
    pub(crate) fn on_reset(&mut self, tick: Tick) {
        if let Phase::Connected(connected) = &mut self.phase {
            connected.on_reset(tick, self.timeouts.timeout);
        }
    }

    // Disconnection (§2.5).

    /// Begins to disconnect. A peer that is still connecting is given up: the caller tells its
    /// [remotes](Self::remotes).
    pub(crate) fn disconnect(&mut self, how: Disconnect, now: Instant) {
        let (Disconnect::Flush { reason, .. } | Disconnect::Now { reason }) = how;
        let by_us = DisconnectReason::ByUs(reason);
        if self.is_asked() {
            self.turn_away(Refusal::Application(RefusalData::default()), by_us, now);
        } else if let Phase::Connected(connected) = &mut self.phase {
            let Disconnect::Flush { deadline, .. } = how else {
                return self.close(reason, now);
            };
            let ends = now + deadline;
            connected.flush = Some(Flush { reason, ends });
            self.check_flushed(now);
        } else {
            self.end(Cause::Cancelled, by_us, now); // means nothing unless it is still connecting
        }
    }

    /// Begins to disconnect, because the host is about to end. What the application has said of this peer
    /// before holds.
    pub(crate) fn drain(&mut self, reason: u32, deadline: Duration, now: Instant) {
        let mut is_flushing = false;
        if let Phase::Connected(connected) = &mut self.phase {
            is_flushing = connected.hasten_flush(now + deadline);
        }
        if self.is_asked() {
            // The remote host was told nothing yet, and had better try another server at once.
            self.turn_away(Refusal::Full, DisconnectReason::ByUs(reason), now);
        } else if !is_flushing {
            self.disconnect(Disconnect::Flush { reason, deadline }, now);
        }
    }

    /// Whether the peer has ended, and its remote host is still to be told something of that.
    pub(crate) const fn owes_answer(&self) -> bool {
        if let Phase::Disconnected(ended) | Phase::Zombie(ended) = &self.phase {
            return ended.remote.is_some() && (ended.ack_due || self.answer_due);
        }
        false
    }

    /// Goes on to disconnect once everything is flushed.
    #[inline]
    fn check_flushed(&mut self, now: Instant) {
        if let Phase::Connected(connected) = &mut self.phase {
            if let Some(reason) = connected.flushed() {
                self.close(reason, now);
            }
        }
    }

    /// Asks the remote host to disconnect, again and again until it acknowledges.
    fn close(&mut self, reason: u32, now: Instant) {
        let ends = now + self.timeouts.disconnect_timeout;
        self.answer_due |= self.enter(Cause::Close, |phase| {
            let Phase::Connected(connected) = phase else {
                return phase;
            };
            Phase::Disconnecting(Disconnecting::new(connected, reason, ends))
        });
    }

    /// Takes a disconnection request with our nonce. False if it is not from the remote host.
    pub(crate) fn on_disconnect(
        &mut self,
        way: usize,
        remote_nonce: u64,
        reason: u32,
        now: Instant,
    ) -> bool {
        let remote = Some(remote_nonce);
        let mut said = DisconnectReason::ByPeer(reason);
        if let Some(handshake) = self.attempt() {
            if !handshake.has_seen(remote_nonce) {
                return false;
            }
            // The sender may be another host than the one that is sought, which is at other addresses.
            if !handshake.strike(way, remote, now) {
                return true;
            }
        } else if self.remote_nonce() != remote {
            return false;
        } else if let Phase::Disconnecting(disconnecting) = &self.phase {
            // Both want to disconnect: each application hears the reason that it gave itself.
            said = DisconnectReason::ByUs(disconnecting.reason);
        }
        self.end(Cause::ClosedByPeer, said, now);
        if let Phase::Disconnected(ended) | Phase::Zombie(ended) = &mut self.phase {
            (ended.remote, ended.ack_due) = (remote, true);
        }
        true
    }

    /// Takes the acknowledgement of our disconnection request. False if it is not the remote host's.
    pub(crate) fn on_disconnect_ack(&mut self, remote_nonce: u64, now: Instant) -> bool {
        let known = self.remote_nonce() == Some(remote_nonce);
        if let (true, Phase::Disconnecting(disconnecting)) = (known, &self.phase) {
            let reason = DisconnectReason::ByUs(disconnecting.reason);
            self.end(Cause::CloseAcknowledged, reason, now);
        }
        known
    }

    /// Ends the peer, as a new connection of the same remote host took its place.
    pub(crate) fn replace(&mut self, now: Instant) {
        self.end(Cause::Replaced, DisconnectReason::Restarted, now);
    }

    /// Ends the peer with exactly one terminal event (`deviations.md` C10, C11). Does nothing if the peer
    /// has ended.
    fn end(&mut self, cause: Cause, reason: DisconnectReason, now: Instant) {
        let stats = self.stats(); // before the layers are gone that count them
        let ends = self.enter(cause, |phase| phase.end(cause, now));
        if let (true, Phase::Disconnected(ended) | Phase::Zombie(ended)) = (ends, &mut self.phase) {
            self.answer_due = false; // it was an answer of the connection that is over
            self.books = Books::Closed(Box::new(stats));
            self.outbox.on_ended(reason, ended.unread.as_deref_mut());
            ended.forget_if_read();
        }
    }

    // Time.

    /// When [`handle_timeout`](Self::handle_timeout) has something to do.
    pub(crate) fn next_deadline(&self) -> Instant {
        self.phase.deadline()
    }

    /// Does what is due by itself.
    pub(crate) fn handle_timeout(&mut self, tick: Tick) {
        let (now, back, is_asked) = (tick.now, tick.back_since, self.is_asked());
        let (timeouts, excuses) = (&self.timeouts, &mut self.excuses);
        match &mut self.phase {
            Phase::Attempt { handshake, ends } => {
                handshake.handle_timeout(now);
                #[cfg(feature = "seal")]
                if let Some((way, refusal)) = handshake.next_refusal(now) {
                    self.on_believed_refusal(way, refusal, now);
                    return self.handle_timeout(tick);
                }
                if excuses.is_over(ends, back + timeouts.connect_timeout, now) {
                    let reason = handshake.why_nothing_came();
                    self.end(Cause::TimedOut, reason, now);
                }
            }
            // No pause excuses our own application, which is asked here.
            Phase::Newcomer { ends, .. } if is_asked => {
                if *ends <= now {
                    let refusal = Refusal::Application(RefusalData::default());
                    self.turn_away(refusal, DisconnectReason::Unfinished, now);
                }
            }
            Phase::Newcomer { ends, .. } => {
                if excuses.is_over(ends, back + timeouts.connect_timeout, now) {
                    self.end(Cause::TimedOut, DisconnectReason::NeverAnswered, now);
                }
            }
            Phase::Connected(connected) => {
                if connected.session.deadline() <= now {
                    connected.session.handle_timeout(tick);
                }
                // Asked anew: since the deadline was set the host may have slept (T23).
                let later = connected.silence_ends(tick, timeouts.timeout);
                if excuses.is_over(&mut connected.silence, later, now) {
                    let reason = connected.why_silent();
                    self.end(Cause::TimedOut, reason, now);
                } else if let Some(flush) = connected.flush.filter(|flush| flush.ends <= now) {
                    self.close(flush.reason, now);
                }
            }
            Phase::Disconnecting(disconnecting) => {
                self.answer_due |= disconnecting.retries(now);
                let later = back + timeouts.disconnect_timeout;
                if excuses.is_over(&mut disconnecting.ends, later, now) {
                    self.end(Cause::TimedOut, DisconnectReason::GoodbyeUnanswered, now);
                }
            }
            Phase::Disconnected(ended) | Phase::Zombie(ended) => {
                if ended.linger <= now {
                    // What the application has not read by now it never reads.
                    (ended.linger, ended.unread) = (Instant::NEVER, None);
                    self.enter(Cause::Expired, |phase| phase.end(Cause::Expired, now));
                }
            }
        }
    }

    // Output: the handshake, the connection's own datagrams, the disconnection.

    /// Writes the next datagram, and says to which address and how long it is.
    pub(crate) fn poll_transmit(
        &mut self,
        ours: &Settings,
        tick: Tick,
        buf: &mut [u8],
    ) -> Option<(usize, Written)> {
        let written = self.write_next(ours, tick, buf);
        let written = written.unwrap_or_else(|NoRoom| {
            self.on_unwritten(tick.now);
            None
        });
        if let Some((_, Written { len, .. })) = written {
            self.books.on_sent(len, tick.now);
        }
        written
    }

    /// Ends the connection, of which a datagram could not be written.
    #[cold]
    fn on_unwritten(&mut self, now: Instant) {
        // Without acknowledgements a key is not changed, and may seal no more at last.
        #[cfg(feature = "seal")]
        if self.is_key_worn_out() {
            return self.end(Cause::TimedOut, DisconnectReason::Silent, now);
        }
        debug_assert!(false, "every datagram fits into max_datagram_size");
        // A bug: one connection ends of it, and not the program.
        self.end(Cause::InternalError, DisconnectReason::InternalError, now);
    }

    #[inline]
    fn write_next(
        &mut self,
        ours: &Settings,
        tick: Tick,
        buf: &mut [u8],
    ) -> Result<Option<(usize, Written)>, NoRoom> {
        let (own, due, now) = (&self.identity, &mut self.answer_due, tick.now);
        let len = match &mut self.phase {
            Phase::Attempt { handshake, .. } => {
                let request_size = ours.config.path.request_size.into();
                return handshake.write(own, &ours.offer, request_size, now, buf);
            }
            Phase::Newcomer { session, .. } => {
                let due = core::mem::take(due);
                let written = due.then(|| session.acknowledge(own, &ours.offer, self.role, buf));
                // Nothing is left to say once a sealed frame has come.
                written.transpose()?.filter(|&len| len > 0)
            }
            Phase::Connected(connected) => {
                let ack_due = core::mem::take(due);
                let written = connected.write(ack_due, (own, self.role), &ours.offer, tick, buf)?;
                match connected.session.transfer.outbound.path.mtu.take_narrowed() {
                    Some(Narrowed::To(bytes)) => self.outbox.on_narrowed(bytes),
                    Some(Narrowed::TooFar) => {
                        self.end(Cause::TimedOut, DisconnectReason::PathTooNarrow, now);
                    }
                    None => {}
                }
                self.check_flushed(now);
                // The flush has just come to its end: a goodbye follows.
                let parts = self.state() == PeerState::Disconnecting;
                let Some(mut written) = written else {
                    return if parts {
                        self.write_next(ours, tick, buf)
                    } else {
                        Ok(None)
                    };
                };
                written.more |= parts;
                return Ok(Some((0, written)));
            }
            Phase::Disconnecting(disconnecting) => {
                let due = core::mem::take(due);
                due.then(|| disconnecting.write(own.nonce, now, buf))
                    .transpose()?
            }
            Phase::Disconnected(ended) | Phase::Zombie(ended) => {
                ended.write(own.nonce, due, buf)?
            }
        };
        #[cfg(feature = "seal")]
        let len = match &mut self.secured {
            Some(secured) => len.map(|len| secured.sign_goodbye(len, buf)).transpose()?,
            None => len,
        };
        Ok(len.map(|len| (0, Written::plain(len))))
    }
}
