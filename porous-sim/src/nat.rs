//! Routers that hide a host behind an address of their own.

use alloc::collections::BTreeMap;
use core::time::Duration;

use porous_proto::Instant;

use crate::SimAddress;

/// All routers of a world, by the host behind each.
#[derive(Debug)]
pub(crate) struct Nats<A> {
    nats: BTreeMap<A, Nat<A>>,
    /// Who is behind an outside address.
    inside: BTreeMap<A, A>,
}

/// The mapping of one host: one outside address for all that it talks to, and in comes only who
/// was written to (RFC 4787: endpoint-independent mapping, address-and-port-dependent filtering).
#[derive(Debug)]
struct Nat<A> {
    outside: A,
    /// For how long a way in stays open after the last datagram that went out by it.
    timeout: Duration,
    open_until: BTreeMap<A, Instant>,
}

impl<A: SimAddress> Nats<A> {
    pub(crate) const fn new() -> Self {
        Self {
            nats: BTreeMap::new(),
            inside: BTreeMap::new(),
        }
    }

    /// Puts a host behind an outside address, or behind another one: then all ways in are shut.
    /// Returns the outside address before.
    pub(crate) fn set(&mut self, host: A, outside: A, timeout: Duration) -> Option<A> {
        let nat = Nat {
            outside,
            timeout,
            open_until: BTreeMap::new(),
        };
        let before = self.nats.insert(host, nat).map(|nat| nat.outside);
        if let Some(before) = before {
            self.inside.remove(&before);
        }
        self.inside.insert(outside, host);
        before
    }

    /// The timeout of a host's router, if it is behind one.
    pub(crate) fn timeout(&self, host: A) -> Option<Duration> {
        self.nats.get(&host).map(|nat| nat.timeout)
    }

    /// A datagram goes out: the address that it seems to come from.
    pub(crate) fn leaves(&mut self, now: Instant, host: A, to: A) -> A {
        let Some(nat) = self.nats.get_mut(&host) else {
            return host;
        };
        nat.open_until.retain(|_, until| *until >= now);
        nat.open_until.insert(to, now + nat.timeout);
        nat.outside
    }

    /// A datagram comes to an address: who gets it, if anyone does.
    pub(crate) fn arrives(&self, now: Instant, from: A, to: A) -> Option<A> {
        if self.nats.contains_key(&to) {
            // Nobody outside can reach an inside address.
            return None;
        }
        let Some(host) = self.inside.get(&to) else {
            return Some(to);
        };
        let open_until = self.nats.get(host)?.open_until.get(&from)?;
        (*open_until >= now).then_some(*host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_micros(10);

    fn at(micros: u64) -> Instant {
        Instant::from_micros(micros)
    }

    #[test]
    fn without_a_router_nothing_changes() {
        let mut nats = Nats::new();
        assert_eq!(nats.leaves(at(0), 1, 2), 1);
        assert_eq!(nats.arrives(at(0), 1, 2), Some(2));
        assert_eq!(nats.timeout(1), None);
    }

    #[test]
    fn in_comes_who_was_written_to_for_a_while() {
        let mut nats = Nats::new();
        assert_eq!(nats.set(1, 100, TIMEOUT), None);
        assert_eq!(nats.arrives(at(0), 2, 100), None);
        assert_eq!(nats.leaves(at(0), 1, 2), 100);
        assert_eq!(nats.arrives(at(10), 2, 100), Some(1));
        assert_eq!(nats.arrives(at(10), 3, 100), None, "another");
        assert_eq!(nats.arrives(at(11), 2, 100), None, "too late");
        assert_eq!(nats.arrives(at(1), 2, 1), None, "the inside address");
    }

    #[test]
    fn a_new_mapping_shuts_all_ways_in() {
        let mut nats = Nats::new();
        nats.set(1, 100, TIMEOUT);
        nats.leaves(at(0), 1, 2);
        assert_eq!(nats.set(1, 101, TIMEOUT), Some(100));
        assert_eq!(nats.arrives(at(1), 2, 100), Some(100), "nobody's now");
        assert_eq!(nats.arrives(at(1), 2, 101), None);
        assert_eq!(nats.leaves(at(1), 1, 2), 101);
        assert_eq!(nats.arrives(at(2), 2, 101), Some(1));
    }
}
