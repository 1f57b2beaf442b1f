//! Where messages are between the sequencing layer and their acknowledgement: a slab of each peer, threaded
//! by lists, so that a message moves from the send queue (Figure 5) to the transfer queue (§3.1.2) and back
//! without an allocation. Several frames may carry one message.

#[cfg(test)]
mod tests;

use alloc::vec::Vec;

use bytes::Bytes;

use crate::config::Priority;
use crate::frame::{Length, Message, Mode};
use crate::hooks::work;
use crate::source::MessageBytes;
use crate::time::Instant;

/// The index of nothing: the end of a list.
const NIL: u32 = u32::MAX;

/// A message on its way, or waiting for it.
#[derive(Clone, Debug)]
pub(crate) struct Outgoing {
    pub(crate) message: Message<MessageBytes>,
    pub(crate) priority: Priority,
    /// The number of further frames that carry it, if they have room (`docs/deviations.md` P8).
    pub(crate) copies: u8,
    /// True once a probe has repeated the message.
    pub(crate) probed: bool,
    /// True while its bytes hold all of the packet that they are a part of.
    pub(crate) is_view: bool,
}

impl Outgoing {
    /// Bytes of the payload.
    fn len(&self) -> usize {
        match &self.message {
            Message::Packet(packet) => packet.payload.length(),
            Message::Control(_) => 0,
        }
    }
}

/// A place in a list.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// Index of the message that stands here.
    entry: u32,
    next: u32,
}

/// A message, and in how many places it stands: once where it waits, and once in each frame that carries it.
#[derive(Debug)]
struct Entry {
    /// `None` once the message was acknowledged.
    outgoing: Option<Outgoing>,
    /// Places in lists. In a free entry the index of the next free one.
    places: u32,
    /// True if one of the places is in a list of messages that wait for copies.
    waits: bool,
    /// Messages that stood in this entry before, modulo 2^32.
    turn: u32,
    /// When the newest frame was sent that carries the message.
    sent: Instant,
}

/// Names a message. The turn tells a message that is not in the store any more from one that has taken its
/// entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticket {
    entry: u32,
    turn: u32,
}

impl Entry {
    /// Frames that carry the message, or 1 if it waits to be sent.
    fn carriers(&self) -> u32 {
        self.places - u32::from(self.waits)
    }

    /// Forgets the payload of an unreliable message that is not sent again: what became of it is told
    /// without.
    fn release_unreliable(&mut self) {
        if let Some(Outgoing {
            message: Message::Packet(packet),
            ..
        }) = &mut self.outgoing
        {
            if packet.mode == Mode::Unreliable {
                packet.payload = MessageBytes::Own(Bytes::new());
            }
        }
    }
}

/// A queue of messages in a [`Store`]. A list that is dropped before it was drained leaks its messages.
#[derive(Debug)]
pub(crate) struct List {
    head: u32,
    tail: u32,
}

impl Default for List {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl List {
    pub(crate) const EMPTY: Self = Self {
        head: NIL,
        tail: NIL,
    };

    pub(crate) const fn is_empty(&self) -> bool {
        self.head == NIL
    }

    /// The list, to which nothing is added any more.
    pub(crate) const fn close(self) -> Chain {
        Chain { head: self.head }
    }
}

/// A [`List`] to which nothing is added any more: half as long, as its end is not needed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain {
    head: u32,
}

impl Chain {
    pub(crate) const EMPTY: Self = Self { head: NIL };

    /// The chain as a list, to be walked or drained.
    pub(crate) const fn open(self) -> List {
        List {
            head: self.head,
            tail: NIL,
        }
    }
}

/// The slab of one peer. It grows to the largest number of messages on their way, and keeps that size.
#[derive(Debug)]
pub(crate) struct Store {
    nodes: Vec<Node>,
    free_node: u32,
    entries: Vec<Entry>,
    free_entry: u32,
}

impl Store {
    pub(crate) const fn new() -> Self {
        Self {
            nodes: Vec::new(),
            free_node: NIL,
            entries: Vec::new(),
            free_entry: NIL,
        }
    }

