//! `porous recv`: the command, and the host that takes files.

use alloc::collections::BTreeMap;
use core::net::SocketAddr;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use indicatif::MultiProgress;
use porous_std::proto::seal::Security;
use porous_std::{Config, Disconnect, Event, Mode, Peer, PeerId, UdpHost};
use serde::Serialize;

use super::message::{Hash, Message, Refused};
use super::partial::{self, Failure, Partial};
use super::progress::Progress;
use super::{CHANNEL, LAST, config, digits, speed};
use crate::clock::Clock;
use crate::exit;
use crate::json::Json;
use crate::net::link::NAP;
use crate::net::listener::{Listener, listen};
use crate::out::Out;
use crate::stop::Stop;

/// The most senders at once, those included that send nothing.
const SENDERS: u32 = 16;

/// Receives files from `porous send`.
///
/// Prints the address at which it listens, so that port 0, which lets the system choose, can be used. Then it
/// waits for one file, or for any number with --many. A file that is on its way has a name of its own, which begins
/// with a dot and ends in `.part`, until all of it is there and its SHA-256 is right. If the connection breaks, or
/// this program ends, the part stays, and is gone on with.
///
/// The sender chooses the name. Names are refused that have a separator, begin with a dot, or mean something to a
/// system; a name that is there is refused without --force.
///
/// Without --key or --token everybody who can reach the port can send. A ticket is minted with
/// `porous token mint --application 0x706f726f75732d74`.
///
/// The exit status is 0 if a file came, or with --many if nothing failed; 1 if not; 2 if the arguments are wrong.
#[derive(Debug, Args)]
pub(crate) struct RecvArgs {
    #[command(flatten)]
    listener: Listener,
    /// The folder for files
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
    /// Replaces files that are there
    #[arg(long)]
    force: bool,
    /// Ends after one file, as it does unless --many is given
    #[arg(long, conflicts_with = "many")]
    once: bool,
    /// Takes files until Ctrl-C, also several at once
    #[arg(long)]
    many: bool,
    /// A file to write the results to as well, as JSON; - for standard output, and nothing else there
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// What has come.
#[derive(Debug, Serialize)]
struct Report {
    address: SocketAddr,
    files: Vec<FileReport>,
}

/// One file that is there and right.
#[derive(Debug, Serialize)]
struct FileReport {
    name: String,
    bytes: u64,
    sha256: String,
    from: SocketAddr,
    sealed: bool,
    /// Bytes that were there before the connection on which the last ones came.
    resumed_from: u64,
    /// Seconds of that connection.
    seconds: f64,
}

impl FileReport {
    fn text(&self) -> String {
        let seal = if self.sealed { "sealed" } else { "plain" };
        let speed = speed(self.bytes - self.resumed_from, self.seconds);
        format!(
            "received {}\n{} bytes in {:.1} s, {speed}, from {}, {seal}\nsha256 {}\n",
            self.name, self.bytes, self.seconds, self.from, self.sha256
        )
    }
}

/// Runs the receiver.
pub(crate) fn main(args: &RecvArgs) -> ExitCode {
    let opened = args.listener.keys.security().and_then(|security| {
        if !args.out.is_dir() {
            return Err(format!("--out {} is no folder", args.out.display()));
        }
        let json = args.json.as_deref().map(Json::open).transpose()?;
        Ok((security, Out::new(json)))
    });
    exit::run(opened, |(security, out)| {
        Receiver::bind(args, security.as_ref(), out).and_then(Receiver::run)
    })
}

/// What a sender is about.
#[derive(Debug)]
enum Stage {
    /// It has offered nothing yet.
    Silent,
    /// What was there of its file is hashed.
    Recalled(Partial, Progress),
    /// It sends.
    Sends(Partial, Progress),
    /// It has been told the last word.
    Over,
}

/// One sender.
#[derive(Debug)]
struct Source {
    address: SocketAddr,
    is_sealed: bool,
    stage: Stage,
    clock: Clock,
}

/// The host, and all senders.
#[derive(Debug)]
struct Receiver<'a> {
    args: &'a RecvArgs,
    host: UdpHost,
    sources: BTreeMap<PeerId, Source>,
    out: Out,
    bars: MultiProgress,
    report: Report,
    /// True if a file failed for a reason of this machine.
    has_failed: bool,
    stop: Stop,
}

