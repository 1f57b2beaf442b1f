//! `porous demo`: a game's traffic over a bad network, checked byte for byte.

mod check;
mod client;
mod conditioner;
mod file;
mod flow;
mod keys;
mod kind;
mod packet;
mod progress;
mod report;
mod session;
mod table;

use std::io;
use std::process::ExitCode;

use porous_sim::Seed;
use porous_std::Bytes;

use crate::args::DemoArgs;
use crate::exit;
use crate::json::{Json, print};
use progress::Progress;
use report::Report;
use session::Session;

/// The files, opened before anything runs: a file that cannot be written is an error at once, not after a
/// minute.
#[derive(Debug)]
struct Files {
    /// The file that is sent.
    payload: Bytes,
    /// Where results are written, if anywhere.
    json: Option<Json>,
}

/// Runs the demo.
pub(crate) fn main(args: &DemoArgs) -> ExitCode {
    exit::run(open(args), |files| run(args, files))
}

fn open(args: &DemoArgs) -> Result<Files, String> {
    let payload = file::load(args.file.as_deref()).map_err(|error| match &args.file {
        Some(path) => format!("cannot read --file {}: {error}", path.display()),
        None => format!("cannot read this program, name another file by --file: {error}"),
    })?;
    let json = args.json.as_deref().map(Json::open).transpose()?;
    Ok(Files { payload, json })
}

/// True if all went well. What did not is written to stderr.
fn run(args: &DemoArgs, files: Files) -> io::Result<bool> {
    let seed = match args.seed {
        Some(seed) => seed,
        None => getrandom::u64().map_err(io::Error::other)?,
    };
    let progress = Progress::new(args.clients, args.seconds);
    let mut session = Session::start(args, Seed::new(seed), &files.payload)?;
    let all_there = session.connect(args, &progress)?;
    if all_there {
        session.play(args, &progress)?;
    }
    progress.finish();

    let report = Report::new(args, seed, &files.payload, &session);
    let is_silent = files.json.as_ref().is_some_and(Json::is_stdout);
    // Also if not all clients connected: the results say how many did.
    if let Some(json) = files.json {
        json.write(&report)?;
    }
    if !all_there {
        let connected = report.connected_clients;
        eprintln!(
            "error: only {connected} of {} clients could connect",
            args.clients
        );
        return Ok(false);
    }
    if !is_silent {
        let mut text = Vec::new();
        table::write(&report, &mut text)?;
        print(&text)?;
    }
    explain(&report, &session);
    Ok(report.is_success())
}

/// Writes to stderr what went wrong.
fn explain(report: &Report, session: &Session) {
    for (number, client) in (1..).zip(&session.clients) {
        if let Some(reason) = client.why_ended() {
            eprintln!("error: the connection of client {number} ended: {reason:?}");
        }
    }
    if !report.modes.reliable.is_perfect() {
        eprintln!("error: not every reliable packet arrived once, in order and intact");
    }
    if !report.file.is_right() {
        eprintln!("error: not every client's copy of the file is right");
    }
}
