//! The receive queue of a channel: packets that have come and are not consumed, by packet id (§3.2.2). The
//! ring is as long as the span of ids in it; entries stand in a slab, so that memory follows what arrived;
//! and bits index what is looked for, so that a wide window full of holes costs little more than a narrow
//! one.

use alloc::vec;
use alloc::vec::Vec;

use super::entry::{Content, Entry, Reassembly};
use super::rules::is_satisfied;
use crate::frame::Mode;
use crate::hooks::work;
use crate::serial::Bits;

/// Entries up to which a slab keeps its memory: less is not worth giving back.
const SMALL: usize = 256;

/// Sets of the ids from m_b to the end of the queue.
#[derive(Debug)]
struct Index {
    /// Those with an entry.
    present: Bits,
    /// Those whose entries wait for nothing but their turn.
    complete: Bits,
    /// Those whose dependency was not delivered when they came. A later delivery is noted only of the first
    /// of them, of which it is therefore true: see [`ReceiveQueue::settle`].
    waiting: Bits,
    /// Incomplete unreliable packets: the first that have to make room.
    partial: Bits,
    /// Complete unreliable packets: the next that have to make room.
    whole: Bits,
    /// Packets of an unordered channel that were delivered.
    delivered: Bits,
}

impl Index {
    fn sets(&mut self) -> [&mut Bits; 6] {
        [
            &mut self.present,
            &mut self.complete,
            &mut self.waiting,
            &mut self.partial,
            &mut self.whole,
            &mut self.delivered,
        ]
    }
}

/// The receive queue of a channel.
#[derive(Debug)]
pub(crate) struct ReceiveQueue {
    /// Slab indices of the entries that are present, at `id` modulo the length, a power of two.
    ring: Vec<u32>,
    index: Index,
    /// The slab: a slot is `None` while it is free.
    entries: Vec<Option<Entry>>,
    /// Slab indices of the free slots.
    free: Vec<u32>,
    /// m_b: the first id that the ring covers.
    base: u64,
    /// One past the newest entry, or m_b.
    end: u64,
}

impl ReceiveQueue {
    pub(crate) fn new(base: u64) -> Self {
        let empty = || Bits::new(0);
        Self {
            ring: Vec::new(),
            index: Index {
                present: empty(),
                complete: empty(),
                waiting: empty(),
                partial: empty(),
                whole: empty(),
                delivered: empty(),
            },
            entries: Vec::new(),
            free: Vec::new(),
            base,
            end: base,
        }
    }

    /// m_b.
    pub(crate) const fn base(&self) -> u64 {
        self.base
    }

    /// One past the newest entry.
    pub(crate) const fn end(&self) -> u64 {
        self.end
    }

    fn position(&self, id: u64) -> usize {
        position(id, self.ring.len())
    }

    fn slot(&self, id: u64) -> Option<usize> {
        // The range first: ids outside of it share their places with ids inside.
        let present = (self.base..self.end).contains(&id) && self.index.present.get(id);
        present.then(|| self.ring[self.position(id)] as usize)
    }

