//! The transfer queue (§3.1.2): every frame that was sent and whose fate is open, by sequence id,
//! and the flight size.

use alloc::collections::VecDeque;

use super::store::List;
use crate::serial::{Bits, SendWindow};
use crate::time::Instant;
use crate::work;

/// How many frames that nobody waits for are remembered: bare acknowledgements and pings, so that
/// an acknowledgement of one can end the repetition of what it reported, and dropped ones, so that
/// a late acknowledgement can tell how late it is.
const REMEMBERED_MAX: usize = 64;

/// One transmission of a frame.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) sent: Instant,
    /// What it adds to the flight size; 0 for frames outside the congestion window.
    pub(crate) bytes: u32,
    /// Whether its acknowledgement is awaited: it carries something that matters.
    pub(crate) tracked: bool,
    /// Whether its acknowledgement tells of our path: it carries anything at all, and took it.
    pub(crate) eliciting: bool,
    /// Whether it asks to be acknowledged at once.
    pub(crate) asks: bool,
    /// Whether it carries something that is sent until it arrives.
    pub(crate) reliable: bool,
    /// Whether it only repeats what others carry: one early probe for a message, the next ones
    /// take ever longer.
    pub(crate) repeats: bool,
    /// Whether it is larger than what every path carries.
    pub(crate) is_large: bool,
    /// Whether it was sent with ECT(0).
    pub(crate) is_marked: bool,
    /// It went elsewhere than the others, to ask whether the remote host is there.
    pub(crate) is_elsewhere: bool,
    /// It carries a sentinel frame (4).
    pub(crate) noop: bool,
    /// The newest id that its acknowledgement block reported.
    pub(crate) reported: Option<u64>,
    pub(crate) contents: List,
    /// It was considered dropped.
    dropped: bool,
    /// It was, and had added to the flight size.
    counted: bool,
    /// Nothing was sent under its id.
    left_out: bool,
}

/// A frame that was considered dropped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Late {
    pub(crate) sent: Instant,
    /// Whether it added to the flight size.
    pub(crate) counted: bool,
    /// Whether it was larger than what every path carries.
    pub(crate) is_large: bool,
}

impl Record {
    pub(crate) const fn new(sent: Instant, bytes: u32, tracked: bool, contents: List) -> Self {
        Self {
            sent,
            bytes,
            tracked,
            eliciting: tracked,
            asks: false,
            reliable: false,
            repeats: false,
            is_large: false,
            is_marked: false,
            is_elsewhere: false,
            noop: false,
            reported: None,
            contents,
            dropped: false,
            counted: false,
            left_out: false,
        }
    }
}

/// The queue. Records are indexed by id; the ring is as long as the span between the oldest open
/// frame and the next one.
#[derive(Debug)]
pub(crate) struct TransferQueue {
    records: VecDeque<Record>,
    /// Id of the first record.
    first: u64,
    /// Frames whose acknowledgement would change something: neither acknowledged nor, if dropped,
    /// late.
    open: Bits,
    /// P_t (1): its base k_b is the oldest frame whose acknowledgement is awaited, or the next id.
    window: SendWindow,
    flight: u32,
    /// The oldest reliable frame whose fate is open and that no probe has repeated, or the next id.
    unprobed: u64,
    /// A frame that nobody waits for and that is remembered for longer than others.
    kept: u64,
}

