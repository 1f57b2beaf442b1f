//! The upper side of a peer: what the application and the host ask it, what is counted for that, what
//! they command and what they hear.

#[cfg(feature = "seal")]
use crate::seal::Secured;
use alloc::boxed::Box;
#[cfg(feature = "record")]
use alloc::vec::Vec;
use core::time::Duration;

use super::session::Session;
use super::settings::Role;
use super::state::{PeerState, Phase};
use super::{News, Peer};
use crate::buffers::Buffers;
use crate::error::SendError;
use crate::event::Received;
#[cfg(feature = "record")]
use crate::frame::Short;
use crate::frame::{ConnectionId, Control};
use crate::ids::ChannelId;
use crate::options::SendOptions;
use crate::payload::Payload;
use crate::stats::{ChannelStats, FrameStats, PeerStats, Rate, ReceiveProgress, SendProgress};
use crate::time::Instant;
use crate::timer::Timer;
use crate::transfer::{Gate, Written};

/// Datagrams in one direction, and their bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Count {
    datagrams: u64,
    bytes: u64,
    rate: Rate,
}

impl Count {
    fn add(&mut self, bytes: usize, now: Instant) {
        self.rate.note(self.bytes, now);
        self.datagrams += 1;
        self.bytes += bytes as u64;
    }

    /// The recent rate, in bytes a second.
    fn rate(&self) -> u32 {
        self.rate.recent(self.bytes)
    }
}

/// What is counted of a peer.
#[derive(Debug)]
pub(super) enum Books {
    /// Datagrams to and from the peer, while it lives.
    Open { sent: Count, received: Count },
    /// The statistics at the end of the peer, whose layers are gone.
    Closed(Box<PeerStats>),
}

impl Books {
    pub(super) fn new() -> Self {
        Self::Open {
            sent: Count::default(),
            received: Count::default(),
        }
    }

    /// A datagram of this number of bytes was written.
    pub(super) fn on_sent(&mut self, bytes: usize, now: Instant) {
        if let Self::Open { sent, .. } = self {
            sent.add(bytes, now);
        }
    }

    /// A datagram of this number of bytes was taken.
    pub(super) fn on_received(&mut self, bytes: usize, now: Instant) {
        if let Self::Open { received, .. } = self {
            received.add(bytes, now);
        }
    }

    pub(super) fn stats(&self, session: Option<&Session>) -> PeerStats {
        let (sent, received) = match self {
            Self::Open { sent, received } => (sent, received),
            Self::Closed(last) => return **last,
        };
        let stats = PeerStats {
            datagrams_sent: sent.datagrams,
            datagrams_received: received.datagrams,
            bytes_sent: sent.bytes,
            bytes_received: received.bytes,
            send_rate: sent.rate(),
            receive_rate: received.rate(),
            ..PeerStats::default()
        };
        match session {
            Some(session) => of_session(stats, session),
            None => stats,
        }
    }
}

fn frames(session: &Session) -> FrameStats {
    let (path, figures) = (
        &session.transfer.outbound.path,
        &session.transfer.outbound.figures,
    );
    FrameStats {
        sent: figures.sent,
        lost: figures.lost,
        spurious: figures.spurious,
        marked: path.marking.count().into(),
    }
}

