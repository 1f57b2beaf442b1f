//! Interception, by which a test decides about single datagrams.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use porous_proto::{Ecn, Instant};

use crate::{Network, SimAddress};

/// The decision of a hook about a datagram that a host sends. A datagram that passes then meets the
/// conditions of its link like any other.
///
/// ```
/// use porous_sim::Intercept;
///
/// let lose = |yes: bool| if yes { Intercept::Drop } else { Intercept::Pass };
/// assert_eq!(lose(true), Intercept::Drop);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Intercept {
    /// The datagram goes its way.
    Pass,
    /// The datagram vanishes.
    Drop,
    /// The datagram goes its way, and so does a copy right behind it.
    Duplicate,
    /// The datagram enters its link only after this time.
    Delay(Duration),
    /// The datagram enters its link right behind the next one of its direction that passes: the two
    /// change places. If no other follows, it never arrives.
    Hold,
    /// These bytes go in place of the datagram: a damaged copy, for example.
    Replace(Vec<u8>),
}

/// A datagram that a host has just handed to the network.
///
/// ```
/// use porous_sim::{Intercept, Passing};
///
/// // The fourth datagram from 1 to 2 gets lost.
/// fn hook(passing: &Passing<'_, u32>) -> Intercept {
///     match (passing.from, passing.to, passing.nth) {
///         (1, 2, 3) => Intercept::Drop,
///         _ => Intercept::Pass,
///     }
/// }
/// # let _ = hook;
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Passing<'a, A> {
    /// The number of datagrams that this hook has seen before.
    pub number: u64,
    /// The number of datagrams before from the same sender to the same receiver.
    pub nth: u64,
    /// When the datagram was sent.
    pub now: Instant,
    /// The sender.
    pub from: A,
    /// The receiver that it is addressed to.
    pub to: A,
    /// The bytes of the datagram.
    pub datagram: &'a [u8],
}

/// What decides about the datagrams that hosts send.
pub(crate) type Hook<A> = Box<dyn FnMut(&Passing<'_, A>) -> Intercept>;

/// The gate between the hosts and the network: the hook, and the datagrams that it keeps back.
pub(crate) struct Gate<A> {
    hook: Option<Hook<A>>,
    number: u64,
    nth: BTreeMap<(A, A), u64>,
    held: BTreeMap<(A, A), Vec<Marked>>,
    /// Delayed datagrams by the time at which they go on, then by number.
    delayed: BTreeMap<(Instant, u64), Delayed<A>>,
}

type Delayed<A> = ((A, A), Marked);

/// The ECN field of the IP header, and the bytes of the datagram.
type Marked = (Ecn, Vec<u8>);

impl<A: SimAddress> Gate<A> {
    pub(crate) const fn new() -> Self {
        Self {
            hook: None,
            number: 0,
            nth: BTreeMap::new(),
            held: BTreeMap::new(),
            delayed: BTreeMap::new(),
        }
    }

    /// Sets the hook, whose counts begin at zero, or takes it away.
    pub(crate) fn set(&mut self, hook: Option<Hook<A>>) {
        self.hook = hook;
        self.nth.clear();
        self.number = 0;
    }

    /// When the next delayed datagram goes on.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.delayed.keys().next().map(|&(at, _)| at)
    }

    /// Sends the delayed datagrams whose time has come.
    pub(crate) fn release(&mut self, now: Instant, network: &mut Network<A>) {
        while let Some(entry) = self.delayed.first_entry().filter(|e| e.key().0 <= now) {
            let (pair, (ecn, datagram)) = entry.remove();
            network.send_marked(now, pair, ecn, datagram);
        }
    }

    /// Sends a datagram, or the one that the hook puts in its place.
    pub(crate) fn send(
        &mut self,
        now: Instant,
        pair: (A, A),
        (ecn, datagram): Marked,
        network: &mut Network<A>,
    ) {
        match self.ask(now, pair, &datagram) {
            Intercept::Pass => self.pass(now, pair, (ecn, datagram), network),
            Intercept::Duplicate => {
                note(network, pair, "a copy is made");
                // Both go through the link, so that each has a fate of its own.
                network.send_marked(now, pair, ecn, datagram.clone());
                self.pass(now, pair, (ecn, datagram), network);
            }
            Intercept::Replace(other) => {
                note(network, pair, "replaced");
                self.pass(now, pair, (ecn, other), network);
            }
            Intercept::Drop => note(network, pair, "dropped by hand"),
            Intercept::Hold => {
                note(network, pair, "held");
                self.held.entry(pair).or_default().push((ecn, datagram));
            }
            Intercept::Delay(by) => {
                note(network, pair, "delayed by hand");
                // Not into the link with a longer delay: the datagram then meets the link as it is at that
                // time.
                let key = self.vacant(now + by);
                self.delayed.insert(key, (pair, (ecn, datagram)));
            }
        }
    }

    fn ask(&mut self, now: Instant, (from, to): (A, A), datagram: &[u8]) -> Intercept {
        let Some(hook) = &mut self.hook else {
            return Intercept::Pass;
        };
        let nth = self.nth.entry((from, to)).or_default();
        let passing = Passing {
            number: self.number,
            nth: *nth,
            now,
            from,
            to,
            datagram,
        };
        *nth += 1;
        self.number += 1;
        hook(&passing)
    }

    /// Sends `datagram` and the datagrams held for it.
    fn pass(
        &mut self,
        now: Instant,
        pair: (A, A),
        (ecn, datagram): Marked,
        network: &mut Network<A>,
    ) {
        network.send_marked(now, pair, ecn, datagram);
        for (ecn, held) in self.held.remove(&pair).unwrap_or_default() {
            network.send_marked(now, pair, ecn, held);
        }
    }

    /// A key for this time, behind all datagrams that go on at the same time.
    fn vacant(&self, at: Instant) -> (Instant, u64) {
        let last = self
            .delayed
            .range((at, 0)..=(at, u64::MAX))
            .next_back()
            .map(|(&(_, n), _)| n);
        (at, last.map_or(0, |n| n + 1))
    }
}

