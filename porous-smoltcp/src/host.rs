//! The driver itself: one host, and a socket that is lent to it.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

#[cfg(feature = "seal")]
use porous_proto::seal::Credentials;
use porous_proto::{Config, ConnectError, Ecn, Host, Instant, PeerId, ip_source};
use rand_core::CryptoRng;
use smoltcp::socket::udp::{PacketBuffer, PacketMetadata, Socket};
use smoltcp::time::Instant as SmolInstant;
use smoltcp::wire::IpEndpoint;

use crate::socket::{Sent, Watch, bad_address, send};
use crate::{SocketClosed, SocketStats, time};

/// The most datagrams that one step takes in: a flood must not stop the program.
const RECEIVES_PER_STEP: usize = 1024;

/// How soon a datagram that found no room in the socket is tried again, as smoltcp does not report room.
const RETRY_SEND: Duration = Duration::from_millis(5);

/// A host that lives on a UDP socket of smoltcp. See the [crate] for the order of calls.
///
/// `R` is the source of random numbers, which no attacker may be able to predict: connection ids and the
/// keys of cookies are made from it.
#[derive(Debug)]
pub struct SmolHost<R> {
    host: Host<R, IpEndpoint>,
    buffer: Box<[u8]>,
    held: Option<Held>,
    watch: Watch,
    stats: SocketStats,
}

/// The datagram at the beginning of the buffer, which found no room in the socket. No other is made before
/// this one has left, so that nothing overtakes it.
#[derive(Clone, Copy, Debug)]
struct Held {
    to: IpEndpoint,
    len: usize,
}

impl<R: CryptoRng> SmolHost<R> {
    /// A host with this configuration, and the one buffer that it needs.
    ///
    /// ```
    /// use getrandom::SysRng;
    /// use porous_smoltcp::{Config, SmolHost};
    /// use rand_core::UnwrapErr;
    ///
    /// let host = SmolHost::new(Config::new(), UnwrapErr(SysRng));
    /// # let _ = host;
    /// ```
    pub fn new(config: Config, rng: R) -> Self {
        // smoltcp neither sends marks of congestion nor reports them.
        let mut host = Host::new(config.ecn(false), rng);
        host.set_same_host(|a: &IpEndpoint, b| a.addr == b.addr);
        host.set_source_of(|from| ip_source(from.addr.into()));
        #[cfg(feature = "seal")]
        host.set_ip_of(|from| from.addr.into());
        let buffer = vec![0; host.max_datagram_size()].into_boxed_slice();
        Self {
            host,
            buffer,
            held: None,
            watch: Watch::default(),
            stats: SocketStats::default(),
        }
    }

