//! What the remote host acknowledges: a block with its ids recovered and checked, and the newest of all
//! acknowledged ids.

use super::received;
use crate::frame::AckBlock;
use crate::serial::expand_frame;

/// An acknowledgement block that names only frames which were sent, with their whole ids.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acked<'a> {
    pub(crate) largest: u64,
    pub(crate) block: &'a AckBlock,
}

impl<'a> Acked<'a> {
    /// Recovers the ids of a block, whose newest is `largest`. `next`: the id of our next frame. `None` if
    /// it acknowledges a frame that was never sent (`docs/deviations.md` T4), ids below 0, or more than a
    /// host with this window keeps in mind.
    pub(crate) fn new(block: &'a AckBlock, largest: u64, next: u64, window: u64) -> Option<Self> {
        if largest >= next || !map_is_real(largest, block.map) {
            return None;
        }
        let oldest = (largest + 1).saturating_sub(received::span(window));
        let mut top = largest.checked_sub(33);
        for range in &block.ranges {
            let high = top?.checked_sub(u64::from(range.gap))?;
            let length = u64::from(range.length);
            if length > high + 1 || high + 1 - length < oldest {
                return None;
            }
            top = (high + 1).checked_sub(length + 1);
        }
        Some(Self { largest, block })
    }

    /// Calls `each` for the acknowledged ids, first to last of those that follow each other, from
    /// the newest down.
    pub(crate) fn for_each_range(&self, mut each: impl FnMut(u64, u64)) {
        let mut run = (self.largest, self.largest);
        for bit in 0..u64::from(u32::BITS).min(self.largest) {
            let id = self.largest - 1 - bit;
            if self.block.map >> bit & 1 == 0 {
                continue;
            }
            if id + 1 < run.0 {
                each(run.0, run.1);
                run.1 = id;
            }
            run.0 = id;
        }
        each(run.0, run.1);
        let mut top = self.largest.saturating_sub(33);
        for range in &self.block.ranges {
            let high = top - u64::from(range.gap);
            let length = u64::from(range.length);
            each(high + 1 - length, high);
            top = (high + 1).saturating_sub(length + 1);
        }
    }
}

/// Ids below 0 read as received (`docs/wire.md`).
const fn map_is_real(largest: u64, map: u32) -> bool {
    let below = 32_u64.saturating_sub(largest);
    below == 0 || map.leading_ones() as u64 >= below
}

/// Later frames of which the acknowledgement drops one (Figure 7; RFC 4341, NUMDUPACK).
const LATER: usize = 3;

/// The newest acknowledged ids.
#[derive(Debug)]
pub(crate) struct LaterAcks {
    newest: [Option<u64>; LATER],
    next: u64,
}

impl LaterAcks {
    /// `first` is the id of the first frame.
    pub(crate) const fn new(first: u64) -> Self {
        Self {
            newest: [None; LATER],
            next: first,
        }
    }

    /// The frame `id` was acknowledged, for the first time. `is_elsewhere`: it took another path than
    /// the others, and tells nothing of them.
    pub(crate) fn on_acknowledged(&mut self, id: u64, is_elsewhere: bool) {
        self.next = self.next.max(id + 1);
        if is_elsewhere {
            return;
        }
        let mut id = Some(id);
        for slot in &mut self.newest {
            if id > *slot {
                core::mem::swap(slot, &mut id);
            }
        }
    }

    /// Frames below this id have seen three later ones acknowledged.
    pub(crate) const fn dropped_below(&self) -> u64 {
        match self.newest[LATER - 1] {
            Some(id) => id,
            None => 0,
        }
    }

    /// The newest acknowledged id, of those that took the path.
    pub(crate) const fn newest(&self) -> Option<u64> {
        self.newest[0]
    }

    /// The full id of a frame of ours that is acknowledged, if there is one that it can be.
    pub(crate) fn expand(&self, low: u32, width: u8) -> Option<u64> {
        expand_frame(low, u32::from(width), self.next)
    }

    /// One past the newest acknowledged id: a of `docs/wire.md`, "Frame ids".
    pub(crate) const fn next(&self) -> u64 {
        self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_later_acknowledgements_drop_a_frame_in_any_order() {
        let mut acks = LaterAcks::new(0);
        for id in [4, 2] {
            acks.on_acknowledged(id, false);
            assert_eq!(acks.dropped_below(), 0);
        }
        acks.on_acknowledged(3, false);
        assert_eq!((acks.dropped_below(), acks.next()), (2, 5));
        acks.on_acknowledged(0, false);
        assert_eq!(acks.dropped_below(), 2);
        acks.on_acknowledged(9, false);
        assert_eq!(acks.dropped_below(), 3);
        for id in 20..30 {
            acks.on_acknowledged(id, true);
        }
        assert_eq!(
            (acks.dropped_below(), acks.newest(), acks.next()),
            (3, Some(9), 30)
        );
    }
}
