//! Hosts on a network, and the one loop that moves them all.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use porous_proto::{Config, Instant};

use crate::agenda::Agenda;
use crate::intercept::Gate;
use crate::nat::Nats;
use crate::station::Station;
use crate::{LinkConfig, Network, Seed, Service, SimAddress};

/// Any number of hosts on a simulated network, in virtual time. The same seed and the same calls
/// give the same run, byte by byte.
///
/// The application is yours: call [`poll_event`](Self::poll_event) and, through
/// [`host_mut`](Self::host_mut), the methods that a game calls; in between let time pass, with
/// [`step`](Self::step), [`run_for`](Self::run_for) or [`drive`](Self::drive). Datagrams that a host
/// wants to send after you called it leave before anything else happens, or at its next tick.
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
    network: Network<A>,
    gate: Gate<A>,
    stations: BTreeMap<A, Station<A>>,
    nats: Nats<A>,
    /// When each host is to be called.
    agenda: Agenda<A>,
    /// Hosts that an application has called since they last sent.
    touched: BTreeSet<A>,
    /// The number of hosts made so far.
    made: u64,
    /// The number of rounds at the present instant.
    rounds: u32,
    /// The buffer that the hosts write their datagrams into.
    buffer: Vec<u8>,
    /// The times when hosts reported that a peer has ended.
    #[cfg(feature = "swarm")]
    pub(crate) ends: Vec<(Instant, A, porous_proto::PeerId)>,
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
            network: Network::new(seed, links),
            gate: Gate::new(),
            stations: BTreeMap::new(),
            nats: Nats::new(),
            agenda: Agenda::new(),
            touched: BTreeSet::new(),
            made: 0,
            rounds: 0,
            buffer: Vec::new(),
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
        self.network = self.network.with_text();
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
        let rng = self.seed.stream("host", self.made);
        self.made += 1;
        self.stations.insert(address, Station::new(config, rng));
        self.schedule(address);
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
        self.agenda.set(address, None);
        self.stations.remove(&address).is_some()
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
        self.station_mut(address).set_service(service);
        self.schedule(address);
    }

    /// Sets how many bytes may wait in the socket of this host until the host is called; a datagram
    /// beyond this is dropped. Default: 212,992, as Linux has it.
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
        self.station_mut(address).set_socket_buffer(bytes);
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
        self.station(address).overflowed()
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
}

mod application;
mod clock;
mod surroundings;
#[cfg(test)]
mod tests;
mod wire;
