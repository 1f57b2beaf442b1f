//! A bit for each id of a window, in a ring of words. A question about a range of ids costs a step for each
//! 64 of them, so that wide windows full of holes are no burden.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use crate::hooks::work;

const WORD: u64 = u64::BITS as u64;

/// A set of ids. Ids that are a multiple of the capacity apart share a bit: a caller keeps to a range of ids
/// no wider than the capacity.
#[derive(Debug)]
pub(crate) struct Bits {
    /// As many words as a power of two, or none.
    words: Vec<u64>,
    /// Bits that are set.
    ones: u64,
}

impl Bits {
    /// An empty set with room for at least `ids` ids. For 0 nothing is allocated.
    pub(crate) fn new(ids: u64) -> Self {
        if ids == 0 {
            return Self {
                words: Vec::new(),
                ones: 0,
            };
        }
        // A power of two of words, so that a mask finds the word of an id.
        let words = usize::try_from(ids.div_ceil(WORD)).unwrap_or(usize::MAX);
        Self {
            words: vec![0; words.next_power_of_two()],
            ones: 0,
        }
    }

    /// Ids that there is room for.
    pub(crate) fn capacity(&self) -> u64 {
        WORD * self.words.len() as u64
    }

    /// Makes room for `ids` ids. Keeps the bits of the ids `kept`: no others may be set.
    pub(crate) fn grow(&mut self, ids: u64, kept: Range<u64>) {
        let mut grown = Self::new(ids.max(self.capacity()));
        let mut from = kept.start;
        // Word by word: a bit has the same place in its word in both rings. An empty set has nothing to copy.
        while from < kept.end && self.ones > 0 {
            let (word, mask, next) = self.part(from, kept.end);
            let (place, _) = grown.position(from);
            grown.words[place] |= self.words[word] & mask;
            from = next;
        }
        grown.ones = self.ones;
        *self = grown;
    }

    fn position(&self, id: u64) -> (usize, u64) {
        work::count(1);
        let word = (id / WORD) as usize & (self.words.len() - 1);
        (word, id % WORD)
    }

    pub(crate) fn get(&self, id: u64) -> bool {
        let (word, bit) = self.position(id);
        self.words[word] >> bit & 1 == 1
    }

    pub(crate) fn set(&mut self, id: u64) {
        let (word, bit) = self.position(id);
        // Counted only if it changes, here and in `clear`.
        self.ones += u64::from(self.words[word] >> bit & 1 == 0);
        self.words[word] |= 1 << bit;
    }

    pub(crate) fn clear(&mut self, id: u64) {
        let (word, bit) = self.position(id);
        self.ones -= self.words[word] >> bit & 1;
        self.words[word] &= !(1 << bit);
    }

    /// Sets or clears the bit of an id.
    pub(crate) fn put(&mut self, id: u64, value: bool) {
        if value {
            self.set(id);
        } else {
            self.clear(id);
        }
    }

    /// Clears the bits of a range.
    pub(crate) fn clear_range(&mut self, ids: Range<u64>) {
        let mut from = ids.start;
        while from < ids.end {
            let (word, mask, next) = self.part(from, ids.end);
            self.ones -= u64::from((self.words[word] & mask).count_ones());
            self.words[word] &= !mask;
            from = next;
        }
    }

    /// The number of bits of a range that are set.
    pub(crate) fn count(&self, ids: Range<u64>) -> u32 {
        let (mut from, mut count) = (ids.start, 0);
        while from < ids.end {
            let (word, mask, next) = self.part(from, ids.end);
            count += (self.words[word] & mask).count_ones();
            from = next;
        }
        count
    }

    /// The bits of the 32 ids before `end`, the last id's the lowest. Those of ids below 0 are 0.
    pub(crate) fn map_before(&self, end: u64) -> u32 {
        let start = end.saturating_sub(u32::BITS.into());
        let (mut from, mut map) = (start, 0);
        while from < end {
            let (word, mask, next) = self.part(from, end);
            map |= (self.words[word] & mask) >> (from % WORD) << (from - start);
            from = next;
        }
        // So far the id `start + n` has bit n: an acknowledgement has the newest first.
        u32::try_from(map.reverse_bits() >> (WORD - (end - start)).min(WORD - 1))
            .unwrap_or_default()
    }

