//! Which peers are due, and which may send: a heap with one entry for each peer, and queues of the peers
//! that may have something to send. A host with nothing to do looks at no peer.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use super::deadlines::Deadlines;
use crate::bucket::Cap;
use crate::ids::Slot;
use crate::peer::Tick;
use crate::time::Instant;

/// The least time for which a host that waits for room under its cap is not called: with a high cap
/// there is room for the next datagram every few microseconds.
const QUANTUM: Duration = Duration::from_millis(1);

/// Deadlines and readiness by slot, and the cap of all that the host sends
/// (`docs/deviations.md` C14, P11).
#[derive(Debug)]
pub(super) struct Schedule {
    deadlines: Deadlines,
    /// The peers that may have something to send.
    ready: Turns,
    /// The peers whose data the host's cap holds back.
    waiting: Turns,
    cap: Cap,
    /// When there is room for data under the cap.
    room_at: Instant,
}

/// Why a host has something to do.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reason {
    /// This peer may have something to send.
    Ready(Slot),
    /// There is room under the host's cap.
    Room,
    /// A deadline of this peer has come.
    Deadline(Slot),
}

/// A queue in which each slot stands once at most.
#[derive(Debug, Default)]
struct Turns {
    queue: VecDeque<Slot>,
    /// True of the slots that stand in the queue, by slot.
    is_in: Vec<bool>,
}

impl Turns {
    fn push(&mut self, slot: Slot) {
        let place = slot.index();
        if self.is_in.len() <= place {
            self.is_in.resize(place + 1, false);
        }
        if !core::mem::replace(&mut self.is_in[place], true) {
            self.queue.push_back(slot);
        }
    }

    fn first(&self) -> Option<Slot> {
        self.queue.front().copied()
    }

    /// Takes out the first slot. With `more` to do, it goes to the end.
    fn turn_over(&mut self, more: bool) {
        if let Some(slot) = self.queue.pop_front() {
            self.is_in[slot.index()] = more;
            if more {
                self.queue.push_back(slot);
            }
        }
    }
}

impl Schedule {
    /// `send_rate`: the most that the host sends, in bytes a second; `u32::MAX`: no cap.
    pub(super) fn new(send_rate: u32) -> Self {
        Self {
            deadlines: Deadlines::default(),
            ready: Turns::default(),
            waiting: Turns::default(),
            cap: Cap::new(send_rate),
            room_at: Instant::ZERO,
        }
    }

    /// The earliest deadline of a peer, or any time after `now` if none has come.
    pub(super) fn next(&mut self, now: Instant) -> Option<Instant> {
        self.deadlines.settle(now);
        self.deadlines.first()
    }

    /// When the host has something to do.
    pub(super) fn next_call(&self) -> Option<Instant> {
        // What a peer has to send may need no room under the cap: only its turn shows.
        if self.ready.first().is_some() {
            return Some(Instant::ZERO);
        }
        let room = self.waits().then_some(self.room_at);
        // Exact, as no slot is ready.
        self.deadlines.first().into_iter().chain(room).min()
    }

    /// Why the host has something to do [then](Self::next_call): for the cap, to send, or of a deadline, and the
    /// slot of that.
    pub(super) fn next_reason(&self) -> Option<Reason> {
        if let Some(slot) = self.ready.first() {
            return Some(Reason::Ready(slot));
        }
        let at = self.next_call()?;
        let slot = self.deadlines.first_slot();
        let slot = slot.filter(|_| self.deadlines.first() == Some(at));
        Some(slot.map_or(Reason::Room, Reason::Deadline))
    }

    /// Changes the cap on what the host sends.
    pub(super) fn set_rate(&mut self, bytes_a_second: u32, tick: Tick) {
        self.cap.set_rate(bytes_a_second, tick.now);
        self.look_for_room(tick);
    }

    /// Whether data may leave now by the host's cap: the tick says so from here on.
    pub(super) fn look_for_room(&mut self, tick: Tick) -> Tick {
        let until = self.cap.hold(tick.step, tick.now);
        self.room_at = until.map_or(tick.now, |until| until.max(tick.now + QUANTUM));
        Tick {
            is_full: until.is_some(),
            ..tick
        }
    }

