//! Routers that hide a host behind addresses of their own.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use porous_proto::Instant;

use crate::SimAddress;
use crate::router::{NatRule, Router};

/// All routers of a world, by the host behind each.
#[derive(Debug)]
pub(crate) struct Nats<A> {
    nats: BTreeMap<A, Nat<A>>,
    /// The host behind each outside address.
    inside: BTreeMap<A, A>,
    /// The local networks, by the hosts in them.
    lans: BTreeMap<A, u32>,
}

/// The router of one host.
#[derive(Debug)]
struct Nat<A> {
    router: Router<A>,
    mappings: Vec<Mapping<A>>,
    /// Mappings made so far, which choose the next outside address.
    made: usize,
}

/// An outside address, and the remote addresses to which it is shown.
#[derive(Debug)]
struct Mapping<A> {
    /// The first remote address to which it was shown.
    to: A,
    outside: A,
    /// For each of these remote addresses, when its way in is shut.
    open_until: BTreeMap<A, Instant>,
}

impl<A: SimAddress> Nat<A> {
    fn is_same(&self, rule: NatRule, a: A, b: A) -> bool {
        match rule {
            NatRule::EndpointIndependent => true,
            NatRule::AddressDependent => (self.router.same_machine)(a, b),
            NatRule::AddressAndPortDependent => a == b,
        }
    }

    /// Forgets ways in whose time is over, and mappings without any.
    fn expire(&mut self, now: Instant) {
        for mapping in &mut self.mappings {
            mapping.open_until.retain(|_, until| *until >= now);
        }
        // The mapping of an endpoint-independent router stays: the host is shown under the same address
        // again, but a remote gets in only after the host has sent to it.
        if self.router.mapping != NatRule::EndpointIndependent {
            self.mappings.retain(|it| !it.open_until.is_empty());
        }
    }

    fn leaves(&mut self, now: Instant, to: A) -> A {
        self.expire(now);
        let rule = self.router.mapping;
        let mine = |it: &Mapping<A>| self.is_same(rule, it.to, to);
        let place = self.mappings.iter().position(mine);
        let place = place.unwrap_or_else(|| {
            let outside = self.router.outside[self.made % self.router.outside.len()];
            self.made += 1;
            self.mappings.push(Mapping {
                to,
                outside,
                open_until: BTreeMap::new(),
            });
            self.mappings.len() - 1
        });
        let mapping = &mut self.mappings[place];
        mapping.open_until.insert(to, now + self.router.timeout);
        mapping.outside
    }

    fn lets_in(&self, now: Instant, from: A, to: A) -> bool {
        let rule = self.router.filtering;
        let forwarded = self.router.forwards && to == self.router.outside[0];
        // The way in is that of one mapping: another mapping of the same host lets its own remotes in.
        let mut here = self.mappings.iter().filter(|it| it.outside == to);
        forwarded
            || here.any(|it| {
                let mut known = it.open_until.iter();
                known.any(|(other, until)| *until >= now && self.is_same(rule, *other, from))
            })
    }
}

impl<A: SimAddress> Nats<A> {
    pub(crate) const fn new() -> Self {
        Self {
            nats: BTreeMap::new(),
            inside: BTreeMap::new(),
            lans: BTreeMap::new(),
        }
    }

    /// Puts a host behind a router, in place of the one that it had: then all ways in are shut. Returns the
    /// first outside address of the router before.
    pub(crate) fn set(&mut self, host: A, router: Router<A>) -> Option<A> {
        let outside = router.outside.clone();
        let nat = Nat {
            router,
            mappings: Vec::new(),
            made: 0,
        };
        let before = self.nats.insert(host, nat).map(|nat| nat.router.outside);
        for outside in before.iter().flatten() {
            self.inside.remove(outside);
        }
        for outside in outside {
            self.inside.insert(outside, host);
        }
        before.and_then(|outside| outside.first().copied())
    }

    /// Puts hosts into one local network.
    pub(crate) fn join(&mut self, hosts: &[A]) {
        let lan = u32::try_from(self.lans.len()).unwrap_or(u32::MAX);
        self.lans.extend(hosts.iter().map(|&host| (host, lan)));
    }

    /// True if both are in one local network.
    fn are_neighbours(&self, a: A, b: A) -> bool {
        let lan = self.lans.get(&a);
        lan.is_some() && lan == self.lans.get(&b)
    }

    /// The router of a host, if it is behind one.
    pub(crate) fn router(&self, host: A) -> Option<&Router<A>> {
        self.nats.get(&host).map(|nat| &nat.router)
    }

    /// Sends a datagram of a host out. Returns the address that it seems to come from.
    pub(crate) fn leaves(&mut self, now: Instant, host: A, to: A) -> A {
        if self.are_neighbours(host, to) {
            return host;
        }
        let nat = self.nats.get_mut(&host);
        nat.map_or(host, |nat| nat.leaves(now, to))
    }

