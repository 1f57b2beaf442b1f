//! One socket, one host, one clock.

use core::net::SocketAddr;
use core::time::Duration;
use std::io;

use getrandom::SysRng;
use porous_proto::{Config, Disposition, Ecn, Host, Ignored, Instant, Peer, PeerState, ip_source};
use rand_core::{TryRng, UnwrapErr};

use crate::bound::Bound;
use crate::inbox::{Inbox, Origin};
use crate::outbox::{Made, Outbox};
use crate::socket::{Path, Socket};
use crate::{Clock, Conditioner, SystemSocket};

/// The random source of an [`Endpoint`]: the operating system's. [`Endpoint::new`] fails if it has
/// none; should it stop working later, which no system does, it panics.
pub type OsRng = UnwrapErr<SysRng>;

/// The most errors in place of datagrams that one call takes: one that stays must not stop the game.
pub(crate) const ERRORS_PER_CALL: usize = 1024;

/// How long a call takes datagrams in, or makes them, give or take a batch: half a turn of a loop of
/// 60 Hz. A flood must not stop the game, nor what it has to send.
const TIME_LIMIT: Duration = Duration::from_millis(8);

/// The longest sleep while a datagram waits for room in the socket; it ends when there is room,
/// on systems that tell.
pub(crate) const RETRY_SEND: Duration = Duration::from_millis(5);

/// A host and the socket that it lives on: all that a driver does, but for waiting.
///
/// `C` stands between the host and the socket, and by default lets everything pass: see
/// [`Conditioner`].
///
/// When it is dropped, each peer is told once that it ends, with reason 0, as far as the socket has
/// room at that moment: nothing is waited for, and the conditioner is not asked. Nobody is told while
/// the thread panics. A peer that is not told, or whose only datagram is lost, notices by its
/// [timeout](Config::timeout): to end in order, [disconnect](Self::disconnect_all) all and go on
/// until they [are gone](Self::is_empty).
#[derive(Debug)]
pub struct Endpoint<S: SystemSocket, C = ()> {
    pub(crate) bound: Bound<S>,
    conditioner: C,
    inbox: Inbox,
    /// When to try again to send what the socket had no room for, if the outbox is not empty.
    retry_at: Instant,
}

impl<S: SystemSocket> Endpoint<S> {
    /// Takes over a socket, which must be bound and not connected. It becomes non-blocking. Where
    /// the system can take many datagrams in one call, it is told to: Linux and Windows join
    /// datagrams of one sender (GRO, URO), Linux, Android, Windows and Apple's systems report the
    /// marks of congestion, and none splits a datagram that is too long for the path. One that may is
    /// left without [`Config::path_mtu_discovery`].
    ///
    /// # Errors
    ///
    /// The system's error, if the socket cannot be made non-blocking or there are no random numbers.
    ///
    /// ```
    /// use porous_udp::{Config, Endpoint, bind};
    ///
    /// let host = Endpoint::new(bind("127.0.0.1:0")?, Config::new())?;
    /// assert_ne!(host.local_addr()?.port(), 0);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn new(socket: S, config: Config) -> io::Result<Self> {
        Self::over(socket, config, Path::batched)
    }

    /// Takes over a socket and sends and receives one datagram a call, as [`new`](Self::new) does
    /// where the system cannot do more. No option of the socket is changed, so that there is no
    /// [`Config::path_mtu_discovery`]. For systems whose batches are broken: network cards and
    /// virtual machines have been seen to lose them.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    ///
    /// ```
    /// use porous_udp::{Config, Endpoint, bind};
    ///
    /// let host = Endpoint::plain(bind("127.0.0.1:0")?, Config::new())?;
    /// # let _ = host;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn plain(socket: S, config: Config) -> io::Result<Self> {
        Self::over(socket, config, |_| Path::Plain)
    }

    fn over(socket: S, config: Config, path: impl FnOnce(&S) -> Path) -> io::Result<Self> {
        SysRng.try_next_u64().map_err(io::Error::other)?;
        let path = path(&socket);
        let inbox = Inbox::new(path.slots());
        let config = if path.may_fragment() {
            config.without_path_mtu_discovery()
        } else {
            config
        };
        let mut host = Host::new(config, UnwrapErr(SysRng));
        host.set_same_host(|a: &SocketAddr, b| a.ip() == b.ip());
        host.set_source_of(|from| ip_source(from.ip()));
        let bound = Bound {
            host,
            socket: Socket::new(socket, path)?,
            clock: Clock::start(),
            outbox: Outbox::new(),
            is_full: false,
            time_limit: TIME_LIMIT,
        };
        Ok(Self {
            bound,
            conditioner: (),
            inbox,
            retry_at: Instant::ZERO,
        })
    }

    /// Puts a conditioner between this host and its socket.
    ///
    /// ```
    /// use porous_udp::{Config, Endpoint, bind};
    ///
    /// let host = Endpoint::new(bind("127.0.0.1:0")?, Config::new())?.with_conditioner(());
    /// # let _ = host;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn with_conditioner<C: Conditioner>(self, conditioner: C) -> Endpoint<S, C> {
        let Self {
            bound,
            conditioner: (),
            inbox,
            retry_at,
        } = self;
        Endpoint {
            bound,
            conditioner,
            inbox,
            retry_at,
        }
    }
}

