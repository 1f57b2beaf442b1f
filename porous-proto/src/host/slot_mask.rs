//! Connection ids that hold the slot of their peer, so that a datagram finds it without a search
//! (`docs/design.md`, "How does a datagram find its peer?").

use crate::ids::Slot;

/// The bytes of an id that are masked, the first ones: half of them are random, half are the slot.
const MASKED: usize = 4;

/// A permutation of 32 bits that only its host can compute: without the key nobody can tell the slots in
/// two ids, nor what another peer's id is.
///
/// A Feistel network of four rounds, which four pseudorandom functions make a strong pseudorandom
/// permutation (Luby and Rackoff, 1988). The function of a round is light: slots are no great secret, and
/// the random half of an id never leaves the host.
#[derive(Clone, Copy)]
pub(super) struct SlotMask([u32; 4]);

/// Never shows the key.
impl core::fmt::Debug for SlotMask {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("SlotMask").finish_non_exhaustive()
    }
}

impl SlotMask {
    /// `key`: numbers that nobody can foresee.
    pub(super) const fn new(key: [u64; 2]) -> Self {
        const fn halves(n: u64) -> [u32; 2] {
            let [a, b, c, d, e, f, g, h] = n.to_le_bytes();
            [
                u32::from_le_bytes([a, b, c, d]),
                u32::from_le_bytes([e, f, g, h]),
            ]
        }
        let ([a, b], [c, d]) = (halves(key[0]), halves(key[1]));
        Self([a, b, c, d])
    }

    /// Makes an id of random bytes hold a slot. Ids of less than four bytes hold none, nor does any id hold
    /// a slot from 65,536 on: they stay as they are.
    pub(super) fn put(&self, slot: Slot, id: &mut [u8]) {
        if let Some((random, slot, masked)) = parts(slot, id) {
            *masked = self.hide(random, slot);
        }
    }

    /// The same, and makes the bits of the id's first byte that are set in `bits` those of `shard`, also in
    /// ids that hold no slot.
    pub(super) fn put_sharded(&self, slot: Slot, id: &mut [u8], shard: u8, bits: u8) {
        let is_right = |id: &[u8; MASKED]| id[0] & bits == shard;
        if let Some((random, slot, masked)) = parts(slot, id) {
            // What is masked looks random, so that about one of each 2^bits random halves gives the shard:
            // at most one of 256. To draw them all would ask the system for each.
            let halves = (0..=u16::MAX).map(|n| random.wrapping_add(n));
            let mut hidden = halves.map(|random| self.hide(random, slot));
            if let Some(found) = hidden.find(is_right) {
                *masked = found;
                return;
            }
        }
        if let Some(first) = id.first_mut() {
            *first = *first & !bits | shard;
        }
    }

    fn hide(&self, random: u16, slot: u16) -> [u8; MASKED] {
        let mut halves = (random, slot);
        for &key in &self.0 {
            halves = (halves.1, halves.0 ^ mix(halves.1, key));
        }
        bytes(halves)
    }

    /// The slot that an id holds, if it was made to hold one; any slot if not.
    pub(super) fn slot(&self, id: &[u8]) -> Option<Slot> {
        let &[a, b, c, d] = id.first_chunk::<MASKED>()?;
        let mut halves = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
        for &key in self.0.iter().rev() {
            halves = (halves.1 ^ mix(halves.0, key), halves.0);
        }
        Some(Slot::new(halves.1.into()))
    }
}

/// The random half of an id, the slot, and the bytes that are to hold it; `None` if they cannot.
fn parts(slot: Slot, id: &mut [u8]) -> Option<(u16, u16, &mut [u8; MASKED])> {
    let slot = u16::try_from(slot.index()).ok()?;
    let masked = id.first_chunk_mut::<MASKED>()?;
    let [a, b, ..] = *masked;
    Some((u16::from_le_bytes([a, b]), slot, masked))
}

const fn bytes((left, right): (u16, u16)) -> [u8; MASKED] {
    let ([a, b], [c, d]) = (left.to_le_bytes(), right.to_le_bytes());
    [a, b, c, d]
}

