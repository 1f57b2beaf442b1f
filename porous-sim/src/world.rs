//! Hosts on a network, and the one loop that moves them all.

mod stations;
mod wires;

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use core::ops::ControlFlow;
use core::time::Duration;

#[cfg(feature = "seal")]
use porous_proto::seal::Credentials;
use porous_proto::{
    AnswerError, Config, ConnectError, Disconnect, Event, Host, Instant, PeerId, UnknownPeer,
};

use self::stations::Stations;
use self::wires::{Passage, Wires};
use crate::{
    ChaCha8Rng, Intercept, LinkConfig, Network, Passing, Router, Seed, Service, SimAddress, Trace,
};

/// The most rounds without time passing, and the most datagrams from one host at once. More are a bug:
/// the run would never end.
const AT_ONCE: u32 = 10_000_000;

/// Any number of hosts on a simulated network, in virtual time. The same seed and the same calls
/// give the same run, byte by byte.
///
/// The application is yours: call [`poll_event`](Self::poll_event) and, through
/// [`host_mut`](Self::host_mut), the methods that a game calls; in between let time pass, with
/// [`step`](Self::step), [`run_for`](Self::run_for) or [`drive`](Self::drive). Datagrams that a host
/// wants to send after you called it leave before anything else happens, or at the host's next tick.
///
/// A world starts at [`Instant::ZERO`]. All that happens at one instant has a fixed order: first all
/// datagrams reach their sockets, as [`Network::receive`] orders them, then the hosts that have a
/// reason are called, by address.
///
/// # Example
///
/// A game asks: how long does a greeting take over a line with 40 ms of delay and 10 % loss?
///
/// ```
/// use core::ops::ControlFlow;
/// use core::time::Duration;
/// use porous_proto::{ChannelId, Config, Event, Instant, Listen, Mode};
/// use porous_sim::{LinkConfig, Seed, World};
///
/// const SERVER: u32 = 1;
/// const PLAYER: u32 = 2;
///
/// let seed = Seed::from_env(Seed::new(7));
/// let line = LinkConfig::new().delay(Duration::from_millis(40)).loss(10.0);
/// let mut world = World::new(seed, line);
/// world.add_host(SERVER, Config::new());
/// world.add_host(PLAYER, Config::client());
/// world.host_mut(SERVER).listen(Listen::Open)?;
/// world.connect(PLAYER, SERVER)?;
///
/// let limit = Instant::from_micros(10_000_000);
/// let greeting = world.drive(limit, |world| {
///     // The player greets as soon as it is connected ...
///     while let Some(event) = world.poll_event(PLAYER) {
///         if let Event::Connected { peer, .. } = event {
///             let hello = b"hello".to_vec();
///             let sent = world.host_mut(PLAYER).send(peer, ChannelId(0), hello, Mode::Reliable);
///             assert_eq!(sent, Ok(()));
///         }
///     }
///     // ... and the server waits for it.
///     while let Some(event) = world.poll_event(SERVER) {
///         if let Event::Readable { peer } = event {
///             if let Some(packet) = world.host_mut(SERVER).receive(peer) {
///                 return ControlFlow::Break(packet);
///             }
///         }
///     }
///     ControlFlow::Continue(())
/// });
/// let greeting = greeting.unwrap_or_else(|| panic!("no greeting; replay with {seed}"));
/// assert_eq!(&greeting.payload[..], b"hello");
/// assert!(world.now() < limit, "{seed}");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct World<A = u32> {
    seed: Seed,
    now: Instant,
    wires: Wires<A>,
    stations: Stations<A>,
    /// Rounds at the present instant.
    rounds: u32,
    /// The times when hosts reported that a peer has ended.
    #[cfg(feature = "swarm")]
    pub(crate) ends: Vec<(Instant, A, PeerId)>,
}

impl<A: SimAddress> World<A> {
    /// A world without hosts, whose links all have these conditions at first.
    ///
    /// ```
    /// use porous_sim::{LinkConfig, Seed, World};
    ///
    /// let mut world: World = World::new(Seed::new(1), LinkConfig::new());
    /// assert_eq!(world.step(), None);
    /// ```
    #[must_use]
    pub const fn new(seed: Seed, links: LinkConfig) -> Self {
        Self {
            seed,
            now: Instant::ZERO,
            wires: Wires::new(Network::new(seed, links)),
            stations: Stations::new(),
            rounds: 0,
            #[cfg(feature = "swarm")]
            ends: Vec::new(),
        }
    }

