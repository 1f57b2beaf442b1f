//! `porous sim swarm`: runs many simulated worlds and reports which failed.

pub(crate) mod explore;
pub(crate) mod lab;
pub(crate) mod record;
pub(crate) mod road;
mod summary;

use core::num::NonZero;
use core::time::Duration;
use std::fs::File;
use std::io::{self, Write};
use std::process::ExitCode;

use indicatif::{ProgressBar, ProgressStyle};
use porous_sim::swarm::{self, Outcome};

use crate::args::{PolicyArg, SwarmArgs};
use crate::clock::Clock;
use crate::exit;
use crate::json::Json;
use crate::out::Out;
use crate::stop::Stop;
use summary::Summary;

/// Runs the swarm.
pub(crate) fn main(args: &SwarmArgs) -> ExitCode {
    exit::run(open(args), |opened| run(args, opened))
}

/// What the arguments name.
struct Opened {
    trace: Option<File>,
    out: Out,
}

fn open(args: &SwarmArgs) -> Result<Opened, String> {
    if args.first.checked_add(args.seeds).is_none() {
        return Err(format!("there are no seeds beyond {}", u64::MAX));
    }
    let trace = args.trace.as_ref().map(|path| {
        let cannot = |error| format!("cannot write --trace {}: {error}", path.display());
        File::create(path).map_err(cannot)
    });
    let json = args.json.as_deref().map(Json::open).transpose()?;
    Ok(Opened {
        trace: trace.transpose()?,
        out: Out::new(json),
    })
}

/// Runs the worlds until all have ended or the user stops them. Returns true if all promises were held.
fn run(args: &SwarmArgs, Opened { trace, mut out }: Opened) -> Result<bool, String> {
    let text = |error: io::Error| error.to_string();
    let (first, policy) = (args.first, args.policy.map(PolicyArg::policy));
    if let Some(mut trace) = trace {
        // Apart from the sweep, which keeps no text of its worlds.
        let outcome = swarm::run(args.first, policy, true);
        let written = trace.write_all(outcome.text.unwrap_or_default().as_bytes());
        written.map_err(text)?;
    }
    let interrupt = Stop::on_signal().map_err(text)?;
    let clock = Clock::start();
    let limit = args
        .minutes
        .map(|minutes| Duration::from_secs(60) * minutes);
    let stop = || interrupt.is_asked() || limit.is_some_and(|limit| clock.elapsed() >= limit);
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let threads = args.threads.map_or(cores, usize::from);
    let bar = progress("worlds", args.seeds);
    let mut summary = Summary::default();
    let seeds = first..first + args.seeds;
    swarm::sweep(seeds, policy, threads, stop, |outcome| {
        summary.add(&outcome);
        if let Some(failure) = &outcome.failure {
            // Or the bar and the lines would overwrite each other.
            bar.suspend(|| out.print(&told(&outcome, failure)));
        }
        bar.inc(1);
    });
    bar.finish_and_clear();
    let elapsed = clock.elapsed();
    let numbers = summary.numbers(elapsed.as_secs_f64());
    out.finish(&summary.text(elapsed.as_secs()), &numbers)?;
    Ok(summary.is_good())
}

/// A bar on standard error, as wide as the terminal, and none if that is no terminal.
fn progress(what: &str, number: u64) -> ProgressBar {
    let bar = ProgressBar::new(number);
    let style = format!("{{pos}} of {{len}} {what} [{{wide_bar}}] {{eta}} left");
    let style = ProgressStyle::with_template(&style);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

/// What failed, and the command that shows it again.
fn told(outcome: &Outcome, failure: &str) -> String {
    let seed = outcome.seed;
    format!(
        "seed {seed}: {failure}\n  again: porous sim swarm --first {seed} --seeds 1 --trace {seed}.txt\n"
    )
}
