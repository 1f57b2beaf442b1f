//! Nonces: each frame carries a bit that only its receiver can know, and one id of each 512 is left out, so
//! that the sender notices acknowledgements of frames that never came (`docs/wire.md`, "Nonces";
//! `docs/deviations.md` T26).

use core::hash::Hasher;

use siphasher::sip::SipHasher24;

use super::Acked;
use crate::hooks::work;

/// Ids whose bits one hash gives.
const WORD: u64 = u64::BITS as u64;

/// Ids of which one is left out.
pub(super) const SKIP_SPAN: u64 = 512;

/// Blocks that must be right after a wrong one before the window may grow again: a remote host that guesses
/// gets there once in 2^64 attempts.
const PROBATION: u8 = 64;

/// The bits and left-out ids of one connection, computed from a secret: nothing is stored for each frame.
pub(crate) struct Nonces {
    /// `None` under the paper's policy: all bits are 0, and no id is left out.
    secret: Option<u64>,
    /// Recent hashes that give 64 bits each, with their numbers.
    words: [(u64, u64); 2],
    /// Recent hashes that give the left-out id of a span, with the numbers of the spans.
    gaps: [(u64, u64); 2],
    /// Blocks that must still be right before the window may grow.
    probation: u8,
}

impl core::fmt::Debug for Nonces {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Nonces")
            .field("probation", &self.probation)
            .finish_non_exhaustive()
    }
}

impl Nonces {
    pub(crate) const fn new(secret: Option<u64>) -> Self {
        Self {
            secret,
            words: [(u64::MAX, 0); 2],
            gaps: [(u64::MAX, 0); 2],
            probation: 0,
        }
    }

    /// The nonce bit of this frame.
    pub(crate) fn bit(&mut self, id: u64) -> bool {
        self.parity(id, id)
    }

    /// Whether this id is left out.
    pub(crate) fn skips(&mut self, id: u64) -> bool {
        self.first_skipped(id, id).is_some()
    }

    /// The exclusive or of the bits from `low` to `high`.
    #[inline]
    fn parity(&mut self, low: u64, high: u64) -> bool {
        let Some(secret) = self.secret else {
            return false;
        };
        let mut ones = 0;
        for word in low / WORD..=high / WORD {
            let mut bits = recall(&mut self.words, word, |word| hash(secret, word, 0));
            if word == low / WORD {
                bits &= u64::MAX << (low % WORD);
            }
            if word == high / WORD {
                bits &= u64::MAX >> (WORD - 1 - high % WORD);
            }
            ones ^= bits.count_ones();
        }
        ones & 1 == 1
    }

    /// The first id from `low` to `high` that is left out.
    fn first_skipped(&mut self, low: u64, high: u64) -> Option<u64> {
        let secret = self.secret?;
        let gaps = &mut self.gaps;
        let mut gap = |span| recall(gaps, span, |span| hash(secret, span, 1) % SKIP_SPAN);
        (low / SKIP_SPAN..=high / SKIP_SPAN)
            .map(|span| span * SKIP_SPAN + gap(span))
            .find(|skipped| (low..=high).contains(skipped))
    }

    /// Whether the remote host can have received all that this block acknowledges. A wrong block puts it on
    /// probation; a right one counts only by [`trust`](Self::trust), once the whole datagram is found valid.
    #[inline]
    pub(crate) fn check(&mut self, acked: &Acked<'_>) -> bool {
        let mut parity = acked.block.nonce;
        let mut is_possible = true;
        acked.for_each_range(|low, high| {
            parity ^= self.parity(low, high);
            // Whatever the bits are: a remote host that acknowledges everything names an id that was never
            // sent.
            is_possible &= self.first_skipped(low, high).is_none();
        });
        let is_right = is_possible && !parity;
        if !is_right {
            self.probation = PROBATION;
        }
        is_right
    }

    /// A right block was taken.
    pub(crate) const fn trust(&mut self) {
        self.probation = self.probation.saturating_sub(1);
    }

    /// Whether the congestion window may grow by what the remote host says.
    pub(crate) const fn is_trusted(&self) -> bool {
        self.probation == 0
    }
}

/// A hash, computed only if it is not one of the last two of its kind.
fn recall(known: &mut [(u64, u64); 2], number: u64, hash: impl Fn(u64) -> u64) -> u64 {
    // Neighbours take different slots: ids are asked for in order, across the border of two words or spans.
    let slot = &mut known[(number % 2) as usize];
    if slot.0 != number {
        *slot = (number, hash(number));
    }
    slot.1
}

fn hash(secret: u64, number: u64, domain: u8) -> u64 {
    work::count(1);
    let mut hasher = SipHasher24::new_with_keys(secret, number);
    // Bits and gaps have domains of their own: otherwise the bits that are sent would tell which id is left
    // out.
    hasher.write_u8(domain);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    const SECRET: u64 = 0x0123_4567_89ab_cdef;

    #[test]
    fn the_parity_of_a_range_is_that_of_its_bits() {
        let mut nonces = Nonces::new(Some(SECRET));
        let bits: Vec<bool> = (0..1000).map(|id| nonces.bit(id)).collect();
        for (low, high) in [(0, 0), (63, 64), (1, 62), (64, 127), (5, 700), (960, 999)] {
            let ones = bits[low..=high].iter().filter(|&&bit| bit).count();
            let parity = nonces.parity(low as u64, high as u64);
            assert_eq!(parity, ones % 2 == 1, "{low} to {high}");
        }
        let ones = bits.iter().filter(|&&bit| bit).count();
        assert!((400..600).contains(&ones), "{ones}");
    }

    #[test]
    fn one_id_of_each_512_is_left_out_and_every_range_knows() {
        let mut nonces = Nonces::new(Some(SECRET));
        let left_out: Vec<u64> = (0..512 * 40).filter(|&id| nonces.skips(id)).collect();
        assert_eq!(left_out.len(), 40);
        for (span, &id) in (0..).zip(&left_out) {
            assert_eq!(id / SKIP_SPAN, span);
            assert_eq!(nonces.first_skipped(id.saturating_sub(600), id), {
                let before = left_out.iter().find(|&&other| other + 600 >= id);
                before.copied()
            });
            assert_eq!(nonces.first_skipped(id + 1, id + 1), {
                let next = left_out.iter().find(|&&other| other == id + 1);
                next.copied()
            });
        }
    }

    #[test]
    fn another_secret_gives_other_bits_and_gaps() {
        let [mut one, mut other] = [SECRET, SECRET + 1].map(|secret| Nonces::new(Some(secret)));
        assert!((0..64).any(|id| one.bit(id) != other.bit(id)));
        assert!((0..512).any(|id| one.skips(id) != other.skips(id)));
    }

    #[test]
    fn the_paper_has_no_nonces_and_no_gaps() {
        let mut nonces = Nonces::new(None);
        assert!((0..5000).all(|id| !nonces.bit(id) && !nonces.skips(id)));
    }
}