    /// Keeps the trace as text from now on, besides its digest.
    ///
    /// ```
    /// use porous_sim::{LinkConfig, Seed, World};
    ///
    /// let mut world: World = World::new(Seed::new(1), LinkConfig::new()).with_text();
    /// world.network_mut().note("start");
    /// assert_eq!(world.trace().text(), Some("0.000000s start\n"));
    /// ```
    #[must_use]
    pub fn with_text(mut self) -> Self {
        self.wires.network = self.wires.network.with_text();
        self
    }

    /// Adds a host at `address`. Its chance is the stream `"host"` of the seed, indexed by the number
    /// of hosts made before. It is served [as events come](Service::Event).
    ///
    /// If there is a host at this address already, that one is gone without a word, as if its
    /// program was killed and started again.
    ///
    /// ```
    /// use porous_proto::Config;
    /// use porous_sim::{LinkConfig, Seed, World};
    ///
    /// let mut world = World::new(Seed::new(1), LinkConfig::new());
    /// world.add_host(1, Config::new());
    /// assert_eq!(world.host(1).peers().count(), 0);
    /// ```
    pub fn add_host(&mut self, address: A, config: Config) {
        self.stations.add(self.now, address, config, self.seed);
    }

    /// Takes a host away without a word, as if its program was killed. Datagrams sent to it then arrive
    /// nowhere. False if there was none.
    ///
    /// ```
    /// use porous_proto::Config;
    /// use porous_sim::{LinkConfig, Seed, World};
    ///
    /// let mut world = World::new(Seed::new(1), LinkConfig::new());
    /// world.add_host(1, Config::new());
    /// assert!(world.remove_host(1));
    /// assert!(!world.remove_host(1));
    /// ```
    pub fn remove_host(&mut self, address: A) -> bool {
        self.stations.remove(address)
    }

    /// Sets how the program of this host calls it.
    ///
    /// # Panics
    ///
    /// If there is no such host.
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_proto::Config;
    /// use porous_sim::{LinkConfig, Seed, Service, World};
    ///
    /// let mut world = World::new(Seed::new(1), LinkConfig::new());
    /// world.add_host(1, Config::new());
    /// world.set_service(1, Service::tick(Duration::from_secs(1) / 60));
    /// ```
    pub fn set_service(&mut self, address: A, service: Service) {
        self.stations
            .change(self.now, address, |station| station.set_service(service));
    }

    /// Sets the most bytes that wait in the socket of this host until the host is called; a datagram
    /// for which there is no room is dropped. Default 212,992 bytes, as Linux has it.
    ///
    /// # Panics
    ///
    /// If there is no such host.
    ///
    /// ```
    /// use porous_proto::Config;
    /// use porous_sim::{LinkConfig, Seed, World};
    ///
    /// let mut world = World::new(Seed::new(1), LinkConfig::new());
    /// world.add_host(1, Config::new());
    /// world.set_socket_buffer(1, 4 * 1200);
    /// ```
    pub fn set_socket_buffer(&mut self, address: A, bytes: usize) {
        self.stations.get_mut(address).set_socket_buffer(bytes);
    }

    /// The number of datagrams that found the socket buffer of this host full.
    ///
    /// # Panics
    ///
    /// If there is no such host.
    ///
    /// ```
    /// use porous_proto::Config;
    /// use porous_sim::{LinkConfig, Seed, World};
    ///
    /// let mut world = World::new(Seed::new(1), LinkConfig::new());
    /// world.add_host(1, Config::new());
    /// world.set_socket_buffer(1, 10);
    /// world.inject(2, 1, vec![0; 11]);
    /// world.run_for(core::time::Duration::from_millis(1));
    /// assert_eq!(world.overflowed(1), 1);
    /// ```
    #[must_use]
    pub fn overflowed(&self, address: A) -> u64 {
        self.stations.get(address).overflowed()
    }

    /// The present time of the world.
    ///
    /// ```
    /// use porous_proto::Instant;
    /// use porous_sim::{LinkConfig, Seed, World};
    ///
    /// let world: World = World::new(Seed::new(1), LinkConfig::new());
    /// assert_eq!(world.now(), Instant::ZERO);
    /// ```
    #[must_use]
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// The seed, for the messages of assertions.
    ///
    /// ```
    /// use porous_sim::{LinkConfig, Seed, World};
    ///
    /// let world: World = World::new(Seed::new(3), LinkConfig::new());
    /// assert_eq!(world.seed(), Seed::new(3));
    /// ```
    #[must_use]
    pub const fn seed(&self) -> Seed {
        self.seed
    }

    /// The host at `address`.
    ///
    /// # Panics
    ///
    /// If there is no host at `address`.
    ///
    /// ```
    /// use porous_proto::Config;
    /// use porous_sim::{LinkConfig, Seed, World};
    ///
    /// let mut world = World::new(Seed::new(1), LinkConfig::new());
    /// world.add_host(1, Config::new());
    /// assert_eq!(world.host(1).stats().connected, 0);
    /// ```
    #[must_use]
    pub fn host(&self, address: A) -> &Host<ChaCha8Rng, A> {
        &self.stations.get(address).host
    }

