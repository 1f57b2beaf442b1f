//! The deadlines of peers, the earliest first.

use alloc::vec::Vec;

use crate::hooks::work;
use crate::ids::Slot;
use crate::time::Instant;

/// The place of a slot that is not in the heap.
const ABSENT: usize = usize::MAX;

/// The earlier entry has the lower rank; ties by slot, so that the order is the same on every machine. One
/// number, as two entries are compared faster by it than field by field.
const fn rank((at, slot): (Instant, Slot)) -> u128 {
    (at.as_micros() as u128) << 64 | slot.index() as u128
}

/// What is known of a slot.
#[derive(Clone, Copy, Debug)]
struct Known {
    deadline: Instant,
    /// The place of the slot in the heap.
    place: usize,
}

impl Known {
    const NOTHING: Self = Self {
        deadline: Instant::NEVER,
        place: ABSENT,
    };
}

/// One deadline for each slot. Each datagram puts a deadline off, and few deadlines come: one that is put
/// off leaves its slot where it is in the heap, until the slot comes to the front.
#[derive(Debug, Default)]
pub(super) struct Deadlines {
    /// A binary heap, the earliest first; ties by slot, so that the order is the same on every machine.
    /// No entry is later than the deadline of its slot.
    heap: Vec<(Instant, Slot)>,
    slots: Vec<Known>,
}

impl Deadlines {
    /// Changes the deadline of a slot; `NEVER` takes it away.
    pub(super) fn set(&mut self, slot: Slot, at: Instant) {
        let index = slot.index();
        if self.slots.len() <= index {
            self.slots.resize(index + 1, Known::NOTHING);
        }
        let known = &mut self.slots[index];
        known.deadline = at;
        match known.place {
            ABSENT if at.is_never() => {}
            ABSENT => {
                self.heap.push((at, slot));
                self.rise(self.heap.len() - 1, (at, slot));
            }
            place if at < self.heap[place].0 => self.rise(place, (at, slot)),
            _ => {}
        }
    }

    /// Brings entries to their places that stand at the front, up to this time, and are due later.
    pub(super) fn settle(&mut self, until: Instant) {
        while let Some(&(at, slot)) = self.heap.first() {
            let deadline = self.slots[slot.index()].deadline;
            if at > until || deadline == at {
                return;
            }
            if deadline.is_never() {
                self.remove_first();
            } else {
                self.sink((deadline, slot));
            }
        }
    }

    /// The earliest deadline, if it is not after the time until which all is [settled](Self::settle);
    /// otherwise a time between the two.
    pub(super) fn first(&self) -> Option<Instant> {
        self.heap.first().map(|&(at, _)| at)
    }

    /// The slot of [`first`](Self::first).
    pub(super) fn first_slot(&self) -> Option<Slot> {
        self.heap.first().map(|&(_, slot)| slot)
    }

    /// Takes the deadline of a slot away that has come.
    pub(super) fn pop_due(&mut self, now: Instant) -> Option<Slot> {
        self.settle(now);
        let &(at, slot) = self.heap.first()?;
        if at > now {
            return None;
        }
        // The slot's next deadline is set soon: until then its entry stays.
        self.slots[slot.index()].deadline = Instant::NEVER;
        Some(slot)
    }

    fn remove_first(&mut self) {
        let (first, last) = (self.heap.first().copied(), self.heap.pop());
        if let (Some((_, slot)), Some(last)) = (first, last) {
            self.slots[slot.index()].place = ABSENT;
            if !self.heap.is_empty() {
                self.sink(last);
            }
        }
    }

    /// Puts an entry in this place, or nearer to the front.
    fn rise(&mut self, mut place: usize, entry: (Instant, Slot)) {
        while place > 0 {
            let parent = self.heap[(place - 1) / 2];
            if rank(parent) <= rank(entry) {
                break;
            }
            work::count(1); // the network has a say in how often deadlines change
            self.put(place, parent);
            place = (place - 1) / 2;
        }
        self.put(place, entry);
    }

