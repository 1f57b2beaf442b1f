//! A host that lets others in.

use alloc::sync::Arc;
use core::net::SocketAddr;
use core::time::Duration;
use std::io;

#[cfg(feature = "seal")]
use porous_udp::seal::Security;
use porous_udp::{Config, Disconnect, Host, HostStats, Listen, ListenError, OsRng, SocketStats};
use tokio::net::ToSocketAddrs;

use crate::shared::Handle;
use crate::state::{Newcomer, State};
use crate::{Builder, Client, Closed, Connection, Incoming};

/// A UDP socket and the host on it, which lets others in.
///
/// When the server is dropped, no stranger is let in any more. Connections that were not accepted end, and
/// requests that were not answered are refused; accepted connections go on. The socket is closed when the server,
/// its [clients](Self::client) and all connections are dropped, and each peer knows.
#[derive(Debug)]
pub struct Server {
    pub(crate) handle: Arc<Handle>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.handle.with(State::close_door);
    }
}

impl Server {
    /// Binds a new socket to the first of these addresses to which the system can bind one, and lets everybody in.
    /// With port 0 the system chooses the port. A server binds to `[::]` and its port, and so serves both IPv6 and
    /// IPv4, or to `0.0.0.0` where there is no IPv6.
    ///
    /// The socket is served by a task in the runtime that this is called in, until the runtime shuts down.
    ///
    /// # Errors
    ///
    /// The system's error, with the address, if it cannot bind the socket or knows no address of the name. Also if
    /// this is called outside of a runtime, and of the kind [`InvalidInput`](io::ErrorKind::InvalidInput) if the
    /// configuration is a [client's](Config::client).
    ///
    /// # Panics
    ///
    /// If the runtime was built without `enable_io` or without `enable_time`.
    ///
    /// ```
    /// # use porous_tokio::{Server, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let server = Server::bind("127.0.0.1:0", Config::new()).await?;
    /// println!("clients connect to {}", server.local_addr()?);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn bind(at: impl ToSocketAddrs, config: Config) -> io::Result<Self> {
        Self::builder(config).bind(at).await
    }

    /// Binds a server that asks about each newcomer, seals by keys of its own, or is different in another way.
    ///
    /// ```
    /// # use porous_tokio::{Server, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let server = Server::builder(Config::new()).listen(Listen::Ask).bind("127.0.0.1:0").await?;
    /// # let _ = server;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn builder(config: Config) -> Builder {
        Builder::new(config)
    }

    pub(crate) const fn new(handle: Arc<Handle>) -> Self {
        Self { handle }
    }

    /// The next connection that a remote host has made. It may have ended meanwhile: if it left packets, they can
    /// be received.
    ///
    /// Cancel-safe: if the future is dropped before it is done, it has taken no connection. Several tasks may
    /// accept. A connection that is not accepted yet stands all the same, and takes one of the
    /// [places](Config::max_peers).
    ///
    /// # Errors
    ///
    /// [`Closed`] if the driver has ended, and every connection was accepted.
    ///
    /// ```
    /// # use porous_tokio::{Server, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # let server = Server::bind("127.0.0.1:0", Config::new()).await?;
    /// # let to = server.local_addr()?;
    /// # let client = tokio::spawn(async move { porous_tokio::connect(&[to], Config::client()).await });
    /// let connection = server.accept().await?;
    /// tokio::spawn(async move {
    ///     while let Ok(packet) = connection.recv().await {
    ///         println!("{} bytes", packet.payload.len());
    ///     }
    /// });
    /// # client.await??;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn accept(&self) -> Result<Connection, Closed> {
        let newcomer = self.next(State::next_arrived).await?;
        Ok(Connection::new(Arc::clone(&self.handle), newcomer))
    }

    /// The next remote host that asks to be let in, under [`Listen::Ask`]. It waits for an answer for
    /// [`Config::connect_timeout`] from when it came.
    ///
    /// Cancel-safe: if the future is dropped before it is done, it has taken no request. Several tasks may wait.
    ///
    /// # Errors
    ///
    /// [`Closed`] if the driver has ended.
    ///
    /// ```
    /// # use porous_tokio::{Server, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// let server = Server::builder(Config::new()).listen(Listen::Ask).bind("127.0.0.1:0").await?;
    /// # let to = server.local_addr()?;
    /// # let client = tokio::spawn(async move { porous_tokio::connect(&[to], Config::client()).await });
    /// let incoming = server.incoming().await?;
    /// let connection = incoming.accept().await?;
    /// # let _ = (client.await??, connection);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn incoming(&self) -> Result<Incoming, Closed> {
        let newcomer = self.next(State::next_request).await?;
        Ok(Incoming::new(Arc::clone(&self.handle), newcomer))
    }

    async fn next(
        &self,
        take: impl Fn(&mut State) -> Option<Newcomer>,
    ) -> Result<Newcomer, Closed> {
        let found = |state: &mut State| match take(state) {
            Some(newcomer) => Some(Ok(newcomer)),
            None => state.end().map(Err),
        };
        self.handle.until(&self.handle.news, found).await
    }

    /// Ends in order: refuses newcomers as full, ends each connection with this reason when everything that was
    /// sent by it has been delivered, or `at_most` has passed, and waits until each peer knows, or
    /// [`Config::disconnect_timeout`] has passed as well.
    ///
    /// Meanwhile connections can still be received from. If the future is dropped before it is done, the connections
    /// end all the same, as long as the runtime lives.
    ///
    /// ```
    /// # use core::time::Duration;
    /// # use porous_tokio::{DisconnectReason, Server, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # let server = Server::bind("127.0.0.1:0", Config::new()).await?;
    /// # let to = [server.local_addr()?];
    /// # let both = tokio::join!(porous_tokio::connect(&to, Config::client()), server.accept());
    /// # let (client, connection) = (both.0?, both.1?);
    /// connection.send(0, "the match is over", Mode::Reliable)?;
    /// server.drain(7, Duration::from_secs(5)).await;
    /// # assert_eq!(client.recv().await?.payload, "the match is over");
    /// # assert_eq!(client.closed().await.reason(), Some(DisconnectReason::ByPeer(7)));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn drain(self, reason: u32, at_most: Duration) {
        let deadline = at_most;
        self.handle.with(|state| {
            state.disconnect_all(Disconnect::Flush { reason, deadline });
            // A host that may not listen lets nobody in anyway.
            let _allowed = state.endpoint.listen(Listen::Full);
        });
        let is_over = |state: &mut State| state.is_over().then_some(());
        self.handle.until(&self.handle.news, is_over).await;
    }

    /// A client on the same socket, for a host that connects to others as well.
    ///
    /// ```
    /// # use porous_tokio::{Server, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// let here = Server::bind("127.0.0.1:0", Config::new()).await?;
    /// let there = Server::bind("127.0.0.1:0", Config::new()).await?;
    /// let connection = here.client().connect(&[there.local_addr()?]).await?;
    /// assert_eq!(there.accept().await?.address(), Some(here.local_addr()?));
    /// # let _ = connection;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn client(&self) -> Client {
        Client::new(Arc::clone(&self.handle))
    }

    /// Changes whether strangers may connect.
    ///
    /// # Errors
    ///
    /// [`ListenError::NotAllowed`] with the configuration of a client.
    ///
    /// ```
    /// # use porous_tokio::{Server, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// let server = Server::bind("127.0.0.1:0", Config::new()).await?;
    /// server.listen(Listen::Full)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn listen(&self, policy: Listen) -> Result<(), ListenError> {
        self.handle.with(|state| state.endpoint.listen(policy))
    }

    /// Changes how the host seals from now on: other keys, for example. For the first ones see
    /// [`Builder::security`].
    ///
    /// ```
    /// # use porous_tokio::{Server, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// let config = Config::new().sealed(&[Suite::CHACHA_POLY])?;
    /// let server = Server::bind("127.0.0.1:0", config).await?;
    /// server.set_security(Security::new(&RustCrypto).allow_plain());
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "seal")]
    pub fn set_security(&self, security: Security) {
        self.handle
            .with(|state| state.endpoint.set_security(security));
    }

    /// The address that the socket is bound to. If that is `[::]` or `0.0.0.0`, only its port is of use to other
    /// hosts: they connect to an address of the machine.
    ///
    /// # Errors
    ///
    /// The system's error.
    ///
    /// ```
    /// # use porous_tokio::{Server, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let server = Server::bind("127.0.0.1:0", Config::new()).await?;
    /// assert!(server.local_addr()?.ip().is_loopback());
    /// # Ok(())
    /// # }
    /// ```
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.handle.look(|state| state.endpoint.local_addr())
    }

    /// The counts of the host since it was made.
    ///
    /// ```
    /// # use porous_tokio::{Server, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let server = Server::bind("127.0.0.1:0", Config::new()).await?;
    /// assert_eq!(server.stats().datagrams_sent, 0);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn stats(&self) -> HostStats {
        self.host(Host::stats)
    }

    /// The counts of the socket since the host was made.
    ///
    /// ```
    /// # use porous_tokio::{Server, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let server = Server::bind("127.0.0.1:0", Config::new()).await?;
    /// assert_eq!(server.socket_stats().send_lost, 0);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn socket_stats(&self) -> SocketStats {
        self.handle.look(|state| state.endpoint.socket_stats())
    }

    /// Looks at the state machine within, for questions that have no method here. The driver waits while `look`
    /// runs, which must not call methods of the same socket.
    ///
    /// ```
    /// # use porous_tokio::{Server, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let server = Server::bind("127.0.0.1:0", Config::new()).await?;
    /// assert_eq!(server.host(|host| host.peers().count()), 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn host<T>(&self, look: impl FnOnce(&Host<OsRng>) -> T) -> T {
        self.handle.look(|state| look(state.endpoint.host()))
    }
}
