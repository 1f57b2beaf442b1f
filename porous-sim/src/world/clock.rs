//! How time passes in a world: from one event to the next.

use alloc::format;
use alloc::vec::Vec;
use core::ops::ControlFlow;
use core::time::Duration;

use porous_proto::{Ecn, Instant};

use super::World;
use crate::SimAddress;
use crate::station::Station;

/// The most rounds without time passing, and datagrams from one host at once. More are a bug: the run
/// would never end.
const AT_ONCE: u32 = 10_000_000;

impl<A: SimAddress> World<A> {
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
        let all = [
            self.network.next_delivery(),
            self.gate.next(),
            self.agenda.next(),
        ];
        let next = all.into_iter().flatten().min()?;
        Some(next.max(self.now))
    }

    /// Goes to the next time at which something happens, and returns it; `None` if nothing ever will
    /// unless an application acts. A round that takes no time, such as a datagram over a link without
    /// delay, is a step as well.
    ///
    /// # Panics
    ///
    /// If so much happens in one instant that it would never end; the message names the seed.
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
        for address in self.agenda.due(next) {
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

    /// Time never runs backwards.
    fn set_now(&mut self, now: Instant) {
        self.now = self.now.max(now);
        self.network.wait_until(self.now);
    }

    /// Sends the datagrams of hosts that an application has called.
    fn settle(&mut self) {
        while let Some(address) = self.touched.pop_first() {
            if self.stations.contains_key(&address) {
                self.flush(address);
            }
        }
    }

    /// Brings datagrams that have arrived to the sockets.
    fn deliver(&mut self) {
        self.gate.release(self.now, &mut self.network);
        while let Some(((from, to), ecn, datagram)) = self.network.receive_marked(self.now) {
            let Some(to) = self.nats.arrives(self.now, from, to) else {
                continue;
            };
            let Some(station) = self.stations.get_mut(&to) else {
                continue;
            };
            let len = datagram.len();
            if !station.deliver(from, ecn, datagram) {
                let full = format!("{from:?} -> {to:?} socket buffer full {len} B");
                self.network.note(&full);
            }
            self.schedule(to);
        }
    }

    /// Calls a host and sends its datagrams.
    pub(super) fn serve(&mut self, address: A) {
        let now = self.now;
        self.station_mut(address).wake(now);
        let mut count = 0;
        while let Some((to, ecn, datagram)) = self.transmit(address) {
            count += 1;
            let seed = self.seed;
            assert!(
                count <= AT_ONCE,
                "{address:?} sends {AT_ONCE} datagrams at {now:?} and no end; replay with {seed}"
            );
            let from = self.nats.leaves(now, address, to);
            let datagram = (ecn, datagram);
            self.gate.send(now, (from, to), datagram, &mut self.network);
        }
        self.collect_events(address);
        self.schedule(address);
    }

    fn transmit(&mut self, address: A) -> Option<(A, Ecn, Vec<u8>)> {
        let (now, buffer) = (self.now, &mut self.buffer);
        self.stations.get_mut(&address)?.transmit(now, buffer)
    }

    /// Records the new events of a host and keeps them for its application.
    pub(super) fn collect_events(&mut self, address: A) {
        while let Some(event) = self.station_mut(address).collect() {
            self.network.note(&format!("{address:?} {event:?}"));
            #[cfg(feature = "swarm")]
            if let porous_proto::Event::Disconnected { peer, .. } = event {
                self.ends.push((self.now, address, peer));
            }
        }
    }

    /// Updates the agenda after something has changed at a host.
    pub(super) fn schedule(&mut self, address: A) {
        let due = self.station(address).due(self.now);
        self.agenda.set(address, due);
    }

    pub(super) fn station(&self, address: A) -> &Station<A> {
        let station = self.stations.get(&address);
        station.unwrap_or_else(|| panic!("there is no host at {address:?}"))
    }

    pub(super) fn station_mut(&mut self, address: A) -> &mut Station<A> {
        let station = self.stations.get_mut(&address);
        station.unwrap_or_else(|| panic!("there is no host at {address:?}"))
    }
}
