//! Many addresses, a link for each ordered pair, and one order in which everything arrives.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::fmt::Debug;
use core::hash::Hash;

use porous_proto::{Ecn, Instant};

use crate::hash::Fnv;
use crate::trace::{Happening, Print};
use crate::{Fate, Link, LinkConfig, LinkStats, Seed, Trace};

/// An address of a simulated network: a number, a socket address, any small value.
///
/// The hash of an address decides the chance of its links. The hash of an integer is the same on every
/// machine, so a scenario that must replay on any machine numbers its hosts.
///
/// ```
/// fn takes(_: impl porous_sim::SimAddress) {}
/// takes(1_u32);
/// takes(core::net::SocketAddr::from(([10, 0, 0, 1], 4000)));
/// ```
pub trait SimAddress: Copy + Ord + Hash + Debug {}

impl<A: Copy + Ord + Hash + Debug> SimAddress for A {}

/// A network of any number of addresses, in virtual time.
///
/// There is a one-way [`Link`] for each ordered pair of addresses, made when it is first used.
/// The chance of a link follows from the seed and the two addresses alone: traffic on other links, or
/// the order in which hosts join, does not disturb it.
///
/// The cost of sending and receiving grows with the logarithm of the number of links.
///
/// ```
/// use core::time::Duration;
/// use porous_proto::Instant;
/// use porous_sim::{LinkConfig, Network, Seed};
///
/// let config = LinkConfig::new().delay(Duration::from_millis(10));
/// let mut network = Network::new(Seed::new(1), config);
/// network.send(Instant::ZERO, 1, 2, b"ping".to_vec());
///
/// let due = network.next_delivery().unwrap();
/// assert_eq!(due, Instant::from_micros(10_000));
/// assert_eq!(network.receive(due), Some((1, 2, b"ping".to_vec())));
/// ```
#[derive(Clone, Debug)]
pub struct Network<A> {
    seed: Seed,
    default: LinkConfig,
    links: BTreeMap<(A, A), Link>,
    /// The next delivery of every link that has one, so that nothing has to look at all links.
    due: BTreeSet<(Instant, (A, A))>,
    now: Instant,
    trace: Trace,
    /// The ends of links that have damaged a long form since the swarm last looked.
    #[cfg(feature = "swarm")]
    pub(crate) damaged: Vec<(A, A)>,
}

impl<A: SimAddress> Network<A> {
    /// A network whose links all have these conditions at first.
    ///
    /// ```
    /// use porous_sim::{LinkConfig, Network, Seed};
    ///
    /// let network: Network<u32> = Network::new(Seed::new(1), LinkConfig::new());
    /// assert_eq!(network.next_delivery(), None);
    /// ```
    #[must_use]
    pub const fn new(seed: Seed, default: LinkConfig) -> Self {
        Self {
            seed,
            default,
            links: BTreeMap::new(),
            due: BTreeSet::new(),
            now: Instant::ZERO,
            trace: Trace::new(),
            #[cfg(feature = "swarm")]
            damaged: Vec::new(),
        }
    }

    /// Sends a datagram and returns what becomes of it, which only a test should look at. There need
    /// not be a host at `to`.
    ///
    /// A time before the latest that the network has seen counts as the latest.
    ///
    /// ```
    /// use porous_proto::Instant;
    /// use porous_sim::{Fate, LinkConfig, Network, Seed};
    ///
    /// let mut network = Network::new(Seed::new(1), LinkConfig::new().loss(100.0));
    /// assert_eq!(network.send(Instant::ZERO, 1, 2, vec![0; 10]), Fate::Lost);
    /// ```
    pub fn send(&mut self, now: Instant, from: A, to: A, datagram: impl Into<Vec<u8>>) -> Fate {
        self.send_marked(now, (from, to), Ecn::NotEct, datagram.into())
    }

