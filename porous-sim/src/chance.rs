//! Chances and dice: percentages become integers once, so that every machine decides alike.

/// A probability, kept as an integer threshold for 64 random bits.
///
/// ```
/// use porous_sim::Chance;
///
/// let quarter = Chance::percent(25.0);
/// assert!(quarter.happens(0));
/// assert!(quarter.happens((1 << 62) - 1));
/// assert!(!quarter.happens(1 << 62));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Chance {
    /// The chance happens if the random bits are below this; `u64::MAX` stands for always.
    below: u64,
}

impl Chance {
    /// A chance that never happens.
    pub const NEVER: Self = Self { below: 0 };

    /// A chance that always happens.
    pub const ALWAYS: Self = Self { below: u64::MAX };

    /// A chance in percent, from 0 to 100.
    ///
    /// # Panics
    ///
    /// If `percent` is not a number from 0 to 100.
    ///
    /// ```
    /// use porous_sim::Chance;
    ///
    /// assert_eq!(Chance::percent(0.0), Chance::NEVER);
    /// assert_eq!(Chance::percent(100.0), Chance::ALWAYS);
    /// assert!(Chance::percent(0.1) < Chance::percent(0.2));
    /// ```
    #[must_use]
    pub const fn percent(percent: f64) -> Self {
        assert!(
            percent >= 0.0 && percent <= 100.0,
            "a percentage is from 0 to 100"
        );
        let below = percent / 100.0 * 18_446_744_073_709_551_616.0;
        // Division, multiplication and the saturating cast are exact in IEEE 754's sense: the
        // same on every machine.
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the fraction of a step of 2^-64"
        )]
        Self {
            below: below as u64,
        }
    }

    /// True if the chance happens, given 64 random bits.
    ///
    /// ```
    /// use porous_sim::rand_core::Rng;
    /// use porous_sim::{Chance, Seed};
    ///
    /// let mut rng = Seed::new(1).stream("coin", 0);
    /// let heads = (0..1000).filter(|_| Chance::percent(50.0).happens(rng.next_u64())).count();
    /// assert!((450..550).contains(&heads));
    /// ```
    #[must_use]
    pub const fn happens(self, bits: u64) -> bool {
        bits < self.below || self.below == u64::MAX
    }
}

/// Turns 64 random bits into a number from 0 to `n - 1`, and 0 if `n` is 0.
///
/// No number is favoured over another by more than one part in 2^64 / `n`: for a million, one in 10^13.
///
/// ```
/// use porous_sim::below;
/// use porous_sim::rand_core::Rng;
///
/// assert_eq!(below(0, 6), 0);
/// assert_eq!(below(u64::MAX, 6), 5);
/// let mut rng = porous_sim::Seed::new(1).stream("die", 0);
/// assert!(below(rng.next_u64(), 6) < 6);
/// ```
#[must_use]
pub const fn below(bits: u64, n: u64) -> u64 {
    // The high half of a product needs one draw, whatever the bits; an exact way would draw again.
    ((bits as u128 * n as u128) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;
    use chacha20::rand_core::Rng;

    #[test]
    fn thresholds_are_exact() {
        assert_eq!(Chance::percent(50.0).below, 1 << 63);
        assert_eq!(Chance::percent(12.5).below, 1 << 61);
        assert!(!Chance::NEVER.happens(0));
        assert!(Chance::ALWAYS.happens(u64::MAX));
    }

    #[test]
    #[should_panic(expected = "from 0 to 100")]
    fn not_a_number_is_refused() {
        let _ = Chance::percent(f64::NAN);
    }

    #[test]
    #[should_panic(expected = "from 0 to 100")]
    fn more_than_all_is_refused() {
        let _ = Chance::percent(100.5);
    }

    #[test]
    fn below_is_uniform() {
        let mut rng = Seed::new(3).stream("below", 0);
        let mut faces = [0_u32; 6];
        for _ in 0..60_000 {
            faces[usize::try_from(below(rng.next_u64(), 6)).unwrap()] += 1;
        }
        // Binomial: sigma = sqrt(60000 * 5/36) = 91; the bound is four sigma.
        assert!(faces.iter().all(|&n| n.abs_diff(10_000) < 365), "{faces:?}");
    }

    #[test]
    fn below_nothing_is_zero() {
        assert_eq!(below(u64::MAX, 0), 0);
        assert_eq!(below(u64::MAX, u64::MAX), u64::MAX - 1);
    }
}
