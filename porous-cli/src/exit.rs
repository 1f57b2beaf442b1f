//! How a command ends.

use core::fmt::Display;
use std::process::ExitCode;

/// The exit status after wrong arguments, the same as clap's.
pub(crate) const USAGE: u8 = 2;

/// Runs a command with what its arguments name, if that could be opened and read; else the arguments are wrong.
/// `act` says whether all went well, and has told what did not. An error is told in one line.
pub(crate) fn run<T, E: Display>(
    opened: Result<T, String>,
    act: impl FnOnce(T) -> Result<bool, E>,
) -> ExitCode {
    let done = match opened {
        Ok(opened) => act(opened),
        Err(line) => return wrong(&line),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Tells what is wrong with the arguments.
pub(crate) fn wrong(line: &str) -> ExitCode {
    eprintln!("error: {line}");
    ExitCode::from(USAGE)
}
