//! What an application does with a host and asks it, as with the hosts of the other drivers.

use core::net::SocketAddr;
use core::time::Duration;
use std::io;

use porous_proto::{
    AnswerError, Bytes, ChannelId, Disconnect, Event, Host, HostStats, Instant, Listen,
    ListenError, Payload, Peer, PeerId, Received, SendError, SendOptions, UnknownPeer,
};

use crate::{OsRng, WebAddress, WebHost, WebStats};

/// The hidden beginning of an example: a host, and the name of a peer that it does not have.
macro_rules! example {
    () => {
        r#"# use porous_web::{Certificate, WebConfig, WebHost, proto::prelude::*};
# #[tokio::main(flavor = "current_thread")]
# async fn main() -> Result<(), Box<dyn core::error::Error>> {
# let web = WebConfig::new(([127, 0, 0, 1], 0).into(), Certificate::self_signed(["localhost"]));
# let mut host = WebHost::bind(web, Config::new()).await?;
# let peer = PeerId::from_u64(u64::MAX).ok_or("no name")?;
# let _ = (&mut host, peer);"#
    };
}

impl WebHost {
    /// Sets whether strangers may connect. At first they may not.
    ///
    /// # Errors
    ///
    /// [`ListenError::NotAllowed`] with the configuration of a client.
    ///
    /// ```
    #[doc = example!()]
    /// host.listen(Listen::Open)?;
    /// # Ok(())
    /// # }
    /// ```
    pub const fn listen(&mut self, policy: Listen) -> Result<(), ListenError> {
        self.host.listen(policy)
    }

    /// Accepts the request of a peer, which [`Event::Request`] told of under [`Listen::Ask`].
    ///
    /// # Errors
    ///
    /// Those of [`Host::accept`].
    ///
    /// ```
    #[doc = example!()]
    /// assert!(host.accept(peer).is_err()); // nobody has asked
    /// # Ok(())
    /// # }
    /// ```
    pub fn accept(&mut self, peer: PeerId) -> Result<(), AnswerError> {
        self.host.accept(self.clock.now(), peer)
    }

    /// Refuses the request of a peer, with up to 64 bytes of `data` for its application.
    ///
    /// # Errors
    ///
    /// Those of [`Host::refuse`].
    ///
    /// ```
    #[doc = example!()]
    /// assert!(host.refuse(peer, b"not today").is_err()); // nobody has asked
    /// # Ok(())
    /// # }
    /// ```
    pub fn refuse(&mut self, peer: PeerId, data: &[u8]) -> Result<(), AnswerError> {
        self.host.refuse(self.clock.now(), peer, data)
    }

