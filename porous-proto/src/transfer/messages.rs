//! The messages of one peer between the layer above and their acknowledgement: those that wait to be sent
//! (Figure 5), those in frames on their way, and those in frames that were considered dropped.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::TransferParams;
use super::copies::{Copies, Offer};
use super::plan::Plan;
use super::rates::Rates;
use super::redundancy::Redundancy;
use super::send_queue::SendQueue;
#[cfg(any(test, feature = "audit"))]
use super::store::Chain;
use super::store::{List, Outgoing, Store, Ticket};
use crate::config::{Policy, Priority};
use crate::frame::{Fragment, LEAST_FRAGMENT, Length, Message, Packet};
use crate::hooks::canary::{Bug, strikes};
use crate::hooks::work;
use crate::source::{MessageBytes, Source};
use crate::time::Instant;

/// The messages of one peer.
#[derive(Debug)]
pub(super) struct Messages {
    pub(super) store: Store,
    send_queue: SendQueue,
    pub(super) copies: Copies,
    pub(super) redundancy: Redundancy,
    dropped: Dropped,
    /// Makes LIMITS, which are messages of this layer and not of the source.
    pub(super) rates: Rates,
    /// The least number of copies of a message that was lost.
    copies_of_lost: u8,
}

impl Messages {
    pub(super) fn new(params: &TransferParams) -> Self {
        Self {
            store: Store::new(),
            send_queue: SendQueue::default(),
            copies: Copies::new(params.max_datagram),
            redundancy: Redundancy::new(params.policy),
            dropped: Dropped::new(params.window),
            rates: Rates::new(params),
            copies_of_lost: u8::from(params.policy == Policy::Modern),
        }
    }

    /// Whether a message may wait to be sent, here or in the source. False is certain.
    pub(super) fn may_send(&self, source: &mut impl Source) -> bool {
        self.has_unsent() || source.has_message()
    }

    /// Whether a message that the source has handed over waits to be sent.
    pub(super) fn has_unsent(&self) -> bool {
        !self.send_queue.is_empty()
    }

    /// Makes sure that the front of the send queue is worth sending, and takes a new message from the source
    /// if nothing waits. `most`: bytes of a packet that fit into a datagram. Returns false if there is
    /// nothing to send.
    #[inline]
    pub(super) fn refill(
        &mut self,
        source: &mut impl Source,
        priority: Priority,
        most: usize,
    ) -> bool {
        while let Some(front) = self.send_queue.front(&mut self.store, priority) {
            // A message may have become useless while it waited: its window has passed, its time is over, or
            // a newer state has left (Q9, D1, D3).
            if source.is_current(&front.message) {
                return true;
            }
            if let Some(useless) = self.send_queue.pop(&mut self.store, priority) {
                source.skipped(&useless.message);
            }
        }
        // One at a time, when there is room in a frame: a packet gets its id only now, so that what never
        // leaves makes no hole in the ids.
        let Some(next) = source.next_message(priority, most) else {
            return false;
        };
        let copies = match next.copies.get() {
            Some(copies) => copies,
            None => self.redundancy.copies(&next.message),
        };
        let outgoing = Outgoing {
            is_view: next.is_view(),
            message: next.message,
            priority,
            copies,
            probed: false,
        };
        self.send_queue.push_new(&mut self.store, outgoing);
        true
    }

    /// The message that is sent next. One that the path has become too narrow for is cut first, to pieces
    /// with at most `most` bytes of a packet.
    #[inline]
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

    /// The front of the send queue does not leave with the next frame.
    #[inline]
    pub(super) fn detach_front(&mut self, priority: Priority) {
        let front = self.store.front_mut(self.send_queue.front_list(priority));
        let Some(front) = front.filter(|front| front.is_view) else {
            return;
        };
        front.is_view = false;
        if let Message::Packet(packet) = &mut front.message {
            packet.payload.detach();
        }
    }

    /// Moves the front of the send queue into the contents of a frame.
    pub(super) fn take_front(&mut self, priority: Priority, contents: &mut List) {
        self.send_queue.shift(&mut self.store, priority, contents);
    }

