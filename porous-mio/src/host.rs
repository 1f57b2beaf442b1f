//! The driver itself: an endpoint, and what the event loop said of its socket.

use core::time::Duration;
use std::io;
use std::net::ToSocketAddrs;

use mio::event::{Event, Source};
use mio::{Interest, Registry, Token};
use porous_udp::{Conditioner, Config, Endpoint, SystemSocket, bind};

use crate::MioSocket;

/// A UDP socket of a mio event loop and the host that lives on it. See the [crate] for the loop.
///
/// It is a [`Source`]: register it for `READABLE | WRITABLE` before the first step.
///
/// `C` stands between the host and the socket, and by default lets everything pass: see
/// [`Conditioner`]. `S` is the socket; any other that is a [`Source`] may stand in for mio's.
///
/// When it is dropped, each peer is told once that it ends. To make sure that they know,
/// [disconnect](Self::disconnect_all) all and turn the loop until they [are
/// gone](Self::is_empty).
#[derive(Debug)]
pub struct MioHost<C = (), S: SystemSocket = MioSocket> {
    endpoint: Endpoint<S, C>,
    /// Whether the socket was reported readable, and has not been read empty since.
    readable: bool,
    /// Whether the socket was reported writable while a datagram waited for room in it.
    has_room: bool,
}

impl MioHost {
    /// Binds a new socket; port 0 lets the system choose one. A server binds to `[::]` and its
    /// port, and so serves IPv6 and IPv4 alike, or to `0.0.0.0` where there is no IPv6. A client
    /// binds to port 0 of one of these.
    ///
    /// The socket gets larger buffers than the system's usual ones, as far as the system allows:
    /// see [`SocketBuffers`](crate::SocketBuffers).
    ///
    /// # Errors
    ///
    /// The system's error, with the address, if it cannot bind the socket: mostly that another program
    /// has the port, that no interface has the address, that there is no IPv6, or that the process
    /// may not open another file. Also if there are no random numbers.
    ///
    /// ```
    /// use porous_mio::{Config, MioHost};
    ///
    /// let host = MioHost::bind("127.0.0.1:0", Config::new())?;
    /// assert_ne!(host.local_addr()?.port(), 0);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn bind(address: impl ToSocketAddrs, config: Config) -> io::Result<Self> {
        Self::from_socket(bind(address)?, config)
    }

    /// Takes over a socket of mio or of `std`, for example one with options of its own. It becomes
    /// non-blocking, is set up to carry many datagrams a call where the system can, and keeps the
    /// buffers that it has. It must be bound, not connected, and not registered.
    ///
    /// # Errors
    ///
    /// The system's error, if the socket cannot be made non-blocking or there are no random numbers.
    ///
    /// ```
    /// use mio::net::UdpSocket;
    /// use porous_mio::{Config, MioHost};
    ///
    /// let socket = UdpSocket::bind(([127, 0, 0, 1], 0).into())?;
    /// socket.set_ttl(5)?;
    /// let host = MioHost::from_socket(socket, Config::new())?;
    /// # let _ = host;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn from_socket(socket: impl Into<MioSocket>, config: Config) -> io::Result<Self> {
        Endpoint::new(socket.into(), config).map(Self::from)
    }
}

impl<S: SystemSocket> MioHost<(), S> {
    /// Puts a conditioner between this host and its socket.
    ///
    /// ```
    /// use porous_mio::{Config, MioHost};
    ///
    /// let host = MioHost::bind("127.0.0.1:0", Config::new())?.with_conditioner(());
    /// # let _ = host;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn with_conditioner<C: Conditioner>(self, conditioner: C) -> MioHost<C, S> {
        MioHost {
            endpoint: self.endpoint.with_conditioner(conditioner),
            readable: self.readable,
            has_room: self.has_room,
        }
    }
}

