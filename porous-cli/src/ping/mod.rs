//! `porous ping`: what a connection to `porous serve` is like, under the load of a game.

mod report;
mod session;
mod stream;
mod verdict;
mod view;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum, value_parser};
use porous_std::proto::seal::Credentials;
use porous_std::trace::Recorder;
use porous_std::{Config, Mode};

use crate::echo::{self, CHANNELS, LONGEST, SHORTEST};
use crate::exit;
use crate::json::Json;
use crate::net::address::{Place, place};
use crate::net::keys::ClientKeys;
use crate::net::link::{NoLink, bind_client, connect};
use crate::out::Out;
use crate::record::RecordArgs;
use crate::stop::Stop;
use report::Report;
use session::{Session, Shown};

/// A text of its own: it has a table.
const ABOUT: &str = "\
Measures a connection to `porous serve` under the load of a game.

Sends probes, which the server echoes by the same mode. Every latency is that of
a round trip, there and back: the clocks of two machines do not tell how long
one way takes. Losses are told for each way, as both ends count and the echoes
say what the server has counted. On a terminal the last minute is shown, else a
line for each second; after that come the counts, the percentiles and a verdict.

The verdict: a connection is good for play at the first of these rates whose
bounds all hold. p99 is that of each mode's round trips. Jitter is how much one
round trip differs from the one before. Loss is that of unreliable probes there
or back, whichever is greater, those included for which there was no room, or
without such probes that of datagrams.

       play   p99 at most   jitter at most   loss at most
      60 Hz        100 ms          16.7 ms            2 %
      30 Hz        200 ms          33.3 ms            5 %
      10 Hz        500 ms         100.0 ms           10 %

A ticket for --token is minted with `porous token mint --application
0x706f726f75732d6d`.

The exit status is 0 if there was a connection until the end, 1 if not, 2 if the
arguments are wrong.";

/// Measures a connection to `porous serve` under the load of a game
#[derive(Debug, Args)]
#[command(long_about = ABOUT)]
pub(crate) struct PingArgs {
    /// The server, as HOST:PORT; of a name all addresses are tried
    #[arg(value_name = "ADDR", value_parser = place)]
    to: Place,
    #[command(flatten)]
    keys: ClientKeys,
    /// Probes a second of each mode, 1 to 10000
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = value_parser!(u32).range(1..=10_000))]
    rate: u32,
    /// Bytes of a probe, 25 to 60000
    #[arg(
        long,
        value_name = "BYTES",
        default_value_t = 100,
        value_parser = value_parser!(u16).range(i64::from(SHORTEST)..=i64::from(LONGEST))
    )]
    size: u16,
    /// The modes of probes, one or several
    #[arg(
        long,
        value_name = "MODE,...",
        value_delimiter = ',',
        default_value = "reliable,unreliable,passive"
    )]
    mode: Vec<ModeArg>,
    /// Channels of each mode, among which probes take turns, 1 to 16
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = value_parser!(u8).range(1..=i64::from(CHANNELS))
    )]
    channels: u8,
    /// Makes echoes as long as probes, so that both ways carry the load
    #[arg(long)]
    bidirectional: bool,
    /// Seconds of probes, 1 to 86400
    #[arg(long, value_name = "S", default_value_t = 10, value_parser = value_parser!(u32).range(1..=86_400))]
    duration: u32,
    /// Lines instead of a view of the whole terminal
    #[arg(long)]
    plain: bool,
    /// A file to write the results to as well, as JSON; - for standard output, and nothing else there
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    record: RecordArgs,
}

/// How probes are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ModeArg {
    /// Until they arrive, in order: events
    Reliable,
    /// Once: states
    Unreliable,
    /// Until they arrive or a later one has: updates
    Passive,
}

impl ModeArg {
    const fn mode(self) -> Mode {
        match self {
            Self::Reliable => Mode::Reliable,
            Self::Unreliable => Mode::Unreliable,
            Self::Passive => Mode::Passive,
        }
    }
}

impl PingArgs {
    fn has(&self, mode: Mode) -> bool {
        self.mode.iter().any(|one| one.mode() == mode)
    }
}

/// Runs the measurement.
pub(crate) fn main(args: &PingArgs) -> ExitCode {
    let opened = args.keys.credentials().and_then(|credentials| {
        let json = args.json.as_deref().map(Json::open).transpose()?;
        Ok((credentials, json, args.record.open(1)?))
    });
    exit::run(opened, |(credentials, json, (mut recorders, recording))| {
        let recorder = recorders.pop();
        run(args, credentials.as_ref(), recorder, Out::new(json))?;
        recording.result().map(|()| true)
    })
}

fn run(
    args: &PingArgs,
    credentials: Option<&Credentials>,
    recorder: Option<Recorder>,
    out: Out,
) -> Result<(), String> {
    let text = |error: std::io::Error| error.to_string();
    let addresses = args.to.addresses()?;
    let config = echo::config(Config::client(), credentials.is_some()).map_err(text)?;
    let mut host = bind_client(config).map_err(text)?;
    if let Some(recorder) = recorder {
        host.record(recorder).map_err(|error| error.to_string())?;
    }
    let stop = Stop::on_signal().map_err(text)?;
    let link = match connect(&mut host, &args.to, &addresses, credentials, &stop) {
        Ok(link) => link,
        Err(NoLink::Stopped) => return Err("stopped before there was a connection".to_owned()),
        Err(NoLink::NotNow(line) | NoLink::Never(line)) => return Err(line),
    };
    let mut session = Session::new(args, host, link);
    let mut shown = Shown::new(args, out);
    let played = session.play(&mut shown, &stop);
    let out = shown.end();
    let report = Report::new(args, &session);
    // Also after an error: what was measured until then is not lost.
    let told = out.finish(&report.text(), &report);
    played.map_err(text)?;
    session.close().map_err(text)?;
    told?;
    match report.why_ended() {
        Some(why) => Err(format!("the connection ended: {why}")),
        None => Ok(()),
    }
}
