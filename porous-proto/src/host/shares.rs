//! What one peer or one source may take, so that something is left to others (`docs/limits.md`,
//! "Peers"): places of peers that connect to us, memory for received packets, and what is kept of
//! peers that have ended.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::net::IpAddr;

use super::table::Table;
use crate::config::Config;
use crate::ids::{Address, PeerId, Slot};
use crate::peer::LINGER;
use crate::time::Instant;

/// What the addresses of one owner have in common.
pub(super) type Source = [u8; 16];

/// The source whose peers are not limited.
const NOBODY: Source = [0; 16];

/// The source of a peer at this IP address, for
/// [`Host::set_source_of`](super::Host::set_source_of). Each IPv4 address is a source, also where it is
/// written as an IPv6 address. Of an IPv6 address the first 64 bits are the source: a subscriber has
/// all addresses with that prefix. Loopback addresses have no source, which 16 zeros say: programs on
/// the same machine are not limited.
///
/// ```
/// use core::net::SocketAddr;
/// use porous_proto::{Config, Host, ip_source};
/// # use porous_proto::hooks::doc::example_rng;
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
    // A socket of both families gives IPv4 addresses as IPv6 ones.
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
    /// The slots and sources of the peers that are counted by source.
    sources: Vec<(Slot, Source)>,
}

impl<A: Address> Inbound<A> {
    pub(super) const fn new() -> Self {
        Self {
            count: 0,
            source_of: |_| NOBODY,
            sources: Vec::new(),
        }
    }

    pub(super) const fn set_source_of(&mut self, source_of: fn(&A) -> Source) {
        self.source_of = source_of;
    }

    pub(super) const fn count(&self) -> u32 {
        self.count
    }

    /// Whether one more peer of the source of this address may connect.
    pub(super) fn has_place(&self, from: &A, config: &Config) -> bool {
        let source = (self.source_of)(from);
        // Looks at all peers with a source, which only a proved address may make the host do.
        let is_same = |other: &&(Slot, Source)| other.1 == source;
        let others = || self.sources.iter().filter(is_same).count() as u64;
        source == NOBODY || others() < u64::from(config.budgets.peers_per_source())
    }

    pub(super) fn insert(&mut self, slot: Slot, from: &A) {
        self.count += 1;
        let source = (self.source_of)(from);
        if source != NOBODY {
            self.sources.push((slot, source));
        }
    }

    /// Frees the place of a peer that has ended.
    pub(super) fn remove(&mut self, slot: Slot) {
        self.count -= 1;
        let mut slots = self.sources.iter().map(|&(slot, _)| slot);
        if let Some(place) = slots.position(|other| other == slot) {
            self.sources.swap_remove(place);
        }
    }

    /// # Panics
    ///
    /// If something is counted wrong or over a limit, where `live` are the inbound peers that live.
    #[cfg(any(test, feature = "audit"))]
    pub(super) fn audit(&self, live: &[Slot], config: &Config) {
        assert_eq!(self.count as usize, live.len(), "inbound peers");
        assert!(self.count <= config.budgets.max_peers, "inbound peers");
        for (slot, source) in &self.sources {
            assert!(live.contains(slot), "the source of a peer that ended");
            let same = self.sources.iter().filter(|other| other.1 == *source);
            let most = config.budgets.peers_per_source() as usize;
            assert!(same.count() <= most, "peers of a source");
        }
    }
}

/// The memory of received packets of all peers that the application has not pulled, in bytes. Half of
/// the host's budget is divided: each peer has its share, whatever others take. The other half is
/// common: it goes to the peers that first need more than their shares.
#[derive(Debug)]
pub(super) struct Kept {
    /// Bytes that each peer has for itself.
    share: u64,
    /// Bytes that all peers have in common, beside their shares.
    common: u64,
    /// Bytes that each peer takes of the common part, by slot.
    beyond: Vec<u64>,
    /// The sum of `beyond`.
    used: u64,
    /// The peer that may exceed the common part, until it is back at its share.
    turn: Option<Slot>,
}

impl Kept {
    pub(super) fn new(config: &Config) -> Self {
        let half = config.budgets.host_receive_budget / 2;
        Self {
            // Peers that this host connects to have a share, too, although `max_peers` does not count them:
            // their number is the application's own choice.
            share: half / u64::from(config.budgets.max_peers.max(1)),
            common: half,
            beyond: Vec::new(),
            used: 0,
            turn: None,
        }
    }

    /// Notes that a datagram of this peer found no room: the turn is this peer's, unless it is another
    /// one's, or this peer keeps to its share.
    pub(super) fn refuse(&mut self, slot: Slot) {
        // Parts of large packets cannot be pulled: peers that all have parts, and no room for the rest,
        // would wait for each other for ever. One at a time may finish its packet.
        if self.beyond(slot) > 0 {
            self.turn.get_or_insert(slot);
        }
    }

    /// The most bytes that packets of this peer may take now. Its own receive budget holds beside that.
    pub(super) fn limit(&self, slot: Slot) -> u64 {
        if self.turn == Some(slot) {
            return u64::MAX; // its own receive budget is bound enough
        }
        // Others may use more than the common part together: the one that has its turn.
        let others = self.used.saturating_sub(self.beyond(slot));
        self.share
            .saturating_add(self.common.saturating_sub(others))
    }

    fn beyond(&self, slot: Slot) -> u64 {
        self.beyond.get(slot.index()).copied().unwrap_or(0)
    }

