//! The damage of a link to the bytes of a datagram: bits flipped, an end cut off.

use alloc::vec::Vec;

use crate::dice::{Dice, Effect};
use crate::{LinkConfig, below};

/// The most bits that are flipped in one datagram.
const MOST_BITS: u64 = 8;

fn is_corrupted(config: &LinkConfig, dice: &Dice, number: u64) -> bool {
    config.corrupt.happens(dice.draw(Effect::Corrupt, number))
}

fn is_truncated(config: &LinkConfig, dice: &Dice, number: u64) -> bool {
    config.truncate.happens(dice.draw(Effect::Truncate, number))
}

/// True if chance damages a datagram of this length in bytes.
pub(crate) fn is_damaged(config: &LinkConfig, dice: &Dice, number: u64, len: usize) -> bool {
    len > 0 && (is_corrupted(config, dice, number) || is_truncated(config, dice, number))
}

/// Damages a datagram, which is not empty, as chance decides.
pub(crate) fn damage(config: &LinkConfig, dice: &Dice, number: u64, datagram: &mut Vec<u8>) {
    let whole = datagram.len() as u64;
    if is_corrupted(config, dice, number) {
        let bits = 1 + below(dice.draw(Effect::CorruptBits, number), MOST_BITS);
        for index in 0..bits {
            // A number of its own for each bit of each datagram, so that no two draws are the same.
            let bits = dice.draw(Effect::CorruptWhere, number * MOST_BITS + index);
            let bit = below(bits, 8 * whole);
            if let Some(byte) = usize::try_from(bit / 8)
                .ok()
                .and_then(|at| datagram.get_mut(at))
            {
                *byte ^= 1 << (bit % 8);
            }
        }
    }
    if is_truncated(config, dice, number) {
        let rest = below(dice.draw(Effect::TruncateTo, number), whole);
        datagram.truncate(usize::try_from(rest).unwrap_or(usize::MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;
    use alloc::vec;

    const LEN: usize = 100;

    fn damaged(config: LinkConfig) -> Vec<Vec<u8>> {
        let dice = Dice::new(Seed::new(7));
        let all = (0..10_000).map(|number| {
            let mut datagram = vec![0; LEN];
            let touched = is_damaged(&config, &dice, number, LEN);
            damage(&config, &dice, number, &mut datagram);
            assert!(touched || datagram == [0; LEN]);
            datagram
        });
        all.collect()
    }

    #[test]
    fn nothing_is_damaged_unasked() {
        let all = damaged(LinkConfig::new());
        assert!(all.iter().all(|datagram| datagram == &[0; LEN]));
    }

    #[test]
    fn one_to_eight_bits_anywhere_are_turned_over() {
        let all = damaged(LinkConfig::new().corrupt(100.0));
        let bits = |d: &Vec<u8>| d.iter().map(|byte| byte.count_ones()).sum::<u32>();
        assert!(all.iter().all(|d| d.len() == LEN && bits(d) <= 8));
        // Now and then two of the flipped bits are the same one.
        assert!(all.iter().filter(|d| bits(d) == 0).count() < 100);
        assert!((1..=8).all(|n| all.iter().any(|d| bits(d) == n)));
        assert!((0..LEN).all(|at| all.iter().any(|d| d[at] != 0)));
    }

    #[test]
    fn the_end_is_cut_off_anywhere() {
        let all = damaged(LinkConfig::new().truncate(100.0));
        assert!((0..LEN).all(|len| all.iter().any(|d| d.len() == len)));
        assert!(all.iter().all(|d| d.len() < LEN));
    }

    #[test]
    fn as_many_as_it_says() {
        let config = LinkConfig::new().corrupt(10.0).truncate(10.0);
        let all = damaged(config);
        let cut = all.iter().filter(|d| d.len() < LEN).count();
        // Binomial: sigma = 30; the bound is four sigma.
        assert!(cut.abs_diff(1000) < 120, "{cut}");
    }

    #[test]
    fn an_empty_datagram_has_nothing_to_damage() {
        let config = LinkConfig::new().corrupt(100.0).truncate(100.0);
        let dice = Dice::new(Seed::new(7));
        assert!(is_damaged(&config, &dice, 0, 1));
        assert!(!is_damaged(&config, &dice, 0, 0));
    }
}
