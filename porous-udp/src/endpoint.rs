//! The endpoint of a driver: one socket, one host, one clock.

use core::time::Duration;
use std::io;

use getrandom::SysRng;
use porous_proto::{Config, Disposition, Ignored, Instant, Peer, PeerState};
use rand_core::TryRng;

use crate::bound::Bound;
use crate::inbox::{Inbox, Origin};
use crate::outbox::{Made, Outbox};
use crate::socket::{Path, Socket, Taken};
use crate::suffixes::Suffixes;
use crate::{Clock, Conditioner, SystemSocket, machine};

/// The most errors in place of datagrams that one call takes: an error that stays must not stop the game.
pub(crate) const ERRORS_PER_CALL: usize = 1024;

/// How long a call takes datagrams in, or makes them, give or take a batch: half a turn of a loop of
/// 60 Hz. A flood must stop neither the game nor the datagrams that the game sends.
const TIME_LIMIT: Duration = Duration::from_millis(8);

/// The longest sleep while a datagram waits for room in the socket. The sleep ends earlier when there is
/// room, on systems that tell.
pub(crate) const RETRY_SEND: Duration = Duration::from_millis(5);

/// A host and the socket that it lives on: all the work of a driver except waiting.
///
/// `C` stands between the host and the socket, and by default lets everything pass: see
/// [`Conditioner`].
///
/// When an endpoint is dropped, each peer is told once that the connection ends, with reason 0, as far as
/// the socket has room at that moment: the drop does not wait, and the conditioner is not asked. No peer
/// is told while the thread panics. A peer that is not told, or whose only datagram is lost, notices by
/// its [timeout](Config::timeout). To end in order, [disconnect](Self::disconnect_all) all peers and go on
/// until the endpoint [is empty](Self::is_empty).
#[derive(Debug)]
pub struct Endpoint<S: SystemSocket, C = ()> {
    pub(crate) bound: Bound<S>,
    conditioner: C,
    inbox: Inbox,
    /// When the datagrams in the outbox are tried again. Has no meaning while the outbox is empty.
    retry_at: Instant,
}

impl<S: SystemSocket> Endpoint<S> {
    /// Takes over a socket, which must be bound and not connected. The socket becomes non-blocking. Where the
    /// system can pass many datagrams in one call, the socket is set up for it: Linux and Windows join
    /// datagrams of one sender (GRO, URO). Linux, Android, Windows and Apple's systems report the marks of
    /// congestion. No known system then splits a datagram that is too long for the path, so that datagrams of
    /// up to 1452 bytes are searched for unless the configuration says otherwise
    /// ([`Config::with_path_mtu_discovery`]). On a system that may split datagrams,
    /// [`Config::path_mtu_discovery`] is switched off; where the socket cannot be set up, [`Config::ecn`] is,
    /// too.
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
    /// where the system cannot do more. No option of the socket is changed, so
    /// [`Config::path_mtu_discovery`] and [`Config::ecn`] are switched off. For systems whose batches are
    /// broken: network cards and virtual machines have been seen to lose batches.
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
        // A missing random source is an error here, where it can be returned; later it could only panic.
        SysRng.try_next_u64().map_err(io::Error::other)?;
        let path = path(&socket);
        let inbox = Inbox::new(path.slots());
        let config = if path.has_marks() {
            config
        } else {
            config.ecn(false)
        };
        // A probe that routers split arrives although it is too long for the path, and would prove a wrong
        // size.
        let config = if path.may_fragment() {
            config.without_path_mtu_discovery()
        } else {
            config.with_path_mtu_discovery()
        };
        #[cfg(feature = "seal")]
        let seals = config.seals();
        let host = machine::new(config);
        #[cfg(feature = "seal")]
        let host = crate::sealing::prepared(host, seals);
        let bound = Bound {
            host,
            socket: Socket::new(socket, path)?,
            clock: Clock::start(),
            #[cfg(feature = "seal")]
            time_of_day: crate::sealing::TimeOfDay::default(),
            outbox: Outbox::new(),
            suffixes: Suffixes::default(),
            is_full: false,
            time_limit: TIME_LIMIT,
            #[cfg(feature = "log")]
            ignoring: crate::log::Ignoring::new(),
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
        r#"let mut host = Endpoint::new(bind("127.0.0.1:0")?, Config::client())?;"#,
        r#"let mut host = Endpoint::new(bind("127.0.0.1:0")?, config)?;"#
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

    /// The socket, for options and calls of its library that neither send nor receive.
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

    /// The socket, for calls of its library that need `&mut`.
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
    /// Takes in the datagrams that have arrived, until none is left or the [time](Self::set_time_limit) is
    /// over. Returns true if there may be more. The `step` of a driver calls this.
    ///
    /// # Errors
    ///
    /// Only if the socket is of no more use: make a new host. The kind is that of the system's error. What
    /// the network does to datagrams is no error.
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
        let begin = self.bound.clock.now();
        let result = self.take_datagrams(begin);
        if let Ok(may_be_more) = result {
            self.bound.host.handle_backlog(begin, may_be_more);
        }
        // After the datagrams, as taking them in may note closed ports, too.
        while let Some(at) = self.bound.socket.next_closed_port() {
            self.bound.host.handle_port_closed(at);
        }
        #[cfg(feature = "log")]
        self.log(&result);
        result
    }

