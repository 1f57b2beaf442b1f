//! The send queue (§3.1, Figure 5): one of each priority, what was dropped before what is new.

use super::store::{List, Outgoing, Store, Ticket};
use crate::config::Priority;

/// Messages of one priority that wait to be sent.
#[derive(Debug, Default)]
struct Level {
    /// Dropped and to be sent again, in the order of their loss.
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

    /// All lists.
    #[cfg(any(test, feature = "audit"))]
    pub(crate) fn lists(&self) -> impl Iterator<Item = &List> {
        self.levels
            .iter()
            .flat_map(|level| [&level.again, &level.new])
    }

    /// Whether nothing waits here.
    pub(crate) fn is_empty(&self) -> bool {
        let is_empty = |level: &Level| level.again.is_empty() && level.new.is_empty();
        self.levels.iter().all(is_empty)
    }

    /// A message that was never sent.
    pub(crate) fn push_new(&mut self, store: &mut Store, outgoing: Outgoing) {
        store.push(&mut self.level(outgoing.priority).new, outgoing);
    }

    /// A message that was sent and dropped.
    pub(crate) fn push_again(&mut self, store: &mut Store, outgoing: Outgoing) -> Ticket {
        store.push(&mut self.level(outgoing.priority).again, outgoing)
    }

    /// The message to be sent next at this priority. What has arrived after all leaves the queue.
    pub(crate) fn front<'a>(
        &mut self,
        store: &'a mut Store,
        priority: Priority,
    ) -> Option<&'a Outgoing> {
        store.skip_arrived(&mut self.level(priority).again);
        store.front(self.front_list(priority))
    }

    /// Takes the message to be sent next at this priority out of the store.
    pub(crate) fn pop(&mut self, store: &mut Store, priority: Priority) -> Option<Outgoing> {
        store.pop(self.front_list(priority)).flatten()
    }

    /// Moves the message to be sent next at this priority into a frame's contents.
    pub(crate) fn shift(&mut self, store: &mut Store, priority: Priority, contents: &mut List) {
        store.shift(self.front_list(priority), contents);
    }

    /// Where the message to be sent next at this priority stands.
    pub(super) const fn front_list(&mut self, priority: Priority) -> &mut List {
        let level = self.level(priority);
        if level.again.is_empty() {
            &mut level.new
        } else {
            &mut level.again
        }
    }
}