fn of_session(mut stats: PeerStats, session: &Session) -> PeerStats {
    let transfer = &session.transfer;
    let (path, figures) = (&transfer.outbound.path, &transfer.outbound.figures);
    let totals = session.sequencing.totals();
    let frames = frames(session);
    stats.frames_sent = frames.sent;
    stats.frames_lost = frames.lost;
    stats.frames_spurious = frames.spurious;
    stats.frames_marked = frames.marked;
    stats.rtt = path.rtt.smoothed().into();
    stats.rtt_variance = path.rtt.variation().into();
    stats.resend_timeout = path.rtt.timeout().into();
    stats.flight = transfer.outbound.queue.flight();
    stats.window = transfer.window();
    stats.path_mtu = path.mtu.current();
    stats.max_unfragmented = u16::try_from(session.max_unfragmented()).unwrap_or(u16::MAX);
    stats.ecn = path.marking.is_on();
    stats.queued_bytes = u32::try_from(totals.room.used()).unwrap_or(u32::MAX);
    stats.rtt_minimum = path.rtt.minimum().unwrap_or_default().into();
    stats.jitter = path.rtt.jitter.get().into();
    stats.frames_received = transfer.inbound.frames();
    stats.frames_missing = transfer.inbound.missing();
    stats.loss_sent = figures.sent_loss.recent();
    stats.loss_received = transfer.inbound.recent_loss();
    stats.quality = stats.rate_quality();
    stats.packets_sent = session.sent.packets;
    stats.packet_bytes_sent = session.sent.bytes;
    stats.packets_received = session.received.packets;
    stats.packet_bytes_received = session.received.bytes;
    stats.answers_withheld = transfer.signals.answers.withheld;
    stats.packets_expired = totals.expired;
    stats.packets_replaced = totals.replaced;
    stats.packets_cancelled = totals.cancelled;
    stats.packets_incomplete = totals.incomplete;
    stats.packets_evicted = totals.evicted;
    stats
}

impl Peer {
    /// The state of the connection (§2.2).
    ///
    /// ```
    /// # use porous_proto::{hooks::doc::example_pair, PeerState};
    /// let (host, peer) = example_pair();
    /// assert_eq!(host.peer(peer).map(|peer| peer.state()), Some(PeerState::Connected));
    /// ```
    #[must_use]
    pub const fn state(&self) -> PeerState {
        self.phase.state()
    }

    /// The number of channels of the connection, 0 while connecting.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_pair;
    /// let (host, peer) = example_pair();
    /// assert_eq!(host.peer(peer).map(|peer| peer.channels()), Some(1));
    /// ```
    #[must_use]
    pub fn channels(&self) -> u8 {
        let session = self.phase.session();
        session.map_or(0, |session| session.agreement.channels)
    }

    /// The length of the largest packet that both hosts agreed on, in bytes; 0 while connecting.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_pair;
    /// let (host, peer) = example_pair();
    /// assert_eq!(host.peer(peer).map(|peer| peer.max_packet()), Some(1 << 20));
    /// ```
    #[must_use]
    pub fn max_packet(&self) -> usize {
        self.phase.session().map_or(0, Session::max_packet)
    }

    /// What the remote application said with its request to connect
    /// ([`Host::connect_with`](crate::Host::connect_with)): at most 255 bytes, and none if it said
    /// nothing. The greeting is there from [`Event::Request`](crate::Event::Request) on, or from
    /// [`Event::Connected`](crate::Event::Connected) if the host does not ask, for as long as the peer is
    /// there. A remote host that was connected to, and listens, has no greeting.
    ///
    /// A greeting proves nothing: it was sent in the open, so that others may have read, changed or
    /// repeated it. What it claims has to be proved in another way. Only that of a sealed connection is the
    /// remote host's own, and as good as what the remote host has proved.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_pair;
    /// let (host, peer) = example_pair();
    /// assert_eq!(host.peer(peer).map(|peer| peer.greeting()), Some(&b""[..]));
    /// ```
    #[must_use]
    pub fn greeting(&self) -> &[u8] {
        &self.greeting
    }

    /// What proves that the connection is sealed, and by which both hosts know it; `None` of a plain
    /// connection. There from [`Event::Request`](crate::Event::Request) on, or from
    /// [`Event::Connected`](crate::Event::Connected), for as long as the peer is there.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_pair;
    /// let (host, peer) = example_pair();
    /// assert!(host.peer(peer).unwrap().secured().is_none()); // a plain connection
    /// ```
    #[cfg(feature = "seal")]
    #[must_use]
    pub fn secured(&self) -> Option<&Secured> {
        self.secured.as_deref()
    }

