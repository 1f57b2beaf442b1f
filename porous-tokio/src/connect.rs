//! To connect to a host.

use alloc::sync::Arc;
use core::fmt;
use core::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::io;

#[cfg(feature = "seal")]
use porous_udp::seal::Credentials;
use porous_udp::{Config, ConnectError, Listen, PeerId};
use tokio::net::ToSocketAddrs;

use crate::shared::Handle;
use crate::state::{Newcomer, State};
use crate::{Builder, Closed, Connection};

/// Connects to a host that may be at any of up to 8 addresses, from a socket of its own, which is closed when the
/// connection has ended. See [`Client`] for several connections from one socket, greetings, and sealed connections.
///
/// Cancel-safe: if the future is dropped before it is done, the attempt ends.
///
/// # Errors
///
/// See [`ConnectFailed`].
///
/// # Panics
///
/// If the runtime was built without `enable_io` or without `enable_time`.
///
/// ```
/// # use porous_tokio::{Server, prelude::*};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn core::error::Error>> {
/// # let server = Server::bind("127.0.0.1:0", Config::new()).await?;
/// # let address = server.local_addr()?;
/// let connection = porous_tokio::connect(&[address], Config::client()).await?;
/// connection.send(0, "hello", Mode::Reliable)?;
/// # Ok(())
/// # }
/// ```
pub async fn connect(to: &[SocketAddr], config: Config) -> Result<Connection, ConnectFailed> {
    Client::bind(&places(to)[..], config)
        .await?
        .connect(to)
        .await
}

/// Where to bind for these addresses, in the order to try: there are machines without IPv6, and systems that give no
/// socket for both families.
fn places(to: &[SocketAddr]) -> Vec<SocketAddr> {
    let [v6, v4] = [Ipv6Addr::UNSPECIFIED.into(), Ipv4Addr::UNSPECIFIED.into()];
    let is_v4 = |address: &SocketAddr| address.ip().to_canonical().is_ipv4();
    let families = [
        (v6, to.iter().any(SocketAddr::is_ipv6)),
        (v4, to.is_empty() || to.iter().any(is_v4)),
    ];
    let needed = families.into_iter().filter(|(_, is_needed)| *is_needed);
    needed.map(|(ip, _)| SocketAddr::new(ip, 0)).collect()
}

/// A UDP socket and the host on it, which connects to others. Clones are the same one.
///
/// The socket is closed when all clients and connections are dropped, and each peer knows.
#[derive(Clone, Debug)]
pub struct Client {
    handle: Arc<Handle>,
}

