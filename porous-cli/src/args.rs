//! The command line, and the checks of arguments before anything runs.

use core::ops::RangeInclusive;
use core::time::Duration;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand, ValueEnum, value_parser};
use porous_sim::explore::Choices;
use porous_sim::lab::Controller;
use porous_std::Policy;

use crate::exit::USAGE;
use crate::ping::PingArgs;
use crate::record::RecordArgs;
use crate::replay::ReplayArgs;
use crate::serve::ServeArgs;
use crate::sim::record::SimRecordArgs;
use crate::token::TokenCommand;
use crate::trace::TraceArgs;
use crate::transfer::recv::RecvArgs;
use crate::transfer::send::SendArgs;

/// Shows and measures POROUS, a realtime UDP protocol for games.
#[derive(Debug, Parser)]
#[command(name = "porous", version, max_term_width = 80)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    // Described by their arguments.
    Demo(DemoArgs),
    Serve(ServeArgs),
    Ping(PingArgs),
    Send(SendArgs),
    Recv(RecvArgs),
    Trace(TraceArgs),
    Replay(ReplayArgs),
    /// Simulates worlds in virtual time
    #[command(subcommand)]
    Sim(SimCommand),
    /// Makes and shows tickets, by which players are let in
    #[command(subcommand)]
    Token(TokenCommand),
}

/// The rules that hosts follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PolicyArg {
    /// The rules of the published paper
    Paper,
    /// The recommended rules
    Modern,
}

impl PolicyArg {
    pub(crate) const fn policy(self) -> Policy {
        match self {
            Self::Paper => Policy::Paper,
            Self::Modern => Policy::Modern,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum SimCommand {
    // Described by their arguments.
    Swarm(SwarmArgs),
    Explore(ExploreArgs),
    Lab(LabArgs),
    Road(RoadArgs),
    Table(TableArgs),
}

/// A text of its own: documentation takes the brackets of a usage for links.
const ROAD: &str = "\
Runs flows on one simulated road. Prints what each got, and what the statistics
of porous flows said of the road beside what was true.

The situation is words KEY=VALUE, with these defaults:

  rate=10000 rtt=50 q=100 from=10 end=60 seed=1 flow=default

rate=KBITS, rtt=MS, q=PERCENT of a BDP, or q=time:MS, q=codel, q=fqcodel;
loss=PERCENT and aloss=PERCENT (there and back), jit=MS, jre=1 (jitter
reorders), jstep=MS, wander=J:TAU, radio=LO:HI:TAU, policer=BYTES, ticks=HZ,
at=SECOND:delay|rate|loss|down:VALUE, every=PERIOD:LEN, step=LO:HI:SECONDS,
gap=MS, trace=FILE, from=SECOND, end=SECOND, seed=N, and for each kind of flow

  flow=NAME[*N][+game|+stRATExBYTES[r]|+pushSECONDSxBYTES][@START[-STOP]][:RTT]

NAME is default, lean, reno, cubic, paper, fixed, binary, tcpreno, tcpcubic or
tcpbbr. The documentation of `porous_sim::lab::Scenario` explains each word. The
output is the same on every machine.

By --trace or --pcap a host of the first flow of porous is recorded, in virtual
time: the same words write the same bytes. It takes as many bytes as the host
sends and gets; end=SECOND makes the run shorter. Hosts that are recorded have
other addresses, on which nonces depend, so the numbers differ a little from
those of a run that is not recorded, as with another seed.

The exit status is 0, 1 if something cannot be written, 2 if a word means nothing.";

/// Runs flows on one simulated road and prints what each got
#[derive(Debug, Args)]
#[command(long_about = ROAD)]
pub(crate) struct RoadArgs {
    /// The words, in one argument or several
    #[arg(value_name = "KEY=VALUE")]
    pub(crate) text: Vec<String>,
    /// A file to write the results to as well, as JSON; - for standard output, and nothing else there
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) record: SimRecordArgs,
}

/// Measures congestion controllers on shared bottlenecks: alone, among flows of the same controller, and
/// beside models of TCP.
///
/// Prints each number, and its gate if that controller has one; `never` is a time that did not come, `-` a
/// number that there is none of, as the mean of nothing. With `--out` tables, pictures and a CSV file of all
/// numbers are written to a folder, and nothing anywhere else. The output is the same bytes on every machine.
///
/// By `--trace` or `--pcap` a host of one row and one controller is recorded, in virtual time: the same command
/// writes the same bytes. Of a row with several tries it is the first. Hosts that are recorded have other addresses,
/// on which nonces depend, so the numbers differ a little from those of a run that is not recorded.
///
/// The exit status is 0 if every number passes its gate, 1 if not, 2 if the arguments are wrong.
#[derive(Debug, Args)]
pub(crate) struct LabArgs {
    /// Shorter runs, for a first look
    #[arg(long)]
    pub(crate) quick: bool,
    /// Runs only the row of this name, or those whose names begin with it
    #[arg(long, value_name = "ROW")]
    pub(crate) only: Option<String>,
    /// Runs only the controller of this name, or those whose names begin with it
    #[arg(long, value_name = "NAME")]
    pub(crate) controller: Option<String>,
    /// A folder to write to, which is made if it is missing
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
    /// Draws every row that runs, in place of those that tell most
    #[arg(long, requires = "out")]
    pub(crate) plots: bool,
    /// A file to write the results to as well, as JSON; - for standard output, and nothing else there
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// The number of threads [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    #[command(flatten)]
    pub(crate) record: SimRecordArgs,
}

/// Prints the goals of the laboratory beside what controllers reach, at several seeds, as a Markdown table.
///
/// A line is a number of a row that has a goal for one of the controllers; of a row without goals it is the
/// first number. A controller has its median over the seeds, and in brackets the least and the greatest; a
/// number that misses the goal of its controller is bold, and `-` stands where a controller cannot take part.
/// Seed 1 is that of `porous sim lab`. The output is the same on every machine.
///
/// The exit status is 0 if every goal is met at every seed, 1 if not, 2 if the arguments are wrong.
#[derive(Debug, Args)]
pub(crate) struct TableArgs {
    /// The seeds, from the first to the last
    #[arg(long, value_name = "FIRST-LAST", default_value = "1-10", value_parser = seeds)]
    pub(crate) seeds: RangeInclusive<u64>,
    /// The controllers, with or without hyphens; `default` is what a host has that is not told
    #[arg(
        long,
        value_name = "NAME,...",
        value_delimiter = ',',
        default_value = "default,tcpreno,tcpcubic,tcpbbr",
        value_parser = controller
    )]
    pub(crate) controllers: Vec<Controller>,
    /// Runs only the rows whose names begin with one of these
    #[arg(long, value_name = "ROW,...", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Shorter runs, for a first look
    #[arg(long)]
    pub(crate) quick: bool,
    /// The number of threads [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
}

