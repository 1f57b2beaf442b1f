//! The driver itself: an endpoint, and a way to wait.

use alloc::sync::Arc;
use core::net::SocketAddr;
use core::task::Waker;
use core::time::Duration;
use std::io;
use std::net::{ToSocketAddrs, UdpSocket};

use porous_udp::{
    Conditioner, Config, ConnectionIds, Disconnect, Endpoint, Event, bind, bind_shards,
};

use crate::bell::{Bell, Ringer, bell};
use crate::sleep::sleep;

/// A UDP socket and the host that lives on it. See the [crate] for the order of calls.
///
/// `C` stands between the host and the socket, and by default lets everything pass: see
/// [`Conditioner`].
///
/// When the host is dropped, each peer is told once that the connection ends; [`close`](Self::close) waits
/// until all peers know.
#[derive(Debug)]
pub struct UdpHost<C = ()> {
    pub(crate) endpoint: Endpoint<UdpSocket, C>,
    /// What ends the sleep of `wait`, if somebody has asked for it.
    bell: Option<(Arc<Ringer>, Bell)>,
}

impl UdpHost {
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
    /// program has the port, no interface has the address, or there is no IPv6. Also if the system has no
    /// random numbers.
    ///
    /// ```
    /// use porous_std::{Config, UdpHost};
    ///
    /// let host = UdpHost::bind("127.0.0.1:0", Config::new())?;
    /// assert_ne!(host.local_addr()?.port(), 0);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn bind(address: impl ToSocketAddrs, config: Config) -> io::Result<Self> {
        Self::from_socket(bind(address)?, config)
    }

    /// Binds `count` hosts to one port, each for a thread of its own: shards of one server, for more players
    /// than one core can serve. `count` is a power of two from 1 to 128. Each peer is one host's for good,
    /// that to which its handshake came, and the hosts know nothing of each other. They make their ids as
    /// [`ConnectionIds::Sharded`], in the order of the `Vec`, by which the system finds the host of each
    /// datagram, also when the client's address changes.
    ///
    /// The configuration is that of each host, but for the answers to strangers, which the hosts
    /// [divide](Config::divided_among). Give each of them the same keys, if they seal. A token of one use is
    /// good once at each host.
    ///
    /// What there is to know of such sockets stands at [`porous_udp::bind_shards`]: above all,
    /// close all of them or none. Systems other than Linux cannot do this. There, and wherever one socket
    /// has to do, one thread can receive and hand the datagrams over to the others: `examples/handover.rs`
    /// of this crate.
    ///
    /// # Errors
    ///
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if `count` is no power of two from 1 to 128, or connection
    /// ids are too short to tell the shard: see [`ConnectionIds::Sharded`].
    /// [`Unsupported`](io::ErrorKind::Unsupported) if the system cannot do this; else as
    /// [`bind`](Self::bind).
    ///
    /// ```
    /// use porous_std::{Config, Listen, UdpHost};
    ///
    /// # fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// let server = Config::new().roaming(true);
    /// # if cfg!(not(target_os = "linux")) { return Ok(()) }
    /// for mut host in UdpHost::bind_shards("127.0.0.1:0", 4, server)? {
    ///     host.listen(Listen::Open)?;
    ///     let thread = host.spawn()?; // for each of them a part of the game
    /// #   drop(thread);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn bind_shards(
        address: impl ToSocketAddrs,
        count: u8,
        config: Config,
    ) -> io::Result<Vec<Self>> {
        let sockets = bind_shards(address, count)?;
        let config = config.divided_among(count);
        let bits = u8::try_from(count.trailing_zeros()).unwrap_or_default();
        let hosts = sockets.into_iter().zip(0..).map(|(socket, shard)| {
            let mut host = Self::from_socket(socket, config.clone())?;
            // Of one host alone nobody has to tell which it is.
            if count > 1 {
                let ids = ConnectionIds::Sharded { shard, bits };
                let told = host.set_connection_ids(ids);
                told.map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
            }
            Ok(host)
        });
        hosts.collect()
    }

    /// Takes over a socket, for example one with options of its own. The socket must be bound and not
    /// connected. It becomes non-blocking, is set up to carry many datagrams a call where the system can,
    /// and keeps the buffers that it has.
    ///
    /// # Errors
    ///
    /// The system's error, if the socket cannot be made non-blocking or there are no random numbers.
    ///
    /// ```
    /// use std::net::UdpSocket;
    /// use porous_std::{Config, UdpHost};
    ///
    /// let socket = UdpSocket::bind("127.0.0.1:0")?;
    /// socket.set_ttl(5)?;
    /// let host = UdpHost::from_socket(socket, Config::new())?;
    /// # let _ = host;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn from_socket(socket: UdpSocket, config: Config) -> io::Result<Self> {
        Endpoint::new(socket, config).map(Self::from)
    }

    /// Puts a conditioner between this host and its socket.
    ///
    /// ```
    /// use porous_std::{Config, UdpHost};
    ///
    /// let host = UdpHost::bind("127.0.0.1:0", Config::new())?.with_conditioner(());
    /// # let _ = host;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn with_conditioner<C: Conditioner>(self, conditioner: C) -> UdpHost<C> {
        UdpHost {
            endpoint: self.endpoint.with_conditioner(conditioner),
            bell: self.bell,
        }
    }
}

