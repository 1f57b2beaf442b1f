//! The receive queue (§3.2): packet entries by sequence id. A ring of small indices spans from the
//! next expected packet to the newest; entries stand in a slab, so that memory follows what
//! arrived.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use bytes::Bytes;

use super::fragment::Reassembly;
use crate::frame::Mode;

const EMPTY: u32 = u32::MAX;

/// A slab of so many entries is not worth shrinking.
const SMALL: usize = 256;

/// What is there of a packet.
#[derive(Debug)]
pub(crate) enum Content {
    /// Nothing but its sentinel (§3.2.2).
    Sentinel,
    Partial(Box<Reassembly>),
    Complete(Bytes),
    /// A cancelled reliable packet: consumed, not delivered.
    Tombstone,
}

/// An entry of the queue.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) mode: Mode,
    pub(crate) dependency: u32,
    /// A sentinel has come for it.
    pub(crate) sentinel: bool,
    pub(crate) content: Content,
}

/// The queue.
#[derive(Debug)]
pub(crate) struct ReceiveQueue {
    /// Slab indices, at `id` modulo the length, which is a power of two.
    ring: Vec<u32>,
    entries: Vec<Option<Entry>>,
    free: Vec<u32>,
    /// The ring covers ids from here: m_b.
    base: u64,
    /// One past the newest entry, or m_b.
    end: u64,
}

impl ReceiveQueue {
    pub(crate) const fn new(base: u64) -> Self {
        Self {
            ring: Vec::new(),
            entries: Vec::new(),
            free: Vec::new(),
            base,
            end: base,
        }
    }

    pub(crate) const fn base(&self) -> u64 {
        self.base
    }

    /// One past the newest entry.
    pub(crate) const fn end(&self) -> u64 {
        self.end
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "masked to the length of the ring"
    )]
    fn position(&self, id: u64) -> usize {
        id as usize & (self.ring.len() - 1)
    }

    fn index(&self, id: u64) -> Option<usize> {
        if id < self.base || id >= self.end {
            return None;
        }
        let index = self.ring[self.position(id)];
        (index != EMPTY).then_some(index as usize)
    }

    pub(crate) fn get(&self, id: u64) -> Option<&Entry> {
        self.entries[self.index(id)?].as_ref()
    }

    pub(crate) fn get_mut(&mut self, id: u64) -> Option<&mut Entry> {
        let index = self.index(id)?;
        self.entries[index].as_mut()
    }

    /// Adds an entry that is not there. The caller has checked that the id is in Q_r (17).
    pub(crate) fn insert(&mut self, id: u64, entry: Entry) {
        self.reserve(id + 1 - self.base);
        self.end = self.end.max(id + 1);
        let index = self.free.pop().unwrap_or_else(|| {
            self.entries.push(None);
            // At most N_Q entries.
            u32::try_from(self.entries.len() - 1).unwrap_or(EMPTY)
        });
        self.entries[index as usize] = Some(entry);
        let position = self.position(id);
        self.ring[position] = index;
    }

    /// Makes the ring span so many ids.
    fn reserve(&mut self, span: u64) {
        let needed = usize::try_from(span).unwrap_or(usize::MAX);
        if needed <= self.ring.len() {
            return;
        }
        let old = core::mem::replace(
            &mut self.ring,
            vec![EMPTY; needed.next_power_of_two().max(16)],
        );
        for id in self.base..self.end {
            let from = usize::try_from(id).unwrap_or(0) & (old.len() - 1);
            let to = self.position(id);
            self.ring[to] = old[from];
        }
    }

    /// Takes the entry out, leaving its id in the queue.
    pub(crate) fn remove(&mut self, id: u64) -> Option<Entry> {
        let index = self.index(id)?;
        let position = self.position(id);
        self.ring[position] = EMPTY;
        self.free.push(u32::try_from(index).unwrap_or(EMPTY));
        let entry = self.entries[index].take();
        if self.entries.capacity() > SMALL && 4 * self.live() < self.entries.capacity() {
            self.compact();
        }
        entry
    }

    fn live(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Moves the entries into a smaller slab: what a channel once kept must not add up with what
    /// others keep later.
    fn compact(&mut self) {
        let mut entries = Vec::with_capacity(2 * self.live());
        for id in self.base..self.end {
            if let Some(index) = self.index(id) {
                let position = self.position(id);
                self.ring[position] = u32::try_from(entries.len()).unwrap_or(EMPTY);
                entries.push(self.entries[index].take());
            }
        }
        self.entries = entries;
        self.free = Vec::new();
    }

    /// The next entry at or after `id`.
    pub(crate) fn next(&self, id: u64) -> Option<(u64, &Entry)> {
        (id.max(self.base)..self.end).find_map(|id| Some((id, self.get(id)?)))
    }

    /// m_b ← `base`. The entries before must have been removed.
    pub(crate) fn advance_to(&mut self, base: u64) {
        self.base = base;
        self.end = self.end.max(base);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(dependency: u32) -> Entry {
        Entry {
            mode: Mode::Reliable,
            dependency,
            sentinel: false,
            content: Content::Sentinel,
        }
    }

    #[test]
    fn entries_are_found_by_id_while_the_ring_grows_and_wraps() {
        let mut queue = ReceiveQueue::new(1000);
        let ids = [1003, 1000, 1090, 1017];
        for id in ids {
            queue.insert(id, entry(u32::try_from(id).unwrap()));
        }
        for id in ids {
            assert_eq!(
                queue.get(id).map(|entry| u64::from(entry.dependency)),
                Some(id)
            );
        }
        assert!(queue.get(1001).is_none() && queue.get(999).is_none() && queue.get(1091).is_none());
        assert_eq!(queue.next(1004).map(|(id, _)| id), Some(1017));
        assert!(queue.remove(1000).is_some() && queue.remove(1000).is_none());
        assert!(queue.remove(1003).is_some());
        queue.advance_to(1010);
        queue.insert(1130, entry(1)); // 1010 + 120 wraps in a ring of 128
        assert_eq!(queue.next(1010).map(|(id, _)| id), Some(1017));
        assert_eq!(queue.entries.len(), 4);
    }

    #[test]
    fn a_slab_that_has_become_sparse_shrinks_and_keeps_its_entries() {
        let mut queue = ReceiveQueue::new(0);
        for id in 0..1000 {
            queue.insert(id, entry(u32::try_from(id).unwrap()));
        }
        assert!(queue.entries.capacity() >= 1000);
        for id in (0..1000).filter(|id| id % 20 != 0) {
            assert!(queue.remove(id).is_some());
        }
        assert!(queue.entries.capacity() <= SMALL);
        for id in 0..1000 {
            let found = queue.get(id).map(|entry| u64::from(entry.dependency));
            assert_eq!(found, (id % 20 == 0).then_some(id));
        }
        queue.insert(1000, entry(7));
        assert_eq!(queue.next(981).map(|(id, _)| id), Some(1000));
    }
}