impl<C: Conditioner, S: SystemSocket> MioHost<C, S> {
    /// Notes what the event loop says of this host's socket, until [`step`](Self::step) makes use
    /// of it. To be called with every event that has the host's token; none comes twice.
    ///
    /// ```
    /// use mio::{Events, Interest, Poll, Token};
    /// use porous_mio::{Config, MioHost};
    ///
    /// let (mut poll, mut events) = (Poll::new()?, Events::with_capacity(8));
    /// let mut host = MioHost::bind("127.0.0.1:0", Config::new())?;
    /// let both = Interest::READABLE | Interest::WRITABLE;
    /// poll.registry().register(&mut host, Token(7), both)?;
    /// poll.poll(&mut events, host.timeout())?;
    /// for event in events.iter().filter(|event| event.token() == Token(7)) {
    ///     host.handle_event(event);
    /// }
    /// host.step()?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn handle_event(&mut self, event: &Event) {
        // What ICMP says is an error of the socket until somebody takes it.
        self.readable |= event.is_readable() || event.is_error();
        self.has_room |= event.is_writable() && self.endpoint.is_blocked();
    }

    /// Takes in what has arrived, if the socket was reported readable; does what time demands;
    /// sends what has to be sent. Never blocks. Due when [`timeout`](Self::timeout) is zero, too
    /// early is harmless.
    ///
    /// Both, taking in and sending, end after the [time](Self::set_time_limit) that a call has,
    /// 8 ms if nothing is said, so that a flood holds up nothing else. While there may be more,
    /// `timeout` is zero: no event will tell of it.
    ///
    /// # Errors
    ///
    /// Only if the socket is of no more use; its kind is that of the system's error. Nothing
    /// but the datagrams at hand is lost by it, and the host can still be asked what it has. What
    /// the network does to datagrams is no error.
    ///
    /// ```
    /// use porous_mio::{Config, MioHost};
    ///
    /// let mut host = MioHost::bind("127.0.0.1:0", Config::new())?;
    /// host.step()?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn step(&mut self) -> io::Result<()> {
        if self.readable {
            self.readable = self.endpoint.receive_datagrams()?;
        }
        self.has_room = false;
        self.endpoint.transmit()
    }

    /// How long the event loop may sleep before this host has to [`step`](Self::step), if no event
    /// comes: for [`Poll::poll`](mio::Poll::poll). Zero if it is due now, `None` if nothing is.
    ///
    /// It knows of all that makes a step due: datagrams that wait in the socket, room in it for one
    /// that waits here, packets that were queued since the last step, and the deadlines of the
    /// [endpoint](Endpoint::deadline). mio rounds up to the system's tick, 1 ms on most, so what is
    /// due in less than that is neither missed nor asked for in a spin.
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_mio::{Config, MioHost};
    ///
    /// let mut host = MioHost::bind("127.0.0.1:0", Config::client())?;
    /// assert_eq!(host.timeout(), None);
    /// host.connect(([127, 0, 0, 1], 4000).into()).expect("the first call");
    /// assert_eq!(host.timeout(), Some(Duration::ZERO)); // a datagram is to be sent
    /// host.step()?;
    /// assert!(host.timeout() > Some(Duration::ZERO)); // until it is repeated
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn timeout(&self) -> Option<Duration> {
        if self.readable || self.has_room {
            return Some(Duration::ZERO);
        }
        let deadline = self.endpoint.deadline()?;
        Some(deadline.saturating_duration_since(self.endpoint.now()))
    }
}

impl<C, S: SystemSocket> MioHost<C, S> {
    porous_udp::verbs! {
        endpoint,
        "use porous_mio::prelude::*;",
        r#"let mut host = MioHost::bind("127.0.0.1:0", Config::new())?;"#,
        r#"let mut host = MioHost::bind("127.0.0.1:0", Config::client())?;"#
    }

    /// The endpoint within, for questions about its socket and its conditioner.
    ///
    /// ```
    /// use porous_mio::prelude::*;
    ///
    /// let host = MioHost::bind("127.0.0.1:0", Config::new())?;
    /// host.endpoint().socket().get_ref().set_ttl(5)?;
    /// if host.endpoint().socket_buffers()?.receive < 1 << 20 {
    ///     eprintln!("small socket buffers: packets will be lost when the server is busy");
    /// }
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub const fn endpoint(&self) -> &Endpoint<S, C> {
        &self.endpoint
    }

    /// The conditioner, to change what it does.
    ///
    /// ```
    /// use porous_mio::prelude::*;
    ///
    /// let mut host = MioHost::bind("127.0.0.1:0", Config::new())?.with_conditioner(());
    /// *host.conditioner_mut() = ();
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub const fn conditioner_mut(&mut self) -> &mut C {
        self.endpoint.conditioner_mut()
    }
}

/// Takes over an endpoint, for example a [plain](Endpoint::plain) one. Its socket must not be
/// registered yet: an event that came before would be missed.
impl<C, S: SystemSocket> From<Endpoint<S, C>> for MioHost<C, S> {
    fn from(endpoint: Endpoint<S, C>) -> Self {
        Self {
            endpoint,
            readable: false,
            has_room: false,
        }
    }
}

/// What of the socket is watched, and under which token. An event loop tells of all that is there
/// when it begins to watch.
impl<C: Conditioner, S: SystemSocket + Source> Source for MioHost<C, S> {
    fn register(
        &mut self,
        registry: &Registry,
        token: Token,
        interest: Interest,
    ) -> io::Result<()> {
        self.endpoint
            .socket_mut()
            .register(registry, token, interest)
    }

    fn reregister(
        &mut self,
        registry: &Registry,
        token: Token,
        interest: Interest,
    ) -> io::Result<()> {
        self.endpoint
            .socket_mut()
            .reregister(registry, token, interest)
    }

    fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
        self.endpoint.socket_mut().deregister(registry)
    }
}
