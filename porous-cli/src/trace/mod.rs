//! `porous trace`: a trace or a pcap as lines.

mod json;
mod lines;
pub(crate) mod pcap;

use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read as _, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use porous_std::Instant;
use porous_trace::{Entry, Read, Record, Sink, Talk, Trace, TraceError};

use crate::exit::Failed;
use lines::Lines;
use pcap::{Packets, PcapSink};

/// Shows a trace, or the datagrams of POROUS in a pcap or pcapng, as lines
///
/// A trace is what `--trace` of other commands or a program's own recorder has written. Each line is a call of
/// the host, with its time in seconds; below a datagram stands what it says. A short form is read by the
/// handshake of its connection, so a pcap has to begin before the connection does. `docs/trace.md` explains the
/// lines.
///
/// The exit status is 0, 1 if the file is damaged or cut off, or has datagrams that were not captured whole (what is
/// good is shown), 2 if it is no such file.
#[derive(Debug, Args)]
pub(crate) struct TraceArgs {
    /// The trace, pcap or pcapng
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// A JSON object for each record, with all fields
    #[arg(long)]
    json: bool,
    /// Shows turns as well in which nothing happened, what was drawn, and questions that had no answer
    #[arg(long)]
    all: bool,
    /// A file to write the datagrams of a trace to, as pcap, in place of lines
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pcap: Option<PathBuf>,
}

/// Opens a file that an argument names.
pub(crate) fn open(path: &Path) -> Result<BufReader<File>, Failed> {
    let opened = File::open(path).and_then(|file| {
        if file.metadata()?.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        Ok(file)
    });
    let usage = |error| Failed::Usage(format!("cannot read {}: {error}", path.display()));
    opened.map(BufReader::new).map_err(usage)
}

/// Whether an error says that the file is no trace at all, or of another version.
pub(crate) fn of_trace(path: &Path, error: &TraceError) -> Failed {
    let line = format!("{}: {error}", path.display());
    match error {
        TraceError::NotATrace | TraceError::Version(_) => Failed::Usage(line),
        TraceError::Io(_) | TraceError::Cut { .. } | _ => Failed::Run(line),
    }
}

/// Where hosts are whose traces do not say it.
const NOWHERE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);

/// What shows what is read, in whatever form.
trait Show {
    fn entry(&self, entry: &Entry, view: &mut View) -> String;
    fn packet(&self, packet: &pcap::Packet, talk: &mut Talk) -> String;
}

/// What is known of a trace so far.
struct View {
    talk: Talk,
    local: SocketAddr,
    /// The last time that the host was told.
    now: Instant,
}

impl View {
    fn new() -> Self {
        Self {
            talk: Talk::default(),
            local: NOWHERE,
            now: Instant::ZERO,
        }
    }

    /// What the datagram of a record says, if it has one.
    fn read<'r>(&mut self, record: &'r Record) -> Option<(Read, &'r [u8])> {
        let wire = record.wire()?;
        let mut ends = [wire.remote, self.local];
        if wire.is_sent {
            ends.reverse();
        }
        let [from, to] = ends;
        Some((self.talk.read(from, to, wire.bytes), wire.bytes))
    }

    /// Takes in what a record says about the host itself.
    fn note(&mut self, record: &Record) {
        if let Record::Host {
            local, settings, ..
        } = record
        {
            self.local = local.unwrap_or(NOWHERE);
            self.talk.note_host(self.local, settings);
        }
    }
}

/// Runs the command.
pub(crate) fn main(args: &TraceArgs) -> ExitCode {
    run(args).map_or_else(Failed::exit, |()| ExitCode::SUCCESS)
}

fn run(args: &TraceArgs) -> Result<(), Failed> {
    let mut file = open(&args.file)?;
    let cannot = |error| Failed::Run(format!("cannot read {}: {error}", args.file.display()));
    let mut head = Vec::new();
    let begin = file.by_ref().take(8).read_to_end(&mut head);
    begin.and_then(|_| file.rewind()).map_err(cannot)?;
    let is_trace = head.starts_with(b"\x93POROUS");
    if let Some(to) = &args.pcap {
        if !is_trace {
            let line = format!(
                "{} is no trace: --pcap makes a pcap of one",
                args.file.display()
            );
            return Err(Failed::Usage(line));
        }
        return convert(args, file, to);
    }
    let lines = Lines { all: args.all };
    let show: &dyn Show = if args.json { &json::Json } else { &lines };
    let mut out = BufWriter::new(io::stdout().lock());
    let shown = if is_trace {
        show_trace(args, file, show, &mut out)
    } else {
        show_pcap(args, file, show, &mut out)
    };
    // What is good is shown also if the rest is not.
    let flushed = out.flush().map_err(|error| Failed::of_stdout(&error));
    shown.and(flushed)
}

fn show_trace(
    args: &TraceArgs,
    file: BufReader<File>,
    show: &dyn Show,
    out: &mut impl Write,
) -> Result<(), Failed> {
    let trace = Trace::read(file).map_err(|error| of_trace(&args.file, &error))?;
    let mut view = View::new();
    for entry in trace {
        let entry = entry.map_err(|error| of_trace(&args.file, &error))?;
        view.note(&entry.record);
        let text = show.entry(&entry, &mut view);
        out.write_all(text.as_bytes())
            .map_err(|error| Failed::of_stdout(&error))?;
    }
    Ok(())
}

fn show_pcap(
    args: &TraceArgs,
    file: BufReader<File>,
    show: &dyn Show,
    out: &mut impl Write,
) -> Result<(), Failed> {
    let name = args.file.display();
    let no_such = || Failed::Usage(format!("{name} is neither a trace nor a pcap or pcapng"));
    let mut packets = Packets::read(file).ok_or_else(no_such)?;
    let mut talk = Talk::default();
    for packet in packets.by_ref() {
        let packet = packet.map_err(|why| Failed::Run(format!("{name}: {why}")))?;
        let text = show.packet(&packet, &mut talk);
        out.write_all(text.as_bytes())
            .map_err(|error| Failed::of_stdout(&error))?;
    }
    match packets.cut() {
        0 => Ok(()),
        cut => Err(Failed::Run(format!(
            "{name}: {cut} datagrams are not shown, as they were not captured whole"
        ))),
    }
}

/// Writes the datagrams of a trace as pcap.
fn convert(args: &TraceArgs, file: BufReader<File>, to: &Path) -> Result<(), Failed> {
    let trace = Trace::read(file).map_err(|error| of_trace(&args.file, &error))?;
    let cannot = |error: io::Error| format!("cannot write --pcap {}: {error}", to.display());
    let pcap = File::create(to).map_err(|error| Failed::Usage(cannot(error)))?;
    let mut sink = PcapSink::new(BufWriter::new(pcap));
    let mut failed = None;
    for entry in trace {
        match entry {
            Ok(entry) => {
                let put = sink.put(&entry.record);
                put.map_err(|error| Failed::Run(cannot(error)))?;
            }
            Err(error) => failed = Some(of_trace(&args.file, &error)),
        }
    }
    let flushed = sink.flush();
    flushed.map_err(|error| Failed::Run(cannot(error)))?;
    failed.map_or(Ok(()), Err)
}
