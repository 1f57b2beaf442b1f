//! The transfer queue (§3.1.2): every frame that was sent and whose fate is open, by sequence id, and the
//! flight.

use alloc::collections::VecDeque;

use super::record::{Fate, Record};
use super::store::{Chain, List};
use crate::event::Ecn;
use crate::hooks::work;
use crate::serial::{Bits, SendWindow};
use crate::time::Instant;

/// Frames kept behind the window although their acknowledgement is not awaited, so that a late one is
/// recognised: that of a bare acknowledgement or a ping ends the repetition of what this reported, that of a
/// dropped frame tells how late the frame was. Frames that may be behind a dropped one are more on a fast path:
/// see [`TransferQueue::settle`].
const REMEMBERED: usize = 64;

/// What a frame carries, as far as its fate matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Messages of packets. Its `bytes` are in flight, under both windows.
    Data { bytes: u32, content: Content },
    /// Signalling that is said anew if it is lost, or a sentinel frame (4).
    Signal,
    /// A ping, the answer to a path challenge or a probe of the MTU: its acknowledgement tells of the path, its
    /// loss nothing.
    Ping,
    /// Went to another address, to ask whether the remote host is there.
    Aside,
    /// Nothing but an acknowledgement, a pong, or both: the remote host need not acknowledge it.
    Ack,
}

/// What the messages of a frame are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// None of them is sent again.
    Unreliable,
    /// Some are sent until they arrive.
    Reliable,
    /// Some are sent until they arrive, and the frame asks to be acknowledged at once.
    Asking,
    /// Reliable messages that other frames carry as well. No early probe repeats such a frame: each message
    /// gets one, and timeouts ask after it from then on.
    Repeated,
}

/// One transmission of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) at: Instant,
    pub(crate) kind: Kind,
    /// The codepoint of its IP header.
    pub(crate) ecn: Ecn,
    /// True if it is longer than what every path carries, so that its loss may be due to its length.
    pub(crate) is_large: bool,
    /// True if it carries a sentinel (4), alone or beside data.
    pub(crate) sentinel: bool,
    /// Ids below this one need not be reported any more once the frame has arrived; 0 without an
    /// acknowledgement block.
    pub(crate) reported: u64,
}

impl Sent {
    /// Bytes that the frame adds to the flight.
    pub(crate) const fn bytes(&self) -> u32 {
        match self.kind {
            Kind::Data { bytes, .. } => bytes,
            Kind::Signal | Kind::Ping | Kind::Aside | Kind::Ack => 0,
        }
    }

    /// Whether it carries messages of packets.
    pub(crate) const fn is_data(&self) -> bool {
        matches!(self.kind, Kind::Data { .. })
    }

    /// Whether the sender awaits its acknowledgement, since it carries something that matters.
    pub(crate) const fn is_tracked(&self) -> bool {
        matches!(self.kind, Kind::Data { .. } | Kind::Signal)
    }

    /// Whether its acknowledgement tells of the path: the frame makes the remote host acknowledge, and took
    /// the path.
    pub(crate) const fn is_eliciting(&self) -> bool {
        matches!(self.kind, Kind::Data { .. } | Kind::Signal | Kind::Ping)
    }

    /// Whether it carries a message that is sent until it arrives.
    const fn is_reliable(&self) -> bool {
        match self.kind {
            Kind::Data { content, .. } => !matches!(content, Content::Unreliable),
            Kind::Signal | Kind::Ping | Kind::Aside | Kind::Ack => false,
        }
    }

    /// `None` if no early probe repeats the frame. Otherwise whether the frame asked to be acknowledged at
    /// once.
    pub(crate) const fn probe(&self) -> Option<bool> {
        match self.kind {
            Kind::Data { content, .. } => match content {
                Content::Reliable => Some(false),
                Content::Asking => Some(true),
                Content::Unreliable | Content::Repeated => None,
            },
            Kind::Signal | Kind::Ping | Kind::Aside | Kind::Ack => None,
        }
    }
}

/// A frame that has left the queue.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) sent: Sent,
    pub(crate) contents: List,
}

/// The transfer queue of one peer. Records are indexed by id; the ring is as long as the span from the oldest
/// open frame to the next one, and what is remembered behind it.
#[derive(Debug)]
pub(crate) struct TransferQueue {
    records: VecDeque<Record>,
    /// Id of the first record.
    first: u64,
    /// Frames whose acknowledgement would change something: open ones and dropped ones. A walk over a range
    /// of acknowledged ids passes all others 64 at a time.
    open: Bits,
    /// P_t (1). Its base k_b is the oldest frame whose acknowledgement is awaited, or the next id.
    window: SendWindow,
    /// Bytes in flight.
    flight: u32,
    /// The oldest reliable frame whose fate is open and that no probe has repeated, or the next id.
    unprobed: u64,
    /// The newest frame whose acknowledgement is not awaited, but whose record is kept longer than others: a
    /// probe of the MTU.
    kept: u64,
}

