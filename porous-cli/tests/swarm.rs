//! The swarm as a user runs it: what it prints, its exit status, its trace.

use std::process::{Command, Output};

fn swarm(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_porous"))
        .args(["sim", "swarm"])
        .args(args)
        .output()
        .expect("this program starts")
}

/// The printed lines, without that which tells the seconds.
fn printed(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = text
        .lines()
        .filter(|line| !line.contains(" hours of connections"));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn what_is_printed_does_not_depend_on_the_threads() {
    let [one, two] =
        ["1", "2"].map(|threads| swarm(&["--seeds", "4", "--first", "9", "--threads", threads]));
    assert!(one.status.success() && two.status.success(), "{one:?}");
    assert_eq!(printed(&one), printed(&two));
    let text = printed(&one);
    assert!(text.starts_with("4 worlds, all promises held\n"), "{text}");
    assert!(text.lines().all(|line| line.len() <= 80), "{text}");
}

#[test]
fn other_programs_get_the_numbers_and_nothing_else() {
    let run = swarm(&["--seeds", "2", "--json", "-"]);
    assert!(run.status.success(), "{run:?}");
    let numbers: serde_json::Value = serde_json::from_slice(&run.stdout).expect("JSON");
    assert_eq!(numbers["worlds"], 2);
    assert_eq!(numbers["failures"].as_array().map(Vec::len), Some(0));
    assert!(
        numbers["faults"]
            .as_object()
            .is_some_and(|kinds| kinds.len() > 5)
    );
}

#[test]
fn a_trace_is_written_and_wrong_arguments_are_refused() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("swarm.txt");
    let path = path.to_str().expect("a path in words");
    let run = swarm(&["--seeds", "1", "--first", "3", "--trace", path]);
    assert!(run.status.success(), "{run:?}");
    let text = std::fs::read_to_string(path).expect("the trace");
    assert!(text.contains("Connected { peer"), "{text}");
    for bad in [
        &["--seeds", "0"][..],
        &["--first", "-1"],
        &["--minutes", "x"],
    ] {
        assert_eq!(swarm(bad).status.code(), Some(2), "{bad:?}");
    }
    let max = u64::MAX.to_string();
    assert_eq!(swarm(&["--first", &max]).status.code(), Some(2));
}
