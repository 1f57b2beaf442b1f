//! The driver itself: an endpoint, and the readiness of its socket as the event loop reported it.

use core::time::Duration;
use std::io;
use std::net::ToSocketAddrs;

use mio::event::{Event, Source};
use mio::{Interest, Registry, Token};
use porous_udp::{Conditioner, Config, Endpoint, SystemSocket, bind};

use crate::MioSocket;

/// A UDP socket of a mio event loop and the host that lives on it. See the [crate] for the loop.
///
/// A host is a [`Source`]: register it for `READABLE | WRITABLE` before the first step.
///
/// `C` stands between the host and the socket, and by default lets everything pass: see
/// [`Conditioner`]. `S` is the socket: mio's, or another that is a [`Source`].
///
/// When the host is dropped, each peer is told once that the connection ends. To be sure that all peers
/// know, [disconnect](Self::disconnect_all) all and turn the loop until the host [is
/// empty](Self::is_empty).
#[derive(Debug)]
pub struct MioHost<C = (), S: SystemSocket = MioSocket> {
    endpoint: Endpoint<S, C>,
    /// True if the socket was reported readable, and was not read empty since.
    readable: bool,
    /// True if the socket was reported writable while a datagram waited for room in it.
    has_room: bool,
}

impl MioHost {
    /// Binds a new socket; with port 0 the system chooses the port. A server binds to `[::]` and its
    /// port, and so serves both IPv6 and IPv4, or to `0.0.0.0` where there is no IPv6. A client
    /// binds to port 0 of one of these addresses.
    ///
    /// The socket gets larger buffers than the system's usual ones, as far as the system allows:
    /// see [`SocketBuffers`](crate::SocketBuffers).
    ///
    /// # Errors
    ///
    /// The system's error, with the address, if it cannot bind the socket. The usual causes: another
    /// program has the port, no interface has the address, there is no IPv6, or the process may not open
    /// another file. Also if the system has no random numbers.
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

    /// Takes over a socket of mio or of `std`, for example one with options of its own. The socket must be
    /// bound, not connected, and not registered. It becomes non-blocking, is set up to carry many datagrams
    /// a call where the system can, and keeps the buffers that it has.
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
    /// Notes the readiness of this host's socket for the next [`step`](Self::step). Call it with every
    /// event that has the token of this host: mio reports each change only once.
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
        // An ICMP error stays an error of the socket until a call receives it.
        self.readable |= event.is_readable() || event.is_error();
        // Only while a datagram waits: Linux reports "writable" after each datagram that leaves, and a
        // step for each would be needless.
        self.has_room |= event.is_writable() && self.endpoint.is_blocked();
    }

    /// Takes in the datagrams that have arrived, if the socket was reported readable, does what is due by
    /// time, and sends what is to be sent. Never blocks. Due when [`timeout`](Self::timeout) is zero; an
    /// earlier call is harmless.
    ///
    /// Taking in and sending each end after the [time limit](Self::set_time_limit) of a call, 8 ms unless
    /// it was changed, so that a flood holds nothing else up. While more datagrams may wait, `timeout` is
    /// zero, as mio does not report them again.
    ///
    /// # Errors
    ///
    /// Only if the socket is of no more use: make a new host. The kind is that of the system's error. Only
    /// the datagrams at hand are lost, and packets and events of this host can still be polled. What the
    /// network does to datagrams is no error.
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
            // Stays true while more may have arrived, as mio does not report that again.
            self.readable = self.endpoint.receive_datagrams()?;
        }
        // `transmit` uses the room, or finds it gone and is told again.
        self.has_room = false;
        self.endpoint.transmit()
    }

    /// How long the event loop may sleep before this host has to [`step`](Self::step), if no event
    /// comes: for [`Poll::poll`](mio::Poll::poll). Zero if it is due now, `None` if nothing is.
    ///
    /// Everything that makes a step due counts: datagrams that wait in the socket, room in the socket for
    /// a datagram that waits in the host, packets that were queued since the last step, and the deadlines
    /// of the [endpoint](Endpoint::deadline). mio rounds the time up to the system's tick, 1 ms on most
    /// systems, so that a loop does not spin until a deadline that is nearer than a tick.
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
        r#"let mut host = MioHost::bind("127.0.0.1:0", Config::client())?;"#,
        r#"let mut host = MioHost::bind("127.0.0.1:0", config)?;"#
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

/// Passed on to the socket. An event loop reports the readiness that a socket has when it is registered.
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
