//! What was in frames that were considered dropped. One that is acknowledged all the same was only late:
//! what it carried has arrived, and nothing of it is sent again (§3.1.2).

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use bytes::Bytes;

use super::store::{Store, Ticket};
use crate::frame::Message;
use crate::work;

/// The distance in ids within which a message that is not sent again is remembered.
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
#[derive(Debug)]
pub(super) struct Dropped {
    frames: BTreeMap<u64, Carried>,
    /// The most that are remembered.
    most: u64,
}

impl Dropped {
    pub(super) const fn new(most: u64) -> Self {
        Self {
            frames: BTreeMap::new(),
            most,
        }
    }

    /// The frame `id` is considered dropped, and `next` is the id of the next frame. Forgets the oldest
    /// frames of which nothing is open any more.
    pub(super) fn insert(&mut self, id: u64, carried: Carried, store: &Store, next: u64) {
        if !(carried.open.is_empty() && carried.given_up.is_empty()) {
            self.frames.insert(id, carried);
        }
        while let Some(mut oldest) = self.frames.first_entry() {
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
            if is_open && self.frames.len() as u64 <= self.most {
                return;
            }
            self.frames.pop_first();
        }
    }

    /// A frame between these two, both included, which is not remembered any more.
    pub(super) fn take(&mut self, low: u64, high: u64) -> Option<Carried> {
        let (&id, _) = self.frames.range(low..=high).next()?;
        work::count(1);
        self.frames.remove(&id)
    }
}
