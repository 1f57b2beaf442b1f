//! Measures porous beside other protocols, over the same simulated links in virtual time. See
//! `bench/README.md`.

mod args;
mod bulk;
mod clock;
mod codecs;
#[cfg(test)]
mod controllers;
mod cpu;
mod demo;
mod latency;
mod messages;
mod peer;
mod peers;
mod report;
mod run;
mod sessions;
#[cfg(unix)]
mod sockets;
#[cfg(unix)]
mod tasks;
mod wire;
mod workload;

use std::io::{self, Write as _};

use clap::Parser;

use crate::args::{Cli, Command, Compare};
use crate::peer::VARIANTS;
use crate::workload::{Case, Workload, measure};

pub use porous_loads::counted::{Allocations, Measure};

/// The program. `measure` counts the allocations of some work, if the allocator of the executable can.
///
/// # Errors
///
/// What is wrong with the files or programs that the command line asks for.
pub fn main(measure: Option<Measure>) -> io::Result<()> {
    let cli = Cli::parse();
    match cli.command {
        Some(Command::Latency(args)) => {
            let (seconds, seeds) = if args.quick { (5, 1) } else { (300, 5) };
            latency::main(&args.folder("../docs"), seconds, seeds)
        }
        Some(Command::Sessions(args)) => {
            let (seconds, seeds) = if args.quick { (5, 1) } else { (60, 5) };
            sessions::main(&args.folder("results"), seconds, seeds)
        }
        Some(Command::Demo(args)) => demo::main(&args),
        Some(Command::Cpu(args)) => cpu::main(&args, measure),
        #[cfg(unix)]
        Some(Command::Sockets(args)) => sockets::main(&args),
        #[cfg(unix)]
        Some(Command::Tasks(args)) => tasks::main(&args),
        #[cfg(not(unix))]
        Some(Command::Sockets | Command::Tasks) => Err(io::Error::other(
            "sockets: measured only on systems of unix's kind, which count a process's time alike",
        )),
        Some(Command::Codecs(command)) => codecs::main(&command),
        None => compare(&cli.compare),
    }
}

/// Runs the selected workloads and protocols, prints the tables, and writes them.
fn compare(args: &Compare) -> io::Result<()> {
    let size = args.size();
    let mut rows = Vec::new();
    for case in cases(args) {
        for variant in VARIANTS {
            if args.takes(variant) {
                rows.push(measure(case, variant, size));
            }
        }
    }
    io::stdout().write_all(report::markdown(&rows).as_bytes())?;
    match args.folder() {
        Some(folder) => report::write(&rows, &folder),
        None => Ok(()),
    }
}

/// The conditions of the selected workloads, in the order of the tables.
fn cases(args: &Compare) -> Vec<Case> {
    let mut cases = Vec::new();
    for workload in Workload::ALL {
        if args.workload.is_some_and(|wanted| wanted != workload) {
            continue;
        }
        for &step in workload.steps() {
            for &loss in workload.losses() {
                cases.push(Case {
                    workload,
                    loss,
                    step,
                });
            }
        }
    }
    cases
}
