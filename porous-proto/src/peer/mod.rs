//! §2.2: a peer object. It holds no address, no random source and no reference to another peer.

mod agreement;
#[cfg(any(test, feature = "audit"))]
mod audit;
mod connect;
mod deadlines;
mod disconnect;
mod effort;
mod handshake;
mod inspect;
mod limits;
mod packets;
mod path;
mod request;
mod reset;
mod session;
mod state;
mod tick;
mod transmit;

use alloc::boxed::Box;
use core::time::Duration;

pub(crate) use self::agreement::Agreement;
use self::deadlines::{Deadline, Deadlines};
use self::disconnect::Closing;
pub(crate) use self::handshake::Handshake;
pub(crate) use self::limits::Identity;
use self::limits::Limits;
use self::reset::Doubt;
use self::session::Session;
pub(crate) use self::state::Cause;
pub use self::state::PeerState;
pub(crate) use self::tick::Tick;
use crate::canary::{Bug, strikes};
use crate::config::Config;
use crate::event::{DisconnectReason, Ecn, Ignored};
use crate::frame::{ConnectionId, Offer, RefusalData, Request, Short};
use crate::sequencing::{Receipt, Receipts};
use crate::stats::{PeerStats, Rate};
use crate::time::Instant;
use crate::transfer::PathWords;

/// How long a disconnected peer answers for its connection: longer than a cookie lives, so that a
/// delayed request of a dead connection creates nothing (`deviations.md` C7).
pub(crate) const LINGER: Duration = Duration::from_secs(30);

/// So many pauses in a row excuse the remote host (`docs/deviations.md` T23).
const EXCUSES_MAX: u8 = 3;

/// Who is at the other end.
#[derive(Clone, Copy, Debug)]
struct Remote {
    nonce: u64,
}

/// A connection to a remote host (§2.2).
#[derive(Debug)]
pub struct Peer {
    state: PeerState,
    /// Our random id (§2.3). For a connection that came to us, the cookie.
    nonce: u64,
    /// What the remote host puts into its datagrams to us.
    connection_id: ConnectionId,
    /// It connected to us, and so counts against `max_peers`.
    inbound: bool,
    /// If the two hosts have come to different addresses of each other, this one gives way.
    follows: bool,
    limits: Limits,
    remote: Option<Remote>,
    handshake: Option<Box<Handshake>>,
    session: Option<Box<Session>>,
    /// What was known when the peer ended.
    last_stats: Option<Box<PeerStats>>,
    closing: Option<Closing>,
    deadlines: Deadlines,
    last_heard: Instant,
    /// How many pauses of ours have put off the end since something was heard.
    excuses: u8,
    /// A reset came since.
    doubt: Option<Doubt>,
    /// The application has to say whether it wants the peer.
    asked: bool,
    /// What the remote application said with its request.
    greeting: Box<[u8]>,
    /// The application did not want it, and said this.
    refusal: Option<Box<RefusalData>>,
    /// Our acknowledgement of the remote's request is to be sent (again).
    ack_due: bool,
    /// The disconnection, or the refusal, is to be sent (again).
    disconnect_due: bool,
    disconnect_ack_due: bool,
    traffic: Traffic,
    outbox: Outbox,
}

/// Datagrams of this peer.
#[derive(Clone, Copy, Debug, Default)]
struct Traffic {
    datagrams_sent: u64,
    datagrams_received: u64,
    bytes_sent: u64,
    bytes_received: u64,
    send_rate: Rate,
    receive_rate: Rate,
}

/// What the host has to tell the application.
#[derive(Debug, Default)]
struct Outbox {
    /// The application has to be asked.
    asked: bool,
    connected: bool,
    /// The application knows of this peer: it called `connect`, or was told or asked about it.
    told: bool,
    /// `Readable` was told, and the peer was not read empty since.
    readable_told: bool,
    /// The event waits for the application, which has not taken it.
    readable_waits: bool,
    /// `Writable` waits for the application, which has not taken it.
    writable_waits: bool,
    /// What datagrams are limited to by a path that has been found to carry no more, until the
    /// application takes the event.
    narrowed: Option<u16>,
    /// The event waits for it.
    narrowed_waits: bool,
    /// Packets with a receipt that the application has not taken.
    open_receipts: u32,
    /// What was open at the end.
    last_receipts: Receipts,
    ended: Option<(DisconnectReason, u32)>,
}

/// What the host has to tell the application, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum News {
    Request,
    Connected,
    Readable,
    Writable,
    /// The most bytes that datagrams have now.
    PathNarrowed(u16),
    Receipt(Receipt),
    /// Why, and how many packets were not delivered. `told`: the application knows the peer.
    Ended {
        reason: DisconnectReason,
        undelivered: u32,
        told: bool,
    },
}