    /// The host at `address`, to do what an application does: listen, send, receive. Its events
    /// are better taken with [`poll_event`](Self::poll_event), which puts them into the trace.
    ///
    /// # Panics
    ///
    /// If there is no host at `address`.
    ///
    /// ```
    /// use porous_proto::{Config, Listen};
    /// use porous_sim::{LinkConfig, Seed, World};
    ///
    /// let mut world = World::new(Seed::new(1), LinkConfig::new());
    /// world.add_host(1, Config::new());
    /// world.host_mut(1).listen(Listen::Open)?;
    /// # Ok::<(), porous_proto::ListenError>(())
    /// ```
    pub fn host_mut(&mut self, address: A) -> &mut Host<ChaCha8Rng, A> {
        self.stations.touch(self.now, address)
    }

    /// The host at `from` connects to the one at `to`, now.
    ///
    /// # Errors
    ///
    /// Those of [`Host::connect`].
    ///
    /// # Panics
    ///
    /// If there is no host at `from`.
    ///
    /// ```
    /// use porous_proto::Config;
    /// use porous_sim::{LinkConfig, Seed, World};
    ///
    /// let mut world = World::new(Seed::new(1), LinkConfig::new());
    /// world.add_host(1, Config::client());
    /// let server = world.connect(1, 2)?;
    /// assert_eq!(world.host(1).address(server), Some(2));
    /// # Ok::<(), porous_proto::ConnectError>(())
    /// ```
    pub fn connect(&mut self, from: A, to: A) -> Result<PeerId, ConnectError> {
        let now = self.time_at(from);
        #[cfg(feature = "swarm")]
        self.stations.get_mut(from).watch.names(to);
        self.host_mut(from).connect(now, to)
    }

    /// The host at `from` connects to one that may be at any of these addresses, now.
    ///
    /// # Errors
    ///
    /// Those of [`Host::connect_any`].
    ///
    /// # Panics
    ///
    /// If there is no host at `from`.
    ///
    /// ```
    /// use porous_proto::Config;
    /// use porous_sim::{LinkConfig, Seed, World};
    ///
    /// let mut world = World::new(Seed::new(1), LinkConfig::new());
    /// world.add_host(1, Config::client());
    /// let server = world.connect_any(1, &[2, 3])?;
    /// assert_eq!(world.host(1).address(server), Some(2));
    /// # Ok::<(), porous_proto::ConnectError>(())
    /// ```
    pub fn connect_any(&mut self, from: A, to: &[A]) -> Result<PeerId, ConnectError> {
        self.connect_with(from, to, &[])
    }

    /// As [`connect_any`](Self::connect_any), with a greeting of up to 255 bytes for the application of the
    /// remote host.
    ///
    /// # Errors
    ///
    /// Those of [`Host::connect_with`].
    ///
    /// # Panics
    ///
    /// If there is no host at `from`.
    ///
    /// ```
    /// use porous_proto::Config;
    /// use porous_sim::{LinkConfig, Seed, World};
    ///
    /// let mut world = World::new(Seed::new(1), LinkConfig::new());
    /// world.add_host(1, Config::client());
    /// world.connect_with(1, &[2], b"Ada")?;
    /// # Ok::<(), porous_proto::ConnectError>(())
    /// ```
    pub fn connect_with(
        &mut self,
        from: A,
        to: &[A],
        greeting: &[u8],
    ) -> Result<PeerId, ConnectError> {
        let now = self.time_at(from);
        #[cfg(feature = "swarm")]
        for &to in to {
            self.stations.get_mut(from).watch.names(to);
        }
        self.host_mut(from).connect_with(now, to, greeting)
    }

    /// As [`connect_any`](Self::connect_any), by a sealed connection. The host has been given its
    /// [`Security`](porous_proto::seal::Security).
    ///
    /// # Errors
    ///
    /// Those of [`Host::connect_sealed`].
    ///
    /// # Panics
    ///
    /// If there is no host at `from`.
    ///
    /// ```
    /// use porous_proto::seal::{Credentials, Security};
    /// use porous_proto::{ConnectError, PeerId};
    /// use porous_sim::World;
    ///
    /// fn join(world: &mut World, security: Security) -> Result<PeerId, ConnectError> {
    ///     world.host_mut(1).set_security(security);
    ///     world.connect_sealed(1, &[2], &Credentials::new())
    /// }
    /// # let _ = join;
    /// ```
    #[cfg(feature = "seal")]
    pub fn connect_sealed(
        &mut self,
        from: A,
        to: &[A],
        with: &Credentials,
    ) -> Result<PeerId, ConnectError> {
        let now = self.time_at(from);
        #[cfg(feature = "swarm")]
        for &to in to {
            self.stations.get_mut(from).watch.names(to);
        }
        self.host_mut(from).connect_sealed(now, to, with)
    }

