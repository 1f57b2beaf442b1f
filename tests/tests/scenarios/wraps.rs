//! The ids of the wire are the low bytes of counters (1), (16): every scenario holds as well where
//! they wrap. One may be replayed there by hand, with `POROUS_FIRST_ID` set.

use std::env;
use std::process::Command;

use porous_tests::config;

/// Runs this whole program again, with all ids beginning 8 before `edge`.
fn run_again(edge: u64) {
    let first = edge - 8;
    let run = Command::new(env::current_exe().expect("this program"))
        .args(["--skip", "wraps::"])
        .env(config::FIRST_ID, first.to_string())
        .output()
        .expect("this program starts");
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "with ids from {first}:\n{said}");
    assert!(!said.contains(" 0 passed"), "nothing ran:\n{said}");
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
