//! The processor time of porous beside other protocols: instructions as callgrind counts them, and time.

mod counted;
mod enet;
mod load;
mod node;
mod porous;

use core::fmt::Write as _;
use std::env::current_exe;
use std::io::{self, Write as _};
use std::process::Command;

use clap::ValueEnum as _;

pub(crate) use self::load::Load;
use self::load::Outcome;
use self::node::{PROTOCOLS, Protocol};
use crate::args::Cpu;
use crate::callgrind::collected;

/// The name by which callgrind knows what it is to count.
const COUNTED: &str = "--toggle-collect=*cpu::counted::counted*";

/// A row of the table.
struct Row {
    load: Load,
    protocol: &'static str,
    /// For each unit.
    instructions: f64,
    nanoseconds: f64,
    wire: f64,
}

pub(crate) fn main(args: &Cpu) -> io::Result<()> {
    let takes = |protocol: &&Protocol| {
        let begin = args.peer.as_deref().unwrap_or("");
        protocol.name.starts_with(begin)
    };
    let loads = || {
        Load::ALL
            .into_iter()
            .filter(|load| args.load.is_none_or(|only| only == *load))
    };
    if args.once {
        for (load, protocol) in
            loads().flat_map(|load| PROTOCOLS.iter().filter(takes).map(move |it| (load, it)))
        {
            let Outcome { units, time, wire } = load.run(protocol);
            writeln!(io::stdout(), "{units} {} {wire}", time.as_nanos())?;
        }
        return Ok(());
    }
    let mut rows = Vec::new();
    for load in loads() {
        for protocol in PROTOCOLS.iter().filter(takes) {
            rows.push(measure(load, protocol)?);
        }
    }
    let text = table(&rows);
    io::stdout().write_all(text.as_bytes())?;
    let is_whole = args.load.is_none() && args.peer.is_none();
    let usual = is_whole.then(|| std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("results"));
    match args.out.clone().or(usual) {
        Some(folder) => {
            std::fs::create_dir_all(&folder)?;
            std::fs::write(folder.join("cpu.md"), text)
        }
        None => Ok(()),
    }
}

/// Runs this program for one row: once as it is, and once under callgrind.
fn measure(load: Load, protocol: &Protocol) -> io::Result<Row> {
    let wrong = |said: &str| io::Error::other(format!("not understood: {said}"));
    let name = load.to_possible_value().expect("a name");
    let own = [
        "cpu",
        "--once",
        "--load",
        name.get_name(),
        "--peer",
        protocol.name,
    ];
    // The fastest of three: other work of the machine only adds to the time.
    let mut best: Option<[u64; 3]> = None;
    for _ in 0..3 {
        let done = Command::new(current_exe()?).args(own).output()?;
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        let mut words = said.split_whitespace().map_while(|word| word.parse().ok());
        let (Some(units), Some(time), Some(wire)) = (words.next(), words.next(), words.next())
        else {
            return Err(wrong(&said));
        };
        if best.is_none_or(|[_, least, _]| time < least) {
            best = Some([units, time, wire]);
        }
    }
    let done = Command::new("valgrind")
        .args([
            "--tool=callgrind",
            "--callgrind-out-file=/dev/null",
            "--collect-atstart=no",
            COUNTED,
        ])
        .arg(current_exe()?)
        .args(own)
        .output()?;
    let said = String::from_utf8_lossy(&done.stderr);
    let instructions = collected(&said).ok_or_else(|| wrong(&said))?;
    let [units, time, wire] = best.unwrap_or([1; 3]);
    Ok(Row {
        load,
        protocol: protocol.name,
        instructions: instructions as f64 / units as f64,
        nanoseconds: time as f64 / units as f64,
        wire: wire as f64 / units as f64,
    })
}

fn table(rows: &[Row]) -> String {
    let mut text = String::from(
        "# Processor time\n\nWhat the rows and columns mean: see `bench/README.md`, \"Processor time\".\n\n\
         | load | protocol | for each | instructions | to rusty_enet | ns | to rusty_enet | bytes |\n\
         | --- | --- | --- | --: | --: | --: | --: | --: |\n",
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
            "| {load} | {} | {unit} | {:.0} | {} | {:.1} | {} | {:.1} |",
            row.protocol,
            row.instructions,
            ratio(|row| row.instructions),
            row.nanoseconds,
            ratio(|row| row.nanoseconds),
            row.wire,
        );
    }
    text
}