    /// A buffer for a socket that holds this many of the longest datagrams of this host. See
    /// [the crate](crate#memory) for how many there should be.
    ///
    /// # Panics
    ///
    /// If the allocation fails.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_rng;
    /// use porous_smoltcp::{Config, SmolHost};
    /// use smoltcp::socket::udp;
    ///
    /// let host = SmolHost::new(Config::new(), example_rng());
    /// let socket = udp::Socket::new(host.packet_buffer(16), host.packet_buffer(8));
    /// assert_eq!(socket.payload_recv_capacity(), 16 * 1200);
    /// ```
    #[must_use]
    pub fn packet_buffer(&self, datagrams: usize) -> PacketBuffer<'static> {
        let bytes = datagrams.saturating_mul(self.buffer.len());
        // One more, because smoltcp needs an entry to skip the end of its ring.
        let entries = datagrams.saturating_add(1);
        PacketBuffer::new(vec![PacketMetadata::EMPTY; entries], vec![0; bytes])
    }

    /// Takes the datagrams that have arrived out of the socket, does what is due by time, and puts the
    /// datagrams to be sent into the socket. Never blocks. To be called after the interface was polled,
    /// and when [`poll_at`](Self::poll_at) says so.
    ///
    /// At most 1024 datagrams are taken in; the rest waits in the socket. `socket` is the one that earlier
    /// calls were given, or one that takes its place.
    ///
    /// # Errors
    ///
    /// [`SocketClosed`] if the socket is not bound; nothing has changed then. What the network does
    /// to datagrams is no error.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_rng;
    /// use porous_smoltcp::{Config, SmolHost, SocketClosed};
    /// use smoltcp::socket::udp;
    /// use smoltcp::time::Instant;
    ///
    /// let mut host = SmolHost::new(Config::new(), example_rng());
    /// let mut socket = udp::Socket::new(host.packet_buffer(8), host.packet_buffer(8));
    /// assert_eq!(host.step(Instant::ZERO, &mut socket), Err(SocketClosed));
    /// socket.bind(7777)?;
    /// host.step(Instant::ZERO, &mut socket)?;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn step(&mut self, now: SmolInstant, socket: &mut Socket<'_>) -> Result<(), SocketClosed> {
        if !socket.is_open() {
            return Err(SocketClosed);
        }
        let now = time::to_porous(now);
        self.receive(now, socket);
        // Before sending, so that new datagrams find the room, and are not thrown away with the stuck ones.
        if self.watch.unstick(now, socket)? {
            self.stats.send_stuck += 1;
        }
        self.host.handle_timeout(now);
        self.transmit(now, socket);
        self.watch.sent(socket);
        Ok(())
    }

    /// Begins to connect, from the socket that the host lives on. The request leaves with the next
    /// step.
    ///
    /// # Errors
    ///
    /// [`ConnectError::BadAddress`] if no host can be at the address: see [the crate](crate#addresses); and
    /// those of [`Host::connect`].
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_rng;
    /// use porous_smoltcp::{BadAddress, Config, ConnectError, SmolHost};
    /// use smoltcp::socket::udp;
    /// use smoltcp::time::Instant;
    /// use smoltcp::wire::IpAddress;
    ///
    /// let mut host = SmolHost::new(Config::client(), example_rng());
    /// let mut socket = udp::Socket::new(host.packet_buffer(8), host.packet_buffer(8));
    /// socket.bind(7777)?;
    /// let (now, server) = (Instant::ZERO, IpAddress::v4(10, 0, 0, 1));
    /// let nowhere = host.connect(now, &socket, (server, 0).into());
    /// assert_eq!(nowhere, Err(ConnectError::BadAddress(BadAddress::PortZero)));
    /// host.connect(now, &socket, (server, 7777).into())?;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn connect(
        &mut self,
        now: SmolInstant,
        socket: &Socket<'_>,
        to: IpEndpoint,
    ) -> Result<PeerId, ConnectError> {
        self.connect_any(now, socket, &[to])
    }

    /// Begins to connect to a host that may be at any of up to 8 addresses: see
    /// [`Host::connect_any`]. Addresses at which no host can be are left out.
    ///
    /// # Errors
    ///
    /// Those of [`Host::connect_any`], and [`ConnectError::BadAddress`] if no host can be at any of the
    /// addresses: it says why of the first.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_rng;
    /// use porous_smoltcp::{Config, SmolHost};
    /// use smoltcp::socket::udp;
    /// use smoltcp::time::Instant;
    /// use smoltcp::wire::IpAddress;
    ///
    /// let mut host = SmolHost::new(Config::client(), example_rng());
    /// let mut socket = udp::Socket::new(host.packet_buffer(8), host.packet_buffer(8));
    /// socket.bind(7777)?;
    /// let server = [0, 1, 2].map(|n| (IpAddress::v4(10, 0, 1, n), 7777).into());
    /// host.connect_any(Instant::ZERO, &socket, &server)?;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn connect_any(
        &mut self,
        now: SmolInstant,
        socket: &Socket<'_>,
        to: &[IpEndpoint],
    ) -> Result<PeerId, ConnectError> {
        self.connect_with(now, socket, to, &[])
    }

    /// As [`connect_any`](Self::connect_any), with a greeting of up to 255 bytes. The application of the
    /// remote host reads it by [`Peer::greeting`](porous_proto::Peer::greeting) before it accepts. A greeting
    /// is not protected: see [`Host::connect_with`].
    ///
    /// # Errors
    ///
    /// Those of [`connect_any`](Self::connect_any), and [`ConnectError::TooLong`].
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_rng;
    /// use porous_smoltcp::{Config, SmolHost};
    /// use smoltcp::socket::udp;
    /// use smoltcp::time::Instant;
    /// use smoltcp::wire::IpAddress;
    ///
    /// let mut host = SmolHost::new(Config::client(), example_rng());
    /// let mut socket = udp::Socket::new(host.packet_buffer(8), host.packet_buffer(8));
    /// socket.bind(7777)?;
    /// let server = (IpAddress::v4(10, 0, 0, 1), 7777).into();
    /// host.connect_with(Instant::ZERO, &socket, &[server], b"board 7")?;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn connect_with(
        &mut self,
        now: SmolInstant,
        socket: &Socket<'_>,
        to: &[IpEndpoint],
        greeting: &[u8],
    ) -> Result<PeerId, ConnectError> {
        let fit = fit_addresses(socket, to)?;
        self.host.connect_with(time::to_porous(now), &fit, greeting)
    }

    /// Begins to make a sealed connection, to a host that may be at any of up to 8 addresses: see
    /// [`Host::connect_sealed`]. [The crate](crate#sealed-connections) tells what the host needs before.
    ///
    /// # Errors
    ///
    /// Those of [`Host::connect_sealed`], and [`ConnectError::BadAddress`] if no host can be at any of the
    /// addresses.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::{example_provider, example_rng};
    /// use porous_smoltcp::seal::{Credentials, Security, Suite};
    /// use porous_smoltcp::{Config, SmolHost};
    /// use smoltcp::socket::udp;
    /// use smoltcp::time::Instant;
    /// use smoltcp::wire::IpAddress;
    ///
    /// let config = Config::client().sealed(&[Suite::CHACHA_POLY])?;
    /// let mut host = SmolHost::new(config, example_rng());
    /// host.host_mut().set_security(Security::new(example_provider())); // or `&RustCrypto`
    /// let mut socket = udp::Socket::new(host.packet_buffer(8), host.packet_buffer(8));
    /// socket.bind(7777)?;
    /// let server = (IpAddress::v4(10, 0, 0, 1), 7777).into();
    /// host.connect_sealed(Instant::ZERO, &socket, &[server], &Credentials::new())?;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[cfg(feature = "seal")]
    pub fn connect_sealed(
        &mut self,
        now: SmolInstant,
        socket: &Socket<'_>,
        to: &[IpEndpoint],
        with: &Credentials,
    ) -> Result<PeerId, ConnectError> {
        let fit = fit_addresses(socket, to)?;
        self.host.connect_sealed(time::to_porous(now), &fit, with)
    }

    /// When [`step`](Self::step) should next be called, if the interface brings nothing before;
    /// `None` if nothing is due. A time in the past, or `now`, means at once.
    ///
    /// Sleep until this time or that of [`Interface::poll_at`](smoltcp::iface::Interface::poll_at),
    /// whichever is earlier. Every other call may change it, so ask last.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_rng;
    /// use porous_smoltcp::{Config, SmolHost};
    /// use smoltcp::socket::udp;
    /// use smoltcp::time::Instant;
    ///
    /// let host = SmolHost::new(Config::new(), example_rng());
    /// let socket = udp::Socket::new(host.packet_buffer(8), host.packet_buffer(8));
    /// assert_eq!(host.poll_at(Instant::ZERO, &socket), None);
    /// ```
    #[must_use]
    pub fn poll_at(&self, now: SmolInstant, socket: &Socket<'_>) -> Option<SmolInstant> {
        if socket.can_recv() {
            return Some(now);
        }
        if self.held.is_some() {
            // Not the host's own deadline, which is in the past as long as it has output. An empty socket
            // has room for sure; until it is empty, the interface has something to do.
            let is_empty = socket.send_queue() == 0;
            let retry_at = time::to_porous(now) + RETRY_SEND;
            return Some(if is_empty {
                now
            } else {
                time::to_smoltcp(retry_at)
            });
        }
        self.host.poll_timeout().map(time::to_smoltcp)
    }

    fn receive(&mut self, now: Instant, socket: &mut Socket<'_>) {
        for _ in 0..RECEIVES_PER_STEP {
            // Read where it lies and not copied, so that no datagram is cut off. The only error left is that
            // no more have arrived.
            let Ok((datagram, meta)) = socket.recv() else {
                break;
            };
            // The host counts what became of the datagram.
            let _ = self
                .host
                .handle_datagram(now, meta.endpoint, Ecn::NotEct, datagram);
        }
        self.host.handle_backlog(now, socket.can_recv());
    }

    /// Sends until there is nothing more or the socket has no room.
    fn transmit(&mut self, now: Instant, socket: &mut Socket<'_>) {
        while let Some(next) = self.held.take().or_else(|| self.make(now)) {
            match send(socket, next.to, &self.buffer[..next.len]) {
                Sent::Queued => {}
                Sent::Lost => self.stats.send_lost += 1,
                Sent::Unreachable => {
                    self.stats.send_lost += 1;
                    self.host.handle_unreachable(now, next.to);
                }
                Sent::NoRoom => {
                    self.stats.send_delayed += 1;
                    self.held = Some(next);
                    return;
                }
            }
        }
    }

    fn make(&mut self, now: Instant) -> Option<Held> {
        let transmit = self.host.poll_transmit(now, &mut self.buffer)?;
        let (to, len) = (transmit.to, transmit.datagram.len());
        Some(Held { to, len })
    }
}