impl<C: Conditioner> UdpHost<C> {
    /// Takes in the datagrams that have arrived, does what is due by time, and sends what is to be sent.
    /// Never blocks. A game loop calls it once a tick.
    ///
    /// Taking in and sending each end after the [time limit](Self::set_time_limit) of a call, 8 ms unless
    /// it was changed; the rest waits for the next step.
    ///
    /// # Errors
    ///
    /// Only if the socket is of no more use: make a new host. The kind is that of the system's error. Only
    /// the datagrams at hand are lost, and packets and events of this host can still be polled. What the
    /// network does to datagrams is no error.
    ///
    /// ```
    /// use porous_std::{Config, UdpHost};
    ///
    /// let mut host = UdpHost::bind("127.0.0.1:0", Config::new())?;
    /// host.step()?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn step(&mut self) -> io::Result<()> {
        self.endpoint.receive_datagrams()?;
        self.endpoint.transmit()
    }

    /// Does what is due by time and sends what is to be sent, and takes nothing in: for the end of a tick
    /// that began with [`step`](Self::step) or [`wait`](Self::wait). Never blocks. Another `step` there would
    /// ask the system for datagrams once more, which is one system call.
    ///
    /// Call `step` before, in each tick: an acknowledgement that has arrived and was not taken in counts as
    /// missing, so that packets are repeated needlessly.
    ///
    /// # Errors
    ///
    /// As [`step`](Self::step).
    ///
    /// ```
    /// use porous_std::prelude::*;
    ///
    /// let mut host = UdpHost::bind("127.0.0.1:0", Config::client())?;
    /// host.step()?;
    /// host.connect(([127, 0, 0, 1], 4000).into()).expect("the first call");
    /// host.transmit()?;
    /// assert_eq!(host.stats().datagrams_sent, 1);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn transmit(&mut self) -> io::Result<()> {
        self.endpoint.transmit()
    }

    /// Sends what waits, and sleeps until a datagram comes, a deadline of the host is due, or `max` is
    /// over. Then does what [`step`](Self::step) does. For a program that is driven by its network.
    ///
    /// It may return early. It does not look at events that wait to be polled: poll them all before.
    ///
    /// # Errors
    ///
    /// As [`step`](Self::step).
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_std::{Config, UdpHost};
    ///
    /// let mut host = UdpHost::bind("127.0.0.1:0", Config::new())?;
    /// host.wait(Duration::from_millis(5))?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn wait(&mut self, max: Duration) -> io::Result<()> {
        self.endpoint.transmit()?;
        let (longest, blocked) = (self.endpoint.sleep_at_most(max), self.endpoint.is_blocked());
        let socket = self.endpoint.socket();
        let is_readable = match &self.bell {
            None => sleep([socket], blocked, longest)?[0],
            Some((_, bell)) => {
                let [is_readable, rung] = sleep([socket, bell.socket()], blocked, longest)?;
                bell.hear(rung);
                is_readable
            }
        };
        if is_readable {
            self.endpoint.receive_datagrams()?;
        }
        self.endpoint.transmit()
    }

    /// Ends the sleep of [`wait`](Self::wait), or the next one, for another thread that has something for the
    /// thread of this host to do. When the host is gone, or lives in a [thread of its own](Self::spawn), it does
    /// nothing. All wakers of a host are the same.
    ///
    /// # Errors
    ///
    /// The system's error, if there is no loopback interface: the sleep ends by a datagram to a socket of its own.
    ///
    /// ```
    /// use core::time::Duration;
    /// use std::sync::mpsc;
    /// use porous_std::{Config, UdpHost};
    ///
    /// let mut host = UdpHost::bind("127.0.0.1:0", Config::new())?;
    /// let (sender, orders) = mpsc::channel();
    /// let waker = host.waker()?;
    /// std::thread::spawn(move || {
    ///     sender.send("close the gates").expect("the host waits");
    ///     waker.wake();
    /// });
    /// let order = loop {
    ///     host.wait(Duration::MAX)?;
    ///     if let Ok(order) = orders.try_recv() {
    ///         break order;
    ///     }
    /// };
    /// assert_eq!(order, "close the gates");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn waker(&mut self) -> io::Result<Waker> {
        let ringer = match &self.bell {
            Some((ringer, _)) => ringer,
            None => {
                let (ringer, bell) = bell()?;
                &self.bell.insert((Arc::new(ringer), bell)).0
            }
        };
        Ok(Arc::clone(ringer).into())
    }

    /// [Drains](Self::drain) the host, and waits until it [is empty](Self::is_empty): at most for
    /// `deadline` and the [`disconnect_timeout`](Config::disconnect_timeout). For a server that has been
    /// told to stop. `on_event` gets each event that comes meanwhile, and the host, to take in the last
    /// packets of the peers.
    ///
    /// # Errors
    ///
    /// As [`step`](Self::step).
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_std::prelude::*;
    ///
    /// let mut host = UdpHost::bind("127.0.0.1:0", Config::new())?;
    /// host.listen(Listen::Open).expect("the configuration of a server");
    /// let restart = 3; // a number that the clients of this game know
    /// host.drain_until_empty(restart, Duration::from_secs(30), |host, event| {
    ///     if let Event::Readable { peer } = event {
    ///         while let Some(packet) = host.receive(peer) {
    ///             println!("{peer:?} has said at last: {:?}", packet.payload);
    ///         }
    ///     }
    /// })?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn drain_until_empty(
        &mut self,
        reason: u32,
        deadline: Duration,
        mut on_event: impl FnMut(&mut Self, Event<SocketAddr>),
    ) -> io::Result<()> {
        self.drain(reason, deadline);
        loop {
            // Before the wait, which does not look at them.
            while let Some(event) = self.poll_event() {
                on_event(self, event);
            }
            if self.is_empty() {
                return Ok(());
            }
            self.wait(Duration::MAX)?;
        }
    }

    /// Ends all connections, and waits until all peers know. That takes about a round trip; for a peer that
    /// does not answer, at most [`disconnect_timeout`](Config::disconnect_timeout), counted from the
    /// deadline of a [`Disconnect::Flush`]. A stranger that asks meanwhile is not let in. Events and packets
    /// that come meanwhile, or that were not taken before, are dropped.
    ///
    /// A host that is only dropped tells each peer once, and does not wait.
    ///
    /// # Errors
    ///
    /// As [`step`](Self::step).
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_std::{Config, Disconnect, UdpHost};
    ///
    /// let host = UdpHost::bind("127.0.0.1:0", Config::new())?;
    /// host.close(Disconnect::Flush { reason: 0, deadline: Duration::from_secs(2) })?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn close(mut self, how: Disconnect) -> io::Result<()> {
        self.endpoint.disconnect_all(how);
        while !self.endpoint.is_empty() {
            self.wait(Duration::MAX)?;
            // Nobody else takes them any more.
            while self.endpoint.poll_event().is_some() {}
        }
        Ok(())
    }
}

