//! What an application can ask a peer.

use core::time::Duration;

use super::{Peer, PeerState};
use crate::ChannelId;
use crate::progress::{ReceiveProgress, SendProgress};
use crate::stats::PeerStats;

impl Peer {
    /// What received packets take that the application has not pulled.
    pub(crate) fn kept(&self) -> u64 {
        self.session.as_ref().map_or(0, |session| session.kept())
    }

    /// The state (§2.2).
    ///
    /// ```
    /// # use porous_proto::{doc::example_pair, PeerState};
    /// let (host, peer) = example_pair();
    /// assert_eq!(host.peer(peer).map(|peer| peer.state()), Some(PeerState::Connected));
    /// ```
    #[must_use]
    pub const fn state(&self) -> PeerState {
        self.state
    }

    /// How many channels the connection has, 0 while connecting.
    ///
    /// ```
    /// # use porous_proto::doc::example_pair;
    /// let (host, peer) = example_pair();
    /// assert_eq!(host.peer(peer).map(|peer| peer.channels()), Some(1));
    /// ```
    #[must_use]
    pub fn channels(&self) -> u8 {
        self.session
            .as_ref()
            .map_or(0, |session| session.agreement().channels)
    }

    /// The largest packet in bytes that both hosts agreed on, 0 while connecting.
    ///
    /// ```
    /// # use porous_proto::doc::example_pair;
    /// let (host, peer) = example_pair();
    /// assert_eq!(host.peer(peer).map(|peer| peer.max_packet()), Some(1 << 20));
    /// ```
    #[must_use]
    pub fn max_packet(&self) -> usize {
        let max = |bytes: u32| usize::try_from(bytes).unwrap_or(usize::MAX);
        self.session
            .as_ref()
            .map_or(0, |session| max(session.agreement().max_packet))
    }

    /// What the remote application said with its request to connect
    /// ([`Host::connect_with`](crate::Host::connect_with)): at most 255 bytes, and none if it said
    /// nothing, or while it is not known who the remote host is. It is there from
    /// [`Event::Request`](crate::Event::Request) on, or from [`Event::Connected`](crate::Event::Connected)
    /// if the host does not ask, for as long as the peer is. A listener gives none.
    ///
    /// It carries no promise: it was sent in the open, so that others may have read, changed or
    /// repeated it. What it claims is to be proved in some other way.
    ///
    /// ```
    /// # use porous_proto::doc::example_pair;
    /// let (host, peer) = example_pair();
    /// assert_eq!(host.peer(peer).map(|peer| peer.greeting()), Some(&b""[..]));
    /// ```
    #[must_use]
    pub fn greeting(&self) -> &[u8] {
        &self.greeting
    }

    /// How long the remote host stands silence before it ends the connection: its
    /// [`Config::timeout`](crate::Config::timeout), in whole milliseconds. `None` while connecting, after
    /// the end, and of a host that does not say.
    ///
    /// An application that is going to be silent itself, because it is not stepped while a level loads,
    /// knows by this how long it may be.
    ///
    /// ```
    /// # use porous_proto::doc::example_pair;
    /// use core::time::Duration;
    ///
    /// let (host, peer) = example_pair();
    /// let patience = host.peer(peer).and_then(|peer| peer.remote_timeout());
    /// assert_eq!(patience, Some(Duration::from_secs(10)));
    /// ```
    #[must_use]
    pub fn remote_timeout(&self) -> Option<Duration> {
        let session = self.session.as_deref()?;
        session.agreement().remote_timeout()
    }

    /// The largest packet in bytes that leaves as one message in one datagram now, 0 while connecting:
    /// a longer one is cut in two, which may share a datagram while it is at most some 30 bytes longer.
    /// 48 bytes less than the largest datagram that the path is known to carry
    /// ([`PeerStats::path_mtu`]), and less than that where the remote host's connection id is longer
    /// than 8 bytes, but no more than [`max_packet`](Self::max_packet). It only changes with
    /// [`Config::path_mtu_discovery`](crate::Config::path_mtu_discovery), and may shrink as well.
    ///
    /// Smaller packets share a datagram. A larger one is not slower than small ones of the same length
    /// together; but an unreliable one is lost if one of its fragments is.
    ///
    /// ```
    /// # use porous_proto::doc::example_pair;
    /// let (host, peer) = example_pair();
    /// assert_eq!(host.peer(peer).map(|peer| peer.max_unfragmented()), Some(1152));
    /// ```
    #[must_use]
    pub fn max_unfragmented(&self) -> usize {
        self.session.as_ref().map_or(0, |session| {
            session.transfer().most_of_packet().min(self.max_packet())
        })
    }

