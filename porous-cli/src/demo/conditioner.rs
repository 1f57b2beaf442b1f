//! The bad network: each datagram of a host goes through a simulated link before it reaches the socket. A
//! datagram that the link loses never touches the loopback interface.

use alloc::collections::BTreeMap;
use core::net::SocketAddr;

use porous_sim::{Link, LinkConfig, Seed};
use porous_std::Instant;

use crate::args::DemoArgs;

/// The conditions that were asked for, in one direction.
pub(crate) fn conditions(args: &DemoArgs) -> LinkConfig {
    LinkConfig::new()
        .delay(args.delay())
        .jitter(args.delay_jitter())
        .loss(args.loss)
        .duplicate(args.duplicate)
        .reorder(args.reorder)
        .rate(u64::from(args.rate) * 1000)
}

/// The links that leave one host, by their destinations.
#[derive(Debug, Default)]
pub(crate) struct Conditioner {
    links: BTreeMap<SocketAddr, Link>,
}

impl Conditioner {
    /// Adds a link. `seed` decides what it loses and delays.
    pub(crate) fn add(&mut self, to: SocketAddr, config: LinkConfig, seed: Seed) {
        self.links.insert(to, Link::new(config, seed));
    }

    /// Bytes of UDP payload that were sent to this address.
    pub(crate) fn bytes(&self, to: SocketAddr) -> u64 {
        self.links
            .get(&to)
            .map_or(0, |link| link.stats().bytes_sent)
    }
}

impl porous_std::Conditioner for Conditioner {
    /// Takes every datagram. One to an address without a link is lost: no host of the demo is there.
    fn take(&mut self, now: Instant, to: SocketAddr, datagram: &[u8]) -> bool {
        if let Some(link) = self.links.get_mut(&to) {
            link.send(now, datagram);
        }
        true
    }

    fn release(&mut self, now: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        self.links
            .iter_mut()
            // Any link that has a datagram: each keeps its own order.
            .find_map(|(&to, link)| Some((to, link.receive(now)?)))
    }

    fn next_release(&self) -> Option<Instant> {
        self.links.values().filter_map(Link::next_delivery).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::time::Duration;
    use porous_std::Conditioner as _;

    #[test]
    fn delays_counts_and_keeps_apart() {
        let [a, b, stranger] = [1, 2, 3].map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
        let mut conditioner = Conditioner::default();
        let config = LinkConfig::new().delay(Duration::from_millis(3));
        conditioner.add(a, config, Seed::new(1));
        conditioner.add(b, config.loss(100.0), Seed::new(2));
        for to in [a, b, stranger] {
            assert!(conditioner.take(Instant::ZERO, to, b"four"));
        }
        assert_eq!([a, b, stranger].map(|to| conditioner.bytes(to)), [4, 4, 0]);
        let due = Instant::from_micros(3000);
        assert_eq!(conditioner.next_release(), Some(due));
        assert_eq!(conditioner.release(Instant::from_micros(2999)), None);
        assert_eq!(conditioner.release(due), Some((a, b"four".to_vec())));
        assert_eq!(conditioner.release(due), None);
    }
}
