//! `porous sim table`: the goals of the laboratory, and what controllers reach at several seeds.

use core::fmt::Write as _;
use std::process::ExitCode;

use porous_sim::lab::{self, Controller, Gate, Measure, Row};

use super::number;
use super::runs::{self, Plan, Run};
use crate::args::TableArgs;
use crate::exit::{Failed, wrong};
use crate::json::print;
use crate::sim::{progress, threads};

/// Runs the rows, and prints the table.
pub(crate) fn main(args: &TableArgs) -> ExitCode {
    let begins = |name: &str| {
        let mut only = args.only.iter();
        args.only.is_empty() || only.any(|with| name.starts_with(with.as_str()))
    };
    let rows: Vec<&Row> = lab::rows().filter(|row| begins(row.name)).collect();
    if rows.is_empty() {
        let names: Vec<&str> = lab::rows().map(|row| row.name).collect();
        let names = names.join(" ");
        return wrong(&format!("no row begins with that name; rows: {names}"));
    }
    let plan = Plan {
        rows,
        controllers: args.controllers.clone(),
        seeds: args.seeds.clone(),
        quick: args.quick,
    };
    let bar = progress("runs", plan.len());
    let runs = runs::all(&plan, threads(args.threads), |_| bar.inc(1));
    bar.finish_and_clear();
    let lines = lines(&plan, &runs);
    match print(text(&plan, &lines).as_bytes()) {
        Ok(()) if lines.iter().all(|line| line.missed().count() == 0) => ExitCode::SUCCESS,
        Ok(()) => ExitCode::FAILURE,
        Err(error) => Failed::of_stdout(&error).exit(),
    }
}

/// A number of a row, of all controllers at all seeds.
struct Line<'r> {
    row: &'static Row,
    /// What was measured, and its unit.
    name: (&'static str, &'static str),
    /// What each controller reached, in the order of the plan.
    cells: Vec<Cell<'r>>,
}

/// A number of a row, of one controller at all seeds, from the least to the greatest.
struct Cell<'r> {
    controller: &'r Controller,
    measures: Vec<Measure>,
}

/// The lines of the table: of each row the numbers that are asked of a controller, or the first.
fn lines<'r>(plan: &'r Plan, runs: &[Run]) -> Vec<Line<'r>> {
    let lines = plan.rows.iter().flat_map(|&row| {
        let of: Vec<&Run> = runs.iter().filter(|run| run.row.name == row.name).collect();
        let names = names(&of).into_iter();
        names.map(move |name| Line {
            row,
            name,
            cells: plan
                .controllers
                .iter()
                .map(|controller| Cell::new(controller, &of, name.0))
                .collect(),
        })
    });
    lines.collect()
}

/// The numbers of a row that are in the table.
fn names(runs: &[&Run]) -> Vec<(&'static str, &'static str)> {
    let (mut asked, mut first) = (Vec::new(), None);
    for measure in runs.iter().flat_map(|run| &run.outcome.measures) {
        let name = (measure.what, measure.unit);
        first = first.or(Some(name));
        if measure.gate.is_some() && !asked.contains(&name) {
            asked.push(name);
        }
    }
    if asked.is_empty() {
        asked.extend(first);
    }
    asked
}

impl<'r> Cell<'r> {
    fn new(controller: &'r Controller, runs: &[&Run], what: &str) -> Self {
        let of = runs
            .iter()
            .filter(|run| run.controller.name == controller.name);
        let measures = of.flat_map(|run| &run.outcome.measures);
        let mut measures: Vec<Measure> = measures
            .filter(|measure| measure.what == what)
            .copied()
            .collect();
        // A run without this number is the worst.
        let order = |measure: &Measure| measure.value.unwrap_or(f64::INFINITY);
        measures.sort_by(|one, other| order(one).total_cmp(&order(other)));
        Self {
            controller,
            measures,
        }
    }

