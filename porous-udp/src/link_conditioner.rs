//! A bad network on the way out of a host: the links of `porous-sim`, in front of a real socket.

use alloc::collections::{BTreeMap, BTreeSet};
use core::net::SocketAddr;

use porous_proto::{Address, Ecn, Instant};
use porous_sim::{Link, LinkConfig, LinkStats, Seed};

use crate::Conditioner;

/// Links that are kept although they carry nothing, so that forged addresses take no memory: as many as the
/// answers that a host keeps for strangers.
const IDLE_LINKS: usize = 1024;

/// See [`LinkConditioner::MAX_HELD`].
const MAX_HELD: usize = 16_384;

/// A simulated bad network in front of the socket of a host: what the host sends travels through a link of
/// [`porous_sim`] before it leaves. One such conditioner at each end of a connection makes both ways bad.
///
/// Each destination has a link of its own, with the same conditions: its own chance, its own queue and rate. The
/// first destination gets the first chance that follows from the seed, the second one the second, and so on. What
/// becomes of a datagram follows from the seed, the conditions, and the times, lengths and marks of what was sent
/// before it.
///
/// A datagram that is held back wakes the host when it is due: `wait` and the event loops know the time. It then
/// leaves with the mark of congestion with which the link delivers it, so that a link with
/// [`marks`](LinkConfig::marks) slows a host down as a real queue does, and in one call with others that are due.
///
/// At most [`MAX_HELD`](Self::MAX_HELD) datagrams are held, copies included. What comes beyond is lost, and
/// [`overflowed`](Self::overflowed) counts. Links that carry nothing are forgotten, but for some 1024 of them.
///
/// The datagrams that a host still has under way when it is dropped are lost. A host that is
/// [closed](crate::Disconnect::Flush) with a flush has delivered all.
///
/// This type needs the feature `sim`, which games leave out of what they ship.
///
/// # Example
///
/// A player with a round trip of 120 ms, of which 5 % of all datagrams get lost:
///
/// ```
/// use core::time::Duration;
/// use porous_udp::sim::{LinkConfig, Seed};
/// use porous_udp::{Config, Endpoint, LinkConditioner, bind};
///
/// let (loss, rtt) = (5.0, Duration::from_millis(120)); // --loss 5 --rtt 120
/// let conditions = LinkConfig::new().loss(loss).delay(rtt / 2); // and the same at the server
/// let network = LinkConditioner::new(conditions, Seed::new(1));
/// let host = Endpoint::new(bind("127.0.0.1:0")?, Config::client())?.with_conditioner(network);
/// # let _ = host;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LinkConditioner<A = SocketAddr> {
    config: LinkConfig,
    seed: Seed,
    links: BTreeMap<A, Link>,
    /// The next delivery of every link that has one, so that nothing has to look at all links.
    due: BTreeSet<(Instant, A)>,
    /// Links that were ever made: each has a chance of its own, also one that is made again.
    made: u64,
    /// The number of links at which those that carry nothing are forgotten.
    forget_at: usize,
    /// The counts of the links that were forgotten.
    forgotten: LinkStats,
    /// The datagrams in all links. Stored, as a sum would look at all links for each datagram.
    held: usize,
    overflowed: u64,
}

impl LinkConditioner {
    /// The most datagrams that are held, those of all destinations together: 16,384, which is 100 ms of nearly
    /// 2 Gbit/s in datagrams of 1452 bytes.
    pub const MAX_HELD: usize = MAX_HELD;

    /// A network with these conditions to every destination, whose chance follows from `seed`.
    ///
    /// ```
    /// use porous_udp::LinkConditioner;
    /// use porous_udp::sim::{Preset, Seed};
    ///
    /// let [up, down] = Preset::HomeWifi.links();
    /// let at_the_player = LinkConditioner::new(up, Seed::new(1));
    /// let at_the_server = LinkConditioner::new(down, Seed::new(2));
    /// # let _ = (at_the_player, at_the_server);
    /// ```
    #[must_use]
    pub fn new(config: LinkConfig, seed: Seed) -> Self {
        Self::between(config, seed)
    }
}

