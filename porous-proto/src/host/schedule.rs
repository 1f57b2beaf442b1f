//! Who is due, and who is ready: an indexed heap of one deadline a peer, and a queue of the peers
//! that may have something to send. A host with nothing to do looks at nothing.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::time::Instant;
use crate::work;

const ABSENT: usize = usize::MAX;

/// Deadlines and readiness by slot.
#[derive(Debug, Default)]
pub(crate) struct Schedule {
    /// A binary heap, the earliest first; ties by slot, so that the order is always the same.
    heap: Vec<(Instant, u32)>,
    /// Where each slot is in the heap.
    places: Vec<usize>,
    ready: Turns,
    /// Who has data that the host's cap holds back.
    waiting: Turns,
}

/// Slots that stand in a queue, once each.
#[derive(Debug, Default)]
struct Turns {
    queue: VecDeque<u32>,
    /// Of each slot.
    is_in: Vec<bool>,
}

impl Turns {
    fn push(&mut self, slot: u32) {
        let place = slot as usize;
        if self.is_in.len() <= place {
            self.is_in.resize(place + 1, false);
        }
        if !core::mem::replace(&mut self.is_in[place], true) {
            self.queue.push_back(slot);
        }
    }

    fn first(&self) -> Option<u32> {
        self.queue.front().copied()
    }

    /// The first goes to the end, or has nothing more to do.
    fn turn_over(&mut self, more: bool) {
        if let Some(slot) = self.queue.pop_front() {
            self.is_in[slot as usize] = more;
            if more {
                self.queue.push_back(slot);
            }
        }
    }
}

