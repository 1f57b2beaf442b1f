//! `porous sim swarm`: runs many simulated worlds and reports which failed.

pub(crate) mod lab;
pub(crate) mod road;

use core::num::NonZero;
use core::time::Duration;
use std::fs::File;
use std::io::{self, Write};
use std::process::ExitCode;

use indicatif::{ProgressBar, ProgressStyle};
use porous_sim::swarm::{self, Outcome, Report};

use crate::args::{PolicyArg, SwarmArgs};
use crate::clock::Clock;
use crate::exit;

/// Runs the swarm.
pub(crate) fn main(args: &SwarmArgs) -> ExitCode {
    exit::run(open(args), |trace| {
        run(args, trace).map(|failed| failed == 0)
    })
}

/// Opens the file of the trace, if there is to be one.
fn open(args: &SwarmArgs) -> Result<Option<File>, String> {
    if args.first.checked_add(args.seeds).is_none() {
        return Err(format!("there are no seeds beyond {}", u64::MAX));
    }
    let opened = args.trace.as_ref().map(|path| {
        let cannot = |error| format!("cannot write --trace {}: {error}", path.display());
        File::create(path).map_err(cannot)
    });
    opened.transpose()
}

/// Runs the worlds. Returns how many failed.
fn run(args: &SwarmArgs, trace: Option<File>) -> io::Result<u64> {
    let (first, policy) = (args.first, args.policy.map(PolicyArg::policy));
    if let Some(mut trace) = trace {
        // Apart from the sweep, which keeps no text of its worlds.
        let outcome = swarm::run(args.first, policy, true);
        trace.write_all(outcome.text.unwrap_or_default().as_bytes())?;
    }
    let clock = Clock::start();
    let limit = args
        .minutes
        .map(|minutes| Duration::from_secs(60) * minutes);
    let stop = || limit.is_some_and(|limit| clock.elapsed() >= limit);
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let threads = args.threads.map_or(cores, usize::from);
    let bar = ProgressBar::new(args.seeds);
    let style = ProgressStyle::with_template("{pos} of {len} worlds [{bar:40}] {eta} left");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));

    let (mut sum, mut worlds, mut failed) = (Report::default(), 0_u64, 0);
    swarm::sweep(
        first..first + args.seeds,
        policy,
        threads,
        stop,
        |outcome| {
            sum.add(&outcome.report);
            worlds += 1;
            if let Some(failure) = &outcome.failure {
                failed += 1;
                // Or the bar and the lines would overwrite each other.
                bar.suspend(|| tell(&outcome, failure));
            }
            bar.inc(1);
        },
    );
    bar.finish_and_clear();
    let written = write!(
        io::stdout().lock(),
        "worlds            {worlds}\nfailed            {failed}\n{sum}seconds           {}\n",
        clock.elapsed().as_secs()
    );
    match written {
        // A pipe whose reader stops early is no failure of the run.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error),
        Ok(()) | Err(_) => {}
    }
    Ok(failed)
}

/// Prints what failed, and the command that shows it again.
fn tell(outcome: &Outcome, failure: &str) {
    let seed = outcome.seed;
    // If stdout is closed, the last write of the run fails too, and reports it.
    let _ = writeln!(
        io::stdout().lock(),
        "seed {seed}: {failure}\n  again: porous sim swarm --first {seed} --seeds 1 --trace {seed}.txt"
    );
}