    /// All entries, by id.
    #[cfg(any(test, feature = "audit"))]
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &Entry)> {
        (self.base..self.end).filter_map(|id| Some((id, self.get(id)?)))
    }

    pub(crate) fn get(&self, id: u64) -> Option<&Entry> {
        self.entries[self.slot(id)?].as_ref()
    }

    /// Changes an entry, if it is there.
    pub(crate) fn change<T>(&mut self, id: u64, change: impl FnOnce(&mut Entry) -> T) -> Option<T> {
        let slot = self.slot(id)?;
        // Whatever changes in an entry, the index follows.
        let result = change(self.entries[slot].as_mut()?);
        self.classify(id);
        Some(result)
    }

    /// Adds an entry that is not there. Returns what that costs, in ids: the length of a ring that was made
    /// anew, and the ids that the entry leaps over. The caller has checked that the id is in Q_r (17).
    pub(crate) fn insert(&mut self, id: u64, entry: Entry) -> u64 {
        let made = self.reserve(id + 1 - self.base);
        let leap = (id + 1).saturating_sub(self.end);
        self.end = self.end.max(id + 1);
        // Judged once: later the bit is cleared where it matters, which is at the first one that waits.
        if !is_satisfied(id, entry.dependency, self.base) {
            self.index.waiting.set(id);
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.entries.push(None);
            // At most N_Q entries.
            u32::try_from(self.entries.len() - 1).unwrap_or(u32::MAX)
        });
        self.entries[slot as usize] = Some(entry);
        let position = self.position(id);
        self.ring[position] = slot;
        self.index.present.set(id);
        self.classify(id);
        made + leap
    }

    /// Notes in the index what an entry is.
    fn classify(&mut self, id: u64) {
        let Some(entry) = self.get(id) else { return };
        let unreliable = entry.mode == Mode::Unreliable;
        let partial = unreliable && matches!(entry.content, Content::Partial(_));
        let whole = unreliable && matches!(entry.content, Content::Complete(_));
        let complete = entry.is_complete();
        let delivered = matches!(entry.content, Content::Delivered | Content::Buried);
        self.index.partial.put(id, partial);
        self.index.whole.put(id, whole);
        self.index.complete.put(id, complete);
        self.index.delivered.put(id, delivered);
    }

    /// Makes the ring span this number of ids. The length of a new ring, or 0 if the old one is long enough.
    fn reserve(&mut self, span: u64) -> u64 {
        let needed = usize::try_from(span).unwrap_or(usize::MAX);
        if needed <= self.ring.len() {
            return 0;
        }
        // A power of two, so that a mask finds a position; and 16, not to grow at each of the first packets.
        let old = core::mem::replace(&mut self.ring, vec![0; needed.next_power_of_two().max(16)]);
        let kept = self.base..self.end;
        let mut from = kept.start;
        while from < kept.end {
            // As many ids as lie in one piece in both rings, which wrap at different ids.
            let (was, is) = (position(from, old.len()), self.position(from));
            let left = usize::try_from(kept.end - from).unwrap_or(usize::MAX);
            let run = left.min(old.len() - was);
            work::count(1 + run as u64 / 64);
            self.ring[is..is + run].copy_from_slice(&old[was..was + run]);
            from += run as u64;
        }
        let len = self.ring.len() as u64;
        for set in self.index.sets() {
            // As long as the ring, so that an id has one place in all of them.
            set.grow(len, kept.clone());
        }
        len
    }

    /// Takes the entry out, leaving its id in the queue.
    pub(crate) fn remove(&mut self, id: u64) -> Option<Entry> {
        let slot = self.slot(id)?;
        for set in self.index.sets() {
            set.clear(id);
        }
        self.free.push(u32::try_from(slot).unwrap_or(u32::MAX));
        let entry = self.entries[slot].take();
        // At a quarter, and to a half: the slab does not grow and shrink by turns.
        if self.entries.capacity() > SMALL && 4 * self.live() < self.entries.capacity() {
            self.compact();
        }
        entry
    }

    fn live(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Moves the entries into a smaller slab. Otherwise a remote host could fill one channel after the other,
    /// and what each of them once kept would add up.
    fn compact(&mut self) {
        let mut entries = Vec::with_capacity(2 * self.live());
        let mut from = self.base;
        while let Some(id) = self.index.present.first(from..self.end, true) {
            let position = self.position(id);
            let slot = core::mem::replace(
                &mut self.ring[position],
                u32::try_from(entries.len()).unwrap_or(u32::MAX),
            );
            entries.push(self.entries[slot as usize].take());
            from = id + 1;
        }
        self.entries = entries;
        // The new slab has no holes.
        self.free = Vec::new();
    }

    /// The first entry from the id `from` on, which is not before m_b.
    pub(crate) fn next(&self, from: u64) -> Option<u64> {
        self.index.present.first(from..self.end, true)
    }

    /// The first packet before `limit` that came in part.
    pub(crate) fn first_partial(&self, limit: u64) -> Option<&Reassembly> {
        let mut from = self.base;
        while let Some(id) = self.index.present.first(from..limit, true) {
            work::count(1);
            if let Content::Partial(parts) = &self.get(id)?.content {
                return Some(parts);
            }
            from = id + 1;
        }
        None
    }

    /// The first complete packet that is before `limit`.
    pub(crate) fn first_complete(&self, limit: u64) -> Option<u64> {
        self.index.complete.first(self.base..limit, true)
    }

    /// One past the last of the packets in a row from m_b on that were delivered.
    pub(crate) fn delivered_end(&self) -> u64 {
        let first = self.index.delivered.first(self.base..self.end, false);
        first.unwrap_or(self.end)
    }

    /// The last packet before `limit` that was delivered.
    pub(crate) fn last_delivered(&self, limit: u64) -> Option<u64> {
        self.index.delivered.last(self.base..limit, true)
    }

    /// Whether there is one that was delivered.
    pub(crate) fn has_delivered(&self) -> bool {
        let first = self.index.delivered.first(self.base..self.end, true);
        first.is_some()
    }

    /// The first entry that depends on a packet that was not delivered, or the end: nothing from here on may
    /// be consumed (§3.2.3).
    pub(crate) fn limit(&self) -> u64 {
        let first = self.index.waiting.first(self.base..self.end, true);
        first.unwrap_or(self.end)
    }

    /// The oldest unreliable packet that may make room: a complete one or an incomplete one.
    pub(crate) fn first_unreliable(&self, complete: bool) -> Option<u64> {
        let set = if complete {
            &self.index.whole
        } else {
            &self.index.partial
        };
        set.first(self.base..self.end, true)
    }

    /// Ends the queue before the id `end`, if it does not end sooner. The entries from there on must have
    /// been removed.
    pub(crate) fn end_at(&mut self, end: u64) {
        self.end = self.end.min(end.max(self.base));
    }

    /// m_b ← `base`. The entries before must have been removed.
    pub(crate) fn advance_to(&mut self, base: u64) {
        self.base = base;
        self.end = self.end.max(base);
        // What depends on a packet that is now before m_b waits no more.
        self.settle();
    }

    /// Makes it true again that the first entry of `waiting` is there and waits.
    pub(crate) fn settle(&mut self) {
        while let Some(id) = self.index.waiting.first(self.base..self.end, true) {
            let waits = |entry: &Entry| !is_satisfied(id, entry.dependency, self.base);
            if self.get(id).is_some_and(waits) {
                return;
            }
            // Its dependency was delivered since.
            self.index.waiting.clear(id);
        }
    }
}

