//! How a command ends.

use core::fmt::Display;
use std::io;
use std::process::ExitCode;

/// The exit status after wrong arguments, the same as clap's.
pub(crate) const USAGE: u8 = 2;

/// How a command ended that did not end well.
#[derive(Debug)]
pub(crate) enum Failed {
    /// The arguments are wrong: the line that says so.
    Usage(String),
    /// Something else is.
    Run(String),
    /// Nobody reads the output any more, which says nothing about the run.
    Closed,
}

impl Failed {
    /// Tells why, in one line.
    pub(crate) fn exit(self) -> ExitCode {
        let (line, status) = match self {
            Self::Usage(line) => (line, USAGE),
            Self::Run(line) => (line, 1),
            Self::Closed => return ExitCode::SUCCESS,
        };
        eprintln!("error: {line}");
        ExitCode::from(status)
    }

    pub(crate) fn of_stdout(error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::Closed
        } else {
            Self::Run(format!("cannot write to standard output: {error}"))
        }
    }
}

/// Runs a command with what its arguments name, if that could be opened and read; else the arguments are wrong.
/// `act` says whether all went well, and has told what did not. An error is told in one line.
pub(crate) fn run<T, E: Display>(
    opened: Result<T, String>,
    act: impl FnOnce(T) -> Result<bool, E>,
) -> ExitCode {
    let opened = match opened {
        Ok(opened) => opened,
        Err(line) => return wrong(&line),
    };
    match act(opened) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => Failed::Run(error.to_string()).exit(),
    }
}

/// Tells what is wrong with the arguments.
pub(crate) fn wrong(line: &str) -> ExitCode {
    Failed::Usage(line.to_owned()).exit()
}
