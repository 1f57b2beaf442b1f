//! `porous sim lab`: runs the congestion laboratory and writes its results. `porous sim table`: prints its goals.

mod csv;
mod folder;
mod json;
mod plot;
mod readme;
mod runs;
pub(crate) mod table;
mod told;

use std::process::ExitCode;

use porous_sim::lab::{self, CONTROLLERS, Controller, Row};

use crate::args::LabArgs;
use crate::exit;
use crate::json::Json;
use crate::out::Out;
use crate::record::Recording;
use crate::sim::threads;
use folder::Folder;
use json::Results;
use runs::{Plan, Run};

/// Runs the laboratory.
pub(crate) fn main(args: &LabArgs) -> ExitCode {
    exit::run(open(args), |opened| run(args, opened))
}

/// What the arguments name.
struct Opened {
    plan: Plan,
    record: Option<lab::Recording>,
    recording: Recording,
    folder: Option<Folder>,
    out: Out,
}

fn open(args: &LabArgs) -> Result<Opened, String> {
    let rows: Vec<&Row> = lab::rows().collect();
    let rows = named(rows, args.only.as_deref(), |row| row.name);
    let controllers = CONTROLLERS.to_vec();
    let controllers: Vec<Controller> =
        named(controllers, args.controller.as_deref(), |other| other.name);
    if rows.is_empty() || controllers.is_empty() {
        let names: Vec<&str> = lab::rows().map(|row| row.name).collect();
        let others: Vec<&str> = CONTROLLERS.iter().map(|other| other.name).collect();
        let (names, others) = (names.join(" "), others.join(" "));
        return Err(format!(
            "no row or no controller begins with that name; rows: {names}; controllers: {others}"
        ));
    }
    let is_one = rows.len() == 1 && controllers.len() == 1 && !controllers[0].is_tcp();
    if args.record.is_asked() && !is_one {
        return Err("one host is recorded: name one row by --only, and a controller of porous by --controller".to_owned());
    }
    let (record, recording) = args.record.open()?;
    let json = args.json.as_deref().map(Json::open).transpose()?;
    let folder = args.out.as_deref().map(Folder::open).transpose()?;
    Ok(Opened {
        plan: Plan {
            rows,
            controllers,
            seeds: 1..=1,
            quick: args.quick,
        },
        record,
        recording,
        folder,
        out: Out::new(json),
    })
}

/// The one with this name, or those whose names begin with it; all if there is no name.
fn named<T>(all: Vec<T>, name: Option<&str>, of: impl Fn(&T) -> &str) -> Vec<T> {
    let Some(name) = name else {
        return all;
    };
    let is_exact = all.iter().any(|one| of(one) == name);
    let is_meant = |one: &T| of(one) == name || (!is_exact && of(one).starts_with(name));
    all.into_iter().filter(is_meant).collect()
}

/// Returns true if every number passes its gate.
fn run(args: &LabArgs, opened: Opened) -> Result<bool, String> {
    let Opened {
        plan,
        record,
        recording,
        folder,
        mut out,
    } = opened;
    let show = |run: Option<&Run>| {
        if let Some(run) = run {
            out.print(&told(run));
        }
    };
    let runs = match record {
        Some(record) => runs::recorded(&plan, record, show),
        None => runs::all(&plan, threads(args.threads), show),
    };
    if let Some(folder) = folder {
        folder.write(&runs, |row| row.plot || args.plots)?;
    }
    out.finish("", &Results::new(&runs))?;
    recording.result()?;
    Ok(!runs.iter().any(Run::misses))
}

impl Run {
    fn misses(&self) -> bool {
        let measures = &self.outcome.measures;
        measures
            .iter()
            .any(|measure| measure.holds() == Some(false))
    }
}

/// A run as lines.
fn told(run: &Run) -> String {
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
    text
}

/// A number as it is printed: three decimals below 10, one below 1000, else none.
fn number(value: Option<f64>) -> String {
    match value {
        None => "-".to_string(),
        Some(value) if value.is_infinite() => "never".to_string(),
        Some(value) if value.abs() < 10.0 => format!("{value:.3}"),
        Some(value) if value.abs() < 1000.0 => format!("{value:.1}"),
        Some(value) => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_name_is_that_one_and_a_part_all_that_begin_with_it() {
        let of = |name| named(vec!["alone-1", "alone-10", "late"], name, |one| one);
        assert_eq!(of(Some("alone-1")), ["alone-1"]);
        assert_eq!(of(Some("alone")), ["alone-1", "alone-10"]);
        assert_eq!((of(None).len(), of(Some("nowhere")).len()), (3, 0));
    }

    #[test]
    fn numbers_that_there_are_none_of() {
        let texts = [
            None,
            Some(f64::INFINITY),
            Some(0.0),
            Some(12.34),
            Some(1234.5),
        ]
        .map(number);
        assert_eq!(texts, ["-", "never", "0.000", "12.3", "1234"]);
    }
}
