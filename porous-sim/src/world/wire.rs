//! What a test does to the datagrams of a world.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::World;
use crate::{Intercept, Network, Passing, SimAddress, Trace};

impl<A: SimAddress> World<A> {
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
        self.network.send(self.now, from, to, datagram);
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
        self.gate.set(Some(Box::new(hook)));
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
        self.gate.set(None);
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
        &self.network
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
        &mut self.network
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
        self.network.trace()
    }
}