    /// The goal; `None` if nothing is asked of this controller. Where each run has one of its own, as where the
    /// window before a change counts, it is that of the least number.
    fn goal(&self) -> Option<Gate> {
        self.measures.first()?.gate
    }

    fn is_missed(&self) -> bool {
        let mut measures = self.measures.iter();
        measures.any(|measure| measure.holds() == Some(false))
    }

    /// The median, and the least and the greatest number where they differ.
    fn text(&self) -> String {
        let (Some(least), Some(greatest)) = (self.measures.first(), self.measures.last()) else {
            return "-".to_string();
        };
        // Of an even number of seeds two are in the middle.
        let [low, high] = [self.measures.len() - 1, self.measures.len()].map(|twice| twice / 2);
        let median = Measure {
            value: self.measures[low]
                .value
                .zip(self.measures[high].value)
                .map(|(low, high)| f64::midpoint(low, high)),
            ..self.measures[low]
        };
        let [median, least, greatest] = [median, *least, *greatest].map(marked);
        if least == greatest {
            return median;
        }
        format!("{median} ({least} to {greatest})")
    }
}

/// A number, bold if it misses its goal.
fn marked(measure: Measure) -> String {
    let value = number(measure.value);
    match measure.holds() {
        Some(false) => format!("**{value}**"),
        Some(true) | None => value,
    }
}

impl Line<'_> {
    fn goal(&self) -> Option<Gate> {
        self.cells.iter().find_map(Cell::goal)
    }

    /// The controllers that miss their goal at a seed.
    fn missed(&self) -> impl Iterator<Item = &Controller> {
        let cells = self.cells.iter().filter(|cell| cell.is_missed());
        cells.map(|cell| cell.controller)
    }
}

/// The table, and a list of what is missed.
fn text(plan: &Plan, lines: &[Line<'_>]) -> String {
    let mut head = "| road | number | goal |".to_string();
    let mut rule = "|---|---|---|".to_string();
    for controller in &plan.controllers {
        let _ = write!(head, " {} |", controller.name);
        rule.push_str("--:|");
    }
    let (first, last) = (plan.seeds.start(), plan.seeds.end());
    let mut text = format!(
        "Seeds {first} to {last}: the median, and in brackets the least and the greatest. Bold misses the goal.\n\n\
         {head}\n{rule}\n"
    );
    for line in lines {
        let (what, unit) = line.name;
        let comma = if unit.is_empty() { "" } else { ", " };
        let goal = line.goal().map_or(String::new(), |goal| goal.to_string());
        let cells: Vec<String> = line.cells.iter().map(Cell::text).collect();
        let _ = writeln!(
            text,
            "| {} | {what}{comma}{unit} | {goal} | {} |",
            line.row.name,
            cells.join(" | ")
        );
    }
    for controller in plan.controllers.iter().filter(|other| other.is_asked()) {
        sum_up(&mut text, controller, lines);
    }
    text
}

/// How many goals a controller has, and which it misses at a seed or more.
fn sum_up(text: &mut String, controller: &Controller, lines: &[Line<'_>]) {
    let cells = lines.iter().flat_map(|line| &line.cells);
    let of = cells.filter(|cell| cell.controller.name == controller.name);
    let goals = of.filter(|cell| cell.goal().is_some()).count();
    let misses = |line: &&Line<'_>| line.missed().any(|other| other.name == controller.name);
    let missed: Vec<&Line<'_>> = lines.iter().filter(misses).collect();
    let rows = missed.chunk_by(|one, other| one.row.name == other.row.name);
    let rows = rows.map(|of| {
        let numbers: Vec<&str> = of.iter().map(|line| line.name.0).collect();
        format!("{} ({})", of[0].row.name, numbers.join(", "))
    });
    let rows: Vec<String> = rows.collect();
    let _ = write!(
        text,
        "\nOf {goals} goals `{}` misses {} at one seed or more",
        controller.name,
        missed.len()
    );
    text.push_str(if rows.is_empty() { "" } else { ": " });
    let _ = writeln!(text, "{}.", rows.join(", "));
}