    /// Sends a packet. It leaves in the next turn.
    ///
    /// # Errors
    ///
    /// Those of [`Host::send`]. Nothing was sent then.
    ///
    /// ```
    #[doc = example!()]
    /// assert!(host.send(peer, ChannelId(0), "hello", Mode::Reliable).is_err()); // there is no such peer
    /// # Ok(())
    /// # }
    /// ```
    pub fn send<'p>(
        &mut self,
        peer: PeerId,
        channel: ChannelId,
        packet: impl Into<Payload<'p>>,
        options: impl Into<SendOptions>,
    ) -> Result<(), SendError> {
        self.host.send(peer, channel, packet, options)
    }

    /// Sends a packet to each connected peer, and returns those to which it could not.
    ///
    /// ```
    #[doc = example!()]
    /// for (peer, error) in host.broadcast(ChannelId(0), "the match begins", Mode::Reliable) {
    ///     eprintln!("{peer} does not hear of it: {error}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn broadcast(
        &mut self,
        channel: ChannelId,
        packet: impl Into<Bytes>,
        options: impl Into<SendOptions>,
    ) -> Vec<(PeerId, SendError)> {
        self.host.broadcast(channel, packet, options)
    }

    /// The next packet from this peer; `None` if none waits.
    ///
    /// ```
    #[doc = example!()]
    /// assert_eq!(host.receive(peer), None);
    /// # Ok(())
    /// # }
    /// ```
    pub fn receive(&mut self, peer: PeerId) -> Option<Received> {
        self.host.receive(peer)
    }

    /// The next event. Call it until it returns `None`.
    ///
    /// When a session ends, as the page was closed, its connection is disconnected at once, with reason 0. As nobody
    /// answers, [`Event::Disconnected`] follows after the
    /// [`disconnect_timeout`](porous_proto::Config::disconnect_timeout), with
    /// [`GoodbyeUnanswered`](porous_proto::DisconnectReason::GoodbyeUnanswered). Packets that had come can still be
    /// received.
    ///
    /// ```
    #[doc = example!()]
    /// assert_eq!(host.poll_event(), None);
    /// # Ok(())
    /// # }
    /// ```
    pub fn poll_event(&mut self) -> Option<Event<WebAddress>> {
        self.host.poll_event()
    }

    /// Ends a connection. [`Event::Disconnected`] comes when it has ended. The session of a browser is closed when
    /// the host has forgotten the peer and no other came in the session for
    /// [`WebConfig::handshake_timeout`](crate::WebConfig::handshake_timeout).
    ///
    /// # Errors
    ///
    /// [`UnknownPeer`] if the connection has ended already.
    ///
    /// ```
    #[doc = example!()]
    /// assert!(host.disconnect(peer, Disconnect::Now { reason: 0 }).is_err()); // there is no such peer
    /// # Ok(())
    /// # }
    /// ```
    pub fn disconnect(&mut self, peer: PeerId, how: Disconnect) -> Result<(), UnknownPeer> {
        self.host.disconnect(self.clock.now(), peer, how)
    }

    /// Ends all connections, and lets no more strangers in. Go on until [`is_empty`](Self::is_empty).
    ///
    /// ```
    #[doc = example!()]
    /// host.disconnect_all(Disconnect::Now { reason: 0 });
    /// assert!(host.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub fn disconnect_all(&mut self, how: Disconnect) {
        self.host.disconnect_all(self.clock.now(), how);
    }

    /// Prepares the end of a server: newcomers are refused as full, and each connection ends when all that was sent
    /// on it has been delivered, or `deadline` has passed. Go on until [`is_empty`](Self::is_empty).
    ///
    /// ```
    #[doc = example!()]
    /// host.drain(3, core::time::Duration::from_secs(30));
    /// assert!(host.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub fn drain(&mut self, reason: u32, deadline: Duration) {
        self.host.drain(self.clock.now(), reason, deadline);
    }

    /// True if the host has no peer that has not ended.
    ///
    /// ```
    #[doc = example!()]
    /// assert!(host.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.host.is_empty()
    }

    /// A peer, with its state and statistics; `None` if it is not known any more.
    ///
    /// ```
    #[doc = example!()]
    /// assert!(host.peer(peer).is_none());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn peer(&self, peer: PeerId) -> Option<&Peer> {
        self.host.peer(peer)
    }

    /// The live peers, whose connections have not ended.
    ///
    /// ```
    #[doc = example!()]
    /// assert_eq!(host.peers().count(), 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn peers(&self) -> impl Iterator<Item = (PeerId, &Peer)> {
        self.host.peers()
    }

    /// The address of a peer, which tells how it plays; `None` if it is not known any more.
    ///
    /// ```
    #[doc = example!()]
    /// assert_eq!(host.address(peer), None);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn address(&self, peer: PeerId) -> Option<WebAddress> {
        self.host.address(peer)
    }

    /// The counts of the host since it was made.
    ///
    /// ```
    #[doc = example!()]
    /// assert_eq!(host.stats().datagrams_sent, 0);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn stats(&self) -> HostStats {
        self.host.stats()
    }

    /// The counts of the sessions and sockets since the host was made.
    ///
    /// ```
    #[doc = example!()]
    /// assert_eq!(host.web_stats().sessions, 0);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn web_stats(&self) -> WebStats {
        self.carriers.stats()
    }

    /// The address that browsers connect to. If it is `[::]` or `0.0.0.0`, only its port is of use to them.
    ///
    /// # Errors
    ///
    /// The system's error.
    ///
    /// ```
    #[doc = example!()]
    /// println!("pages connect to https://{}", host.web_addr()?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn web_addr(&self) -> io::Result<SocketAddr> {
        self.carriers.web_addr()
    }

    /// The address of the UDP socket; `None` if there is none.
    ///
    /// ```
    #[doc = example!()]
    /// assert_eq!(host.udp_addr(), None);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn udp_addr(&self) -> Option<SocketAddr> {
        self.carriers.udp_addr()
    }

    /// The time by the clock of this host.
    ///
    /// ```
    #[doc = example!()]
    /// let began = host.now();
    /// assert!(host.now() >= began);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    /// The state machine within, for questions that have no method here.
    ///
    /// ```
    #[doc = example!()]
    /// assert_eq!(host.host().max_datagram_size(), 1200);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn host(&self) -> &Host<OsRng, WebAddress> {
        &self.host
    }
}
