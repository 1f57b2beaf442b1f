//! §2.2: a peer object. It holds no address, no random source and no reference to another peer.

mod agreement;
mod deadlines;
mod disconnect;
mod handshake;
mod inspect;
mod session;
mod state;
mod tick;
mod transmit;

use alloc::boxed::Box;
use core::time::Duration;

pub(crate) use self::agreement::Agreement;
use self::deadlines::{Deadline, Deadlines};
use self::disconnect::Closing;
use self::handshake::Handshake;
use self::session::{Session, send_cost};
pub(crate) use self::state::Cause;
pub use self::state::PeerState;
pub(crate) use self::tick::Tick;
use crate::ChannelId;
use crate::config::Config;
use crate::error::SendError;
use crate::event::{DisconnectReason, Ignored, Received, Refusal};
use crate::frame::{Connect, ConnectionId, Mode, Offer, Short};
use crate::stats::PeerStats;
use crate::time::Instant;

/// How long a disconnected peer answers for its connection: longer than a cookie lives, so that a
/// delayed request of a dead connection creates nothing (`docs/wire.md`, "Handshake").
const LINGER: Duration = Duration::from_secs(30);

/// What the peer needs of the host's configuration.
#[derive(Clone, Copy, Debug)]
struct Limits {
    send_budget: u64,
    timeout: Duration,
    disconnect_timeout: Duration,
}

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
    limits: Limits,
    remote: Option<Remote>,
    handshake: Option<Box<Handshake>>,
    session: Option<Box<Session>>,
    /// What was known when the peer ended.
    last_stats: Option<Box<PeerStats>>,
    closing: Option<Closing>,
    deadlines: Deadlines,
    last_heard: Instant,
    /// Our acknowledgement of the remote's request is to be sent (again).
    ack_due: bool,
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
}

/// What the host has to tell the application.
#[derive(Debug, Default)]
struct Outbox {
    connected: bool,
    /// The application knows of this peer: it called `connect`, or was told `Connected`.
    told: bool,
    /// `Readable` was told, and the peer was not read empty since.
    readable_told: bool,
    /// A `send` failed with `Full`, and `Writable` is owed.
    writable_owed: bool,
    ended: Option<(DisconnectReason, u32)>,
}

/// What the host has to tell the application, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum News {
    Connected,
    Readable,
    Writable,
    /// Why, and how many packets were not delivered. `told`: the application knows the peer.
    Ended {
        reason: DisconnectReason,
        undelivered: u32,
        told: bool,
    },
}

