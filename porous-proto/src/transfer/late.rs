//! What was in frames that were considered dropped. One that is acknowledged all the same was only late:
//! what it carried has arrived, and nothing of it is sent again (§3.1.2).

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use bytes::Bytes;

use super::store::{Store, Ticket};
use super::{Source, Transfer};
use crate::frame::Message;
use crate::work;

/// So many ids back, a message that is not sent again is remembered.
const REMEMBERED: u64 = 64;

/// What one frame carried.
#[derive(Debug, Default)]
pub(super) struct Carried {
    /// Messages that have yet to arrive: they wait to be sent again, or are on their way in another frame.
    pub(super) open: Vec<Ticket>,
    /// Messages that are not sent again, if the source wants to hear of them.
    pub(super) given_up: Vec<Message<Bytes>>,
}

/// The frames of one peer that were considered dropped, by id.
#[derive(Debug, Default)]
pub(super) struct Dropped(BTreeMap<u64, Carried>);

impl Dropped {
    /// The frame `id` is considered dropped, and `next` is the id that is next. Forgets the oldest frames
    /// of which nothing is open any more, and keeps `most` of them at most.
    pub(super) fn insert(
        &mut self,
        id: u64,
        carried: Carried,
        (store, next, most): (&Store, u64, u64),
    ) {
        if !(carried.open.is_empty() && carried.given_up.is_empty()) {
            self.0.insert(id, carried);
        }
        while let Some(mut oldest) = self.0.first_entry() {
            work::count(1);
            let is_recent = oldest.key() + REMEMBERED >= next;
            let carried = oldest.get_mut();
            while carried
                .open
                .last()
                .is_some_and(|&last| !store.is_open(last))
            {
                work::count(1);
                carried.open.pop();
            }
            let is_open = !carried.open.is_empty() || is_recent && !carried.given_up.is_empty();
            if is_open && self.0.len() as u64 <= most {
                return;
            }
            self.0.pop_first();
        }
    }

    /// A frame between these two, both included, which is not remembered any more.
    fn take(&mut self, low: u64, high: u64) -> Option<Carried> {
        let (&id, _) = self.0.range(low..=high).next()?;
        work::count(1);
        self.0.remove(&id)
    }
}

impl Transfer {
    /// The frames from `low` to `high` were acknowledged: what was dropped of them has arrived.
    pub(super) fn arrive_late(&mut self, low: u64, high: u64, source: &mut impl Source) {
        while let Some(Carried { open, given_up }) = self.dropped.take(low, high) {
            for ticket in open {
                if let Some(outgoing) = self.store.take_arrived(ticket) {
                    self.note_arrived(&outgoing.message, source);
                }
            }
            for message in &given_up {
                self.note_arrived(message, source);
            }
        }
    }

    /// A message has arrived, and nobody knew.
    pub(super) fn note_arrived(&mut self, message: &Message<Bytes>, source: &mut impl Source) {
        self.limits.on_acknowledged(message);
        source.acknowledged(message);
    }
}