impl Peer {
    fn new(now: Instant, identity: Identity, config: &Config) -> Self {
        Self {
            state: PeerState::Connecting,
            nonce: identity.nonce,
            connection_id: identity.connection_id,
            inbound: false,
            follows: false,
            limits: Limits::new(config, identity.secret),
            remote: None,
            handshake: None,
            session: None,
            last_stats: None,
            closing: None,
            deadlines: Deadlines::new(),
            last_heard: now,
            excuses: 0,
            doubt: None,
            asked: false,
            greeting: Box::default(),
            refusal: None,
            ack_due: false,
            disconnect_due: false,
            disconnect_ack_due: false,
            traffic: Traffic::default(),
            outbox: Outbox::default(),
        }
    }

    /// A peer that we connect to.
    pub(crate) fn outgoing(
        now: Instant,
        identity: Identity,
        config: &Config,
        handshake: Handshake,
    ) -> Self {
        let mut peer = Self::new(now, identity, config);
        peer.outbox.told = true;
        peer.handshake = Some(Box::new(handshake));
        peer.deadlines
            .set(Deadline::Attempt, now + config.connect_timeout);
        peer
    }

    /// A peer that connects to us, and has proved that it receives at its address. It is to be
    /// [admitted](Self::admit), or the application [asked](Self::ask).
    pub(crate) fn incoming(
        now: Instant,
        identity: Identity,
        request: &Request<'_>,
        agreement: Agreement,
        config: &Config,
    ) -> Self {
        let mut peer = Self::new(now, identity, config);
        peer.inbound = true;
        peer.follows = true;
        peer.greeting = request.greeting.into();
        peer.adopt(&request.connect, agreement);
        peer.deadlines
            .set(Deadline::Attempt, now + config.connect_timeout);
        peer
    }

    /// Every change of state, by Figure 1. False if the cause means nothing now.
    fn enter(&mut self, cause: Cause) -> bool {
        match self.state.after(cause) {
            Some(state) => {
                self.state = state;
                true
            }
            None => false,
        }
    }

    // Datagrams of the connection.

    /// A short datagram with our connection id, from one of its addresses: what it says of the path
    /// that it came on.
    pub(crate) fn handle_short(
        &mut self,
        way: usize,
        short: &Short<'_>,
        ecn: Ecn,
        ours: &Offer,
        tick: Tick,
    ) -> Result<PathWords, Ignored> {
        match self.state {
            PeerState::Connected => {}
            PeerState::Connecting if self.asked => return Err(Ignored::WrongState),
            PeerState::Connecting => self.take_for_acknowledgement(way, short, ours, tick)?,
            PeerState::Disconnecting | PeerState::Disconnected | PeerState::Zombie => {
                return Err(Ignored::WrongState);
            }
        }
        let session = self.session.as_mut().ok_or(Ignored::WrongState)?;
        let result = session.handle_short(short, ecn, tick);
        match result {
            Ok(_) => {
                if self.state == PeerState::Connecting {
                    self.establish(tick.now); // a newcomer has proved itself
                }
                self.heard(tick);
            }
            // Anybody can repeat what a peer once sent, long after it is gone.
            Err(Ignored::Duplicate) => {}
            Err(_) => return result,
        }
        self.check_flushed(tick.now);
        result
    }

    /// In the connecting state a valid datagram stands for the acknowledgement, if the remote's
    /// request has told who it is (`deviations.md` C9).
    fn take_for_acknowledgement(
        &mut self,
        way: usize,
        short: &Short<'_>,
        ours: &Offer,
        tick: Tick,
    ) -> Result<(), Ignored> {
        if self.session.is_some() {
            return Ok(());
        }
        let sole = self
            .handshake
            .as_ref()
            .and_then(|handshake| handshake.sole_candidate(way));
        let remote = sole.cloned().ok_or(Ignored::WrongState)?;
        let agreement = Agreement::new(ours, &remote.offer).ok_or(Ignored::WrongState)?;
        let nonces = [self.nonce, remote.nonce_self];
        // The request may be forged, and the connection id guessed: what proves that the sender knows
        // our nonce is the check over both, which is looked at before anything else of the datagram.
        // This session only tries that, and is gone before the real one is made.
        let id = remote.connection_id;
        Session::new(agreement, nonces, id, &self.limits).handle_short(short, Ecn::NotEct, tick)?;
        self.accept_remote(way, &remote, ours, tick.now);
        Ok(())
    }