    /// The next datagram that is due at `now` or before, with sender and receiver. Datagrams come
    /// in order of arrival; those of the same microsecond by sender, then by receiver, then as
    /// they were sent. Call it until it returns `None`.
    ///
    /// ```
    /// use porous_proto::Instant;
    /// use porous_sim::{LinkConfig, Network, Seed};
    ///
    /// let mut network = Network::new(Seed::new(1), LinkConfig::new());
    /// network.send(Instant::ZERO, 2, 1, b"second");
    /// network.send(Instant::ZERO, 1, 2, b"first!");
    /// assert_eq!(network.receive(Instant::ZERO), Some((1, 2, b"first!".to_vec())));
    /// assert_eq!(network.receive(Instant::ZERO), Some((2, 1, b"second".to_vec())));
    /// assert_eq!(network.receive(Instant::ZERO), None);
    /// ```
    pub fn receive(&mut self, now: Instant) -> Option<(A, A, Vec<u8>)> {
        let ((from, to), _, datagram) = self.receive_marked(now)?;
        Some((from, to, datagram))
    }

    /// When the next datagram arrives at any address; `None` if none is under way. In the past if
    /// datagrams have arrived and were not taken out.
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_proto::Instant;
    /// use porous_sim::{LinkConfig, Network, Seed};
    ///
    /// let mut network = Network::new(Seed::new(1), LinkConfig::new());
    /// network.set_link(1, 2, LinkConfig::new().delay(Duration::from_micros(70)));
    /// network.set_link(2, 1, LinkConfig::new().delay(Duration::from_micros(30)));
    /// network.send(Instant::ZERO, 1, 2, vec![1]);
    /// network.send(Instant::ZERO, 2, 1, vec![2]);
    /// assert_eq!(network.next_delivery(), Some(Instant::from_micros(30)));
    /// ```
    #[must_use]
    pub fn next_delivery(&self) -> Option<Instant> {
        self.due.first().map(|&(due, _)| due)
    }

    /// Changes the conditions from `from` to `to`, in that direction only, for datagrams sent from now
    /// on. See [`Link::set_config`].
    ///
    /// ```
    /// use porous_sim::{LinkConfig, Network, Seed};
    ///
    /// let mut network: Network<u32> = Network::new(Seed::new(1), LinkConfig::new());
    /// network.set_link(1, 2, LinkConfig::new().loss(9.0));
    /// assert_eq!(network.config(1, 2), LinkConfig::new().loss(9.0));
    /// assert_eq!(network.config(2, 1), LinkConfig::new());
    /// ```
    pub fn set_link(&mut self, from: A, to: A, config: LinkConfig) {
        self.link_mut((from, to)).set_config(config);
    }

    /// Changes the conditions between `a` and `b`, both ways.
    ///
    /// ```
    /// use porous_sim::{LinkConfig, Network, Seed};
    ///
    /// let mut network: Network<u32> = Network::new(Seed::new(1), LinkConfig::new());
    /// network.set_both(1, 2, LinkConfig::new().loss(9.0));
    /// assert_eq!(network.config(1, 2), network.config(2, 1));
    /// ```
    pub fn set_both(&mut self, a: A, b: A, config: LinkConfig) {
        self.set_link(a, b, config);
        self.set_link(b, a, config);
    }

    /// Changes the conditions of every link that exists, and of every link to come.
    ///
    /// ```
    /// use porous_sim::{LinkConfig, Network, Seed};
    ///
    /// let mut network: Network<u32> = Network::new(Seed::new(1), LinkConfig::new().loss(50.0));
    /// network.set_both(1, 2, LinkConfig::new().down(true));
    /// // The faults are over.
    /// network.set_all(LinkConfig::new());
    /// assert_eq!(network.config(1, 2), LinkConfig::new());
    /// assert_eq!(network.config(1, 3), LinkConfig::new());
    /// ```
    pub fn set_all(&mut self, config: LinkConfig) {
        self.default = config;
        for link in self.links.values_mut() {
            link.set_config(config);
        }
    }

