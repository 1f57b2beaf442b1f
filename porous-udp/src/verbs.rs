//! The verbs of an application, written and documented once for each type that has them.

/// Gives a type all that an application says to a host and asks of it; each verb is passed on to
/// the field `$to`, which has them too. For an [`Endpoint`](crate::Endpoint) that is the host with its
/// socket, for a driver's host the endpoint.
///
/// The examples begin with the line `$names`, which brings the names in, and `$server` or `$client`,
/// which make the `host`.
#[doc(hidden)]
#[macro_export]
macro_rules! verbs {
    ($to:ident, $names:literal, $server:literal, $client:literal) => {
        /// Whether strangers may connect; at first they may not.
        ///
        /// # Errors
        ///
        /// [`ListenError::NotAllowed`](crate::ListenError::NotAllowed) with the configuration of a
        /// client.
        ///
        /// ```
        #[doc = $names]
        ///
        #[doc = $server]
        /// host.listen(Listen::Open)?;
        /// # Ok::<(), Box<dyn core::error::Error>>(())
        /// ```
        pub fn listen(&mut self, policy: $crate::Listen) -> Result<(), $crate::ListenError> {
            self.$to.listen(policy)
        }

        /// Lets a peer in that asked by [`Event::Request`](crate::Event::Request), under
        /// [`Listen::Ask`](crate::Listen::Ask).
        ///
        /// # Errors
        ///
        /// Those of [`Host::accept`](crate::Host::accept).
        ///
        /// ```
        #[doc = $names]
        ///
        #[doc = $server]
        /// let nobody = PeerId::from_u64(u64::MAX).unwrap();
        /// assert!(host.accept(nobody).is_err());
        /// # Ok::<(), std::io::Error>(())
        /// ```
        pub fn accept(&mut self, peer: $crate::PeerId) -> Result<(), $crate::AnswerError> {
            self.$to.accept(peer)
        }

        /// Turns a peer away that asked by [`Event::Request`](crate::Event::Request), with up to 64
        /// bytes for its application.
        ///
        /// # Errors
        ///
        /// Those of [`Host::refuse`](crate::Host::refuse).
        ///
        /// ```
        #[doc = $names]
        ///
        #[doc = $server]
        /// let nobody = PeerId::from_u64(u64::MAX).unwrap();
        /// assert!(host.refuse(nobody, b"the match has begun").is_err());
        /// # Ok::<(), std::io::Error>(())
        /// ```
        pub fn refuse(
            &mut self,
            peer: $crate::PeerId,
            data: &[u8],
        ) -> Result<(), $crate::AnswerError> {
            self.$to.refuse(peer, data)
        }

        /// Begins to connect. [`Event::Connected`](crate::Event::Connected) or
        /// [`Event::Disconnected`](crate::Event::Disconnected) will tell; the latter at once, with
        /// [`DisconnectReason::Unreachable`](crate::DisconnectReason::Unreachable), if the system
        /// cannot send there. Where it tells that nobody is bound to the port,
        /// [`Event::PortClosed`](crate::Event::PortClosed) does: see [the crate](crate#addresses).
        ///
        /// # Errors
        ///
        /// [`ConnectError::BadAddress`](crate::ConnectError::BadAddress) if nothing can come of it:
        /// see [the crate](crate#addresses). Otherwise those of
        /// [`Host::connect`](crate::Host::connect).
        ///
        /// ```
        #[doc = $names]
        ///
        #[doc = $client]
        /// let peer = host.connect(([127, 0, 0, 1], 4000).into())?;
        /// assert!(host.peer(peer).is_some());
        /// # Ok::<(), Box<dyn core::error::Error>>(())
        /// ```
        pub fn connect(
            &mut self,
            to: core::net::SocketAddr,
        ) -> Result<$crate::PeerId, $crate::ConnectError> {
            self.connect_any(&[to])
        }

        /// Begins to connect to a host that may be at any of up to 8 addresses: see
        /// [`Host::connect_any`](crate::Host::connect_any). Those of which nothing can come are left
        /// out, and so are those to which the system cannot send when it comes to that.
        ///
        /// # Errors
        ///
        /// Those of [`Host::connect_any`](crate::Host::connect_any), and
        /// [`ConnectError::BadAddress`](crate::ConnectError::BadAddress) if nothing can come of any: it
        /// says why of the first.
        ///
        /// ```
        #[doc = $names]
        ///
        #[doc = $client]
        /// let server = ["127.0.0.1:4000".parse()?, "127.0.0.1:4001".parse()?];
        /// let peer = host.connect_any(&server)?;
        /// assert!(host.peer(peer).is_some());
        /// # Ok::<(), Box<dyn core::error::Error>>(())
        /// ```
        pub fn connect_any(
            &mut self,
            to: &[core::net::SocketAddr],
        ) -> Result<$crate::PeerId, $crate::ConnectError> {
            self.connect_with(to, &[])
        }

        /// As [`connect_any`](Self::connect_any), with a greeting of up to 255 bytes for the
        /// application of the remote host, which reads it by
        /// [`Peer::greeting`](crate::Peer::greeting) before it lets this one in. It carries no
        /// promise: see [`Host::connect_with`](crate::Host::connect_with).
        ///
        /// # Errors
        ///
        /// Those of [`connect_any`](Self::connect_any), and
        /// [`ConnectError::TooLong`](crate::ConnectError::TooLong).
        ///
        /// ```
        #[doc = $names]
        ///
        #[doc = $client]
        /// let peer = host.connect_with(&["127.0.0.1:4000".parse()?], b"name=Ada")?;
        /// assert!(host.peer(peer).is_some());
        /// # Ok::<(), Box<dyn core::error::Error>>(())
        /// ```
        pub fn connect_with(
            &mut self,
            to: &[core::net::SocketAddr],
            greeting: &[u8],
        ) -> Result<$crate::PeerId, $crate::ConnectError> {
            self.$to.connect_with(to, greeting)
        }

        /// Queues a packet. It leaves with the driver's next `step` or `wait`.
        ///
        /// # Errors
        ///
        /// See [`SendError`](crate::SendError); after [`SendError::Full`](crate::SendError::Full),
        /// [`Event::Writable`](crate::Event::Writable) tells when to go on.
        ///
        /// ```
        #[doc = $names]
        ///
        #[doc = $client]
        /// let peer = host.connect(([127, 0, 0, 1], 4000).into())?;
        /// let early = host.send(peer, ChannelId(0), "hello", Mode::Reliable);
        /// assert_eq!(early, Err(SendError::NotConnected));
        /// # Ok::<(), Box<dyn core::error::Error>>(())
        /// ```
        pub fn send(
            &mut self,
            peer: $crate::PeerId,
            channel: $crate::ChannelId,
            packet: impl Into<$crate::Bytes>,
            options: impl Into<$crate::SendOptions>,
        ) -> Result<(), $crate::SendError> {
            self.$to.send(peer, channel, packet, options)
        }

        /// Cancels the packets of a channel that were sent with this receipt: see
        /// [`Host::cancel`](crate::Host::cancel). Whether there were any.
        ///
        /// ```
        #[doc = $names]
        ///
        #[doc = $client]
        /// let peer = host.connect(([127, 0, 0, 1], 4000).into())?;
        /// assert!(!host.cancel(peer, ChannelId(0), 7));
        /// # Ok::<(), Box<dyn core::error::Error>>(())
        /// ```
        pub fn cancel(
            &mut self,
            peer: $crate::PeerId,
            channel: $crate::ChannelId,
            token: u64,
        ) -> bool {
            self.$to.cancel(peer, channel, token)
        }

        /// The next packet from this peer.
        ///
        /// ```
        #[doc = $names]
        ///
        #[doc = $client]
        /// let peer = host.connect(([127, 0, 0, 1], 4000).into())?;
        /// assert_eq!(host.receive(peer), None);
        /// # Ok::<(), Box<dyn core::error::Error>>(())
        /// ```
        pub fn receive(&mut self, peer: $crate::PeerId) -> Option<$crate::Received> {
            self.$to.receive(peer)
        }

        /// The next event. Call it until it returns `None`.
        ///
        /// ```
        #[doc = $names]
        ///
        #[doc = $server]
        /// assert_eq!(host.poll_event(), None);
        /// # Ok::<(), std::io::Error>(())
        /// ```
        pub fn poll_event(&mut self) -> Option<$crate::Event<core::net::SocketAddr>> {
            self.$to.poll_event()
        }

        /// Ends a connection; [`Event::Disconnected`](crate::Event::Disconnected) comes when it has
        /// ended. Go on stepping until then, or the other side must wait for its timeout.
        ///
        /// # Errors
        ///
        /// [`UnknownPeer`](crate::UnknownPeer) if it has ended already.
        ///
        /// ```
        #[doc = $names]
        ///
        #[doc = $client]
        /// let peer = host.connect(([127, 0, 0, 1], 4000).into())?;
        /// host.disconnect(peer, Disconnect::Now { reason: 0 })?;
        /// # Ok::<(), Box<dyn core::error::Error>>(())
        /// ```
        pub fn disconnect(
            &mut self,
            peer: $crate::PeerId,
            how: $crate::Disconnect,
        ) -> Result<(), $crate::UnknownPeer> {
            self.$to.disconnect(peer, how)
        }

        /// Lets nobody in any more, and ends all connections; their
        /// [`Event::Disconnected`](crate::Event::Disconnected) come when they have ended. Go on
        /// stepping until [`is_empty`](Self::is_empty). A connection that is being flushed goes like
        /// this from now on.
        ///
        /// ```
        #[doc = $names]
        ///
        #[doc = $server]
        /// host.disconnect_all(Disconnect::Now { reason: 0 });
        /// assert!(host.is_empty());
        /// # Ok::<(), std::io::Error>(())
        /// ```
        pub fn disconnect_all(&mut self, how: $crate::Disconnect) {
            self.$to.disconnect_all(how);
        }

        /// Changes the cap of a channel to a peer, in bytes a second.
        ///
        /// # Errors
        ///
        /// Those of [`Host::set_channel_rate`](crate::Host::set_channel_rate).
        ///
        /// ```
        #[doc = $names]
        ///
        #[doc = $client]
        /// let peer = host.connect(([127, 0, 0, 1], 4000).into())?;
        /// let early = host.set_channel_rate(peer, ChannelId(0), 20_000);
        /// assert_eq!(early, Err(SendError::NotConnected));
        /// # Ok::<(), Box<dyn core::error::Error>>(())
        /// ```
        pub fn set_channel_rate(
            &mut self,
            peer: $crate::PeerId,
            channel: $crate::ChannelId,
            bytes_a_second: u32,
        ) -> Result<(), $crate::SendError> {
            self.$to.set_channel_rate(peer, channel, bytes_a_second)
        }

        /// Changes the most that is sent to a peer, in bytes a second.
        ///
        /// # Errors
        ///
        /// Those of [`Host::set_send_rate`](crate::Host::set_send_rate).
        ///
        /// ```
        #[doc = $names]
        ///
        #[doc = $client]
        /// let peer = host.connect(([127, 0, 0, 1], 4000).into())?;
        /// let early = host.set_send_rate(peer, 20_000);
        /// assert_eq!(early, Err(SendError::NotConnected));
        /// # Ok::<(), Box<dyn core::error::Error>>(())
        /// ```
        pub fn set_send_rate(
            &mut self,
            peer: $crate::PeerId,
            bytes_a_second: u32,
        ) -> Result<(), $crate::SendError> {
            self.$to.set_send_rate(peer, bytes_a_second)
        }

        /// Changes the most that a peer is asked to send, in bytes a second.
        ///
        /// # Errors
        ///
        /// Those of [`Host::set_receive_rate`](crate::Host::set_receive_rate).
        ///
        /// ```
        #[doc = $names]
        ///
        #[doc = $client]
        /// let peer = host.connect(([127, 0, 0, 1], 4000).into())?;
        /// let early = host.set_receive_rate(peer, 20_000);
        /// assert_eq!(early, Err(SendError::NotConnected));
        /// # Ok::<(), Box<dyn core::error::Error>>(())
        /// ```
        pub fn set_receive_rate(
            &mut self,
            peer: $crate::PeerId,
            bytes_a_second: u32,
        ) -> Result<(), $crate::SendError> {
            self.$to.set_receive_rate(peer, bytes_a_second)
        }

        /// Changes the most that is sent to all peers together, in bytes a second: see
        /// [`Host::set_host_send_rate`](crate::Host::set_host_send_rate).
        ///
        /// ```
        #[doc = $names]
        ///
        #[doc = $server]
        /// host.set_host_send_rate(1_250_000);
        /// # Ok::<(), std::io::Error>(())
        /// ```
        pub fn set_host_send_rate(&mut self, bytes_a_second: u32) {
            self.$to.set_host_send_rate(bytes_a_second);
        }

        /// Changes how the ids of new connections are made, for whatever routes datagrams by them.
        ///
        /// # Errors
        ///
        /// Those of [`Host::set_connection_ids`](crate::Host::set_connection_ids).
        ///
        /// ```
        #[doc = $names]
        ///
        #[doc = $server]
        /// host.set_connection_ids(ConnectionIds::Random)?;
        /// # Ok::<(), Box<dyn core::error::Error>>(())
        /// ```
        pub fn set_connection_ids(
            &mut self,
            ids: $crate::ConnectionIds,
        ) -> Result<(), $crate::ConnectionIdsError> {
            self.$to.set_connection_ids(ids)
        }

        /// Carries a command out, for a program that keeps or queues them. Each does what the method
        /// of its name does.
        ///
        /// # Errors
        ///
        /// That of the method, with what the command was about.
        ///
        /// ```
        #[doc = $names]
        ///
        #[doc = $server]
        /// host.execute(Command::Listen(Listen::Open))?;
        /// # Ok::<(), Box<dyn core::error::Error>>(())
        /// ```
        pub fn execute(
            &mut self,
            command: $crate::Command,
        ) -> Result<$crate::Executed, $crate::CommandError> {
            self.$to.execute(command)
        }

        /// How long `step` takes datagrams in, and how long it makes and sends them, at most. Default
        /// 8 ms, half a turn of a loop of 60 Hz. What is left waits for the next call. A batch that has
        /// begun is finished, of 512 datagrams to be taken in or 64 calls to send, and answers to
        /// strangers are sent in any case, of which the host keeps 1024 at most.
        ///
        /// With more time a call takes in more of what a flood brings; with less it leaves more to the
        /// game. A loop of few turns a second needs more time for a call, or more calls, and receives
        /// no more than its socket's [buffer](crate::SocketBuffers) holds from one to the next.
        ///
        /// ```
        /// use core::time::Duration;
        #[doc = $names]
        ///
        #[doc = $server]
        /// host.set_time_limit(Duration::from_millis(2)); // of a turn of 7 ms
        /// # Ok::<(), std::io::Error>(())
        /// ```
        pub const fn set_time_limit(&mut self, limit: core::time::Duration) {
            self.$to.set_time_limit(limit);
        }

        /// Whether there is nobody to be connected, connected or to be disconnected any more, and
        /// nothing waits for room in the socket: after [`disconnect_all`](Self::disconnect_all),
        /// whether all know.
        ///
        /// ```
        #[doc = $names]
        ///
        #[doc = $client]
        /// assert!(host.is_empty());
        /// host.connect(([127, 0, 0, 1], 4000).into())?;
        /// assert!(!host.is_empty());
        /// # Ok::<(), Box<dyn core::error::Error>>(())
        /// ```
        #[must_use]
        pub fn is_empty(&self) -> bool {
            self.$to.is_empty()
        }

        /// A peer: its state and statistics.
        ///
        /// ```
        #[doc = $names]
        ///
        #[doc = $client]
        /// let peer = host.connect(([127, 0, 0, 1], 4000).into())?;
        /// assert_eq!(host.peer(peer).unwrap().state(), PeerState::Connecting);
        /// # Ok::<(), Box<dyn core::error::Error>>(())
        /// ```
        #[must_use]
        pub fn peer(&self, peer: $crate::PeerId) -> Option<&$crate::Peer> {
            self.host().peer(peer)
        }

        /// The live peers: those that have not ended.
        ///
        /// ```
        #[doc = $names]
        ///
        #[doc = $client]
        /// let peer = host.connect(([127, 0, 0, 1], 4000).into())?;
        /// assert!(host.peers().map(|(id, _)| id).eq([peer]));
        /// # Ok::<(), Box<dyn core::error::Error>>(())
        /// ```
        pub fn peers(&self) -> impl Iterator<Item = ($crate::PeerId, &$crate::Peer)> {
            self.host().peers()
        }

        /// The peers of which packets wait to be received, those included that have ended.
        ///
        /// ```
        #[doc = $names]
        ///
        #[doc = $client]
        /// host.connect(([127, 0, 0, 1], 4000).into())?;
        /// assert_eq!(host.readable().count(), 0);
        /// # Ok::<(), Box<dyn core::error::Error>>(())
        /// ```
        pub fn readable(&self) -> impl Iterator<Item = $crate::PeerId> {
            self.host().readable()
        }

        /// Where a peer is.
        ///
        /// ```
        #[doc = $names]
        ///
        #[doc = $client]
        /// let server = ([127, 0, 0, 1], 4000).into();
        /// let peer = host.connect(server)?;
        /// assert_eq!(host.address(peer), Some(server));
        /// # Ok::<(), Box<dyn core::error::Error>>(())
        /// ```
        #[must_use]
        pub fn address(&self, peer: $crate::PeerId) -> Option<core::net::SocketAddr> {
            self.host().address(peer)
        }

        /// What the host has counted since it was made.
        ///
        /// ```
        #[doc = $names]
        ///
        #[doc = $client]
        /// host.connect(([127, 0, 0, 1], 4000).into())?;
        /// assert_eq!(host.stats().datagrams_sent, 0); // before the first step
        /// # Ok::<(), Box<dyn core::error::Error>>(())
        /// ```
        #[must_use]
        pub fn stats(&self) -> $crate::HostStats {
            self.host().stats()
        }

        /// What the socket did beside carrying datagrams.
        ///
        /// ```
        #[doc = $names]
        ///
        #[doc = $client]
        /// host.connect(([127, 0, 0, 1], 4000).into())?;
        /// assert_eq!(host.socket_stats().send_lost, 0);
        /// # Ok::<(), Box<dyn core::error::Error>>(())
        /// ```
        #[must_use]
        pub const fn socket_stats(&self) -> $crate::SocketStats {
            self.$to.socket_stats()
        }

        /// The address that the socket is bound to. If that is `[::]` or `0.0.0.0`, only its port is
        /// of use to others: connect to an address of the machine instead.
        ///
        /// # Errors
        ///
        /// The system's error.
        ///
        /// ```
        #[doc = $names]
        ///
        #[doc = $server]
        /// host.listen(Listen::Open)?;
        /// println!("clients connect to {}", host.local_addr()?);
        /// # Ok::<(), Box<dyn core::error::Error>>(())
        /// ```
        pub fn local_addr(&self) -> std::io::Result<core::net::SocketAddr> {
            self.$to.local_addr()
        }

        /// The time by the clock of this host.
        ///
        /// ```
        #[doc = $names]
        ///
        #[doc = $client]
        /// let began = host.now();
        /// host.connect(([127, 0, 0, 1], 4000).into())?;
        /// assert!(host.now() >= began);
        /// # Ok::<(), Box<dyn core::error::Error>>(())
        /// ```
        #[must_use]
        pub fn now(&self) -> $crate::Instant {
            self.$to.now()
        }

        /// The state machine within, for questions that have no method here. It cannot be changed from
        /// outside: what changes it has to pass the socket and the clock as well.
        ///
        /// ```
        #[doc = $names]
        ///
        #[doc = $client]
        /// host.connect(([127, 0, 0, 1], 4000).into())?;
        /// assert!(host.host().max_datagram_size() >= 1200);
        /// # Ok::<(), Box<dyn core::error::Error>>(())
        /// ```
        #[must_use]
        pub const fn host(&self) -> &$crate::Host<$crate::OsRng> {
            self.$to.host()
        }
    };
}