/// The function of a round: each bit of the half and of the key changes each bit of the result with a chance
/// of nearly one half. The constants are those of MurmurHash3.
fn mix(half: u16, key: u32) -> u16 {
    let n = (u32::from(half) ^ key).wrapping_mul(0x85EB_CA6B);
    let n = (n ^ n >> 13).wrapping_mul(0xC2B2_AE35);
    let [_, _, c, d] = n.to_le_bytes();
    u16::from_le_bytes([c, d])
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;

    use super::*;

    const MASK: SlotMask = SlotMask::new([0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210]);

    #[test]
    fn an_id_gives_back_the_slot_that_was_put_into_it() {
        for slot in [0, 1, 2, 999, 65_535].map(Slot::new) {
            for random in 0..=255 {
                let mut id = [random; 20];
                MASK.put(slot, &mut id);
                assert_eq!(MASK.slot(&id), Some(slot));
                assert_eq!(id[4..], [random; 16], "only four bytes are masked");
                assert_eq!(MASK.slot(&id[..4]), Some(slot));
            }
        }
    }

    #[test]
    fn ids_that_are_too_short_and_slots_that_are_too_large_are_left_alone() {
        let mut short = [7; 3];
        MASK.put(Slot::new(5), &mut short);
        assert_eq!((short, MASK.slot(&short)), ([7; 3], None));
        let mut id = [7; 4];
        MASK.put(Slot::new(65_536), &mut id);
        assert_eq!(id, [7; 4]);
    }

    #[test]
    fn an_id_holds_its_slot_and_its_shard() {
        for (bits, shard) in [(1, 0), (1, 1), (3, 2), (127, 93), (255, 0), (255, 255)] {
            for slot in [0, 1, 65_535].map(Slot::new) {
                for random in 0..=255 {
                    let mut id = [random; 20];
                    MASK.put_sharded(slot, &mut id, shard, bits);
                    assert_eq!((id[0] & bits, MASK.slot(&id)), (shard, Some(slot)));
                    assert_eq!(id[4..], [random; 16]);
                }
            }
        }
    }

    #[test]
    fn an_id_that_holds_no_slot_has_its_shard() {
        let mut short = [0xA5, 7, 7];
        MASK.put_sharded(Slot::new(5), &mut short, 2, 3);
        assert_eq!(short, [0xA6, 7, 7]);
        let mut id = [0xA5, 7, 7, 7];
        MASK.put_sharded(Slot::new(65_536), &mut id, 2, 3);
        assert_eq!(id, [0xA6, 7, 7, 7]);
        MASK.put_sharded(Slot::new(5), &mut [], 2, 3);
    }

    /// An attacker that knows the shard guesses all other bits: each is set in half of all ids.
    #[test]
    fn an_id_tells_nothing_beside_its_shard() {
        let mut set = [0_u32; 32];
        for random in 0..=u16::MAX {
            let [a, b] = random.wrapping_mul(0x9E37).to_le_bytes();
            let mut id = [a, b, 0, 0];
            MASK.put_sharded(Slot::new(3), &mut id, 2, 3);
            let id = u32::from_le_bytes(id);
            set.iter_mut()
                .zip(0..)
                .for_each(|(sum, bit)| *sum += id >> bit & 1);
        }
        assert_eq!(set[..2], [0, 65_536]);
        for sum in &set[2..] {
            assert!((30_000..35_536).contains(sum), "{set:?}");
        }
    }

    /// Each of the 32 bits of an id is set in half of all ids, whatever the slot.
    #[test]
    fn an_id_tells_nothing_of_its_slot() {
        for slot in [0, 1, 65_535].map(Slot::new) {
            let mut set = [0_u32; 32];
            for random in 0..=u16::MAX {
                let [a, b] = random.to_le_bytes();
                let mut id = [a, b, 0, 0];
                MASK.put(slot, &mut id);
                let id = u32::from_le_bytes(id);
                set.iter_mut()
                    .zip(0..)
                    .for_each(|(sum, bit)| *sum += id >> bit & 1);
            }
            for sum in set {
                assert!((32_000..33_536).contains(&sum), "{set:?}");
            }
        }
    }

    /// What the ids of one slot have in common is not what those of the next have in common.
    #[test]
    fn neighbours_have_ids_that_are_far_apart() {
        let of = |slot, random: u16| {
            let [a, b] = random.to_le_bytes();
            let mut id = [a, b, 0, 0];
            MASK.put(Slot::new(slot), &mut id);
            u32::from_le_bytes(id)
        };
        let differences: BTreeSet<u32> = (0..1000).map(|n| of(n, 7) ^ of(n + 1, 7)).collect();
        assert_eq!(differences.len(), 1000);
    }

    #[test]
    fn another_key_gives_other_ids() {
        let other = SlotMask::new([1, 2]);
        let mut ids = [[9; 4]; 2];
        MASK.put(Slot::new(3), &mut ids[0]);
        other.put(Slot::new(3), &mut ids[1]);
        assert_ne!(ids[0], ids[1]);
    }
}
