//! Ids of frames and packets, and their windows: the only modulo arithmetic of the crate.
//!
//! Every counter is a `u64` that never wraps. The moduli of the wire (X = 2³² of (1)-(3),
//! Y = 2¹⁶ or 2²⁴ of (16) and (17), and the short forms of frame ids) exist only in [`expand`] and
//! [`truncate`].

mod bits;

use crate::hooks::canary::{Bug, strikes};
pub(crate) use bits::Bits;

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

/// `[base, base + size)`: the transfer window of frames (1) or of a channel's packets (16). The
/// receive window of a channel (17) has the same shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SendWindow {
    base: u64,
    size: u64,
}

impl SendWindow {
    pub(crate) const fn new(base: u64, size: u64) -> Self {
        Self { base, size }
    }

    /// The oldest id inside: k_b, n_b or m_b.
    pub(crate) const fn base(&self) -> u64 {
        self.base
    }

    pub(crate) const fn size(&self) -> u64 {
        self.size
    }

    /// One past the newest id inside.
    #[cfg(test)]
    pub(crate) const fn end(&self) -> u64 {
        self.base.saturating_add(self.size)
    }

    pub(crate) fn contains(&self, id: u64) -> bool {
        // A deliberate bug, compiled in only where a test must find it.
        let size = self.size + u64::from(strikes(Bug::WindowOffByOne));
        self.base <= id && id - self.base < size
    }

    /// Moves the window on so that it begins at `base`.
    pub(crate) fn advance_to(&mut self, base: u64) {
        // It never moves back: what is late or repeated must not make old ids valid again.
        self.base = self.base.max(base);
    }
}

/// `[next - behind, next + ahead)`: the receive window of frames. In (2) both are N_P; here `behind` is B_r
/// and `ahead` 128 (`deviations.md` T9, T12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReceiveWindow {
    next: u64,
    behind: u64,
    ahead: u64,
}

impl ReceiveWindow {
    pub(crate) const fn new(next: u64, behind: u64, ahead: u64) -> Self {
        Self {
            next,
            behind,
            ahead,
        }
    }

    /// One past the newest id received: i_b.
    pub(crate) const fn next(&self) -> u64 {
        self.next
    }

    pub(crate) const fn behind(&self) -> u64 {
        self.behind
    }

    pub(crate) const fn contains(&self, id: u64) -> bool {
        // Saturating: no id lies below 0.
        self.next.saturating_sub(self.behind) <= id && !self.is_beyond(id)
    }

    /// The frame `id` was taken in: if it is in the leading part, the window moves on (3).
    pub(crate) fn move_past(&mut self, id: u64) {
        self.next = self.next.max(id.saturating_add(1));
    }

    /// Whether `id` lies ahead of the window.
    const fn is_beyond(&self, id: u64) -> bool {
        self.next <= id && id - self.next >= self.ahead
    }
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

    mod windows {
        use super::super::*;
        use proptest::prelude::*;

        /// Whether the window holds a frame that arrives, which moves it on.
        fn take(window: &mut ReceiveWindow, id: u64) -> bool {
            let is_taken = window.contains(id);
            if is_taken {
                window.move_past(id);
            }
            is_taken
        }

        #[test]
        fn figure_06_windows() {
            let mut transfer = SendWindow::new(0, 4);
            let mut receive = ReceiveWindow::new(0, 4, 4);
            assert!((0..4).all(|k| transfer.contains(k)));
            assert!(!transfer.contains(4));

            // (a): frame 3 is the first to arrive; (b): everything in [0, 8) is now acceptable.
            assert!(take(&mut receive, 3));
            assert_eq!(receive.next(), 4);
            assert!((0..8).all(|k| receive.contains(k)));
            assert!(!receive.contains(8));

            // The late ones are accepted and move nothing.
            assert!((0..3).all(|k| take(&mut receive, k)));
            assert_eq!(receive.next(), 4);

            // When they leave the transfer queue, k_b becomes 4.
            transfer.advance_to(4);
            assert_eq!((transfer.base(), transfer.end()), (4, 8));
            assert!(!transfer.contains(3) && transfer.contains(7) && !transfer.contains(8));
        }

        #[test]
        fn equation_03_a_frame_in_the_leading_part_moves_the_receive_window() {
            let mut window = ReceiveWindow::new(10, 4, 4);
            assert!(take(&mut window, 13));
            assert_eq!(window.next(), 14);
            assert!(take(&mut window, 10));
            assert_eq!(window.next(), 14);
            assert!(!take(&mut window, 18) && !take(&mut window, 9));
            assert_eq!(window.next(), 14);
        }

        #[test]
        fn a_send_window_never_moves_back() {
            let mut window = SendWindow::new(10, 4);
            window.advance_to(7);
            assert_eq!(window.base(), 10);
        }

        #[test]
        fn a_frame_outside_the_receive_window_changes_nothing() {
            let mut window = ReceiveWindow::new(100, 4, 4);
            for id in [0, 95, 104, u64::MAX] {
                assert!(!take(&mut window, id));
            }
            assert_eq!(window, ReceiveWindow::new(100, 4, 4));
        }

        /// Counters around the moduli of the wire: the windows must not notice them.
        fn near_a_modulus() -> impl Strategy<Value = u64> {
            (
                prop_oneof![Just(0_u64), Just(1 << 16), Just(1 << 24), Just(1 << 32)],
                -40_i64..=40,
            )
                .prop_map(|(modulus, step)| modulus.saturating_add_signed(step))
        }

        proptest! {
            #[test]
            fn windows_agree_with_plain_arithmetic(
                base in near_a_modulus(), id in near_a_modulus(), size in 0_u64..90, ahead in 0_u64..90,
            ) {
                let wide = |n: u64| i128::from(n);
                let transfer = SendWindow::new(base, size);
                let inside = (wide(base)..wide(base) + wide(size)).contains(&wide(id));
                prop_assert_eq!(transfer.contains(id), inside);

                let mut receive = ReceiveWindow::new(base, size, ahead);
                let range = wide(base) - wide(size)..wide(base) + wide(ahead);
                prop_assert_eq!(receive.contains(id), range.contains(&wide(id)));
                let leading = (wide(base)..wide(base) + wide(ahead)).contains(&wide(id));
                prop_assert_eq!(take(&mut receive, id), range.contains(&wide(id)));
                prop_assert_eq!(receive.next(), if leading { id + 1 } else { base });
            }

            /// Modulo the wire's range the windows are the paper's: with low bits only, a window no
            /// longer than half the modulus holds the same ids.
            #[test]
            fn windows_are_modulo_ranges(
                base in near_a_modulus(), step in -4000_i64..4000, size in 0_u64..4000,
            ) {
                let id = base.saturating_add_signed(step);
                for bits in [16, 24, 32] {
                    let modulus = 1_u64 << bits;
                    let low = |n: u64| u64::from(truncate(n, bits));
                    let distance = (low(id) + modulus - low(base)) % modulus;
                    prop_assert_eq!(SendWindow::new(base, size).contains(id), distance < size);
                }
            }
        }
    }
}
