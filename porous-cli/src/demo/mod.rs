//! `porous demo`: a game's traffic over a bad network, checked byte for byte.

mod check;
mod client;
mod conditions;
mod file;
mod flow;
mod keys;
mod kind;
mod packet;
mod page;
mod picture;
mod progress;
mod report;
mod samples;
mod session;
mod table;
mod verdict;

use std::io;
use std::path::Path;
use std::process::ExitCode;

use porous_sim::Seed;
use porous_std::Bytes;
use porous_trace::Recorder;

use crate::args::DemoArgs;
use crate::exit;
use crate::json::{Json, print};
use crate::later::Later;
use crate::record::Recording;
use page::Texts;
use picture::Picture;
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
    /// Where they are drawn.
    plot: Option<Later>,
    html: Option<Later>,
    /// Records the server, if that was asked for.
    recorder: Option<Recorder>,
    recording: Recording,
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
    let (mut recorders, recording) = args.record.open(1)?;
    Ok(Files {
        payload,
        json: args.json.as_deref().map(Json::open).transpose()?,
        plot: create("--plot", args.plot.as_deref())?,
        html: create("--html", args.html.as_deref())?,
        recorder: recorders.pop(),
        recording,
    })
}

/// Opens the file that an option names.
fn create(option: &str, path: Option<&Path>) -> Result<Option<Later>, String> {
    let create = |path: &Path| {
        let cannot = |error| format!("cannot write {option} {}: {error}", path.display());
        Later::open(path).map_err(cannot)
    };
    path.map(create).transpose()
}

/// True if all went well. What did not is written to stderr.
fn run(args: &DemoArgs, files: Files) -> io::Result<bool> {
    let seed = match args.seed {
        Some(seed) => seed,
        None => getrandom::u64().map_err(io::Error::other)?,
    };
    let progress = Progress::new(args.clients, args.seconds);
    let mut session = Session::start(args, Seed::new(seed), &files.payload, files.recorder)?;
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
    let (conditions, verdict) = (verdict::conditions(args), verdict::words(&report, args));
    if !is_silent {
        let mut text = format!("{conditions}\n\n{verdict}\n").into_bytes();
        table::write(&report, &mut text)?;
        print(&text)?;
    }
    if files.plot.is_some() || files.html.is_some() {
        let svg = Picture::of(&session).svg().map_err(io::Error::other)?;
        let texts = Texts {
            conditions: &conditions,
            verdict: &verdict,
            svg: &svg,
        };
        write_to("--plot", files.plot, &svg)?;
        write_to("--html", files.html, &page::html(&report, texts))?;
    }
    explain(&report, &session);
    drop(session);
    files.recording.result().map_err(io::Error::other)?;
    Ok(report.is_success())
}

/// Writes the file that an option has named.
fn write_to(option: &str, file: Option<Later>, text: &str) -> io::Result<()> {
    let Some(file) = file else {
        return Ok(());
    };
    let written = file.write(text.as_bytes());
    written.map_err(|error| io::Error::new(error.kind(), format!("cannot write {option}: {error}")))
}

/// Writes to stderr what went wrong.
fn explain(report: &Report, session: &Session) {
    for (number, client) in (1..).zip(&session.clients) {
        if let Some(reason) = client.why_ended() {
            eprintln!("error: the connection of client {number} ended: {reason}");
        }
    }
    if !report.modes.reliable.is_perfect() {
        eprintln!("error: not every reliable packet arrived once, in order and intact");
    }
    if !report.file.is_right() {
        eprintln!("error: not every client's copy of the file is right");
    }
}