    /// Appends a new message to `list`.
    #[inline]
    pub(crate) fn push(&mut self, list: &mut List, outgoing: Outgoing) -> Ticket {
        let mut entry = Entry {
            outgoing: Some(outgoing),
            places: 1,
            waits: false,
            turn: 0,
            sent: Instant::ZERO,
        };
        let index = if self.free_entry == NIL {
            self.entries.push(entry);
            last(self.entries.len())
        } else {
            let index = self.free_entry;
            // A free entry needs no count of places: it names the next free entry there.
            let before = &self.entries[index as usize];
            self.free_entry = before.places;
            entry.turn = before.turn.wrapping_add(1);
            self.entries[index as usize] = entry;
            index
        };
        self.place(list, index);
        self.ticket_of(index)
    }

    /// Adds a new message to `list` behind the first one.
    pub(crate) fn push_second(&mut self, list: &mut List, outgoing: Outgoing) {
        let mut second = List::EMPTY;
        self.push(&mut second, outgoing);
        // The list had one message: the new one is its last.
        if list.head == list.tail {
            list.tail = second.tail;
        }
        let first = self.nodes.get_mut(list.head as usize);
        let rest = first.map(|first| core::mem::replace(&mut first.next, second.head));
        self.nodes[second.head as usize].next = rest.unwrap_or(NIL);
    }

    fn ticket_of(&self, entry: u32) -> Ticket {
        let turn = self.entries[entry as usize].turn;
        Ticket { entry, turn }
    }

    /// The ticket of the first message of `list`; `None` if that has arrived.
    pub(crate) fn ticket(&self, list: &List) -> Option<Ticket> {
        let entry = self.nodes.get(list.head as usize)?.entry;
        let ticket = self.ticket_of(entry);
        self.is_open(ticket).then_some(ticket)
    }

    /// Whether the message is in the store and has not arrived.
    pub(crate) fn is_open(&self, ticket: Ticket) -> bool {
        let entry = &self.entries[ticket.entry as usize];
        entry.turn == ticket.turn && entry.outgoing.is_some()
    }

    /// The message has arrived, in whatever lists it stands. Returns it if it is in the store and had not
    /// arrived before.
    pub(crate) fn take_arrived(&mut self, ticket: Ticket) -> Option<Outgoing> {
        let entry = &mut self.entries[ticket.entry as usize];
        if entry.turn != ticket.turn {
            return None;
        }
        // Its places stay in their lists until these are walked: lists are linked one way, and taking a place
        // out of the middle would need a search.
        entry.outgoing.take()
    }

    /// Takes messages that have arrived out of the front of `list`.
    pub(crate) fn skip_arrived(&mut self, list: &mut List) {
        while let Some(node) = self.nodes.get(list.head as usize) {
            let entry = node.entry;
            if self.entries[entry as usize].outgoing.is_some() {
                return;
            }
            self.take_front(list);
            self.leave(entry);
        }
    }

    /// Appends a place of this message to `list`.
    fn place(&mut self, list: &mut List, entry: u32) {
        let node = Node { entry, next: NIL };
        let index = if self.free_node == NIL {
            self.nodes.push(node);
            last(self.nodes.len())
        } else {
            let index = self.free_node;
            self.free_node = self.nodes[index as usize].next;
            self.nodes[index as usize] = node;
            index
        };
        self.link(list, index);
    }

    fn link(&mut self, list: &mut List, index: u32) {
        if list.tail == NIL {
            list.head = index;
        } else {
            self.nodes[list.tail as usize].next = index;
        }
        list.tail = index;
    }

    fn unlink_front(&mut self, list: &mut List) -> Option<u32> {
        if list.head == NIL {
            return None;
        }
        let index = list.head;
        list.head = self.nodes[index as usize].next;
        if list.head == NIL {
            list.tail = NIL;
        }
        self.nodes[index as usize].next = NIL;
        Some(index)
    }

    /// Moves the first message of `from` to the end of `to`.
    pub(crate) fn shift(&mut self, from: &mut List, to: &mut List) {
        if let Some(index) = self.unlink_front(from) {
            self.link(to, index);
        }
    }

