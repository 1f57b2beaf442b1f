//! The smallest measurement over sockets, by the program itself: two processes, porous at both ends.
#![cfg(unix)]

use std::process::Command;

#[test]
fn two_processes_send_each_other_messages_and_count_their_time() {
    let done = Command::new(env!("CARGO_BIN_EXE_porous-bench"))
        .args(["sockets", "--load", "reliable-paced", "--peer", "porous"])
        .args(["--rounds", "1", "--milliseconds", "300"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{done:?}");
    let row = said.lines().find(|line| line.contains("| porous |"));
    let cells: Vec<_> = row.expect("a row").split('|').map(str::trim).collect();
    let figure = |at: usize| cells[at].parse::<f64>().expect("a figure");
    let [seconds, rate] = [figure(4), figure(10)];
    assert!(seconds > 0.0, "{said}");
    // 64,000, less ticks that a busy machine misses.
    assert!((640.0..70_000.0).contains(&rate), "{said}");
}
