//! What received packets of all peers take until the application pulls them (`docs/limits.md`, "Peers").
//! Half of what all may take is divided: each peer has its share of that, whatever others do. What is
//! beyond comes out of the other half, for whoever comes first.

use alloc::collections::BTreeMap;

use crate::config::Config;

/// The books.
#[derive(Debug)]
pub(super) struct Kept {
    /// What each peer has for itself.
    share: u64,
    /// What all have in common beside that.
    common: u64,
    /// Of it, what each peer takes that has more than its share, by slot.
    beyond: BTreeMap<u32, u64>,
    /// All of those together.
    used: u64,
}

impl Kept {
    pub(super) fn new(config: &Config) -> Self {
        let half = config.host_receive_budget / 2;
        Self {
            share: half / u64::from(config.max_peers.max(1)),
            common: half,
            beyond: BTreeMap::new(),
            used: 0,
        }
    }

    /// The most that packets of this peer may take now.
    pub(super) fn limit(&self, slot: u32) -> u64 {
        let own = self.beyond.get(&slot).copied().unwrap_or(0);
        let others = self.used.saturating_sub(own);
        self.share
            .saturating_add(self.common.saturating_sub(others))
    }

    /// So much they take.
    pub(super) fn set(&mut self, slot: u32, bytes: u64) {
        let beyond = bytes.saturating_sub(self.share);
        let before = if beyond > 0 {
            self.beyond.insert(slot, beyond)
        } else {
            self.beyond.remove(&slot)
        };
        self.used = self.used.saturating_sub(before.unwrap_or(0)) + beyond;
    }

    /// # Panics
    ///
    /// If this peer, whose packets take so much, is written down wrong, or all take too much.
    #[cfg(any(test, feature = "audit"))]
    pub(super) fn audit(&self, slot: u32, bytes: u64) {
        let beyond = self.beyond.get(&slot).copied().unwrap_or(0);
        assert_eq!(beyond, bytes.saturating_sub(self.share), "kept of {slot}");
        assert_eq!(self.used, self.beyond.values().sum(), "kept of all");
        assert!(self.used <= self.common, "{self:?}");
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
    fn no_budget_is_too_small_or_too_large() {
        for (peers, budget) in [(0, 0), (u32::MAX, 1), (1, u64::MAX), (u32::MAX, u64::MAX)] {
            let config = Config::new().max_peers(peers).host_receive_budget(budget);
            let mut kept = Kept::new(&config);
            for slot in 0..3 {
                kept.set(slot, kept.limit(slot));
                kept.audit(
                    slot,
                    kept.share + kept.beyond.get(&slot).copied().unwrap_or(0),
                );
            }
            assert!(kept.used <= budget / 2);
        }
    }
}
