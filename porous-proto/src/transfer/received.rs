//! What was received: the receive window P_r (2), the acknowledgement queue (§3.1), and what each
//! acknowledgement block repeats (`docs/wire.md`, "Acknowledgements").

use crate::frame::{AckBlock, AckRange, Marks};
use crate::serial::{Bits, ReceiveWindow, truncate};
use crate::time::Micros;

/// Blocks that report an id at least, if none of them is acknowledged (`docs/deviations.md` T5).
const REPORTS: u8 = 33;

/// Ids behind the newest that the map of a block covers.
const MAP_BITS: u64 = 32;

/// Ids for which the ring has room at first.
const SPAN_MIN: u64 = 256;

/// The most ids behind the newest that are reported, with a window of N_P.
pub(super) fn span(window: u64) -> u64 {
    window.max(SPAN_MIN)
}

/// Ids ahead of the newest that one frame can move the window, the edge of (3): well below B_r, so that what
/// a forged frame leaps over is still taken when it comes. A sender may be farther ahead after an outage: two
/// of its frames move the window there (RFC 3550 A.1 does so with sequence numbers; `docs/deviations.md` T9).
pub(super) const AHEAD: u64 = 128;

/// What a frame that arrives is, by its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    New,
    Duplicate,
    TooOld,
    /// Beyond the edge of the window, and no other frame near it has come.
    TooFarAhead,
}

/// What a frame acknowledges.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    pub(crate) block: AckBlock,
    /// One past the newest id in it.
    pub(crate) end: u64,
    /// Once the block is known to have arrived, ids below this one need not be reported any more.
    pub(super) settles: u64,
    /// The next block has to tell of ids below this one first; 0 if this block told of all.
    rest: u64,
}

/// The received ids of one peer, as a ring of bits that grows with what is not reported yet.
#[derive(Debug)]
pub(crate) struct Received {
    /// i_b, with B_r ids behind it and [`AHEAD`] ids ahead of it: P_r (2).
    window: ReceiveWindow,
    /// Id of the last frame that came from beyond the window, until one comes within it.
    beyond: Option<u64>,
    /// The ids that were received.
    bits: Bits,
    /// The nonce bit of each received frame.
    nonces: Bits,
    /// The most ids that the ring holds.
    span_max: u64,
    /// Ids below this one need not be reported any more.
    floor: u64,
    /// Only the acknowledgement of a frame of this host with this id or a later one raises the floor.
    confirm_from: u64,
    /// Blocks sent since the ids before `mark` began to be reported.
    reports: u8,
    mark: u64,
    /// The lowest id that came since then, not in order: fewer blocks have reported it.
    straggler: u64,
    /// Ids below this one were not in the last block, for want of ranges; 0 if all were.
    rest: u64,
    /// Bytes in which the id of the newest frame came.
    newest_width: u8,
}

impl Received {
    /// `behind`: the most ids that B_r may be. `window`: N_P. `first`: the id of the first frame of the remote
    /// host.
    pub(crate) fn new(behind: u64, window: u64, first: u64) -> Self {
        Self {
            window: ReceiveWindow::new(first, behind.min(span(window)), AHEAD),
            beyond: None,
            bits: Bits::new(SPAN_MIN),
            nonces: Bits::new(SPAN_MIN),
            span_max: span(window),
            floor: first,
            confirm_from: 0,
            reports: 0,
            mark: 0,
            straggler: u64::MAX,
            rest: 0,
            newest_width: 4,
        }
    }

    /// i_b: one past the newest received id.
    pub(crate) const fn next(&self) -> u64 {
        self.window.next()
    }

    /// The full id of a frame, from its `width` low bytes (`docs/wire.md`, "Frame ids"). `None` if no id can
    /// be meant. The check of the datagram tells whether it is the one that was meant.
    pub(crate) fn expand(&self, low: u32, width: u8) -> Option<u64> {
        crate::serial::expand_frame(low, u32::from(width), self.next())
    }

