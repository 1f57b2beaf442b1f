//! Packets of a channel that have no id yet: they get one when their first fragment is sent, so
//! that what never leaves makes no hole.

use alloc::collections::VecDeque;

use bytes::Bytes;

use crate::frame::Mode;
use crate::options::SendOptions;
use crate::time::Instant;

/// A queue of so many packets is not worth shrinking.
const SMALL: usize = 256;

/// A packet that waits.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) payload: Bytes,
    pub(crate) options: SendOptions,
    /// Its place among all packets of the channel.
    place: u64,
    /// When it was first looked at: `send` is told no time.
    pub(crate) since: Instant,
}

/// The packets, in the order in which they were sent. Unreliable ones have a queue of their own, so
/// that the oldest is found wherever it stands: one that waits behind a reliable packet grows old
/// as well.
#[derive(Debug)]
pub(crate) struct Backlog {
    unreliable: VecDeque<Waiting>,
    others: VecDeque<Waiting>,
    next_place: u64,
}

impl Backlog {
    pub(crate) const fn new() -> Self {
        Self {
            unreliable: VecDeque::new(),
            others: VecDeque::new(),
            next_place: 0,
        }
    }

    #[cfg(any(test, feature = "audit"))]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Waiting> {
        self.unreliable.iter().chain(&self.others)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.unreliable.is_empty() && self.others.is_empty()
    }

    pub(crate) fn push(&mut self, payload: Bytes, options: SendOptions) {
        let waiting = Waiting {
            payload,
            options,
            place: self.next_place,
            since: Instant::NEVER,
        };
        self.next_place += 1;
        match options.mode {
            Mode::Unreliable => self.unreliable.push_back(waiting),
            Mode::Reliable | Mode::Passive => self.others.push_back(waiting),
        }
    }

    fn is_unreliable_next(&self) -> bool {
        match (self.unreliable.front(), self.others.front()) {
            (Some(unreliable), Some(other)) => unreliable.place < other.place,
            (unreliable, _) => unreliable.is_some(),
        }
    }

    /// The packet that was sent first.
    pub(crate) fn front(&self) -> Option<&Waiting> {
        if self.is_unreliable_next() {
            self.unreliable.front()
        } else {
            self.others.front()
        }
    }

    pub(crate) fn pop(&mut self) -> Option<Waiting> {
        if self.is_unreliable_next() {
            pop(&mut self.unreliable)
        } else {
            pop(&mut self.others)
        }
    }

    /// The packets that were sent since the last look wait from now on.
    pub(crate) fn look(&mut self, now: Instant) {
        let fresh = |waiting: &&mut Waiting| waiting.since.is_never();
        for queue in [&mut self.unreliable, &mut self.others] {
            for waiting in queue.iter_mut().rev().take_while(fresh) {
                waiting.since = now;
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.unreliable.len() + self.others.len()
    }

    /// Since when the oldest unreliable packet waits: `NEVER` if it was not looked at.
    pub(crate) fn oldest_unreliable(&self) -> Option<Instant> {
        Some(self.unreliable.front()?.since)
    }

    pub(crate) fn pop_unreliable(&mut self) -> Option<Waiting> {
        pop(&mut self.unreliable)
    }
}

/// Takes the first one. A queue that has become short gives back its memory.
fn pop(queue: &mut VecDeque<Waiting>) -> Option<Waiting> {
    let first = queue.pop_front();
    if queue.capacity() > SMALL && 4 * queue.len() < queue.capacity() {
        queue.shrink_to(2 * queue.len());
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backlog(names: &str) -> Backlog {
        let mut backlog = Backlog::new();
        for (at, name) in names.split_whitespace().enumerate() {
            let mode = if name.starts_with('u') {
                Mode::Unreliable
            } else {
                Mode::Reliable
            };
            backlog.push(Bytes::copy_from_slice(name.as_bytes()), mode.into());
            backlog.look(Instant::from_micros(at as u64));
        }
        backlog
    }

    #[test]
    fn packets_leave_in_the_order_they_were_sent_and_the_oldest_unreliable_one_is_known() {
        let mut backlog = backlog("r0 u1 u2 r3 r4 u5");
        let mut order = alloc::vec::Vec::new();
        while let Some(front) = backlog.front() {
            let name = front.payload.clone();
            if name == "r0" {
                let since = Instant::from_micros(1);
                assert_eq!(backlog.oldest_unreliable(), Some(since));
            }
            order.push(backlog.pop().unwrap().payload);
            assert_eq!(order.last(), Some(&name));
        }
        assert_eq!(order, ["r0", "u1", "u2", "r3", "r4", "u5"]);
        assert!(backlog.is_empty() && backlog.oldest_unreliable().is_none());
    }

    #[test]
    fn unreliable_packets_can_be_taken_out_from_behind_others() {
        let mut backlog = backlog("r0 u1 r2 u3");
        assert_eq!(backlog.pop_unreliable().unwrap().payload, "u1");
        let rest: [_; 3] = core::array::from_fn(|_| backlog.pop().unwrap().payload);
        assert_eq!(rest, ["r0", "r2", "u3"]);
    }

    #[test]
    fn a_queue_that_has_become_short_gives_back_its_memory() {
        let mut backlog = backlog(&"r ".repeat(10_000));
        while backlog.pop().is_some() {}
        assert!(backlog.others.capacity() <= SMALL);
    }

    #[test]
    fn a_queue_that_is_a_quarter_full_is_left_alone() {
        let mut backlog = backlog(&"r ".repeat(10_000));
        let before = backlog.others.capacity();
        while 4 * backlog.others.len() > before {
            backlog.pop();
            assert_eq!(backlog.others.capacity(), before);
        }
        assert!(backlog.pop().is_some() && backlog.pop().is_some());
        let (len, after) = (backlog.others.len(), backlog.others.capacity());
        assert!((2 * len..before).contains(&after), "{after}");
    }
}
