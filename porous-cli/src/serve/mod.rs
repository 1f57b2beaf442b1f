//! `porous serve`: the server that `porous ping` measures. Each of its threads has a host of its own.

mod client;
mod report;
mod view;
mod worker;

use alloc::sync::Arc;
use core::time::Duration;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::thread::JoinHandle;

use clap::{Args, value_parser};
use porous_std::proto::seal::Security;
use porous_std::trace::Recorder;
use porous_std::{Config, UdpHost};

use crate::clock::Clock;
use crate::echo;
use crate::exit;
use crate::json::Json;
use crate::net::link::NAP;
use crate::net::listener::{Listener, listen};
use crate::out::Out;
use crate::record::RecordArgs;
use crate::screen::{PICTURE, Screen};
use crate::stop::Stop;
use report::Report;
use view::View;
use worker::{Snapshot, Worker};

/// Answers `porous ping`, and shows what its connections are like.
///
/// Prints the address at which it listens, so that port 0, which lets the system choose, can be used. On a
/// terminal it then shows the connections and the traffic of the last minute, else a line for each connection
/// that begins or ends. It runs until Ctrl-C (or q in the view), and says what it has done.
///
/// With --key or --token every connection is sealed, and a client needs the same key, or a ticket. A ticket is
/// minted with `porous token mint --application 0x706f726f75732d6d`.
///
/// The exit status is 0, 1 if the address cannot be used or something fails, 2 if the arguments are wrong.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    listener: Listener,
    /// Hosts on this port, each in a thread of its own: a power of two up to 128; more than 1 on Linux alone
    #[arg(long, value_name = "N", default_value = "1", value_parser = threads)]
    threads: u8,
    /// Seconds after which it stops by itself [default: never]
    #[arg(long, value_name = "S", value_parser = value_parser!(u32).range(1..))]
    duration: Option<u32>,
    /// Lines instead of a view of the whole terminal
    #[arg(long)]
    plain: bool,
    /// A file to write the results to as well, as JSON; - for standard output, and nothing else there
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Of several hosts each has its own files, with the number of the host behind their names.
    #[command(flatten)]
    record: RecordArgs,
}

fn threads(text: &str) -> Result<u8, &'static str> {
    match text.parse::<u8>() {
        Ok(count) if count.is_power_of_two() && count <= 128 => Ok(count),
        _ => Err("the number of threads is a power of two from 1 to 128"),
    }
}

/// Runs the server.
pub(crate) fn main(args: &ServeArgs) -> ExitCode {
    let opened = args.listener.keys.security().and_then(|security| {
        let json = args.json.as_deref().map(Json::open).transpose()?;
        Ok((security, json, args.record.open(args.threads)?))
    });
    exit::run(opened, |(security, json, (recorders, recording))| {
        let hosts = bind(args, security.as_ref(), recorders)?;
        Server::start(args, hosts, Out::new(json))?.run()?;
        recording.result().map(|()| true)
    })
}

/// Binds a host for each thread, and listens.
fn bind(
    args: &ServeArgs,
    security: Option<&Security>,
    recorders: Vec<Recorder>,
) -> Result<Vec<UdpHost>, String> {
    let text = |error: std::io::Error| error.to_string();
    let config = echo::config(Config::new(), security.is_some()).map_err(text)?;
    let addresses = args.listener.at.addresses()?;
    let mut hosts = UdpHost::bind_shards(&addresses[..], args.threads, config).map_err(text)?;
    for (host, recorder) in hosts.iter_mut().zip(recorders) {
        host.record(recorder).map_err(|error| error.to_string())?;
    }
    for host in &mut hosts {
        listen(host, security).map_err(text)?;
    }
    Ok(hosts)
}

/// The threads, and what is shown of them.
struct Server {
    workers: Vec<JoinHandle<std::io::Result<UdpHost>>>,
    /// What each thread says of itself.
    snapshots: Vec<Arc<Mutex<Snapshot>>>,
    out: Out,
    view: View,
    stop: Stop,
    duration: Option<Duration>,
    is_plain: bool,
}

impl Server {
    fn start(args: &ServeArgs, hosts: Vec<UdpHost>, mut out: Out) -> Result<Self, String> {
        let text = |error: std::io::Error| error.to_string();
        let stop = Stop::on_signal().map_err(text)?;
        let address = match hosts.first() {
            Some(host) => host.local_addr().map_err(text)?,
            None => return Err("there is no host".to_owned()),
        };
        out.announce(&format!("listening on {address}"));
        let mut server = Self {
            workers: Vec::new(),
            snapshots: Vec::new(),
            is_plain: args.plain || out.is_silent(),
            out,
            view: View::new(address, args.threads),
            stop,
            duration: args
                .duration
                .map(|seconds| Duration::from_secs(seconds.into())),
        };
        for host in hosts {
            let snapshot = Arc::default();
            let worker = Worker::new(host, Arc::clone(&snapshot), server.stop.clone());
            server.snapshots.push(snapshot);
            server.workers.push(std::thread::spawn(|| worker.run()));
        }
        Ok(server)
    }

    fn run(mut self) -> Result<(), String> {
        let clock = Clock::start();
        let mut screen = if self.is_plain { None } else { Screen::take() };
        while !self.stop.is_asked() && self.duration.is_none_or(|most| clock.elapsed() < most) {
            let pause = if screen.is_some() { PICTURE } else { NAP };
            std::thread::park_timeout(pause);
            let all = self.look();
            if screen.is_none() {
                self.out.print(&view::lines(&all));
            }
            self.view.sample(&all, clock.elapsed());
            if screen.is_some() && Screen::asks_to_stop() {
                self.stop.ask();
            }
            let is_gone = |screen: &mut Screen| !screen.draw(|frame| self.view.draw(&all, frame));
            if screen.as_mut().is_some_and(is_gone) {
                screen = None;
            }
        }
        let has_lines = screen.is_none();
        drop(screen);
        let seconds = clock.elapsed().as_secs_f64();
        self.stop.ask();
        let mut failed = None;
        let mut hosts = Vec::new();
        for worker in core::mem::take(&mut self.workers) {
            match worker.join() {
                Ok(Ok(host)) => hosts.push(host),
                Ok(Err(error)) => failed = Some(error.to_string()),
                Err(_) => failed = Some("a thread of the server has panicked".to_owned()),
            }
        }
        let all = self.look();
        if has_lines {
            self.out.print(&view::lines(&all));
        }
        let report = Report::new(&self.view, &all, seconds);
        self.out.finish(&report.text(), &report)?;
        failed.map_or(Ok(()), Err)
    }

    /// What the threads have said last. The news are told once.
    fn look(&self) -> Vec<Snapshot> {
        let take = |snapshot: &Arc<Mutex<Snapshot>>| match snapshot.lock() {
            Ok(mut snapshot) => snapshot.take(),
            // Of a thread that has panicked, which is told at the end.
            Err(_) => Snapshot::default(),
        };
        self.snapshots.iter().map(take).collect()
    }
}
