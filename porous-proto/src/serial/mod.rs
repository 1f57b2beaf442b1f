//! Ids of frames and packets, and their windows: the only modulo arithmetic of the crate.
//!
//! Every counter is a `u64` that never wraps. The moduli of the wire (X = 2³² of (1)-(3),
//! Y = 2¹⁶ or 2²⁴ of (16) and (17), and the short forms of frame ids) exist only in [`expand`] and
//! [`truncate`].

mod bits;
mod window;

pub(crate) use bits::Bits;
pub(crate) use window::{ReceiveWindow, SendWindow};

/// The id in `[anchor - behind, anchor - behind + 2^bits)` whose low `bits` bits are `low`.
///
/// There is exactly one, as the range is as long as the modulus. `None` if it is below 0, or 2^64 - 1 or
/// more, which no sender ever uses.
pub(crate) fn expand(low: u32, bits: u32, anchor: u64, behind: u64) -> Option<u64> {
    debug_assert!(
        (1..=32).contains(&bits),
        "a wire id has 1 to 32 bits, not {bits}"
    );
    let mask = (1 << bits) - 1;
    // 2^bits divides 2^64, so a start below zero that wraps still has the right low bits.
    let start = anchor.wrapping_sub(behind);
    let offset = u64::from(low).wrapping_sub(start) & mask;
    // Where the range begins below 0, its first ids do not exist.
    match behind.checked_sub(anchor) {
        Some(below_zero) => offset.checked_sub(below_zero),
        None => start.checked_add(offset).filter(|&id| id < u64::MAX),
    }
}

/// The low `bits` bits of `id`, at most 32: what the wire carries of it.
pub(crate) fn truncate(id: u64, bits: u32) -> u32 {
    debug_assert!(
        (1..=32).contains(&bits),
        "a wire id has 1 to 32 bits, not {bits}"
    );
    u32::try_from(id & ((1 << bits) - 1)).unwrap_or(u32::MAX)
}

/// How far ahead of its anchor a frame id of `width` bytes reaches: a quarter of its range, so
/// that the other three quarters hold late frames.
pub(crate) fn reach(width: u32) -> u64 {
    debug_assert!(
        (1..=4).contains(&width),
        "a frame id has 1 to 4 bytes, not {width}"
    );
    1 << (8 * width - 2)
}

/// The frame id in `[anchor - 3R, anchor + R)`, R = [`reach`]`(width)`, from its `width` low bytes.
///
/// The anchor is one past the newest id received; for the newest id of an acknowledgement, one
/// past the newest id that was acknowledged so far.
pub(crate) fn expand_frame(low: u32, width: u32, anchor: u64) -> Option<u64> {
    expand(low, 8 * width, anchor, 3 * reach(width))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition, taken literally, in wider arithmetic.
    fn naive(low: u32, bits: u32, anchor: u64, behind: u64) -> Option<u64> {
        let start = i128::from(anchor) - i128::from(behind);
        let modulus = 1_i128 << bits;
        let distance = (i128::from(low) - start).rem_euclid(modulus);
        u64::try_from(start + distance)
            .ok()
            .filter(|&id| id < u64::MAX)
    }

    /// Counters near zero, near each modulus, and near the end.
    fn counter() -> impl Strategy<Value = u64> {
        let edges = prop_oneof![
            Just(0_u64),
            Just(1 << 8),
            Just(1 << 16),
            Just(1 << 24),
            Just(1 << 32),
            Just(u64::MAX - 40),
            any::<u64>(),
        ];
        (edges, -40_i64..=40).prop_map(|(edge, step)| edge.saturating_add_signed(step))
    }

    fn bits() -> impl Strategy<Value = u32> {
        prop_oneof![Just(8_u32), Just(16), Just(24), Just(32)]
    }

    proptest! {
        #[test]
        fn expanding_agrees_with_plain_arithmetic(
            low: u32, bits in bits(), anchor in counter(), behind in 0_u64..=(1 << 33),
        ) {
            let low = truncate(u64::from(low), bits);
            prop_assert_eq!(expand(low, bits, anchor, behind), naive(low, bits, anchor, behind));
        }

        #[test]
        fn an_id_within_reach_survives_the_wire(
            width in 1_u32..=4, anchor in counter(), part in 0_u64..(1 << 32),
        ) {
            let span = 4 * reach(width);
            let id = (anchor.saturating_sub(3 * reach(width))).saturating_add(part % span);
            let in_range = i128::from(id) < i128::from(anchor) + i128::from(reach(width));
            prop_assume!(in_range && id < u64::MAX);
            prop_assert_eq!(expand_frame(truncate(id, 8 * width), width, anchor), Some(id));
        }
    }

    #[test]
    fn the_range_of_a_short_frame_id_has_exact_edges() {
        for (width, reach) in [(1, 1 << 6), (2, 1 << 14), (3, 1 << 22), (4, 1_u64 << 30)] {
            let anchor = (1 << 32) + 5;
            let (first, end) = (anchor - 3 * reach, anchor + reach);
            for id in [first, anchor - 1, anchor, end - 1] {
                assert_eq!(
                    expand_frame(truncate(id, 8 * width), width, anchor),
                    Some(id)
                );
            }
            assert_eq!(
                expand_frame(truncate(end, 8 * width), width, anchor),
                Some(first)
            );
            assert_eq!(
                expand_frame(truncate(first - 1, 8 * width), width, anchor),
                Some(end - 1)
            );
        }
    }

    #[test]
    fn an_id_below_zero_does_not_exist() {
        // With anchor 0, one byte spans [-192, 64).
        assert_eq!(expand_frame(63, 1, 0), Some(63));
        assert_eq!(expand_frame(64, 1, 0), None);
        assert_eq!(expand_frame(255, 1, 0), None);
        assert_eq!(
            expand(0, 8, u64::MAX, 0),
            None,
            "2^64 does not exist either"
        );
    }
}
