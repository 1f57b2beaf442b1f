//! The receive queue of a channel: packets that have come and are not consumed, by packet id (§3.2.2).
//!
//! Whole packets that come in order stand in a row: they only wait to be consumed, one after the other. All
//! others are found by a ring, which is as long as the span of ids in it; their entries stand in a slab, so
//! that memory follows what arrived; and bits index what is looked for, so that a wide window full of holes
//! costs little more than a narrow one.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::backlog::pop;
use super::entry::{Content, Entry};
use super::rules::is_satisfied;
use crate::buffers::Reassembly;
use crate::frame::Mode;
use crate::hooks::work;
use crate::serial::Bits;

/// Entries up to which a slab keeps its memory: less is not worth giving back.
const SMALL: usize = 256;

/// Sets of the ids from the first one of the ring to the end of the queue.
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
    /// Whole packets that came in order, from m_b on: nothing is missing between them, nor before them. The
    /// ring begins behind them.
    row: VecDeque<Entry>,
    /// Slab indices of the entries that are present, at `id` modulo the length, a power of two.
    ring: Vec<u32>,
    index: Index,
    /// The slab: a slot is `None` while it is free.
    entries: Vec<Option<Entry>>,
    /// Slab indices of the free slots.
    free: Vec<u32>,
    /// m_b.
    base: u64,
    /// One past the newest entry, or m_b.
    end: u64,
}