    /// The key seals nothing more.
    #[cfg(all(test, feature = "seal"))]
    pub(crate) fn wear_out_key_for_test(&mut self) {
        if let Phase::Connected(connected) = &mut self.phase {
            connected.session.transfer.wear_out_key_for_test();
        }
    }

    /// The next forged datagram is one too many.
    #[cfg(all(test, feature = "seal"))]
    pub(crate) fn wear_out_for_test(&mut self) {
        if let Some(session) = self.phase.session_mut() {
            session.wear_out_for_test();
        }
    }

    /// The client that a token has admitted.
    #[cfg(feature = "seal")]
    pub(crate) fn client_id(&self) -> Option<u64> {
        self.secured()?.client_id()
    }

    /// Whether a sealed connection has heard nothing of its remote host yet.
    #[cfg(feature = "seal")]
    pub(crate) fn is_unheard(&self) -> bool {
        self.secured().is_some_and(|secured| !secured.is_heard)
    }

    /// How long the remote host stands silence before it ends the connection: its
    /// [`Config::timeout`](crate::Config::timeout), in whole milliseconds. `None` while connecting, after
    /// the end, and of a host that does not say.
    ///
    /// An application that does not step its host while a level loads knows by this how long that may
    /// take.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_pair;
    /// use core::time::Duration;
    ///
    /// let (host, peer) = example_pair();
    /// let patience = host.peer(peer).and_then(|peer| peer.remote_timeout());
    /// assert_eq!(patience, Some(Duration::from_secs(10)));
    /// ```
    #[must_use]
    pub fn remote_timeout(&self) -> Option<Duration> {
        self.phase.session()?.agreement.remote_timeout()
    }

    /// The length of the largest packet that leaves as one message in one datagram now, in bytes; 0 while
    /// connecting. 48 bytes less than the largest datagram that the path is known to carry
    /// ([`PeerStats::path_mtu`]), less by each byte beyond 8 of the remote host's connection id, and
    /// [`max_packet`](Self::max_packet) at most. It grows with
    /// [`Config::path_mtu_discovery`](crate::Config::path_mtu_discovery), and shrinks if the path
    /// narrows ([`Event::PathNarrowed`](crate::Event::PathNarrowed)).
    ///
    /// A longer packet is cut into fragments, of which two may share a datagram if it is at most some 30
    /// bytes longer. It is not slower than small packets of the same length together, but an unreliable
    /// one is lost if one of its fragments is.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_pair;
    /// let (host, peer) = example_pair();
    /// assert_eq!(host.peer(peer).map(|peer| peer.max_unfragmented()), Some(1152));
    /// ```
    #[must_use]
    pub fn max_unfragmented(&self) -> usize {
        self.phase.session().map_or(0, Session::max_unfragmented)
    }

    /// How far the packet with this [receipt](crate::SendOptions::receipt) has come; of several packets
    /// with it, the oldest. `None` if there is no such packet, or if
    /// [`Event::Receipt`](crate::Event::Receipt) tells what became of it. Costs one look-up in a tree.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_pair;
    /// use porous_proto::{ChannelId, Mode, SendOptions};
    ///
    /// # let (mut host, peer) = example_pair();
    /// let options = SendOptions::new(Mode::Reliable).receipt(7);
    /// host.send(peer, ChannelId(0), vec![1; 100_000], options)?;
    /// let progress = host.peer(peer).and_then(|peer| peer.send_progress(ChannelId(0), 7));
    /// assert!(progress.is_some_and(|all| (all.len, all.acknowledged) == (100_000, 0)));
    /// # Ok::<(), porous_proto::SendError>(())
    /// ```
    #[must_use]
    pub fn send_progress(&self, channel: ChannelId, receipt: u64) -> Option<SendProgress> {
        let session = self.phase.session()?;
        session.sequencing.send_progress(channel.0, receipt)
    }

