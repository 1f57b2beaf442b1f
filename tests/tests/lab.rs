//! Quick rows of the congestion laboratory (`docs/lab/README.md`) as gates.

use porous_sim::lab::{CONTROLLERS, Measure, rows, run};

/// Demands that are known to be missed: row, controller, measure.
const MISSED: [(&str, &str, &str); 3] = [
    // Seven tenths of five BDP are still more than 100 ms.
    ("fall", "cubic", "queue back at 100 ms"),
    // Crowds follow losses, and so fill the queue (docs/design.md).
    ("crowd-16", "lean", "mean queue"),
    // 2.09 times what Reno gets: CUBIC is made to take more (RFC 9438 §4.3).
    ("reno-1", "cubic", "to TCP"),
];

/// Checks the controllers against the demands of these rows.
fn hold(names: &[&str]) {
    let (mut asked, mut wrong) = (0, Vec::new());
    for name in names {
        let row = rows().find(|row| row.name == *name);
        let row = row.unwrap_or_else(|| panic!("no row has the name {name}"));
        for controller in CONTROLLERS
            .iter()
            .filter(|controller| controller.is_asked())
        {
            let Some(outcome) = run(row, controller, true, 1) else {
                continue;
            };
            for measure in &outcome.measures {
                let Some(holds) = measure.holds() else {
                    continue;
                };
                asked += 1;
                let known = MISSED.contains(&(row.name, controller.name, measure.what));
                if holds == known {
                    wrong.push(tell(row.name, controller.name, measure));
                }
            }
        }
    }
    assert!(asked >= names.len(), "a gate for each row: {asked}");
    assert!(
        wrong.is_empty(),
        "missed, or known as missed and not: {wrong:#?}"
    );
}

fn tell(row: &str, controller: &str, measure: &Measure) -> String {
    let Measure {
        what, value, unit, ..
    } = measure;
    let gate = measure
        .gate
        .map(|gate| gate.to_string())
        .unwrap_or_default();
    let value = value.map_or_else(|| "-".to_owned(), |value| value.to_string());
    format!(
        "{what} {value} {unit}, not {gate}: porous sim lab --quick --only {row} --controller {controller}"
    )
}

#[test]
fn alone_a_bottleneck_is_used_and_its_queue_is_short() {
    hold(&["alone-4", "64k-fast", "64k-slow", "file-5", "file-5-loss"]);
}

#[test]
fn a_bottleneck_is_shared() {
    hold(&["equal-2", "jain-4", "late"]);
}

#[test]
fn tcp_reno_gets_its_share() {
    hold(&["reno-1"]);
}

#[test]
fn losses_by_chance_leave_most_of_a_line() {
    hold(&["loss-20", "loss-25", "loss-5-slow"]);
    // Jitter looks like other connections in the queue, beside which no loss is taken for chance.
    hold(&["jitter-loss", "jitter-loss-far", "jitter-loss-reorder"]);
}

#[test]
fn paths_that_change_or_go_are_not_flooded() {
    hold(&["fall", "black-hole", "no-feedback"]);
}

#[test]
fn games_get_what_they_need() {
    hold(&["reorder", "loss-2", "push", "priority"]);
}

#[test]
fn longer_routes_are_no_rivals() {
    hold(&["route-65", "tcp-leaves"]);
}

#[test]
fn losses_by_chance_are_told_from_those_of_the_window() {
    hold(&["loss-10", "loss-20", "loss-25", "policer-10", "outages"]);
}

#[test]
fn crowds_lose_little() {
    hold(&["crowd-16"]);
}

#[test]
fn another_seed_is_another_run() {
    // A row with code of its own, and one that is the text of a road.
    for name in ["equal-2", "route-60"] {
        let row = rows().find(|row| row.name == name).expect("a row");
        let values = [1, 2].map(|seed| {
            let outcome = run(row, &CONTROLLERS[0], true, seed).expect("bulk");
            let values = outcome.measures.iter().map(|measure| measure.value);
            values.collect::<Vec<_>>()
        });
        assert_ne!(values[0], values[1], "{name}");
    }
}

#[test]
fn a_run_is_the_same_each_time() {
    let outcome = |row: &str| {
        let row = rows().find(|other| other.name == row).expect("a row");
        let outcome = run(row, &CONTROLLERS[0], true, 1).expect("porous takes part everywhere");
        let values = outcome
            .measures
            .iter()
            .map(|measure| measure.value.map(f64::to_bits));
        (values.collect::<Vec<_>>(), outcome.lines)
    };
    for row in ["wifi", "push"] {
        assert_eq!(outcome(row), outcome(row));
    }
}
