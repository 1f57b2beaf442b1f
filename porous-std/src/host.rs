//! The driver itself: one socket, one host, one clock.

use core::net::SocketAddr;
use core::time::Duration;
use std::io;
use std::net::{ToSocketAddrs, UdpSocket};

use getrandom::SysRng;
use porous_proto::{Config, Ecn, Host, Instant};
use rand_core::{TryRng, UnwrapErr};

use crate::socket::{Arrival, Datagrams, Socket, SocketStats};
use crate::{Clock, Conditioner, open};

/// The random source of a [`UdpHost`]: the operating system's. [`UdpHost::bind`] fails if it has
/// none; should it stop working later, which no system does, it panics.
pub type OsRng = UnwrapErr<SysRng>;

/// The largest UDP payload and more, so that nothing arrives cut off.
const BUFFER: usize = 65_536;

/// The most datagrams, and errors in place of datagrams, that one step takes in: a flood must not
/// stop the game, nor an error that stays.
pub(crate) const RECEIVES_PER_STEP: usize = 1024;

/// The longest sleep while a datagram waits for room in the socket; it ends when there is room,
/// on systems that tell.
pub(crate) const RETRY_SEND: Duration = Duration::from_millis(5);

/// A UDP socket and the host that lives on it. See the [crate] for the order of calls.
///
/// `C` stands between the host and the socket, and by default lets everything pass: see
/// [`Conditioner`].
#[derive(Debug)]
pub struct UdpHost<C = ()> {
    pub(crate) host: Host<OsRng>,
    pub(crate) socket: Socket,
    pub(crate) clock: Clock,
    conditioner: C,
    held: Option<Held>,
    buffer: Box<[u8]>,
}

/// A datagram that the socket had no room for. It is kept, and no other is made before it has
/// left: to lose it would tell the congestion control that the path is full, and to queue behind
/// it would make what is queued old.
#[derive(Debug)]
struct Held {
    to: SocketAddr,
    datagram: Vec<u8>,
    retry_at: Instant,
}

impl Held {
    fn new(now: Instant, to: SocketAddr, datagram: Vec<u8>) -> Self {
        let retry_at = now + RETRY_SEND;
        Self {
            to,
            datagram,
            retry_at,
        }
    }
}

impl UdpHost {
    /// Binds a new socket; port 0 lets the system choose one. A server binds to `[::]` and its
    /// port, and so serves IPv6 and IPv4 alike, or to `0.0.0.0` where there is no IPv6. A client
    /// binds to port 0 of one of these.
    ///
    /// The socket gets larger buffers than the system's usual ones, as far as the system allows:
    /// see [`SocketBuffers`](crate::SocketBuffers).
    ///
    /// # Errors
    ///
    /// The system's, with the address, if it cannot bind the socket: mostly that another program
    /// has the port, that no interface has the address, or that there is no IPv6. Also if there
    /// are no random numbers.
    ///
    /// ```
    /// use porous_std::{Config, UdpHost};
    ///
    /// let host = UdpHost::bind("127.0.0.1:0", Config::new())?;
    /// assert_ne!(host.local_addr()?.port(), 0);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn bind(address: impl ToSocketAddrs, config: Config) -> io::Result<Self> {
        Self::from_socket(open::bind(address)?, config)
    }

    /// Takes over a socket, for example one with options of its own. It becomes non-blocking, and
    /// keeps the buffers that it has. It must be bound and not connected.
    ///
    /// # Errors
    ///
    /// The system's, if the socket cannot be made non-blocking or there are no random numbers.
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
        Self::over(socket, config)
    }

    pub(crate) fn over(socket: impl Datagrams + 'static, config: Config) -> io::Result<Self> {
        SysRng.try_next_u64().map_err(io::Error::other)?;
        Ok(Self {
            host: Host::new(config, UnwrapErr(SysRng)),
            socket: Socket::new(socket)?,
            clock: Clock::start(),
            conditioner: (),
            held: None,
            buffer: vec![0; BUFFER].into_boxed_slice(),
        })
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
        let Self {
            host,
            socket,
            clock,
            held,
            buffer,
            conditioner: (),
        } = self;
        UdpHost {
            host,
            socket,
            clock,
            conditioner,
            held,
            buffer,
        }
    }
}