    /// The host at `address` disconnects a peer, now.
    ///
    /// # Errors
    ///
    /// Those of [`Host::disconnect`].
    ///
    /// # Panics
    ///
    /// If there is no host at `address`.
    ///
    /// ```
    /// use porous_proto::{Config, Disconnect};
    /// use porous_sim::{LinkConfig, Seed, World};
    ///
    /// let mut world = World::new(Seed::new(1), LinkConfig::new());
    /// world.add_host(1, Config::client());
    /// let server = world.connect(1, 2)?;
    /// world.disconnect(1, server, Disconnect::Now { reason: 0 })?;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn disconnect(
        &mut self,
        address: A,
        peer: PeerId,
        how: Disconnect,
    ) -> Result<(), UnknownPeer> {
        let now = self.time_at(address);
        self.host_mut(address).disconnect(now, peer, how)
    }

    /// The application at `address` lets in a peer that has asked.
    ///
    /// # Errors
    ///
    /// Those of [`Host::accept`].
    ///
    /// # Panics
    ///
    /// If there is no host at `address`.
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_proto::{Config, Event, Listen};
    /// use porous_sim::{LinkConfig, Seed, World};
    ///
    /// let mut world = World::new(Seed::new(1), LinkConfig::new());
    /// world.add_host(1, Config::client());
    /// world.add_host(2, Config::new());
    /// world.host_mut(2).listen(Listen::Ask)?;
    /// world.connect(1, 2)?;
    /// world.run_for(Duration::from_secs(1));
    /// let Some(Event::Request { peer, .. }) = world.poll_event(2) else { panic!() };
    /// world.accept(2, peer)?;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn accept(&mut self, address: A, peer: PeerId) -> Result<(), AnswerError> {
        let now = self.time_at(address);
        self.host_mut(address).accept(now, peer)
    }

    /// The application at `address` turns away a peer that has asked.
    ///
    /// # Errors
    ///
    /// Those of [`Host::refuse`].
    ///
    /// # Panics
    ///
    /// If there is no host at `address`.
    ///
    /// ```
    /// use porous_proto::{AnswerError, Config, PeerId};
    /// use porous_sim::{LinkConfig, Seed, World};
    ///
    /// let mut world = World::new(Seed::new(1), LinkConfig::new());
    /// world.add_host(1, Config::new());
    /// let nobody = PeerId::from_u64(u64::MAX).unwrap();
    /// assert_eq!(world.refuse(1, nobody, b"no"), Err(AnswerError::UnknownPeer));
    /// ```
    pub fn refuse(&mut self, address: A, peer: PeerId, data: &[u8]) -> Result<(), AnswerError> {
        let now = self.time_at(address);
        self.host_mut(address).refuse(now, peer, data)
    }

    /// The next event for the application at `address`.
    ///
    /// # Panics
    ///
    /// If there is no such host.
    ///
    /// ```
    /// use porous_proto::Config;
    /// use porous_sim::{LinkConfig, Seed, World};
    ///
    /// let mut world = World::new(Seed::new(1), LinkConfig::new());
    /// world.add_host(1, Config::new());
    /// assert_eq!(world.poll_event(1), None);
    /// ```
    pub fn poll_event(&mut self, address: A) -> Option<Event<A>> {
        // All new events go into the trace in their order, before the application acts on the first.
        self.collect_events(address);
        self.stations.get_mut(address).poll_event()
    }

    /// Sends the datagrams of the host at `address`, if the host is served by events; one that ticks
    /// waits for its tick. The world does so before time passes anyway: call this before another change
    /// in the same instant, such as a link that breaks.
    ///
    /// # Panics
    ///
    /// If there is no such host.
    ///
    /// ```
    /// use porous_proto::Config;
    /// use porous_sim::{LinkConfig, Seed, World};
    ///
    /// let mut world = World::new(Seed::new(1), LinkConfig::new());
    /// world.add_host(1, Config::client());
    /// world.connect(1, 2)?;
    /// world.flush(1);
    /// assert_eq!(world.network().link_stats(1, 2).sent, 1);
    /// # Ok::<(), porous_proto::ConnectError>(())
    /// ```
    pub fn flush(&mut self, address: A) {
        let station = self.stations.get(address);
        // A host that ticks, or whose machine is busy, sends when it is called next.
        if station.service() == Service::Event && !station.rests(self.now) {
            self.serve(address);
        }
    }

    /// When the next thing happens, now at the earliest; `None` if nothing ever will unless an
    /// application acts. Datagrams that hosts want to send by now are sent first.
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_proto::Instant;
    /// use porous_sim::{LinkConfig, Seed, World};
    ///
    /// let line = LinkConfig::new().delay(Duration::from_millis(5));
    /// let mut world: World = World::new(Seed::new(1), line);
    /// assert_eq!(world.next_happening(), None);
    /// world.inject(1, 2, vec![0]);
    /// assert_eq!(world.next_happening(), Some(Instant::from_micros(5000)));
    /// ```
    pub fn next_happening(&mut self) -> Option<Instant> {
        self.settle();
        let all = [self.wires.next(), self.stations.next()];
        let next = all.into_iter().flatten().min()?;
        Some(next.max(self.now))
    }

    /// Goes to the next time at which something happens, and returns it; `None` if nothing ever will
    /// unless an application acts. A round that takes no time, such as a datagram over a link without
    /// delay, is a step as well.
    ///
    /// # Panics
    ///
    /// If there are more than ten million rounds at one instant, or datagrams from one host: the run would
    /// never end. The message names the seed.
    ///
    /// ```
    /// use porous_proto::{Config, Instant};
    /// use porous_sim::{LinkConfig, Seed, World};
    ///
    /// let mut world = World::new(Seed::new(1), LinkConfig::new());
    /// world.add_host(1, Config::client());
    /// assert_eq!(world.step(), None);
    /// world.connect(1, 2)?;
    /// assert_eq!(world.step(), Some(Instant::ZERO));
    /// assert_eq!(world.network().stats().sent, 1);
    /// # Ok::<(), porous_proto::ConnectError>(())
    /// ```
    pub fn step(&mut self) -> Option<Instant> {
        let next = self.next_happening()?;
        // A round may take no time. Only rounds without end at one instant are a bug.
        if next > self.now {
            self.rounds = 0;
        }
        self.rounds += 1;
        let (seed, now) = (self.seed, self.now);
        assert!(
            self.rounds <= AT_ONCE,
            "{AT_ONCE} rounds at {now:?} and no end; replay with {seed}"
        );
        self.set_now(next);
        self.deliver();
        // Hosts after datagrams, so that a host is called once for all that came at this instant.
        for address in self.stations.due(next) {
            self.serve(address);
        }
        Some(next)
    }

    /// Lets everything happen up to and including `time`, and sets the world's time to it. Does nothing
    /// if the world's time is later already.
    ///
    /// # Panics
    ///
    /// As [`step`](Self::step).
    ///
    /// ```
    /// use porous_proto::Instant;
    /// use porous_sim::{LinkConfig, Seed, World};
    ///
    /// let mut world: World = World::new(Seed::new(1), LinkConfig::new());
    /// world.run_until(Instant::from_micros(30));
    /// assert_eq!(world.now(), Instant::from_micros(30));
    /// ```
    pub fn run_until(&mut self, time: Instant) {
        let _: Option<()> = self.drive(time, |_| ControlFlow::Continue(()));
    }

    /// Lets everything happen for this duration.
    ///
    /// # Panics
    ///
    /// As [`step`](Self::step).
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_proto::{Config, Instant};
    /// use porous_sim::{LinkConfig, Seed, World};
    ///
    /// let mut world = World::new(Seed::new(1), LinkConfig::new());
    /// world.add_host(1, Config::new());
    /// // A game loop: the application does something, then a frame's time passes.
    /// for _frame in 0..60 {
    ///     while world.poll_event(1).is_some() {}
    ///     world.run_for(Duration::from_millis(16));
    /// }
    /// assert_eq!(world.now(), Instant::from_micros(960_000));
    /// ```
    pub fn run_for(&mut self, duration: Duration) {
        self.run_until(self.now + duration);
    }

    /// Lets everything happen until nothing more would unless an application acts. True if that state
    /// is reached before `limit`. The world's time then is that of the last event.
    ///
    /// # Panics
    ///
    /// As [`step`](Self::step).
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_proto::{Config, Instant};
    /// use porous_sim::{LinkConfig, Seed, World};
    ///
    /// let mut world = World::new(Seed::new(1), LinkConfig::new());
    /// world.add_host(1, Config::client().connect_timeout(Duration::from_secs(2)).unwrap());
    /// world.connect(1, 2)?;
    /// // Nobody is there: it gives up.
    /// assert!(world.run_until_idle(Instant::from_micros(5_000_000)));
    /// # Ok::<(), porous_proto::ConnectError>(())
    /// ```
    pub fn run_until_idle(&mut self, limit: Instant) -> bool {
        while self.next_happening().is_some_and(|next| next <= limit) {
            self.step();
        }
        self.next_happening().is_none()
    }

    /// Lets everything happen up to and including `limit`, and calls `application` once at first and
    /// after every step, until it breaks off with a value, which is returned. Returns `None` if it does
    /// not break off; then the world's time is `limit`.
    ///
    /// # Panics
    ///
    /// As [`step`](Self::step).
    ///
    /// ```
    /// use core::ops::ControlFlow;
    /// use core::time::Duration;
    /// use porous_proto::{Config, Event, Instant};
    /// use porous_sim::{LinkConfig, Seed, World};
    ///
    /// let mut world = World::new(Seed::new(1), LinkConfig::new());
    /// world.add_host(1, Config::client().connect_timeout(Duration::from_secs(2)).unwrap());
    /// world.connect(1, 2)?;
    /// let end = world.drive(Instant::from_micros(5_000_000), |world| {
    ///     match world.poll_event(1) {
    ///         Some(Event::Disconnected { .. }) => ControlFlow::Break(world.now()),
    ///         _ => ControlFlow::Continue(()),
    ///     }
    /// });
    /// assert_eq!(end, Some(Instant::from_micros(2_000_000)));
    /// # Ok::<(), porous_proto::ConnectError>(())
    /// ```
    pub fn drive<T>(
        &mut self,
        limit: Instant,
        mut application: impl FnMut(&mut Self) -> ControlFlow<T>,
    ) -> Option<T> {
        loop {
            if let ControlFlow::Break(result) = application(self) {
                return Some(result);
            }
            if self.next_happening().is_none_or(|next| next > limit) {
                self.set_now(limit);
                return None;
            }
            self.step();
        }
    }

    /// Puts a datagram on its way that no host has sent. The datagram is not offered to
    /// [`intercept`](Self::intercept).
    ///
    /// ```
    /// use porous_proto::Config;
    /// use porous_sim::{LinkConfig, Seed, World};
    ///
    /// let mut world = World::new(Seed::new(1), LinkConfig::new());
    /// world.add_host(1, Config::new());
    /// world.inject(66, 1, b"no datagram of ours".to_vec());
    /// world.step();
    /// assert_eq!(world.host(1).stats().ignored_total(), 1);
    /// ```
    pub fn inject(&mut self, from: A, to: A, datagram: Vec<u8>) {
        // Past the gate, which counts the datagrams that hosts send.
        self.wires.network.send(self.now, from, to, datagram);
    }

    /// Lets `hook` decide about every datagram that a host sends from now on, in the order in which
    /// they are sent, before the link does. Replaces the hook before it; counts begin at zero.
    ///
    /// ```
    /// use porous_proto::Config;
    /// use porous_sim::{Intercept, LinkConfig, Seed, World};
    ///
    /// let mut world = World::new(Seed::new(1), LinkConfig::new());
    /// world.add_host(1, Config::client());
    /// // The first attempt gets lost, the second does not.
    /// world.intercept(|passing| match passing.nth {
    ///     0 => Intercept::Drop,
    ///     _ => Intercept::Pass,
    /// });
    /// world.connect(1, 2)?;
    /// world.run_for(core::time::Duration::from_secs(5));
    /// assert!(world.network().link_stats(1, 2).sent > 0);
    /// # Ok::<(), porous_proto::ConnectError>(())
    /// ```
    pub fn intercept(&mut self, hook: impl FnMut(&Passing<'_, A>) -> Intercept + 'static) {
        self.wires.set_hook(Some(Box::new(hook)));
    }

    /// Lets every datagram pass again. A delayed one still goes on at its time, a held one with the
    /// next datagram of its direction.
    ///
    /// ```
    /// use porous_sim::{Intercept, LinkConfig, Seed, World};
    ///
    /// let mut world: World = World::new(Seed::new(1), LinkConfig::new());
    /// world.intercept(|_| Intercept::Drop);
    /// world.stop_intercepting();
    /// ```
    pub fn stop_intercepting(&mut self) {
        self.wires.set_hook(None);
    }

    /// The network.
    ///
    /// ```
    /// use porous_sim::{LinkConfig, Seed, World};
    ///
    /// let world: World = World::new(Seed::new(1), LinkConfig::new());
    /// assert_eq!(world.network().stats().sent, 0);
    /// ```
    #[must_use]
    pub const fn network(&self) -> &Network<A> {
        &self.wires.network
    }

    /// The network, to change its conditions.
    ///
    /// ```
    /// use porous_sim::{LinkConfig, Seed, World};
    ///
    /// let mut world: World = World::new(Seed::new(1), LinkConfig::new());
    /// world.network_mut().partition(&[1], &[2, 3]);
    /// ```
    pub const fn network_mut(&mut self) -> &mut Network<A> {
        &mut self.wires.network
    }

    /// The trace of every datagram and event, to compare with another run of the same seed.
    ///
    /// ```
    /// use porous_sim::{LinkConfig, Seed, Trace, World};
    ///
    /// let world: World = World::new(Seed::new(1), LinkConfig::new());
    /// assert_eq!(world.trace().digest(), Trace::new().digest());
    /// ```
    #[must_use]
    pub const fn trace(&self) -> &Trace {
        self.wires.network.trace()
    }

    /// The time that the clock of this host shows, which is to be given to the methods of
    /// [`host_mut`](Self::host_mut) that take a time. It is [`now`](Self::now), unless the clock was
    /// changed.
    ///
    /// # Panics
    ///
    /// If there is no such host.
    ///
    /// ```
    /// use porous_proto::Config;
    /// use porous_sim::{LinkConfig, Seed, World};
    ///
    /// let mut world = World::new(Seed::new(1), LinkConfig::new());
    /// world.add_host(1, Config::new());
    /// world.jump_clock(1, 500);
    /// assert_eq!(world.time_at(1).as_micros(), 500);
    /// ```
    #[must_use]
    pub fn time_at(&self, address: A) -> Instant {
        self.stations.get(address).time(self.now)
    }

    /// Lets the clock of this host run too fast from now on, by `ppm` millionths, or too slow if `ppm` is
    /// negative. `ppm` is greater than -1,000,000. A good quartz is off by 20, a bad one by 200.
    ///
    /// # Panics
    ///
    /// If there is no such host.
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_proto::Config;
    /// use porous_sim::{LinkConfig, Seed, World};
    ///
    /// let mut world = World::new(Seed::new(1), LinkConfig::new());
    /// world.add_host(1, Config::new());
    /// world.set_clock_drift(1, 200);
    /// world.run_for(Duration::from_secs(1));
    /// assert_eq!(world.time_at(1).as_micros(), 1_000_200);
    /// ```
    pub fn set_clock_drift(&mut self, address: A, ppm: i32) {
        let now = self.now;
        self.stations.change(now, address, |station| {
            station.clock_mut().set_drift(now, ppm)
        });
    }

    /// Puts the clock of this host forward by `by_micros` microseconds, or back if negative, as broken
    /// system clocks do; not below zero.
    ///
    /// # Panics
    ///
    /// If there is no such host.
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_proto::Config;
    /// use porous_sim::{LinkConfig, Seed, World};
    ///
    /// let mut world = World::new(Seed::new(1), LinkConfig::new());
    /// world.add_host(1, Config::new());
    /// world.run_for(Duration::from_secs(1));
    /// world.jump_clock(1, -400_000);
    /// assert_eq!(world.time_at(1).as_micros(), 600_000);
    /// ```
    pub fn jump_clock(&mut self, address: A, by_micros: i64) {
        let now = self.now;
        self.stations.change(now, address, |station| {
            station.clock_mut().jump(now, by_micros)
        });
    }

    /// Does not call this host for this duration, as if its machine was busy, or loaded a level. Datagrams
    /// that arrive wait in the socket, and packets that the application sends wait in the host.
    ///
    /// # Panics
    ///
    /// If there is no such host.
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_proto::Config;
    /// use porous_sim::{LinkConfig, Seed, World};
    ///
    /// let mut world = World::new(Seed::new(1), LinkConfig::new());
    /// world.add_host(1, Config::new());
    /// world.hitch(1, Duration::from_millis(700));
    /// world.inject(2, 1, vec![0]);
    /// world.run_for(Duration::from_millis(699));
    /// assert_eq!(world.host(1).stats().datagrams_received, 0);
    /// world.run_for(Duration::from_millis(1));
    /// assert_eq!(world.host(1).stats().datagrams_received, 1);
    /// ```
    pub fn hitch(&mut self, address: A, duration: Duration) {
        let until = self.now + duration;
        self.stations
            .change(self.now, address, |station| station.rest_until(until));
    }

    /// Puts the host at the address `inside` behind a router, which shows the host to all others as
    /// `outside`. A datagram gets in only from an address that the host has sent to within `timeout`;
    /// routers have 30 s and more (RFC 4787 §4.3 asks for 2 min). There need not be a host yet, and a host
    /// that replaces another is behind its router, too. The links are those of the outside address.
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_proto::{Config, Event, Listen};
    /// use porous_sim::{LinkConfig, Seed, World};
    ///
    /// let (client, router, server) = (1, 100, 2);
    /// let mut world = World::new(Seed::new(1), LinkConfig::new());
    /// world.add_host(client, Config::client());
    /// world.add_host(server, Config::new());
    /// world.add_nat(client, router, Duration::from_secs(30));
    /// world.host_mut(server).listen(Listen::Open)?;
    /// world.connect(client, server)?;
    /// world.run_for(Duration::from_millis(1));
    /// let Some(Event::Connected { address, .. }) = world.poll_event(server) else {
    ///     panic!("not connected");
    /// };
    /// assert_eq!(address, router);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn add_nat(&mut self, inside: A, outside: A, timeout: Duration) {
        self.add_router(inside, Router::new(&[outside]).timeout(timeout));
    }

    /// Puts the host at the address `inside` behind a router of any kind; see
    /// [`add_nat`](Self::add_nat).
    ///
    /// ```
    /// use porous_sim::{LinkConfig, NatRule, Router, Seed, World};
    ///
    /// let mut world: World = World::new(Seed::new(1), LinkConfig::new());
    /// let full_cone = Router::new(&[100]).filtering(NatRule::EndpointIndependent);
    /// world.add_router(1, full_cone);
    /// ```
    pub fn add_router(&mut self, inside: A, router: Router<A>) {
        self.wires.nats.set(inside, router);
    }

    /// Puts hosts into one local network: they reach each other by their inside addresses, past their
    /// routers. A host is in at most one network.
    ///
    /// ```
    /// use porous_sim::{LinkConfig, Router, Seed, World};
    ///
    /// let mut world: World = World::new(Seed::new(1), LinkConfig::new());
    /// for inside in [1, 2] {
    ///     world.add_router(inside, Router::new(&[100 + inside]));
    /// }
    /// world.join(&[1, 2]);
    /// ```
    pub fn join(&mut self, hosts: &[A]) {
        self.wires.nats.join(hosts);
    }

    /// Gives the host behind a router another outside address, as if the router was restarted, or had
    /// forgotten its mapping: the old address belongs to no host, and all ways in are shut until the host
    /// sends again. The links of the new address get the conditions of those of the old one.
    ///
    /// # Panics
    ///
    /// If the host is behind no router.
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_sim::{LinkConfig, Seed, World};
    ///
    /// let mut world: World = World::new(Seed::new(1), LinkConfig::new());
    /// world.add_nat(1, 100, Duration::from_secs(30));
    /// world.rebind(1, 101);
    /// ```
    pub fn rebind(&mut self, inside: A, outside: A) {
        self.wires.rebind(inside, outside);
    }

    /// The observer of the calls of this host.
    #[cfg(feature = "swarm")]
    pub(crate) fn watch(&self, address: A) -> &crate::watch::Watch<A> {
        &self.stations.get(address).watch
    }

    /// Goes to `now`, unless the world's time is later already: time never runs backwards.
    fn set_now(&mut self, now: Instant) {
        self.now = self.now.max(now);
        self.wires.network.wait_until(self.now);
    }

    /// Sends the datagrams of hosts that an application has called.
    fn settle(&mut self) {
        while let Some(address) = self.stations.pop_touched() {
            self.flush(address);
        }
    }

    /// Brings datagrams that have arrived to the sockets.
    fn deliver(&mut self) {
        while let Some(passage) = self.wires.receive(self.now) {
            let Passage { from, to, .. } = passage;
            let len = passage.datagram.len();
            if !self.stations.deliver(self.now, passage) {
                let full = format!("{from:?} -> {to:?} socket buffer full {len} B");
                self.wires.network.note(&full);
            }
        }
    }

    /// Calls a host and sends its datagrams.
    fn serve(&mut self, address: A) {
        let now = self.now;
        self.stations.get_mut(address).wake(now);
        let mut count = 0;
        while let Some(passage) = self.stations.transmit(now, address) {
            count += 1;
            let seed = self.seed;
            assert!(
                count <= AT_ONCE,
                "{address:?} sends {AT_ONCE} datagrams at {now:?} and no end; replay with {seed}"
            );
            self.wires.send(now, passage);
        }
        self.stations.get_mut(address).rest(now);
        self.collect_events(address);
        // Last: what the host has sent decides when it is to be called next.
        self.stations.schedule(now, address);
    }

    /// Records the new events of a host and keeps them for its application.
    fn collect_events(&mut self, address: A) {
        while let Some(event) = self.stations.get_mut(address).collect() {
            self.wires.network.note(&format!("{address:?} {event:?}"));
            #[cfg(feature = "swarm")]
            if let Event::Disconnected { peer, .. } = event {
                self.ends.push((self.now, address, peer));
            }
        }
    }
}

#[cfg(test)]
mod tests;
