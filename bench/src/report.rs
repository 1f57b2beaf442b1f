//! The tables, as Markdown and as JSON.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use crate::workload::{Figures, Row, Workload};

/// One table for each set of conditions.
pub(crate) fn markdown(rows: &[Row]) -> String {
    let mut text = String::from("# Results\n\nWhat the columns mean: see `bench/README.md`.\n");
    let mut rest = rows;
    while let Some(first) = rest.first() {
        let len = rest.iter().take_while(|row| same(row, first)).count();
        let (table, others) = rest.split_at(len);
        text.push_str(&heading(first));
        for row in table {
            text.push_str(&line(row));
        }
        rest = others;
    }
    text
}

fn same(row: &Row, other: &Row) -> bool {
    let conditions = |row: &Row| (row.workload, row.loss_percent, row.step_ms);
    conditions(row) == conditions(other)
}

fn heading(row: &Row) -> String {
    let (loss, step) = (row.loss_percent, row.step_ms);
    let title = format!(
        "\n## {:?}: loss {loss} %, a step each {step:.1} ms\n\n",
        row.workload
    );
    let columns: &[&str] = match row.workload {
        Workload::A => &[
            "wire kB",
            "IP kB",
            "datagrams",
            "p50 ms",
            "p99 ms",
            "max ms",
            "states %",
            "missing",
            "lost",
        ],
        Workload::B => &["goodput", "wire/payload", "queue ms", "missing", "lost"],
        Workload::C => &[
            "wire kB",
            "IP kB",
            "datagrams",
            "p50 ms",
            "p99 ms",
            "max ms",
            "missing",
            "lost",
        ],
    };
    let rule = " --: |".repeat(columns.len());
    format!("{title}| peer | {} |\n| --- |{rule}\n", columns.join(" | "))
}

fn line(row: &Row) -> String {
    let mut line = format!("| {} |", row.peer);
    // To write to a string never fails.
    let mut cell = |text: String| _ = write!(line, " {text} |");
    match &row.seen {
        Figures::Messages {
            latency_ms,
            states_percent,
        } => {
            for bytes in [row.wire_bytes, row.ip_bytes] {
                cell(format!("{}", (bytes + 500) / 1000));
            }
            cell(row.datagrams.to_string());
            for ms in [latency_ms.p50, latency_ms.p99, latency_ms.max] {
                cell(format!("{ms:.1}"));
            }
            if let Some(percent) = states_percent {
                cell(format!("{percent:.1}"));
            }
        }
        Figures::Bulk {
            goodput,
            wire_per_payload,
            mean_queue_ms,
        } => {
            cell(format!("{goodput:.3}"));
            cell(format!("{wire_per_payload:.3}"));
            cell(format!("{mean_queue_ms:.1}"));
        }
    }
    cell(row.missing.to_string());
    cell(row.lost_connections.to_string());
    line + "\n"
}

/// Writes `results.md` and `results.json`.
pub(crate) fn write(rows: &[Row], folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("results.md"), markdown(rows))?;
    let json = serde_json::to_string_pretty(rows)?;
    std::fs::write(folder.join("results.json"), json + "\n")
}
