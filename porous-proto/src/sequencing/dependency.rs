//! Packet dependencies (§3.2.3): the distance to the reliable packet that must come before.

use crate::canary::{Bug, strikes};

/// What `id` depends on: the last reliable packet, unless the transfer window already guarantees
/// the order: also where ids wrap (`deviations.md` Q7).
pub(crate) fn dependency(id: u64, last_reliable: Option<u64>, window: u64) -> u32 {
    match last_reliable.map(|reliable| id - reliable) {
        Some(distance) if distance < window => u32::try_from(distance).unwrap_or(0),
        _ => 0,
    }
}

/// Whether a packet may be delivered when `base` is the next expected one: what it depends on was
/// delivered.
pub(crate) fn is_satisfied(id: u64, dependency: u32, base: u64) -> bool {
    dependency == 0 || id - u64::from(dependency) < base || strikes(Bug::SkipsDependency)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