    /// Takes the first place out of `list`. Returns the entry of the message that stood there.
    fn take_front(&mut self, list: &mut List) -> Option<u32> {
        work::count(1);
        let index = self.unlink_front(list)?;
        let node = &mut self.nodes[index as usize];
        node.next = self.free_node;
        self.free_node = index;
        Some(node.entry)
    }

    /// The message leaves one of its places. Its entry is free after the last.
    fn leave(&mut self, index: u32) {
        let entry = &mut self.entries[index as usize];
        entry.places -= 1;
        if entry.places == 0 {
            (entry.places, self.free_entry) = (self.free_entry, index);
        }
    }

    /// The first message of `list` has arrived: takes it out of the list. The message is `None` if it had
    /// arrived before in another frame. Returns `None` if the list is empty.
    pub(crate) fn pop_arrived(&mut self, list: &mut List) -> Option<Option<Outgoing>> {
        let index = self.take_front(list)?;
        let outgoing = self.entries[index as usize].outgoing.take();
        self.leave(index);
        Some(outgoing)
    }

    /// Takes the first message out of `list`, since its frame was lost or it is of no use. The message is
    /// `None` if it has arrived, or is on its way in another frame. Returns `None` if the list is empty.
    pub(crate) fn pop(&mut self, list: &mut List) -> Option<Option<Outgoing>> {
        let index = self.take_front(list)?;
        let entry = &mut self.entries[index as usize];
        // A message is lost only if all frames are lost that carried it (P6, P8).
        let outgoing = if entry.carriers() == 1 {
            entry.outgoing.take()
        } else {
            None
        };
        self.leave(index);
        Some(outgoing)
    }

    /// Lets the frame of `to`, sent at `now`, carry the reliable messages of `from` as well that have not
    /// arrived, as far as `fits` takes them. `fits` is told when each was last sent.
    pub(crate) fn repeat(
        &mut self,
        from: &List,
        to: &mut List,
        now: Instant,
        mut fits: impl FnMut(&Message<MessageBytes>, Instant) -> bool,
    ) {
        let mut index = from.head;
        while let Some(&Node { entry, next }) = self.nodes.get(index as usize) {
            work::count(1);
            index = next;
            let place = &mut self.entries[entry as usize];
            let wanted = place.outgoing.as_ref().is_some_and(|outgoing| {
                outgoing.message.is_reliable() && fits(&outgoing.message, place.sent)
            });
            if wanted {
                if let Some(outgoing) = &mut place.outgoing {
                    // The receiver has waited for long: one copy follows, but only after the first probe
                    // (P8).
                    let first = !core::mem::replace(&mut outgoing.probed, true);
                    outgoing.copies = outgoing.copies.max(u8::from(first));
                }
                place.sent = now;
                place.places += 1;
                self.place(to, entry);
            }
        }
    }

    /// A frame with these messages is sent. Messages of which copies are wanted, with at most `longest` bytes
    /// of payload, begin to wait in `waiting`. Returns their number. The payloads of other unreliable ones
    /// are forgotten.
    #[inline]
    pub(crate) fn sent(
        &mut self,
        contents: &List,
        waiting: &mut List,
        longest: usize,
        now: Instant,
    ) -> usize {
        let mut more = 0;
        let mut index = contents.head;
        while let Some(&Node { entry, next }) = self.nodes.get(index as usize) {
            index = next;
            let place = &mut self.entries[entry as usize];
            place.sent = now;
            // A repetition begins no second row of copies.
            if place.waits {
                continue;
            }
            let wants = |outgoing: &Outgoing| outgoing.copies > 0 && outgoing.len() <= longest;
            if place.outgoing.as_ref().is_some_and(wants) {
                (place.waits, place.places) = (true, place.places + 1);
                more += 1;
                self.place(waiting, entry);
            } else {
                place.release_unreliable();
            }
        }
        more
    }

