//! The curve of CUBIC (RFC 9438 §4.2), in whole numbers.

use core::time::Duration;

/// A byte of a window. Windows are counted in 65,536ths of a byte, as near the top of the curve they grow by
/// less than a byte with each acknowledgement.
pub(super) const ONE: u64 = 1 << 16;

/// The farthest time from the top of the curve that counts, in microseconds: more than half an hour. No
/// product overflows within it.
const FAR: i128 = 1 << 31;

/// Cubic microseconds in a cubic second.
const CUBIC_SECOND: i128 = 1_000_000_000_000_000_000;

/// `W_cubic(t) = C (t - K)³ + W_max`, with C = 0.4 frames in a cubic second.
#[derive(Clone, Copy, Debug)]
pub(super) struct Curve {
    /// W_max in bytes.
    maximum: u32,
    /// When the maximum is reached, in microseconds from the beginning: K.
    top: u32,
    mtu: u32,
}

impl Curve {
    /// A curve from a window to a maximum that is no smaller.
    pub(super) fn new(window: u32, maximum: u32, mtu: u32) -> Self {
        let bytes = u128::from(maximum.saturating_sub(window));
        let frames = bytes * 25 * (CUBIC_SECOND.unsigned_abs() / 10) / u128::from(mtu.max(1));
        Self {
            maximum,
            top: cube_root(frames),
            mtu,
        }
    }

    /// W_cubic this long after the beginning, in [`ONE`]s; 0 where the curve is below.
    pub(super) fn at(&self, time: Duration) -> u64 {
        let time = i128::try_from(time.as_micros()).unwrap_or(i128::MAX);
        let distance = time.saturating_sub(self.top.into()).clamp(-FAR, FAR);
        let one = i128::from(ONE);
        let frames = distance * distance * distance * one * 4 / (CUBIC_SECOND * 10);
        let window = frames * i128::from(self.mtu) + i128::from(self.maximum) * one;
        u64::try_from(window.max(0)).unwrap_or(u64::MAX)
    }
}

/// The part of `amount` that belongs to `bytes` of a window, which is in [`ONE`]s. All of it at most.
pub(super) fn fraction(amount: u64, bytes: u32, window: u64) -> u64 {
    let bytes = (u64::from(bytes) * ONE).min(window);
    let part = u128::from(amount) * u128::from(bytes) / u128::from(window.max(1));
    u64::try_from(part).unwrap_or(amount)
}

/// The largest whole number whose cube is not above `number`.
fn cube_root(number: u128) -> u32 {
    let mut root = 0_u32;
    // Bit by bit: the same on every machine, and needed once in an episode only.
    for bit in (0..u32::BITS).rev() {
        let larger = root | 1 << bit;
        if u128::from(larger).pow(3) <= number {
            root = larger;
        }
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_largest_cube_within_is_found() {
        for (number, root) in [(0, 0), (1, 1), (7, 1), (8, 2), (26, 2), (27, 3)] {
            assert_eq!(cube_root(number), root, "{number}");
        }
        assert_eq!(cube_root(u128::MAX), u32::MAX);
        let most = u128::from(u32::MAX).pow(3);
        assert_eq!(cube_root(most), u32::MAX);
        assert_eq!(cube_root(most - 1), u32::MAX - 1);
    }

    #[test]
    fn section_4_2_the_curve_begins_at_the_window_and_turns_at_the_maximum() {
        // 30 frames are missing: K³ = 30 / 0.4.
        let curve = Curve::new(70_000, 100_000, 1000);
        assert_eq!(curve.top, 4_217_163);
        let at = |millis| curve.at(Duration::from_millis(millis)) / ONE;
        assert_eq!(at(0), 70_000);
        assert_eq!(at(1000), 86_680); // 100,000 - 400 * 3.217163³
        assert_eq!(at(4217), 100_000);
        assert_eq!(at(4300), 100_000);
        assert_eq!(at(5217), 100_399);
        assert_eq!(at(14_217), 499_980);
    }

    proptest! {
        #[test]
        fn a_root_is_next_to_its_cube(number: u128) {
            let root = u128::from(cube_root(number));
            prop_assert!(root.pow(3) <= number);
            prop_assert!(root == u128::from(u32::MAX) || (root + 1).pow(3) > number);
        }

        #[test]
        fn no_curve_overflows_and_none_falls(window: u32, maximum: u32, mtu: u32, time: u64, later: u64) {
            let curve = Curve::new(window, maximum, mtu);
            let time = Duration::from_micros(time);
            let later = time.saturating_add(Duration::from_micros(later));
            prop_assert!(curve.at(time) <= curve.at(later));
            prop_assert!(curve.at(Duration::MAX) >= u64::from(maximum) * ONE);
        }

        #[test]
        fn a_fraction_is_no_more_than_all(amount in 0..=u64::from(u32::MAX) * ONE, bytes: u32, window: u64) {
            let part = fraction(amount, bytes, window);
            prop_assert!(part <= amount);
            if u64::from(bytes) * ONE >= window && window > 0 {
                prop_assert_eq!(part, amount);
            }
        }
    }
}
