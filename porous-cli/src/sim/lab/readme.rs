//! The text with the tables: what is measured, how, and the results.

use core::fmt::Write as _;

use porous_sim::lab::{self, Measure, Row};

use super::{Run, number};

const HEAD: &str = "\
# The congestion laboratory

What the congestion controllers of porous do on shared bottlenecks: alone, among their like, beside
TCP, and on bad lines. All of this folder is written by

```sh
cargo run --release -p porous-cli -- sim lab --out docs/lab
```

It runs in virtual time, in a few minutes of processor time, and is the same bytes on every machine.
`--only ROW` and `--controller NAME` run a part of it and print it, `--quick` runs shorter. The engine
is `porous_sim::lab`; `tests/tests/lab.rs` holds quick runs to the gates. All of it is one seed. Every gate at
ten seeds, for what a host has that is not told beside the models of TCP, is printed by

```sh
cargo run --release -p porous-cli -- sim table
```

## Method

All flows of a row send through one bottleneck of a limited rate with a drop-tail queue, or CoDel; the
headers of IP and UDP (28 bytes) or TCP (52) count. Behind the bottleneck each datagram is under way for
half of its flow's round trip, give or take 0.2 ms, so that drop-tail queues do not always drop from the
same flow, and may be lost by chance. The way back has no bottleneck. CoDel drops as datagrams leave, as in
RFC 8289. A flow of porous is two hosts with default configurations, called as events come or, in rows with
`ticks`, 60 times a second; one sends 16 KiB packets as fast as it may, and does not know the path. `fixed`
and `binary` are told 1 MB/s (and 100 kB/s in bad conditions), whatever the path takes.

`porous sim road` puts flows on a road of your own; `porous sim road --help` says how.

`tcp-reno` and `tcp-cubic` are models from the RFCs (5681, 6582, 6675, 6298, 9438): segments of 1448
bytes, delayed acknowledgements, SACK, ten segments at first, no pacing, timeouts of 200 ms at least.
`tcp-bbr` is the same sender, paced, with BBRv3 from its draft (draft-ietf-ccwg-bbr).
They are rivals, and a measure of the paths: what TCP does not reach, no controller like it reaches.

- Utilisation is what passed the bottleneck, with all headers, to what could have.
- Queue is how long a datagram would have to wait at the bottleneck, looked at each 10 ms.
- Overhead is what was sent beyond what arrived for the application, in UDP payloads: headers,
  repetitions, and what the queue did not take. \"With IP and UDP\" counts these headers, too.
- Jain is (sum x)^2 / (n sum x^2) over what arrived for the applications.
- A time is \"never\" if it did not come before the end of the run. A number is \"-\" if there is none: what was
  sent beyond nothing that arrived, or the window of a controller that has none.

A number in brackets is a gate: the demand on that controller. There are no demands on controllers that
are told a rate, on the paper's (it is kept as it is) and on TCP; short queues, random loss, a quick start
and quick agreement are no gates for `reno` and `cubic`, which send more until a datagram is lost. A gate
that is missed is printed bold.

In the pictures each controller has a row of panels; its own flow is blue, its fellows or TCP are red and of
further colours. `--plots` draws every row. `results.csv` has all numbers. [told.md](told.md) puts what a
flow's statistics say of its path beside what was true.
";

/// The text of README.md.
pub(super) fn text(runs: &[Run], is_drawn: impl Fn(&Row) -> bool) -> String {
    let mut text = HEAD.to_string();
    sum_up(&mut text, runs);
    for row in lab::rows() {
        let of: Vec<&Run> = runs.iter().filter(|run| run.row.name == row.name).collect();
        if let Some(first) = of.first() {
            let _ = write!(text, "\n## {}\n\n{}\n\n", row.name, row.about);
            table(&mut text, &of, &first.outcome.measures);
            if is_drawn(row) {
                let _ = writeln!(text, "\n![{0}]({0}.svg)", row.name);
            }
        }
    }
    text
}

/// The number of gates, and those that were missed.
fn sum_up(text: &mut String, runs: &[Run]) {
    let gated = runs.iter().flat_map(|run| {
        let measures = run.outcome.measures.iter();
        measures.filter_map(move |measure| Some((run, measure, measure.holds()?)))
    });
    let gated: Vec<(&Run, &Measure, bool)> = gated.collect();
    let missed = gated.iter().filter(|(_, _, holds)| !holds);
    let count = missed.clone().count();
    let _ = write!(
        text,
        "\n## Gates\n\nOf {} gates {count} are missed",
        gated.len()
    );
    text.push_str(if count == 0 { ".\n" } else { ":\n\n" });
    for (run, measure, _) in missed {
        let (row, name, what) = (run.row.name, run.controller.name, measure.what);
        let _ = writeln!(text, "- `{name}` in {row}: {what} {}", cell(measure));
    }
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

/// A number with its gate if it has one, bold if it misses it.
fn cell(measure: &Measure) -> String {
    let value = number(measure.value);
    match (measure.gate, measure.holds()) {
        (Some(gate), Some(true)) => format!("{value} ({gate})"),
        (Some(gate), Some(false)) => format!("**{value}** ({gate})"),
        _ => value,
    }
}
