//! Runs the tests of a program once more with other environment variables.

use std::env;
use std::process::Command;

/// Runs this whole program again with these environment variables set, except for the tests whose names
/// contain one of `skipped`.
///
/// # Panics
///
/// If a test fails in that run, or none runs.
pub fn run_with(variables: &[(&str, u64)], skipped: &[&str]) {
    let values = variables
        .iter()
        .map(|(name, value)| (name, value.to_string()));
    let run = Command::new(env::current_exe().expect("this program"))
        .args(skipped.iter().flat_map(|name| ["--skip", *name]))
        .envs(values)
        .output()
        .expect("this program starts");
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "with {variables:?}:\n{said}");
    assert!(!said.contains(" 0 passed"), "nothing ran:\n{said}");
}