    fn heard(&mut self, tick: Tick) {
        self.last_heard = tick.now;
        self.excuses = 0;
        self.doubt = None;
        self.deadlines
            .set(Deadline::Silence, tick.now + self.limits.timeout);
    }

    // Time.

    /// When [`handle_timeout`](Self::handle_timeout) has something to do.
    pub(crate) fn next_deadline(&self) -> Instant {
        if strikes(Bug::LosesDeadline) {
            return self.deadlines.next();
        }
        self.deadlines.next().min(self.session_deadline())
    }

    /// When something of a connection is due: only one that is established has anything to do.
    fn session_deadline(&self) -> Instant {
        match (&self.session, self.state) {
            (Some(session), PeerState::Connected) => session.deadline(),
            _ => Instant::NEVER,
        }
    }

    pub(crate) fn handle_timeout(&mut self, tick: Tick) {
        let now = tick.now;
        if self.session_deadline() <= now {
            if let Some(session) = &mut self.session {
                session.handle_timeout(tick);
            }
        }
        if self.deadlines.expired(Deadline::Silence, now) {
            self.on_silence(tick);
        }
        if self.deadlines.expired(Deadline::Retry, now) {
            self.on_retry();
        }
        if self.deadlines.expired(Deadline::Attempt, now) {
            self.on_attempt_over(tick);
        }
        if self.deadlines.expired(Deadline::Linger, now) {
            self.enter(Cause::Expired);
            self.session = None;
        }
    }

    /// When the connection ends if nothing more is heard (§2.2).
    fn silence_ends(&self, tick: Tick) -> Instant {
        let ends = self.last_heard.max(tick.back_since) + self.limits.timeout;
        match self.doubt {
            Some(doubt) => ends.min(doubt.ends(tick)),
            None => ends,
        }
    }

    fn on_silence(&mut self, tick: Tick) {
        let ends = self.silence_ends(tick);
        if self.is_excused(ends, tick) {
            self.deadlines.set(Deadline::Silence, ends);
        } else {
            let reason = match self.doubt {
                Some(_) => DisconnectReason::LostByPeer,
                None => DisconnectReason::Silent,
            };
            self.end(Cause::TimedOut, reason, tick.now);
        }
    }

    /// Whether a pause of ours put off the end. Only a few in a row do, or the end would never come
    /// to a host that is always stepped so seldom.
    fn is_excused(&mut self, ends: Instant, tick: Tick) -> bool {
        let excused = ends > tick.now && self.excuses < EXCUSES_MAX;
        self.excuses += u8::from(excused);
        excused
    }

    /// Nothing came of the handshake or the disconnection in this time.
    fn give_up(&mut self, timeout: Duration, tick: Tick) {
        let ends = tick.back_since + timeout;
        if self.is_excused(ends, tick) {
            self.deadlines.set(Deadline::Attempt, ends);
        } else {
            self.end(Cause::TimedOut, self.why_nothing_came_of_it(), tick.now);
        }
    }

    /// Of a handshake or a disconnection that took too long.
    fn why_nothing_came_of_it(&self) -> DisconnectReason {
        if self.state == PeerState::Disconnecting {
            return DisconnectReason::GoodbyeUnanswered;
        }
        match self.handshake.as_deref() {
            // One of several addresses may have said why not.
            Some(&Handshake {
                refusal: Some(refusal),
                ..
            }) => DisconnectReason::Refused(refusal),
            Some(handshake) if handshake.was_heard() => DisconnectReason::Unfinished,
            Some(_) | None => DisconnectReason::NeverAnswered,
        }
    }

    fn on_retry(&mut self) {
        match self.state {
            PeerState::Connecting => {
                if let Some(handshake) = &mut self.handshake {
                    handshake.begin_round();
                }
            }
            PeerState::Disconnecting => self.disconnect_due = true,
            PeerState::Connected | PeerState::Disconnected | PeerState::Zombie => {}
        }
    }

    /// The handshake, the flush or the disconnection took too long.
    fn on_attempt_over(&mut self, tick: Tick) {
        let now = tick.now;
        match self.state {
            PeerState::Connected => self.close(now), // the deadline of a flush
            PeerState::Connecting if self.asked => {
                self.turn_away(RefusalData::default(), DisconnectReason::Unfinished, now);
            }
            PeerState::Connecting => self.give_up(self.limits.connect_timeout, tick),
            PeerState::Disconnecting => self.give_up(self.limits.disconnect_timeout, tick),
            PeerState::Disconnected | PeerState::Zombie => {}
        }
    }
}