    pub(crate) fn classify(&self, id: u64) -> Arrival {
        // A copy of the same frame confirms nothing: every host that has seen it can repeat it.
        let confirms = |other: u64| other != id && other.abs_diff(id) < AHEAD;
        if id >= self.next() {
            if self.window.contains(id) || self.beyond.is_some_and(confirms) {
                Arrival::New
            } else {
                Arrival::TooFarAhead
            }
        } else if !self.window.contains(id) || self.next() - id > self.capacity() {
            // Beyond the ring nothing tells a new frame from a duplicate.
            Arrival::TooOld
        } else if self.bits.get(id) {
            Arrival::Duplicate
        } else {
            Arrival::New
        }
    }

    /// A frame came from beyond the window: another one near it will be taken.
    pub(crate) const fn note_beyond(&mut self, id: u64) {
        self.beyond = Some(id);
    }

    /// Notes the frame `id`, which is not too far ahead. `own_next`: the id of the next frame of this host.
    /// Returns whether the frame is new.
    #[inline]
    pub(crate) fn record(&mut self, id: u64, width: u8, nonce: bool, own_next: u64) -> bool {
        let is_newest = id >= self.next();
        let is_new = is_newest || !self.bits.get(id);
        // Two frames from beyond the window confirm each other only if none from within comes in between
        // (T9).
        if is_new {
            self.beyond = None;
        }
        if is_newest {
            self.advance_to(id);
            self.newest_width = width;
        } else {
            // A straggler, or a duplicate whose sender may not know that it came: it is reported again.
            // Blocks that were sent before know nothing of it, so that their acknowledgement must not raise
            // the floor.
            self.floor = self.floor.min(id);
            self.confirm_from = own_next;
            self.straggler = self.straggler.min(id);
        }
        if is_new || self.nonces.get(id) == nonce {
            self.bits.set(id);
            self.nonces.put(id, nonce);
        } else {
            self.contradict(id, nonce);
        }
        is_new
    }

    /// The frame `id` came before with the other nonce bit: one of the two is a forgery.
    fn contradict(&mut self, id: u64, nonce: bool) {
        // With the wrong bit in its sum every acknowledgement would be refused. So none speaks of this frame
        // any more, and its content is sent again. But a block has to speak of the newest frame: there the
        // later bit counts, as a forgery of a frame that is yet to be sent is corrected by that frame (P15).
        if id + 1 == self.next() {
            self.nonces.put(id, nonce);
        } else {
            self.bits.clear(id);
            self.nonces.clear(id);
        }
    }

    /// i_b ← id + 1 (3).
    #[inline]
    fn advance_to(&mut self, id: u64) {
        let from = self.next();
        // The ring grows for a burst that is not reported yet, up to N_P: all of it has to be acknowledged,
        // though frames so old are not taken any more.
        let keep = self.floor.min(id.saturating_sub(self.window.behind()));
        let span = (id + 1 - keep).min(self.span_max);
        if self.capacity() < span {
            let kept = from.saturating_sub(self.capacity())..from;
            self.bits.grow(span, kept.clone());
            self.nonces.grow(span, kept);
        }
        // What the window leaps over is cleared, so that a lap of the ring is not mistaken for the present.
        let cleared = from.max((id + 1).saturating_sub(self.capacity()))..id + 1;
        self.bits.clear_range(cleared.clone());
        self.nonces.clear_range(cleared);
        self.window.move_past(id);
    }

    fn capacity(&self) -> u64 {
        self.bits.capacity()
    }

    /// Whether a block would report anything, for the first time or again.
    pub(crate) const fn has_report(&self) -> bool {
        self.floor < self.next()
    }

    /// Whether an id before `end` may have to be reported.
    pub(crate) const fn is_open_below(&self, end: u64) -> bool {
        self.floor < end
    }