    /// Counts a datagram that leaves. `is_data`: true if the cap holds such datagrams back.
    pub(super) fn on_sent(&mut self, bytes: usize, is_data: bool, now: Instant) {
        if is_data {
            self.cap.spend(bytes as u64, now);
        } else {
            // The debt of what is never held back is bounded, so that data has an eighth left (P11).
            self.cap.count(bytes as u64);
        }
    }

    /// # Panics
    ///
    /// If more has left than the cap allows, where no datagram is longer than this, or if
    /// [`next_call`](Self::next_call) would tell a time that is not the earliest deadline.
    #[cfg(any(test, feature = "audit"))]
    pub(super) fn audit(&self, longest: usize) {
        self.cap.audit(longest as u64);
        self.deadlines.audit();
        if self.ready.first().is_none() {
            assert_eq!(self.deadlines.first(), self.deadlines.earliest());
        }
    }

    #[cfg(any(test, feature = "audit"))]
    pub(super) fn deadline(&self, slot: Slot) -> Instant {
        self.deadlines.get(slot)
    }

    /// Takes out a slot whose deadline has come. Its next deadline has to be set by the caller.
    pub(super) fn pop_due(&mut self, now: Instant) -> Option<Slot> {
        self.deadlines.pop_due(now)
    }

    /// Changes the deadline of a slot; `NEVER` takes it away.
    pub(super) fn set_deadline(&mut self, slot: Slot, at: Instant) {
        self.deadlines.set(slot, at);
        self.settle();
    }

    /// Keeps the earliest deadline known while [`next_call`](Self::next_call) tells it: no slot is ready.
    fn settle(&mut self) {
        if self.ready.first().is_none() {
            self.deadlines.settle(Instant::LAST);
        }
    }

    /// Puts a slot at the end of the queue of the ready, if it is not in there.
    pub(super) fn set_ready(&mut self, slot: Slot) {
        self.ready.push(slot);
    }

    /// Puts a slot at the end of the queue of those that wait for room, if it is not in there.
    pub(super) fn set_waiting(&mut self, slot: Slot) {
        self.waiting.push(slot);
    }

    /// Whether any slot waits for room.
    fn waits(&self) -> bool {
        self.waiting.first().is_some()
    }

    /// The slot whose turn it is to send. `has_room`: the host's cap lets data leave.
    pub(super) fn first(&self, has_room: bool) -> Option<Slot> {
        // Those that wait come first, or a peer that is always ready would take the room each time.
        let waiting = self.waiting.first().filter(|_| has_room);
        waiting.or_else(|| self.ready.first())
    }

    /// Ends the turn of the slot that [`first`](Self::first) gave for the same `has_room`. `more`: it may
    /// have more to send, and goes to the end of its queue.
    pub(super) fn turn_over(&mut self, has_room: bool, more: bool) {
        if has_room && self.waits() {
            self.waiting.turn_over(more);
        } else {
            self.ready.turn_over(more);
            self.settle();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ready_slots_take_turns_and_stand_in_the_queue_once() {
        let mut schedule = Schedule::new(u32::MAX);
        for slot in [3, 1, 3].map(Slot::new) {
            schedule.set_ready(slot);
        }
        assert_eq!(schedule.first(true), Some(Slot::new(3)));
        schedule.turn_over(true, true);
        assert_eq!(schedule.first(true), Some(Slot::new(1)));
        schedule.turn_over(true, false);
        schedule.turn_over(true, false);
        assert_eq!(schedule.first(true), None);
        schedule.set_ready(Slot::new(1));
        assert_eq!(schedule.first(true), Some(Slot::new(1)));
    }

    #[test]
    fn a_peer_that_waits_for_the_rate_comes_first_when_there_is_room() {
        let mut schedule = Schedule::new(u32::MAX);
        schedule.set_ready(Slot::new(5));
        for slot in [3, 1, 3].map(Slot::new) {
            schedule.set_waiting(slot);
        }
        assert_eq!(schedule.first(false), Some(Slot::new(5)));
        for slot in [3, 1, 3].map(Slot::new) {
            assert_eq!(schedule.first(true), Some(slot));
            schedule.turn_over(true, true);
        }
        schedule.turn_over(false, false);
        assert_eq!((schedule.first(false), schedule.waits()), (None, true));
        assert_eq!(
            schedule.next_call(),
            Some(Instant::ZERO),
            "when there is room"
        );
    }
}
