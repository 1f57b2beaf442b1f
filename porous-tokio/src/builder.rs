//! How a server is bound.

use alloc::sync::Arc;
use core::fmt;
use core::net::SocketAddr;
use core::time::Duration;
use std::io::{self, ErrorKind};

#[cfg(feature = "seal")]
use porous_udp::seal::Security;
#[cfg(feature = "trace")]
use porous_udp::trace::Recorder;
use porous_udp::{Conditioner, Config, Endpoint, Listen};
use tokio::net::{ToSocketAddrs, UdpSocket, lookup_host};
use tokio::runtime;
use tokio::time::sleep;

use crate::shared::{Handle, Shared};
use crate::socket::TokioSocket;
use crate::state::{Net, State};
use crate::{Server, driver};

/// How long a turn of the driver takes datagrams in, and how long it makes them, give or take a batch. Tasks that
/// call a host wait for the turn, and so does everything else in a runtime of one thread.
const TIME_LIMIT: Duration = Duration::from_millis(1);

/// What a server begins with, in place of what [`Server::bind`] takes for granted. All of it holds before the first
/// datagram is taken in.
///
/// ```
/// use porous_tokio::{Server, prelude::*};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let server = Server::builder(Config::new()).listen(Listen::Ask).bind("127.0.0.1:0").await?;
/// # let _ = server;
/// # Ok(())
/// # }
/// ```
pub struct Builder {
    config: Config,
    listen: Listen,
    is_plain: bool,
    net: Net,
    #[cfg(feature = "seal")]
    security: Option<Security>,
    #[cfg(feature = "trace")]
    recorder: Option<Recorder>,
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").finish_non_exhaustive()
    }
}

impl Builder {
    pub(crate) fn new(config: Config) -> Self {
        Self {
            config,
            listen: Listen::Open,
            is_plain: false,
            net: Net(Box::new(())),
            #[cfg(feature = "seal")]
            security: None,
            #[cfg(feature = "trace")]
            recorder: None,
        }
    }

