//! Sequence numbers that wrap around: which of two is the newer one.

/// Half of all sequence numbers.
const HALF: u16 = 1 << 15;

/// True if sequence `a` is more recent than `b`.
///
/// Sequence numbers wrap around after 65,535. The newer one of two is reached from the other by counting
/// up less than half of the way around. If both are exactly half of the way apart, the smaller number is
/// the newer one; so of two different numbers, exactly one is newer.
///
/// ```
/// use porous_message::newer;
///
/// assert!(newer(8, 7));
/// assert!(newer(2, 65_530));
/// assert!(!newer(65_530, 2));
/// assert!(!newer(7, 7));
/// ```
#[inline]
#[must_use]
pub const fn newer(a: u16, b: u16) -> bool {
    match a.wrapping_sub(b) {
        0 => false,
        HALF => a < b,
        ahead => ahead < HALF,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rule as it is often written down, in numbers that cannot wrap: near each other the
    /// larger one is newer, far apart the smaller one.
    fn literally(a: u16, b: u16) -> bool {
        let (a, b, far) = (u32::from(a), u32::from(b), u32::from(u16::MAX) / 2);
        (a > b && a - b <= far) || (b > a && b - a > far)
    }

    /// Every number against those around a wrap, half of a turn away, and next to itself.
    #[test]
    fn newer_is_the_rule_of_the_half_range() {
        for a in 0..=u16::MAX {
            let centres = [0, HALF, a, a.wrapping_add(HALF)];
            for centre in centres {
                for b in (0..=128).map(|near: u16| centre.wrapping_add(near).wrapping_sub(64)) {
                    assert_eq!(newer(a, b), literally(a, b), "{a} and {b}");
                    assert_eq!(newer(b, a), literally(b, a), "{b} and {a}");
                }
            }
        }
    }

    #[test]
    fn of_two_different_numbers_exactly_one_is_newer() {
        for a in (0..=u16::MAX).step_by(101) {
            for b in 0..=u16::MAX {
                assert_eq!(newer(a, b) ^ newer(b, a), a != b, "{a} and {b}");
            }
        }
    }
}
