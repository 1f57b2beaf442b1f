//! A connection: what an application sends by and receives from.

use alloc::sync::Arc;
use core::net::SocketAddr;

use bytes::Bytes;
use porous_udp::{
    ChannelId, Disconnect, Payload, Peer, PeerId, PeerStats, Received, SendError, SendOptions,
};

use crate::Closed;
use crate::link::Link;
use crate::shared::Handle;
use crate::state::{Newcomer, State};

/// A handle of a connection. Clones are handles of the same one, and may be used by several tasks.
///
/// When the last handle is dropped, the connection ends at once with reason 0, unless
/// [`disconnect`](Self::disconnect) was called: packets that are queued or not acknowledged are lost, and so is
/// what was not received. The runtime has to live until the remote host knows: [`closed`](Self::closed) waits for
/// that.
#[derive(Clone, Debug)]
pub struct Connection(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    handle: Arc<Handle>,
    peer: PeerId,
    link: Arc<Link>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.handle.with(|state| state.leave(self.peer));
    }
}

impl Connection {
    pub(crate) fn new(handle: Arc<Handle>, newcomer: Newcomer) -> Self {
        let Newcomer { peer, link } = newcomer;
        Self(Arc::new(Inner { handle, peer, link }))
    }

    /// Waits until the peer is connected. `Err` with the reason if it ends before.
    pub(crate) async fn connected(self) -> Result<Self, Closed> {
        let link = &self.0.link;
        let outcome = |_: &mut State| match link.ended() {
            // One that was connected, and has ended since, may have left packets.
            _ if link.is_connected() => Some(Ok(())),
            Some(closed) => Some(Err(closed)),
            None => None,
        };
        self.0.handle.until(&link.changed, outcome).await?;
        Ok(self)
    }