    /// Fills the spare bytes of a frame with copies of messages that are on their way. `news`: its bytes of
    /// new data; `room`: the most bytes that it may have.
    #[inline]
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
            data_waits: self.has_unsent(),
        };
        self.copies.plan(plan, &mut self.store, source, &offer, now);
    }

    /// A frame with these messages is sent.
    pub(super) fn on_sent(&mut self, contents: &List, now: Instant) {
        self.copies.on_sent(&mut self.store, contents, now);
    }

    /// A frame was acknowledged: its messages have arrived.
    #[inline]
    pub(super) fn on_acknowledged(&mut self, mut contents: List, source: &mut impl Source) {
        while let Some(arrived) = self.store.pop_arrived(&mut contents) {
            if let Some(outgoing) = arrived {
                self.note_arrived(&outgoing.message, source);
            }
        }
    }

    /// The frames from `low` to `high` were acknowledged. Those of them that were considered dropped were
    /// only late, and nothing of them is sent again (§3.1.2).
    #[inline]
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

    fn note_arrived(&mut self, message: &Message<MessageBytes>, source: &mut impl Source) {
        self.rates.on_acknowledged(message);
        source.acknowledged(message);
    }

    /// The frame `id` is considered dropped: its reliable messages wait to be sent again, and the source
    /// hears of the others. `remembered`: the oldest frame whose record is kept. Returns whether one of the
    /// messages was reliable.
    pub(super) fn on_lost(
        &mut self,
        id: u64,
        mut contents: List,
        remembered: u64,
        source: &mut impl Source,
    ) -> bool {
        let mut is_reliable = false;
        let mut carried = Carried::default();
        loop {
            // Taken before the place is: where another frame carries the message, the ticket finds it there
            // if this frame was only late.
            let ticket = self.store.ticket(&contents);
            let Some(lost) = self.store.pop(&mut contents) else {
                break;
            };
            let Some(mut outgoing) = lost else {
                carried.open.extend(ticket); // another frame carries it, so that it is not lost yet
                continue;
            };
            if outgoing.message.is_reliable() {
                is_reliable = true;
                if strikes(Bug::ForgetsResend) {
                    continue;
                }
                // A receiver that waits for the message has waited for a round trip already (P8).
                outgoing.copies = outgoing.copies.max(self.copies_of_lost);
                let ticket = self.send_queue.push_again(&mut self.store, outgoing);
                carried.open.push(ticket);
            } else {
                // Sent once, but it may have arrived: it is kept if the source wants to hear of that, as the
                // receipt of the packet or LIMITS depend on it.
                let matters = self.rates.on_lost(&outgoing.message);
                if source.lost(&outgoing.message) || matters {
                    carried.given_up.push(outgoing.message);
                }
            }
        }
        self.dropped.insert(id, carried, &self.store, remembered);
        is_reliable
    }

    /// # Panics
    ///
    /// If a message is in no list, or in one that leads nowhere. Returns how many are listed.
    #[cfg(any(test, feature = "audit"))]
    pub(super) fn audit(&self, in_frames: impl Iterator<Item = Chain>) -> usize {
        let waiting = self.send_queue.lists().chain(self.copies.lists());
        let waiting: usize = waiting.map(|list| self.store.len(list)).sum();
        let in_frames: usize = in_frames.map(|chain| self.store.len(&chain.open())).sum();
        let listed = waiting + in_frames;
        assert_eq!(self.store.used(), listed, "messages that no list leads to");
        listed
    }
}

/// What one frame that was considered dropped carried.
#[derive(Debug, Default)]
pub(super) struct Carried {
    /// Messages that have not arrived: they wait to be sent again, or are on their way in another frame.
    pub(super) open: Vec<Ticket>,
    /// Messages that are not sent again, if the source wants to hear of them.
    pub(super) given_up: Vec<Message<MessageBytes>>,
}

/// The frames of one peer that were considered dropped, by id.
#[derive(Debug)]
pub(super) struct Dropped {
    frames: BTreeMap<u64, Carried>,
    /// The most frames that are remembered.
    most: u64,
}

impl Dropped {
    pub(super) const fn new(most: u64) -> Self {
        Self {
            frames: BTreeMap::new(),
            most,
        }
    }

    /// The frame `id` is considered dropped. Forgets the oldest frames of which nothing is open any more;
    /// messages that are not sent again are kept from the frame `remembered` on.
    pub(super) fn insert(&mut self, id: u64, carried: Carried, store: &Store, remembered: u64) {
        if !(carried.open.is_empty() && carried.given_up.is_empty()) {
            self.frames.insert(id, carried);
        }
        // Only the oldest frame is looked at, so that a drop costs the same however many are remembered: one
        // frame that is open keeps those behind it.
        while let Some(mut oldest) = self.frames.first_entry() {
            work::count(1);
            let is_recent = *oldest.key() >= remembered;
            let carried = oldest.get_mut();
            while carried
                .open
                .last()
                .is_some_and(|&last| !store.is_open(last))
            {
                work::count(1);
                carried.open.pop();
            }
            let is_open = !carried.open.is_empty() || is_recent && !carried.given_up.is_empty();
            if is_open && self.frames.len() as u64 <= self.most {
                return;
            }
            self.frames.pop_first();
        }
    }

    /// Takes out a frame with an id from `low` to `high`.
    pub(super) fn take(&mut self, low: u64, high: u64) -> Option<Carried> {
        let (&id, _) = self.frames.range(low..=high).next()?;
        work::count(1);
        self.frames.remove(&id)
    }
}