impl<C> UdpHost<C> {
    porous_udp::verbs! {
        endpoint,
        "use porous_std::prelude::*;",
        r#"let mut host = UdpHost::bind("127.0.0.1:0", Config::new())?;"#,
        r#"let mut host = UdpHost::bind("127.0.0.1:0", Config::client())?;"#,
        r#"let mut host = UdpHost::bind("127.0.0.1:0", config)?;"#
    }

    /// The endpoint within, for questions about its socket and its conditioner.
    ///
    /// ```
    /// use porous_std::prelude::*;
    ///
    /// let host = UdpHost::bind("127.0.0.1:0", Config::new())?;
    /// host.endpoint().socket().set_ttl(5)?;
    /// if host.endpoint().socket_buffers()?.receive < 1 << 20 {
    ///     eprintln!("small socket buffers: packets will be lost when the server is busy");
    /// }
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub const fn endpoint(&self) -> &Endpoint<UdpSocket, C> {
        &self.endpoint
    }

    /// The conditioner, to change what it does.
    ///
    /// ```
    /// use porous_std::prelude::*;
    ///
    /// let mut host = UdpHost::bind("127.0.0.1:0", Config::new())?.with_conditioner(());
    /// *host.conditioner_mut() = ();
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub const fn conditioner_mut(&mut self) -> &mut C {
        self.endpoint.conditioner_mut()
    }
}

/// Takes over an endpoint, for example a [plain](Endpoint::plain) one.
impl<C> From<Endpoint<UdpSocket, C>> for UdpHost<C> {
    fn from(endpoint: Endpoint<UdpSocket, C>) -> Self {
        let bell = None;
        Self { endpoint, bell }
    }
}
