//! The messages of one peer between the layer above and their acknowledgement: those that wait to be
//! sent (Figure 5), those in frames on their way, and those in frames that were considered dropped.

use bytes::Bytes;

use super::copies::{Copies, Offer};
use super::cut::split;
use super::late::{Carried, Dropped};
use super::plan::Plan;
use super::rates::Rates;
use super::send_queue::SendQueue;
use super::store::{Delivery, List, Outgoing, Store};
use super::{Source, TransferParams};
use crate::canary::{Bug, strikes};
use crate::config::{Policy, Priority};
use crate::frame::Message;
use crate::time::Instant;

/// All of them.
#[derive(Debug)]
pub(super) struct Messages {
    pub(super) store: Store,
    send_queue: SendQueue,
    pub(super) copies: Copies,
    dropped: Dropped,
    /// LIMITS are messages of this layer.
    pub(super) rates: Rates,
    /// Copies of a message that was lost, at least.
    copies_of_lost: u8,
}

impl Messages {
    pub(super) fn new(params: &TransferParams) -> Self {
        Self {
            store: Store::new(),
            send_queue: SendQueue::new(),
            copies: Copies::new(params.max_datagram),
            dropped: Dropped::new(params.window),
            rates: Rates::new(params),
            copies_of_lost: u8::from(params.policy == Policy::Modern),
        }
    }

    /// Makes sure that the front of the send queue is worth sending, and takes a new message with at most
    /// `most` bytes of a packet from the source if nothing waits. False if there is nothing.
    pub(super) fn refill(
        &mut self,
        source: &mut impl Source,
        priority: Priority,
        most: usize,
    ) -> bool {
        while let Some(front) = self.send_queue.front(&mut self.store, priority) {
            if source.is_current(&front.message) {
                return true;
            }
            if let Some(useless) = self.send_queue.pop(&mut self.store, priority) {
                source.skipped(&useless.message);
            }
        }
        let Some(next) = source.next_message(priority, most) else {
            return false;
        };
        let outgoing = Outgoing {
            message: next.message,
            delivery: next.delivery,
            priority,
            copies: next.copies,
            probed: false,
        };
        self.send_queue.push_new(&mut self.store, outgoing);
        true
    }

    /// The message that is to be sent next. If the path has become too narrow for it, it is cut, and its
    /// first piece is next.
    pub(super) fn front(
        &mut self,
        source: &mut impl Source,
        priority: Priority,
        most: usize,
    ) -> Option<&Outgoing> {
        let list = self.send_queue.front_list(priority);
        let front = self.store.front_mut(list);
        if let Some(second) = front.and_then(|front| split(front, most)) {
            source.cut(&second.message);
            self.store.push_second(list, second);
        }
        self.send_queue.front(&mut self.store, priority)
    }

    /// The front of the send queue goes into a frame.
    pub(super) fn take_front(&mut self, priority: Priority, contents: &mut List) {
        self.send_queue.shift(&mut self.store, priority, contents);
    }

    /// Fills what is spare of a frame with copies of messages that are on their way.
    pub(super) fn plan_copies(
        &mut self,
        plan: &mut Plan,
        source: &impl Source,
        news: usize,
        room: Option<usize>,
        now: Instant,
    ) {
        let offer = Offer {
            news,
            room,
            data_waits: !self.send_queue.is_empty(),
        };
        self.copies.plan(plan, &mut self.store, source, &offer, now);
    }

    /// A frame with these messages is sent.
    pub(super) fn on_sent(&mut self, contents: &List, now: Instant) {
        self.copies.on_sent(&mut self.store, contents, now);
    }

    /// A frame was acknowledged: its messages have arrived.
    pub(super) fn on_acknowledged(&mut self, mut contents: List, source: &mut impl Source) {
        while let Some(arrived) = self.store.pop_arrived(&mut contents) {
            if let Some(outgoing) = arrived {
                self.note_arrived(&outgoing.message, source);
            }
        }
    }

    /// The frames from `low` to `high` were acknowledged: those of them that were considered dropped were
    /// only late, and nothing of them is sent again (§3.1.2).
    pub(super) fn on_late(&mut self, low: u64, high: u64, source: &mut impl Source) {
        while let Some(Carried { open, given_up }) = self.dropped.take(low, high) {
            for ticket in open {
                if let Some(outgoing) = self.store.take_arrived(ticket) {
                    self.note_arrived(&outgoing.message, source);
                }
            }
            for message in &given_up {
                self.note_arrived(message, source);
            }
        }
    }

    fn note_arrived(&mut self, message: &Message<Bytes>, source: &mut impl Source) {
        self.rates.on_acknowledged(message);
        source.acknowledged(message);
    }

    /// The frame `id` is considered dropped: its reliable messages wait to be sent again, and the source
    /// is told of the others. All of them may only be late. Whether there was a reliable one. `next`: the
    /// id of the next frame.
    pub(super) fn on_lost(
        &mut self,
        id: u64,
        mut contents: List,
        next: u64,
        source: &mut impl Source,
    ) -> bool {
        let mut is_reliable = false;
        let mut carried = Carried::default();
        loop {
            let ticket = self.store.ticket(&contents);
            let Some(lost) = self.store.pop(&mut contents) else {
                break;
            };
            let Some(mut outgoing) = lost else {
                carried.open.extend(ticket); // another frame carries it
                continue;
            };
            match outgoing.delivery {
                Delivery::Reliable => {
                    is_reliable = true;
                    if strikes(Bug::ForgetsResend) {
                        continue;
                    }
                    // A receiver that waits for it has waited for long (P8).
                    outgoing.copies = outgoing.copies.max(self.copies_of_lost);
                    let ticket = self.send_queue.push_again(&mut self.store, outgoing);
                    carried.open.push(ticket);
                }
                Delivery::Unreliable | Delivery::Latest => {
                    let matters = self.rates.on_lost(&outgoing.message);
                    if source.lost(&outgoing.message) || matters {
                        carried.given_up.push(outgoing.message);
                    }
                }
            }
        }
        self.dropped.insert(id, carried, &self.store, next);
        is_reliable
    }

    /// # Panics
    ///
    /// If a message is in no list, or in one that leads nowhere. Returns how many are listed.
    #[cfg(any(test, feature = "audit"))]
    pub(super) fn audit<'a>(&'a self, in_frames: impl Iterator<Item = &'a List>) -> usize {
        let lists = self.send_queue.lists().chain(self.copies.lists());
        let listed = lists
            .chain(in_frames)
            .map(|list| self.store.len(list))
            .sum();
        assert_eq!(self.store.used(), listed, "messages that no list leads to");
        listed
    }
}
