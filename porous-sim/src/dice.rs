//! The random numbers of a link: each is a function of the link's seed, of the effect that it
//! decides, and of the datagram's number.
//!
//! So there is no order of draws that could shift: a link with loss loses the same datagrams whether it
//! also duplicates, jitters or overflows, and a link that loses 2 % loses every datagram that it would
//! have lost at 1 %.

use crate::Seed;

/// The effect that a random number decides.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Effect {
    Loss,
    Duplicate,
    Delay,
    CopyDelay,
    HoldBack,
    HoldBackBy,
    Burst,
    BurstLoss,
    Corrupt,
    CorruptBits,
    CorruptWhere,
    Truncate,
    TruncateTo,
    Mark,
}

/// The names from which the keys are derived, in the order of [`Effect`]. A name that changes changes every
/// recorded run.
const NAMES: [&str; 14] = [
    "loss",
    "duplicate",
    "delay",
    "copy delay",
    "hold back",
    "hold back by",
    "burst",
    "burst loss",
    "corrupt",
    "corrupt bits",
    "corrupt where",
    "truncate",
    "truncate to",
    "mark",
];

/// The dice of one link: a key for each effect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dice {
    keys: [u64; NAMES.len()],
}

impl Dice {
    pub(crate) fn new(seed: Seed) -> Self {
        Self {
            keys: NAMES.map(|name| seed.child(name, 0).get()),
        }
    }

    /// 64 random bits for this effect on datagram `number`: SplitMix64 at that position, from the
    /// effect's key.
    pub(crate) const fn draw(&self, effect: Effect, number: u64) -> u64 {
        let step = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut z = self.keys[effect as usize].wrapping_add(step);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_values_of_splitmix() {
        let dice = Dice {
            keys: [1_234_567; NAMES.len()],
        };
        assert_eq!(dice.draw(Effect::Loss, 0), 6_457_827_717_110_365_317);
        assert_eq!(dice.draw(Effect::Delay, 1), 3_203_168_211_198_807_973);
    }

    #[test]
    fn effects_and_seeds_differ() {
        let (a, b) = (Dice::new(Seed::new(1)), Dice::new(Seed::new(2)));
        assert_ne!(a.draw(Effect::Loss, 0), a.draw(Effect::Duplicate, 0));
        assert_ne!(a.draw(Effect::Loss, 0), b.draw(Effect::Loss, 0));
    }
}