    /// Tells the log what was ignored, and an error.
    #[cfg(feature = "log")]
    fn log<T>(&mut self, result: &io::Result<T>) {
        let bound = &mut self.bound;
        bound
            .ignoring
            .report(bound.clock.now(), || bound.host.stats());
        if let Err(error) = result {
            crate::log::failed(error);
        }
    }

    fn take_datagrams(&mut self, begin: Instant) -> io::Result<bool> {
        let end = begin + self.bound.time_limit;
        #[cfg(feature = "seal")]
        self.bound.time_of_day.tell(&mut self.bound.host, begin);
        let mut errors = 0;
        loop {
            let Some(Taken { slots, may_be_more }) = self.bound.socket.receive(&mut self.inbox)?
            else {
                return Ok(false);
            };
            let now = self.bound.clock.now();
            for (Origin { from, ours, ecn }, datagram) in self.inbox.datagrams(slots) {
                // The host counts what became of the datagram; here only its sender matters.
                let peer = match self.bound.host.handle_datagram(now, from, ecn, datagram) {
                    Disposition::Handled(peer) | Disposition::Accepted(peer) => Some(peer),
                    // Nothing answers a malformed datagram, so the address that it was sent to is not needed.
                    Disposition::Ignored(Ignored::Malformed(_)) => continue,
                    Disposition::Ignored(_) => None,
                };
                let is_alive = |peer| self.bound.host.peer(peer).is_some();
                self.bound.socket.sources.learn(from, ours, peer, is_alive);
            }
            if !may_be_more {
                return Ok(false);
            }
            errors += usize::from(slots == 0);
            // At the end of a batch, not of a datagram: datagrams that were received have to be taken in.
            if now >= end || errors >= ERRORS_PER_CALL {
                return Ok(true);
            }
        }
    }