    /// Cuts every link between an address of `side` and one of `other`, both ways.
    ///
    /// ```
    /// use porous_proto::Instant;
    /// use porous_sim::{Fate, LinkConfig, Network, Seed};
    ///
    /// let mut network = Network::new(Seed::new(1), LinkConfig::new());
    /// network.partition(&[1], &[2, 3]);
    /// assert_eq!(network.send(Instant::ZERO, 3, 1, vec![0]), Fate::Cut);
    /// assert_ne!(network.send(Instant::ZERO, 3, 2, vec![0]), Fate::Cut);
    /// ```
    pub fn partition(&mut self, side: &[A], other: &[A]) {
        for &a in side {
            for &b in other {
                for (from, to) in [(a, b), (b, a)] {
                    self.set_link(from, to, self.config(from, to).down(true));
                }
            }
        }
    }

    /// Ends every partition: no link is down any more; other conditions stay as they are.
    ///
    /// ```
    /// use porous_sim::{LinkConfig, Network, Seed};
    ///
    /// let mut network: Network<u32> = Network::new(Seed::new(1), LinkConfig::new().loss(2.0));
    /// network.partition(&[1], &[2, 3]);
    /// network.mend();
    /// assert_eq!(network.config(1, 3), LinkConfig::new().loss(2.0));
    /// ```
    pub fn mend(&mut self) {
        self.default = self.default.down(false);
        for link in self.links.values_mut() {
            link.set_config(link.config().down(false));
        }
    }

    /// The conditions from `from` to `to` now.
    ///
    /// ```
    /// use porous_sim::{LinkConfig, Network, Seed};
    ///
    /// let network: Network<u32> = Network::new(Seed::new(1), LinkConfig::new().loss(2.0));
    /// assert_eq!(network.config(1, 2), LinkConfig::new().loss(2.0));
    /// ```
    #[must_use]
    pub fn config(&self, from: A, to: A) -> LinkConfig {
        self.links
            .get(&(from, to))
            .map_or(self.default, |link| *link.config())
    }

    /// The counts from `from` to `to` so far.
    ///
    /// ```
    /// use porous_proto::Instant;
    /// use porous_sim::{LinkConfig, Network, Seed};
    ///
    /// let mut network = Network::new(Seed::new(1), LinkConfig::new());
    /// network.send(Instant::ZERO, 1, 2, vec![0; 10]);
    /// assert_eq!(network.link_stats(1, 2).sent, 1);
    /// assert_eq!(network.link_stats(2, 1).sent, 0);
    /// ```
    #[must_use]
    pub fn link_stats(&self, from: A, to: A) -> LinkStats {
        self.links
            .get(&(from, to))
            .map(Link::stats)
            .unwrap_or_default()
    }

    /// The counts of all links together so far. The call looks at every link.
    ///
    /// ```
    /// use porous_proto::Instant;
    /// use porous_sim::{LinkConfig, Network, Seed};
    ///
    /// let mut network = Network::new(Seed::new(1), LinkConfig::new());
    /// network.send(Instant::ZERO, 1, 2, vec![0; 10]);
    /// network.send(Instant::ZERO, 2, 1, vec![0; 10]);
    /// assert_eq!(network.stats().bytes_sent, 20);
    /// ```
    #[must_use]
    pub fn stats(&self) -> LinkStats {
        self.links
            .values()
            .fold(LinkStats::default(), |mut sum, link| {
                sum += link.stats();
                sum
            })
    }

    /// Keeps the trace as text from now on, besides its digest.
    ///
    /// ```
    /// use porous_sim::{LinkConfig, Network, Seed};
    ///
    /// let network: Network<u32> = Network::new(Seed::new(1), LinkConfig::new()).with_text();
    /// assert_eq!(network.trace().text(), Some(""));
    /// ```
    #[must_use]
    pub fn with_text(mut self) -> Self {
        self.trace.keep_text();
        self
    }

    /// The trace of all that was sent and received, to compare with another run of the same seed.
    ///
    /// ```
    /// use porous_proto::Instant;
    /// use porous_sim::{LinkConfig, Network, Seed};
    ///
    /// let run = || {
    ///     let mut network = Network::new(Seed::new(1), LinkConfig::new().loss(50.0));
    ///     for n in 0..100 {
    ///         network.send(Instant::from_micros(n), 1, 2, vec![0; 10]);
    ///     }
    ///     network.trace().digest()
    /// };
    /// assert_eq!(run(), run());
    /// ```
    #[must_use]
    pub const fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Adds a word to the trace, at the latest time that the network has seen.
    ///
    /// ```
    /// use porous_sim::{LinkConfig, Network, Seed};
    ///
    /// let mut network: Network<u32> = Network::new(Seed::new(1), LinkConfig::new()).with_text();
    /// network.note("the server restarts");
    /// assert_eq!(network.trace().text(), Some("0.000000s the server restarts\n"));
    /// ```
    pub fn note(&mut self, note: &str) {
        self.trace.note(self.now, note);
    }