impl Schedule {
    /// The earliest deadline.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.heap.first().map(|&(at, _)| at)
    }

    /// The deadline of a slot.
    #[cfg(any(test, feature = "audit"))]
    pub(crate) fn deadline(&self, slot: u32) -> Instant {
        let place = self.places.get(slot as usize);
        let entry = place.and_then(|&place| self.heap.get(place));
        entry.map_or(Instant::NEVER, |&(at, _)| at)
    }

    /// A slot whose deadline has come. Its deadline has to be set anew.
    pub(crate) fn pop_due(&mut self, now: Instant) -> Option<u32> {
        let &(at, slot) = self.heap.first()?;
        if at > now {
            return None;
        }
        self.set_deadline(slot, Instant::NEVER);
        Some(slot)
    }

    /// Changes the deadline of a slot; `NEVER` takes it out.
    pub(crate) fn set_deadline(&mut self, slot: u32, at: Instant) {
        self.reserve(slot);
        let place = self.places[slot as usize];
        match (place, at.is_never()) {
            (ABSENT, true) => {}
            (ABSENT, false) => {
                self.heap.push((at, slot));
                self.places[slot as usize] = self.heap.len() - 1;
                self.rise(self.heap.len() - 1);
            }
            (place, true) => self.remove(place),
            (place, false) => {
                if self.heap[place].0 != at {
                    self.heap[place].0 = at;
                    let place = self.rise(place);
                    self.sink(place);
                }
            }
        }
    }

    /// Puts a slot at the end of the ready queue, if it is not in it.
    pub(crate) fn set_ready(&mut self, slot: u32) {
        self.ready.push(slot);
    }

    /// Puts a slot at the end of the queue of those that wait for room, if it is not in it.
    pub(crate) fn set_waiting(&mut self, slot: u32) {
        self.waiting.push(slot);
    }

    /// Whether there are any.
    pub(crate) fn waits(&self) -> bool {
        self.waiting.first().is_some()
    }

    /// Whether a slot may have something to send that needs no room.
    pub(crate) fn is_ready(&self) -> bool {
        self.ready.first().is_some()
    }

    /// The slot whose turn it is to send: those come first that wait for room, if there is some.
    pub(crate) fn first(&self, has_room: bool) -> Option<u32> {
        let waiting = self.waiting.first().filter(|_| has_room);
        waiting.or_else(|| self.ready.first())
    }

    /// The slot whose turn it was goes to the end, or has nothing more to send.
    pub(crate) fn turn_over(&mut self, has_room: bool, more: bool) {
        if has_room && self.waits() {
            self.waiting.turn_over(more);
        } else {
            self.ready.turn_over(more);
        }
    }

    fn reserve(&mut self, slot: u32) {
        let len = slot as usize + 1;
        if self.places.len() < len {
            self.places.resize(len, ABSENT);
        }
    }

    fn remove(&mut self, place: usize) {
        let (_, slot) = self.heap.swap_remove(place);
        self.places[slot as usize] = ABSENT;
        if let Some(&(_, moved)) = self.heap.get(place) {
            self.places[moved as usize] = place;
            let place = self.rise(place);
            self.sink(place);
        }
    }

    fn rise(&mut self, mut place: usize) -> usize {
        while place > 0 && self.heap[place] < self.heap[(place - 1) / 2] {
            place = self.swap(place, (place - 1) / 2);
        }
        place
    }

    fn sink(&mut self, mut place: usize) {
        loop {
            let children = (2 * place + 1)..(2 * place + 3).min(self.heap.len());
            let Some(least) = children.min_by_key(|&child| self.heap[child]) else {
                return;
            };
            if self.heap[place] <= self.heap[least] {
                return;
            }
            place = self.swap(place, least);
        }
    }

    fn swap(&mut self, from: usize, to: usize) -> usize {
        work::count(1);
        self.heap.swap(from, to);
        self.places[self.heap[from].1 as usize] = from;
        self.places[self.heap[to].1 as usize] = to;
        to
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn slots_come_due_in_the_order_of_their_newest_deadlines(
            sets in proptest::collection::vec((0_u32..20, 0_u64..50), 0..200)
        ) {
            let mut schedule = Schedule::default();
            let mut naive = [None; 20];
            for (slot, at) in sets {
                let at = if at == 0 { Instant::NEVER } else { Instant::from_micros(at) };
                schedule.set_deadline(slot, at);
                naive[slot as usize] = (!at.is_never()).then_some(at);
                prop_assert_eq!(schedule.next(), naive.iter().flatten().min().copied());
            }
            let mut due: Vec<(Instant, u32)> =
                (0..20).filter_map(|slot| Some((naive[slot as usize]?, slot))).collect();
            due.sort_unstable();
            for (at, slot) in due {
                prop_assert_eq!(schedule.next(), Some(at));
                prop_assert_eq!(schedule.pop_due(at), Some(slot));
            }
            prop_assert_eq!(schedule.pop_due(Instant::from_micros(99)), None);
        }
    }

    #[test]
    fn ready_slots_take_turns_and_stand_in_the_queue_once() {
        let mut schedule = Schedule::default();
        for slot in [3, 1, 3] {
            schedule.set_ready(slot);
        }
        assert_eq!(schedule.first(true), Some(3));
        schedule.turn_over(true, true);
        assert_eq!(schedule.first(true), Some(1));
        schedule.turn_over(true, false);
        schedule.turn_over(true, false);
        assert_eq!(schedule.first(true), None);
        schedule.set_ready(1);
        assert_eq!(schedule.first(true), Some(1));
    }

    #[test]
    fn who_waits_for_room_comes_first_where_there_is_some() {
        let mut schedule = Schedule::default();
        schedule.set_ready(5);
        for slot in [3, 1, 3] {
            schedule.set_waiting(slot);
        }
        assert_eq!(schedule.first(false), Some(5));
        for slot in [3, 1, 3] {
            assert_eq!(schedule.first(true), Some(slot));
            schedule.turn_over(true, true);
        }
        schedule.turn_over(false, false);
        assert_eq!((schedule.first(false), schedule.is_ready()), (None, false));
        assert!(schedule.waits());
    }
}