impl<C: Conditioner> UdpHost<C> {
    /// Takes what has arrived, does what time demands, sends what has to be sent; never blocks.
    /// For a game loop: once a tick.
    ///
    /// At most 1024 datagrams are taken in; the rest waits in the socket.
    ///
    /// # Errors
    ///
    /// Only if the socket is of no more use; its kind is that of the system's error. Nothing
    /// but the datagram at hand is lost by it, and the host can still be asked what it has. What
    /// the network does to datagrams is no error.
    ///
    /// ```
    /// use porous_std::{Config, UdpHost};
    ///
    /// let mut host = UdpHost::bind("127.0.0.1:0", Config::new())?;
    /// host.step()?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn step(&mut self) -> io::Result<()> {
        self.receive_datagrams()?;
        self.host.handle_timeout(self.clock.now());
        self.transmit()
    }

    /// Sends what waits, sleeps until a datagram comes, a deadline of the host is due, or `max`
    /// is over; then does what [`step`](Self::step) does. For a program that is driven by its
    /// network.
    ///
    /// It may return early, and does so without end while events wait: poll them all first.
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
        self.transmit()?;
        let now = self.clock.now();
        let sleep = self
            .deadline()
            .map_or(max, |at| at.saturating_duration_since(now).min(max));
        self.socket.sleep(sleep, self.held.is_some())?;
        self.step()
    }

    /// When [`step`](Self::step) should next be called, by the time of [`now`](Self::now), if no
    /// datagram comes before; `None` if nothing is due. For programs with a loop of their own.
    ///
    /// ```
    /// use porous_std::{Config, UdpHost};
    ///
    /// let host = UdpHost::bind("127.0.0.1:0", Config::new())?;
    /// assert_eq!(host.deadline(), None);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        if let Some(held) = &self.held {
            // The host's own deadline is in the past as long as it has output.
            return Some(held.retry_at);
        }
        [self.host.poll_timeout(), self.conditioner.next_release()]
            .into_iter()
            .flatten()
            .min()
    }

    /// The conditioner.
    ///
    /// ```
    /// use porous_std::{Config, UdpHost};
    ///
    /// let host = UdpHost::bind("127.0.0.1:0", Config::new())?;
    /// assert_eq!(host.conditioner(), &());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub const fn conditioner(&self) -> &C {
        &self.conditioner
    }

    /// The conditioner, to change what it does.
    ///
    /// ```
    /// use porous_std::{Config, UdpHost};
    ///
    /// let mut host = UdpHost::bind("127.0.0.1:0", Config::new())?;
    /// *host.conditioner_mut() = ();
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub const fn conditioner_mut(&mut self) -> &mut C {
        &mut self.conditioner
    }

    /// What the socket did beside carrying datagrams.
    ///
    /// ```
    /// use porous_std::{Config, UdpHost};
    ///
    /// let host = UdpHost::bind("127.0.0.1:0", Config::new())?;
    /// assert_eq!(host.socket_stats().send_lost, 0);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub const fn socket_stats(&self) -> SocketStats {
        self.socket.stats()
    }

    fn receive_datagrams(&mut self) -> io::Result<()> {
        for _ in 0..RECEIVES_PER_STEP {
            match self.socket.receive(&mut self.buffer)? {
                Arrival::Datagram { len, from } => {
                    let datagram = &self.buffer[..len];
                    // What became of it is in the host's counters.
                    let _ =
                        self.host
                            .handle_datagram(self.clock.now(), from, Ecn::NotEct, datagram);
                }
                Arrival::Nothing => {}
                Arrival::Empty => break,
            }
        }
        Ok(())
    }

    /// Sends until there is nothing more or the socket has no room.
    fn transmit(&mut self) -> io::Result<()> {
        let now = self.clock.now();
        if let Some(Held { to, datagram, .. }) = self.held.take() {
            if !self.socket.send(to, &datagram)? {
                self.held = Some(Held::new(now, to, datagram));
                return Ok(());
            }
        }
        while let Some(transmit) = self.host.poll_transmit(now, &mut self.buffer) {
            let (to, datagram) = (transmit.to, transmit.datagram);
            if self.conditioner.take(now, to, datagram) {
                continue;
            }
            if !self.socket.send(to, datagram)? {
                self.held = Some(Held::new(now, to, datagram.to_vec()));
                return Ok(());
            }
        }
        while let Some((to, datagram)) = self.conditioner.release(now) {
            if !self.socket.send(to, &datagram)? {
                self.held = Some(Held::new(now, to, datagram));
                return Ok(());
            }
        }
        Ok(())
    }
}
