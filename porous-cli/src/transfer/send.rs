//! `porous send`: the command, and what it says at its end.

use core::time::Duration;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, value_parser};
use porous_std::proto::seal::Credentials;
use serde::Serialize;

use super::outgoing::Outgoing;
use super::progress::Progress;
use super::sender::{Sender, Sent};
use super::{digits, speed};
use crate::clock::Clock;
use crate::exit;
use crate::json::Json;
use crate::net::address::{Place, place};
use crate::net::keys::ClientKeys;
use crate::out::Out;
use crate::stop::Stop;

/// Sends a file to `porous recv`.
///
/// The receiver checks the file by its SHA-256. If the connection breaks, it is made anew, and the receiver says
/// how much it has: the rest is sent. The same holds for another run of this command.
///
/// A ticket for --token is minted with `porous token mint --application 0x706f726f75732d74`. One that is good
/// once makes one connection, and does not go on after it.
///
/// The exit status is 0 if the receiver has the file, 1 if not, 2 if the arguments are wrong.
#[derive(Debug, Args)]
pub(crate) struct SendArgs {
    /// The file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The receiver, as HOST:PORT; of a name all addresses are tried
    #[arg(value_name = "ADDR", value_parser = place)]
    pub(super) to: Place,
    #[command(flatten)]
    keys: ClientKeys,
    /// Seconds for which it tries to connect again, after a connection has ended
    #[arg(long, value_name = "S", default_value_t = 30, value_parser = value_parser!(u32).range(0..=86_400))]
    retry: u32,
    /// A file to write the results to as well, as JSON; - for standard output, and nothing else there
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// What has become of the file.
#[derive(Debug, Serialize)]
struct Report {
    name: String,
    bytes: u64,
    sha256: String,
    sealed: bool,
    /// Bytes that the receiver had before.
    resumed_from: u64,
    /// Connections that were made after the first.
    reconnected: u32,
    seconds: f64,
    /// Why the receiver does not have it; `None` if it has.
    error: Option<String>,
}

/// Runs the transfer.
pub(crate) fn main(args: &SendArgs) -> ExitCode {
    let opened = args.keys.credentials().and_then(|credentials| {
        let outgoing = Outgoing::open(&args.file)?;
        let json = args.json.as_deref().map(Json::open).transpose()?;
        Ok((credentials, outgoing, Out::new(json)))
    });
    exit::run(opened, |(credentials, outgoing, out)| {
        run(args, credentials, outgoing, out).map(|()| true)
    })
}

fn run(
    args: &SendArgs,
    credentials: Option<Credentials>,
    mut outgoing: Outgoing,
    out: Out,
) -> Result<(), String> {
    let stop = Stop::on_signal().map_err(|error| error.to_string())?;
    let addresses = args.to.addresses()?;
    take_hash(args, &mut outgoing, &stop)?;
    let retry = Duration::from_secs(args.retry.into());
    let clock = Clock::start();
    let is_sealed = credentials.is_some();
    let mut sender = Sender::new(args.to.clone(), addresses, credentials, outgoing, stop)?;
    let sent = sender.send(retry, clock);
    let report = Report::new(sender, &sent, is_sealed, clock.elapsed().as_secs_f64());
    let text = match &sent {
        Ok(_) => report.text(),
        Err(_) => String::new(),
    };
    let told = out.finish(&text, &report);
    sent?;
    told
}

/// Hashes the file, as the offer names its hash.
fn take_hash(args: &SendArgs, outgoing: &mut Outgoing, stop: &Stop) -> Result<(), String> {
    let progress = Progress::new("reading", outgoing.len);
    let hashed = outgoing.take_hash(|at| {
        progress.at(at);
        !stop.is_asked()
    });
    match hashed {
        Ok(true) => Ok(()),
        Ok(false) => Err("stopped before there was a connection".to_owned()),
        Err(error) => Err(format!("cannot read {}: {error}", args.file.display())),
    }
}

impl Report {
    fn new(sender: Sender, sent: &Result<Sent, String>, sealed: bool, seconds: f64) -> Self {
        let counts = sender.counts();
        let outgoing = sender.into_file();
        Self {
            sha256: digits(&outgoing.hash),
            name: outgoing.name,
            bytes: outgoing.len,
            sealed,
            resumed_from: counts.resumed_from,
            reconnected: counts.reconnected,
            seconds,
            error: sent.as_ref().err().cloned(),
        }
    }

    fn text(&self) -> String {
        let seal = if self.sealed { "sealed" } else { "plain" };
        let speed = speed(self.bytes - self.resumed_from, self.seconds);
        let mut text = format!(
            "sent {}\n{} bytes in {:.1} s, {speed}, {seal}\nsha256 {}\n",
            self.name, self.bytes, self.seconds, self.sha256
        );
        if self.resumed_from > 0 {
            text.push_str(&format!("{} bytes were there before\n", self.resumed_from));
        }
        if self.reconnected > 0 {
            text.push_str(&format!("connected again: {}\n", self.reconnected));
        }
        text
    }
}