    /// How much has come of the oldest packet of a channel of which only a part has come. `None` if there
    /// is no such packet: one that has come whole is [received](crate::Host::receive). Looks at the
    /// packets that have come before it and wait: at most a [window](crate::Config::windows) of them.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_pair;
    /// use porous_proto::ChannelId;
    ///
    /// # let (host, peer) = example_pair();
    /// let progress = host.peer(peer).and_then(|peer| peer.receive_progress(ChannelId(0)));
    /// assert_eq!(progress, None, "nothing has come");
    /// ```
    #[must_use]
    pub fn receive_progress(&self, channel: ChannelId) -> Option<ReceiveProgress> {
        let session = self.phase.session()?;
        session.sequencing.receive_progress(channel.0)
    }

    /// Bytes of packets that `send` has accepted and that wait to be sent or acknowledged. Each packet
    /// counts 64 bytes more than its length.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_pair;
    /// let (host, peer) = example_pair();
    /// assert_eq!(host.peer(peer).map(|peer| peer.queued_bytes()), Some(0));
    /// ```
    #[must_use]
    pub fn queued_bytes(&self) -> usize {
        let queued = |session: &Session| session.sequencing.totals().room.used();
        let queued = self.phase.session().map_or(0, queued);
        usize::try_from(queued).unwrap_or(usize::MAX)
    }

    /// The average round-trip time; 200 ms until it has been measured. `T_rtt,avg` (5).
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_pair;
    /// let (host, peer) = example_pair();
    /// assert!(host.peer(peer).is_some_and(|peer| peer.rtt() < core::time::Duration::from_secs(1)));
    /// ```
    #[must_use]
    pub fn rtt(&self) -> Duration {
        self.stats().rtt
    }

    /// Everything that is counted and estimated; of a peer that has ended, as it was at its end.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_pair;
    /// let (host, peer) = example_pair();
    /// assert!(host.peer(peer).is_some_and(|peer| peer.stats().datagrams_sent > 0));
    /// ```
    #[must_use]
    pub fn stats(&self) -> PeerStats {
        self.books.stats(self.phase.session())
    }

    /// The frames that were sent to the peer: part of [`stats`](Self::stats), for less work.
    pub(crate) fn frames(&self) -> FrameStats {
        if let Books::Closed(last) = &self.books {
            return FrameStats::of(last);
        }
        self.phase
            .session()
            .map_or_else(FrameStats::default, frames)
    }

    /// What is measured of a channel; all 0 while connecting, and of a peer that has ended.
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_proto::ChannelId;
    /// # use porous_proto::hooks::doc::example_pair;
    ///
    /// let (host, peer) = example_pair();
    /// let channel = host.peer(peer).map(|peer| peer.channel_stats(ChannelId(0)));
    /// assert!(channel.is_some_and(|channel| channel.queue_time < Duration::from_millis(100)));
    /// ```
    #[must_use]
    pub fn channel_stats(&self, channel: ChannelId) -> ChannelStats {
        let stats = |session: &Session| session.sequencing.channel_stats(channel.0);
        self.phase.session().map(stats).unwrap_or_default()
    }

    // What the host asks.

    pub(crate) const fn is_inbound(&self) -> bool {
        matches!(self.role, Role::Listener)
    }

    /// Whether the peer is sent to the one of its addresses that the newest datagram came from.
    pub(crate) const fn follows(&self) -> bool {
        !matches!(self.role, Role::Leader)
    }

    /// Our random id.
    pub(crate) const fn nonce(&self) -> u64 {
        self.identity.nonce
    }

    /// Whether the connection is sealed, or is to be.
    #[cfg(feature = "seal")]
    pub(crate) const fn is_sealed(&self) -> bool {
        self.secured.is_some() || self.is_sealed_attempt()
    }

    /// Whether the connection is sealed: never in this build.
    #[cfg(not(feature = "seal"))]
    #[expect(clippy::unused_self, reason = "the same call in all builds")]
    pub(crate) const fn is_sealed(&self) -> bool {
        false
    }

