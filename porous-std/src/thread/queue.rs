//! A queue from one thread to another, with a bound in bytes.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicIsize, Ordering};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};

/// The bytes that a queue holds. One more item may exceed this.
pub(crate) const BUDGET: isize = 1 << 20;

/// The load of a queue whose consumer wants no more: however much is added, there is room, and the producer
/// never waits.
const OVER: isize = isize::MIN / 2;

/// An item of a queue.
pub(crate) trait Weigh {
    /// The bytes that the item counts for, as in the core's budgets: those of its packet, and 64.
    fn weight(&self) -> isize;
}

/// The weight of a packet.
#[expect(clippy::cast_possible_wrap, reason = "no allocation is longer")]
pub(crate) const fn weight(payload: &[u8]) -> isize {
    payload.len() as isize + 64
}

/// The end of the thread that adds items.
#[derive(Debug)]
pub(crate) struct Producer<T> {
    queue: Sender<T>,
    load: Arc<AtomicIsize>,
}

/// The end of the thread that takes items out.
#[derive(Debug)]
pub(crate) struct Consumer<T> {
    /// Never locked: the lock is there only because it makes the consumer `Sync`, which engines ask of all
    /// that they keep.
    queue: Mutex<Receiver<T>>,
    load: Arc<AtomicIsize>,
}

pub(crate) fn queue<T>() -> (Producer<T>, Consumer<T>) {
    let (sender, receiver) = channel();
    let load = Arc::new(AtomicIsize::new(0));
    let producer = Producer {
        queue: sender,
        load: Arc::clone(&load),
    };
    let queue = Mutex::new(receiver);
    (producer, Consumer { queue, load })
}

impl<T: Weigh> Producer<T> {
    /// True if one more item may be added, whatever it weighs. Once true, it stays true until the producer
    /// adds an item.
    pub(crate) fn has_room(&self) -> bool {
        self.load.load(Ordering::Acquire) < BUDGET
    }

    /// Adds an item, also if there is no room. Gives it back if the consumer is gone.
    pub(crate) fn push(&self, item: T) -> Result<(), T> {
        // Before the item, or the consumer could take off a weight that was not added yet.
        self.load.fetch_add(item.weight(), Ordering::AcqRel);
        self.queue.send(item).map_err(|unsent| unsent.0)
    }
}

impl<T: Weigh> Consumer<T> {
    /// The next item, and whether a producer that has found no room should look again: by this
    /// item, the queue became less than half full. A producer that waits adds nothing, so that one
    /// item does this on the way to an empty queue.
    pub(crate) fn pop(&mut self) -> Result<(T, bool), TryRecvError> {
        let queue = self.queue.get_mut();
        let item = queue
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .try_recv()?;
        let weight = item.weight();
        let before = self.load.fetch_sub(weight, Ordering::AcqRel);
        let half = BUDGET / 2;
        Ok((item, before >= half && before - weight < half))
    }
}

impl<T> Consumer<T> {
    /// Nothing that comes from now on is of interest, so that the producer need not wait for room.
    pub(crate) fn give_up(&self) {
        self.load.store(OVER, Ordering::Release);
    }
}

impl<T> Drop for Consumer<T> {
    fn drop(&mut self) {
        self.give_up();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Weigh for usize {
        fn weight(&self) -> isize {
            Self::try_into(*self).unwrap()
        }
    }

    const QUARTER: usize = 1 << 18;

    #[test]
    fn items_come_out_in_order_and_room_is_told_once() {
        let (producer, mut consumer) = queue();
        for _ in 0..4 {
            assert!(producer.has_room());
            producer.push(QUARTER).unwrap();
        }
        assert!(!producer.has_room());
        // One more than fits, as the last may be of any size.
        producer.push(QUARTER + 1).unwrap();
        let mut told = Vec::new();
        while let Ok((item, room)) = consumer.pop() {
            told.push((item, room));
        }
        let (some, last) = (QUARTER, QUARTER + 1);
        let expected = [
            (some, false),
            (some, false),
            (some, false),
            (some, true),
            (last, false),
        ];
        assert_eq!(told, expected);
        assert!(producer.has_room());
    }

    #[test]
    fn a_producer_that_waits_is_told_of_room_that_one_item_makes() {
        let (producer, mut consumer) = queue();
        producer.push(4 * QUARTER).unwrap();
        assert!(!producer.has_room());
        assert_eq!(consumer.pop(), Ok((4 * QUARTER, true)));
    }

    #[test]
    fn a_consumer_that_is_gone_takes_nothing_and_lets_nobody_wait() {
        let (producer, consumer) = queue();
        producer.push(9 * QUARTER).unwrap();
        drop(consumer);
        assert!(producer.has_room());
        assert_eq!(producer.push(9 * QUARTER), Err(9 * QUARTER));
        assert!(producer.has_room());
    }

    #[test]
    fn a_producer_that_is_gone_is_known_when_all_has_come() {
        let (producer, mut consumer) = queue();
        assert_eq!(consumer.pop(), Err(TryRecvError::Empty));
        producer.push(1).unwrap();
        drop(producer);
        assert_eq!(consumer.pop(), Ok((1, false)));
        assert_eq!(consumer.pop(), Err(TryRecvError::Disconnected));
    }
}
