//! A remote host that asks to be let in.

use alloc::sync::Arc;
use core::net::SocketAddr;

use porous_udp::{AnswerError, Peer, PeerId};

use crate::shared::Handle;
use crate::state::Newcomer;
use crate::{Closed, Connection};

/// A remote host that wants to connect, under [`Listen::Ask`](porous_udp::Listen::Ask). Answer by
/// [`accept`](Self::accept) or [`refuse`](Self::refuse) within
/// [`Config::connect_timeout`](porous_udp::Config::connect_timeout). If it is dropped without an answer, the remote
/// host is refused, without data.
///
/// ```
/// # use porous_tokio::{Client, Server, prelude::*};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn core::error::Error>> {
/// let server = Server::builder(Config::new()).listen(Listen::Ask).bind("127.0.0.1:0").await?;
/// let address = server.local_addr()?;
/// let client = tokio::spawn(async move {
///     let client = Client::bind("127.0.0.1:0", Config::client()).await?;
///     client.connect_with(&[address], b"name=Ada").await
/// });
///
/// let incoming = server.incoming().await?;
/// let connection = match &incoming.greeting()[..] {
///     b"name=Ada" => incoming.accept().await?,
///     _ => return incoming.refuse(b"only Ada").map_err(Into::into),
/// };
/// # let _ = (client.await??, connection);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Incoming {
    handle: Arc<Handle>,
    newcomer: Newcomer,
    /// True if the application has answered.
    has_answer: bool,
}

impl Drop for Incoming {
    fn drop(&mut self) {
        if !self.has_answer {
            // One that has given up needs no answer.
            let _waits = self.answer_refusal(&[]);
        }
    }
}

impl Incoming {
    pub(crate) const fn new(handle: Arc<Handle>, newcomer: Newcomer) -> Self {
        Self {
            handle,
            newcomer,
            has_answer: false,
        }
    }

    fn answer_refusal(&self, data: &[u8]) -> Result<(), AnswerError> {
        let peer = self.newcomer.peer;
        self.handle.with(|state| state.endpoint.refuse(peer, data))
    }

    /// The bytes that the remote application greets with. A greeting is not protected unless the connection is to be
    /// sealed: see [`Host::connect_with`](porous_udp::Host::connect_with). Empty if there is none, or if the
    /// remote host has given up.
    ///
    /// ```
    /// # use porous_tokio::{Client, Server, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # let server = Server::builder(Config::new()).listen(Listen::Ask).bind("127.0.0.1:0").await?;
    /// # let to = server.local_addr()?;
    /// # let client = Client::bind("127.0.0.1:0", Config::client()).await?;
    /// # let client = tokio::spawn(async move { client.connect_with(&[to], b"hi").await });
    /// let incoming = server.incoming().await?;
    /// assert_eq!(incoming.greeting(), b"hi");
    /// # client.abort();
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn greeting(&self) -> Vec<u8> {
        self.peer(|peer| peer.greeting().to_vec())
            .unwrap_or_default()
    }

    /// Looks at the peer to be: its greeting, what proved its identity, and more. `None` if the remote host has
    /// given up. The driver waits while `look` runs, which must not call methods of the same socket.
    ///
    /// ```
    /// # use porous_tokio::{Server, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # let server = Server::builder(Config::new()).listen(Listen::Ask).bind("127.0.0.1:0").await?;
    /// # let to = server.local_addr()?;
    /// # let client = tokio::spawn(async move { porous_tokio::connect(&[to], Config::client()).await });
    /// let incoming = server.incoming().await?;
    /// assert_eq!(incoming.peer(|peer| peer.state()), Some(PeerState::Connecting));
    /// # client.abort();
    /// # Ok(())
    /// # }
    /// ```
    pub fn peer<T>(&self, look: impl FnOnce(&Peer) -> T) -> Option<T> {
        let peer = self.newcomer.peer;
        self.handle
            .look(|state| state.endpoint.peer(peer).map(look))
    }

    /// The address of the remote host, which has proved to be there; `None` if it has given up.
    ///
    /// ```
    /// # use porous_tokio::{Server, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # let server = Server::builder(Config::new()).listen(Listen::Ask).bind("127.0.0.1:0").await?;
    /// # let to = server.local_addr()?;
    /// # let client = tokio::spawn(async move { porous_tokio::connect(&[to], Config::client()).await });
    /// let incoming = server.incoming().await?;
    /// assert!(incoming.address().is_some_and(|address| address.ip().is_loopback()));
    /// # client.abort();
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        let peer = self.newcomer.peer;
        self.handle.look(|state| state.endpoint.address(peer))
    }

    /// The name that the connection will have.
    ///
    /// ```
    /// # use porous_tokio::{Server, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # let server = Server::builder(Config::new()).listen(Listen::Ask).bind("127.0.0.1:0").await?;
    /// # let to = server.local_addr()?;
    /// # let client = tokio::spawn(async move { porous_tokio::connect(&[to], Config::client()).await });
    /// let incoming = server.incoming().await?;
    /// let id = incoming.id();
    /// assert_eq!(incoming.accept().await?.id(), id);
    /// # client.await??;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn id(&self) -> PeerId {
        self.newcomer.peer
    }

    /// Lets the remote host in, and waits until it is connected: mostly at once. If the future is dropped before,
    /// the connection ends.
    ///
    /// # Errors
    ///
    /// [`Closed`] if the remote host has given up, or the answer came too late.
    ///
    /// ```
    /// # use porous_tokio::{Server, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # let server = Server::builder(Config::new()).listen(Listen::Ask).bind("127.0.0.1:0").await?;
    /// # let to = server.local_addr()?;
    /// # let client = tokio::spawn(async move { porous_tokio::connect(&[to], Config::client()).await });
    /// let connection = server.incoming().await?.accept().await?;
    /// connection.send(0, "welcome", Mode::Reliable)?;
    /// # client.await??;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn accept(mut self) -> Result<Connection, Closed> {
        let Newcomer { peer, .. } = self.newcomer;
        // One that has ended is told by its link.
        let _waits = self.handle.with(|state| state.endpoint.accept(peer));
        self.has_answer = true;
        let connection = Connection::new(Arc::clone(&self.handle), self.newcomer.clone());
        connection.connected().await
    }

    /// Turns the remote host away, with up to 64 bytes that its application finds in
    /// [`Refusal::Application`](porous_udp::Refusal::Application).
    ///
    /// # Errors
    ///
    /// [`AnswerError::TooLong`] for more than 64 bytes: the remote host is then refused without data.
    /// [`AnswerError::UnknownPeer`] if the remote host has given up.
    ///
    /// ```
    /// # use porous_tokio::{Server, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # let server = Server::builder(Config::new()).listen(Listen::Ask).bind("127.0.0.1:0").await?;
    /// # let to = server.local_addr()?;
    /// # let client = tokio::spawn(async move { porous_tokio::connect(&[to], Config::client()).await });
    /// server.incoming().await?.refuse(b"the match has begun")?;
    /// # assert!(client.await?.is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn refuse(mut self, data: &[u8]) -> Result<(), AnswerError> {
        self.answer_refusal(data)?;
        self.has_answer = true;
        Ok(())
    }
}
