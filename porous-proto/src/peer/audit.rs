//! The books of a peer.

use super::{Peer, PeerState};
use crate::audit::Audit;

impl Peer {
    /// # Panics
    ///
    /// If the books of a layer are wrong, or if it lives without a deadline: then nothing would
    /// ever end it.
    pub(crate) fn audit(&self, audit: &mut Audit) {
        let waits_for_reader = self.state == PeerState::Zombie && self.session.is_some();
        let timed = !self.next_deadline().is_never() || waits_for_reader;
        assert!(timed, "no deadline: {self:?}");
        if let Some(session) = &self.session {
            session.audit(audit);
        }
    }
}
