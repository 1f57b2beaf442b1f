//! The books of a host.

use alloc::vec::Vec;

use rand_core::CryptoRng;

use super::{Address, Host, PeerId};
use crate::audit::Audit;
use crate::peer::{Peer, PeerState};

impl<R: CryptoRng, A: Address> Host<R, A> {
    /// Counts everything again, and says what there is. For tests; it looks at all there is.
    ///
    /// # Panics
    ///
    /// If something is counted wrong, without a deadline, or over a limit.
    #[doc(hidden)]
    #[must_use]
    pub fn audit(&self) -> Audit {
        let mut audit = Audit {
            replies: self.replies.len(),
            ..Audit::default()
        };
        self.cap.audit(self.max_datagram_size() as u64);
        let mut inbound = Vec::new();
        for (id, peer) in self.peers.iter() {
            audit.peers += 1;
            let ended = matches!(peer.state(), PeerState::Disconnected | PeerState::Zombie);
            if peer.is_inbound() && !ended {
                inbound.push(id.slot);
            }
            peer.audit(&mut audit);
            let most = u64::from(self.config.receive_budget);
            self.kept.audit((id.slot, peer.kept()), most);
            // It may come too early: what puts a deadline off need not be told.
            let (set, due) = (self.schedule.deadline(id.slot), peer.next_deadline());
            assert!(set <= due, "{id:?}: {set:?} is too late for {due:?}");
        }
        let indexed = self.peers.indexed();
        assert_eq!(indexed, [audit.peers, audit.peers], "indices of peers");
        self.inbound.audit(&inbound, &self.config);
        let max = self.config.max_peers as usize;
        assert!(self.lingering.len() <= 2 * max, "lingering peers");
        audit
    }

    /// All peers, those included that have ended and linger. For tests.
    #[doc(hidden)]
    pub fn all_peers(&self) -> impl Iterator<Item = (PeerId, &Peer)> {
        self.peers.iter()
    }
}
