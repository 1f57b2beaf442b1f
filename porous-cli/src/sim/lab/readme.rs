//! The table, with what each row is.

use core::fmt::Write as _;

use porous_sim::lab::{Measure, ROWS};

use super::{Run, number};

const HEAD: &str = "\
# The congestion laboratory

Congestion controllers on shared bottlenecks in virtual time. All of this is written by

```sh
cargo run --release -p porous-cli -- sim lab
```

and is the same bytes on every machine.
";

/// The text of README.md.
pub(super) fn text(runs: &[Run]) -> String {
    let mut text = HEAD.to_string();
    for row in ROWS {
        let of: Vec<&Run> = runs.iter().filter(|run| run.row.name == row.name).collect();
        if let Some(first) = of.first() {
            let _ = write!(text, "\n## {}\n\n{}\n\n", row.name, row.about);
            table(&mut text, &of, &first.outcome.measures);
            if row.plot {
                let _ = writeln!(text, "\n![{0}]({0}.svg)", row.name);
            }
        }
    }
    text
}

/// A line for each controller, a column for each measure.
fn table(text: &mut String, runs: &[&Run], measures: &[Measure]) {
    let mut head = "| controller |".to_string();
    let mut rule = "|---|".to_string();
    for measure in measures {
        let unit = if measure.unit.is_empty() { "" } else { ", " };
        let _ = write!(head, " {}{unit}{} |", measure.what, measure.unit);
        rule.push_str("--:|");
    }
    let _ = writeln!(text, "{head}\n{rule}");
    for run in runs {
        let cells = run.outcome.measures.iter().map(cell);
        let cells: Vec<String> = cells.collect();
        let _ = writeln!(text, "| {} | {} |", run.controller.name, cells.join(" | "));
    }
}

/// A number, and whether it is as it should be.
fn cell(measure: &Measure) -> String {
    let value = number(measure.value);
    match (measure.gate, measure.holds()) {
        (Some(gate), Some(true)) => format!("{value} ({gate})"),
        (Some(gate), Some(false)) => format!("**{value} missed** ({gate})"),
        _ => value,
    }
}