/// Runs thousands of simulated worlds that are worse than real ones, and checks that the protocol
/// keeps its promises in each.
///
/// A seed decides hosts and their configurations, the packets that they send, and the faults: see
/// `docs/testing.md`. When the faults are over, every promise of the protocol has to be kept. The output
/// depends on nothing but the seeds, except for the seconds.
///
/// The exit status is 0 if all worlds held, 1 if not, 2 if the arguments are wrong.
#[derive(Debug, Args)]
pub(crate) struct SwarmArgs {
    /// The number of worlds, each with a seed of its own
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = value_parser!(u64).range(1..))]
    pub(crate) seeds: u64,
    /// The first seed
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) first: u64,
    /// The rules that all hosts follow [default: the seed decides for each host]
    #[arg(long)]
    pub(crate) policy: Option<PolicyArg>,
    /// Minutes after which no world is begun any more
    #[arg(long, value_name = "M", value_parser = value_parser!(u32).range(1..))]
    pub(crate) minutes: Option<u32>,
    /// The number of threads [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// A file for a trace of the world of the first seed, a line for each event
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// A file to write the results to as well, as JSON; - for standard output, and nothing else there
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

/// Tries all that may become of the first datagrams of two or three hosts, within a bound.
///
/// In each scene the applications of the hosts do something: they connect, restart, move, say goodbye, fill
/// windows. Each of the first datagrams arrives, gets lost, arrives twice, behind the next one or two, late, or now
/// and late again. Every combination is tried once; then the network is good, and every promise has to be kept.
///
/// The exit status is 0 if all scenes held, 1 if not, 2 if the arguments are wrong.
#[derive(Debug, Args)]
pub(crate) struct ExploreArgs {
    /// One scene alone [default: all]
    #[arg(long, value_name = "NAME")]
    pub(crate) scene: Option<String>,
    /// The number of datagrams of which something is chosen
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = value_parser!(u8).range(1..=32))]
    pub(crate) datagrams: u8,
    /// The most of these that do not simply arrive [default: all]
    #[arg(long, value_name = "K", value_parser = value_parser!(u8).range(1..))]
    pub(crate) faults: Option<u8>,
    /// Minutes after which no schedule is begun any more
    #[arg(long, value_name = "M", value_parser = value_parser!(u32).range(1..))]
    pub(crate) minutes: Option<u32>,
    /// The number of threads [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Run each schedule to its end, also from states that another one came to before
    #[arg(long)]
    pub(crate) every: bool,
    /// Run this schedule alone, a letter for each datagram: n for now, l lost, t twice, b behind the next one, f behind
    /// the next two, d delayed, r repeated late
    #[arg(long, value_name = "TEXT", requires = "scene", conflicts_with_all = ["datagrams", "faults", "minutes", "every", "json"])]
    pub(crate) schedule: Option<Choices>,
    /// A file for a trace of that schedule, a line for each event
    #[arg(long, value_name = "FILE", requires = "schedule")]
    pub(crate) trace: Option<PathBuf>,
    /// A file to write the results to as well, as JSON; - for standard output, and nothing else there
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

