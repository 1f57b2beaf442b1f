//! The books of a peer.

use super::{Deadline, Peer, PeerState};
use crate::audit::Audit;

impl Peer {
    /// # Panics
    ///
    /// If the books of a layer are wrong, or if it lives without a deadline: then nothing would
    /// ever end it.
    pub(crate) fn audit(&self, audit: &mut Audit) {
        let waits_for_reader = self.state == PeerState::Zombie && self.session.is_some();
        let timed = !self.deadlines.next().is_never() || waits_for_reader;
        assert!(timed, "no deadline: {self:?}");
        if let Some(session) = &self.session {
            let (set, due) = (self.deadlines.get(Deadline::Session), session.deadline());
            let in_time = set <= due || self.state != PeerState::Connected;
            assert!(in_time, "{set:?} is too late, {due:?} is due: {self:?}");
            session.audit(audit);
        }
    }
}
