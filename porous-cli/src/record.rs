//! Recording: a trace or a pcap of what happens to a host while a command runs.

use alloc::sync::Arc;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use clap::Args;
use porous_trace::{Keep, Recorder};

use crate::trace::pcap::PcapSink;

/// Where a command records.
#[derive(Debug, Args)]
pub(crate) struct RecordArgs {
    /// A file for a trace of all that happens to the host: `porous replay` does it again, `porous trace` shows it
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// A file for the datagrams of the host, as pcap
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,
    /// Keeps the payloads of packets in these files; zeros of their lengths stand in otherwise
    #[arg(long)]
    payloads: bool,
    /// Keeps keys in the trace, and payloads with them, so that a sealed session can be replayed; a reader of
    /// the file can open all of it
    #[arg(long, requires = "trace")]
    trace_keys: bool,
}

/// The first error of any file that is recorded to, with its name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recording(Arc<Mutex<Option<String>>>);

impl Recording {
    /// Whether all was written. Ask when the hosts are gone, as they write to their end.
    pub(crate) fn result(&self) -> Result<(), String> {
        let failed = self.0.lock().ok().and_then(|mut failed| failed.take());
        failed.map_or(Ok(()), Err)
    }
}

/// A file, and the name of the option that named it.
struct Told {
    file: File,
    name: String,
    recording: Recording,
}

impl Told {
    fn open(option: &str, path: &Path, recording: &Recording) -> Result<Self, String> {
        let name = format!("{option} {}", path.display());
        match File::create(path) {
            Ok(file) => Ok(Self {
                file,
                name,
                recording: recording.clone(),
            }),
            Err(error) => Err(format!("cannot write {name}: {error}")),
        }
    }
}

impl Write for Told {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes);
        if let (Err(error), Ok(mut failed)) = (&written, self.recording.0.lock()) {
            failed.get_or_insert_with(|| format!("cannot write {}: {error}", self.name));
        }
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// The file of one of several hosts: its number stands behind the name.
fn numbered(path: &Path, number: Option<u8>) -> PathBuf {
    let Some(number) = number else {
        return path.to_owned();
    };
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{number}"));
    name.into()
}

impl RecordArgs {
    /// Whether anything is to be recorded.
    pub(crate) const fn is_asked(&self) -> bool {
        self.trace.is_some() || self.pcap.is_some()
    }

    /// A recorder for each of `hosts` hosts, of which there are none if nothing is to be recorded. The files are
    /// opened, so that one that cannot be written is known before anything runs.
    pub(crate) fn open(&self, hosts: u8) -> Result<(Vec<Recorder>, Recording), String> {
        let recording = Recording::default();
        if !self.is_asked() {
            return if self.payloads {
                Err("--payloads keeps them in a file: name one by --trace or --pcap".to_owned())
            } else {
                Ok((Vec::new(), recording))
            };
        }
        let mut keep = Keep::nothing();
        if self.payloads {
            keep = keep.payloads();
        }
        if self.trace_keys {
            keep = keep.keys();
        }
        let mut recorders = Vec::new();
        for host in 0..hosts {
            let number = (hosts > 1).then_some(host);
            let open = |option, path: &Option<PathBuf>| {
                let path = path.as_ref().map(|path| numbered(path, number));
                path.map(|path| Told::open(option, &path, &recording))
                    .transpose()
            };
            let trace = open("--trace", &self.trace)?;
            let pcap = open("--pcap", &self.pcap)?.map(PcapSink::new);
            recorders.extend(match (trace, pcap) {
                (Some(trace), Some(pcap)) => Some(Recorder::new(trace, keep).and_to(pcap)),
                (Some(trace), None) => Some(Recorder::new(trace, keep)),
                (None, Some(pcap)) => Some(Recorder::to(pcap, keep)),
                (None, None) => None,
            });
        }
        Ok((recorders, recording))
    }
}