    /// As [`send`](Self::send), with the ECN field of the datagram's IP header.
    pub(crate) fn send_marked(
        &mut self,
        now: Instant,
        pair: (A, A),
        ecn: Ecn,
        datagram: Vec<u8>,
    ) -> Fate {
        self.now = self.now.max(now);
        let now = self.now;
        let print = Print::of(&datagram);
        // No checksum of ours covers a long form: after damage, two hosts may agree on values that neither
        // has said, which the swarm must know.
        #[cfg(feature = "swarm")]
        let is_short = matches!(datagram.first(), Some(0x40..=0x7F));
        let link = self.link_mut(pair);
        // The datagram may overtake the one that was next.
        let before = link.next_delivery();
        let fate = link.send_marked(now, ecn, datagram);
        let after = link.next_delivery();
        self.reindex(pair, before, after);
        self.trace.record(self.now, pair, fate.into(), print);
        let damage = match fate {
            Fate::Carried { damaged: true, .. } => Happening::Damaged,
            Fate::BadChecksum { .. } => Happening::BadChecksum,
            Fate::Carried { .. } | Fate::Lost | Fate::QueueFull | Fate::TooLarge | Fate::Cut => {
                return fate;
            }
        };
        self.trace.record(self.now, pair, damage, print);
        #[cfg(feature = "swarm")]
        if damage == Happening::Damaged && !is_short {
            self.damaged.push(pair);
        }
        fate
    }

    /// As [`receive`](Self::receive), with the ECN field as the links have marked it.
    pub(crate) fn receive_marked(&mut self, now: Instant) -> Option<((A, A), Ecn, Vec<u8>)> {
        self.now = self.now.max(now);
        let &(due, pair) = self.due.first()?;
        if due > self.now {
            return None;
        }
        let link = self.links.get_mut(&pair)?;
        let (ecn, datagram) = link.receive_marked(self.now)?;
        let after = link.next_delivery();
        self.reindex(pair, Some(due), after);
        let print = Print::of(&datagram);
        self.trace
            .record(self.now, pair, Happening::Delivered, print);
        Some((pair, ecn, datagram))
    }

    /// Lets time pass although nothing is sent or received.
    pub(crate) fn wait_until(&mut self, now: Instant) {
        self.now = self.now.max(now);
    }

    /// Gives the links of one address the conditions of those of another.
    pub(crate) fn copy_links(&mut self, like: A, new: A) {
        let ends = |&(from, to): &(A, A)| from == like || to == like;
        // Links that were never used have the default conditions, whatever their ends.
        let pairs: Vec<(A, A)> = self.links.keys().copied().filter(ends).collect();
        for (from, to) in pairs {
            let renamed = |end| if end == like { new } else { end };
            self.set_link(renamed(from), renamed(to), self.config(from, to));
        }
    }

    fn link_mut(&mut self, pair: (A, A)) -> &mut Link {
        let (seed, config) = (self.seed, self.default);
        // By the two addresses, not by a count of links: other traffic must not disturb a link's chance.
        let new = || Link::new(config, seed.child("link", Fnv::of(&pair)));
        self.links.entry(pair).or_insert_with(new)
    }

    /// Keeps `due` true after the next delivery of a link has changed.
    fn reindex(&mut self, pair: (A, A), before: Option<Instant>, after: Option<Instant>) {
        if before == after {
            return;
        }
        if let Some(before) = before {
            self.due.remove(&(before, pair));
        }
        if let Some(after) = after {
            self.due.insert((after, pair));
        }
    }
}

#[cfg(test)]
mod tests;