/// The addresses at which a host can be. One bad address among good ones is left out; only if none is good is
/// the first one's fault told.
fn fit_addresses(socket: &Socket<'_>, to: &[IpEndpoint]) -> Result<Vec<IpEndpoint>, ConnectError> {
    let mut bad = None;
    let mut fit = Vec::with_capacity(to.len());
    for &to in to {
        match bad_address(socket, to) {
            None => fit.push(to),
            Some(why) => bad = bad.or(Some(ConnectError::BadAddress(why))),
        }
    }
    match bad {
        Some(bad) if fit.is_empty() => Err(bad),
        Some(_) | None => Ok(fit),
    }
}

impl<R> SmolHost<R> {
    /// The state machine within: peers, statistics.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_rng;
    /// use porous_smoltcp::{Config, SmolHost};
    ///
    /// let host = SmolHost::new(Config::new(), example_rng());
    /// assert_eq!(host.host().peers().count(), 0);
    /// ```
    #[must_use]
    pub const fn host(&self) -> &Host<R, IpEndpoint> {
        &self.host
    }

    /// The state machine within, for commands and events. A method that needs a time takes
    /// [`time::to_porous`] of the time that [`step`](Self::step) is given. What a command sends leaves
    /// with the next step.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_rng;
    /// use porous_smoltcp::{Config, SmolHost, time};
    /// use smoltcp::time::Instant;
    /// use smoltcp::wire::IpAddress;
    ///
    /// let mut host = SmolHost::new(Config::client(), example_rng());
    /// let server = (IpAddress::v4(10, 0, 0, 1), 7777).into();
    /// host.host_mut().connect(time::to_porous(Instant::ZERO), server)?;
    /// # Ok::<(), porous_smoltcp::ConnectError>(())
    /// ```
    pub const fn host_mut(&mut self) -> &mut Host<R, IpEndpoint> {
        &mut self.host
    }

    /// The counts of the socket since this host was made.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_rng;
    /// use porous_smoltcp::{Config, SmolHost};
    ///
    /// let host = SmolHost::new(Config::new(), example_rng());
    /// assert_eq!(host.socket_stats().send_lost, 0);
    /// ```
    #[must_use]
    pub const fn socket_stats(&self) -> SocketStats {
        self.stats
    }
}