impl Peer {
    fn new(now: Instant, nonce: u64, connection_id: ConnectionId, config: &Config) -> Self {
        Self {
            state: PeerState::Connecting,
            nonce,
            connection_id,
            inbound: false,
            limits: Limits {
                send_budget: u64::from(config.send_budget),
                timeout: config.timeout,
                disconnect_timeout: config.disconnect_timeout,
            },
            remote: None,
            handshake: None,
            session: None,
            last_stats: None,
            closing: None,
            deadlines: Deadlines::new(),
            last_heard: now,
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
        nonce: u64,
        connection_id: ConnectionId,
        config: &Config,
    ) -> Self {
        let mut peer = Self::new(now, nonce, connection_id, config);
        peer.outbox.told = true;
        peer.handshake = Some(Box::new(Handshake::new(now)));
        peer.deadlines
            .set(Deadline::Attempt, now + config.connect_timeout);
        peer
    }

    /// A peer that connected to us, and has proved that it receives at its address. A `pending` one
    /// waits for the first datagram of the new connection, because another peer has its address.
    pub(crate) fn incoming(
        now: Instant,
        (nonce, connection_id): (u64, ConnectionId),
        request: &Connect,
        agreement: Agreement,
        pending: bool,
        config: &Config,
    ) -> Self {
        let mut peer = Self::new(now, nonce, connection_id, config);
        peer.inbound = true;
        peer.ack_due = true;
        peer.adopt(request, agreement);
        if pending {
            peer.deadlines
                .set(Deadline::Attempt, now + config.connect_timeout);
        } else {
            peer.establish(now);
        }
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

    // The handshake.

    /// A request came from the address of this peer, which is connecting.
    pub(crate) fn on_request(&mut self, request: &Connect, ours: &Offer, now: Instant) {
        if let Some(handshake) = &mut self.handshake {
            handshake.on_request(request, self.nonce);
            self.try_establish(ours, now);
        }
    }

    /// The remote host repeats the request of this connection: our acknowledgement was lost, or we
    /// are on the way out (§2.3).
    pub(crate) const fn on_repeated_request(&mut self) {
        match self.state {
            PeerState::Connecting | PeerState::Connected => self.ack_due = true,
            PeerState::Disconnecting | PeerState::Disconnected => self.disconnect_due = true,
            PeerState::Zombie => {}
        }
    }

    /// An acknowledgement of our nonce came. A mismatch of the other one is ignored
    /// (`deviations.md` C3).
    pub(crate) fn on_acknowledge(&mut self, ack: &Connect, ours: &Offer, now: Instant) {
        if let Some(handshake) = &mut self.handshake {
            handshake.on_acknowledge(ack);
            self.try_establish(ours, now);
        }
    }

    fn try_establish(&mut self, ours: &Offer, now: Instant) {
        let established = self
            .handshake
            .as_ref()
            .and_then(|handshake| handshake.established());
        if let Some(remote) = established.cloned() {
            self.accept_remote(&remote, ours, now);
        }
    }

    fn accept_remote(&mut self, remote: &Connect, ours: &Offer, now: Instant) {
        match Agreement::new(ours, &remote.offer) {
            Some(agreement) => {
                self.adopt(remote, agreement);
                self.establish(now);
            }
            None => self.on_refused(Refusal::Incompatible, now),
        }
    }

    /// Fixes who the remote host is.
    fn adopt(&mut self, remote: &Connect, agreement: Agreement) {
        let nonces = [self.nonce, remote.nonce_self];
        self.remote = Some(Remote {
            nonce: remote.nonce_self,
        });
        self.session = Some(Box::new(Session::new(
            agreement,
            nonces,
            remote.connection_id,
        )));
    }

    fn establish(&mut self, now: Instant) {
        if !self.enter(Cause::Established) {
            return;
        }
        // Requests that were seen and not yet acknowledged: one acknowledgement serves.
        let owed = self
            .handshake
            .take()
            .is_some_and(|mut handshake| handshake.next_ack().is_some());
        self.ack_due |= owed;
        self.last_heard = now;
        self.deadlines.clear();
        self.deadlines
            .set(Deadline::Silence, now + self.limits.timeout);
        self.outbox.connected = true;
        self.refresh_session_deadline();
    }

    /// The remote host refused, and named our nonce.
    pub(crate) fn on_refused(&mut self, refusal: Refusal, now: Instant) {
        if self.state == PeerState::Connecting && self.handshake.is_some() {
            self.end(Cause::Refused, DisconnectReason::Refused(refusal), now);
        }
    }

    // Datagrams of the connection.

    /// A short datagram with our connection id.
    pub(crate) fn handle_short(
        &mut self,
        short: &Short<'_>,
        ours: &Offer,
        tick: Tick,
    ) -> Result<(), Ignored> {
        match self.state {
            PeerState::Connected => {}
            PeerState::Connecting => self.take_for_acknowledgement(short, ours, tick)?,
            PeerState::Disconnecting | PeerState::Disconnected | PeerState::Zombie => {
                return Err(Ignored::WrongState);
            }
        }
        let session = self.session.as_mut().ok_or(Ignored::WrongState)?;
        let result = session.handle_short(short, tick);
        match result {
            Ok(()) => {
                if self.state == PeerState::Connecting {
                    self.establish(tick.now); // a newcomer has proved itself
                }
                self.heard(short.bytes.len(), tick);
            }
            Err(Ignored::Duplicate) => self.heard(short.bytes.len(), tick),
            Err(_) => return result,
        }
        self.refresh_session_deadline();
        self.check_flushed(tick.now);
        result
    }

    /// In the connecting state a valid datagram stands for the acknowledgement, if the remote's
    /// request has told who it is (`deviations.md` C9).
    fn take_for_acknowledgement(
        &mut self,
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
            .and_then(|handshake| handshake.sole_candidate());
        let remote = sole.cloned().ok_or(Ignored::WrongState)?;
        let agreement = Agreement::new(ours, &remote.offer).ok_or(Ignored::WrongState)?;
        let nonces = [self.nonce, remote.nonce_self];
        let mut probe = Session::new(agreement, nonces, remote.connection_id);
        probe.handle_short(short, tick)?;
        self.accept_remote(&remote, ours, tick.now);
        Ok(())
    }

    fn heard(&mut self, bytes: usize, tick: Tick) {
        self.last_heard = tick.now;
        self.deadlines
            .set(Deadline::Silence, tick.now + self.limits.timeout);
        self.traffic.datagrams_received += 1;
        self.traffic.bytes_received += bytes as u64;
    }

    fn refresh_session_deadline(&mut self) {
        let at = match (&self.session, self.state) {
            (Some(session), PeerState::Connected) => session.deadline(),
            _ => Instant::NEVER,
        };
        self.deadlines.set(Deadline::Session, at);
    }

    // Time.

    pub(crate) fn next_deadline(&self) -> Instant {
        self.deadlines.next()
    }

    pub(crate) fn handle_timeout(&mut self, tick: Tick) {
        let now = tick.now;
        if self.deadlines.expired(Deadline::Session, now) {
            if let Some(session) = &mut self.session {
                session.handle_timeout(tick);
            }
            self.refresh_session_deadline();
        }
        if self.deadlines.expired(Deadline::Silence, now) {
            self.on_silence(tick);
        }
        if self.deadlines.expired(Deadline::Retry, now) {
            self.on_retry();
        }
        if self.deadlines.expired(Deadline::Attempt, now) {
            self.on_attempt_over(now);
        }
        if self.deadlines.expired(Deadline::Linger, now) {
            self.enter(Cause::Expired);
            self.session = None;
        }
    }

    fn on_silence(&mut self, tick: Tick) {
        let ends = self.last_heard.max(tick.awake_since) + self.limits.timeout;
        if ends > tick.now {
            self.deadlines.set(Deadline::Silence, ends);
        } else {
            self.end(Cause::TimedOut, DisconnectReason::TimedOut, tick.now);
        }
    }

    fn on_retry(&mut self) {
        match self.state {
            PeerState::Connecting => {
                if let Some(handshake) = &mut self.handshake {
                    handshake.request_due = true;
                }
            }
            PeerState::Disconnecting => self.disconnect_due = true,
            PeerState::Connected | PeerState::Disconnected | PeerState::Zombie => {}
        }
    }

    /// The handshake, the flush or the disconnection took too long.
    fn on_attempt_over(&mut self, now: Instant) {
        match self.state {
            PeerState::Connected => self.close(now), // the deadline of a flush
            PeerState::Connecting
            | PeerState::Disconnecting
            | PeerState::Disconnected
            | PeerState::Zombie => self.end(Cause::TimedOut, DisconnectReason::TimedOut, now),
        }
    }

    // Packets.

    /// Queues a packet (§2.4).
    pub(crate) fn send(
        &mut self,
        channel: ChannelId,
        packet: bytes::Bytes,
        mode: Mode,
    ) -> Result<(), SendError> {
        match self.state {
            PeerState::Connecting => return Err(SendError::NotConnected),
            PeerState::Connected if self.closing.is_none() => {}
            PeerState::Connected | PeerState::Disconnecting => {
                return Err(SendError::Disconnecting);
            }
            PeerState::Disconnected | PeerState::Zombie => return Err(SendError::UnknownPeer),
        }
        let session = self.session.as_mut().ok_or(SendError::NotConnected)?;
        if channel.0 >= session.agreement().channels {
            return Err(SendError::UnknownChannel);
        }
        if packet.len() as u64 > u64::from(session.agreement().max_packet) {
            return Err(SendError::TooLarge);
        }
        let queued = session.queued();
        if queued > 0 && queued + send_cost(packet.len()) > self.limits.send_budget {
            self.outbox.writable_owed = true;
            return Err(SendError::Full);
        }
        session.send(channel.0, packet, mode);
        Ok(())
    }

    /// Whether the peer came to its end while a datagram was written.
    pub(crate) const fn has_ended(&self) -> bool {
        self.outbox.ended.is_some()
    }

    /// Consumes the next packet that can be delivered (§3.2.3).
    pub(crate) fn receive(&mut self, now: Instant) -> Option<Received> {
        let received = self.session.as_mut()?.receive(now);
        self.refresh_session_deadline();
        let Some((channel, mode, payload)) = received else {
            self.outbox.readable_told = false;
            self.forget_if_read();
            return None;
        };
        Some(Received {
            channel: ChannelId(channel),
            mode,
            payload,
        })
    }

    /// The next thing to tell the application.
    pub(crate) fn next_news(&mut self) -> Option<News> {
        if core::mem::take(&mut self.outbox.connected) {
            self.outbox.told = true;
            return Some(News::Connected);
        }
        let readable = |session: &Session| session.is_readable();
        if !self.outbox.readable_told && self.session.as_deref().is_some_and(readable) {
            self.outbox.readable_told = true;
            return Some(News::Readable);
        }
        let room = |session: &Session| session.queued() <= self.limits.send_budget / 2;
        if self.outbox.writable_owed && self.session.as_deref().is_some_and(room) {
            self.outbox.writable_owed = false;
            if self.state == PeerState::Connected {
                return Some(News::Writable);
            }
        }
        let (reason, undelivered) = self.outbox.ended.take()?;
        Some(News::Ended {
            reason,
            undelivered,
            told: self.outbox.told,
        })
    }
}
