//! The numbers as comma-separated values.

use core::fmt::Write as _;

use super::{Run, number};

/// All measures, one a line.
pub(super) fn results(runs: &[Run]) -> String {
    let mut text = "row,controller,measure,value,unit,gate,verdict\n".to_string();
    for run in runs {
        for measure in &run.outcome.measures {
            let (row, controller) = (run.row.name, run.controller.name);
            let gate = measure.gate.map_or(String::new(), |gate| gate.to_string());
            let verdict = match measure.holds() {
                None => "",
                Some(true) => "ok",
                Some(false) => "missed",
            };
            let (what, unit, value) = (measure.what, measure.unit, number(measure.value));
            let line = format!("{row},{controller},{what},{value},{unit},{gate},{verdict}\n");
            text.push_str(&line);
        }
    }
    text
}

/// The runs of a row over time, a line for each point: rates in bytes a second, windows in bytes, queue and
/// round trip in milliseconds.
pub(super) fn series(runs: &[&Run]) -> String {
    let mut text = "controller,flow,time,rate,window,queue,rtt\n".to_string();
    for run in runs {
        for (flow, line) in run.outcome.lines.iter().enumerate() {
            for point in &line.points {
                let name = run.controller.name;
                // Writing to a string cannot fail.
                let _ = writeln!(
                    text,
                    "{name},{flow},{:.2},{:.0},{:.0},{:.1},{:.1}",
                    point.time, point.rate, point.window, point.queue, point.rtt
                );
            }
        }
    }
    text
}
