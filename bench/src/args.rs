//! The command line.

use core::time::Duration;
use std::path::{Path, PathBuf};

use clap::{Parser, Subcommand, ValueEnum, value_parser};
use porous_loads::load::Load;
use serde::Serialize;

use crate::codecs::Operation;
use crate::cpu::Sweep;
use crate::peer::Variant;
#[cfg(unix)]
use crate::sockets;
use crate::workload::{Size, Workload};

/// Measures porous beside other protocols, over the same simulated links in virtual time.
///
/// `bench/README.md` says what is measured and how. The output does not depend on the machine.
#[derive(Debug, Parser)]
#[command(name = "porous-bench", args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) compare: Compare,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measures how long lost messages take under each policy of porous: writes latency.md and latency.svg
    Latency(Table),
    /// Compares sessions of porous-message with the host's own reliable packets: writes sessions.md and
    /// sessions.json
    Sessions(Table),
    // Described by its arguments.
    Demo(Demo),
    /// Counts the instructions and the time that hosts take: writes cpu.md. Needs valgrind
    Cpu(Cpu),
    /// Measures the processor time of whole programs over loopback sockets. Needs a C compiler, the
    /// installed C interface and libenet for the rows of C
    #[cfg(unix)]
    Sockets(Sockets),
    /// Measures the processor time of whole programs over loopback sockets: only on systems of unix's kind
    #[cfg(not(unix))]
    Sockets,
    /// Measures the echoes and messages of tasks over loopback sockets
    #[cfg(unix)]
    Tasks(Tasks),
    /// Measures the echoes and messages of tasks over loopback sockets: only on systems of unix's kind
    #[cfg(not(unix))]
    Tasks,
    /// Measures what a message of a game costs in porous-message and in other codecs
    #[command(subcommand)]
    Codecs(Codecs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum Codecs {
    /// Bits: the same on all machines
    Bits,
    /// Bits, instructions and time. Needs valgrind
    Costs,
    /// Time alone
    Time,
    /// Does one operation with all messages, `rounds` times, for callgrind to count
    Repeat {
        /// The codec, by its name in the tables
        codec: String,
        /// The form of the message, by its name in the tables
        form: String,
        operation: Operation,
        rounds: u64,
    },
}

/// Plays the traffic of `porous demo` over porous and over ENet (rusty_enet), side by side, in virtual time
///
/// Both sides send 60 states a second (unreliable, 200 bytes) and 12 events a second (reliable, 24 bytes).
/// The server also sends each client 4 updates a second (passive, 3000 bytes) and one file (reliable, in
/// messages of 1000 bytes, at low priority). ENet has neither passive messages nor priorities: over it an
/// update is reliable, and the file goes with the rest. When the time is over, what is reliable may still
/// arrive, for at most ten times as long.
///
/// Options and defaults are those of `porous demo`, as far as they make sense. `bench/README.md` says what
/// the lines of the table mean. The output does not depend on the machine.
#[derive(Debug, clap::Args, Serialize)]
#[command(allow_negative_numbers = true)]
pub(crate) struct Demo {
    /// The number of clients, 1 to 256
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = value_parser!(u16).range(1..=256))]
    pub(crate) clients: u16,
    /// Seconds of traffic, 1 to 3600
    #[arg(long, value_name = "S", default_value_t = 10, value_parser = value_parser!(u32).range(1..=3600))]
    pub(crate) seconds: u32,
    /// Round-trip time in milliseconds, half of it each way, up to 1000
    #[arg(long, value_name = "MS", default_value_t = 60, value_parser = value_parser!(u32).range(..=1000))]
    #[serde(rename = "rtt_ms")]
    pub(crate) rtt: u32,
    /// Variation of the round-trip time in milliseconds, half of it each way, up to 1000
    #[arg(long, value_name = "MS", default_value_t = 5, value_parser = value_parser!(u32).range(..=1000))]
    #[serde(rename = "jitter_ms")]
    pub(crate) jitter: u32,
    /// Datagrams that are lost, in each direction
    #[arg(long, value_name = "PERCENT", default_value_t = 2.0, value_parser = percent)]
    #[serde(rename = "loss_percent")]
    pub(crate) loss: f64,
    /// Datagrams that arrive twice, in each direction
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0, value_parser = percent)]
    #[serde(rename = "duplicate_percent")]
    pub(crate) duplicate: f64,
    /// Datagrams that are held back so that later ones overtake them, in each direction
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0, value_parser = percent)]
    #[serde(rename = "reorder_percent")]
    pub(crate) reorder: f64,
    /// The rate of each direction of each client's link, in kbit/s; 0 for no limit
    #[arg(long, value_name = "KBIT", default_value_t = 0, value_parser = value_parser!(u32).range(..=10_000_000))]
    #[serde(rename = "rate_kbit")]
    pub(crate) rate: u32,
    /// The rules that the hosts of porous follow
    #[arg(long, value_enum, default_value = "modern")]
    pub(crate) policy: Rules,
    /// The seed of the links and the hosts
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// The length of the file in bytes, at most 256 MiB; 0 for no file
    #[arg(long, value_name = "N", default_value_t = 1 << 20, value_parser = value_parser!(u64).range(..=256 << 20))]
    pub(crate) file_bytes: u64,
    /// The most bytes of the file that are sent and have not arrived
    #[arg(long, value_name = "N", default_value_t = 256 << 10, value_parser = value_parser!(u64).range(1..))]
    pub(crate) file_window: u64,
    /// A file to write the results to as well, as JSON; - for standard output, and nothing else there
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    pub(crate) json: Option<PathBuf>,
}