    /// Whether a newcomer may take the place of this peer. An attacker on the path can make a plain connection
    /// in the name of its remote host.
    pub(crate) const fn gives_way_to(&self, is_sealed: bool) -> bool {
        is_sealed || !self.is_sealed()
    }

    /// The connection id that the remote host puts into its datagrams to us.
    pub(crate) const fn connection_id(&self) -> ConnectionId {
        self.identity.connection_id
    }

    /// The random id of the remote host, once it is fixed.
    pub(crate) fn remote_nonce(&self) -> Option<u64> {
        self.phase.remote_nonce()
    }

    /// Whether this is a connection attempt of ours.
    pub(crate) const fn is_attempt(&self) -> bool {
        matches!(self.phase, Phase::Attempt { .. })
    }

    /// Whether the application has been asked about this peer and has not answered.
    pub(crate) const fn is_asked(&self) -> bool {
        matches!(self.phase, Phase::Newcomer { asked: true, .. })
    }

    /// The hosts that were met while connecting, which have to know if nothing comes of it: the number of
    /// the address, and the nonce.
    pub(crate) fn remotes(&self) -> impl Iterator<Item = (usize, u64)> {
        let (mut attempt, mut newcomer) = (None, None);
        if let Phase::Attempt { handshake, .. } = &self.phase {
            attempt = Some(handshake);
        } else if self.state() == PeerState::Connecting && !self.is_asked() {
            // While the application is asked, the remote host has been told nothing.
            newcomer = self.remote_nonce().map(|nonce| (0, nonce));
        }
        let met = attempt.into_iter().flat_map(|it| it.remotes());
        met.chain(newcomer)
    }

    /// Whether this is a live connection whose datagrams we send with this id.
    pub(crate) fn sends_as(&self, connection_id: ConnectionId) -> bool {
        let id = self.phase.session().map(Session::remote_connection_id);
        self.state().is_live() && id == Some(connection_id)
    }

    /// The id by which the remote host knows the connection, if there is one.
    #[cfg(feature = "record")]
    pub(crate) fn remote_connection_id(&self) -> Option<ConnectionId> {
        self.phase.session().map(Session::remote_connection_id)
    }

    /// A short form of the connection, with zeros for the payloads of packets; `None` if it is not of the
    /// connection. `is_sent`: this host has sent it, else it has come.
    #[cfg(feature = "record")]
    pub(crate) fn without_payloads(&self, short: &Short<'_>, is_sent: bool) -> Option<Vec<u8>> {
        if self.is_sealed() {
            return Some(short.bytes.to_vec()); // nobody reads it without its keys
        }
        let session = self.phase.session()?;
        let ids = if is_sent {
            session.transfer.sent_ids(short)
        } else {
            session.ids(short).ok()
        };
        session.blank(is_sent).blank(short, ids?)
    }

    /// Whether no datagram of the connection has come yet.
    pub(crate) fn is_silent(&self) -> bool {
        let received = |session: &Session| session.transfer.inbound.frames();
        self.phase.session().map_or(0, received) == 0
    }

    /// T_rto (7), or under the modern policy the time after which it probes.
    pub(crate) fn resend_timeout(&self) -> Duration {
        let timeout = |session: &Session| session.transfer.outbound.path.rtt.timeout().into();
        self.phase.session().map_or(Duration::ZERO, timeout)
    }

    /// What the host's cap meant for the last datagram.
    pub(crate) fn gate(&self) -> Gate {
        if let Phase::Connected(connected) = &self.phase {
            return connected.session.transfer.gate;
        }
        Gate::default() // one that is parting has nothing more to send, whatever waited
    }

    /// Whether nothing is left to do for the peer, so that it can be deleted.
    pub(crate) fn is_over(&self) -> bool {
        let Phase::Zombie(ended) = &self.phase else {
            return false;
        };
        // A peer that connected to us stays until its cookie is void: a delayed request would make a
        // second connection with the same nonces, which nobody can tell from the first (P3).
        ended.unread.is_none() && (!self.is_inbound() || ended.linger.is_never())
    }

