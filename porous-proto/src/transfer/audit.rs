//! The books of the transfer layer.

use super::Transfer;
use crate::audit::Audit;

impl Transfer {
    /// # Panics
    ///
    /// If the flight size is not the sum of its parts, or a message is in no list.
    pub(crate) fn audit(&self, audit: &mut Audit) {
        let in_flight: u64 = self
            .queue
            .outstanding()
            .map(|(sent, _)| u64::from(sent.bytes()))
            .sum();
        assert_eq!(u64::from(self.queue.flight()), in_flight, "flight size");
        let lists = self.send_queue.lists();
        let lists = lists.chain(self.queue.outstanding().map(|(_, contents)| contents));
        let lists = lists.chain(self.copies.lists());
        let listed = lists.map(|list| self.store.len(list)).sum();
        assert_eq!(self.store.used(), listed, "messages that no list leads to");
        self.path.control.audit(self.params.path_mtu.into());
        audit.flight += in_flight;
        audit.messages += listed;
    }
}