impl<'a> Receiver<'a> {
    fn bind(args: &'a RecvArgs, security: Option<&Security>, mut out: Out) -> Result<Self, String> {
        let text = |error: io::Error| error.to_string();
        let base = Config::new().max_peers(SENDERS);
        let config = config(base, security.is_some()).map_err(text)?;
        let addresses = args.listener.at.addresses()?;
        let mut host = UdpHost::bind(&addresses[..], config).map_err(text)?;
        listen(&mut host, security).map_err(text)?;
        let stop = Stop::on_signal().map_err(text)?;
        let address = host.local_addr().map_err(text)?;
        out.announce(&format!("listening on {address}"));
        Ok(Self {
            args,
            host,
            sources: BTreeMap::new(),
            out,
            bars: MultiProgress::new(),
            report: Report {
                address,
                files: Vec::new(),
            },
            has_failed: false,
            stop,
        })
    }

    /// Takes files until it is done. Returns true if all went well.
    fn run(mut self) -> Result<bool, String> {
        let served = self.serve();
        let (came, has_failed) = (!self.report.files.is_empty(), self.has_failed);
        // What is there is told, whatever has failed.
        let told = self.out.finish("", &self.report);
        let last = Disconnect::Flush {
            reason: 0,
            deadline: LAST,
        };
        served
            .and_then(|()| self.host.close(last))
            .map_err(|error| error.to_string())?;
        told?;
        if !came && !self.args.many && !has_failed {
            return Err("stopped before a file came".to_owned());
        }
        Ok(!has_failed)
    }

    fn is_done(&self) -> bool {
        let has_one = !self.report.files.is_empty() || self.has_failed;
        self.stop.is_asked() || has_one && !self.args.many
    }

    fn serve(&mut self) -> io::Result<()> {
        while !self.is_done() {
            let is_busy = |source: &Source| matches!(source.stage, Stage::Recalled(..));
            let is_busy = self.sources.values().any(is_busy);
            let pause = if is_busy {
                core::time::Duration::ZERO
            } else {
                NAP
            };
            self.host.wait(pause)?;
            while let Some(event) = self.host.poll_event() {
                self.take(event);
            }
            let peers: Vec<PeerId> = self.sources.keys().copied().collect();
            for peer in peers {
                self.recall(peer);
            }
        }
        Ok(())
    }

    fn take(&mut self, event: Event<SocketAddr>) {
        match event {
            Event::Connected { peer, address } => {
                let secured = self.host.peer(peer).and_then(Peer::secured);
                let source = Source {
                    address,
                    is_sealed: secured.is_some(),
                    stage: Stage::Silent,
                    clock: Clock::start(),
                };
                self.sources.insert(peer, source);
            }
            Event::Readable { peer } => self.read(peer),
            Event::Disconnected { peer, .. } => {
                // The last packets may have come together with the goodbye.
                self.read(peer);
                self.left(peer);
            }
            Event::Writable { .. } | Event::Request { .. } | _ => {}
        }
    }

    /// Forgets a sender. The part of its file stays.
    fn left(&mut self, peer: PeerId) {
        let stage = self.sources.remove(&peer).map(|source| source.stage);
        if let Some(Stage::Recalled(partial, progress) | Stage::Sends(partial, progress)) = stage {
            drop(progress);
            self.tell(&format!(
                "{}: the connection ended after {} of {} bytes, the rest can come later\n",
                partial.name, partial.at, partial.len
            ));
        }
    }

    fn read(&mut self, peer: PeerId) {
        while let Some(packet) = self.host.receive(peer) {
            let message = Message::parse(&packet.payload);
            if let Err(failure) = self.hear(peer, message) {
                self.fail(peer, &failure);
            }
        }
    }

    fn hear(&mut self, peer: PeerId, message: Option<Message<'_>>) -> Result<(), Failure> {
        let Some(source) = self.sources.get_mut(&peer) else {
            return Ok(());
        };
        match (&mut source.stage, message) {
            (Stage::Over, _) => Ok(()),
            (Stage::Silent, Some(Message::Offer { len, hash, name })) => {
                self.offered(peer, name, (len, hash))
            }
            (Stage::Sends(partial, progress), Some(Message::Data(bytes))) => {
                partial.write(bytes)?;
                progress.at(partial.at);
                self.end_if_complete(peer)
            }
            _ => Err(Failure::Refused(Refused::Nonsense)),
        }
    }

