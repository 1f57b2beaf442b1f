//! The send queue (§3.1, Figure 5): one for each priority, messages that were dropped before new ones.

use super::store::{List, Outgoing, Store, Ticket};
use crate::config::Priority;

/// Messages of one priority that wait to be sent.
#[derive(Debug, Default)]
struct Level {
    /// Messages to be sent again, in the order in which they were dropped.
    again: List,
    new: List,
}

/// The send queue of one peer.
#[derive(Debug, Default)]
pub(crate) struct SendQueue {
    levels: [Level; 2],
}

impl SendQueue {
    const fn level(&mut self, priority: Priority) -> &mut Level {
        let [high, low] = &mut self.levels;
        match priority {
            Priority::High => high,
            Priority::Low => low,
        }
    }

    /// All lists of messages that wait.
    #[cfg(any(test, feature = "audit"))]
    pub(crate) fn lists(&self) -> impl Iterator<Item = &List> {
        self.levels
            .iter()
            .flat_map(|level| [&level.again, &level.new])
    }

    /// Whether no message waits here.
    pub(crate) fn is_empty(&self) -> bool {
        let is_empty = |level: &Level| level.again.is_empty() && level.new.is_empty();
        self.levels.iter().all(is_empty)
    }

    /// Adds a message that was never sent.
    pub(crate) fn push_new(&mut self, store: &mut Store, outgoing: Outgoing) {
        store.push(&mut self.level(outgoing.priority).new, outgoing);
    }

    /// Adds a message that was sent and dropped.
    pub(crate) fn push_again(&mut self, store: &mut Store, outgoing: Outgoing) -> Ticket {
        store.push(&mut self.level(outgoing.priority).again, outgoing)
    }

    /// The message of this priority that is sent next.
    #[inline]
    pub(crate) fn front<'a>(
        &mut self,
        store: &'a mut Store,
        priority: Priority,
    ) -> Option<&'a Outgoing> {
        // A frame that was considered dropped may have been late: its messages are not sent again (§3.1.2).
        store.skip_arrived(&mut self.level(priority).again);
        store.front(self.front_list(priority))
    }

    /// Takes the message of this priority that is sent next out of the store.
    pub(crate) fn pop(&mut self, store: &mut Store, priority: Priority) -> Option<Outgoing> {
        store.pop(self.front_list(priority)).flatten()
    }

    /// Moves the message of this priority that is sent next into the contents of a frame.
    pub(crate) fn shift(&mut self, store: &mut Store, priority: Priority, contents: &mut List) {
        store.shift(self.front_list(priority), contents);
    }

    /// The list in which the message of this priority stands that is sent next.
    pub(super) const fn front_list(&mut self, priority: Priority) -> &mut List {
        let level = self.level(priority);
        // A receiver waits for what was dropped, and packets behind it wait as well.
        if level.again.is_empty() {
            &mut level.new
        } else {
            &mut level.again
        }
    }
}