/// The rules that hosts of porous follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Rules {
    /// The rules of the published paper
    Paper,
    /// The recommended rules
    Modern,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Cpu {
    /// Only this load
    #[arg(long, value_enum)]
    pub(crate) load: Option<Load>,
    /// Only protocols whose names begin with this
    #[arg(long, value_name = "NAME")]
    pub(crate) peer: Option<String>,
    /// Runs each load once, as it is, and prints what it came to
    #[arg(long)]
    pub(crate) once: bool,
    /// What sealing costs, in place of the table of processor time: writes sealed.md
    #[arg(long, conflicts_with_all = ["chart", "sweep"])]
    pub(crate) sealed: bool,
    /// What a server with 10,000 clients takes as more of them are active, in place of the table of
    /// processor time: writes crowd.md
    #[arg(long, conflicts_with_all = ["chart", "sealed", "sweep"])]
    pub(crate) crowd: bool,
    /// Draws instructions against the length of messages, clients and channels: docs/performance.svg
    #[arg(long, conflicts_with_all = ["load", "peer"])]
    pub(crate) chart: bool,
    /// With --once: a line of the chart in place of a load
    #[arg(long, value_enum, requires = "at", requires = "once")]
    pub(crate) sweep: Option<Sweep>,
    /// With --sweep: the point of the line
    #[arg(long, value_name = "N", requires = "sweep")]
    pub(crate) at: Option<usize>,
    /// The folder to write to [default: bench/results, if nothing else is asked for; docs for the chart]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
}

#[cfg(unix)]
#[derive(Debug, clap::Args)]
pub(crate) struct Sockets {
    /// Only this load
    #[arg(long, value_enum)]
    pub(crate) load: Option<sockets::Load>,
    /// Only programs whose names begin with this
    #[arg(long, value_name = "NAME")]
    pub(crate) peer: Option<String>,
    /// Rounds, each of which measures everything once
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = value_parser!(u64).range(1..))]
    pub(crate) rounds: u64,
    /// How long each measurement takes, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 2000, value_parser = value_parser!(u64).range(1..=10_000))]
    pub(crate) milliseconds: u64,
    /// Writes sockets.md into this folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
    /// Is the server of one measurement
    #[arg(long, hide = true)]
    pub(crate) serve: bool,
    /// Is the clients of one measurement, of the server at this port
    #[arg(long, hide = true, value_name = "PORT")]
    pub(crate) drive: Option<u16>,
}

#[cfg(unix)]
#[derive(Debug, clap::Args)]
pub(crate) struct Tasks {
    /// Only programs whose names begin with this
    #[arg(long, value_name = "NAME")]
    pub(crate) peer: Option<String>,
    /// Rounds, each of which measures everything once
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = value_parser!(u64).range(1..))]
    pub(crate) rounds: u64,
    /// Echoes of one round
    #[arg(long, value_name = "N", default_value_t = 5000)]
    pub(crate) echoes: usize,
    /// Messages of one round
    #[arg(long, value_name = "N", default_value_t = 200_000, value_parser = value_parser!(u64).range(1..))]
    pub(crate) messages: u64,
    /// Writes tasks.md into this folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Table {
    /// A short run of everything, to see that it works
    #[arg(long)]
    pub(crate) quick: bool,
    /// The folder to write to [default: docs, or bench/results for sessions]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Compare {
    /// Only this workload
    #[arg(long, value_enum)]
    pub(crate) workload: Option<Workload>,
    /// Only protocols whose names begin with this
    #[arg(long, value_name = "NAME")]
    pub(crate) peer: Option<String>,
    /// Runs of each workload and protocol, with seeds from 1
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = value_parser!(u64).range(1..))]
    pub(crate) seeds: u64,
    /// A short run of everything, to see that it works
    #[arg(long)]
    pub(crate) quick: bool,
    /// Writes results.md and results.json into this folder [default: bench/results, if nothing else
    /// is asked for]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
}

impl Demo {
    /// The time that a datagram travels one way.
    pub(crate) fn delay(&self) -> Duration {
        Duration::from_millis(self.rtt.into()) / 2
    }

    /// How far the time that a datagram travels one way may vary.
    pub(crate) fn delay_jitter(&self) -> Duration {
        Duration::from_millis(self.jitter.into()) / 2
    }
}

fn percent(text: &str) -> Result<f64, &'static str> {
    match text.parse() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err("a percentage is a number from 0 to 100"),
    }
}

impl Table {
    /// The folder to write to. `usual`, the default, is relative to the folder of the bench.
    pub(crate) fn folder(&self, usual: &str) -> PathBuf {
        let usual = || Path::new(env!("CARGO_MANIFEST_DIR")).join(usual);
        self.out.clone().unwrap_or_else(usual)
    }
}

impl Compare {
    pub(crate) fn takes(&self, variant: Variant) -> bool {
        let begin = self.peer.as_deref().unwrap_or("");
        variant.name.starts_with(begin)
    }

    pub(crate) fn size(&self) -> Size {
        let (seconds, file, seeds) = if self.quick {
            (3, 1 << 20, 1)
        } else {
            (60, 16 << 20, self.seeds)
        };
        Size {
            duration: Duration::from_secs(seconds),
            file,
            seeds,
        }
    }

    /// The folder to write the results to; `None` for a part of the measures, which is only printed.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        let is_whole = self.workload.is_none() && self.peer.is_none() && !self.quick;
        let usual = || Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
        self.out.clone().or_else(|| is_whole.then(usual))
    }
}