    /// How far the packet with this [receipt](crate::SendOptions::receipt) has come, the oldest one if
    /// several have it. `None` from when what became of it is known, which
    /// [`Event::Receipt`](crate::Event::Receipt) tells, and if there is none.
    ///
    /// Costs as much as a look into a tree.
    ///
    /// ```
    /// # use porous_proto::doc::example_pair;
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
        self.session.as_ref()?.send_progress(channel.0, receipt)
    }

    /// How much has come of the next packet of a channel that came in part: of several the one that was
    /// sent first. `None` if there is none: packets that have come whole are
    /// [received](crate::Host::receive).
    ///
    /// Looks at the packets before it that have come and wait, at most `N_Q`.
    ///
    /// ```
    /// # use porous_proto::doc::example_pair;
    /// use porous_proto::ChannelId;
    ///
    /// # let (host, peer) = example_pair();
    /// let progress = host.peer(peer).and_then(|peer| peer.receive_progress(ChannelId(0)));
    /// assert_eq!(progress, None, "nothing has come");
    /// ```
    #[must_use]
    pub fn receive_progress(&self, channel: ChannelId) -> Option<ReceiveProgress> {
        self.session.as_ref()?.receive_progress(channel.0)
    }

    /// Bytes accepted by `send` that wait to be sent or acknowledged, 64 a packet included.
    ///
    /// ```
    /// # use porous_proto::doc::example_pair;
    /// let (host, peer) = example_pair();
    /// assert_eq!(host.peer(peer).map(|peer| peer.queued_bytes()), Some(0));
    /// ```
    #[must_use]
    pub fn queued_bytes(&self) -> usize {
        let queued = self.session.as_ref().map_or(0, |session| session.queued());
        usize::try_from(queued).unwrap_or(usize::MAX)
    }

    /// `T_rtt,avg` (5): 200 ms until it has been measured.
    ///
    /// ```
    /// # use porous_proto::doc::example_pair;
    /// let (host, peer) = example_pair();
    /// assert!(host.peer(peer).is_some_and(|peer| peer.rtt() < core::time::Duration::from_secs(1)));
    /// ```
    #[must_use]
    pub fn rtt(&self) -> Duration {
        self.stats().rtt
    }

    /// Everything that is counted and estimated; of a peer that has ended, what it was then.
    ///
    /// ```
    /// # use porous_proto::doc::example_pair;
    /// let (host, peer) = example_pair();
    /// assert!(host.peer(peer).is_some_and(|peer| peer.stats().datagrams_sent > 0));
    /// ```
    #[must_use]
    pub fn stats(&self) -> PeerStats {
        if let Some(last) = &self.last_stats {
            return **last;
        }
        let mut stats = PeerStats {
            datagrams_sent: self.traffic.datagrams_sent,
            datagrams_received: self.traffic.datagrams_received,
            bytes_sent: self.traffic.bytes_sent,
            bytes_received: self.traffic.bytes_received,
            send_rate: self.traffic.send_rate.recent(self.traffic.bytes_sent),
            receive_rate: (self.traffic.receive_rate).recent(self.traffic.bytes_received),
            ..PeerStats::default()
        };
        if let Some(session) = &self.session {
            let transfer = session.transfer();
            stats.rtt = transfer.rtt().smoothed();
            stats.rtt_variance = transfer.rtt().variation();
            stats.resend_timeout = transfer.resend_timeout();
            stats.flight = transfer.flight();
            stats.window = transfer.window();
            stats.path_mtu = transfer.path_mtu();
            stats.max_unfragmented = u16::try_from(self.max_unfragmented()).unwrap_or(u16::MAX);
            let (ecn, marked) = transfer.marks();
            (stats.ecn, stats.frames_marked) = (ecn, marked.into());
            stats.queued_bytes = u32::try_from(session.queued()).unwrap_or(u32::MAX);
            stats.frames_sent = transfer.outbound.figures.sent;
            stats.frames_lost = transfer.outbound.figures.lost;
            let figures = &transfer.outbound.figures;
            stats.rtt_minimum = transfer.rtt().minimum().unwrap_or_default();
            stats.jitter = transfer.rtt().jitter.get();
            stats.frames_spurious = figures.spurious;
            stats.frames_received = transfer.inbound.frames();
            stats.frames_missing = transfer.inbound.missing();
            stats.loss_sent = figures.sent_loss.recent();
            stats.loss_received = transfer.inbound.recent_loss();
            stats.quality = stats.rate_quality();
            stats.packets_sent = session.sent.packets;
            stats.packet_bytes_sent = session.sent.bytes;
            stats.packets_received = session.received.packets;
            stats.packet_bytes_received = session.received.bytes;
            stats.answers_withheld = transfer.answers_withheld();
            let totals = session.totals();
            stats.packets_expired = totals.expired;
            stats.packets_replaced = totals.replaced;
            stats.packets_cancelled = totals.cancelled;
            stats.packets_incomplete = totals.incomplete;
            stats.packets_evicted = totals.evicted;
        }
        stats
    }

    pub(crate) const fn is_inbound(&self) -> bool {
        self.inbound
    }

    /// Whether this is a connection attempt of ours.
    pub(crate) const fn is_attempt(&self) -> bool {
        matches!(self.state, PeerState::Connecting) && self.handshake.is_some()
    }

    /// Whether it is sent to that one of its addresses where the newest datagram came from.
    pub(crate) const fn follows(&self) -> bool {
        self.follows
    }

    /// Whether no datagram of the connection has come yet.
    pub(crate) fn is_silent(&self) -> bool {
        let session = self.session.as_deref();
        session.is_none_or(|session| session.transfer().inbound.frames() == 0)
    }

    pub(crate) const fn nonce(&self) -> u64 {
        self.nonce
    }

    /// The random id of the remote host, once it is fixed.
    pub(crate) fn remote_nonce(&self) -> Option<u64> {
        self.remote.map(|remote| remote.nonce)
    }
}