impl TransferQueue {
    pub(crate) fn new(size: u64, first: u64) -> Self {
        Self {
            records: VecDeque::new(),
            first,
            open: Bits::new(REMEMBERED as u64),
            window: SendWindow::new(first, size),
            flight: 0,
            unprobed: first,
            kept: u64::MAX,
        }
    }

    /// k_b: the oldest frame whose acknowledgement is awaited, or the next id.
    pub(crate) const fn base(&self) -> u64 {
        self.window.base()
    }

    /// The oldest frame whose record is kept, or the next id.
    pub(crate) const fn first(&self) -> u64 {
        self.first
    }

    /// The next sequence id: k.
    pub(crate) fn next(&self) -> u64 {
        self.first + self.records.len() as u64
    }

    /// Bytes sent, neither acknowledged nor considered dropped (`docs/deviations.md` T7).
    pub(crate) const fn flight(&self) -> u32 {
        self.flight
    }

    /// Every frame that is on its way.
    #[cfg(any(test, feature = "audit"))]
    pub(crate) fn outstanding(&self) -> impl Iterator<Item = (Sent, Chain)> {
        let open = self.records.iter();
        let open = open.filter(|record| record.fate() == Fate::Open);
        open.map(|record| (record.sent(), record.contents()))
    }

    /// Whether new data may take the next id: k is in P_t (1).
    pub(crate) fn has_room(&self) -> bool {
        self.window.contains(self.next())
    }

    /// Whether the ring is full, so that the oldest record must be forgotten before the next is added.
    pub(crate) fn is_full(&self) -> bool {
        // Frames outside the windows may follow the oldest open one as well: as many as others, within 64 and
        // 1024 (`docs/deviations.md` P2).
        let size = self.window.size();
        self.records.len() as u64 >= size + size.clamp(64, 1024)
    }

    /// The oldest frame whose acknowledgement is awaited.
    pub(crate) fn oldest(&self) -> Option<(u64, Sent)> {
        let id = self.window.base();
        Some((id, self.record(id)?.sent()))
    }

    /// The frame, if it is on its way.
    pub(crate) fn get(&self, id: u64) -> Option<Sent> {
        self.open_record(id).map(Record::sent)
    }

    /// When the frame was sent, and all of its messages, if it is on its way and some of these are reliable.
    pub(crate) fn reliable_contents(&self, id: u64) -> Option<(Instant, Chain)> {
        let record = self.open_record(id)?;
        let sent = record.sent();
        sent.is_reliable().then_some((sent.at, record.contents()))
    }

    /// The oldest frame with reliable messages that is on its way and that no probe has repeated.
    pub(crate) fn unprobed(&self) -> Option<(u64, Sent)> {
        Some((self.unprobed, self.record(self.unprobed)?.sent()))
    }

    /// A probe repeats the reliable content of this frame.
    pub(crate) fn mark_probed(&mut self, id: u64) {
        self.unprobed = id + 1;
        self.settle_unprobed();
    }

    /// Moves `unprobed` to the next frame that an early probe may repeat.
    fn settle_unprobed(&mut self) {
        self.unprobed = self.unprobed.max(self.first);
        let may_be_probed = |record: &Record| record.may_be_probed();
        while self.unprobed < self.next()
            && !self.open_record(self.unprobed).is_some_and(may_be_probed)
        {
            work::count(1);
            self.unprobed += 1;
        }
    }

    /// Adds the transmission that takes the next id. `sent_before`: see [`settle`](Self::settle).
    pub(crate) fn push(&mut self, sent: &Sent, contents: List, sent_before: Instant) {
        self.append(Record::new(sent, contents));
        self.settle(sent_before);
    }

    /// No frame takes the next id.
    pub(crate) fn leave_out(&mut self) {
        self.append(Record::left_out());
        self.settle(Instant::ZERO);
    }

    #[inline]
    fn append(&mut self, record: Record) {
        let (id, needed) = (self.next(), self.records.len() as u64 + 1);
        // The bits grow with the ring: a connection with few frames on their way needs few.
        if needed > self.open.capacity() {
            self.open.grow(needed, self.first..id);
        }
        if record.fate() == Fate::Open {
            self.open.set(id);
        }
        self.flight += record.bytes();
        // A quarter more at a time: a ring that doubles would have room for 128 records where 64 and a few
        // are remembered.
        if self.records.len() == self.records.capacity() {
            self.records.reserve_exact((self.records.len() / 4).max(4));
        }
        self.records.push_back(record);
    }

    /// The frame that takes the next id is remembered until half of the window follows it, although its
    /// acknowledgement is not awaited.
    pub(crate) fn keep_next(&mut self) {
        self.kept = self.next();
    }

