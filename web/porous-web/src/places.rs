//! How many sessions and handshakes there are, in all and of each IP address.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use core::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use porous_proto::ip_source;

use crate::settings::Limits;

#[derive(Debug, Default)]
struct Taken {
    sessions: usize,
    handshakes: usize,
    /// Sessions and handshakes, by the owner of the address: an owner of IPv6 has many addresses.
    by_source: BTreeMap<[u8; 16], usize>,
    refused: u64,
}

/// The places of a host.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    limits: Limits,
    taken: Arc<Mutex<Taken>>,
}

/// Whether a stranger may begin a handshake.
#[derive(Debug)]
pub(crate) enum Admission {
    Begins(Place),
    /// It has to show first that it is at its address.
    HasToProve,
    Refused,
}

/// A place of one stranger, which is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    places: Places,
    source: [u8; 16],
    is_session: bool,
}

impl Places {
    pub(crate) fn new(limits: Limits) -> Self {
        let taken = Arc::default();
        Self { limits, taken }
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        // Only counts stand behind the lock: they are right whatever panicked.
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sessions and handshakes that were refused.
    pub(crate) fn refused(&self) -> u64 {
        self.taken().refused
    }

    /// A place for a handshake.
    pub(crate) fn admit(&self, ip: IpAddr, is_proved: bool) -> Admission {
        let (limits, source) = (self.limits, ip_source(ip.to_canonical()));
        let mut taken = self.taken();
        let of_source = taken.by_source.get(&source).copied().unwrap_or(0);
        let is_full = taken.sessions >= limits.sessions || taken.handshakes >= limits.handshakes;
        if is_full || of_source >= limits.sessions_per_ip {
            taken.refused += 1;
            return Admission::Refused;
        }
        // Otherwise a sender that forges an address would take its share: one place at most, and never the last.
        let takes_of_share = of_source > 0 || limits.sessions_per_ip == 1;
        let are_many = taken.handshakes >= limits.handshakes / 4;
        if !is_proved && (takes_of_share || are_many) {
            return Admission::HasToProve;
        }
        taken.handshakes += 1;
        taken.by_source.insert(source, of_source + 1);
        Admission::Begins(Place {
            places: self.clone(),
            source,
            is_session: false,
        })
    }
}

impl Place {
    /// The handshake is done. False if there are enough sessions.
    pub(crate) fn becomes_session(&mut self) -> bool {
        let mut taken = self.places.taken();
        if taken.sessions >= self.places.limits.sessions {
            taken.refused += 1;
            return false;
        }
        taken.handshakes -= 1;
        taken.sessions += 1;
        self.is_session = true;
        true
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.taken();
        match self.is_session {
            true => taken.sessions -= 1,
            false => taken.handshakes -= 1,
        }
        if let Some(of_source) = taken.by_source.get_mut(&self.source) {
            *of_source -= 1;
            if *of_source == 0 {
                taken.by_source.remove(&self.source);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::time::Duration;

    fn places(sessions: usize, sessions_per_ip: usize, handshakes: usize) -> Places {
        Places::new(Limits {
            sessions,
            sessions_per_ip,
            handshakes,
            handshake_timeout: Duration::from_secs(1),
        })
    }

    fn place(places: &Places, last: u8) -> Option<Place> {
        match places.admit([192, 0, 2, last].into(), true) {
            Admission::Begins(place) => Some(place),
            Admission::HasToProve | Admission::Refused => None,
        }
    }

    #[test]
    fn one_address_takes_no_more_than_its_share() {
        let places = places(100, 2, 100);
        let first = place(&places, 1);
        let second = place(&places, 1);
        assert!(first.is_some() && second.is_some());
        assert!(place(&places, 1).is_none() && place(&places, 2).is_some());
        drop(first);
        assert!(place(&places, 1).is_some());
        assert_eq!(places.refused(), 1);
        drop(second);
        assert!(places.taken().by_source.is_empty());
    }

    #[test]
    fn sessions_and_handshakes_are_counted_apart() {
        let places = places(1, 9, 2);
        let mut first = place(&places, 1).unwrap();
        let mut second = place(&places, 2).unwrap();
        assert!(place(&places, 3).is_none(), "two handshakes");
        assert!(first.becomes_session());
        assert!(!second.becomes_session(), "one session");
        drop((first, second));
        let taken = places.taken();
        assert_eq!((taken.sessions, taken.handshakes), (0, 0));
    }

    #[test]
    fn a_stranger_proves_its_address_when_there_are_many_handshakes() {
        let places = places(100, 100, 8);
        let mut held = Vec::new();
        for last in 2..4 {
            match places.admit([192, 0, 2, last].into(), false) {
                Admission::Begins(place) => held.push(place),
                other @ (Admission::HasToProve | Admission::Refused) => panic!("{other:?}"),
            }
        }
        let from = [192, 0, 2, 1].into();
        assert!(matches!(places.admit(from, false), Admission::HasToProve));
        assert!(matches!(places.admit(from, true), Admission::Begins(_)));
    }

    #[test]
    fn who_forges_an_address_takes_one_of_its_places_and_never_the_last() {
        for most in 1..4 {
            let places = places(100, most, 100);
            let from = [192, 0, 2, 1].into();
            let forged = [places.admit(from, false), places.admit(from, false)];
            let begun = |it: &&Admission| matches!(it, Admission::Begins(_));
            let taken = forged.iter().filter(begun).count();
            assert_eq!(taken, usize::from(most > 1));
            let held: Vec<_> = (taken..most).map_while(|_| place(&places, 1)).collect();
            assert_eq!(held.len(), most - taken);
            assert!(place(&places, 1).is_none());
        }
    }
}
