//! The address from which a host answers each peer. For a socket that is bound to all addresses the system
//! would choose it by the route alone; but a host that asked one address takes no answer from another.

use alloc::collections::BTreeMap;
use core::net::{IpAddr, SocketAddr};

use porous_proto::PeerId;

use crate::address::unmapped;

/// Entries below which those of ended peers are never looked for.
const FEW: usize = 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Source {
    ours: IpAddr,
    /// The peer whose datagram was sent to `ours`; `None` if it may have been a stranger's.
    peer: Option<PeerId>,
}

/// For each remote address, the address of this host to which its datagrams were sent.
///
/// The map stays empty until the host listens. A client sends by the best route that the system knows, also
/// when that changes.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    is_on: bool,
    all: BTreeMap<SocketAddr, Source>,
    /// Entries at which those of ended peers are removed.
    limit: usize,
}

impl Sources {
    /// From now on the addresses are remembered.
    pub(crate) const fn remember(&mut self) {
        self.is_on = true;
    }

    /// True if the system chooses the address of this host for all.
    pub(crate) const fn are_the_systems(&self) -> bool {
        !self.is_on
    }

    /// The address of this host from which to send to `to`; `None` lets the system choose.
    pub(crate) fn of(&self, to: SocketAddr) -> Option<IpAddr> {
        self.all.get(&to).map(|source| source.ours)
    }

    /// Notes that a datagram from `from` was sent to `ours`, by `peer` if it was a valid one of a connection.
    pub(crate) fn learn(
        &mut self,
        from: SocketAddr,
        ours: Option<IpAddr>,
        peer: Option<PeerId>,
        is_alive: impl Fn(PeerId) -> bool,
    ) {
        let Some(ours) = ours.filter(|_| self.is_on) else {
            return;
        };
        let source = Source {
            ours: unmapped(ours),
            peer,
        };
        match self.all.get_mut(&from) {
            Some(known) => {
                // Anyone can forge the address that a datagram comes from, so a stranger's changes nothing of
                // a live peer.
                if peer.is_some() || !known.peer.is_some_and(is_alive) {
                    *known = source;
                }
            }
            None => {
                self.make_room(is_alive);
                self.all.insert(from, source);
            }
        }
    }

    /// Forgets the entry of this remote address: the system cannot send from the address that was asked.
    pub(crate) fn forget(&mut self, to: SocketAddr) {
        self.all.remove(&to);
    }

    /// Removes the entries of ended peers and strangers if there are many.
    fn make_room(&mut self, is_alive: impl Fn(PeerId) -> bool) {
        if self.all.len() >= self.limit.max(FEW) {
            self.all
                .retain(|_, source| source.peer.is_some_and(&is_alive));
            // Twice what peers need, so that strangers cannot make it grow, and as many new addresses as
            // there are entries pay for the next look at all of them.
            self.limit = 2 * self.all.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: [IpAddr; 2] = [
        IpAddr::V4(core::net::Ipv4Addr::new(10, 0, 0, 1)),
        IpAddr::V4(core::net::Ipv4Addr::new(10, 0, 0, 2)),
    ];

    fn sources() -> Sources {
        let mut sources = Sources::default();
        sources.remember();
        sources
    }

    fn remote(number: u32) -> SocketAddr {
        (core::net::Ipv4Addr::from(number), 7).into()
    }

    fn peer(number: u64) -> Option<PeerId> {
        PeerId::from_u64(1 << 32 | number)
    }

    #[test]
    fn nothing_is_remembered_before_the_host_listens() {
        let mut sources = Sources::default();
        sources.learn(remote(1), Some(OURS[0]), peer(1), |_| true);
        assert_eq!(sources.of(remote(1)), None);
        sources.remember();
        sources.learn(remote(1), None, peer(1), |_| true);
        assert_eq!(sources.of(remote(1)), None);
        let mapped = "::ffff:10.0.0.1".parse().unwrap();
        sources.learn(remote(1), Some(mapped), peer(1), |_| true);
        assert_eq!(sources.of(remote(1)), Some(OURS[0]));
        sources.forget(remote(1));
        assert_eq!(sources.of(remote(1)), None);
    }

    #[test]
    fn a_stranger_changes_nothing_of_a_peer() {
        let mut sources = sources();
        let mut learn = |ours: usize, peer, alive| {
            sources.learn(remote(1), Some(OURS[ours]), peer, |_| alive);
            sources.of(remote(1)) == Some(OURS[ours])
        };
        assert!(
            learn(0, None, true) && learn(1, None, true),
            "the last counts"
        );
        assert!(learn(0, peer(1), true));
        assert!(!learn(1, None, true), "forged");
        assert!(learn(1, peer(1), true), "the peer itself");
        assert!(learn(0, None, false), "it is gone, and may come again");
    }

    #[test]
    fn strangers_cannot_make_it_grow() {
        let mut sources = sources();
        let is_alive = |peer: PeerId| peer.to_u64() % 2 == 0;
        for number in 0..1000 {
            sources.learn(remote(number), Some(OURS[0]), peer(number.into()), is_alive);
        }
        for number in 1000..100_000 {
            sources.learn(remote(number), Some(OURS[1]), None, is_alive);
            assert!(sources.all.len() <= FEW);
        }
        for number in 0..1000 {
            let known = sources.of(remote(number)).is_some();
            assert_eq!(known, number % 2 == 0, "{number}");
        }
    }

    #[test]
    fn all_peers_have_room() {
        let mut sources = sources();
        for number in 0..10_000 {
            sources.learn(remote(number), Some(OURS[0]), peer(number.into()), |_| true);
        }
        for number in 10_000..100_000 {
            sources.learn(remote(number), Some(OURS[0]), None, |_| true);
            assert!(sources.all.len() <= 20_000);
        }
        assert!((0..10_000).all(|number| sources.of(remote(number)).is_some()));
    }
}