/// Plays a game's traffic between one server and many clients over a bad network.
///
/// All hosts run in this process, on real sockets of the loopback interface. In front of the sockets are
/// simulated links, one for each direction of each client.
///
/// Both sides send 60 states a second (unreliable, 200 bytes) and 12 events a second (reliable, 24
/// bytes). The server also sends each client 4 updates a second (passive, 3000 bytes) and one file
/// (reliable, in packets of 1000 bytes, at low priority). When the time is over, reliable packets may
/// still arrive, for at most ten times as long.
///
/// The exit status is 0 if every reliable packet arrived once, in order and intact, every client's copy of the
/// file is right, and every connection is sealed if `--sealed` asks for it; 1 if not; 2 if the arguments are
/// wrong.
///
/// How the results are counted: a packet that was made counts as sent, also if the send buffer had no
/// room for it, and as lost if it was not delivered by the end. Wire bytes are the UDP payloads that the
/// hosts sent, whether or not the link then lost them. Overhead is the wire bytes beyond the delivered
/// bytes of the application, in percent of the latter. Loss is the protocol's own estimate, of both
/// directions together.
///
/// The host that --trace and --pcap record is the server.
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct DemoArgs {
    /// The number of clients, 1 to 256
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = value_parser!(u16).range(1..=256))]
    pub(crate) clients: u16,
    /// Seconds of traffic, 1 to 3600
    #[arg(long, value_name = "S", default_value_t = 10, value_parser = value_parser!(u32).range(1..=3600))]
    pub(crate) seconds: u32,
    /// Round-trip time in milliseconds, half of it each way, up to 10000
    #[arg(long, value_name = "MS", default_value_t = 60, value_parser = value_parser!(u32).range(..=10_000))]
    pub(crate) rtt: u32,
    /// Variation of the round-trip time in milliseconds, half of it each way, up to 10000
    #[arg(long, value_name = "MS", default_value_t = 5, value_parser = value_parser!(u32).range(..=10_000))]
    pub(crate) jitter: u32,
    /// Datagrams that are lost, in each direction
    #[arg(long, value_name = "PERCENT", default_value_t = 2.0, value_parser = percent)]
    pub(crate) loss: f64,
    /// Datagrams that arrive twice, in each direction
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0, value_parser = percent)]
    pub(crate) duplicate: f64,
    /// Datagrams that are held back so that later ones overtake them, in each direction
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0, value_parser = percent)]
    pub(crate) reorder: f64,
    /// The rate of each direction of each client's link, in kbit/s; 0 for no limit
    #[arg(long, value_name = "KBIT", default_value_t = 0, value_parser = value_parser!(u32).range(..=10_000_000))]
    pub(crate) rate: u32,
    /// The rules that all hosts follow
    #[arg(long, default_value = "modern")]
    pub(crate) policy: PolicyArg,
    /// Seals all connections: the server has a key pair, and the clients know its public key
    #[arg(long)]
    pub(crate) sealed: bool,
    /// The seed of the simulated links [default: another one for each run]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// The file to send, at most 256 MiB [default: the first MiB of this program]
    #[arg(long, value_name = "PATH")]
    pub(crate) file: Option<PathBuf>,
    /// A file to write the results to as well, as JSON; - for standard output, and nothing else there
    #[arg(long, value_name = "PATH")]
    pub(crate) json: Option<PathBuf>,
    /// A file to draw the results to, as SVG
    #[arg(long, value_name = "PATH")]
    pub(crate) plot: Option<PathBuf>,
    /// A file to write the results to as a page for a browser, which needs no network
    #[arg(long, value_name = "PATH")]
    pub(crate) html: Option<PathBuf>,
    /// Records the server.
    #[command(flatten)]
    pub(crate) record: RecordArgs,
}

