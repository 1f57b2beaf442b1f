//! Arithmetic of packet ids: dependencies (§3.2.3); the marked ids (18), whose sentinels let the receive
//! window move past unreliable packets that were dropped (§3.2.2); and the full ids of packets that a report
//! names by 32 bits.

use crate::hooks::canary::{Bug, strikes};
use crate::serial;

/// The distance from `id` to the last reliable packet, on which it depends; 0 if it depends on none.
pub(crate) fn dependency(id: u64, last_reliable: Option<u64>, window: u64) -> u32 {
    match last_reliable.map(|reliable| id - reliable) {
        // From N_Q on the window already guarantees the order: the later packet is not begun before the
        // remote window has passed the reliable one; also where ids wrap (`deviations.md` Q7).
        Some(distance) if distance < window => u32::try_from(distance).unwrap_or(0),
        _ => 0,
    }
}

/// Whether a packet may be delivered when `base` is the next expected one: what it depends on was
/// delivered.
pub(crate) fn is_satisfied(id: u64, dependency: u32, base: u64) -> bool {
    dependency == 0 || id - u64::from(dependency) < base || strikes(Bug::SkipsDependency)
}

/// Whether `id` ends a stretch of M = `spacing` ids: a report is sent when the window passes it, and a
/// sentinel beside it if its packet is unreliable (`deviations.md` Q6).
pub(crate) const fn is_marked(id: u64, spacing: u64) -> bool {
    id % spacing == spacing - 1 // (18)
}

/// The first marked id from `from` on.
pub(crate) const fn next_marked(from: u64, spacing: u64) -> u64 {
    from / spacing * spacing + spacing - 1
}

/// The last marked id in `from..to`.
pub(crate) const fn last_marked(from: u64, to: u64, spacing: u64) -> Option<u64> {
    let ends = to / spacing * spacing;
    if ends > from { Some(ends - 1) } else { None }
}

/// Whether a sentinel whose packet is missing may be consumed: the newest entry is newer by at
/// least N_Q - M. Entries of all kinds count (`deviations.md` Q5).
pub(crate) const fn may_consume(id: u64, newest: u64, window: u64, spacing: u64) -> bool {
    newest - id >= window - spacing
}

/// The full id of a window acknowledgement, if it is in or ahead of the transfer window that begins at
/// `base`; what is behind is old and has no effect.
pub(crate) fn expand_report(id: u32, base: u64) -> Option<u64> {
    const HALF: u64 = 1 << 31;
    // Half of the range each way: N_Q is 2^16 at most, so that old ids and new ones stay far apart.
    serial::expand(id, 32, base, HALF).filter(|&id| id >= base)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Q7.
    #[test]
    fn figure_10_dependencies_reach_back_less_than_a_window() {
        // u0 r1 u2 r3 p4 p5 u6 u7 with N_Q = 4: u7 is a whole window past r3.
        let last = |id| match id {
            0 | 1 => None,
            2 | 3 => Some(1),
            _ => Some(3),
        };
        let distances: [u32; 8] = core::array::from_fn(|id| dependency(id as u64, last(id), 4));
        assert_eq!(distances, [0, 0, 1, 2, 1, 2, 3, 0]);
    }

    #[test]
    fn equation_18_marks_the_last_of_every_m_ids() {
        let marked: alloc::vec::Vec<u64> = (0..12).filter(|&id| is_marked(id, 4)).collect();
        assert_eq!(marked, [3, 7, 11]);
        assert_eq!(
            [0, 3, 4, 7, 8].map(|from| next_marked(from, 4)),
            [3, 3, 7, 7, 11]
        );
        assert_eq!(last_marked(0, 4, 4), Some(3));
        assert_eq!(last_marked(0, 3, 4), None);
        assert_eq!(last_marked(3, 11, 4), Some(7));
        assert_eq!(last_marked(4, 7, 4), None);
        assert_eq!(last_marked(3, 12, 4), Some(11));
    }
}
