//! The times at which hosts are to be called, in one order.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use porous_proto::Instant;

/// At most one appointment for each address.
#[derive(Clone, Debug)]
pub(crate) struct Agenda<A> {
    of: BTreeMap<A, Instant>,
    /// The same appointments by time, then by address.
    order: BTreeSet<(Instant, A)>,
}

impl<A: Copy + Ord> Agenda<A> {
    pub(crate) const fn new() -> Self {
        Self {
            of: BTreeMap::new(),
            order: BTreeSet::new(),
        }
    }

    /// Replaces the appointment of `address`.
    pub(crate) fn set(&mut self, address: A, at: Option<Instant>) {
        let before = match at {
            Some(at) => self.of.insert(address, at),
            None => self.of.remove(&address),
        };
        if before == at {
            return;
        }
        if let Some(before) = before {
            self.order.remove(&(before, address));
        }
        if let Some(at) = at {
            self.order.insert((at, address));
        }
    }

    /// The earliest appointment.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.order.first().map(|&(at, _)| at)
    }

    /// The addresses to be called at `now` or before, by time, then by address.
    pub(crate) fn due(&self, now: Instant) -> Vec<A> {
        self.order
            .iter()
            .take_while(|(at, _)| *at <= now)
            .map(|&(_, address)| address)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Instant {
        Instant::from_micros(micros)
    }

    #[test]
    fn by_time_then_by_address() {
        let mut agenda = Agenda::new();
        for (address, time) in [(3, 10), (2, 10), (1, 20), (4, 5)] {
            agenda.set(address, Some(at(time)));
        }
        assert_eq!(agenda.next(), Some(at(5)));
        assert_eq!(agenda.due(at(19)), [4, 2, 3]);
    }

    #[test]
    fn an_appointment_replaces_the_one_before() {
        let mut agenda = Agenda::new();
        agenda.set(1, Some(at(10)));
        agenda.set(1, Some(at(30)));
        agenda.set(1, Some(at(30)));
        assert_eq!(agenda.due(at(100)), [1]);
        assert_eq!(agenda.next(), Some(at(30)));
        agenda.set(1, None);
        assert_eq!(agenda.next(), None);
        assert!(agenda.due(at(100)).is_empty());
    }
}