impl TransferQueue {
    pub(crate) fn new(size: u64, first: u64) -> Self {
        Self {
            records: VecDeque::new(),
            first,
            open: Bits::new(REMEMBERED_MAX as u64),
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

    /// The next sequence id: k.
    pub(crate) fn next(&self) -> u64 {
        self.first + self.records.len() as u64
    }

    /// The flight size: bytes sent, not acknowledged, not considered dropped (`deviations.md` T7).
    pub(crate) const fn flight(&self) -> u32 {
        self.flight
    }

    /// Every frame that is remembered.
    #[cfg(any(test, feature = "audit"))]
    pub(crate) fn records(&self) -> impl Iterator<Item = &Record> {
        self.records.iter()
    }

    /// Whether new data may take the next id: k is in P_t (1).
    pub(crate) fn has_room(&self) -> bool {
        self.window.contains(self.next())
    }

    /// Whether the ring is full, so that the oldest record must be forgotten before the next.
    pub(crate) fn is_full(&self) -> bool {
        // As many frames outside the windows may follow the oldest one that is waited for as there may
        // be others (`deviations.md` P2). The remote host has no more on their way either.
        let size = self.window.size();
        self.records.len() as u64 >= size + size.clamp(64, 1024)
    }

    /// The oldest frame whose acknowledgement is awaited.
    pub(crate) fn oldest(&self) -> Option<(u64, &Record)> {
        let id = self.window.base();
        Some((id, self.record(id)?))
    }

    /// When the frame was sent, if it wants an acknowledgement that did not come yet.
    pub(crate) fn waits_since(&self, id: u64) -> Option<Instant> {
        let record = self.record(id).filter(|record| record.eliciting)?;
        self.is_outstanding(id).then_some(record.sent)
    }

    /// Whether the frame was sent with ECT(0), and its acknowledgement did not come yet.
    pub(crate) fn is_marked(&self, id: u64) -> bool {
        self.record(id).is_some_and(|record| record.is_marked)
    }

    /// When a frame was sent that carries reliable messages and whose fate is open, and all its
    /// messages.
    pub(crate) fn reliable_contents(&self, id: u64) -> Option<(Instant, &List)> {
        let record = self.record(id).filter(|record| record.reliable)?;
        self.is_outstanding(id)
            .then_some((record.sent, &record.contents))
    }

    /// The oldest reliable frame whose fate is open and that no probe has repeated.
    pub(crate) fn unprobed(&self) -> Option<(u64, &Record)> {
        Some((self.unprobed, self.record(self.unprobed)?))
    }

    /// A probe repeats this frame.
    pub(crate) fn mark_probed(&mut self, id: u64) {
        self.unprobed = id + 1;
        self.settle_unprobed();
    }

    fn wants_probe(&self, id: u64) -> bool {
        let record = self.record(id);
        record.is_some_and(|record| !record.repeats) && self.reliable_contents(id).is_some()
    }

    fn settle_unprobed(&mut self) {
        self.unprobed = self.unprobed.max(self.first);
        while self.unprobed < self.next() && !self.wants_probe(self.unprobed) {
            work::count(1);
            self.unprobed += 1;
        }
    }

    /// Adds the transmission that takes the next id.
    pub(crate) fn push(&mut self, record: Record) {
        let (id, needed) = (self.next(), self.records.len() as u64 + 1);
        if needed > self.open.capacity() {
            self.open.grow(needed, self.first..id);
        }
        self.open.set(id);
        self.flight += record.bytes;
        self.records.push_back(record);
        self.settle();
    }

    /// The frame that takes the next id is remembered while half of the window follows it, even if nobody
    /// waits for it.
    pub(crate) fn keep_next(&mut self) {
        self.kept = self.next();
    }

    /// The next id is not used.
    pub(crate) fn leave_out(&mut self) {
        let id = self.next();
        self.push(Record::new(Instant::ZERO, 0, false, List::EMPTY));
        self.take(id);
        if let Some(record) = self.record_mut(id) {
            record.left_out = true;
        }
    }

    /// Takes a frame out of the queue, because it was acknowledged or is considered dropped. None
    /// if that happened before.
    pub(crate) fn take(&mut self, id: u64) -> Option<Record> {
        if !self.is_outstanding(id) {
            return None;
        }
        self.open.clear(id);
        let record = self.record_mut(id)?;
        let done = Record::new(record.sent, 0, false, List::EMPTY);
        let record = core::mem::replace(record, done);
        self.flight -= record.bytes;
        Some(record)
    }

    /// Takes a frame out of the queue that is considered dropped.
    pub(crate) fn take_dropped(&mut self, id: u64) -> Option<Record> {
        let record = self.take(id)?;
        if let Some(left) = self.record_mut(id) {
            (left.dropped, left.counted) = (true, record.bytes > 0);
            left.is_large = record.is_large;
            self.open.set(id);
        }
        Some(record)
    }

    /// What is known of the frame, if it was considered dropped and is acknowledged for the first time
    /// now.
    pub(crate) fn take_late(&mut self, id: u64) -> Option<Late> {
        let record = self.record_mut(id)?;
        let late = Late {
            sent: record.sent,
            counted: record.counted,
            is_large: record.is_large,
        };
        if !core::mem::take(&mut record.dropped) {
            return None;
        }
        self.open.clear(id);
        Some(late)
    }

    /// Whether a frame between these two was acknowledged, or is not remembered.
    pub(crate) fn has_acknowledged(&self, after: u64, before: u64) -> bool {
        let mut from = after.saturating_add(1).max(self.first);
        while from < before {
            let Some(id) = self.open.first(from..before, false) else {
                return false;
            };
            if self.record(id).is_some_and(|record| !record.left_out) {
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

    /// Sent, and neither acknowledged nor considered dropped.
    pub(crate) fn is_outstanding(&self, id: u64) -> bool {
        let record = self.record(id);
        record.is_some_and(|record| !record.dropped) && self.open.get(id)
    }

    /// Sent, and neither open nor considered dropped; not known of one that is forgotten.
    pub(crate) fn is_acknowledged(&self, id: u64) -> bool {
        let record = self.record(id);
        record.is_some_and(|record| !record.dropped) && !self.open.get(id)
    }

    /// The first frame of this inclusive range whose acknowledgement would change something.
    pub(crate) fn first_open(&self, low: u64, high: u64) -> Option<u64> {
        let end = high.saturating_add(1).min(self.next());
        self.open.first(low.max(self.first)..end, true)
    }

    /// How many frames are remembered if nobody waits for the first one.
    fn remembered(&self) -> usize {
        let half = usize::try_from(self.window.size() / 2).unwrap_or(usize::MAX);
        if self.first == self.kept {
            half.max(REMEMBERED_MAX)
        } else {
            REMEMBERED_MAX
        }
    }

    /// Moves k_b past what is settled, and forgets what nobody waits for. To be called after a
    /// series of [`take`](Self::take).
    pub(crate) fn settle(&mut self) {
        let mut base = self.window.base();
        let settled = |record: &Record, id| !(record.tracked && self.is_outstanding(id));
        while self
            .record(base)
            .is_some_and(|record| settled(record, base))
        {
            work::count(1);
            base += 1;
        }
        self.window.advance_to(base);
        while self.first < self.window.base() && self.records.len() > self.remembered() {
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

    fn record(bytes: u32) -> Record {
        Record::new(Instant::ZERO, bytes, bytes > 0, List::EMPTY)
    }

    #[test]
    fn flight_size_is_what_is_outstanding_and_a_frame_is_settled_once() {
        let mut queue = TransferQueue::new(16, 7);
        for bytes in [10, 20, 30] {
            queue.push(record(bytes));
        }
        assert_eq!((queue.flight(), queue.next()), (60, 10));
        assert_eq!(queue.take(8).map(|record| record.bytes), Some(20));
        assert!(queue.take(8).is_none() && queue.take(6).is_none() && queue.take(10).is_none());
        assert_eq!(queue.flight(), 40);
        queue.settle();
        assert_eq!(queue.oldest().map(|(id, _)| id), Some(7));
        assert!(queue.take(7).is_some() && queue.take(9).is_some());
        queue.settle();
        assert_eq!((queue.flight(), queue.oldest().is_none()), (0, true));
    }

    #[test]
    fn equation_01_new_data_stays_within_the_transfer_window() {
        let mut queue = TransferQueue::new(16, 0);
        for _ in 0..16 {
            assert!(queue.has_room());
            queue.push(record(1));
        }
        assert!(!queue.has_room());
        // Anything but the oldest does not help; a frame that is dropped moves k_b on like one
        // that is acknowledged.
        assert!(queue.take(5).is_some());
        queue.settle();
        assert!(!queue.has_room());
        assert!(queue.take(0).is_some());
        queue.settle();
        assert!(queue.has_room());
    }

    #[test]
    fn however_many_frames_are_outstanding_each_is_told_from_all_others() {
        let mut queue = TransferQueue::new(4096, 0);
        for count in 1..=300 {
            queue.push(record(1));
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
            queue.push(record(0));
            assert!(queue.has_room());
        }
        assert!(queue.records.len() <= REMEMBERED_MAX);
        assert_eq!(queue.next(), 1000);
    }
}