    /// Queues a packet, on this channel and by this mode or with these [`SendOptions`]. The driver sends it at its
    /// next turn, together with all that was queued until then.
    ///
    /// # Errors
    ///
    /// See [`SendError`]. [`SendError::Full`] if there is no room now: see
    /// [`send_when_room`](Self::send_when_room). [`SendError::UnknownPeer`] if the connection has ended:
    /// [`closed`](Self::closed) tells why.
    ///
    /// ```
    /// # use porous_tokio::{Server, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # let server = Server::bind("127.0.0.1:0", Config::new()).await?;
    /// # let to = [server.local_addr()?];
    /// # let both = tokio::join!(porous_tokio::connect(&to, Config::client()), server.accept());
    /// # let (connection, _server_side) = (both.0?, both.1?);
    /// connection.send(0, "hello", Mode::Reliable)?;
    /// connection.send(0, &[1, 2, 3][..], SendOptions::from(Mode::Unreliable).redundancy(1))?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn send<'p>(
        &self,
        on: impl Into<ChannelId>,
        packet: impl Into<Payload<'p>>,
        how: impl Into<SendOptions>,
    ) -> Result<(), SendError> {
        let (on, packet, how) = (on.into(), packet.into(), how.into());
        self.0
            .handle
            .with(|state| send(state, self.0.peer, on, packet, how))
    }

    /// Queues a packet as soon as there is room for it in the [send budget](porous_udp::Config::send_budget), at
    /// once if there is now.
    ///
    /// Cancel-safe: if the future is dropped before it is done, the packet was not queued. Packets of several
    /// tasks that wait are queued in no particular order.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send), but never [`SendError::Full`].
    ///
    /// ```
    /// # use porous_tokio::{Server, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # let server = Server::bind("127.0.0.1:0", Config::new()).await?;
    /// # let to = [server.local_addr()?];
    /// # let both = tokio::join!(porous_tokio::connect(&to, Config::client()), server.accept());
    /// # let (connection, _server_side) = (both.0?, both.1?);
    /// for part in 0..10 {
    ///     connection.send_when_room(0, vec![part; 10_000], Mode::Reliable).await?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn send_when_room(
        &self,
        on: impl Into<ChannelId>,
        packet: impl Into<Bytes>,
        how: impl Into<SendOptions>,
    ) -> Result<(), SendError> {
        let (on, packet, how) = (on.into(), packet.into(), how.into());
        let Inner { handle, peer, link } = &*self.0;
        let queue = |state: &mut State| match send(state, *peer, on, packet.clone().into(), how) {
            Err(SendError::Full) => None,
            done => Some(done),
        };
        handle.until(&link.changed, queue).await
    }

    /// The next packet that has arrived, of any channel; waits for one if there is none. What is not received
    /// fills the [receive budget](porous_udp::Config::receive_budget), beyond which the remote host does not
    /// send: an application that receives slowly slows the remote host down.
    ///
    /// Cancel-safe: if the future is dropped before it is done, it has taken no packet. Several tasks may receive
    /// from one connection; each packet comes to one of them.
    ///
    /// # Errors
    ///
    /// [`Closed`] when the connection has ended and everything was received. What is left unread for 30 s after
    /// the end is lost.
    ///
    /// ```
    /// # use porous_tokio::{Server, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # let server = Server::bind("127.0.0.1:0", Config::new()).await?;
    /// # let to = [server.local_addr()?];
    /// # let both = tokio::join!(porous_tokio::connect(&to, Config::client()), server.accept());
    /// # let (connection, other) = (both.0?, both.1?);
    /// # other.send(0, "hello", Mode::Reliable)?;
    /// let received = connection.recv().await?;
    /// assert_eq!(received.payload, "hello");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn recv(&self) -> Result<Received, Closed> {
        let Inner { handle, peer, link } = &*self.0;
        let take = |state: &mut State| match state.endpoint.receive(*peer) {
            Some(packet) => Some(Ok(packet)),
            None => link.ended().map(Err),
        };
        handle.until(&link.readable, take).await
    }

    /// The next packet that has arrived; `None` if there is none now. For programs with ticks of their own.
    ///
    /// ```
    /// # use porous_tokio::{Server, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # let server = Server::bind("127.0.0.1:0", Config::new()).await?;
    /// # let to = [server.local_addr()?];
    /// # let both = tokio::join!(porous_tokio::connect(&to, Config::client()), server.accept());
    /// # let (connection, _server_side) = (both.0?, both.1?);
    /// assert!(connection.try_recv().is_none());
    /// # Ok(())
    /// # }
    /// ```
    pub fn try_recv(&self) -> Option<Received> {
        self.0
            .handle
            .with(|state| state.endpoint.receive(self.0.peer))
    }

    /// Waits for the end of the connection, and tells why it ended. Packets that had arrived can still be
    /// received. Cancel-safe.
    ///
    /// ```
    /// # use porous_tokio::{DisconnectReason, Server, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # let server = Server::bind("127.0.0.1:0", Config::new()).await?;
    /// # let to = [server.local_addr()?];
    /// # let both = tokio::join!(porous_tokio::connect(&to, Config::client()), server.accept());
    /// # let (connection, other) = (both.0?, both.1?);
    /// other.disconnect(Disconnect::Now { reason: 7 });
    /// assert_eq!(connection.closed().await.reason(), Some(DisconnectReason::ByPeer(7)));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn closed(&self) -> Closed {
        let Inner { handle, link, .. } = &*self.0;
        handle.until(&link.changed, |_| link.ended()).await
    }

    /// Ends the connection. It goes on in the background, also when all handles are dropped, as long as the
    /// runtime lives; [`closed`](Self::closed) waits until the remote host knows. A connection that has ended
    /// already stays as it is.
    ///
    /// ```
    /// # use core::time::Duration;
    /// # use porous_tokio::{DisconnectReason, Server, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # let server = Server::bind("127.0.0.1:0", Config::new()).await?;
    /// # let to = [server.local_addr()?];
    /// # let both = tokio::join!(porous_tokio::connect(&to, Config::client()), server.accept());
    /// # let (connection, _server_side) = (both.0?, both.1?);
    /// connection.send(0, "the last word", Mode::Reliable)?;
    /// connection.disconnect(Disconnect::Flush { reason: 0, deadline: Duration::from_secs(5) });
    /// assert_eq!(connection.closed().await.reason(), Some(DisconnectReason::ByUs(0)));
    /// # Ok(())
    /// # }
    /// ```
    pub fn disconnect(&self, how: Disconnect) {
        self.0
            .handle
            .with(|state| state.disconnect(self.0.peer, how));
    }

    /// Looks at the peer: its state, greeting, channels, what proved its identity, and more. `None` if the
    /// connection has ended and the host has forgotten it. The driver waits while `look` runs, which must not call methods of connections of the same socket.
    ///
    /// ```
    /// # use porous_tokio::{Server, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # let server = Server::bind("127.0.0.1:0", Config::new()).await?;
    /// # let to = [server.local_addr()?];
    /// # let both = tokio::join!(porous_tokio::connect(&to, Config::client()), server.accept());
    /// # let (connection, _server_side) = (both.0?, both.1?);
    /// assert!(connection.peer(|peer| peer.max_packet()) > Some(1000));
    /// # Ok(())
    /// # }
    /// ```
    pub fn peer<T>(&self, look: impl FnOnce(&Peer) -> T) -> Option<T> {
        let handle = &self.0.handle;
        handle.look(|state| state.endpoint.peer(self.0.peer).map(look))
    }

    /// The statistics of the connection; `None` if it has ended and the host has forgotten it.
    ///
    /// ```
    /// # use porous_tokio::{Server, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # let server = Server::bind("127.0.0.1:0", Config::new()).await?;
    /// # let to = [server.local_addr()?];
    /// # let both = tokio::join!(porous_tokio::connect(&to, Config::client()), server.accept());
    /// # let (connection, _server_side) = (both.0?, both.1?);
    /// println!("round trip: {:?}", connection.stats().map(|stats| stats.rtt));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn stats(&self) -> Option<PeerStats> {
        self.peer(Peer::stats)
    }

    /// The address of the remote host; `None` if the connection has ended and the host has forgotten it.
    ///
    /// ```
    /// # use porous_tokio::{Server, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # let server = Server::bind("127.0.0.1:0", Config::new()).await?;
    /// # let to = [server.local_addr()?];
    /// # let both = tokio::join!(porous_tokio::connect(&to, Config::client()), server.accept());
    /// # let (connection, _server_side) = (both.0?, both.1?);
    /// assert_eq!(connection.address(), Some(server.local_addr()?));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        let handle = &self.0.handle;
        handle.look(|state| state.endpoint.address(self.0.peer))
    }

    /// The name of the peer: for logs, and as a key. No other connection of the same socket has it.
    ///
    /// ```
    /// # use porous_tokio::{Server, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # let server = Server::bind("127.0.0.1:0", Config::new()).await?;
    /// # let to = [server.local_addr()?];
    /// # let both = tokio::join!(porous_tokio::connect(&to, Config::client()), server.accept());
    /// # let (connection, _server_side) = (both.0?, both.1?);
    /// assert_eq!(connection.id(), connection.clone().id());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn id(&self) -> PeerId {
        self.0.peer
    }
}

fn send(
    state: &mut State,
    peer: PeerId,
    on: ChannelId,
    packet: Payload<'_>,
    how: SendOptions,
) -> Result<(), SendError> {
    if state.end().is_some() {
        // Nobody would send it.
        return Err(SendError::UnknownPeer);
    }
    state.endpoint.send(peer, on, packet, how)
}
