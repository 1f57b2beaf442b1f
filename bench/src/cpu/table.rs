//! The tables: processor time, and what sealing costs.

use core::fmt::Write as _;

use porous_loads::load::{self, Load};
use porous_loads::node::Protocol;
use porous_loads::task::TICK;

use super::protocols::{PROTOCOLS, SEALED};
use super::row::Row;
use crate::args::Cpu;

/// What a table is made of.
pub(super) struct Table {
    /// The flag that asks for it.
    pub(super) flag: Option<&'static str>,
    pub(super) loads: &'static [Load],
    pub(super) protocols: &'static [Protocol],
    /// Runs of which the fastest counts as the time of a row.
    pub(super) runs: u32,
    pub(super) file: &'static str,
    pub(super) text: fn(&[Row]) -> String,
}

static PROCESSOR: Table = Table {
    flag: None,
    loads: &Load::ALL,
    protocols: &PROTOCOLS,
    runs: 3,
    file: "cpu.md",
    text: processor,
};

static SEALING: Table = Table {
    flag: Some("--sealed"),
    loads: &Load::SEALED,
    protocols: &SEALED,
    // Ratios to plain are what it is for.
    runs: 10,
    file: "sealed.md",
    text: sealing,
};

static CROWD: Table = Table {
    flag: Some("--crowd"),
    loads: &Load::CROWD,
    protocols: PROTOCOLS.split_at(1).0,
    runs: 3,
    file: "crowd.md",
    text: crowd,
};

impl Table {
    pub(super) const fn of(args: &Cpu) -> &'static Self {
        if args.sealed {
            &SEALING
        } else if args.crowd {
            &CROWD
        } else {
            &PROCESSOR
        }
    }
}

fn processor(rows: &[Row]) -> String {
    let mut text = String::from(
        "# Processor time\n\nWhat the rows and columns mean: see `bench/README.md`, \"Processor time\".\n\n\
         | load | protocol | for each | instructions | to rusty_enet | ns | to rusty_enet | allocations | bytes | heap of a peer |\n\
         | --- | --- | --- | --: | --: | --: | --: | --: | --: | --: |\n",
    );
    for row in rows {
        let [instructions, nanoseconds] = ratios(row, rows, "rusty_enet");
        let [load, unit] = row.load.titles();
        // To write to a string never fails.
        _ = writeln!(
            text,
            "| {load} | {} | {unit} | {:.0} | {instructions} | {:.1} | {nanoseconds} | {:.2} | {} | {} |",
            row.protocol,
            row.instructions,
            row.nanoseconds,
            row.allocations,
            wire(row),
            heap(row),
        );
    }
    text
}

fn sealing(rows: &[Row]) -> String {
    let mut text = String::from(
        "# What sealing costs\n\nWhat the rows and columns mean: see `bench/README.md`, \"What sealing costs\".\n\n\
         | load | protocol | for each | instructions | to plain | ns | to plain | allocations | datagrams | bytes | heap of a peer |\n\
         | --- | --- | --- | --: | --: | --: | --: | --: | --: | --: | --: |\n",
    );
    for row in rows {
        let [instructions, nanoseconds] = ratios(row, rows, "porous-modern");
        let [load, unit] = row.load.titles();
        // To write to a string never fails.
        _ = writeln!(
            text,
            "| {load} | {} | {unit} | {:.0} | {instructions} | {:.0} | {nanoseconds} | {:.2} | {:.2} | {:.1} | {} |",
            row.protocol,
            row.instructions,
            row.nanoseconds,
            row.allocations,
            row.datagrams,
            row.wire,
            heap(row),
        );
    }
    text
}

fn crowd(rows: &[Row]) -> String {
    let mut text = String::from(
        "# Ten thousand clients\n\nWhat the rows and columns mean: see `bench/README.md`, \"Ten thousand clients\".\n\n\
         | active clients | instructions a tick | microseconds a tick | allocations a tick | heap of a peer |\n\
         | --: | --: | --: | --: | --: |\n",
    );
    let clients = load::CROWD as f64;
    for row in rows {
        let [active, _] = row.load.titles();
        // To write to a string never fails.
        _ = writeln!(
            text,
            "| {active} | {:.0} | {:.0} | {:.1} | {} |",
            row.instructions * clients,
            row.nanoseconds * clients / 1000.0,
            row.allocations * clients,
            heap(row),
        );
    }
    text
}

/// The instructions and the time of a row, to those of another protocol under the same load.
fn ratios(row: &Row, rows: &[Row], protocol: &str) -> [String; 2] {
    let beside = rows
        .iter()
        .find(|other| other.load == row.load && other.protocol == protocol);
    let all: [fn(&Row) -> f64; 2] = [|row| row.instructions, |row| row.nanoseconds];
    all.map(|of| beside.map_or(String::new(), |other| format!("{:.2}", of(row) / of(other))))
}

fn heap(row: &Row) -> String {
    row.heap.map_or(String::new(), |bytes| bytes.to_string())
}

/// The bytes of a unit; for clients that say nothing, those of a client in a second.
fn wire(row: &Row) -> String {
    if row.load.is_idle() {
        format!("{:.1} a second", row.wire * 1e6 / TICK.as_micros() as f64)
    } else {
        format!("{:.1}", row.wire)
    }
}
