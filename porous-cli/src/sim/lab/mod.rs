//! `porous sim lab`: runs the congestion laboratory and writes its results. `porous sim table`: prints its goals.

mod csv;
mod plot;
mod readme;
mod runs;
pub(crate) mod table;
mod told;

use core::num::NonZero;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use porous_sim::lab::{self, CONTROLLERS, Controller, Row};

use crate::args::LabArgs;
use crate::exit::wrong;
use runs::{Plan, Run};

/// Runs the laboratory.
pub(crate) fn main(args: &LabArgs) -> ExitCode {
    let begins = |name: &str, with: &Option<String>| {
        with.as_ref()
            .is_none_or(|with| name.starts_with(with.as_str()))
    };
    let rows = lab::rows().filter(|row| begins(row.name, &args.only));
    let rows: Vec<&Row> = rows.collect();
    let controllers = CONTROLLERS.iter().copied();
    let controllers: Vec<Controller> = controllers
        .filter(|controller| begins(controller.name, &args.controller))
        .collect();
    if rows.is_empty() || controllers.is_empty() {
        let names: Vec<&str> = lab::rows().map(|row| row.name).collect();
        let others: Vec<&str> = CONTROLLERS.iter().map(|other| other.name).collect();
        let (names, others) = (names.join(" "), others.join(" "));
        return wrong(&format!(
            "no row or no controller begins with that name; rows: {names}; controllers: {others}"
        ));
    }
    // Only a whole run writes by default: a part would overwrite the results of all others.
    let is_whole = !args.quick && args.only.is_none() && args.controller.is_none();
    let usual = is_whole.then(|| PathBuf::from("docs/lab"));
    let out = args.out.clone().or(usual);
    let plan = Plan {
        rows,
        controllers,
        seeds: 1..=1,
        quick: args.quick,
    };
    let runs = runs::all(&plan, threads(args.threads), |run| {
        run.into_iter().for_each(tell);
    });
    let missed = runs.iter().filter(|run| run.misses()).count();
    let written = out.map_or(Ok(()), |out| write(&out, &runs));
    match written {
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
        Ok(()) if missed > 0 => ExitCode::FAILURE,
        Ok(()) => ExitCode::SUCCESS,
    }
}

/// The number of threads: `asked`, or one for each processor.
fn threads(asked: Option<u16>) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    asked.map_or(cores, usize::from)
}

impl Run {
    fn misses(&self) -> bool {
        let measures = &self.outcome.measures;
        measures
            .iter()
            .any(|measure| measure.holds() == Some(false))
    }
}

/// Prints a run.
fn tell(run: &Run) {
    let mut text = format!("{} {}\n", run.row.name, run.controller.name);
    for measure in &run.outcome.measures {
        let verdict = match measure.holds() {
            None => "",
            Some(true) => "ok",
            Some(false) => "MISSED",
        };
        let gate = measure.gate.map_or(String::new(), |gate| gate.to_string());
        let value = number(measure.value);
        let line = format!(
            "  {:<34}{value:>9} {:<5}{gate:<12}{verdict}",
            measure.what, measure.unit
        );
        text.push_str(line.trim_end());
        text.push('\n');
    }
    // A pipe whose reader stops early is no failure of the run.
    let _ = io::stdout().lock().write_all(text.as_bytes());
}

/// A number as it is printed: three decimals below 10, one below 1000, else none.
fn number(value: f64) -> String {
    match value {
        _ if value.is_infinite() => "never".to_string(),
        _ if value.abs() < 10.0 => format!("{value:.3}"),
        _ if value.abs() < 1000.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// Writes the tables, the pictures, and the CSV.
fn write(folder: &Path, runs: &[Run]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join("results.csv"), csv::results(runs))?;
    fs::write(folder.join("README.md"), readme::text(runs))?;
    if let Some(told) = told::text(runs) {
        fs::write(folder.join("told.md"), told)?;
    }
    for row in lab::rows().filter(|row| row.plot) {
        let of = runs.iter().filter(|run| run.row.name == row.name);
        let of: Vec<&Run> = of.filter(|run| run.controller.plot).collect();
        if !of.is_empty() {
            fs::write(folder.join(format!("{}.svg", row.name)), plot::svg(&of)?)?;
        }
    }
    Ok(())
}
