//! The receiver of TCP: the segments that have arrived, and when to acknowledge.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::time::Duration;

use porous_proto::Instant;

use super::{Acknowledgement, u32_of, u64_of};

/// The longest time that an acknowledgement waits for a second segment.
const DELAY: Duration = Duration::from_millis(40);

/// The most SACK blocks beside a timestamp (RFC 2018 §3).
const BLOCKS: usize = 3;

#[derive(Debug, Default)]
pub(super) struct Receiver {
    /// All segments before this one have arrived.
    next: u32,
    /// Ranges beyond `next`: from the first to the number after the last.
    ranges: BTreeMap<u32, u32>,
    /// The ranges that grew last, which are the first to be reported (RFC 2018 §4).
    recent: VecDeque<u32>,
    /// Segments in order that are not acknowledged.
    waiting: u32,
    ack_at: Option<Instant>,
    echo: u64,
}

impl Receiver {
    pub(super) fn take(&mut self, now: Instant, packet: &[u8]) {
        let (number, sent) = (u32_of(packet, 0), u64_of(packet, 4));
        let was_whole = self.ranges.is_empty();
        if self.waiting == 0 {
            self.echo = sent; // RFC 7323 §4.3: of the first that it acknowledges
        }
        self.waiting += 1;
        if number == self.next {
            self.next += 1;
            if let Some(end) = self.ranges.remove(&self.next) {
                self.next = end;
            }
        } else if number > self.next {
            self.insert(number);
        }
        // A gap that opens, fills or stays is reported at once (RFC 5681 §4.2).
        let is_plain = was_whole && self.ranges.is_empty() && number + 1 == self.next;
        if is_plain && self.waiting < 2 {
            self.ack_at = Some(now + DELAY);
        } else {
            self.ack_at = Some(now);
        }
    }

    /// Inserts a segment that is not in order.
    fn insert(&mut self, number: u32) {
        let before = self.ranges.range(..=number).next_back();
        let start = match before {
            Some((_, &end)) if number < end => return, // there already
            Some((&start, &end)) if end == number => start,
            Some(_) | None => number,
        };
        let end = self.ranges.remove(&(number + 1)).unwrap_or(number + 1);
        self.ranges.insert(start, end);
        self.recent.push_front(start);
        // More than the blocks of an acknowledgement, as some of these ranges will have joined.
        self.recent.truncate(16);
    }

    pub(super) fn next(&mut self, now: Instant) -> Option<Vec<u8>> {
        self.ack_at.filter(|&at| at <= now)?;
        self.ack_at = None;
        self.waiting = 0;
        let mut blocks: Vec<[u32; 2]> = Vec::new();
        for &start in &self.recent {
            let range = self.ranges.range(..=start).next_back();
            let block = range.map(|(&start, &end)| [start, end]);
            // A range may have been filled or joined with another since it was noted.
            let block = block.filter(|block| block[0] >= self.next && !blocks.contains(block));
            if blocks.len() < BLOCKS {
                blocks.extend(block);
            }
        }
        let ack = Acknowledgement {
            before: self.next,
            echo: self.echo,
            blocks,
        };
        Some(ack.encode())
    }

    pub(super) const fn deadline(&self) -> Option<Instant> {
        self.ack_at
    }

    /// The number of segments that have arrived without a gap.
    pub(super) fn in_order(&self) -> u64 {
        self.next.into()
    }
}
