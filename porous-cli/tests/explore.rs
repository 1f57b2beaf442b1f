//! Exploration as a user runs it: what it prints, its exit status, its trace.

use std::process::{Command, Output};

fn explore(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_porous"))
        .args(["sim", "explore"])
        .args(args)
        .output()
        .expect("this program starts")
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn what_is_printed_does_not_depend_on_the_threads() {
    let [one, two] = ["1", "2"].map(|threads| explore(&["--datagrams", "1", "--threads", threads]));
    assert!(one.status.success() && two.status.success(), "{one:?}");
    let without_time = |output: &Output| {
        let text = printed(output);
        let lines = text.lines().filter(|line| !line.ends_with(" s"));
        lines.collect::<Vec<_>>().join("\n")
    };
    assert_eq!(without_time(&one), without_time(&two));
    let text = printed(&one);
    assert!(text.contains(" scenes, all promises held\n"), "{text}");
    assert!(text.lines().all(|line| line.len() <= 80), "{text}");
}

#[test]
fn other_programs_get_the_numbers_and_nothing_else() {
    let run = explore(&["--scene", "goodbye", "--datagrams", "2", "--json", "-"]);
    assert!(run.status.success(), "{run:?}");
    let numbers: serde_json::Value = serde_json::from_slice(&run.stdout).expect("JSON");
    assert_eq!(numbers["schedules"], 49);
    assert_eq!(numbers["explored"][0]["scene"], "goodbye");
    assert!(numbers["explored"][0]["failure"].is_null());
    let run = explore(&[
        "--scene",
        "goodbye",
        "--datagrams",
        "4",
        "--faults",
        "1",
        "--every",
        "--json",
        "-",
    ]);
    let numbers: serde_json::Value = serde_json::from_slice(&run.stdout).expect("JSON");
    assert_eq!(numbers["schedules"], 25);
}

#[test]
fn a_schedule_is_shown_and_wrong_arguments_are_refused() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("explore.txt");
    let path = path.to_str().expect("a path in words");
    let run = explore(&["--scene", "crossing", "--schedule", "nlt", "--trace", path]);
    assert!(run.status.success(), "{run:?}");
    assert!(printed(&run).starts_with("crossing, schedule nlt: all promises held\n"));
    let text = std::fs::read_to_string(path).expect("the trace");
    assert!(text.contains("becomes: Twice"), "{text}");
    assert!(text.contains("Connected { peer"), "{text}");
    if cfg!(target_os = "linux") {
        let full = std::fs::File::create("/dev/full").expect("Linux has it");
        let run = Command::new(env!("CARGO_BIN_EXE_porous"))
            .args(["sim", "explore", "--scene", "crossing", "--schedule", "n"])
            .stdout(full)
            .output()
            .expect("this program starts");
        assert_eq!(run.status.code(), Some(1), "{run:?}");
    }
    for bad in [
        &["--scene", "none"][..],
        &["--scene", "any", "--schedule", "nx"],
        &["--schedule", "n"],
        &["--trace", path],
        &["--datagrams", "0"],
    ] {
        assert_eq!(explore(bad).status.code(), Some(2), "{bad:?}");
    }
}