    /// A frame that was on its way was acknowledged, or is given up. `None` if it was not on its way.
    pub(crate) fn take(&mut self, id: u64) -> Option<Taken> {
        let taken = self.end(id, Fate::Settled)?;
        self.open.clear(id);
        Some(taken)
    }

    /// A frame that was on its way is considered dropped. `None` if it was not on its way.
    pub(crate) fn take_dropped(&mut self, id: u64) -> Option<Taken> {
        self.end(id, Fate::Dropped)
    }

    fn end(&mut self, id: u64, fate: Fate) -> Option<Taken> {
        let record = self.record_mut(id)?;
        if record.fate() != Fate::Open {
            return None;
        }
        record.set_fate(fate);
        let taken = Taken {
            sent: record.sent(),
            contents: record.take_contents(),
        };
        self.flight -= taken.sent.bytes();
        Some(taken)
    }

    /// A frame that was considered dropped was acknowledged, for the first time. `None` if it was not such a
    /// frame.
    #[inline]
    pub(crate) fn take_late(&mut self, id: u64) -> Option<Sent> {
        let record = self.record_mut(id)?;
        if record.fate() != Fate::Dropped {
            return None;
        }
        record.set_fate(Fate::Settled);
        let sent = record.sent();
        self.open.clear(id);
        Some(sent)
    }

    /// Whether a frame with an id between these two, both excluded, was acknowledged. Records that are
    /// forgotten do not count.
    pub(crate) fn has_acknowledged(&self, after: u64, before: u64) -> bool {
        let mut from = after.saturating_add(1).max(self.first);
        while from < before {
            let Some(id) = self.open.first(from..before, false) else {
                return false;
            };
            // An id that was left out is closed as well, but is no arrival (P5).
            if self.is_acknowledged(id) {
                return true;
            }
            from = id + 1;
        }
        false
    }

    fn record(&self, id: u64) -> Option<&Record> {
        let index = usize::try_from(id.checked_sub(self.first)?).ok()?;
        self.records.get(index)
    }

    fn record_mut(&mut self, id: u64) -> Option<&mut Record> {
        let index = usize::try_from(id.checked_sub(self.first)?).ok()?;
        self.records.get_mut(index)
    }

    fn open_record(&self, id: u64) -> Option<&Record> {
        self.record(id).filter(|record| record.fate() == Fate::Open)
    }

    /// Whether the frame was acknowledged or given up. False for a frame that is forgotten.
    pub(crate) fn is_acknowledged(&self, id: u64) -> bool {
        let record = self.record(id);
        record.is_some_and(|record| record.fate() == Fate::Settled)
    }

    /// The first frame of this inclusive range whose acknowledgement would change something.
    pub(crate) fn first_open(&self, low: u64, high: u64) -> Option<u64> {
        let end = high.saturating_add(1).min(self.next());
        self.open.first(low.max(self.first)..end, true)
    }

    /// Whether nothing more is to be known of the first frame, whose acknowledgement is not awaited.
    fn may_forget(&self, sent_before: Instant) -> bool {
        let Some(first) = self.records.front() else {
            return false;
        };
        let are_many = self.records.len() > self.remembered();
        match first.fate() {
            Fate::Open => are_many,
            // What is behind a dropped frame stays: it tells whether the frame was the only one that was
            // lost. A full ring would give up frames that are on their way.
            Fate::Dropped => are_many && first.sent_at() < sent_before || self.is_full(),
            Fate::Settled | Fate::LeftOut => true,
        }
    }

    /// Records that are kept, if no acknowledgement of the first one is awaited.
    fn remembered(&self) -> usize {
        let half = usize::try_from(self.window.size() / 2).unwrap_or(usize::MAX);
        if self.first == self.kept {
            half.max(REMEMBERED)
        } else {
            REMEMBERED
        }
    }