    /// The part of a range that is in the word of its first id: the index of the word, the mask of the part,
    /// and the first id behind it.
    fn part(&self, from: u64, end: u64) -> (usize, u64, u64) {
        let (word, bit) = self.position(from);
        let len = (WORD - bit).min(end - from);
        (word, (u64::MAX >> (WORD - len)) << bit, from + len)
    }

    /// The first id of a range whose bit has this value.
    #[inline]
    pub(crate) fn first(&self, ids: Range<u64>, value: bool) -> Option<u64> {
        // An empty set needs no walk through its range, which may be as wide as a window.
        if value && self.ones == 0 {
            return None;
        }
        let mut from = ids.start;
        while from < ids.end {
            let (word, mask, next) = self.part(from, ids.end);
            let found = self.valued(word, value) & mask;
            if found != 0 {
                return Some(from - from % WORD + u64::from(found.trailing_zeros()));
            }
            from = next;
        }
        None
    }

    /// The last id of a range whose bit has this value.
    pub(crate) fn last(&self, ids: Range<u64>, value: bool) -> Option<u64> {
        let mut end = ids.end;
        while end > ids.start {
            let from = ids.start.max((end - 1) - (end - 1) % WORD);
            let (word, mask, _) = self.part(from, end);
            let found = self.valued(word, value) & mask;
            if found != 0 {
                return Some(from - from % WORD + u64::from(found.ilog2()));
            }
            end = from;
        }
        None
    }

    /// A word in which the bits of this value are ones.
    fn valued(&self, word: usize, value: bool) -> u64 {
        if value {
            self.words[word]
        } else {
            !self.words[word]
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bits_are_a_set_of_ids_while_the_ring_turns(
            start in prop_oneof![Just(0), Just(190_u64), Just((1 << 32) - 70)],
            changes in proptest::collection::vec((0_u64..256, 0_u64..256, 0_u8..4), 1..60),
        ) {
            let (mut bits, mut set) = (Bits::new(200), BTreeSet::new());
            prop_assert_eq!(bits.capacity(), 256);
            for (a, b, change) in changes {
                let naive = (0..32_u64).filter(|n| {
                    let id = (start + a).checked_sub(n + 1);
                    id.is_some_and(|id| id >= start && set.contains(&id))
                });
                if a >= 32 || start == 0 {
                    let naive = naive.fold(0, |map, n| map | 1 << n);
                    prop_assert_eq!(bits.map_before(start + a), naive);
                }
                let ids = start + a.min(b)..start + a.max(b);
                match change {
                    0 => {
                        bits.set(start + a);
                        set.insert(start + a);
                    }
                    1 => {
                        bits.clear(start + a);
                        set.remove(&(start + a));
                    }
                    2 => {
                        for id in ids.clone() {
                            bits.set(id);
                            set.insert(id);
                        }
                    }
                    _ => {
                        bits.clear_range(ids.clone());
                        set.retain(|id| !ids.contains(id));
                    }
                }
                let absent = |id: &u64| !set.contains(id);
                prop_assert_eq!(bits.get(start + b), set.contains(&(start + b)));
                prop_assert_eq!(bits.count(ids.clone()) as usize, set.range(ids.clone()).count());
                prop_assert_eq!(bits.first(ids.clone(), true), set.range(ids.clone()).next().copied());
                prop_assert_eq!(bits.last(ids.clone(), true), set.range(ids.clone()).last().copied());
                prop_assert_eq!(bits.first(ids.clone(), false), ids.clone().find(absent));
                prop_assert_eq!(bits.last(ids.clone(), false), ids.clone().rfind(absent));
            }
            bits.grow(300, start..start + 256);
            prop_assert_eq!(bits.capacity(), 512);
            let all: BTreeSet<u64> = (start..start + 512).filter(|&id| bits.get(id)).collect();
            prop_assert_eq!(all, set);
        }
    }
}