    /// Notes the number of bytes that the packets of this peer take.
    pub(super) fn set(&mut self, slot: Slot, bytes: u64) {
        let beyond = bytes.saturating_sub(self.share);
        if beyond == 0 && self.beyond.is_empty() {
            return; // no peer has ever needed more than its share
        }
        self.used = self.used.saturating_sub(self.beyond(slot)) + beyond;
        let place = slot.index();
        // Most peers keep to their shares, and need no entry.
        if beyond > 0 && place >= self.beyond.len() {
            self.beyond.resize(place + 1, 0);
        }
        if let Some(own) = self.beyond.get_mut(place) {
            *own = beyond;
        }
        // Back at its share: the turn is the next one's that finds no room.
        if beyond == 0 && self.turn == Some(slot) {
            self.turn = None;
        }
    }

    /// # Panics
    ///
    /// If this peer, whose packets take this number of bytes, is written down wrong, or all take too
    /// much, where one may have this receive budget.
    #[cfg(any(test, feature = "audit"))]
    pub(super) fn audit(&self, slot: Slot, bytes: u64, receive_budget: u64) {
        assert_eq!(
            self.beyond(slot),
            bytes.saturating_sub(self.share),
            "kept of {slot:?}"
        );
        assert_eq!(self.used, self.beyond.iter().sum::<u64>(), "kept of all");
        assert!(self.used <= self.common + receive_budget, "{self:?}");
    }
}

/// Peers that have ended and linger, so that a late datagram of their connections makes no new peer
/// (`docs/deviations.md` C7): at most two for each peer that may connect to us.
#[derive(Debug)]
pub(super) struct Lingering {
    /// The oldest first; some may be deleted already.
    queue: VecDeque<PeerId>,
    most: usize,
    /// Until then, a request may come again whose peer was deleted before its time.
    forgetful_until: Instant,
}

impl Lingering {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            queue: VecDeque::new(),
            // What a host that lets nobody in has connected to lingers as well, each for itself.
            most: (config.budgets.max_peers as usize).max(1).saturating_mul(2),
            forgetful_until: Instant::ZERO,
        }
    }

    pub(super) fn push(&mut self, peer: PeerId) {
        self.queue.push_back(peer);
    }

    /// Takes out the oldest peer if there are too many: it has to be deleted.
    pub(super) fn pop_excess<A: Address>(
        &mut self,
        table: &Table<A>,
        now: Instant,
    ) -> Option<Slot> {
        while let Some(&id) = self.queue.front() {
            // Peers that were deleted in their time stay in the queue until they reach its front.
            let is_there = table.get(id).is_some();
            if is_there && self.queue.len() <= self.most {
                return None;
            }
            self.queue.pop_front();
            if is_there {
                // For as long as its cookie may still be good, newcomers have to prove themselves (P3).
                self.forgetful_until = now + LINGER;
                return Some(id.slot);
            }
        }
        None
    }

    /// Whether the request of a peer that was deleted early may come again.
    pub(super) fn is_forgetful(&self, now: Instant) -> bool {
        now < self.forgetful_until
    }

    /// # Panics
    ///
    /// If there are too many.
    #[cfg(any(test, feature = "audit"))]
    pub(super) fn audit(&self) {
        assert!(self.queue.len() <= self.most, "lingering peers");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Slot = Slot::new(0);
    const B: Slot = Slot::new(1);
    const C: Slot = Slot::new(2);

    #[test]
    fn a_share_is_left_to_each_peer_whatever_others_take() {
        let config = Config::new().max_peers(10).host_receive_budget(20_000);
        let mut kept = Kept::new(&config);
        assert_eq!(kept.limit(A), 11_000);
        kept.set(A, 11_000);
        assert_eq!([kept.limit(A), kept.limit(B)], [11_000, 1000]);
        kept.set(A, 4000);
        kept.set(B, 900);
        assert_eq!([kept.limit(A), kept.limit(B)], [11_000, 8000]);
        kept.set(A, 0);
        assert_eq!((kept.limit(B), kept.used), (11_000, 0));
    }

    #[test]
    fn one_peer_at_a_time_has_its_turn_until_it_is_back_at_its_share() {
        let config = Config::new().max_peers(10).host_receive_budget(20_000);
        let mut kept = Kept::new(&config);
        kept.set(A, 6000);
        kept.set(B, 6000);
        assert_eq!([A, B].map(|slot| kept.limit(slot)), [6000; 2]);
        [C, B, A].into_iter().for_each(|slot| kept.refuse(slot));
        kept.set(B, 50_000);
        assert_eq!([A, B].map(|slot| kept.limit(slot)), [1000, u64::MAX]);
        kept.set(B, 1000);
        assert_eq!([A, B].map(|slot| kept.limit(slot)), [11_000, 6000]);
        kept.refuse(A);
        assert_eq!([A, B].map(|slot| kept.limit(slot)), [u64::MAX, 6000]);
    }

    #[test]
    fn no_budget_is_too_small_or_too_large() {
        for (peers, budget) in [(0, 0), (u32::MAX, 1), (1, u64::MAX), (u32::MAX, u64::MAX)] {
            let config = Config::new().max_peers(peers).host_receive_budget(budget);
            let mut kept = Kept::new(&config);
            for slot in [A, B, C] {
                kept.set(slot, kept.limit(slot));
                kept.audit(slot, kept.share + kept.beyond(slot), 0);
            }
            assert!(kept.used <= budget / 2);
        }
    }
}
