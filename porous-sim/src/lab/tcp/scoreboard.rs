//! The state of the segments that the sender of TCP has sent (RFC 6675).

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::delivery::{Delivery, Sent};

/// A segment is lost when this many segments behind it have arrived (DupThresh).
const DUP_THRESH: u32 = 3;

#[derive(Clone, Copy, Debug, Default)]
struct Segment {
    /// Its newest sending.
    sent: Sent,
    sacked: bool,
    lost: bool,
    resent: bool,
}

/// The segments from the first that is not acknowledged to the last that was sent.
#[derive(Debug, Default)]
pub(super) struct Scoreboard {
    first: u32,
    segments: VecDeque<Segment>,
    /// Segments that have neither arrived nor got lost, and lost ones that were sent again: `pipe`.
    in_flight: u32,
    /// Segments lost and not sent again yet.
    to_resend: u32,
    /// Segments before this one need not be looked at again: SACK has told whether they are lost.
    judged: u32,
    /// No segment before this one is to be sent again.
    resend_from: u32,
    /// Segments that arrived although one before them did not.
    sacked: u32,
}

impl Scoreboard {
    /// The first segment that is not acknowledged.
    pub(super) const fn first(&self) -> u32 {
        self.first
    }

    /// The next segment that was never sent.
    pub(super) fn next(&self) -> u32 {
        self.first + u32::try_from(self.segments.len()).unwrap_or(u32::MAX)
    }

    pub(super) const fn in_flight(&self) -> u32 {
        self.in_flight
    }

    pub(super) const fn has_lost(&self) -> bool {
        self.to_resend > 0
    }

    /// Sends a new segment.
    pub(super) fn send(&mut self) -> u32 {
        let number = self.next();
        self.segments.push_back(Segment::default());
        self.in_flight += 1;
        number
    }

    /// Sends the first lost segment again.
    pub(super) fn resend(&mut self) -> Option<u32> {
        if self.to_resend == 0 {
            return None;
        }
        let mut number = self.resend_from.max(self.first);
        loop {
            let segment = self.segments.get_mut((number - self.first) as usize)?;
            // A segment that was taken for lost may have arrived since.
            if segment.lost && !segment.resent && !segment.sacked {
                segment.resent = true;
                self.to_resend -= 1;
                self.in_flight += 1;
                self.resend_from = number + 1;
                return Some(number);
            }
            number += 1;
        }
    }

    /// Remembers how a segment was sent.
    pub(super) fn stamp(&mut self, sent: Sent) {
        let index = sent.number - self.first;
        if let Some(segment) = self.segments.get_mut(index as usize) {
            segment.sent = sent;
        }
    }

    /// Notes that all segments before `number` have arrived, and those that were not known to have in
    /// `delivery`. Returns how many these are.
    pub(super) fn acknowledge(&mut self, number: u32, delivery: &mut Delivery) -> u32 {
        let mut newly = 0;
        while self.first < number {
            let Some(segment) = self.segments.pop_front() else {
                break;
            };
            self.first += 1;
            if segment.sacked {
                self.sacked -= 1;
            } else {
                newly += 1;
                delivery.arrived(segment.sent);
                self.leave(segment);
            }
        }
        newly
    }

    /// Notes that the segments from `start` to before `end` have arrived, and those that were not known to
    /// have in `delivery`. Returns how many these are.
    pub(super) fn sack(&mut self, [start, end]: [u32; 2], delivery: &mut Delivery) -> u32 {
        let mut newly = 0;
        for number in start.max(self.first)..end.min(self.next()) {
            let segment = &mut self.segments[(number - self.first) as usize];
            if !segment.sacked {
                segment.sacked = true;
                let segment = *segment;
                delivery.arrived(segment.sent);
                self.leave(segment);
                newly += 1;
            }
        }
        self.sacked += newly;
        newly
    }

    /// Takes a segment that has arrived out of the counts of missing ones.
    const fn leave(&mut self, segment: Segment) {
        // A lost segment was taken out of the flight before, and came back only if it was sent again.
        if !segment.lost || segment.resent {
            self.in_flight -= 1;
        } else {
            self.to_resend -= 1;
        }
    }

    /// Finds lost segments. Returns those that are new, in their order.
    pub(super) fn find_lost(&mut self) -> Vec<Sent> {
        let mut found = Vec::new();
        if self.sacked < DUP_THRESH {
            return found;
        }
        let mut above = 0;
        let judged = self.judged.max(self.first);
        let mut highest_judged = judged;
        // From the newest down, so that the segments that arrived behind each one are counted on the way.
        for number in (judged..self.next()).rev() {
            let segment = &mut self.segments[(number - self.first) as usize];
            if segment.sacked {
                above += 1;
            } else if above >= DUP_THRESH {
                // Everything below is judged by now, too: more segments have arrived behind it.
                highest_judged = highest_judged.max(number + 1);
                if !segment.lost {
                    segment.lost = true;
                    self.in_flight -= 1;
                    self.to_resend += 1;
                    self.resend_from = self.resend_from.min(number);
                    found.push(segment.sent);
                }
            }
        }
        self.judged = highest_judged;
        found.reverse();
        found
    }

    /// After the timer has run out: takes all segments that have not arrived for lost. Returns those that
    /// were not yet, in their order.
    pub(super) fn lose_all(&mut self) -> Vec<Sent> {
        let mut lost = Vec::new();
        for segment in self.segments.iter_mut().filter(|segment| !segment.sacked) {
            if !segment.lost {
                lost.push(segment.sent);
            }
            segment.lost = true;
            // Also those that were sent again: they may be lost again.
            segment.resent = false;
        }
        self.in_flight = 0;
        let missing = self.segments.iter().filter(|segment| !segment.sacked);
        self.to_resend = u32::try_from(missing.count()).unwrap_or(u32::MAX);
        self.resend_from = self.first;
        self.judged = self.next();
        lost
    }
}
