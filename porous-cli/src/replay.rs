//! `porous replay`: the same again, on a host that is made anew.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use porous_std::RustCrypto;
use porous_trace::{ReplayError, Replayed, Trace, replay};

use crate::exit::Failed;
use crate::json::print;
use crate::trace::{of_trace, open};

/// Replays a trace: makes the host anew, tells it the same at the same times, and compares all that it does
///
/// Every datagram, every event and every deadline is compared, byte for byte. A trace without payloads is
/// replayed with zeros in their place. The trace of a host that seals is replayed only if it has its keys
/// (`--trace-keys`).
///
/// The exit status is 0 if all is the same, 1 at the first difference, which is shown, or if the trace is
/// damaged or cut off, 2 if the file is no trace.
#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// The trace
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Runs the command.
pub(crate) fn main(args: &ReplayArgs) -> ExitCode {
    run(args).map_or_else(Failed::exit, |()| ExitCode::SUCCESS)
}

fn run(args: &ReplayArgs) -> Result<(), Failed> {
    let trace = Trace::read(open(&args.file)?).map_err(|error| of_trace(&args.file, &error))?;
    let name = args.file.display();
    let replayed = replay(trace, &RustCrypto).map_err(|error| match error {
        ReplayError::Trace(error) => of_trace(&args.file, &error),
        ReplayError::Differs(difference) => {
            Failed::Run(format!("{name}: the replay differs: {difference}"))
        }
        error @ (ReplayError::Impossible { .. } | _) => {
            Failed::Run(format!("{name}: no replay: {error}"))
        }
    })?;
    let printed = print(text(&replayed).as_bytes());
    printed.map_err(|error| Failed::Run(format!("cannot write to standard output: {error}")))
}

fn text(replayed: &Replayed) -> String {
    let micros = replayed.until.as_micros();
    let mut text = format!(
        "{} records until {}.{:06} s: {} datagrams came, {} left and {} events were told, all the same\n",
        replayed.records,
        micros / 1_000_000,
        micros % 1_000_000,
        replayed.received,
        replayed.sent,
        replayed.events,
    );
    if !replayed.payloads {
        text += "not compared: the payloads of packets, which the trace does not have\n";
    }
    if !replayed.has_ended {
        text += "the recording did not end in order: the program has crashed, or still runs\n";
    }
    text
}
