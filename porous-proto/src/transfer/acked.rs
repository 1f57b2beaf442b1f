//! What the remote host acknowledges: a block whose ids are recovered and checked, and the newest of all ids
//! that were ever acknowledged.

use super::received;
use crate::frame::AckBlock;
use crate::serial::expand_frame;

/// An acknowledgement block with its whole ids. All ids that it names are below the next id of this host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acked<'a> {
    pub(crate) largest: u64,
    pub(crate) block: &'a AckBlock,
}

impl<'a> Acked<'a> {
    /// Recovers the ids of a block. `largest` is the newest of them, `next` the id of the next frame of this
    /// host, `window` N_P. `None` refuses the datagram.
    pub(crate) fn new(block: &'a AckBlock, largest: u64, next: u64, window: u64) -> Option<Self> {
        // No honest host acknowledges a frame that was never sent (`docs/deviations.md` T4).
        if largest >= next || !map_is_real(largest, block.map) {
            return None;
        }
        let oldest = (largest + 1).saturating_sub(received::span(window));
        // Ids are recovered from the newest down: `largest`, 32 ids of the map, then the ranges. An underflow
        // means that the block names ids below 0.
        let mut top = largest.checked_sub(33);
        for range in &block.ranges {
            let high = top?.checked_sub(u64::from(range.gap))?;
            let length = u64::from(range.length);
            // A host with this window remembers nothing below `oldest`: only one that lies names it, and a
            // walk over such a range would be work that one datagram claims.
            if length > high + 1 || high + 1 - length < oldest {
                return None;
            }
            top = (high + 1).checked_sub(length + 1);
        }
        Some(Self { largest, block })
    }

    /// Calls `each` with the first and the last id of each run of acknowledged ids, from the newest run down.
    #[inline]
    pub(crate) fn for_each_range(&self, mut each: impl FnMut(u64, u64)) {
        // The newest id and the map as one word, in which runs are found without a look at each bit. Ids below
        // 0 read as received: they are cut off.
        let mut bits = u64::from(self.block.map) << 1 | 1;
        bits &= u64::MAX >> (63 - self.largest.min(63));
        while bits != 0 {
            let newest = u64::from(bits.trailing_zeros());
            let count = u64::from((bits >> newest).trailing_ones());
            let high = self.largest - newest;
            each(high + 1 - count, high);
            bits &= u64::MAX << (newest + count);
        }
        let mut top = self.largest.saturating_sub(33);
        for range in &self.block.ranges {
            let high = top - u64::from(range.gap);
            let length = u64::from(range.length);
            each(high + 1 - length, high);
            top = (high + 1).saturating_sub(length + 1);
        }
    }
}

/// Whether all bits of the map that stand for ids below 0 are set: such ids read as received (`docs/wire.md`,
/// "Acknowledgements").
const fn map_is_real(largest: u64, map: u32) -> bool {
    let below = 32_u64.saturating_sub(largest);
    below == 0 || map.leading_ones() as u64 >= below
}

/// Later frames whose acknowledgement drops a frame (Figure 7; RFC 4341, NUMDUPACK).
const LATER: usize = 3;

/// The newest acknowledged ids of a connection.
#[derive(Debug)]
pub(crate) struct LaterAcks {
    /// The newest ids that took the path, in falling order.
    newest: [Option<u64>; LATER],
    /// One past the newest acknowledged id, of any path.
    next: u64,
}

impl LaterAcks {
    /// `first` is the id of the first frame of this host.
    pub(crate) const fn new(first: u64) -> Self {
        Self {
            newest: [None; LATER],
            next: first,
        }
    }

    /// The frame `id` was acknowledged for the first time. `is_at_other_address`: it took another path than the
    /// others.
    pub(crate) fn on_acknowledged(&mut self, id: u64, is_at_other_address: bool) {
        // The remote host has received this id, by whichever path: the widths of later ids count from here.
        self.next = self.next.max(id + 1);
        // A frame on another path overtakes nothing on this one: it must not make older frames look lost.
        if is_at_other_address {
            return;
        }
        let mut id = Some(id);
        for slot in &mut self.newest {
            if id > *slot {
                core::mem::swap(slot, &mut id);
            }
        }
    }

    /// Frames below this id have seen three later ones acknowledged. One comparison for each frame, since
    /// each transmission has an id of its own.
    pub(crate) const fn dropped_below(&self) -> u64 {
        match self.newest[LATER - 1] {
            Some(id) => id,
            None => 0,
        }
    }

    /// The newest acknowledged id of those that took the path; `None` before the first.
    pub(crate) const fn newest(&self) -> Option<u64> {
        self.newest[0]
    }

    /// The full id of a frame of this host that is acknowledged, from its `width` low bytes. `None` if no id
    /// can be meant.
    #[inline]
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
