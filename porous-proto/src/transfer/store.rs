//! Where messages live between the sequencing layer and their acknowledgement: one slab a peer,
//! threaded by intrusive lists, so that moving a message from the send queue (Figure 5) to the
//! transfer queue (§3.1.2) and back costs no allocation.

use alloc::vec::Vec;

use bytes::Bytes;

use crate::config::Priority;
use crate::frame::Message;
use crate::work;

const NIL: u32 = u32::MAX;

/// What the transfer layer owes a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// Sent once.
    Unreliable,
    /// Sent until it is acknowledged.
    Reliable,
    /// Sent once, and replaced by the newest state if it is lost (window acknowledgements).
    Latest,
}

/// A message on its way.
#[derive(Clone, Debug)]
pub(crate) struct Outgoing {
    pub(crate) message: Message<Bytes>,
    pub(crate) delivery: Delivery,
    pub(crate) priority: Priority,
}

#[derive(Debug)]
struct Slot {
    outgoing: Option<Outgoing>,
    next: u32,
}

/// A queue of messages in a [`Store`]. Dropping one without draining it leaks its messages.
#[derive(Debug)]
pub(crate) struct List {
    head: u32,
    tail: u32,
}

impl List {
    pub(crate) const EMPTY: Self = Self {
        head: NIL,
        tail: NIL,
    };

    pub(crate) const fn is_empty(&self) -> bool {
        self.head == NIL
    }
}

/// The slab. It grows to the largest number of messages in flight and stays there.
#[derive(Debug)]
pub(crate) struct Store {
    slots: Vec<Slot>,
    free: u32,
}

impl Store {
    pub(crate) const fn new() -> Self {
        Self {
            slots: Vec::new(),
            free: NIL,
        }
    }

    /// Appends a new message to `list`.
    pub(crate) fn push(&mut self, list: &mut List, outgoing: Outgoing) {
        let slot = Slot {
            outgoing: Some(outgoing),
            next: NIL,
        };
        let index = if self.free == NIL {
            self.slots.push(slot);
            // The number of messages is bounded far below by the send budget.
            u32::try_from(self.slots.len() - 1).unwrap_or(NIL)
        } else {
            let index = self.free;
            self.free = self.slots[index as usize].next;
            self.slots[index as usize] = slot;
            index
        };
        self.link(list, index);
    }

    fn link(&mut self, list: &mut List, index: u32) {
        if list.tail == NIL {
            list.head = index;
        } else {
            self.slots[list.tail as usize].next = index;
        }
        list.tail = index;
    }

    fn unlink_front(&mut self, list: &mut List) -> Option<u32> {
        if list.head == NIL {
            return None;
        }
        let index = list.head;
        list.head = self.slots[index as usize].next;
        if list.head == NIL {
            list.tail = NIL;
        }
        self.slots[index as usize].next = NIL;
        Some(index)
    }

    /// Moves the first message of `from` to the end of `to`.
    pub(crate) fn shift(&mut self, from: &mut List, to: &mut List) {
        if let Some(index) = self.unlink_front(from) {
            self.link(to, index);
        }
    }

    /// Takes the first message of `list` out of the store.
    pub(crate) fn pop(&mut self, list: &mut List) -> Option<Outgoing> {
        work::count(1);
        let index = self.unlink_front(list)?;
        let slot = &mut self.slots[index as usize];
        slot.next = self.free;
        self.free = index;
        slot.outgoing.take()
    }

    pub(crate) fn front(&self, list: &List) -> Option<&Outgoing> {
        self.slots.get(list.head as usize)?.outgoing.as_ref()
    }

    /// How many messages there are.
    #[cfg(any(test, feature = "audit"))]
    pub(crate) fn used(&self) -> usize {
        let used = self.slots.iter().filter(|slot| slot.outgoing.is_some());
        used.count()
    }

    pub(crate) fn iter<'a>(&'a self, list: &List) -> impl Iterator<Item = &'a Outgoing> {
        let mut index = list.head;
        core::iter::from_fn(move || {
            let slot = self.slots.get(index as usize)?;
            index = slot.next;
            slot.outgoing.as_ref()
        })
    }

    /// Forgets the payloads of unreliable messages of `list`: they are not sent again.
    pub(crate) fn release_unreliable(&mut self, list: &List) {
        let mut index = list.head;
        while let Some(slot) = self.slots.get_mut(index as usize) {
            if let Some(outgoing) = &mut slot.outgoing {
                if outgoing.delivery == Delivery::Unreliable {
                    if let Message::Packet(packet) = &mut outgoing.message {
                        packet.payload = Bytes::new();
                    }
                }
            }
            index = slot.next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Control;

    fn ping(id: u16) -> Outgoing {
        Outgoing {
            message: Message::Control(Control::Ping(id)),
            delivery: Delivery::Reliable,
            priority: Priority::Low,
        }
    }

    fn ids(store: &Store, list: &List) -> Vec<Message<Bytes>> {
        store
            .iter(list)
            .map(|outgoing| outgoing.message.clone())
            .collect()
    }

    #[test]
    fn messages_move_between_lists_in_order_and_slots_are_used_again() {
        let mut store = Store::new();
        let (mut a, mut b) = (List::EMPTY, List::EMPTY);
        for id in 0..3 {
            store.push(&mut a, ping(id));
        }
        store.shift(&mut a, &mut b);
        store.shift(&mut a, &mut b);
        assert_eq!(
            ids(&store, &b),
            [
                Message::Control(Control::Ping(0)),
                Message::Control(Control::Ping(1))
            ]
        );
        assert!(store.pop(&mut b).is_some() && store.pop(&mut b).is_some());
        assert!(b.is_empty() && store.pop(&mut b).is_none());
        store.push(&mut a, ping(7));
        store.push(&mut a, ping(8));
        assert_eq!(store.slots.len(), 3);
        assert_eq!(ids(&store, &a).len(), 3);
    }
}