impl<A: Address> LinkConditioner<A> {
    /// As [`new`](LinkConditioner::new), for a driver that names remote hosts otherwise than by the address of a
    /// socket.
    ///
    /// ```
    /// use porous_udp::LinkConditioner;
    /// use porous_udp::sim::{LinkConfig, Seed};
    ///
    /// let network = LinkConditioner::<u8>::between(LinkConfig::new().loss(5.0), Seed::new(1));
    /// assert!(network.link(7).is_none());
    /// ```
    #[must_use]
    pub fn between(config: LinkConfig, seed: Seed) -> Self {
        Self {
            config,
            seed,
            links: BTreeMap::new(),
            due: BTreeSet::new(),
            made: 0,
            forget_at: IDLE_LINKS,
            forgotten: LinkStats::default(),
            held: 0,
            overflowed: 0,
        }
    }

    /// The conditions now.
    ///
    /// ```
    /// use porous_udp::LinkConditioner;
    /// use porous_udp::sim::{LinkConfig, Seed};
    ///
    /// let network = LinkConditioner::new(LinkConfig::new().loss(1.0), Seed::new(1));
    /// assert_eq!(network.config(), &LinkConfig::new().loss(1.0));
    /// ```
    #[must_use]
    pub const fn config(&self) -> &LinkConfig {
        &self.config
    }

    /// Changes the conditions, for what is sent from now on, to every destination.
    ///
    /// ```
    /// use porous_udp::sim::{LinkConfig, Seed};
    /// use porous_udp::{Config, Endpoint, LinkConditioner, bind};
    ///
    /// let network = LinkConditioner::new(LinkConfig::new(), Seed::new(1));
    /// let mut host = Endpoint::new(bind("127.0.0.1:0")?, Config::new())?.with_conditioner(network);
    /// // The cable is pulled.
    /// host.conditioner_mut().set_config(LinkConfig::new().down(true));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn set_config(&mut self, config: LinkConfig) {
        self.config = config;
        for link in self.links.values_mut() {
            link.set_config(config);
        }
    }

    /// The link to this destination; `None` if nothing was sent there yet, or if the link carries nothing and was
    /// forgotten.
    ///
    /// ```
    /// use porous_udp::proto::{Ecn, Instant};
    /// use porous_udp::sim::{LinkConfig, Seed};
    /// use porous_udp::{Conditioner, LinkConditioner};
    ///
    /// let to = ([192, 0, 2, 1], 4000).into();
    /// let mut network = LinkConditioner::new(LinkConfig::new(), Seed::new(1));
    /// network.take(Instant::ZERO, to, Ecn::NotEct, b"hello");
    /// assert_eq!(network.link(to).unwrap().stats().bytes_sent, 5);
    /// ```
    #[must_use]
    pub fn link(&self, to: A) -> Option<&Link> {
        self.links.get(&to)
    }

    /// The counts of all links together, also of those that were forgotten.
    ///
    /// ```
    /// use porous_udp::proto::{Ecn, Instant};
    /// use porous_udp::sim::{LinkConfig, Seed};
    /// use porous_udp::{Conditioner, LinkConditioner};
    ///
    /// let mut network = LinkConditioner::new(LinkConfig::new().loss(100.0), Seed::new(1));
    /// network.take(Instant::ZERO, ([192, 0, 2, 1], 4000).into(), Ecn::NotEct, b"hello");
    /// assert_eq!((network.stats().sent, network.stats().lost), (1, 1));
    /// ```
    #[must_use]
    pub fn stats(&self) -> LinkStats {
        let mut all = self.forgotten;
        for link in self.links.values() {
            all += link.stats();
        }
        all
    }

    /// The datagrams that were lost because [`MAX_HELD`](Self::MAX_HELD) others were held. No link counts them.
    ///
    /// ```
    /// use porous_udp::LinkConditioner;
    /// use porous_udp::sim::{LinkConfig, Seed};
    ///
    /// assert_eq!(LinkConditioner::new(LinkConfig::new(), Seed::new(1)).overflowed(), 0);
    /// ```
    #[must_use]
    pub const fn overflowed(&self) -> u64 {
        self.overflowed
    }

    /// Forgets the links that carry nothing, if there are many. What is left is looked at again when it has doubled.
    fn forget_idle_links(&mut self) {
        if self.links.len() < self.forget_at {
            return;
        }
        let forgotten = &mut self.forgotten;
        self.links.retain(|_, link| {
            let carries = link.next_delivery().is_some();
            if !carries {
                *forgotten += link.stats();
            }
            carries
        });
        self.forget_at = IDLE_LINKS.max(2 * self.links.len());
    }

    /// The link to this destination, which is made if there is none.
    fn link_to(&mut self, to: A) -> &mut Link {
        if !self.links.contains_key(&to) {
            self.forget_idle_links();
            self.made += 1;
        }
        let seed = self.seed.child("link", self.made);
        let new = || Link::new(self.config, seed);
        self.links.entry(to).or_insert_with(new)
    }

    /// Does something with a link, and files when it delivers next.
    fn with_link<T>(&mut self, to: A, act: impl FnOnce(&mut Link) -> T) -> T {
        let link = self.link_to(to);
        let (before, carried) = (link.next_delivery(), link.stats().in_flight);
        let result = act(link);
        let (after, carries) = (link.next_delivery(), link.stats().in_flight);
        let [carried, carries] = [carried, carries].map(|it| usize::try_from(it).unwrap_or(0));
        self.held = self.held - carried + carries;
        if before != after {
            if let Some(before) = before {
                self.due.remove(&(before, to));
            }
            if let Some(after) = after {
                self.due.insert((after, to));
            }
        }
        result
    }
}