    /// Takes an offer, unless another file is on its way. The part of a connection before this one is taken from
    /// it: its sender has connected again before the silence was noticed here.
    fn offered(&mut self, peer: PeerId, name: &str, file: (u64, Hash)) -> Result<(), Failure> {
        let place = partial::place(&self.args.out, name, &file.1)?;
        let mut before = None;
        for (&other, source) in &self.sources {
            match &source.stage {
                Stage::Recalled(theirs, _) | Stage::Sends(theirs, _) => {
                    if theirs.is_at(&place) {
                        before = Some(other);
                    } else if !self.args.many {
                        return Err(Failure::Refused(Refused::Busy));
                    }
                }
                Stage::Silent | Stage::Over => {}
            }
        }
        // Only now: an offer that is refused leaves no part, and shortens none.
        let partial = Partial::open(&self.args.out, name, file, self.args.force)?;
        if let Some(other) = before {
            self.sources.remove(&other);
            // It may have ended.
            let _ = self.host.disconnect(other, Disconnect::Now { reason: 0 });
        }
        let progress = Progress::among(&self.bars, "receiving", partial.len);
        if let Some(source) = self.sources.get_mut(&peer) {
            source.stage = Stage::Recalled(partial, progress);
            source.clock = Clock::start();
        }
        Ok(())
    }

    /// Hashes a piece of what was there, and tells the sender where to begin when that is done.
    fn recall(&mut self, peer: PeerId) {
        let Some(source) = self.sources.get_mut(&peer) else {
            return;
        };
        let Stage::Recalled(partial, progress) = &mut source.stage else {
            return;
        };
        match partial.recall() {
            Ok(false) => progress.at(partial.at),
            Ok(true) => {
                let offset = partial.at;
                progress.begin(offset);
                let stage = core::mem::replace(&mut source.stage, Stage::Over);
                if let Stage::Recalled(partial, progress) = stage {
                    source.stage = Stage::Sends(partial, progress);
                }
                self.say(peer, Message::Begin { offset });
                if let Err(failure) = self.end_if_complete(peer) {
                    self.fail(peer, &failure);
                }
            }
            Err(error) => self.fail(peer, &Failure::System(error)),
        }
    }

    /// Gives a file its name when all of it is there, and tells everybody.
    fn end_if_complete(&mut self, peer: PeerId) -> Result<(), Failure> {
        let Some(source) = self.sources.get_mut(&peer) else {
            return Ok(());
        };
        if !matches!(&source.stage, Stage::Sends(partial, _) if partial.is_complete()) {
            return Ok(());
        }
        let stage = core::mem::replace(&mut source.stage, Stage::Over);
        let Stage::Sends(partial, progress) = stage else {
            return Ok(());
        };
        let report = FileReport {
            name: partial.name.clone(),
            bytes: partial.len,
            sha256: digits(&partial.hash),
            from: source.address,
            sealed: source.is_sealed,
            resumed_from: partial.begun,
            seconds: source.clock.elapsed().as_secs_f64(),
        };
        partial.finish()?;
        drop(progress);
        self.say(peer, Message::Done);
        self.end(peer);
        self.tell(&report.text());
        self.report.files.push(report);
        Ok(())
    }

    /// Tells the sender and the user why a file does not come.
    fn fail(&mut self, peer: PeerId, failure: &Failure) {
        let Some(source) = self.sources.get_mut(&peer) else {
            return;
        };
        // The bar goes first.
        source.stage = Stage::Over;
        let address = source.address;
        let (refused, line) = match failure {
            Failure::Refused(refused) => {
                let words = words(*refused);
                (*refused, format!("refused a file from {address}: {words}"))
            }
            Failure::System(error) => {
                let line = format!("cannot write a file from {address}: {error}");
                (Refused::Disk, line)
            }
        };
        self.bars.suspend(|| eprintln!("error: {line}"));
        self.has_failed |= matches!(refused, Refused::Disk | Refused::Hash);
        self.say(peer, Message::Refused(refused));
        self.end(peer);
    }

    /// Prints lines above the bars.
    fn tell(&mut self, lines: &str) {
        self.bars.suspend(|| self.out.print(lines));
    }

    fn say(&mut self, peer: PeerId, message: Message<'_>) {
        // A sender that is gone hears nothing, and one that is there has room: a connection has three answers.
        let _ = self
            .host
            .send(peer, CHANNEL, message.to_bytes(), Mode::Reliable);
    }

    /// Ends a connection when the last word has arrived.
    fn end(&mut self, peer: PeerId) {
        let how = Disconnect::Flush {
            reason: 0,
            deadline: LAST,
        };
        // It may have ended.
        let _ = self.host.disconnect(peer, how);
    }
}

/// Why a file was refused, for the user of the receiver.
const fn words(refused: Refused) -> &'static str {
    match refused {
        Refused::Name => "its name has a separator, begins with a dot or means something",
        Refused::Exists => "there is a file of its name: give --force to replace it",
        Refused::Busy => "another one is on its way: give --many to take several",
        Refused::Disk => "it cannot be written",
        Refused::Hash => "its hash is not that of the offer, and the part was removed",
        Refused::Nonsense => "what the sender says makes no sense",
    }
}
