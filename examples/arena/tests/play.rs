//! The program on real sockets, for a few seconds.

use std::process::Command;

/// The number behind the first word of the line that begins with `label`.
fn number(said: &str, label: &str) -> f64 {
    let line = said.lines().find_map(|line| line.strip_prefix(label));
    let word = line.and_then(|line| line.split_whitespace().next());
    let number = word.and_then(|word| word.parse().ok());
    number.unwrap_or_else(|| panic!("no {label} in {said}"))
}

#[test]
fn a_short_game_on_a_bad_network_tells_how_it_was() {
    let arena = Command::new(env!("CARGO_BIN_EXE_arena"))
        .args(["--plain", "--seconds", "3", "--bots", "8", "--seed", "1"])
        .args(["--loss", "5", "--rtt", "60"])
        .output()
        .expect("it was built");
    let said = String::from_utf8_lossy(&arena.stdout);
    assert!(arena.status.success(), "{said}{arena:?}");
    assert!(said.contains("   1 s: 8 players, "), "{said}");
    // Sleeps of the machine add to it.
    assert!(number(&said, "round trip") >= 60.0, "{said}");
    assert!(number(&said, "snapshots") > 100.0, "{said}");
    assert!(number(&said, "frames") > 50.0, "{said}");
    let events = number(&said, "events");
    assert!(events >= 8.0, "each is told its number: {said}");
    assert!(
        said.contains(&format!("events      {events} of {events} arrived")),
        "{said}"
    );
    assert!(number(&said, "a client") > 100.0, "{said}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let arena = Command::new(env!("CARGO_BIN_EXE_arena"))
        .args(["--loss", "200"])
        .output()
        .expect("it was built");
    let said = String::from_utf8_lossy(&arena.stderr);
    assert_eq!(arena.status.code(), Some(2), "{said}");
    assert!(said.contains("a number from 0 to 50 is expected"), "{said}");
}