    /// Whether strangers may connect at first: as with [`Listen::Open`], unless this says otherwise.
    ///
    /// ```
    /// # use porous_tokio::{Server, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let builder = Server::builder(Config::new()).listen(Listen::Ask);
    /// let server = builder.bind("127.0.0.1:0").await?; // calls `incoming`, not `accept`
    /// # let _ = server;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn listen(mut self, policy: Listen) -> Self {
        self.listen = policy;
        self
    }

    /// How the host seals: with which keys, and whether clients have to prove their identity. By default a host
    /// whose configuration has [suites](Config::sealed) seals with `RustCrypto`, has no keys, lets in every client
    /// that seals, and none that does not.
    ///
    /// ```
    /// # use porous_tokio::{Server, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// let config = Config::new().sealed(&[Suite::CHACHA_POLY])?;
    /// let security = Security::new(&RustCrypto).allow_plain();
    /// let server = Server::builder(config).security(security).bind("127.0.0.1:0").await?;
    /// # let _ = server;
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "seal")]
    #[must_use]
    pub fn security(mut self, security: Security) -> Self {
        self.security = Some(security);
        self
    }

    /// Records the host, for a replay byte for byte (the crate `porous-trace`, `docs/trace.md`). The recording ends
    /// with the host; where it fails, the connections go on.
    ///
    /// ```
    /// # use porous_tokio::{Server, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let recorder = trace::Recorder::new(std::io::sink(), trace::Keep::nothing());
    /// let server = Server::builder(Config::new()).record(recorder).bind("127.0.0.1:0").await?;
    /// # let _ = server;
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "trace")]
    #[must_use]
    pub fn record(mut self, recorder: Recorder) -> Self {
        self.recorder = Some(recorder);
        self
    }

    /// Puts a conditioner between the host and its socket, for example a simulated bad network (`LinkConditioner`,
    /// feature `sim`).
    ///
    /// ```
    /// # use porous_tokio::{Server, prelude::*};
    /// use porous_tokio::LinkConditioner;
    /// use porous_tokio::sim::{LinkConfig, Seed};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let bad = LinkConditioner::new(LinkConfig::new().loss(5.0), Seed::new(1));
    /// let server = Server::builder(Config::new()).conditioner(bad).bind("127.0.0.1:0").await?;
    /// # let _ = server;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn conditioner(mut self, conditioner: impl Conditioner + Send + 'static) -> Self {
        self.net = Net(Box::new(conditioner));
        self
    }

    /// Sends and receives one datagram a call, and changes no option of the socket: see
    /// [`Endpoint::plain`](porous_udp::Endpoint::plain).
    ///
    /// ```
    /// # use porous_tokio::{Server, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let server = Server::builder(Config::new()).plain().bind("127.0.0.1:0").await?;
    /// # let _ = server;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn plain(mut self) -> Self {
        self.is_plain = true;
        self
    }

    /// Binds a new socket to the first of these addresses to which the system can bind one, and begins to serve it.
    /// See [`Server::bind`].
    ///
    /// # Errors
    ///
    /// Those of [`Server::bind`].
    ///
    /// # Panics
    ///
    /// As [`Server::bind`].
    ///
    /// ```
    /// # use porous_tokio::{Server, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let server = Server::builder(Config::new()).bind("127.0.0.1:0").await?;
    /// assert_ne!(server.local_addr()?.port(), 0);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn bind(self, at: impl ToSocketAddrs) -> io::Result<Server> {
        Ok(Server::new(self.open(at).await?))
    }

    /// Takes over a socket, for example one with options of its own, and begins to serve it. The socket must be
    /// bound and not connected. It becomes non-blocking, and keeps the buffers that it has.
    ///
    /// # Errors
    ///
    /// Those of [`Server::bind`].
    ///
    /// # Panics
    ///
    /// As [`Server::bind`].
    ///
    /// ```
    /// # use porous_tokio::{Server, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let socket = std::net::UdpSocket::bind("127.0.0.1:0")?;
    /// socket.set_ttl(5)?;
    /// let server = Server::builder(Config::new()).from_socket(socket)?;
    /// # let _ = server;
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_socket(self, socket: std::net::UdpSocket) -> io::Result<Server> {
        Ok(Server::new(self.serve(&current()?, socket)?))
    }

    pub(crate) async fn open(self, at: impl ToSocketAddrs) -> io::Result<Arc<Handle>> {
        // Before the name is looked up, which panics outside of a runtime.
        let runtime = current()?;
        let addresses: Vec<SocketAddr> = lookup_host(at).await?.collect();
        self.serve(&runtime, porous_udp::bind(&addresses[..])?)
    }

    fn serve(
        self,
        runtime: &runtime::Handle,
        socket: std::net::UdpSocket,
    ) -> io::Result<Arc<Handle>> {
        // Panics here, where it tells its caller, if the runtime has no timer.
        drop(sleep(Duration::ZERO));
        socket.set_nonblocking(true)?;
        let socket = Arc::new(UdpSocket::from_std(socket)?);
        let system = TokioSocket::new(Arc::clone(&socket));
        let shared = Shared::new(self.state(system)?);
        let handle = Handle::new(Arc::clone(&shared));
        driver::start(runtime, shared, socket);
        Ok(handle)
    }

    pub(crate) fn state(self, system: TokioSocket) -> io::Result<State> {
        let endpoint = match self.is_plain {
            true => Endpoint::plain(system, self.config)?,
            false => Endpoint::new(system, self.config)?,
        };
        let mut endpoint = endpoint.with_conditioner(self.net);
        endpoint.set_time_limit(TIME_LIMIT);
        #[cfg(feature = "trace")]
        if let Some(recorder) = self.recorder {
            endpoint.record(recorder).map_err(io::Error::other)?;
        }
        #[cfg(feature = "seal")]
        if let Some(security) = self.security {
            endpoint.set_security(security);
        }
        let allowed = endpoint.listen(self.listen);
        allowed.map_err(|error| io::Error::new(ErrorKind::InvalidInput, error))?;
        Ok(State::new(endpoint))
    }
}

/// The runtime that this thread is in.
fn current() -> io::Result<runtime::Handle> {
    runtime::Handle::try_current()
        .map_err(|error| io::Error::other(format!("a host is served by a task of tokio: {error}")))
}
