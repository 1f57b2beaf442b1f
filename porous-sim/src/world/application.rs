//! What applications do with the hosts of a world.

use porous_proto::{AnswerError, ConnectError, Disconnect, Event, Host, PeerId, UnknownPeer};

use super::World;
use crate::{ChaCha8Rng, Service, SimAddress};

impl<A: SimAddress> World<A> {
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
        &self.station(address).host
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
        self.station_mut(address).touch();
        self.touched.insert(address);
        self.schedule(address);
        &mut self.station_mut(address).host
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
        self.station_mut(from).watch.names(to);
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

    /// As [`connect_any`](Self::connect_any), with a greeting.
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
            self.station_mut(from).watch.names(to);
        }
        self.host_mut(from).connect_with(now, to, greeting)
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
        self.collect_events(address);
        self.station_mut(address).poll_event()
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
        let station = self.station(address);
        if station.service() == Service::Event && !station.rests(self.now) {
            self.serve(address);
        }
    }
}