fn note<A: SimAddress>(network: &mut Network<A>, (from, to): (A, A), what: &str) {
    network.note(&format!("{from:?} -> {to:?} {what}"));
}

impl<A: fmt::Debug> fmt::Debug for Gate<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate")
            .field("hook", &self.hook.is_some())
            .field("number", &self.number)
            .field("held", &self.held)
            .field("delayed", &self.delayed)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LinkConfig, Seed};
    use alloc::vec;

    /// Sends datagrams 0, 1, 2... from 1 to 2, a microsecond apart, and returns what arrives.
    fn through(count: u8, hook: impl FnMut(&Passing<'_, u32>) -> Intercept + 'static) -> Vec<u8> {
        let mut network = Network::new(Seed::new(1), LinkConfig::new());
        let mut gate = Gate::new();
        gate.set(Some(Box::new(hook)));
        let mut got = Vec::new();
        for n in 0..20 {
            let now = Instant::from_micros(n.into());
            gate.release(now, &mut network);
            if n < count {
                gate.send(now, (1, 2), (Ecn::NotEct, vec![n]), &mut network);
            }
            while let Some((.., datagram)) = network.receive(now) {
                got.extend(datagram);
            }
        }
        assert_eq!(gate.next(), None);
        got
    }

    /// A hook that decides about datagram 1 and lets the others pass.
    fn second(what: Intercept) -> impl FnMut(&Passing<'_, u32>) -> Intercept {
        move |p| {
            if p.nth == 1 {
                what.clone()
            } else {
                Intercept::Pass
            }
        }
    }

    #[test]
    fn every_decision_does_what_it_says() {
        assert_eq!(through(4, second(Intercept::Pass)), [0, 1, 2, 3]);
        assert_eq!(through(4, second(Intercept::Drop)), [0, 2, 3]);
        assert_eq!(through(4, second(Intercept::Duplicate)), [0, 1, 1, 2, 3]);
        assert_eq!(through(4, second(Intercept::Hold)), [0, 2, 1, 3]);
        assert_eq!(through(2, second(Intercept::Hold)), [0]);
        let late = Intercept::Delay(Duration::from_micros(2));
        assert_eq!(through(5, second(late)), [0, 2, 1, 3, 4]);
        assert_eq!(through(3, second(Intercept::Replace(vec![9]))), [0, 9, 2]);
    }

    #[test]
    fn several_may_be_held_or_delayed() {
        let hold = |p: &Passing<'_, u32>| match p.nth {
            0 | 1 => Intercept::Hold,
            _ => Intercept::Pass,
        };
        assert_eq!(through(4, hold), [2, 0, 1, 3]);
        // All go on at 10 us, in the order in which they came.
        let delay = |p: &Passing<'_, u32>| {
            let past = Duration::from_micros(p.now.as_micros());
            Intercept::Delay(Duration::from_micros(10) - past)
        };
        assert_eq!(through(3, delay), [0, 1, 2]);
    }

    #[test]
    fn directions_are_counted_apart() {
        let mut network: Network<u32> = Network::new(Seed::new(1), LinkConfig::new());
        let mut gate = Gate::new();
        gate.set(Some(Box::new(|p| match (p.from, p.number, p.nth) {
            (1, 0, 0) | (2, 1, 0) | (1, 2, 1) => Intercept::Pass,
            _ => unreachable!("{p:?}"),
        })));
        for pair in [(1, 2), (2, 1), (1, 2)] {
            gate.send(Instant::ZERO, pair, (Ecn::NotEct, vec![0]), &mut network);
        }
        assert_eq!(network.stats().sent, 3);
    }
}
