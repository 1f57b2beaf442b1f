//! The processor time of whole programs over loopback sockets: two processes, as users run them.

mod c;
mod load;
mod meter;
mod node;
mod play;
mod porous;
mod program;
mod report;
mod rusty_enet;

use core::time::Duration;
use std::io::{self, Write as _};
use std::{fs, thread};

pub(crate) use self::load::Load;
pub(crate) use self::meter::Meter;
use self::program::Program;
use self::report::{Row, table};
use crate::args::Sockets;

pub(crate) fn main(args: &Sockets) -> io::Result<()> {
    let takes = |name: &str| name.starts_with(args.peer.as_deref().unwrap_or(""));
    let mut programs = vec![Program::Porous, Program::RustyEnet];
    programs.retain(|program| takes(program.name()));
    if args.serve || args.drive.is_some() {
        let (Some(load), [program]) = (args.load, &programs[..]) else {
            return Err(io::Error::other("one load and one program at a time"));
        };
        let part = program.play(load, Duration::from_millis(args.milliseconds), args.drive)?;
        return writeln!(io::stdout(), "{part}");
    }
    let mut head = machine();
    for library in c::LIBRARIES
        .into_iter()
        .filter(|library| takes(library.name))
    {
        match c::Program::compile(library) {
            Ok(program) => {
                head += &format!(" {} is version {}.", library.name, program.version);
                programs.push(Program::C(program));
            }
            Err(error) => head += &format!(" Without rows of {}: {error}.", library.name),
        }
    }
    let text = table(&measure(args, &programs)?, &head);
    io::stdout().write_all(text.as_bytes())?;
    match &args.out {
        Some(folder) => {
            fs::create_dir_all(folder)?;
            fs::write(folder.join("sockets.md"), text)
        }
        None => Ok(()),
    }
}

/// Measures all loads and programs, round by round, so that a change of the machine's other work meets all
/// programs.
fn measure(args: &Sockets, programs: &[Program]) -> io::Result<Vec<Row>> {
    let is_wanted = |load: &Load| args.load.is_none_or(|only| only == *load);
    let mut rows = Vec::new();
    for load in Load::ALL.into_iter().filter(is_wanted) {
        rows.extend(programs.iter().map(|program| Row {
            load,
            program: program.name(),
            rounds: Vec::new(),
        }));
    }
    for _ in 0..args.rounds {
        for (row, program) in rows.iter_mut().zip(programs.iter().cycle()) {
            row.rounds
                .push(program.measure(row.load, args.milliseconds)?);
        }
    }
    Ok(rows)
}

/// What the machine is, and whether it has other work.
fn machine() -> String {
    let processors = thread::available_parallelism().map_or(1, |count| count.get());
    let load = fs::read_to_string("/proc/loadavg")
        .ok()
        .and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    let load = load.map_or(String::new(), |load| {
        format!(" and had a load of {load:.1} in the minute before")
    });
    format!("The machine has {processors} processors{load}: other work adds to all times.")
}