    /// The first message that waits, and when it was last sent. The message is `None` if it has arrived or
    /// was lost. Returns `None` if nothing waits.
    pub(crate) fn first_waiting(&self, waiting: &List) -> Option<(Option<&Outgoing>, Instant)> {
        let node = self.nodes.get(waiting.head as usize)?;
        let entry = self.entries.get(node.entry as usize)?;
        Some((entry.outgoing.as_ref(), entry.sent))
    }

    /// The frame with these `contents`, sent at `now`, carries a copy of the first message that waits.
    pub(crate) fn copy(&mut self, waiting: &List, contents: &mut List, now: Instant) {
        if let Some(&Node { entry, .. }) = self.nodes.get(waiting.head as usize) {
            let place = &mut self.entries[entry as usize];
            (place.places, place.sent) = (place.places + 1, now);
            self.place(contents, entry);
        }
    }

    /// The first message that waits has had one of its chances. Returns whether it wants more copies.
    pub(crate) fn count_chance(&mut self, waiting: &List) -> bool {
        let Some(&Node { entry, .. }) = self.nodes.get(waiting.head as usize) else {
            return false;
        };
        let outgoing = self.entries[entry as usize].outgoing.as_mut();
        outgoing.is_some_and(|outgoing| {
            outgoing.copies = outgoing.copies.saturating_sub(1);
            outgoing.copies > 0
        })
    }

    /// The first message that waits is not copied any more. `forget`: no frame that is still to be written
    /// carries it, so that an unreliable payload can go.
    pub(crate) fn stop_waiting(&mut self, waiting: &mut List, forget: bool) {
        let Some(index) = self.take_front(waiting) else {
            return;
        };
        work::count(1);
        let entry = &mut self.entries[index as usize];
        entry.waits = false;
        // Otherwise the next frame that carries the message would make it wait anew.
        if let Some(outgoing) = &mut entry.outgoing {
            outgoing.copies = 0;
        }
        if forget {
            entry.release_unreliable();
        }
        self.leave(index);
    }

    /// Whether a message of `list` is sent until it arrives.
    pub(crate) fn has_reliable(&self, list: &List) -> bool {
        self.iter(list)
            .any(|outgoing| outgoing.message.is_reliable())
    }

    pub(crate) fn front(&self, list: &List) -> Option<&Outgoing> {
        self.iter(list).next()
    }

    /// The first message of `list`, to be changed: it waits to be sent, and is in no frame.
    pub(crate) fn front_mut(&mut self, list: &List) -> Option<&mut Outgoing> {
        let node = self.nodes.get(list.head as usize)?;
        let entry = self.entries.get_mut(node.entry as usize)?;
        entry.outgoing.as_mut()
    }

    /// Places in lists, as the messages count them.
    #[cfg(any(test, feature = "audit"))]
    pub(crate) fn used(&self) -> usize {
        let mut free = alloc::collections::BTreeSet::new();
        let mut index = self.free_entry;
        while let Some(entry) = self.entries.get(index as usize) {
            assert!(free.insert(index), "a free entry twice");
            index = entry.places;
        }
        let is_used = |&(index, _): &(usize, &Entry)| !free.contains(&last(index + 1));
        let used = self.entries.iter().enumerate().filter(is_used);
        used.map(|(_, entry)| entry.places as usize).sum()
    }

    /// Places in one list.
    #[cfg(any(test, feature = "audit"))]
    pub(crate) fn len(&self, list: &List) -> usize {
        let mut index = list.head;
        let next = || {
            let node = self.nodes.get(index as usize)?;
            index = node.next;
            Some(())
        };
        core::iter::from_fn(next).count()
    }

    /// The messages of a list that have not arrived.
    pub(crate) fn iter<'a>(&'a self, list: &List) -> impl Iterator<Item = &'a Outgoing> + use<'a> {
        let mut index = list.head;
        let nodes = core::iter::from_fn(move || {
            let node = self.nodes.get(index as usize)?;
            index = node.next;
            Some(node.entry)
        });
        nodes.filter_map(|entry| self.entries.get(entry as usize)?.outgoing.as_ref())
    }
}

/// The index of the last of `count`. Budgets bound the number of messages far below 2^32.
fn last(count: usize) -> u32 {
    u32::try_from(count - 1).unwrap_or(NIL)
}
