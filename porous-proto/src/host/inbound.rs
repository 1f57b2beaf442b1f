//! Peers that connected to us: how many there are, and how many of each source (`docs/limits.md`,
//! "Peers").

use alloc::vec::Vec;
use core::net::IpAddr;

use rand_core::CryptoRng;

use super::{Address, Host};
use crate::config::Config;

/// What addresses of one owner have in common.
type Source = [u8; 16];

/// The source that is not limited.
const NOBODY: Source = [0; 16];

/// The source of a peer at this IP address, for [`Host::set_source_of`]: an IPv4 address for itself, also
/// where it is written as one of IPv6, and of an IPv6 address the network with a prefix of 64 bits, for a
/// subscriber has all of its addresses. Loopback addresses have none, 16 times 0: programs on the same
/// machine are not limited.
///
/// ```
/// use core::net::SocketAddr;
/// use porous_proto::{Config, Host, ip_source};
/// # use porous_proto::doc::example_rng;
///
/// let mut host = Host::<_, SocketAddr>::new(Config::new(), example_rng());
/// host.set_source_of(|from| ip_source(from.ip()));
/// let source = |ip: &str| ip.parse().map(ip_source);
/// assert_eq!(source("2001:db8:1:2:3::4"), source("2001:db8:1:2::5"));
/// assert_eq!(source("::ffff:192.0.2.1"), source("192.0.2.1"));
/// assert_eq!(source("::1"), Ok([0; 16]));
/// ```
#[must_use]
pub fn ip_source(ip: IpAddr) -> [u8; 16] {
    const SUBSCRIBER: u128 = !0 << 64;
    match ip.to_canonical() {
        ip if ip.is_loopback() => NOBODY,
        IpAddr::V4(ip) => ip.to_ipv6_mapped().octets(),
        IpAddr::V6(ip) => (ip.to_bits() & SUBSCRIBER).to_be_bytes(),
    }
}

/// Live peers that connected to us.
#[derive(Debug)]
pub(super) struct Inbound<A> {
    count: u32,
    source_of: fn(&A) -> Source,
    /// The slots and sources of those that are counted by source.
    sources: Vec<(u32, Source)>,
}

impl<A: Address> Inbound<A> {
    pub(super) const fn new() -> Self {
        Self {
            count: 0,
            source_of: |_| NOBODY,
            sources: Vec::new(),
        }
    }

    pub(super) const fn count(&self) -> u32 {
        self.count
    }

    /// Whether one more may connect, from there. It looks at all: to be asked of proved addresses.
    pub(super) fn has_place(&self, from: &A, config: &Config) -> bool {
        let source = (self.source_of)(from);
        let is_same = |other: &&(u32, Source)| other.1 == source;
        let others = || self.sources.iter().filter(is_same).count() as u64;
        source == NOBODY || others() < u64::from(config.peers_per_source())
    }

    pub(super) fn insert(&mut self, slot: u32, from: &A) {
        self.count += 1;
        let source = (self.source_of)(from);
        if source != NOBODY {
            self.sources.push((slot, source));
        }
    }

    /// The peer has ended.
    pub(super) fn remove(&mut self, slot: u32) {
        self.count -= 1;
        let mut slots = self.sources.iter().map(|&(slot, _)| slot);
        if let Some(place) = slots.position(|other| other == slot) {
            self.sources.swap_remove(place);
        }
    }

    /// # Panics
    ///
    /// If something is counted wrong, or over a limit.
    #[cfg(any(test, feature = "audit"))]
    pub(super) fn audit(&self, live: &[u32], config: &Config) {
        assert_eq!(self.count as usize, live.len(), "inbound peers");
        assert!(self.count <= config.max_peers, "inbound peers");
        for (slot, source) in &self.sources {
            assert!(live.contains(slot), "the source of a peer that ended");
            let same = self.sources.iter().filter(|other| other.1 == *source);
            let most = config.peers_per_source() as usize;
            assert!(same.count() <= most, "peers of a source");
        }
    }
}

impl<R: CryptoRng, A: Address> Host<R, A> {
    /// Tells the host which addresses are of one owner, for
    /// [`Config::max_peers_per_source`](crate::Config::max_peers_per_source): those for which this
    /// function gives the same 16 bytes. Those for which it gives 16 times 0 are not limited, and at
    /// first that is so of all. To be called before the host listens: peers that are there already are
    /// not counted by source.
    ///
    /// The UDP drivers of this project and that of smoltcp do this by themselves, with [`ip_source`]. A
    /// server to which all players come by one proxy or load
    /// balancer that hides their addresses tells its own function, or allows each source as many peers
    /// as [`max_peers`](crate::Config::max_peers).
    ///
    /// ```
    /// use porous_proto::{Config, Host};
    /// # use porous_proto::doc::example_rng;
    ///
    /// // Addresses of a network of our own, whose upper half names a machine.
    /// let mut host = Host::<_, u64>::new(Config::new(), example_rng());
    /// host.set_source_of(|from| u128::from(from >> 32).to_be_bytes());
    /// ```
    pub const fn set_source_of(&mut self, source_of: fn(&A) -> [u8; 16]) {
        self.inbound.source_of = source_of;
    }
}