    /// Moves k_b past what is settled, and forgets the records behind it that are not kept. Frames that were
    /// considered dropped are kept if they are among the newest, or were not sent before `sent_before`, unless
    /// the ring is full. To be called when a frame was sent, acknowledged or dropped.
    #[inline]
    pub(crate) fn settle(&mut self, sent_before: Instant) {
        let mut base = self.window.base();
        // A ping or a bare acknowledgement holds nothing back: its acknowledgement may never come.
        let is_settled = |record: &Record| !record.is_awaited();
        while self.record(base).is_some_and(is_settled) {
            work::count(1);
            base += 1;
        }
        self.window.advance_to(base);
        while self.first < self.window.base() && self.may_forget(sent_before) {
            self.records.pop_front();
            self.open.clear(self.first);
            self.first += 1;
        }
        self.settle_unprobed();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends a frame with `bytes` of data, or without any.
    fn push(queue: &mut TransferQueue, bytes: u32) {
        let content = Content::Unreliable;
        let kind = match bytes {
            0 => Kind::Ack,
            bytes => Kind::Data { bytes, content },
        };
        let sent = Sent {
            at: Instant::ZERO,
            kind,
            ecn: Ecn::NotEct,
            is_large: false,
            sentinel: false,
            reported: 0,
        };
        queue.push(&sent, List::EMPTY, Instant::ZERO);
    }

    /// T7.
    #[test]
    fn flight_size_is_what_is_outstanding_and_a_frame_is_settled_once() {
        let mut queue = TransferQueue::new(16, 7);
        for bytes in [10, 20, 30] {
            push(&mut queue, bytes);
        }
        assert_eq!((queue.flight(), queue.next()), (60, 10));
        assert_eq!(queue.take(8).map(|taken| taken.sent.bytes()), Some(20));
        assert!(queue.take(8).is_none() && queue.take(6).is_none() && queue.take(10).is_none());
        assert_eq!(queue.flight(), 40);
        queue.settle(Instant::ZERO);
        assert_eq!(queue.oldest().map(|(id, _)| id), Some(7));
        assert!(queue.take(7).is_some() && queue.take(9).is_some());
        queue.settle(Instant::ZERO);
        assert_eq!((queue.flight(), queue.oldest().is_none()), (0, true));
    }

    /// T9.
    #[test]
    fn equation_01_new_data_stays_within_the_transfer_window() {
        let mut queue = TransferQueue::new(16, 0);
        for _ in 0..16 {
            assert!(queue.has_room());
            push(&mut queue, 1);
        }
        assert!(!queue.has_room());
        // Only the oldest frame moves k_b on; whether it was acknowledged or dropped is the same.
        assert!(queue.take(5).is_some());
        queue.settle(Instant::ZERO);
        assert!(!queue.has_room());
        assert!(queue.take(0).is_some());
        queue.settle(Instant::ZERO);
        assert!(queue.has_room());
    }

    #[test]
    fn however_many_frames_are_outstanding_each_is_told_from_all_others() {
        let mut queue = TransferQueue::new(4096, 0);
        for count in 1..=300 {
            push(&mut queue, 1);
            assert_eq!(queue.flight(), count);
        }
        for id in (0..300).filter(|id| id % 64 != 0) {
            assert_eq!(queue.first_open(id, id), Some(id));
            assert!(queue.take(id).is_some() && queue.take(id).is_none());
        }
        for id in [0, 64, 128, 192, 256] {
            assert_eq!(queue.first_open(id, 299), Some(id));
            assert!(queue.take(id).is_some());
        }
        assert_eq!((queue.first_open(0, 299), queue.flight()), (None, 0));
    }

    #[test]
    fn frames_that_nobody_waits_for_hold_nothing_up_and_are_forgotten() {
        let mut queue = TransferQueue::new(16, 0);
        for _ in 0..1000 {
            push(&mut queue, 0);
            assert!(queue.has_room());
        }
        assert!(queue.records.len() <= REMEMBERED);
        assert_eq!(queue.next(), 1000);
    }

    #[test]
    fn what_was_acknowledged_is_forgotten_at_once_and_what_follows_a_drop_is_not() {
        let mut queue = TransferQueue::new(64, 0);
        for id in 0..100 {
            push(&mut queue, 1);
            assert!(queue.take(id).is_some());
            queue.settle(Instant::ZERO);
            assert_eq!(queue.records.len(), 0);
        }
        push(&mut queue, 1);
        assert!(queue.take_dropped(100).is_some());
        for id in 101..=200 {
            push(&mut queue, 1);
            assert!(queue.take(id).is_some());
            queue.settle(Instant::from_micros(1));
            let behind = usize::try_from(id - 99).unwrap();
            let kept = if behind <= REMEMBERED { behind } else { 0 };
            assert_eq!(queue.records.len(), kept);
        }
    }

    /// P5.
    #[test]
    fn a_dropped_frame_is_recognised_for_a_while_and_gives_way_in_a_full_ring() {
        let mut queue = TransferQueue::new(1024, 0);
        push(&mut queue, 1);
        assert!(queue.take_dropped(0).is_some());
        for id in 1..2000 {
            push(&mut queue, 1);
            assert!(queue.take(id).is_some());
            queue.settle(Instant::ZERO);
        }
        assert!(queue.take_late(0).is_some() && queue.take_late(0).is_none());
        queue.settle(Instant::ZERO);
        assert_eq!(queue.first(), 2000);
        for _ in 0..3000 {
            push(&mut queue, 1);
            assert!(queue.take_dropped(queue.next() - 1).is_some());
            queue.settle(Instant::ZERO);
            assert!(queue.has_room() && !queue.is_full());
        }
        assert_eq!((queue.first(), queue.next()), (5000 - 2047, 5000));
    }
}
