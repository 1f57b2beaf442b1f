//! The numbers as comma-separated values.

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
            let (what, unit) = (measure.what, measure.unit);
            // A number that there is none of is an empty field.
            let value = measure
                .value
                .map_or(String::new(), |value| number(Some(value)));
            let line = format!("{row},{controller},{what},{value},{unit},{gate},{verdict}\n");
            text.push_str(&line);
        }
    }
    text
}