impl Client {
    /// Binds a new socket: to port 0 of `[::]` or `0.0.0.0`, unless the network demands something else.
    ///
    /// # Errors
    ///
    /// The system's error, with the address, if it cannot bind the socket or knows no address of the name. Also if
    /// this is called outside of a runtime.
    ///
    /// # Panics
    ///
    /// If the runtime was built without `enable_io` or without `enable_time`.
    ///
    /// ```
    /// # use porous_tokio::{Client, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let client = Client::bind("0.0.0.0:0", Config::client()).await?;
    /// # let _ = client;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn bind(at: impl ToSocketAddrs, config: Config) -> io::Result<Self> {
        let builder = Builder::new(config).listen(Listen::Closed);
        Ok(Self::new(builder.open(at).await?))
    }

    pub(crate) const fn new(handle: Arc<Handle>) -> Self {
        Self { handle }
    }

    /// Connects to a host that may be at any of up to 8 addresses: see
    /// [`Host::connect_any`](porous_udp::Host::connect_any). Addresses at which no host can be are left out, and
    /// so are addresses to which the system cannot send.
    ///
    /// Cancel-safe: if the future is dropped before it is done, the attempt ends.
    ///
    /// # Errors
    ///
    /// See [`ConnectFailed`].
    ///
    /// ```
    /// # use porous_tokio::{Client, Server, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # let server = Server::bind("127.0.0.1:0", Config::new()).await?;
    /// # let address = server.local_addr()?;
    /// let client = Client::bind("127.0.0.1:0", Config::client()).await?;
    /// let connection = client.connect(&[address]).await?;
    /// # let _ = connection;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn connect(&self, to: &[SocketAddr]) -> Result<Connection, ConnectFailed> {
        self.connect_with(to, &[]).await
    }

    /// As [`connect`](Self::connect), with a greeting of up to 255 bytes, which the application of the remote host
    /// reads by [`Incoming::greeting`](crate::Incoming::greeting) before it accepts. A greeting is not protected.
    ///
    /// # Errors
    ///
    /// As [`connect`](Self::connect).
    ///
    /// ```
    /// # use porous_tokio::{Client, Server, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # let server = Server::bind("127.0.0.1:0", Config::new()).await?;
    /// # let address = server.local_addr()?;
    /// let client = Client::bind("127.0.0.1:0", Config::client()).await?;
    /// let connection = client.connect_with(&[address], b"name=Ada").await?;
    /// # let _ = connection;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn connect_with(
        &self,
        to: &[SocketAddr],
        greeting: &[u8],
    ) -> Result<Connection, ConnectFailed> {
        self.attempt(|state| state.endpoint.connect_with(to, greeting))
            .await
    }

    /// Makes a sealed connection: see [`Host::connect_sealed`](porous_udp::Host::connect_sealed). It needs
    /// [`Config::sealed`] at both hosts. [`Peer::secured`](porous_udp::Peer::secured) tells more once it is
    /// connected.
    ///
    /// # Errors
    ///
    /// As [`connect`](Self::connect).
    ///
    /// ```
    /// # use porous_tokio::{Client, Server, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # let config = Config::new().sealed(&[Suite::CHACHA_POLY])?;
    /// # let server = Server::bind("127.0.0.1:0", config).await?;
    /// # let address = server.local_addr()?;
    /// let config = Config::client().sealed(&[Suite::CHACHA_POLY])?;
    /// let client = Client::bind("127.0.0.1:0", config).await?;
    /// let connection = client.connect_sealed(&[address], &Credentials::new()).await?;
    /// assert!(connection.peer(|peer| peer.secured().is_some()).unwrap());
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "seal")]
    pub async fn connect_sealed(
        &self,
        to: &[SocketAddr],
        with: &Credentials,
    ) -> Result<Connection, ConnectFailed> {
        self.attempt(|state| state.endpoint.connect_sealed(to, with))
            .await
    }

    /// The address that the socket is bound to.
    ///
    /// # Errors
    ///
    /// The system's error.
    ///
    /// ```
    /// # use porous_tokio::{Client, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let client = Client::bind("127.0.0.1:0", Config::client()).await?;
    /// assert_ne!(client.local_addr()?.port(), 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.handle.look(|state| state.endpoint.local_addr())
    }

    async fn attempt(
        &self,
        begin: impl FnOnce(&mut State) -> Result<PeerId, ConnectError>,
    ) -> Result<Connection, ConnectFailed> {
        let newcomer = self.handle.with(|state| {
            if let Some(closed) = state.end() {
                // Nobody would send the request.
                return Err(ConnectFailed::ended(closed, false));
            }
            let peer = begin(state).map_err(ConnectFailed::Invalid)?;
            let link = state.add(peer);
            Ok(Newcomer { peer, link })
        })?;
        let link = Arc::clone(&newcomer.link);
        let connection = Connection::new(Arc::clone(&self.handle), newcomer);
        let outcome = connection.connected().await;
        outcome.map_err(|closed| ConnectFailed::ended(closed, link.has_closed_port()))
    }
}

/// Why there is no connection.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConnectFailed {
    /// No socket could be bound: see [`Client::bind`].
    Bind(io::Error),
    /// The attempt cannot be made: no host can be at any of the addresses, or the greeting or credentials do not
    /// fit. The error says what to do.
    Invalid(ConnectError),
    /// The attempt was made and ended.
    #[non_exhaustive]
    Ended {
        /// Why it ended: the remote host refused or did not answer, the system cannot send there, or the driver
        /// has ended.
        closed: Closed,
        /// True if the machine at one of the addresses said that nothing is bound to the port: the server does not
        /// run, or runs at another port. Only some systems tell, and the message can be forged.
        has_closed_port: bool,
    },
}

impl ConnectFailed {
    const fn ended(closed: Closed, has_closed_port: bool) -> Self {
        Self::Ended {
            closed,
            has_closed_port,
        }
    }
}

impl From<io::Error> for ConnectFailed {
    fn from(error: io::Error) -> Self {
        Self::Bind(error)
    }
}

impl fmt::Display for ConnectFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bind(error) => error.fmt(f),
            Self::Invalid(error) => error.fmt(f),
            Self::Ended {
                closed,
                has_closed_port,
            } => {
                write!(f, "there is no connection: {closed}")?;
                if *has_closed_port {
                    f.write_str("; nothing is bound to the port: does the server run?")?;
                }
                Ok(())
            }
        }
    }
}

impl core::error::Error for ConnectFailed {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_for_ipv4_alone_is_tried_where_an_address_can_do_with_it() {
        let bound = |to: &[&str]| -> Vec<String> {
            let to: Vec<_> = to.iter().map(|text| text.parse().unwrap()).collect();
            places(&to).iter().map(ToString::to_string).collect()
        };
        assert_eq!(bound(&[]), ["0.0.0.0:0"]);
        assert_eq!(bound(&["192.0.2.1:7"]), ["0.0.0.0:0"]);
        assert_eq!(bound(&["[2001:db8::1]:7"]), ["[::]:0"]);
        for both in [
            &["[2001:db8::1]:7", "192.0.2.1:7"][..],
            &["[::ffff:192.0.2.1]:7"],
        ] {
            assert_eq!(bound(both), ["[::]:0", "0.0.0.0:0"]);
        }
    }
}