    /// Bytes of the receive budget that packets take which the application has not pulled.
    pub(crate) fn kept(&self) -> u64 {
        let kept = |session: &Session| session.sequencing.totals().kept;
        self.phase.session().map_or(0, kept)
    }

    /// Reports of the receive windows that are due or will be, of which reading packets makes more.
    pub(crate) fn reports(&self) -> (usize, Option<Instant>) {
        let reports = |session: &Session| session.sequencing.reports();
        self.phase.session().map_or((0, None), reports)
    }

    pub(crate) fn is_readable(&self) -> bool {
        let readable = |session: &Session| session.sequencing.is_readable();
        self.phase.session().is_some_and(readable)
    }

    // What the host commands: it alone knows addresses (`docs/wire.md`, "Roaming").

    /// Answers a challenge of the remote host, which asks whether we are where it sends to.
    pub(crate) fn answer_challenge(&mut self, data: u64, now: Instant) {
        if let Some(session) = self.phase.session_mut() {
            let answers = &mut session.transfer.signals.answers;
            answers.on_path_challenge(data, now);
        }
    }

    /// Writes a datagram with these messages and nothing else, for another address than the peer's.
    /// `None` if the buffer is too short, or if there is no connection.
    pub(crate) fn write_path_words(
        &mut self,
        words: &[Control],
        now: Instant,
        buf: &mut [u8],
    ) -> Option<Written> {
        let Phase::Connected(connected) = &mut self.phase else {
            return None; // only a connected peer moves
        };
        let transfer = &mut connected.session.transfer;
        let written = transfer.write_path_words(words, now, buf).ok().flatten()?;
        self.books.on_sent(written.len, now);
        Some(written)
    }

    /// Notes that the remote host has proved to have moved. `same_host`: only its port is another one.
    pub(crate) fn on_moved(&mut self, same_host: bool, now: Instant) {
        if let Some(session) = self.phase.session_mut() {
            session.on_moved(same_host, now);
        }
    }

    /// Counts a datagram of this peer that was taken, of this number of bytes.
    pub(crate) fn count_received(&mut self, bytes: usize, now: Instant) {
        self.books.on_received(bytes, now);
    }

    /// What is due at the [next deadline](Self::next_deadline).
    pub(crate) fn next_timer(&self) -> Timer {
        self.phase.timer()
    }

    /// What a sealed connection is known by, to note what came.
    #[cfg(feature = "seal")]
    pub(crate) fn secured_mut(&mut self) -> Option<&mut Secured> {
        self.secured.as_deref_mut()
    }

    /// Audits the books of a peer.
    ///
    /// # Panics
    ///
    /// If those of a layer are wrong, or if the peer has no deadline: nothing would ever end it.
    #[cfg(any(test, feature = "audit"))]
    pub(crate) fn audit(&self, audit: &mut crate::hooks::audit::Audit) {
        let session = self.phase.session();
        let waits_for_reader = self.state() == PeerState::Zombie && session.is_some();
        let timed = !self.next_deadline().is_never() || waits_for_reader;
        assert!(timed, "no deadline: {self:?}");
        if let Some(session) = session {
            session.audit(audit);
        }
    }

    // What the application commands.

    /// Queues a packet, if the send budget has room (`deviations.md` T8). `now`: the latest time that
    /// the host was told.
    pub(crate) fn send(
        &mut self,
        now: Instant,
        channel: ChannelId,
        packet: Payload<'_>,
        options: SendOptions,
        buffers: &mut Buffers,
    ) -> Result<(), SendError> {
        let session = match &mut self.phase {
            Phase::Attempt { .. } | Phase::Newcomer { .. } => {
                return Err(SendError::NotConnected);
            }
            // A flush would never end if more could be queued behind it.
            Phase::Connected(connected) if connected.flush.is_none() => &mut connected.session,
            Phase::Connected(_) | Phase::Disconnecting(_) => return Err(SendError::Disconnecting),
            Phase::Disconnected(_) | Phase::Zombie(_) => return Err(SendError::UnknownPeer),
        };
        let has_receipt = options.receipt.is_some();
        let receipts = self.outbox.receipts_cost();
        session.send(now, channel.0, packet, (options, receipts), buffers)?;
        self.outbox.on_sent(has_receipt);
        Ok(())
    }

