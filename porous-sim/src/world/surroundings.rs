//! What surrounds a host: its clock, its scheduler, its router.

use core::time::Duration;

use porous_proto::Instant;

use super::World;
use crate::{Router, SimAddress};

impl<A: SimAddress> World<A> {
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
        self.station(address).time(self.now)
    }

    /// Lets the clock of this host go too fast from now on, by `ppm` millionths, or too slow if `ppm`
    /// is negative (more than -1,000,000). A good quartz is off by 20, a bad one by 200.
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
        self.station_mut(address).clock_mut().set_drift(now, ppm);
        self.schedule(address);
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
        self.station_mut(address).clock_mut().jump(now, by_micros);
        self.schedule(address);
    }

    /// Does not call this host for this duration, whatever comes: its machine is busy, or loads a
    /// level. Datagrams that arrive wait in the socket, and packets that the application sends in the
    /// host.
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
        self.station_mut(address).rest_until(until);
        self.schedule(address);
    }

    /// Puts the host at the address `inside` behind a router, which shows it to all others as
    /// `outside`. A datagram gets in only from an address that the host has sent to within `timeout`;
    /// routers have 30 s and more (RFC 4787 asks for 2 min). There need not be a host yet, and a host
    /// that replaces it is behind the router, too. The links are those of the outside address.
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
        self.nats.set(inside, router);
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
        self.nats.join(hosts);
    }

    /// Gives the host behind a router another outside address, as if the router was restarted, or had
    /// forgotten: the old address belongs to no host, and all ways in are shut until the host sends
    /// again. The links of the new address get the conditions of those of the old one.
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
        let router = self.nats.router(inside).cloned();
        let mut router = router.unwrap_or_else(|| panic!("{inside:?} is behind no router"));
        router.outside = [outside].into();
        if let Some(before) = self.nats.set(inside, router) {
            self.network.copy_links(before, outside);
        }
    }
}

#[cfg(feature = "swarm")]
impl<A: SimAddress> World<A> {
    /// The observer of the calls of this host.
    pub(crate) fn watch(&self, address: A) -> &crate::watch::Watch<A> {
        &self.station(address).watch
    }
}
