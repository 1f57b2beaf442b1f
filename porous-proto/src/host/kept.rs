//! What received packets of all peers take until the application pulls them (`docs/limits.md`, "Peers").
//! Half of what all may take is divided: each peer has its share of that, whatever others do. What is
//! beyond comes out of the other half, for the peers that come first. When that is used up one peer at a time
//! may go on to its own receive budget: parts of large packets cannot be read, so that peers which all
//! have parts would wait for each other for ever.

use alloc::vec::Vec;

use crate::config::Config;

/// The books.
#[derive(Debug)]
pub(super) struct Kept {
    /// What each peer has for itself.
    share: u64,
    /// What all have in common beside that.
    common: u64,
    /// What each peer takes of it, by slot.
    beyond: Vec<u64>,
    /// All of those together.
    used: u64,
    /// The peer that may go on, until it has no more than its share again.
    turn: Option<u32>,
}

impl Kept {
    pub(super) fn new(config: &Config) -> Self {
        let half = config.host_receive_budget / 2;
        Self {
            share: half / u64::from(config.max_peers.max(1)),
            common: half,
            beyond: Vec::new(),
            used: 0,
            turn: None,
        }
    }

    /// A datagram of this peer found no room: it is its turn, unless it is that of another one, or it
    /// keeps to its share.
    pub(super) fn refuse(&mut self, slot: u32) {
        if self.beyond(slot) > 0 {
            self.turn.get_or_insert(slot);
        }
    }

    /// The most that packets of this peer may take now, beside its own receive budget.
    pub(super) fn limit(&self, slot: u32) -> u64 {
        if self.turn == Some(slot) {
            return u64::MAX;
        }
        let others = self.used.saturating_sub(self.beyond(slot));
        self.share
            .saturating_add(self.common.saturating_sub(others))
    }

    fn beyond(&self, slot: u32) -> u64 {
        self.beyond.get(slot as usize).copied().unwrap_or(0)
    }

    /// The packets of this peer take this number of bytes.
    pub(super) fn set(&mut self, slot: u32, bytes: u64) {
        let beyond = bytes.saturating_sub(self.share);
        self.used = self.used.saturating_sub(self.beyond(slot)) + beyond;
        let place = slot as usize;
        if beyond > 0 && place >= self.beyond.len() {
            self.beyond.resize(place + 1, 0);
        }
        if let Some(own) = self.beyond.get_mut(place) {
            *own = beyond;
        }
        if beyond == 0 && self.turn == Some(slot) {
            self.turn = None;
        }
    }

    /// # Panics
    ///
    /// If this peer, whose packets take so much, is written down wrong, or all take too much, where one
    /// may have this receive budget.
    #[cfg(any(test, feature = "audit"))]
    pub(super) fn audit(&self, (slot, bytes): (u32, u64), receive_budget: u64) {
        assert_eq!(
            self.beyond(slot),
            bytes.saturating_sub(self.share),
            "kept of {slot}"
        );
        assert_eq!(self.used, self.beyond.iter().sum::<u64>(), "kept of all");
        assert!(self.used <= self.common + receive_budget, "{self:?}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_left_to_each_peer_whatever_others_take() {
        let config = Config::new().max_peers(10).host_receive_budget(20_000);
        let mut kept = Kept::new(&config);
        assert_eq!(kept.limit(0), 11_000);
        kept.set(0, 11_000);
        assert_eq!([kept.limit(0), kept.limit(1)], [11_000, 1000]);
        kept.set(0, 4000);
        kept.set(1, 900);
        assert_eq!([kept.limit(0), kept.limit(1)], [11_000, 8000]);
        kept.set(0, 0);
        assert_eq!((kept.limit(1), kept.used), (11_000, 0));
    }

    #[test]
    fn one_peer_at_a_time_has_its_turn_until_it_is_back_at_its_share() {
        let config = Config::new().max_peers(10).host_receive_budget(20_000);
        let mut kept = Kept::new(&config);
        kept.set(0, 6000);
        kept.set(1, 6000);
        assert_eq!([0, 1].map(|slot| kept.limit(slot)), [6000; 2]);
        [2, 1, 0].into_iter().for_each(|slot| kept.refuse(slot));
        kept.set(1, 50_000);
        assert_eq!([0, 1].map(|slot| kept.limit(slot)), [1000, u64::MAX]);
        kept.set(1, 1000);
        assert_eq!([0, 1].map(|slot| kept.limit(slot)), [11_000, 6000]);
        kept.refuse(0);
        assert_eq!([0, 1].map(|slot| kept.limit(slot)), [u64::MAX, 6000]);
    }

    #[test]
    fn no_budget_is_too_small_or_too_large() {
        for (peers, budget) in [(0, 0), (u32::MAX, 1), (1, u64::MAX), (u32::MAX, u64::MAX)] {
            let config = Config::new().max_peers(peers).host_receive_budget(budget);
            let mut kept = Kept::new(&config);
            for slot in 0..3 {
                kept.set(slot, kept.limit(slot));
                kept.audit((slot, kept.share + kept.beyond(slot)), 0);
            }
            assert!(kept.used <= budget / 2);
        }
    }
}