impl DemoArgs {
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

/// The most seeds of a table. A thousand take hours.
const MOST_SEEDS: u64 = 1000;

/// One seed, or the first and the last.
fn seeds(text: &str) -> Result<RangeInclusive<u64>, &'static str> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (first.parse::<u64>(), last.parse::<u64>()) {
        (Ok(first), Ok(last)) if first <= last && last - first < MOST_SEEDS => Ok(first..=last),
        _ => Err("seeds are FIRST-LAST, at most a thousand"),
    }
}

fn controller(name: &str) -> Result<Controller, &'static str> {
    Controller::named(name)
        .ok_or("there are default lean reno cubic paper fixed binary tcpreno tcpcubic tcpbbr")
}

/// Prints help where it was asked for, and one line about anything else.
pub(crate) fn explain(error: &clap::Error) -> ExitCode {
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    ) {
        // If stdout is closed, nobody waits for the help, and the exit status says the rest.
        let _ = error.print();
        return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(USAGE));
    }
    eprintln!("{}", one_line(&error.render().to_string()));
    ExitCode::from(USAGE)
}

/// An error on one line: what is wrong, what may have been meant, the usage, and where there is more.
fn one_line(text: &str) -> String {
    let paragraphs = text.trim().split("\n\n");
    let lines = paragraphs.map(|paragraph| {
        let lines = paragraph.lines().map(str::trim);
        lines.collect::<Vec<_>>().join(" ")
    });
    lines.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn demo(args: &[&str]) -> Result<DemoArgs, String> {
        let all = ["porous", "demo"].iter().chain(args);
        match Cli::try_parse_from(all) {
            Ok(Cli {
                command: Command::Demo(args),
            }) => Ok(args),
            Ok(other) => panic!("{other:?}"),
            Err(error) => Err(one_line(&error.render().to_string())),
        }
    }

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn defaults() {
        let args = demo(&[]).unwrap();
        assert_eq!(
            (args.clients, args.seconds, args.rtt, args.jitter),
            (8, 10, 60, 5)
        );
        assert_eq!((args.loss, args.duplicate, args.reorder), (2.0, 0.0, 0.0));
        assert_eq!((args.rate, args.seed), (0, None));
        assert_eq!(args.policy, PolicyArg::Modern);
        assert_eq!((args.file, args.json), (None, None));
    }

    #[test]
    fn the_round_trip_is_split() {
        let args = demo(&["--rtt", "61", "--jitter=4"]).unwrap();
        assert_eq!(args.delay(), Duration::from_micros(30_500));
        assert_eq!(args.delay_jitter(), Duration::from_millis(2));
    }

    #[test]
    fn percentages() {
        for option in ["--loss", "--duplicate", "--reorder"] {
            for good in ["0", "100", "2.5"] {
                assert!(demo(&[option, good]).is_ok(), "{option} {good}");
            }
            for bad in ["-1", "100.1", "NaN", "inf", "two", ""] {
                let line = demo(&[option, bad]).unwrap_err();
                assert!(line.contains(option), "{line}");
                assert!(!line.contains('\n'), "{line}");
            }
        }
    }

    #[test]
    fn an_error_says_what_was_meant_and_where_there_is_more() {
        let line = demo(&["--second", "3"]).unwrap_err();
        for part in [
            "'--second'",
            "similar",
            "'--seconds'",
            "Usage: porous demo",
            "'--help'",
        ] {
            assert!(line.contains(part), "{part}: {line}");
        }
        assert!(!line.contains('\n'), "{line}");
        let line = demo(&["--policy", "old"]).unwrap_err();
        assert!(line.contains("paper") && line.contains("modern"), "{line}");
    }

    #[test]
    fn absurd_numbers() {
        for (option, bad) in [
            ("--clients", "0"),
            ("--clients", "257"),
            ("--clients", "99999999999999999999"),
            ("--seconds", "0"),
            ("--seconds", "3601"),
            ("--seconds", "-5"),
            ("--rtt", "10001"),
            ("--jitter", "-1"),
            ("--rate", "4294967296"),
            ("--seed", "-1"),
            ("--seed", "x"),
        ] {
            let line = demo(&[option, bad]).unwrap_err();
            assert!(
                line.starts_with("error: ") && line.contains(option),
                "{line}"
            );
            assert!(line.contains(bad) && !line.contains('\n'), "{line}");
        }
    }
}