    /// Puts an entry in the place of the first, or further back.
    fn sink(&mut self, entry: (Instant, Slot)) {
        // Down to the end, and up again as far as it must: a deadline that was put off is most often among the
        // last, and so the entry is compared once, and not at each place on its way.
        let mut place = 0;
        while let Some(&left) = self.heap.get(2 * place + 1) {
            let (child, least) = match self.heap.get(2 * place + 2) {
                Some(&right) if rank(right) < rank(left) => (2 * place + 2, right),
                _ => (2 * place + 1, left),
            };
            work::count(1);
            self.put(place, least);
            place = child;
        }
        self.rise(place, entry);
    }

    fn put(&mut self, place: usize, entry: (Instant, Slot)) {
        self.heap[place] = entry;
        self.slots[entry.1.index()].place = place;
    }

    #[cfg(any(test, feature = "audit"))]
    pub(super) fn get(&self, slot: Slot) -> Instant {
        let known = self.slots.get(slot.index());
        known.map_or(Instant::NEVER, |known| known.deadline)
    }

    /// The earliest deadline, whatever the heap says.
    #[cfg(any(test, feature = "audit"))]
    pub(super) fn earliest(&self) -> Option<Instant> {
        let deadlines = self.slots.iter().map(|known| known.deadline);
        deadlines.filter(|at| !at.is_never()).min()
    }

    /// # Panics
    ///
    /// If an entry is not in its place, or later than the deadline of its slot, or if a deadline has none.
    #[cfg(any(test, feature = "audit"))]
    pub(super) fn audit(&self) {
        for (place, entry) in self.heap.iter().enumerate() {
            let known = self.slots[entry.1.index()];
            assert_eq!(known.place, place, "the place of {entry:?}");
            assert!(entry.0 <= known.deadline, "{entry:?} is late: {known:?}");
            let parent = self.heap[place.saturating_sub(1) / 2];
            assert!(parent <= *entry, "{parent:?} stands before {entry:?}");
        }
        for known in &self.slots {
            let has_entry = known.place != ABSENT;
            assert!(has_entry || known.deadline.is_never(), "{known:?}");
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn slots_come_due_in_the_order_of_their_newest_deadlines(
            sets in proptest::collection::vec((0_u32..20, 0_u64..50, any::<bool>()), 0..200)
        ) {
            let mut deadlines = Deadlines::default();
            let mut naive = [None; 20];
            for (slot, at, settles) in sets {
                let at = if at == 0 { Instant::NEVER } else { Instant::from_micros(at) };
                deadlines.set(Slot::new(slot), at);
                naive[slot as usize] = (!at.is_never()).then_some(at);
                deadlines.audit();
                let first = naive.iter().flatten().min().copied();
                prop_assert!(first.is_none() || deadlines.first() <= first);
                if settles {
                    deadlines.settle(Instant::LAST);
                    prop_assert_eq!(deadlines.first(), first);
                }
            }
            let mut due: Vec<(Instant, u32)> =
                (0..20).filter_map(|slot| Some((naive[slot as usize]?, slot))).collect();
            due.sort_unstable();
            for (at, slot) in due {
                deadlines.settle(Instant::LAST);
                prop_assert_eq!(deadlines.first(), Some(at));
                prop_assert_eq!(deadlines.pop_due(at), Some(Slot::new(slot)));
                deadlines.audit();
            }
            prop_assert_eq!(deadlines.pop_due(Instant::from_micros(99)), None);
            prop_assert_eq!(deadlines.first(), None);
        }
    }

    #[test]
    fn a_deadline_that_is_put_off_moves_nothing_until_its_entry_comes_first() {
        let at = |n: u32| Instant::from_micros(n.into());
        let mut deadlines = Deadlines::default();
        (0..100).for_each(|n| deadlines.set(Slot::new(n), at(n)));
        let before = work::done();
        for later in [200, 300, 400] {
            (0..100).for_each(|n| deadlines.set(Slot::new(n), at(later + n)));
        }
        assert_eq!(work::done() - before, 0);
        deadlines.settle(Instant::LAST);
        assert_eq!(deadlines.first(), Some(at(400)));
    }
}
