//! The ids of the wire are the low bytes of counters (1), (16): scenarios hold where they wrap, too. Set
//! `POROUS_FIRST_ID` to replay a single one there. And they hold under the paper's policy, with `POROUS_PAPER`
//! set.

use porous_tests::{again, config};

/// Runs this whole program again, with all ids beginning 8 before `edge`.
fn run_again(edge: u64) {
    run_with(&[(config::FIRST_ID, edge - 8)]);
}

/// What is not run again, two thirds of the processor time of all scenarios: what measures, and compares times and
/// bytes, also of paths; and floods of requests, hosts that are not called, readers that stop, and overload, in which
/// no id comes near its end.
const NOT_AGAIN: [&str; 13] = [
    "ack_costs::",
    "beside::",
    "copy_costs::",
    "latency::",
    "limits::",
    "overload::",
    "path_mtu::",
    "path_narrow::",
    "pauses::",
    "rates::",
    "readers::",
    "redundancy::copies_of_everything",
    "roaming::idle::",
];

fn run_with(variables: &[(&str, u64)]) {
    again::run_with(variables, &NOT_AGAIN);
}

#[test]
#[ignore = "long: .ci/run runs it"]
fn the_policy_of_the_paper_keeps_its_promises_where_frame_ids_wrap() {
    run_with(&[(config::PAPER, 1), (config::FIRST_ID, (1 << 32) - 8)]);
}

#[test]
#[ignore = "long: .ci/run runs it"]
fn two_byte_packet_ids_wrap() {
    run_again(1 << 16);
}

#[test]
#[ignore = "long: .ci/run runs it"]
fn four_byte_frame_ids_wrap() {
    run_again(1 << 32);
}

/// What the runs above show nearly all of.
mod rarely {
    use super::*;

    #[test]
    #[ignore = "rare: before a release"]
    fn the_policy_of_the_paper_keeps_the_same_promises() {
        run_with(&[(config::PAPER, 1)]);
    }

    #[test]
    #[ignore = "rare: before a release"]
    fn three_byte_packet_ids_wrap() {
        run_again(1 << 24);
    }

    #[test]
    #[ignore = "rare: before a release"]
    fn half_of_all_frame_ids_are_used() {
        run_again(1 << 31);
    }
}
