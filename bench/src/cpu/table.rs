//! The table of processor time.

use core::fmt::Write as _;

use super::row::Row;
use super::task::TICK;

pub(super) fn table(rows: &[Row]) -> String {
    let mut text = String::from(
        "# Processor time\n\nWhat the rows and columns mean: see `bench/README.md`, \"Processor time\".\n\n\
         | load | protocol | for each | instructions | to rusty_enet | ns | to rusty_enet | allocations | bytes | heap of a peer |\n\
         | --- | --- | --- | --: | --: | --: | --: | --: | --: | --: |\n",
    );
    for row in rows {
        let beside = rows
            .iter()
            .find(|other| other.load == row.load && other.protocol == "rusty_enet");
        let ratio = |of: fn(&Row) -> f64| {
            beside.map_or(String::new(), |other| format!("{:.2}", of(row) / of(other)))
        };
        let [load, unit] = row.load.titles();
        // To write to a string never fails.
        _ = writeln!(
            text,
            "| {load} | {} | {unit} | {:.0} | {} | {:.1} | {} | {:.2} | {} | {} |",
            row.protocol,
            row.instructions,
            ratio(|row| row.instructions),
            row.nanoseconds,
            ratio(|row| row.nanoseconds),
            row.allocations,
            wire(row),
            row.heap.map_or(String::new(), |bytes| bytes.to_string()),
        );
    }
    text
}

/// The bytes of a unit; for clients that say nothing, those of a client in a second.
fn wire(row: &Row) -> String {
    if row.load.is_idle() {
        format!("{:.1} a second", row.wire * 1e6 / TICK.as_micros() as f64)
    } else {
        format!("{:.1}", row.wire)
    }
}