impl ReceiveQueue {
    pub(crate) fn new(base: u64) -> Self {
        let empty = || Bits::new(0);
        Self {
            row: VecDeque::new(),
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

    /// The first id that the ring covers.
    fn ring_base(&self) -> u64 {
        self.base + self.row.len() as u64
    }

    fn ring_ids(&self) -> Range<u64> {
        self.ring_base()..self.end
    }

    fn position(&self, id: u64) -> usize {
        position(id, self.ring.len())
    }

    fn slot(&self, id: u64) -> Option<usize> {
        // The range first: ids outside of it share their places with ids inside.
        let present = self.ring_ids().contains(&id) && self.index.present.get(id);
        present.then(|| self.ring[self.position(id)] as usize)
    }

    /// Whether this id is the next one, and no packet stands before it but whole ones in the row.
    pub(crate) fn is_next(&self, id: u64) -> bool {
        id == self.end && id == self.ring_base()
    }

    /// Whether this id or a later one is the next one, and no packet stands before it but whole ones in the
    /// row.
    pub(crate) fn is_beyond(&self, id: u64) -> bool {
        id >= self.end && self.end == self.ring_base()
    }

    /// Adds the entry of a whole packet whose id [is the next one](Self::is_next).
    pub(crate) fn append(&mut self, entry: Entry) {
        debug_assert!(self.ring_ids().is_empty() && entry.is_complete());
        self.row.push_back(entry);
        self.end += 1;
    }

    /// Whether the packet at m_b is whole and stands in the row.
    pub(crate) fn has_next(&self) -> bool {
        !self.row.is_empty()
    }

    /// Takes out the packet at m_b, if it stands in the row, and moves m_b past it.
    #[inline]
    pub(crate) fn take_next(&mut self) -> Option<Entry> {
        let entry = pop(&mut self.row)?;
        self.base += 1;
        self.settle();
        Some(entry)
    }

    /// Moves the packets of the row into the ring, where they can be changed and taken out singly. Each is
    /// moved once at most.
    #[cold]
    pub(crate) fn dissolve(&mut self) {
        let kept = self.ring_ids();
        let mut row = core::mem::take(&mut self.row);
        self.reserve(self.end - self.base, kept);
        for (id, entry) in (self.base..).zip(row.drain(..)) {
            work::count(1);
            self.place(id, entry);
        }
        row.shrink_to(SMALL);
        self.row = row;
    }

    /// All entries, by id.
    #[cfg(any(test, feature = "audit"))]
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &Entry)> {
        // By the index, since a wide window is mostly empty.
        let mut ids = self.ring_ids();
        let others = core::iter::from_fn(move || {
            let id = self.index.present.first(ids.clone(), true)?;
            ids.start = id + 1;
            Some((id, self.get(id)?))
        });
        (self.base..).zip(&self.row).chain(others)
    }

    pub(crate) fn get(&self, id: u64) -> Option<&Entry> {
        if id >= self.end {
            return None;
        }
        match self.row_place(id) {
            Some(place) => self.row.get(place),
            None => self.entries[self.slot(id)?].as_ref(),
        }
    }

    /// The place of an id in the row.
    fn row_place(&self, id: u64) -> Option<usize> {
        let place = id.checked_sub(self.base)?;
        usize::try_from(place)
            .ok()
            .filter(|&place| place < self.row.len())
    }

    /// Changes an entry, if it is there.
    #[inline]
    pub(crate) fn change<T>(&mut self, id: u64, change: impl FnOnce(&mut Entry) -> T) -> Option<T> {
        if id >= self.end {
            return None;
        }
        if let Some(place) = self.row_place(id) {
            let entry = self.row.get_mut(place)?;
            let result = change(entry);
            if !entry.is_complete() {
                self.dissolve();
            }
            return Some(result);
        }
        let slot = self.slot(id)?;
        let entry = self.entries[slot].as_mut()?;
        let before = core::mem::discriminant(&entry.content);
        let result = change(entry);
        // Whatever an entry becomes, the index follows. A fragment that joins others changes nothing there.
        if core::mem::discriminant(&entry.content) != before {
            self.classify(id);
        }
        Some(result)
    }

    /// Adds an entry that is not there. Returns what that costs, in ids: the length of a ring that was made
    /// anew, and the ids that the entry leaps over. The caller has checked that the id is in Q_r (17).
    pub(crate) fn insert(&mut self, id: u64, entry: Entry) -> u64 {
        let made = self.reserve(id + 1 - self.ring_base(), self.ring_ids());
        let leap = (id + 1).saturating_sub(self.end);
        self.end = self.end.max(id + 1);
        self.place(id, entry);
        made + leap
    }

    /// Puts an entry into the ring, which is long enough.
    fn place(&mut self, id: u64, entry: Entry) {
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

    /// Makes the ring span this number of ids, of which it keeps those that it has. The length of a new ring,
    /// or 0 if the old one is long enough.
    fn reserve(&mut self, span: u64, kept: Range<u64>) -> u64 {
        let needed = usize::try_from(span).unwrap_or(usize::MAX);
        if needed <= self.ring.len() {
            return 0;
        }
        // A power of two, so that a mask finds a position; and 16, not to grow at each of the first packets.
        let old = core::mem::replace(&mut self.ring, vec![0; needed.next_power_of_two().max(16)]);
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
        if self.row_place(id).is_some() {
            self.dissolve();
        }
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
        let mut from = self.ring_base();
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
        if self.row_place(from).is_some() {
            return Some(from);
        }
        self.index.present.first(from..self.end, true)
    }

    /// The first packet before `limit` that came in part.
    pub(crate) fn first_partial(&self, limit: u64) -> Option<&Reassembly> {
        // What stands in the row is whole.
        let mut from = self.ring_base();
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
        if self.has_next() && self.base < limit {
            return Some(self.base);
        }
        self.index.complete.first(self.ring_base()..limit, true)
    }

    /// One past the last of the packets in a row from m_b on that were delivered.
    pub(crate) fn delivered_end(&self) -> u64 {
        let first = self.index.delivered.first(self.ring_ids(), false);
        first.unwrap_or(self.end)
    }

    /// The last packet before `limit` that was delivered.
    pub(crate) fn last_delivered(&self, limit: u64) -> Option<u64> {
        self.index.delivered.last(self.ring_base()..limit, true)
    }

    /// Whether there is one that was delivered.
    pub(crate) fn has_delivered(&self) -> bool {
        let first = self.index.delivered.first(self.ring_ids(), true);
        first.is_some()
    }

    /// The first entry that depends on a packet that was not delivered, or the end: nothing from here on may
    /// be consumed (§3.2.3).
    pub(crate) fn limit(&self) -> u64 {
        // Packets in the row depend on others in the row at most, or on what was delivered.
        let first = self.index.waiting.first(self.ring_ids(), true);
        first.unwrap_or(self.end)
    }

    /// The oldest unreliable packet of the ring that may make room: a complete one or an incomplete one.
    pub(crate) fn first_unreliable(&self, complete: bool) -> Option<u64> {
        let set = if complete {
            &self.index.whole
        } else {
            &self.index.partial
        };
        set.first(self.ring_ids(), true)
    }

    /// Ends the queue before the id `end`, if it does not end sooner. The entries from there on must have
    /// been removed.
    pub(crate) fn end_at(&mut self, end: u64) {
        self.end = self.end.min(end.max(self.base));
    }

    /// m_b ← `base`. The entries before must have been removed, so that nothing stands in the row.
    pub(crate) fn advance_to(&mut self, base: u64) {
        debug_assert!(self.row.is_empty());
        self.base = base;
        self.end = self.end.max(base);
        // What depends on a packet that is now before m_b waits no more.
        self.settle();
    }

    /// Makes it true again that the first entry of `waiting` is there and waits.
    pub(crate) fn settle(&mut self) {
        while let Some(id) = self.index.waiting.first(self.ring_ids(), true) {
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
    use bytes::Bytes;

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

    fn whole(name: u8) -> Entry {
        Entry {
            content: Content::Complete(Bytes::copy_from_slice(&[name])),
            ..entry(0)
        }
    }

    fn name(entry: &Entry) -> Option<u8> {
        let Content::Complete(payload) = &entry.content else {
            return None;
        };
        payload.first().copied()
    }

    /// Five packets in a row from id 60 on, so that a ring of 16 would wrap, and one behind a gap.
    fn row() -> ReceiveQueue {
        let mut queue = ReceiveQueue::new(60);
        for id in 60..65_u8 {
            assert!(queue.is_next(id.into()) && !queue.is_next(66));
            queue.append(whole(id));
        }
        queue.insert(66, whole(66));
        assert!(!queue.is_next(65) && !queue.is_next(67));
        queue
    }

    #[test]
    fn packets_in_a_row_are_found_and_taken_out_in_order() {
        let mut queue = row();
        let found = |queue: &ReceiveQueue| -> Vec<u8> {
            (55..70).filter_map(|id| name(queue.get(id)?)).collect()
        };
        assert_eq!(found(&queue), [60, 61, 62, 63, 64, 66]);
        assert_eq!((queue.first_complete(67), queue.limit()), (Some(60), 67));
        for id in 60..65 {
            assert_eq!(queue.next(id), Some(id));
            assert_eq!(
                queue.take_next().as_ref().and_then(name),
                u8::try_from(id).ok()
            );
        }
        assert!(queue.take_next().is_none());
        assert_eq!((queue.base(), queue.next(65)), (65, Some(66)));
        assert_eq!(found(&queue), [66]);
    }

    #[test]
    fn a_packet_in_a_row_is_changed_and_taken_out_as_any_other() {
        for id in 60..65 {
            let mut queue = row();
            assert!(queue.take_next().is_some());
            let left: Vec<u64> = (61..65).chain([66]).collect();
            let there = |queue: &ReceiveQueue| -> Vec<u64> {
                (55..70).filter(|&id| queue.get(id).is_some()).collect()
            };
            assert_eq!(
                queue.change(id, |entry| entry.sentinel = true).is_some(),
                id > 60
            );
            assert_eq!(there(&queue), left);
            assert_eq!(queue.remove(id).is_some(), id > 60);
            let rest: Vec<u64> = left.into_iter().filter(|&other| other != id).collect();
            assert_eq!(there(&queue), rest);
            assert_eq!(queue.first_complete(67), rest.first().copied());
        }
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