impl<S: SystemSocket, C> Endpoint<S, C> {
    crate::verbs! {
        bound,
        "use porous_udp::{Endpoint, bind, prelude::*};",
        r#"let mut host = Endpoint::new(bind("127.0.0.1:0")?, Config::new())?;"#,
        r#"let mut host = Endpoint::new(bind("127.0.0.1:0")?, Config::client())?;"#
    }

    /// The conditioner.
    ///
    /// ```
    /// use porous_udp::{Config, Endpoint, bind};
    ///
    /// let host = Endpoint::new(bind("127.0.0.1:0")?, Config::new())?;
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
    /// use porous_udp::{Config, Endpoint, bind};
    ///
    /// let mut host = Endpoint::new(bind("127.0.0.1:0")?, Config::new())?;
    /// *host.conditioner_mut() = ();
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub const fn conditioner_mut(&mut self) -> &mut C {
        &mut self.conditioner
    }

    /// The socket, for what a library does with it beside sending and receiving.
    ///
    /// ```
    /// use porous_udp::{Config, Endpoint, bind};
    ///
    /// let host = Endpoint::new(bind("127.0.0.1:0")?, Config::new())?;
    /// host.socket().set_ttl(5)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub const fn socket(&self) -> &S {
        self.bound.socket.system()
    }

    /// The socket, for a library whose own calls want to change it.
    ///
    /// ```
    /// use porous_udp::{Config, Endpoint, bind};
    ///
    /// let mut host = Endpoint::new(bind("127.0.0.1:0")?, Config::new())?;
    /// host.socket_mut().set_ttl(5)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub const fn socket_mut(&mut self) -> &mut S {
        self.bound.socket.system_mut()
    }
}