    /// Cancels the packets with this receipt. Whether there were any.
    pub(crate) fn cancel(&mut self, channel: ChannelId, token: u64) -> bool {
        let cancel = |session: &mut Session| session.sequencing.cancel(channel.0, token);
        self.state().is_live() && self.phase.session_mut().is_some_and(cancel)
    }

    /// Consumes the next packet that can be delivered (§3.2.3).
    pub(crate) fn receive(&mut self, now: Instant) -> Option<Received> {
        let received = self.phase.session_mut()?.receive(now);
        let Some((channel, mode, payload)) = received else {
            self.outbox.read_empty(); // the next packet is told by another `Readable`
            if let Phase::Disconnected(ended) | Phase::Zombie(ended) = &mut self.phase {
                ended.forget_if_read();
            }
            return None;
        };
        Some(Received {
            channel: ChannelId(channel),
            mode,
            payload,
        })
    }

    fn session_or_error(&mut self) -> Result<&mut Session, SendError> {
        let error = if self.is_attempt() {
            SendError::NotConnected
        } else {
            SendError::UnknownPeer
        };
        self.phase.session_mut().ok_or(error)
    }

    /// Changes the cap of a channel, in bytes a second.
    pub(crate) fn set_channel_rate(
        &mut self,
        now: Instant,
        channel: ChannelId,
        rate: u32,
    ) -> Result<(), SendError> {
        self.session_or_error()?
            .set_channel_rate(now, channel.0, rate.max(1))
    }

    /// Changes the most that we send, in bytes a second.
    pub(crate) fn set_send_rate(&mut self, rate: u32) -> Result<(), SendError> {
        let session = self.session_or_error()?;
        session.transfer.set_send_rate(rate.max(1));
        Ok(())
    }

    /// Changes the most that we want to receive, in bytes a second.
    pub(crate) fn set_receive_rate(&mut self, rate: u32) -> Result<(), SendError> {
        let session = self.session_or_error()?;
        session.transfer.set_receive_rate(rate.max(1));
        Ok(())
    }

    // What the application hears.

    /// The next thing to tell the application.
    pub(crate) fn next_news(&mut self) -> Option<News> {
        let is_connected = self.state() == PeerState::Connected;
        self.outbox.next(self.phase.session_mut(), is_connected)
    }

    /// Whether there is news of the kinds that sending can bring about.
    pub(crate) fn has_news(&self) -> bool {
        self.outbox.has_news(self.phase.session())
    }

    /// Whether there is news of packets with receipts.
    pub(crate) fn has_receipts(&self) -> bool {
        self.phase.session().is_some_and(Session::has_receipts)
    }

    /// Notes that the application has taken the event.
    pub(crate) fn readable_taken(&mut self) {
        self.outbox.readable_taken(self.is_readable());
    }

    /// As [`readable_taken`](Self::readable_taken).
    pub(crate) const fn writable_taken(&mut self) {
        self.outbox.writable_taken();
    }

    /// As [`readable_taken`](Self::readable_taken). The longest datagram that the path carries by now.
    pub(crate) const fn narrowed_taken(&mut self) -> Option<u16> {
        self.outbox.narrowed_taken()
    }

    /// As [`readable_taken`](Self::readable_taken). Whether there is news: room in the send budget.
    pub(crate) fn receipt_taken(&mut self) -> bool {
        self.outbox.receipt_taken();
        self.outbox.owes_writable(self.phase.session())
    }
}
