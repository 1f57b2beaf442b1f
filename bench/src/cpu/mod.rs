//! The processor time of porous beside other protocols: instructions as callgrind counts them, time, and
//! allocations.

mod chart;
mod enet;
mod kcp;
mod protocols;
mod quinn;
mod renet;
mod renetcode;
mod row;
mod sweep;
mod table;

use std::io::{self, Write as _};
use std::path::Path;

use porous_loads::counted::Measure;
use porous_loads::load::Load;
use porous_loads::node::Protocol;
use porous_loads::task::Task;

use self::row::Row;
pub(crate) use self::sweep::Sweep;
use self::table::Table;
use crate::args::Cpu;

pub(crate) fn main(args: &Cpu, measure: Option<Measure>) -> io::Result<()> {
    if args.once {
        for (task, protocol) in tasks(args) {
            let outcome = task.run(protocol, measure);
            writeln!(io::stdout(), "{}", serde_json::to_string(&outcome)?)?;
        }
        return Ok(());
    }
    if args.chart {
        let docs = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
        let folder = args.out.clone().unwrap_or_else(docs);
        return chart::write(&folder.join("performance.svg"));
    }
    let table = Table::of(args);
    let rows: Vec<_> = selected(args)
        .map(|(load, protocol)| Row::measure(load, protocol, table))
        .collect::<io::Result<_>>()?;
    let text = (table.text)(&rows);
    io::stdout().write_all(text.as_bytes())?;
    let is_whole = args.load.is_none() && args.peer.is_none();
    let usual = is_whole.then(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("results"));
    match args.out.clone().or(usual) {
        Some(folder) => {
            std::fs::create_dir_all(&folder)?;
            std::fs::write(folder.join(table.file), text)
        }
        None => Ok(()),
    }
}

/// What is asked for to be run once.
fn tasks(args: &Cpu) -> Vec<(Task, &'static Protocol)> {
    let Some((sweep, at)) = args.sweep.zip(args.at) else {
        let loads = selected(args).map(|(load, protocol)| (load.task(), protocol));
        return loads.collect();
    };
    let protocols = protocols(args).filter(|protocol| sweep.is_possible(at, protocol));
    protocols
        .map(|protocol| (sweep.task(at), protocol))
        .collect()
}

fn protocols(args: &Cpu) -> impl Iterator<Item = &'static Protocol> {
    let begin = args.peer.as_deref().unwrap_or("");
    let all = Table::of(args).protocols.iter();
    all.filter(move |protocol| protocol.name.starts_with(begin))
}

/// The loads and protocols that are asked for, in the order of the table.
fn selected(args: &Cpu) -> impl Iterator<Item = (Load, &'static Protocol)> {
    let all = Table::of(args).loads.iter().copied();
    let loads = all.filter(|load| args.load.is_none_or(|only| only == *load));
    loads.flat_map(move |load| {
        let able = protocols(args).filter(move |protocol| (protocol.carries)(load));
        able.map(move |protocol| (load, protocol))
    })
}