/// Where to cut a part of a packet of `len` bytes, of which `most` fit into a datagram: the length of the
/// first piece, and where the second begins. `is_end`: the part ends its packet. `None` if all of it fits.
/// The second piece may have to be cut once more.
fn cut(len: usize, is_end: bool, most: usize) -> Option<(usize, usize)> {
    if len <= most {
        return None;
    }
    if is_end {
        return Some((most, most));
    }
    // Only the end of a packet may be shorter than the least fragment (Q3). If that leaves too little for the
    // first piece, the two overlap.
    let rest = len.saturating_sub(LEAST_FRAGMENT);
    let first = if rest < LEAST_FRAGMENT {
        most
    } else {
        most.min(rest)
    };
    Some((first, first.min(rest)))
}

/// Cuts a message of which `most` bytes fit into a datagram. Returns its second piece; `None` if all of it
/// fits.
#[inline]
pub(super) fn split(outgoing: &mut Outgoing, most: usize) -> Option<Outgoing> {
    let Message::Packet(packet) = &mut outgoing.message else {
        return None;
    };
    let (offset, len) = packet.part();
    let is_end = u64::from(offset) + packet.payload.length() as u64 == u64::from(len);
    let (first, start) = cut(packet.payload.length(), is_end, most)?;
    let rest = packet.payload.cut(first, start);
    let start = offset.saturating_add(u32::try_from(start).unwrap_or(u32::MAX));
    packet.fragment = Fragment::new(offset, len);
    let second = Packet {
        fragment: Fragment::new(start, len),
        ..packet.with(rest)
    };
    Some(Outgoing {
        message: Message::Packet(second),
        ..*outgoing
    })
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::config::Priority;
    use crate::frame::Mode;
    use crate::transfer::tests::own;

    /// The pieces that a part of a packet is cut into where `most` bytes fit into a datagram: where each
    /// begins and ends.
    fn pieces(len: usize, is_end: bool, most: usize) -> Vec<(usize, usize)> {
        let (mut pieces, mut from) = (Vec::new(), 0);
        while let Some((first, start)) = cut(len - from, is_end, most) {
            pieces.push((from, from + first));
            from += start;
            assert!(start > 0 && from < len, "{len} {most}");
        }
        pieces.push((from, len));
        pieces
    }

    /// Q3.
    #[test]
    fn pieces_are_not_short_and_leave_nothing_out() {
        for most in [256, 257, 400, 452, 464, 511, 512, 600, 1152, 8952] {
            for len in (256..2 * most + 600).chain([65_000]) {
                for is_end in [false, true] {
                    let pieces = pieces(len, is_end, most);
                    let context = alloc::format!("{len} {is_end} {most}: {pieces:?}");
                    assert_eq!(
                        (pieces[0].0, pieces[pieces.len() - 1].1),
                        (0, len),
                        "{context}"
                    );
                    for (n, &(start, end)) in pieces.iter().enumerate() {
                        let is_last = n + 1 == pieces.len();
                        let least = if is_last && is_end { 1 } else { LEAST_FRAGMENT };
                        assert!((least..=most).contains(&(end - start)), "{context}");
                        let next = pieces.get(n + 1).map_or(len, |next| next.0);
                        assert!(
                            next <= end && (next == end || len - start < 512),
                            "{context}"
                        );
                    }
                    let needless = pieces.len() > len.div_ceil(most) + 1;
                    assert!(!needless, "{context}");
                }
            }
        }
    }

    /// Q3.
    #[test]
    fn what_is_just_too_long_for_two_pieces_overlaps() {
        assert_eq!(pieces(492, false, 464), [(0, 464), (236, 492)]);
        assert_eq!(pieces(492, true, 464), [(0, 464), (464, 492)]);
        assert_eq!(pieces(1152, false, 1000), [(0, 896), (896, 1152)]);
        assert_eq!(pieces(1404, false, 1152), [(0, 1148), (1148, 1404)]);
    }

    /// Q3.
    #[test]
    fn a_packet_that_was_sent_whole_becomes_fragments_with_the_same_bytes() {
        let payload: Vec<u8> = (0..1400_u16).map(|n| n.to_le_bytes()[0]).collect();
        let mut first = Outgoing {
            message: Message::Packet(Packet {
                mode: Mode::Reliable,
                channel: 3,
                id: 9,
                dependency: 2,
                fragment: None,
                receipt: false,
                payload: MessageBytes::Own(payload.clone().into()),
            }),
            priority: Priority::High,
            copies: 1,
            probed: true,
            is_view: false,
        };
        assert!(split(&mut first.clone(), 1400).is_none());
        let second = split(&mut first, 1152).unwrap();
        let part = |outgoing: &Outgoing| match &outgoing.message {
            Message::Packet(packet) => {
                assert_eq!((packet.channel, packet.id, packet.dependency), (3, 9, 2));
                (packet.part(), own(&packet.payload).to_vec())
            }
            Message::Control(_) => unreachable!(),
        };
        assert_eq!(part(&first), ((0, 1400), payload[..1152].to_vec()));
        assert_eq!(part(&second), ((1152, 1400), payload[1152..].to_vec()));
        assert_eq!((second.copies, second.priority), (1, Priority::High));
    }
}