impl<A: Address> Conditioner<A> for LinkConditioner<A> {
    /// Takes every datagram.
    fn take(&mut self, now: Instant, to: A, ecn: Ecn, datagram: &[u8]) -> bool {
        // A datagram may come with its copy.
        if self.held + 2 > MAX_HELD {
            self.overflowed += 1;
            return true;
        }
        self.with_link(to, |link| link.send_marked(now, ecn, datagram.to_vec()));
        true
    }

    fn release(&mut self, now: Instant) -> Option<(A, Ecn, Vec<u8>)> {
        let &(due, to) = self.due.first()?;
        if due > now {
            return None;
        }
        let (ecn, datagram) = self.with_link(to, |link| link.receive_marked(now))?;
        Some((to, ecn, datagram))
    }

    fn next_release(&self) -> Option<Instant> {
        self.due.first().map(|&(due, _)| due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::time::Duration;

    const TO: [SocketAddr; 2] = [address(1), address(2)];

    const fn address(port: u16) -> SocketAddr {
        SocketAddr::new(core::net::IpAddr::V4(core::net::Ipv4Addr::LOCALHOST), port)
    }

    fn ms(n: u64) -> Instant {
        Instant::from_micros(n * 1000)
    }

    fn delayed(by: u64) -> LinkConfig {
        LinkConfig::new().delay(Duration::from_millis(by))
    }

    /// What is due at `now`: to where, with which mark, and the first byte.
    fn released(network: &mut LinkConditioner, now: Instant) -> Vec<(u16, Ecn, u8)> {
        core::iter::from_fn(|| network.release(now))
            .map(|(to, ecn, datagram)| (to.port(), ecn, datagram[0]))
            .collect()
    }

    #[test]
    fn all_destinations_share_one_order_of_time() {
        let mut network = LinkConditioner::new(delayed(30), Seed::new(1));
        assert_eq!(network.next_release(), None);
        assert!(network.take(ms(0), TO[1], Ecn::Ect0, &[1]));
        assert!(network.take(ms(1), TO[0], Ecn::NotEct, &[2]));
        network.set_config(delayed(5));
        assert!(network.take(ms(20), TO[0], Ecn::Ect1, &[3]));
        assert_eq!(network.next_release(), Some(ms(30)));
        assert_eq!(released(&mut network, ms(29)), []);
        assert_eq!(released(&mut network, ms(30)), [(2, Ecn::Ect0, 1)]);
        assert_eq!(network.next_release(), Some(ms(31)));
        // The second waits for the first of its link, as a queue would have it.
        let rest = [(1, Ecn::NotEct, 2), (1, Ecn::Ect1, 3)];
        assert_eq!(released(&mut network, ms(100)), rest);
        assert_eq!((network.next_release(), network.held), (None, 0));
        assert_eq!(network.stats().delivered, 3);
    }

    /// What becomes of 400 datagrams to two destinations, on a line with all faults.
    fn played(seed: u64, at: [SocketAddr; 2]) -> Vec<(Instant, bool, Vec<u8>)> {
        let [up, _] = porous_sim::Preset::Terrible.links();
        let mut network = LinkConditioner::new(up, Seed::new(seed));
        let mut played = Vec::new();
        for n in 0..400_u64 {
            let bytes = n.to_le_bytes();
            network.take(ms(n * 5), at[usize::from(n % 3 == 0)], Ecn::NotEct, &bytes);
            while let Some((to, _, datagram)) = network.release(ms(n * 5)) {
                played.push((ms(n * 5), to == at[0], datagram));
            }
            let carried = network.stats().in_flight;
            assert_eq!(usize::try_from(carried).unwrap(), network.held);
        }
        played
    }

    #[test]
    fn the_same_seed_loses_the_same_whatever_the_ports_are() {
        let first = played(7, TO);
        assert!((150..400).contains(&first.len()), "{}", first.len());
        assert_eq!(first, played(7, [address(9), address(8)]));
        assert_ne!(first, played(8, TO));
    }

    #[test]
    fn each_destination_has_a_chance_of_its_own() {
        let half = LinkConfig::new().loss(50.0);
        let mut network = LinkConditioner::new(half, Seed::new(1));
        let fates = TO.map(|to| {
            let passes = |_| {
                network.take(ms(0), to, Ecn::NotEct, &[0]);
                network.release(ms(0)).is_some()
            };
            (0..64).map(passes).collect::<Vec<_>>()
        });
        assert_ne!(fates[0], fates[1]);
    }

    #[test]
    fn a_queue_marks_what_may_be_marked_instead_of_dropping_it() {
        let slow = LinkConfig::new()
            .rate(100_000)
            .queue(porous_sim::Queue::CODEL);
        let mut network = LinkConditioner::new(slow.marks(true), Seed::new(1));
        for n in 0..200 {
            network.take(ms(n * 50), TO[0], Ecn::Ect0, &[0; 972]);
        }
        let marks = released(&mut network, ms(1_000_000));
        assert!(marks.iter().any(|(_, ecn, _)| *ecn == Ecn::Ce));
    }

    #[test]
    fn what_is_held_is_bounded() {
        let copies = delayed(1000).duplicate(100.0);
        let mut network = LinkConditioner::new(copies, Seed::new(1));
        for n in 0..20_000_u16 {
            assert!(network.take(ms(0), address(n % 5000), Ecn::NotEct, &[0]));
        }
        assert_eq!(network.held, LinkConditioner::MAX_HELD);
        assert_eq!(network.overflowed(), 20_000 - 8192);
        assert_eq!(released(&mut network, ms(2000)).len(), 16_384);
        assert_eq!((network.held, network.due.len()), (0, 0));
    }

    #[test]
    fn links_that_carry_nothing_are_forgotten_and_their_counts_are_not() {
        let mut network = LinkConditioner::new(delayed(10), Seed::new(1));
        network.take(ms(0), address(0), Ecn::NotEct, &[0]);
        for n in 1..=60_000 {
            network.take(ms(20), address(n), Ecn::NotEct, &[0]);
            if n % 8 == 0 {
                released(&mut network, ms(40));
            }
            assert!(network.links.len() <= 2 * IDLE_LINKS);
        }
        released(&mut network, ms(60_000));
        assert_eq!(network.stats().delivered, 60_001);
        // One that is made again has another chance: else the same datagram would get lost each time.
        assert_eq!(network.made, 60_001);
    }
}
