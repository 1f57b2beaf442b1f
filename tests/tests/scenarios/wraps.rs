//! The ids of the wire are the low bytes of counters (1), (16): every scenario holds as well where
//! they wrap. One may be replayed there by hand, with `POROUS_FIRST_ID` set. And every scenario
//! holds under the modern policy, with `POROUS_MODERN` set.

use std::env;
use std::process::Command;

use porous_tests::config;

/// Runs this whole program again, with all ids beginning 8 before `edge`.
fn run_again(edge: u64) {
    run_with(config::FIRST_ID, &(edge - 8).to_string());
}

fn run_with(variable: &str, value: &str) {
    let run = Command::new(env::current_exe().expect("this program"))
        .args(["--skip", "wraps::"])
        .env(variable, value)
        .output()
        .expect("this program starts");
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "with {variable}={value}:\n{said}");
    assert!(!said.contains(" 0 passed"), "nothing ran:\n{said}");
}

#[test]
fn the_modern_policy_keeps_the_same_promises() {
    run_with(config::MODERN, "1");
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
