//! Running the tests of a program once more in other circumstances.

use std::env;
use std::process::Command;

/// Runs this whole program again, but for the tests whose names contain `skip`, with these
/// environment variables set.
///
/// # Panics
///
/// If a test fails then, or none runs.
pub fn run_with(variables: &[(&str, u64)], skip: &str) {
    let values = variables
        .iter()
        .map(|(name, value)| (name, value.to_string()));
    let run = Command::new(env::current_exe().expect("this program"))
        .args(["--skip", skip])
        .envs(values)
        .output()
        .expect("this program starts");
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "with {variables:?}:\n{said}");
    assert!(!said.contains(" 0 passed"), "nothing ran:\n{said}");
}