    /// What the next datagram acknowledges, if the newest frame was held back for this long; `None` if
    /// nothing is left to report. [`reported`](Self::reported) is to be called when it is sent.
    #[inline]
    pub(crate) fn report(&self, held_back: Micros) -> Option<Report> {
        if !self.has_report() {
            return None;
        }
        let largest = self.next() - 1;
        let oldest = self.floor.max(self.next().saturating_sub(self.capacity()));
        // Ids below 0 read as received, so that the map of a young connection is short (`docs/wire.md`).
        let below = u32::MAX.checked_shl(u32::try_from(largest).unwrap_or(u32::BITS));
        let map = self.bits.map_before(largest) | below.unwrap_or(0);
        let reported = largest.saturating_sub(MAP_BITS)..largest + 1;
        let nonce = self.nonces.count(reported) % 2 == 1;
        let mut block = AckBlock {
            largest_low: truncate(largest, 8 * u32::from(self.newest_width)),
            largest_width: self.newest_width,
            delay: AckBlock::delay(held_back.get()),
            map,
            nonce: false,
            marks: Marks::default(),
            ranges: arrayvec::ArrayVec::new(),
        };
        // One past the ids that ranges can tell of.
        let top = largest.saturating_sub(MAP_BITS);
        // Where a fast path reorders there are more ranges than one block takes. Blocks take turns: a frame
        // that fills an old gap must not wait until there are fewer gaps behind the newest frame.
        let start = if self.rest > oldest {
            self.rest.min(top)
        } else {
            top
        };
        let (sum, low) = self.report_ranges(&mut block, top, start, oldest);
        block.nonce = nonce ^ sum;
        let settles = match (low > oldest, start == top) {
            (false, true) => largest + 1,
            (false, false) => start,
            (true, _) => self.floor,
        };
        Some(Report {
            block,
            end: largest + 1,
            settles,
            rest: if low > oldest { low } else { 0 },
        })
    }

    /// Adds the received ranges from below `start` down to `oldest`, where `top` is the place from which gaps
    /// count. Returns the sum of their nonces, and the lowest id down to which the block tells of all.
    #[inline]
    fn report_ranges(
        &self,
        block: &mut AckBlock,
        top: u64,
        start: u64,
        oldest: u64,
    ) -> (bool, u64) {
        let mut nonce = false;
        let (mut above, mut end) = (top, start);
        // The newest first: they are the ones of which the remote host is most likely to know nothing.
        while !block.ranges.is_full() {
            let Some(newest) = self.bits.last(oldest..end, true) else {
                return (nonce, oldest);
            };
            let hole = self.bits.last(oldest..newest, false);
            let first = hole.map_or(oldest, |hole| hole + 1);
            // No range is longer than the ring, so that this cannot fail.
            let length = |ids: u64| u32::try_from(ids).unwrap_or(u32::MAX);
            block.ranges.push(AckRange {
                gap: length(above - 1 - newest),
                length: length(newest + 1 - first),
            });
            nonce ^= self.nonces.count(first..newest + 1) % 2 == 1;
            (above, end) = (first, first);
        }
        let rest = self.bits.last(oldest..end, true);
        (nonce, rest.map_or(oldest, |_| end))
    }

    /// A block with this report is sent.
    pub(crate) fn reported(&mut self, report: &Report) {
        self.rest = report.rest;
        if self.reports == 0 {
            (self.mark, self.straggler) = (report.end, u64::MAX);
        }
        self.reports += 1;
        // After this many blocks one has arrived in all likelihood: the ids before the mark are not repeated
        // for ever (T5). Stragglers wait for the next time, or where there are always some, all would be
        // repeated for ever.
        if self.reports >= REPORTS {
            self.floor = self.floor.max(self.mark.min(self.straggler));
            self.reports = 0;
        }
    }