    /// Does what is due by time, then sends until nothing is left to send, the socket has no room, or the
    /// [time](Self::set_time_limit) is over. In the last case the [`deadline`](Self::deadline) has passed, so
    /// that a driver calls again at once. The `step` of a driver calls this.
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
        let result = self.transmit_all();
        #[cfg(feature = "log")]
        self.log(&result);
        result
    }

    fn transmit_all(&mut self) -> io::Result<()> {
        let mut now = self.bound.clock.now();
        let end = now + self.bound.time_limit;
        self.bound.host.handle_timeout(now);
        if self.bound.socket.asks_for_closed_ports() && !self.connects() {
            // No attempt to connect is left that could use the errors, and each may cost a call.
            self.bound.socket.ask_for_closed_ports(false);
        }
        self.bound.outbox.begin();
        // Answers to strangers alone do not use the time up. They come first, so a flood of requests would
        // otherwise take all of it from the peers; the host keeps at most 1024 of them.
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

    /// True if datagrams wait for room in the socket. Until they leave, no datagram is made, and none
    /// overtakes them. Datagrams that only their own address refuses do not count: they are tried again at
    /// the [`deadline`](Self::deadline), and others leave.
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

    /// When `step` should next be called, by the clock of [`now`](Self::now), if no datagram comes
    /// earlier; `None` if nothing is due. For programs with a loop of their own.
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
            // Not the host's own deadline, which is in the past as long as it has output: the loop would
            // spin.
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
    /// but not longer than `max`.
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

    /// Sends what waits. True if more datagrams may be made.
    fn flush(&mut self, now: Instant) -> io::Result<bool> {
        let goes_on = self.bound.flush(now)?;
        if !self.bound.outbox.is_empty() {
            self.retry_at = now + RETRY_SEND;
        }
        Ok(goes_on)
    }

    /// Makes datagrams, and adds those that the conditioner releases. True if there are any.
    fn fill(&mut self, now: Instant) -> bool {
        let (bound, conditioner) = (&mut self.bound, &mut self.conditioner);
        let mut any = bound.fill(now, |made, datagram| {
            conditioner.take(now, made.to, made.ecn, datagram)
        });
        let (largest, max_segments) = (self.bound.largest(), self.bound.socket.max_segments());
        while self.bound.outbox.room(largest).is_some() {
            let Some((to, ecn, datagram)) = self.conditioner.release(now) else {
                break;
            };
            // A conditioner may make datagrams of its own that are longer than any of this host: such a one
            // is lost.
            let Some(room) = self.bound.outbox.room(datagram.len()) else {
                continue;
            };
            room[..datagram.len()].copy_from_slice(&datagram);
            let made = Made {
                to,
                ecn,
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
    use porous_proto::{Listen, PeerState};
    use std::net::UdpSocket;

    /// Whether a client marks its data, once it is connected, on a socket of this kind.
    fn marks(path: impl FnOnce(&UdpSocket) -> Path) -> bool {
        let open = || UdpSocket::bind("127.0.0.1:0").unwrap();
        let mut client = Endpoint::over(open(), Config::client(), path).unwrap();
        let mut server = Endpoint::new(open(), Config::new()).unwrap();
        server.listen(Listen::Open).unwrap();
        let peer = client.connect(server.local_addr().unwrap()).unwrap();
        for _ in 0..1_000_000 {
            for host in [&mut client, &mut server] {
                host.receive_datagrams().unwrap();
                host.transmit().unwrap();
            }
            let peer = client.peer(peer).unwrap();
            if peer.state() == PeerState::Connected {
                return peer.stats().ecn;
            }
        }
        panic!("not connected");
    }

    /// D9.
    #[test]
    fn marks_are_wanted_only_of_a_socket_that_has_them() {
        assert!(!marks(|_| Path::Plain));
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let has_marks = Path::batched(&socket).has_marks();
        assert_eq!(marks(Path::batched), has_marks);
    }

    /// D8.
    #[test]
    fn a_path_is_searched_by_default_where_nobody_may_fragment_and_nowhere_else() {
        let open = || UdpSocket::bind("127.0.0.1:0").unwrap();
        let longest = |host: Endpoint<UdpSocket>| host.bound.host.max_datagram_size();
        let wished = Config::new().path_mtu_discovery(1400).unwrap();
        let refused = Config::new().path_mtu_discovery(0).unwrap();
        let may_fragment = Path::batched(&open()).may_fragment();
        for (config, found) in [(Config::new(), 1452), (wished, 1400), (refused, 1200)] {
            let plain = Endpoint::plain(open(), config.clone()).unwrap();
            assert_eq!(longest(plain), 1200);
            let expected = if may_fragment { 1200 } else { found };
            assert_eq!(longest(Endpoint::new(open(), config).unwrap()), expected);
        }
    }
}
