//! The ids of the wire are the low bytes of counters (1), (16): every scenario holds as well where
//! they wrap. One may be replayed there by hand, with `POROUS_FIRST_ID` set. And every scenario
//! holds under the paper's policy, with `POROUS_PAPER` set.

use std::env;
use std::process::Command;

use porous_tests::config;

/// Runs this whole program again, with all ids beginning 8 before `edge`.
fn run_again(edge: u64) {
    run_with(&[(config::FIRST_ID, edge - 8)]);
}

fn run_with(variables: &[(&str, u64)]) {
    let variables = variables
        .iter()
        .map(|(name, value)| (name, value.to_string()));
    let run = Command::new(env::current_exe().expect("this program"))
        .args(["--skip", "wraps::"])
        .envs(variables.clone())
        .output()
        .expect("this program starts");
    let said = String::from_utf8_lossy(&run.stdout);
    let with: Vec<_> = variables.collect();
    assert!(run.status.success(), "with {with:?}:\n{said}");
    assert!(!said.contains(" 0 passed"), "nothing ran:\n{said}");
}

#[test]
fn the_policy_of_the_paper_keeps_the_same_promises() {
    run_with(&[(config::PAPER, 1)]);
}

#[test]
fn so_it_does_where_frame_ids_wrap() {
    run_with(&[(config::PAPER, 1), (config::FIRST_ID, (1 << 32) - 8)]);
}

#[test]
fn two_byte_packet_ids_wrap() {
    run_again(1 << 16);
}

#[test]
fn three_byte_packet_ids_wrap() {
    run_again(1 << 24);
}

#[test]
fn half_of_all_frame_ids_are_used() {
    run_again(1 << 31);
}

#[test]
fn four_byte_frame_ids_wrap() {
    run_again(1 << 32);
}