/// The index of an id in a ring of this length, a power of two.
#[expect(
    clippy::cast_possible_truncation,
    reason = "masked to the length of the ring"
)]
const fn position(id: u64, len: usize) -> usize {
    id as usize & (len - 1)
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
        assert_eq!(queue.next(queue.base()), Some(1000));
        assert!(queue.remove(1000).is_some() && queue.remove(1000).is_none());
        assert_eq!(queue.next(queue.base()), Some(1003));
        assert!(queue.remove(1003).is_some());
        queue.advance_to(1010);
        queue.insert(1130, entry(1)); // 1010 + 120 wraps in a ring of 128
        assert_eq!(queue.next(queue.base()), Some(1017));
        assert_eq!(queue.entries.len(), 4);
    }

    #[test]
    fn a_ring_that_is_full_to_the_last_id_grows() {
        for base in [0, 1000] {
            let mut queue = ReceiveQueue::new(base);
            for id in base..base + 300 {
                queue.insert(id, entry(u32::try_from(id).unwrap()));
                for other in base..=id {
                    let found = queue.get(other).map(|entry| u64::from(entry.dependency));
                    assert_eq!(found, Some(other), "{id}");
                }
            }
        }
    }

    #[test]
    fn a_slab_that_is_a_quarter_full_is_left_alone() {
        let mut queue = ReceiveQueue::new(0);
        for id in 0..1000 {
            queue.insert(id, entry(0));
        }
        let before = queue.entries.capacity();
        for id in 0..600 {
            assert!(queue.remove(id).is_some());
            assert_eq!(queue.entries.capacity(), before);
        }
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
        assert!(queue.remove(0).is_some());
        assert_eq!(queue.next(queue.base()), Some(20));
    }
}
