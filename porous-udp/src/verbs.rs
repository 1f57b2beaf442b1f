//! The verbs of an application, written and documented once for each type that has them.

/// Gives a type all the verbs of an application. Each is passed on to the field `$to`, which has the same
/// verbs: for an [`Endpoint`](crate::Endpoint) that is the host with its socket, for a driver's host the
/// endpoint.
///
/// The examples begin with the line `$names`, which imports, and with `$server`, `$client` or, from a `config`,
/// `$sealed`, which make the `host`.
#[doc(hidden)]
#[macro_export]
macro_rules! verbs {
    ($to:ident, $names:literal, $server:literal, $client:literal, $sealed:literal) => {
        /// Sets whether strangers may connect. At first they may not.
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

        /// Accepts the request of a peer, which [`Event::Request`](crate::Event::Request) told of under
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

        /// Refuses the request of a peer, which [`Event::Request`](crate::Event::Request) told of. Up to
        /// 64 bytes of `data` are for the application of the peer.
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

        /// Begins to connect. The attempt ends with [`Event::Connected`](crate::Event::Connected) or
        /// [`Event::Disconnected`](crate::Event::Disconnected); the latter comes at once, with
        /// [`DisconnectReason::Unreachable`](crate::DisconnectReason::Unreachable), if the system
        /// cannot send to the address. Where the system tells that no socket is bound to the port, there
        /// is an [`Event::PortClosed`](crate::Event::PortClosed), and the attempt goes on: see
        /// [the crate](crate#addresses).
        ///
        /// # Errors
        ///
        /// [`ConnectError::BadAddress`](crate::ConnectError::BadAddress) if no host can be at the address:
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
        /// [`Host::connect_any`](crate::Host::connect_any). Addresses at which no host can be are left
        /// out, and so are addresses to which the system cannot send.
        ///
        /// # Errors
        ///
        /// Those of [`Host::connect_any`](crate::Host::connect_any), and
        /// [`ConnectError::BadAddress`](crate::ConnectError::BadAddress) if no host can be at any of the
        /// addresses: it says why of the first.
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

        /// As [`connect_any`](Self::connect_any), with a greeting of up to 255 bytes. The application of
        /// the remote host reads it by [`Peer::greeting`](crate::Peer::greeting) before it accepts. A
        /// greeting is not protected: see [`Host::connect_with`](crate::Host::connect_with).
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

        /// Begins to make a sealed connection, to a host that may be at any of up to 8 addresses: see
        /// [`Host::connect_sealed`](crate::Host::connect_sealed). It needs
        /// [`Config::sealed`](crate::Config::sealed) at both hosts.
        /// [`Peer::secured`](crate::Peer::secured) tells more once it is connected.
        ///
        /// # Errors
        ///
        /// Those of [`Host::connect_sealed`](crate::Host::connect_sealed), and
        /// [`ConnectError::BadAddress`](crate::ConnectError::BadAddress) if no host can be at any of the
        /// addresses.
        ///
        /// ```
        #[doc = $names]
        ///
        /// let config = Config::client().sealed(&[Suite::CHACHA_POLY])?;
        #[doc = $sealed]
        /// let peer = host.connect_sealed(&["127.0.0.1:4000".parse()?], &Credentials::new())?;
        /// assert!(host.peer(peer).is_some());
        /// # Ok::<(), Box<dyn core::error::Error>>(())
        /// ```
        #[cfg(feature = "seal")]
        pub fn connect_sealed(
            &mut self,
            to: &[core::net::SocketAddr],
            with: &$crate::seal::Credentials,
        ) -> Result<$crate::PeerId, $crate::ConnectError> {
            self.$to.connect_sealed(to, with)
        }

        /// Says how the host seals, from now on: with which keys, and whether clients have to prove their
        /// identity. Before the first call a host with [`Config::sealed`](crate::Config::sealed) seals with
        /// `RustCrypto`, has no keys, lets in every client that seals, and none that does not.
        ///
        /// The driver tells the host the time of day, by which tokens expire.
        ///
        /// ```
        #[doc = $names]
        ///
        /// let config = Config::new().sealed(&[Suite::CHACHA_POLY])?;
        #[doc = $sealed]
        /// host.set_security(Security::new(&RustCrypto).allow_plain());
        /// # Ok::<(), Box<dyn core::error::Error>>(())
        /// ```
        #[cfg(feature = "seal")]
        pub fn set_security(&mut self, security: $crate::seal::Security) {
            self.$to.set_security(security);
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
        pub fn send<'p>(
            &mut self,
            peer: $crate::PeerId,
            channel: $crate::ChannelId,
            packet: impl Into<$crate::Payload<'p>>,
            options: impl Into<$crate::SendOptions>,
        ) -> Result<(), $crate::SendError> {
            self.$to.send(peer, channel, packet, options)
        }

        /// Queues one packet for each peer that is connected, and returns the peers for which it was not queued:
        /// see [`Host::broadcast`](crate::Host::broadcast).
        ///
        /// ```
        #[doc = $names]
        ///
        #[doc = $server]
        /// for (peer, error) in host.broadcast(ChannelId(0), "the match begins", Mode::Reliable) {
        ///     eprintln!("{peer} does not hear of it: {error}");
        /// }
        /// # Ok::<(), std::io::Error>(())
        /// ```
        pub fn broadcast(
            &mut self,
            channel: $crate::ChannelId,
            packet: impl Into<$crate::Bytes>,
            options: impl Into<$crate::SendOptions>,
        ) -> Vec<($crate::PeerId, $crate::SendError)> {
            self.$to.broadcast(channel, packet, options)
        }

        /// Cancels the packets of a channel that were sent with this receipt: see
        /// [`Host::cancel`](crate::Host::cancel). Returns true if there were any.
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

        /// The next packet from this peer; `None` if none waits.
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

        /// Ends a connection. [`Event::Disconnected`](crate::Event::Disconnected) comes when it has
        /// ended. Go on stepping until then, or the remote host has to wait for its timeout.
        ///
        /// # Errors
        ///
        /// [`UnknownPeer`](crate::UnknownPeer) if the connection has ended already.
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

        /// Ends all connections, and lets no more strangers in. An
        /// [`Event::Disconnected`](crate::Event::Disconnected) comes when each has ended. Go on
        /// stepping until [`is_empty`](Self::is_empty). A connection that is being flushed ends as `how`
        /// says from now on.
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

        /// Prepares the end of a server: newcomers are refused as
        /// [`Full`](crate::Refusal::Full), so that they try another server, and each connection ends
        /// when all that was sent on it has been delivered, or `deadline` has passed. Go on stepping until
        /// [`is_empty`](Self::is_empty). See [`Host::drain`](crate::Host::drain).
        ///
        /// ```
        #[doc = $names]
        ///
        #[doc = $server]
        /// host.listen(Listen::Open)?;
        /// host.drain(3, core::time::Duration::from_secs(30));
        /// assert!(host.is_empty());
        /// # Ok::<(), Box<dyn core::error::Error>>(())
        /// ```
        pub fn drain(&mut self, reason: u32, deadline: core::time::Duration) {
            self.$to.drain(reason, deadline);
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

        /// Changes how the ids of new connections are made, for a load balancer that routes datagrams by
        /// them.
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

        /// Puts a suffix of up to 32 bytes behind the end of each datagram to this address, those of the
        /// handshake included: a token by which a proxy at the address, such as Quilkin, knows the server
        /// that the datagram is for. The proxy has to remove the suffix. Without bytes there is no suffix,
        /// as at first. Set it before you connect, each time with another token.
        ///
        /// [`Config::max_datagram`](crate::Config::max_datagram) and
        /// [`Config::path_mtu_discovery`](crate::Config::path_mtu_discovery) count what is sent, with the
        /// suffix: a connection through the proxy has datagrams that are shorter by its length (but not
        /// below 512 bytes), in both directions. Requests alone get longer: a server answers none shorter
        /// than [`Config::request_size`](crate::Config::request_size). At 1200 bytes a request and the
        /// longest suffix pass every path of IPv6; where the path carries less, make `request_size` smaller
        /// in both hosts. Rates and [statistics](Self::stats) do not count suffixes.
        ///
        /// # Errors
        ///
        /// [`SuffixError::TooLong`](crate::SuffixError::TooLong) above 32 bytes, and
        /// [`SuffixError::Connected`](crate::SuffixError::Connected) while a peer is connected at the
        /// address, or connects to it.
        ///
        /// ```
        #[doc = $names]
        ///
        #[doc = $client]
        /// let proxy = "127.0.0.1:7777".parse()?;
        /// host.set_suffix(proxy, b"the token of our match")?;
        /// host.connect(proxy)?;
        /// # Ok::<(), Box<dyn core::error::Error>>(())
        /// ```
        pub fn set_suffix(
            &mut self,
            to: core::net::SocketAddr,
            suffix: &[u8],
        ) -> Result<(), $crate::SuffixError> {
            self.$to.set_suffix(to, suffix)
        }

        /// Records this host from now on: all that happens to it, for a replay byte for byte (the crate
        /// `porous-trace`). Record before the host does anything else. What a trace holds, and what it gives
        /// away, stands in `docs/trace.md`. [`end_recording`](Self::end_recording) or the end of the host ends
        /// the recording.
        ///
        /// # Errors
        ///
        /// [`RecordError::Begun`](crate::trace::RecordError::Begun) if the host was used already.
        ///
        /// ```
        #[doc = $names]
        ///
        #[doc = $server]
        /// let recorder = trace::Recorder::new(std::io::sink(), trace::Keep::nothing());
        /// host.record(recorder)?;
        /// host.listen(Listen::Open)?;
        /// # Ok::<(), Box<dyn core::error::Error>>(())
        /// ```
        #[cfg(feature = "trace")]
        pub fn record(
            &mut self,
            recorder: $crate::trace::Recorder,
        ) -> Result<(), $crate::trace::RecordError> {
            self.$to.record(recorder)
        }

        /// The error that has ended the recording, as of a disk that is full. It is told once, and the
        /// connections go on.
        ///
        /// ```
        #[doc = $names]
        ///
        #[doc = $server]
        /// assert!(host.recording_error().is_none());
        /// # Ok::<(), std::io::Error>(())
        /// ```
        #[cfg(feature = "trace")]
        pub const fn recording_error(&mut self) -> Option<std::io::Error> {
            self.$to.recording_error()
        }

        /// Ends the recording, if there is one, and writes all of it.
        ///
        /// # Errors
        ///
        /// That of writing, or the one that has ended the recording before, if nobody has heard of it.
        ///
        /// ```
        #[doc = $names]
        ///
        #[doc = $server]
        /// host.end_recording()?;
        /// # Ok::<(), std::io::Error>(())
        /// ```
        #[cfg(feature = "trace")]
        pub fn end_recording(&mut self) -> std::io::Result<()> {
            self.$to.end_recording()
        }

        /// Carries a command out, for a program that keeps or queues commands. Each command does what the
        /// method of its name does.
        ///
        /// # Errors
        ///
        /// The error of the method, with the peer, address or packet of the command.
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

        /// The most time that `step` takes datagrams in, and the most that it makes and sends them.
        /// Default 8 ms, half a turn of a loop of 60 Hz. What is left waits for the next call. A batch
        /// that has begun is finished: at most 512 datagrams to be taken in, or 64 calls to send. Answers
        /// to strangers are sent in any case; the host keeps at most 1024 of them.
        ///
        /// With more time a call takes in more of what a flood brings; with less it leaves more time to
        /// the game. A loop of few turns a second needs more time for a call, or more calls. From one call
        /// to the next it receives no more than the [buffer](crate::SocketBuffers) of its socket holds.
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

        /// True if no peer is connecting, connected or disconnecting, nothing more is to be said to those
        /// that have ended, and no datagram waits for room in the socket. After [`drain`](Self::drain) or
        /// [`disconnect_all`](Self::disconnect_all): if all peers know.
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

        /// A peer, with its state and statistics; `None` if it is not known any more.
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

        /// The live peers, whose connections have not ended.
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

        /// The peers whose packets wait to be received, also those whose connections have ended.
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

        /// The address of a peer; `None` if it is not known any more.
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

        /// The counts of the host since it was made.
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

        /// The counts of the socket since the host was made.
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
        /// of use to other hosts: they connect to an address of the machine.
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

        /// The state machine within, for questions that have no method here. Not mutable, because every
        /// change has to involve the socket and the clock, too.
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
