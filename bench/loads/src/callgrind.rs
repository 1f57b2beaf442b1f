//! Instructions as callgrind counts them.

use std::io;
use std::path::Path;
use std::process::{Command, Output};

use crate::task::Outcome;

/// The name by which callgrind knows what it is to count.
const COUNTED: &str = "--toggle-collect=*porous_loads::counted::counted*";

/// Runs a program that plays a [task](crate::task::Task) and prints its outcome. The instructions for each unit.
///
/// # Errors
///
/// Valgrind is missing, or the program does not print an outcome.
pub fn instructions_of_unit(program: &Path, arguments: &[&str]) -> io::Result<f64> {
    let mut command = Command::new("valgrind");
    command.args([
        "--tool=callgrind",
        "--callgrind-out-file=/dev/null",
        "--collect-atstart=no",
        COUNTED,
    ]);
    let done = command.arg(program).args(arguments).output()?;
    let said = String::from_utf8_lossy(&done.stderr);
    let count = collected(&said).ok_or_else(|| not_understood(&said))?;
    Ok(count as f64 / outcome(&done)?.units as f64)
}

/// What a program printed that plays a task.
///
/// # Errors
///
/// It is not an outcome.
pub fn outcome(done: &Output) -> io::Result<Outcome> {
    let wrong = |_| not_understood(&String::from_utf8_lossy(&done.stderr));
    serde_json::from_slice(&done.stdout).map_err(wrong)
}

fn not_understood(said: &str) -> io::Error {
    io::Error::other(format!("not understood: {said}"))
}

/// The instructions that callgrind says it has counted.
pub fn collected(said: &str) -> Option<u64> {
    let (_, rest) = said.split_once("Collected : ")?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_of_callgrind_is_parsed() {
        let said = "==7== Events    : Ir\n==7== Collected : 3164205\n==7==\n";
        assert_eq!(collected(said), Some(3_164_205));
    }
}
