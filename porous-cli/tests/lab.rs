//! The laboratory as a user runs it: what it prints and writes, and its exit status.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn lab(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_porous"))
        .args(["sim", "lab", "--quick"])
        .args(args)
        .output()
        .expect("this program starts")
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// The names and the contents of all files.
fn files(folder: &Path) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = fs::read_dir(folder)
        .expect("it was written")
        .map(|entry| entry.expect("a file").path())
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy().into();
            (name, fs::read_to_string(path).expect("text"))
        })
        .collect();
    files.sort();
    files
}

#[test]
fn what_is_written_does_not_depend_on_the_threads() {
    let written = ["1", "3"].map(|threads| {
        let folder = folder(&format!("lab-{threads}"));
        let out = folder.to_str().expect("a path in words");
        let run = lab(&["--only", "alone-4", "--threads", threads, "--out", out]);
        assert!(run.status.success(), "{run:?}");
        (run.stdout, files(&folder))
    });
    assert_eq!(written[0], written[1]);
    let names: Vec<&str> = written[0].1.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["README.md", "alone-4.svg", "results.csv"]);
    let results = &written[0].1[2].1;
    assert!(results.contains("\nalone-4,reno,"), "{results}");
}

#[test]
fn what_flows_are_told_is_a_table_of_its_own() {
    let folder = folder("lab-told");
    let out = folder.to_str().expect("a path in words");
    let run = lab(&["--only", "game-1", "--out", out]);
    assert!(run.status.code().is_some_and(|code| code < 2), "{run:?}");
    let told = fs::read_to_string(folder.join("told.md")).expect("it was written");
    let lines: Vec<&str> = told
        .lines()
        .filter(|line| line.contains("game-1"))
        .collect();
    // TCP takes no part here.
    assert_eq!(lines.len(), 6, "{told}");
    assert!(
        lines.iter().all(|line| line.split(" | ").count() == 7),
        "{told}"
    );
}

#[test]
fn a_row_that_there_is_not_is_refused() {
    let run = lab(&["--only", "nowhere"]);
    assert_eq!(run.status.code(), Some(2));
    let told = String::from_utf8_lossy(&run.stderr);
    assert!(
        told.contains("reno-1") && told.contains("tcp-cubic"),
        "{told}"
    );
    assert_eq!(told.lines().count(), 1, "{told}");
}
