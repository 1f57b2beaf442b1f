//! What an application asks of the host, with the clock filled in.

use core::net::SocketAddr;
use std::io;

use porous_proto::{
    AnswerError, ChannelId, ConnectError, ConnectionIds, ConnectionIdsError, Disconnect, Event,
    Host, HostStats, Instant, Listen, ListenError, Peer, PeerId, PeerState, Received, SendError,
    SendOptions, UnknownPeer,
};

use crate::address::normalise;
use crate::{Endpoint, OsRng, SystemSocket};

impl<S: SystemSocket, C> Endpoint<S, C> {
    /// Whether strangers may connect; at first they may not.
    ///
    /// # Errors
    ///
    /// [`ListenError::NotAllowed`] with the configuration of a client.
    ///
    /// ```
    /// use porous_udp::{Config, Endpoint, Listen, bind};
    ///
    /// let mut server = Endpoint::new(bind("127.0.0.1:0")?, Config::new())?;
    /// server.listen(Listen::Open)?;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn listen(&mut self, policy: Listen) -> Result<(), ListenError> {
        self.bound.host.listen(policy)?;
        self.bound.socket.sources_wanted();
        Ok(())
    }

    /// Lets a peer in that asked by [`Event::Request`], under [`Listen::Ask`].
    ///
    /// # Errors
    ///
    /// Those of [`Host::accept`].
    ///
    /// ```
    /// use porous_udp::{AnswerError, Config, Endpoint, PeerId, bind};
    ///
    /// let mut server = Endpoint::new(bind("127.0.0.1:0")?, Config::new())?;
    /// let nobody = PeerId::from_u64(u64::MAX).unwrap();
    /// assert_eq!(server.accept(nobody), Err(AnswerError::UnknownPeer));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn accept(&mut self, peer: PeerId) -> Result<(), AnswerError> {
        self.bound.host.accept(self.bound.clock.now(), peer)
    }

    /// Turns a peer away that asked by [`Event::Request`], with up to 64 bytes for its application.
    ///
    /// # Errors
    ///
    /// Those of [`Host::refuse`].
    ///
    /// ```
    /// use porous_udp::{AnswerError, Config, Endpoint, PeerId, bind};
    ///
    /// let mut server = Endpoint::new(bind("127.0.0.1:0")?, Config::new())?;
    /// let nobody = PeerId::from_u64(u64::MAX).unwrap();
    /// assert_eq!(server.refuse(nobody, b"no"), Err(AnswerError::UnknownPeer));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn refuse(&mut self, peer: PeerId, data: &[u8]) -> Result<(), AnswerError> {
        self.bound.host.refuse(self.bound.clock.now(), peer, data)
    }

    /// Begins to connect. [`Event::Connected`] or [`Event::Disconnected`] will tell; the latter at
    /// once, with [`DisconnectReason::Unreachable`](porous_proto::DisconnectReason::Unreachable), if
    /// the system cannot send there. Where it tells that nobody is bound to the port,
    /// [`Event::PortClosed`] does: see [the crate](crate#where-nobody-is).
    ///
    /// # Errors
    ///
    /// [`ConnectError::BadAddress`] if nothing can come of it: see
    /// [the crate](crate#where-nobody-is). Otherwise those of [`Host::connect`].
    ///
    /// ```
    /// use porous_udp::{Config, Endpoint, bind};
    ///
    /// let mut client = Endpoint::new(bind("127.0.0.1:0")?, Config::client())?;
    /// let peer = client.connect(([127, 0, 0, 1], 4000).into())?;
    /// assert!(client.peer(peer).is_some());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn connect(&mut self, to: SocketAddr) -> Result<PeerId, ConnectError> {
        self.connect_any(&[to])
    }

    /// Begins to connect to a host that may be at any of up to 8 addresses: see
    /// [`Host::connect_any`]. Those of which nothing can come are left out, and so are those to which
    /// the system cannot send when it comes to that.
    ///
    /// # Errors
    ///
    /// Those of [`Host::connect_any`], and [`ConnectError::BadAddress`] if nothing can come of any:
    /// it says why of the first.
    ///
    /// ```
    /// use porous_udp::{Config, Endpoint, bind};
    ///
    /// let mut client = Endpoint::new(bind("[::]:0")?, Config::client())?;
    /// let server = ["[::1]:4000".parse()?, "127.0.0.1:4000".parse()?];
    /// let peer = client.connect_any(&server)?;
    /// assert!(client.peer(peer).is_some());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn connect_any(&mut self, to: &[SocketAddr]) -> Result<PeerId, ConnectError> {
        self.connect_with(to, &[])
    }

    /// As [`connect_any`](Self::connect_any), with a greeting of up to 255 bytes for the application of
    /// the remote host, which reads it by [`Peer::greeting`](porous_proto::Peer::greeting) before it
    /// lets this one in. It carries no promise: see [`Host::connect_with`].
    ///
    /// # Errors
    ///
    /// Those of [`connect_any`](Self::connect_any), and [`ConnectError::TooLong`].
    ///
    /// ```
    /// use porous_udp::{Config, Endpoint, bind};
    ///
    /// let mut client = Endpoint::new(bind("127.0.0.1:0")?, Config::client())?;
    /// let peer = client.connect_with(&["127.0.0.1:4000".parse()?], b"name=Ada")?;
    /// assert!(client.peer(peer).is_some());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn connect_with(
        &mut self,
        to: &[SocketAddr],
        greeting: &[u8],
    ) -> Result<PeerId, ConnectError> {
        let mut bad = None;
        let mut fit = Vec::with_capacity(to.len());
        for to in to.iter().copied().map(normalise) {
            match self.bound.socket.bad_address(to) {
                None => fit.push(to),
                Some(why) => bad = bad.or(Some(ConnectError::BadAddress(why))),
            }
        }
        if let (true, Some(bad)) = (fit.is_empty(), bad) {
            return Err(bad);
        }
        let now = self.bound.clock.now();
        let peer = self.bound.host.connect_with(now, &fit, greeting)?;
        self.bound.socket.ask_for_closed_ports(true);
        Ok(peer)
    }

    /// Queues a packet. It leaves with the driver's next `step` or `wait`.
    ///
    /// # Errors
    ///
    /// See [`SendError`]; after [`SendError::Full`], [`Event::Writable`] tells when to go on.
    ///
    /// ```
    /// use porous_udp::{ChannelId, Config, Endpoint, Mode, SendError, bind};
    ///
    /// let mut client = Endpoint::new(bind("127.0.0.1:0")?, Config::client())?;
    /// let peer = client.connect(([127, 0, 0, 1], 4000).into())?;
    /// let early = client.send(peer, ChannelId(0), &b"hello"[..], Mode::Reliable);
    /// assert_eq!(early, Err(SendError::NotConnected));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn send(
        &mut self,
        peer: PeerId,
        channel: ChannelId,
        packet: impl Into<bytes::Bytes>,
        options: impl Into<SendOptions>,
    ) -> Result<(), SendError> {
        self.bound.host.send(peer, channel, packet, options)
    }

    /// Changes the cap of a channel to a peer, in bytes a second.
    ///
    /// # Errors
    ///
    /// See [`porous_proto::Host::set_channel_rate`].
    ///
    /// ```
    /// use porous_udp::{ChannelId, Config, Endpoint, SendError, bind};
    ///
    /// let mut client = Endpoint::new(bind("127.0.0.1:0")?, Config::client())?;
    /// let peer = client.connect(([127, 0, 0, 1], 4000).into())?;
    /// let early = client.set_channel_rate(peer, ChannelId(0), 20_000);
    /// assert_eq!(early, Err(SendError::NotConnected));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn set_channel_rate(
        &mut self,
        peer: PeerId,
        channel: ChannelId,
        bytes_a_second: u32,
    ) -> Result<(), SendError> {
        self.bound
            .host
            .set_channel_rate(peer, channel, bytes_a_second)
    }

    /// Changes the most that is sent to a peer, in bytes a second.
    ///
    /// # Errors
    ///
    /// See [`porous_proto::Host::set_send_rate`].
    ///
    /// ```
    /// use porous_udp::{Config, Endpoint, SendError, bind};
    ///
    /// let mut client = Endpoint::new(bind("127.0.0.1:0")?, Config::client())?;
    /// let peer = client.connect(([127, 0, 0, 1], 4000).into())?;
    /// let early = client.set_send_rate(peer, 20_000);
    /// assert_eq!(early, Err(SendError::NotConnected));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn set_send_rate(&mut self, peer: PeerId, bytes_a_second: u32) -> Result<(), SendError> {
        self.bound.host.set_send_rate(peer, bytes_a_second)
    }

    /// Changes the most that a peer is asked to send, in bytes a second.
    ///
    /// # Errors
    ///
    /// See [`porous_proto::Host::set_receive_rate`].
    ///
    /// ```
    /// use porous_udp::{Config, Endpoint, SendError, bind};
    ///
    /// let mut client = Endpoint::new(bind("127.0.0.1:0")?, Config::client())?;
    /// let peer = client.connect(([127, 0, 0, 1], 4000).into())?;
    /// let early = client.set_receive_rate(peer, 20_000);
    /// assert_eq!(early, Err(SendError::NotConnected));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn set_receive_rate(&mut self, peer: PeerId, bytes_a_second: u32) -> Result<(), SendError> {
        self.bound.host.set_receive_rate(peer, bytes_a_second)
    }

    /// Changes the most that is sent to all peers together, in bytes a second: see
    /// [`Host::set_host_send_rate`].
    ///
    /// ```
    /// use porous_udp::{Config, Endpoint, bind};
    ///
    /// let mut server = Endpoint::new(bind("127.0.0.1:0")?, Config::new())?;
    /// server.set_host_send_rate(1_250_000);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn set_host_send_rate(&mut self, bytes_a_second: u32) {
        self.bound.host.set_host_send_rate(bytes_a_second);
    }

    /// Changes how the ids of new connections are made, for whatever routes datagrams by them.
    ///
    /// # Errors
    ///
    /// Those of [`Host::set_connection_ids`].
    ///
    /// ```
    /// use porous_udp::{Config, ConnectionIds, Endpoint, bind};
    ///
    /// let config = Config::new().connection_id_len(8)?;
    /// let mut server = Endpoint::new(bind("127.0.0.1:0")?, config)?;
    /// server.set_connection_ids(ConnectionIds::Custom(|id| id[0] = 3))?;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn set_connection_ids(&mut self, ids: ConnectionIds) -> Result<(), ConnectionIdsError> {
        self.bound.host.set_connection_ids(ids)
    }

    /// Cancels the packets of a channel that were sent with this receipt: see [`Host::cancel`].
    /// Whether there were any.
    ///
    /// ```
    /// use porous_udp::{ChannelId, Config, Endpoint, bind};
    ///
    /// let mut client = Endpoint::new(bind("127.0.0.1:0")?, Config::client())?;
    /// let peer = client.connect(([127, 0, 0, 1], 4000).into())?;
    /// assert!(!client.cancel(peer, ChannelId(0), 7));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn cancel(&mut self, peer: PeerId, channel: ChannelId, token: u64) -> bool {
        self.bound.host.cancel(peer, channel, token)
    }

    /// The next packet from this peer.
    ///
    /// ```
    /// use porous_udp::{Config, Endpoint, bind};
    ///
    /// let mut client = Endpoint::new(bind("127.0.0.1:0")?, Config::client())?;
    /// let peer = client.connect(([127, 0, 0, 1], 4000).into())?;
    /// assert_eq!(client.receive(peer), None);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn receive(&mut self, peer: PeerId) -> Option<Received> {
        self.bound.host.receive(peer)
    }

    /// Ends a connection; [`Event::Disconnected`] comes when it has ended. Go on stepping until
    /// then, or the other side must wait for its timeout.
    ///
    /// # Errors
    ///
    /// [`UnknownPeer`] if it has ended already.
    ///
    /// ```
    /// use porous_udp::{Config, Disconnect, Endpoint, bind};
    ///
    /// let mut client = Endpoint::new(bind("127.0.0.1:0")?, Config::client())?;
    /// let peer = client.connect(([127, 0, 0, 1], 4000).into())?;
    /// client.disconnect(peer, Disconnect::Now { reason: 0 })?;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn disconnect(&mut self, peer: PeerId, how: Disconnect) -> Result<(), UnknownPeer> {
        self.bound
            .host
            .disconnect(self.bound.clock.now(), peer, how)
    }

    /// Lets nobody in any more, and ends all connections; their [`Event::Disconnected`] come when they
    /// have ended. Go on stepping until [`is_empty`](Self::is_empty). A connection that is being
    /// flushed goes like this from now on.
    ///
    /// ```
    /// use porous_udp::{Config, Disconnect, Endpoint, bind};
    ///
    /// let mut server = Endpoint::new(bind("127.0.0.1:0")?, Config::new())?;
    /// server.disconnect_all(Disconnect::Now { reason: 0 });
    /// assert!(server.is_empty());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn disconnect_all(&mut self, how: Disconnect) {
        self.bound.host.disconnect_all(self.bound.clock.now(), how);
    }

    /// Whether there is nobody to be connected, connected or to be disconnected any more, and nothing
    /// waits for room in the socket: after [`disconnect_all`](Self::disconnect_all), whether all know.
    ///
    /// ```
    /// use porous_udp::{Config, Endpoint, bind};
    ///
    /// let mut client = Endpoint::new(bind("127.0.0.1:0")?, Config::client())?;
    /// assert!(client.is_empty());
    /// client.connect(([127, 0, 0, 1], 4000).into())?;
    /// assert!(!client.is_empty());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let is_over = |(_, peer): (_, &Peer)| {
            matches!(peer.state(), PeerState::Disconnected | PeerState::Zombie)
        };
        self.bound.outbox.is_empty() && self.bound.host.peers().all(is_over)
    }

    /// The next event. Call it until it returns `None`.
    ///
    /// ```
    /// use porous_udp::{Config, Endpoint, bind};
    ///
    /// let mut host = Endpoint::new(bind("127.0.0.1:0")?, Config::new())?;
    /// host.transmit()?;
    /// assert_eq!(host.poll_event(), None);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn poll_event(&mut self) -> Option<Event<SocketAddr>> {
        self.bound.host.poll_event()
    }

    /// A peer: its state and statistics.
    ///
    /// ```
    /// use porous_udp::{Config, Endpoint, PeerState, bind};
    ///
    /// let mut client = Endpoint::new(bind("127.0.0.1:0")?, Config::client())?;
    /// let peer = client.connect(([127, 0, 0, 1], 4000).into())?;
    /// assert_eq!(client.peer(peer).unwrap().state(), PeerState::Connecting);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn peer(&self, peer: PeerId) -> Option<&Peer> {
        self.bound.host.peer(peer)
    }

    /// The live peers: those that have not ended.
    ///
    /// ```
    /// use porous_udp::{Config, Endpoint, bind};
    ///
    /// let host = Endpoint::new(bind("127.0.0.1:0")?, Config::new())?;
    /// assert_eq!(host.peers().count(), 0);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn peers(&self) -> impl Iterator<Item = (PeerId, &Peer)> {
        self.bound.host.peers()
    }

    /// The peers of which packets wait to be received, those included that have ended.
    ///
    /// ```
    /// use porous_udp::{Config, Endpoint, bind};
    ///
    /// let host = Endpoint::new(bind("127.0.0.1:0")?, Config::new())?;
    /// assert_eq!(host.readable().count(), 0);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn readable(&self) -> impl Iterator<Item = PeerId> {
        self.bound.host.readable()
    }

    /// Where a peer is.
    ///
    /// ```
    /// use porous_udp::{Config, Endpoint, bind};
    ///
    /// let mut client = Endpoint::new(bind("127.0.0.1:0")?, Config::client())?;
    /// let server = ([127, 0, 0, 1], 4000).into();
    /// let peer = client.connect(server)?;
    /// assert_eq!(client.address(peer), Some(server));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn address(&self, peer: PeerId) -> Option<SocketAddr> {
        self.bound.host.address(peer)
    }

    /// What the host has counted since it was made.
    ///
    /// ```
    /// use porous_udp::{Config, Endpoint, bind};
    ///
    /// let host = Endpoint::new(bind("127.0.0.1:0")?, Config::new())?;
    /// assert_eq!(host.stats().datagrams_sent, 0);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn stats(&self) -> HostStats {
        self.bound.host.stats()
    }

    /// The address that the socket is bound to. If that is `[::]` or `0.0.0.0`, only its port is of
    /// use to others: connect to an address of the machine instead.
    ///
    /// # Errors
    ///
    /// The system's.
    ///
    /// ```
    /// use porous_udp::{Config, Endpoint, bind};
    ///
    /// let host = Endpoint::new(bind("127.0.0.1:0")?, Config::new())?;
    /// assert!(host.local_addr()?.ip().is_loopback());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.bound.socket.local_addr()
    }

    /// The time by the clock of this host.
    ///
    /// ```
    /// use porous_udp::{Config, Endpoint, Instant, bind};
    ///
    /// let host = Endpoint::new(bind("127.0.0.1:0")?, Config::new())?;
    /// assert!(host.now() >= Instant::ZERO);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn now(&self) -> Instant {
        self.bound.clock.now()
    }

    /// The state machine within, for what has no method here.
    ///
    /// ```
    /// use porous_udp::{Config, Endpoint, bind};
    ///
    /// let host = Endpoint::new(bind("127.0.0.1:0")?, Config::new())?;
    /// assert!(host.host().max_datagram_size() >= 1200);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub const fn host(&self) -> &Host<OsRng> {
        &self.bound.host
    }

    /// The state machine within. What needs a time takes that of [`now`](Self::now).
    ///
    /// ```
    /// use porous_udp::{Config, Endpoint, bind};
    ///
    /// let mut host = Endpoint::new(bind("127.0.0.1:0")?, Config::new())?;
    /// let now = host.now();
    /// host.host_mut().handle_timeout(now);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub const fn host_mut(&mut self) -> &mut Host<OsRng> {
        &mut self.bound.host
    }
}
