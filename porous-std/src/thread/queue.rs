//! A queue from one thread to another, with a bound in bytes.

use alloc::sync::{Arc, Weak};
use alloc::task::Wake;
use core::sync::atomic::{AtomicBool, AtomicIsize, Ordering};
use core::task::Waker;
use core::time::Duration;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SendError, Sender, TryRecvError, channel};
use std::sync::{Mutex, PoisonError};

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
    queue: Arc<Sender<Entry<T>>>,
    load: Arc<AtomicIsize>,
}

/// The end of the thread that takes items out.
#[derive(Debug)]
pub(crate) struct Consumer<T> {
    /// Never locked: the lock is there only because it makes the consumer `Sync`, which engines ask of all
    /// that they keep.
    queue: Mutex<Receiver<Entry<T>>>,
    load: Arc<AtomicIsize>,
    ringer: Arc<Ringer<T>>,
}

/// What a queue carries.
#[derive(Debug)]
enum Entry<T> {
    Item(T),
    /// Nothing but an end of the consumer's sleep.
    Ring,
}

/// Wakes a consumer that sleeps, for another thread than the producer's.
#[derive(Debug)]
struct Ringer<T> {
    /// Weak, as the consumer is to notice when the producer has gone.
    queue: Weak<Sender<Entry<T>>>,
    /// True while a ring is under way: it stands for all that follow, or the queue had no bound.
    rung: AtomicBool,
}

impl<T: Send + 'static> Wake for Ringer<T> {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Of a queue without a producer or a consumer nobody is to be woken.
        if let (Some(queue), false) = (self.queue.upgrade(), self.rung.swap(true, Ordering::AcqRel))
        {
            drop(queue.send(Entry::Ring));
        }
    }
}

pub(crate) fn queue<T>() -> (Producer<T>, Consumer<T>) {
    let (sender, receiver) = channel();
    let sender = Arc::new(sender);
    let load = Arc::new(AtomicIsize::new(0));
    let ringer = Ringer {
        queue: Arc::downgrade(&sender),
        rung: AtomicBool::new(false),
    };
    let consumer = Consumer {
        queue: Mutex::new(receiver),
        load: Arc::clone(&load),
        ringer: Arc::new(ringer),
    };
    let queue = sender;
    (Producer { queue, load }, consumer)
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
        match self.queue.send(Entry::Item(item)) {
            Err(SendError(Entry::Item(item))) => Err(item),
            Ok(()) | Err(SendError(Entry::Ring)) => Ok(()),
        }
    }
}

/// An item that was taken out, and whether a producer that has found no room should look again: by this item, the
/// queue became less than half full. A producer that waits adds nothing, so that one item does this on the way to
/// an empty queue.
pub(crate) type Popped<T> = (T, bool);

impl<T: Weigh> Consumer<T> {
    /// The next item, if one is there.
    pub(crate) fn pop(&mut self) -> Result<Popped<T>, TryRecvError> {
        loop {
            if let Entry::Item(item) = self.receiver().try_recv()? {
                return Ok(self.weigh_out(item));
            }
            self.heard();
        }
    }

    /// The next item, for which it sleeps as long as `longest`, unless the queue's [waker](Self::waker) ends the
    /// sleep.
    pub(crate) fn pop_within(&mut self, longest: Duration) -> Result<Popped<T>, RecvTimeoutError> {
        match self.receiver().recv_timeout(longest)? {
            Entry::Item(item) => Ok(self.weigh_out(item)),
            Entry::Ring => {
                self.heard();
                Err(RecvTimeoutError::Timeout)
            }
        }
    }

    fn receiver(&mut self) -> &mut Receiver<Entry<T>> {
        let queue = self.queue.get_mut();
        queue.unwrap_or_else(PoisonError::into_inner)
    }

    /// The ring that was under way has come: the next one is sent. What was done before a ring that was not sent
    /// is seen from here on.
    fn heard(&self) {
        self.ringer.rung.swap(false, Ordering::AcqRel);
    }

    fn weigh_out(&self, item: T) -> Popped<T> {
        let weight = item.weight();
        let before = self.load.fetch_sub(weight, Ordering::AcqRel);
        let half = BUDGET / 2;
        (item, before >= half && before - weight < half)
    }
}

impl<T: Send + 'static> Consumer<T> {
    /// Ends the sleep of [`pop_within`](Self::pop_within), or the next one.
    pub(crate) fn waker(&self) -> Waker {
        Arc::clone(&self.ringer).into()
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
    fn a_thousand_rings_end_one_sleep() {
        let (producer, mut consumer) = queue::<usize>();
        let waker = consumer.waker();
        for _ in 0..2 {
            for _ in 0..1000 {
                waker.wake_by_ref();
            }
            producer.push(1).unwrap();
            let long = Duration::from_secs(3600);
            assert_eq!(consumer.pop_within(long), Err(RecvTimeoutError::Timeout));
            assert_eq!(consumer.pop_within(long), Ok((1, false)));
            waker.wake_by_ref();
            assert_eq!(consumer.pop(), Err(TryRecvError::Empty), "no item");
        }
    }

    #[test]
    fn a_waker_keeps_no_queue_open() {
        let (producer, mut consumer) = queue::<usize>();
        let waker = consumer.waker();
        drop(producer);
        waker.wake_by_ref();
        assert_eq!(
            consumer.pop_within(Duration::MAX),
            Err(RecvTimeoutError::Disconnected)
        );
        drop(consumer);
        waker.wake();
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
