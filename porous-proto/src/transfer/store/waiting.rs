//! Messages that wait for another frame to carry a copy of them (`docs/deviations.md` P8). Each
//! stands in one place of that list, beside the frames that carry it.

use super::{List, Node, Outgoing, Store};
use crate::time::Instant;
use crate::work;

impl Store {
    /// A frame with these messages is sent. Those of which copies are wanted, no longer than
    /// `longest`, begin to wait: so many. The payloads of other unreliable ones are forgotten.
    pub(crate) fn sent(
        &mut self,
        contents: &List,
        waiting: &mut List,
        longest: usize,
        now: Instant,
    ) -> usize {
        let mut more = 0;
        let mut index = contents.head;
        while let Some(&Node { entry, next }) = self.nodes.get(index as usize) {
            index = next;
            let place = &mut self.entries[entry as usize];
            place.sent = now;
            if place.waits {
                continue;
            }
            let wants = |outgoing: &Outgoing| outgoing.copies > 0 && outgoing.len() <= longest;
            if place.outgoing.as_ref().is_some_and(wants) {
                (place.waits, place.places) = (true, place.places + 1);
                more += 1;
                self.place(waiting, entry);
            } else {
                place.release_unreliable();
            }
        }
        more
    }

    /// The first message that waits, unless it has arrived or was lost, and when it was last sent.
    /// The outer None if nothing waits.
    pub(crate) fn first_waiting(&self, waiting: &List) -> Option<(Option<&Outgoing>, Instant)> {
        let node = self.nodes.get(waiting.head as usize)?;
        let entry = self.entries.get(node.entry as usize)?;
        Some((entry.outgoing.as_ref(), entry.sent))
    }

    /// The frame with these `contents`, sent at `now`, carries a copy of the first message that
    /// waits.
    pub(crate) fn copy(&mut self, waiting: &List, contents: &mut List, now: Instant) {
        if let Some(&Node { entry, .. }) = self.nodes.get(waiting.head as usize) {
            let place = &mut self.entries[entry as usize];
            (place.places, place.sent) = (place.places + 1, now);
            self.place(contents, entry);
        }
    }

    /// The first message that waits has had one of its chances. Whether it wants more.
    pub(crate) fn count_chance(&mut self, waiting: &List) -> bool {
        let Some(&Node { entry, .. }) = self.nodes.get(waiting.head as usize) else {
            return false;
        };
        let outgoing = self.entries[entry as usize].outgoing.as_mut();
        outgoing.is_some_and(|outgoing| {
            outgoing.copies = outgoing.copies.saturating_sub(1);
            outgoing.copies > 0
        })
    }

    /// The first message that waits is not copied any more. `forget`: and is in no frame that is
    /// still to be written.
    pub(crate) fn stop_waiting(&mut self, waiting: &mut List, forget: bool) {
        let Some(index) = self.take_front(waiting) else {
            return;
        };
        work::count(1);
        let entry = &mut self.entries[index as usize];
        entry.waits = false;
        if let Some(outgoing) = &mut entry.outgoing {
            outgoing.copies = 0;
        }
        if forget {
            entry.release_unreliable();
        }
        self.leave(index);
    }
}