    /// The frame `own_id` of this host was acknowledged, whose block settles the ids before `end`.
    pub(crate) fn confirm(&mut self, own_id: u64, end: u64) {
        if own_id >= self.confirm_from && end > self.floor {
            self.floor = end;
            self.reports = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;
    use alloc::vec::Vec;

    use super::*;

    fn received(ids: impl IntoIterator<Item = u64>) -> Received {
        let mut received = Received::new(256, 4096, 0);
        for id in ids {
            received.record(id, 4, id % 3 == 0, 0);
        }
        received
    }

    /// What a block says, as a set, down to id `low`.
    fn ids(block: &AckBlock, largest: u64, low: u64) -> BTreeSet<u64> {
        let mut set = BTreeSet::from([largest]);
        for bit in 0..32 {
            if block.map >> bit & 1 == 1 && largest > bit {
                set.insert(largest - 1 - bit);
            }
        }
        let mut top = largest.wrapping_sub(32);
        for range in &block.ranges {
            top -= u64::from(range.gap);
            set.extend(top - u64::from(range.length)..top);
            top -= u64::from(range.length);
        }
        set.retain(|&id| id >= low);
        set
    }

    /// T5.
    #[test]
    fn a_block_says_what_was_received_and_sums_the_nonces() {
        let list: Vec<u64> = (0..200).filter(|id| id % 40 != 7 && id % 40 != 8).collect();
        let received = received(list.iter().copied());
        let Report { block, end, .. } = received.report(Micros::ZERO).unwrap();
        assert_eq!(end, 200);
        assert_eq!(
            ids(&block, end - 1, 0),
            BTreeSet::from_iter(list.iter().copied())
        );
        let parity = list.iter().filter(|&id| id % 3 == 0).count() % 2 == 1;
        assert_eq!(block.nonce, parity);
    }

    #[test]
    fn the_nonce_of_every_reported_frame_is_in_the_sum() {
        let list: Vec<u64> = (0..200).filter(|id| id % 40 != 7 && id % 40 != 8).collect();
        for &marked in &list {
            let mut received = Received::new(256, 4096, 0);
            for &id in &list {
                received.record(id, 4, id == marked, 0);
            }
            assert!(
                received.report(Micros::ZERO).unwrap().block.nonce,
                "{marked}"
            );
        }
    }

    #[test]
    fn a_range_next_to_the_map_has_no_gap() {
        let received = received(0..100);
        let Report { block, .. } = received.report(Micros::ZERO).unwrap();
        assert_eq!(block.ranges.as_slice(), [AckRange { gap: 0, length: 67 }]);
    }

    /// T5.
    #[test]
    fn a_confirmed_report_is_not_repeated_but_stragglers_are_reported() {
        let mut received = received((0..100).filter(|&id| id != 20));
        let Report { end, .. } = received.report(Micros::ZERO).unwrap();
        received.record(20, 4, false, 6);
        received.confirm(5, end); // sent before the straggler came
        let Report { block, .. } = received.report(Micros::ZERO).unwrap();
        assert!(ids(&block, 99, 0).contains(&20));
        received.confirm(6, end);
        assert!(received.report(Micros::ZERO).is_none());
        received.record(150, 4, false, 6);
        let Report { block, .. } = received.report(Micros::ZERO).unwrap();
        assert!(block.ranges.is_empty());
    }

    #[test]
    fn unconfirmed_reports_end_after_a_while() {
        let mut received = received(0..100);
        for _ in 0..REPORTS {
            let report = received.report(Micros::ZERO).unwrap();
            received.reported(&report);
        }
        assert!(received.report(Micros::ZERO).is_none());
    }

    #[test]
    fn at_most_sixteen_ranges_are_reported_the_newest_ones() {
        let received = received((0..400).filter(|id| id % 4 == 0));
        let Report { block, .. } = received.report(Micros::ZERO).unwrap();
        assert_eq!(block.ranges.len(), 16);
        assert!(ids(&block, 396, 0).range(..300).next().is_none());
    }

    /// T5.
    #[test]
    fn blocks_take_turns_where_there_are_more_ranges_than_one_takes() {
        let list: Vec<u64> = (0..500).filter(|id| id % 4 == 0).collect();
        let mut received = received(list.iter().copied());
        let mut settled = Vec::new();
        for _ in 0..2 {
            let mut told = BTreeSet::new();
            for _ in 0..8 {
                let report = received.report(Micros::ZERO).unwrap();
                told.append(&mut ids(&report.block, 496, 0));
                settled.push(report.settles);
                received.reported(&report);
            }
            assert!(told.into_iter().eq(list.iter().copied()));
        }
        // Only the last of eight leaves out no older id: it settles those that are older than its newest.
        assert!(settled[..7].iter().all(|&end| end == 0), "{settled:?}");
        assert_eq!((settled[7], &settled[..8]), (16, &settled[8..]));
        // A turn whose ids are settled in between is over.
        let report = received.report(Micros::ZERO).unwrap();
        received.reported(&report);
        received.confirm(0, report.rest + 40);
        let Report { block, .. } = received.report(Micros::ZERO).unwrap();
        assert!(ids(&block, 496, 0).contains(&460));
    }

    /// T5.
    #[test]
    fn reports_end_where_there_are_always_stragglers() {
        let mut received = received(0..1000);
        for id in (1000..2000).step_by(2) {
            received.record(id + 1, 4, false, 0);
            received.record(id, 4, false, 0);
            let report = received.report(Micros::ZERO).unwrap();
            received.reported(&report);
            received.confirm(0, 0);
        }
        assert!((1850..1990).contains(&received.floor), "{}", received.floor);
    }

    /// T11.
    #[test]
    fn duplicates_and_old_frames_are_told_from_new_ones() {
        let received = received((0..1000).filter(|&id| id != 900));
        assert_eq!(received.classify(1000), Arrival::New);
        assert_eq!(received.classify(900), Arrival::New);
        assert_eq!(received.classify(999), Arrival::Duplicate);
        assert_eq!(received.classify(744), Arrival::Duplicate);
        assert_eq!(received.classify(743), Arrival::TooOld);
    }

    /// T9.
    #[test]
    fn equation_02_a_lap_of_the_ring_is_not_taken_for_the_present() {
        let mut received = received(0..256);
        received.record(3000, 4, false, 0);
        assert_eq!(received.classify(2999), Arrival::New);
        assert_eq!(received.classify(3001 - 256), Arrival::New);
        received.record(1 << 40, 4, false, 0);
        assert_eq!(received.classify((1 << 40) - 5), Arrival::New);
        assert_eq!(received.capacity(), 4096);
        let Report { block, .. } = received.report(Micros::ZERO).unwrap();
        assert_eq!((block.map, block.ranges.len()), (0, 0));
    }

    /// T9.
    #[test]
    fn a_frame_far_ahead_needs_another_one_from_there() {
        let mut received = received(0..100);
        assert_eq!(received.classify(227), Arrival::New);
        for far in [228, 1 << 30] {
            assert_eq!(received.classify(far), Arrival::TooFarAhead);
            received.note_beyond(far);
            assert_eq!(received.classify(far), Arrival::TooFarAhead, "a copy");
            assert_eq!(received.classify(far + 128), Arrival::TooFarAhead);
            assert_eq!(received.classify(far + 127), Arrival::New);
            assert_eq!(received.classify(far - 1), Arrival::New);
        }
        // A frame within the window ends what those beyond it began.
        received.record(100, 4, false, 0);
        assert_eq!(received.classify((1 << 30) + 1), Arrival::TooFarAhead);
    }

    /// T9.
    #[test]
    fn what_one_frame_leaps_over_is_still_taken() {
        let mut received = received(0..100);
        received.record(100 + AHEAD - 1, 4, false, 0);
        for id in 100..100 + AHEAD - 1 {
            assert_eq!(received.classify(id), Arrival::New);
        }
    }

    /// P15.
    #[test]
    fn a_frame_that_came_with_two_nonces_is_not_spoken_of() {
        let mut received = received(0..100);
        received.record(90, 4, true, 0); // 90 came with a nonce before, as 3 divides it
        let Report { block, .. } = received.report(Micros::ZERO).unwrap();
        assert!(ids(&block, 99, 0).contains(&90));
        received.record(90, 4, false, 0);
        let Report { block, .. } = received.report(Micros::ZERO).unwrap();
        assert!(!ids(&block, 99, 0).contains(&90));
        let odd = |ids: &BTreeSet<u64>| ids.iter().filter(|&id| id % 3 == 0).count() % 2 == 1;
        assert_eq!(block.nonce, odd(&ids(&block, 99, 0)));
        // The newest frame is spoken of, by its later nonce.
        received.record(99, 4, false, 0);
        let Report { block, end, .. } = received.report(Micros::ZERO).unwrap();
        let mut spoken = ids(&block, 99, 0);
        assert_eq!((end, spoken.remove(&99)), (100, true));
        assert_eq!(block.nonce, odd(&spoken));
    }

    #[test]
    fn the_ring_holds_bursts_that_were_not_reported_yet() {
        let received = received(0..3000);
        let Report { block, .. } = received.report(Micros::ZERO).unwrap();
        assert_eq!(ids(&block, 2999, 0).len(), 3000);
    }
}
