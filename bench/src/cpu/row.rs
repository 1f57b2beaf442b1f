//! A row of the table, measured by running this program again.

use std::env::{consts, current_exe, var_os};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::ValueEnum as _;
use porous_loads::callgrind;
use porous_loads::load::Load;
use porous_loads::node::Protocol;
use porous_loads::task::Outcome;

use super::table::Table;

/// The executable with an allocator that counts.
const COUNTING: &str = "porous-bench-counting";

/// A load of one protocol. All but `heap` is for each unit.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) load: Load,
    pub(super) protocol: &'static str,
    pub(super) instructions: f64,
    pub(super) nanoseconds: f64,
    pub(super) allocations: f64,
    pub(super) datagrams: f64,
    pub(super) wire: f64,
    /// Bytes of the server's heap for each client, where the load has a server.
    pub(super) heap: Option<i64>,
}

impl Row {
    /// Runs the load a few times as it is, once with an allocator that counts, and once under callgrind.
    pub(super) fn measure(load: Load, protocol: &Protocol, table: &Table) -> io::Result<Self> {
        let own = current_exe()?;
        let counting = counting(&own)?;
        let mut task = task(load).to_vec();
        task.extend(table.flag.map(String::from));
        // The fastest: other work of the machine only adds to the time.
        let mut nanoseconds = u64::MAX;
        for _ in 0..table.runs {
            nanoseconds = nanoseconds.min(outcome(&own, &task, protocol)?.nanoseconds);
        }
        let counts = outcome(&counting, &task, protocol)?;
        let instructions = instructions_of_unit(&task, protocol)?;
        let of_unit = |all: u64| all as f64 / counts.units as f64;
        Ok(Self {
            load,
            protocol: protocol.name,
            instructions,
            nanoseconds: of_unit(nanoseconds),
            allocations: of_unit(counts.allocations),
            datagrams: of_unit(counts.datagrams),
            wire: of_unit(counts.wire),
            heap: counts.heap,
        })
    }
}

/// The executable with an allocator that counts, beside this one. `cargo run` has built this one alone.
fn counting(own: &Path) -> io::Result<PathBuf> {
    let counting = own.with_file_name(format!("{COUNTING}{}", consts::EXE_SUFFIX));
    if counting.exists() {
        return Ok(counting);
    }
    let cargo = var_os("CARGO").unwrap_or("cargo".into());
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let built = Command::new(cargo)
        .args([
            "build",
            "--quiet",
            "--release",
            "--locked",
            "--bin",
            COUNTING,
        ])
        .arg("--manifest-path")
        .arg(manifest)
        .status()?;
    if built.success() && counting.exists() {
        Ok(counting)
    } else {
        let missing = format!("{} is missing: build it by cargo", counting.display());
        Err(io::Error::new(io::ErrorKind::NotFound, missing))
    }
}

/// The part of the command line that names a load.
pub(super) fn task(load: Load) -> [String; 2] {
    let name = load.to_possible_value().expect("a name");
    ["--load".into(), name.get_name().into()]
}

fn outcome(program: &Path, task: &[String], protocol: &Protocol) -> io::Result<Outcome> {
    let done = Command::new(program).args(once(task, protocol)).output()?;
    callgrind::outcome(&done)
}

/// The instructions for each unit, counted by callgrind. The task is a part of the command line.
pub(super) fn instructions_of_unit(task: &[String], protocol: &Protocol) -> io::Result<f64> {
    callgrind::instructions_of_unit(&current_exe()?, &once(task, protocol))
}

/// The command line that runs a task once.
fn once<'a>(task: &'a [String], protocol: &Protocol) -> Vec<&'a str> {
    let task = task.iter().map(String::as_str);
    let protocol = ["--peer", protocol.name];
    ["cpu", "--once"]
        .into_iter()
        .chain(task)
        .chain(protocol)
        .collect()
}