    /// Returns the host that gets a datagram to this address, if any does.
    pub(crate) fn arrives(&self, now: Instant, from: A, to: A) -> Option<A> {
        if self.nats.contains_key(&to) {
            // An inside address cannot be reached from outside.
            return self.are_neighbours(from, to).then_some(to);
        }
        let Some(host) = self.inside.get(&to) else {
            return Some(to);
        };
        let nat = self.nats.get(host)?;
        let from_within = self.inside.get(&from);
        if from_within.is_some_and(|&sender| self.are_neighbours(sender, *host) || sender == *host)
        {
            // A host of the same network calls by the outside address: hairpinning, which not every router
            // can do.
            if !nat.router.hairpins {
                return None;
            }
        }
        nat.lets_in(now, from, to).then_some(*host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: core::time::Duration = core::time::Duration::from_micros(10);

    fn at(micros: u64) -> Instant {
        Instant::from_micros(micros)
    }

    fn home(outside: u32) -> Router<u32> {
        Router::new(&[outside]).timeout(TIMEOUT)
    }

    #[test]
    fn without_a_router_nothing_changes() {
        let mut nats = Nats::new();
        assert_eq!(nats.leaves(at(0), 1, 2), 1);
        assert_eq!(nats.arrives(at(0), 1, 2), Some(2));
        assert!(nats.router(1).is_none());
    }

    #[test]
    fn a_host_that_was_sent_to_is_let_in_for_a_while() {
        let mut nats = Nats::new();
        assert_eq!(nats.set(1, home(100)), None);
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
        nats.set(1, home(100));
        nats.leaves(at(0), 1, 2);
        assert_eq!(nats.set(1, home(101)), Some(100));
        assert_eq!(nats.arrives(at(1), 2, 100), Some(100), "nobody's now");
        assert_eq!(nats.arrives(at(1), 2, 101), None);
        assert_eq!(nats.leaves(at(1), 1, 2), 101);
        assert_eq!(nats.arrives(at(2), 2, 101), Some(1));
    }

    const fn same_ten(a: u32, b: u32) -> bool {
        a / 10 == b / 10
    }

    #[test]
    fn a_mapping_is_for_all_for_a_machine_or_for_a_port() {
        for (rule, shown) in NatRule::ALL
            .into_iter()
            .zip([[1, 1, 1], [1, 1, 2], [1, 2, 3]])
        {
            let router = Router::new(&[101, 102, 103]).mapping(rule);
            let mut nats = Nats::new();
            nats.set(1, router.machines(same_ten));
            for _ in 0..2 {
                let seen = [20, 21, 30].map(|to| nats.leaves(at(0), 1, to) - 100);
                assert_eq!(seen, shown, "{rule:?}");
            }
        }
    }

    #[test]
    fn a_filter_is_for_all_for_a_machine_or_for_a_port() {
        for (rule, open) in NatRule::ALL
            .into_iter()
            .zip([[1, 1, 1], [1, 1, 0], [1, 0, 0]])
        {
            let mut nats = Nats::new();
            nats.set(1, home(100).filtering(rule).machines(same_ten));
            let comes = |nats: &Nats<u32>, now| {
                [20, 21, 30].map(|from| u8::from(nats.arrives(at(now), from, 100).is_some()))
            };
            assert_eq!(comes(&nats, 0), [0; 3], "{rule:?}: there is no mapping");
            nats.leaves(at(0), 1, 20);
            assert_eq!(comes(&nats, 10), open, "{rule:?}");
            assert_eq!(comes(&nats, 11), [0; 3], "{rule:?}: it is forgotten");
        }
    }

    #[test]
    fn neighbours_meet_within_and_outside_only_if_the_router_hairpins() {
        for hairpins in [false, true] {
            let mut nats = Nats::new();
            for host in [1, 2] {
                let router = home(100 + host).filtering(NatRule::EndpointIndependent);
                nats.set(host, if hairpins { router.hairpins() } else { router });
            }
            nats.join(&[1, 2]);
            nats.join(&[3, 4]);
            assert_eq!(nats.leaves(at(0), 1, 2), 1);
            assert_eq!(nats.arrives(at(0), 1, 2), Some(2));
            assert_eq!(nats.arrives(at(0), 3, 2), None, "another network");
            nats.leaves(at(0), 2, 9);
            let seen_as = nats.leaves(at(0), 1, 102);
            let back_in = nats.arrives(at(0), seen_as, 102);
            assert_eq!(back_in, hairpins.then_some(2));
        }
    }

    #[test]
    fn a_port_that_is_forwarded_is_always_open() {
        let mut nats = Nats::new();
        nats.set(1, home(100).forwards());
        assert_eq!(nats.arrives(at(0), 9, 100), Some(1));
    }
}