impl<S: SystemSocket, C: Conditioner> Endpoint<S, C> {
    /// Takes in what has arrived, until nothing is left or the [time](Self::set_time_limit) is over.
    /// Returns whether there may be more. A driver's work: its own `step` calls this.
    ///
    /// # Errors
    ///
    /// Only if the socket is of no more use; its kind is that of the system's error. What the
    /// network does to datagrams is no error.
    ///
    /// ```
    /// use porous_udp::{Config, Endpoint, bind};
    ///
    /// let mut host = Endpoint::new(bind("127.0.0.1:0")?, Config::new())?;
    /// assert!(!host.receive_datagrams()?);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn receive_datagrams(&mut self) -> io::Result<bool> {
        self.bound.socket.hear_closed_ports();
        let result = self.take_datagrams();
        while let Some(at) = self.bound.socket.next_closed_port() {
            self.bound.host.handle_port_closed(at);
        }
        result
    }

    fn take_datagrams(&mut self) -> io::Result<bool> {
        let end = self.bound.clock.now() + self.bound.time_limit;
        let mut errors = 0;
        loop {
            let Some(filled) = self.bound.socket.receive(&mut self.inbox)? else {
                return Ok(false);
            };
            let now = self.bound.clock.now();
            for (Origin { from, ours, ecn }, datagram) in self.inbox.datagrams(filled) {
                // What became of it is in the host's counters, too.
                let peer = match self.bound.host.handle_datagram(now, from, ecn, datagram) {
                    Disposition::Handled(peer) | Disposition::Accepted(peer) => Some(peer),
                    // It was not answered.
                    Disposition::Ignored(Ignored::Malformed(_)) => continue,
                    Disposition::Ignored(_) => None,
                };
                let is_alive = |peer| self.bound.host.peer(peer).is_some();
                self.bound.socket.sources.learn(from, ours, peer, is_alive);
            }
            errors += usize::from(filled == 0);
            if now >= end || errors >= ERRORS_PER_CALL {
                return Ok(true);
            }
        }
    }

    /// Does what time demands, then sends until there is nothing more, the socket has no room, or the
    /// [time](Self::set_time_limit) is over; then the [`deadline`](Self::deadline) has passed. A
    /// driver's work: its own `step` calls this.
    ///
    /// # Errors
    ///
    /// As [`receive_datagrams`](Self::receive_datagrams). Only the datagrams of the one call that
    /// failed are lost.
    ///
    /// ```
    /// use porous_udp::{Config, Endpoint, bind};
    ///
    /// let mut host = Endpoint::new(bind("127.0.0.1:0")?, Config::new())?;
    /// host.transmit()?;
    /// assert!(!host.is_blocked());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn transmit(&mut self) -> io::Result<()> {
        let mut now = self.bound.clock.now();
        let end = now + self.bound.time_limit;
        self.bound.host.handle_timeout(now);
        if self.bound.socket.asks_for_closed_ports() && !self.connects() {
            self.bound.socket.ask_for_closed_ports(false);
        }
        self.bound.outbox.begin();
        // Answers to strangers alone do not use the time up: they come first, and are not many.
        let mut is_served = false;
        while self.flush(now)? {
            now = self.bound.clock.now();
            if is_served && now >= end || !self.fill(now) {
                break;
            }
            is_served |= self.bound.outbox.has_more_than_answers();
        }
        Ok(())
    }

    fn connects(&self) -> bool {
        let connects = |(_, peer): (_, &Peer)| peer.state() == PeerState::Connecting;
        self.bound.host.peers().any(connects)
    }

    /// Whether datagrams wait for room in the socket. None is made meanwhile, and none overtakes. Those
    /// that only their address refuses do not count: they are tried again at the
    /// [`deadline`](Self::deadline), and others leave.
    ///
    /// ```
    /// use porous_udp::{Config, Endpoint, bind};
    ///
    /// let host = Endpoint::new(bind("127.0.0.1:0")?, Config::new())?;
    /// assert!(!host.is_blocked());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn is_blocked(&self) -> bool {
        self.bound.is_full
    }

    /// When `step` should next be called, by the time of [`now`](Self::now), if no datagram comes
    /// before; `None` if nothing is due. For programs with a loop of their own.
    ///
    /// ```
    /// use porous_udp::{Config, Endpoint, bind};
    ///
    /// let host = Endpoint::new(bind("127.0.0.1:0")?, Config::new())?;
    /// assert_eq!(host.deadline(), None);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        if self.is_blocked() {
            // The host's own deadline is in the past as long as it has output.
            return Some(self.retry_at);
        }
        let waits = !self.bound.outbox.is_empty();
        [
            waits.then_some(self.retry_at),
            self.bound.host.poll_timeout(),
            self.conditioner.next_release(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// How long a driver may sleep, if no datagram comes: until the [`deadline`](Self::deadline),
    /// and `max` at most.
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_udp::{Config, Endpoint, bind};
    ///
    /// let host = Endpoint::new(bind("127.0.0.1:0")?, Config::new())?;
    /// let hour = Duration::from_secs(3600);
    /// assert_eq!(host.sleep_at_most(hour), hour);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn sleep_at_most(&self, max: Duration) -> Duration {
        let now = self.bound.clock.now();
        self.deadline()
            .map_or(max, |at| at.saturating_duration_since(now).min(max))
    }

    /// Whether more may be made.
    fn flush(&mut self, now: Instant) -> io::Result<bool> {
        let goes_on = self.bound.flush(now)?;
        if !self.bound.outbox.is_empty() {
            self.retry_at = now + RETRY_SEND;
        }
        Ok(goes_on)
    }

    /// Makes datagrams, and takes those that the conditioner lets go. Whether there are any.
    fn fill(&mut self, now: Instant) -> bool {
        let (bound, conditioner) = (&mut self.bound, &mut self.conditioner);
        let mut any = bound.fill(now, |to, datagram| conditioner.take(now, to, datagram));
        let (largest, max_segments) = (
            self.bound.host.max_datagram_size(),
            self.bound.socket.max_segments(),
        );
        while self.bound.outbox.room(largest).is_some() {
            let Some((to, datagram)) = self.conditioner.release(now) else {
                break;
            };
            let Some(room) = self.bound.outbox.room(datagram.len()) else {
                continue;
            };
            room[..datagram.len()].copy_from_slice(&datagram);
            let made = Made {
                to,
                ecn: Ecn::NotEct,
                to_stranger: false,
                len: datagram.len(),
            };
            self.bound.push(made, max_segments, now);
            any = true;
        }
        any
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;

    #[test]
    fn a_path_is_searched_only_where_nobody_may_fragment() {
        let open = || UdpSocket::bind("127.0.0.1:0").unwrap();
        let config = Config::new().path_mtu_discovery(1452).unwrap();
        let host = Endpoint::plain(open(), config.clone()).unwrap();
        assert_eq!(host.bound.host.max_datagram_size(), 1200);
        let host = Endpoint::new(open(), config).unwrap();
        let socket = open();
        let expected = if Path::batched(&socket).may_fragment() {
            1200
        } else {
            1452
        };
        assert_eq!(host.bound.host.max_datagram_size(), expected);
    }
}
