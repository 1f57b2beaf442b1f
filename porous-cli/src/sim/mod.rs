//! `porous sim swarm`: runs many simulated worlds and reports which failed.

pub(crate) mod explore;
pub(crate) mod lab;
mod limit;
pub(crate) mod record;
pub(crate) mod road;
mod summary;

use core::num::NonZero;
use std::path::Path;
use std::process::ExitCode;

use indicatif::{ProgressBar, ProgressStyle};
use porous_sim::swarm::{self, Outcome};

use crate::args::{PolicyArg, SwarmArgs};
use crate::exit;
use crate::json::Json;
use crate::later::Later;
use crate::out::Out;
use limit::Limit;
use summary::Summary;

/// Runs the swarm.
pub(crate) fn main(args: &SwarmArgs) -> ExitCode {
    exit::run(open(args), |opened| run(args, opened))
}

/// What the arguments name.
struct Opened {
    trace: Option<Later>,
    out: Out,
}

fn open(args: &SwarmArgs) -> Result<Opened, String> {
    if args.first.checked_add(args.seeds).is_none() {
        return Err(format!("there are no seeds beyond {}", u64::MAX));
    }
    let json = args.json.as_deref().map(Json::open).transpose()?;
    Ok(Opened {
        trace: create(args.trace.as_deref())?,
        out: Out::new(json),
    })
}

/// The file that `--trace` names.
fn create(path: Option<&Path>) -> Result<Option<Later>, String> {
    let file = path.map(|path| {
        let cannot = |error| format!("cannot write --trace {}: {error}", path.display());
        Later::open(path).map_err(cannot)
    });
    file.transpose()
}

/// The number of threads: `asked`, or one for each processor.
fn threads(asked: Option<u16>) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    asked.map_or(cores, usize::from)
}

/// Runs the worlds until all have ended or the user stops them. Returns true if all promises were held.
fn run(args: &SwarmArgs, Opened { trace, mut out }: Opened) -> Result<bool, String> {
    let (first, policy) = (args.first, args.policy.map(PolicyArg::policy));
    if let Some(trace) = trace {
        // Apart from the sweep, which keeps no text of its worlds.
        let outcome = swarm::run(args.first, policy, true);
        let written = trace.write(outcome.text.unwrap_or_default().as_bytes());
        written.map_err(|error| error.to_string())?;
    }
    let limit = Limit::new(args.minutes)?;
    let stop = || limit.is_over();
    let bar = progress("worlds", args.seeds);
    let mut summary = Summary::default();
    let seeds = first..first + args.seeds;
    swarm::sweep(seeds, policy, threads(args.threads), stop, |outcome| {
        summary.add(&outcome);
        if let Some(failure) = &outcome.failure {
            // Or the bar and the lines would overwrite each other.
            bar.suspend(|| out.print(&told(&outcome, failure)));
        }
        bar.inc(1);
    });
    bar.finish_and_clear();
    let elapsed = limit.elapsed();
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
