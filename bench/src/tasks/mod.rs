//! Hosts that tasks or an event loop serve: how long an echo takes, and the processor time of messages. Both ends share
//! a process.

mod ends;
mod porous_mio;
mod porous_tokio;
mod quinn;

use core::fmt::Write as _;
use core::net::SocketAddr;
use core::time::Duration;
use std::io::{self, Write as _};
use std::{fs, thread};

use crate::args::Tasks;
use crate::sockets::Meter;

/// The length of a message, in bytes.
const LENGTH: usize = 64;

/// The most messages that are under way.
const UNDER_WAY: u64 = 1024;

/// The other end says how many messages it has read each time that it has read this number.
const REPORT_EACH: u64 = UNDER_WAY / 4;

/// A driver, with one way to run it.
struct Subject {
    name: &'static str,
    run: fn(Job) -> io::Result<Done>,
}

/// What the two ends do: echoes one after the other, or messages one way.
#[derive(Clone, Copy)]
enum Job {
    Echoes(usize),
    Messages(u64),
}

/// What the ends did.
enum Done {
    Echoes(Vec<Duration>),
    /// The processor time of all messages.
    Messages(Duration),
}

const SUBJECTS: [Subject; 7] = [
    Subject {
        name: "porous-mio",
        run: porous_mio::run,
    },
    Subject {
        name: "porous-tokio",
        run: |job| porous_tokio::run(job, 1, false),
    },
    Subject {
        name: "porous-tokio, two threads",
        run: |job| porous_tokio::run(job, 2, false),
    },
    Subject {
        name: "porous-tokio, sealed",
        run: |job| porous_tokio::run(job, 1, true),
    },
    Subject {
        name: "porous-tokio, sealed, two threads",
        run: |job| porous_tokio::run(job, 2, true),
    },
    Subject {
        name: "quinn",
        run: |job| quinn::run(job, 1),
    },
    Subject {
        name: "quinn, two threads",
        run: |job| quinn::run(job, 2),
    },
];

/// The figures of one subject, of all rounds.
struct Row {
    name: &'static str,
    /// The median of each round's echoes, in microseconds.
    echoes: Vec<f64>,
    /// Messages a second of one processor's time, of each round.
    rates: Vec<f64>,
}

pub(crate) fn main(args: &Tasks) -> io::Result<()> {
    let takes = |name: &str| name.starts_with(args.peer.as_deref().unwrap_or(""));
    let subjects = SUBJECTS.iter().filter(|subject| takes(subject.name));
    let mut rows: Vec<(Row, &Subject)> = subjects
        .map(|subject| {
            let row = Row {
                name: subject.name,
                echoes: Vec::new(),
                rates: Vec::new(),
            };
            (row, subject)
        })
        .collect();
    // Round by round, so that a change of the machine's other work meets all.
    for _ in 0..args.rounds {
        for (row, subject) in &mut rows {
            if let Done::Echoes(mut times) = (subject.run)(Job::Echoes(args.echoes))? {
                times.sort();
                row.echoes.push(times[times.len() / 2].as_secs_f64() * 1e6);
            }
            if let Done::Messages(time) = (subject.run)(Job::Messages(args.messages))? {
                row.rates.push(args.messages as f64 / time.as_secs_f64());
            }
        }
    }
    let rows: Vec<Row> = rows.into_iter().map(|(row, _)| row).collect();
    let text = table(&rows);
    io::stdout().write_all(text.as_bytes())?;
    match &args.out {
        Some(folder) => {
            fs::create_dir_all(folder)?;
            fs::write(folder.join("tasks.md"), text)
        }
        None => Ok(()),
    }
}

fn table(rows: &[Row]) -> String {
    let processors = thread::available_parallelism().map_or(1, |count| count.get());
    let mut text = format!(
        "# Tasks\n\nWhat the rows and columns mean: see `bench/README.md`, \"Tasks\". The machine has {processors} \
         processors, and may have had other work.\n\n\
         | program | echo, best | echo, median | messages a second of a processor, best | median |\n\
         | --- | --: | --: | --: | --: |\n",
    );
    for row in rows {
        let sorted = |figures: &[f64]| {
            let mut sorted = figures.to_vec();
            sorted.sort_by(f64::total_cmp);
            sorted
        };
        let (echoes, rates) = (sorted(&row.echoes), sorted(&row.rates));
        // To write to a string never fails.
        _ = writeln!(
            text,
            "| {} | {:.1} µs | {:.1} µs | {:.0} | {:.0} |",
            row.name,
            echoes[0],
            echoes[echoes.len() / 2],
            rates[rates.len() - 1],
            rates[rates.len() / 2],
        );
    }
    text
}

/// The address of a socket before it is bound.
fn node_address() -> SocketAddr {
    ([127, 0, 0, 1], 0).into()
}

/// Measures the processor time of some work.
struct Processor(Meter);

impl Processor {
    fn start() -> io::Result<Self> {
        Meter::start(0).map(Self)
    }

    fn done(&self) -> io::Result<Done> {
        Ok(Done::Messages(self.0.part(0)?.processor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Also that no driver loses a message, which would end in an error or not at all.
    #[test]
    fn each_subject_does_both_jobs() {
        for subject in SUBJECTS {
            let Done::Echoes(times) = (subject.run)(Job::Echoes(20)).unwrap() else {
                panic!("{}", subject.name);
            };
            assert_eq!(times.len(), 20);
            let done = (subject.run)(Job::Messages(5000)).unwrap();
            assert!(matches!(done, Done::Messages(_)), "{}", subject.name);
        }
    }

    #[test]
    fn the_best_round_has_the_shortest_echo_and_the_most_messages() {
        let row = Row {
            name: "x",
            echoes: vec![30.0, 10.0, 20.0],
            rates: vec![1.0, 3.0, 2.0],
        };
        let text = table(&[row]);
        assert!(
            text.ends_with("| x | 10.0 µs | 20.0 µs | 3 | 2 |\n"),
            "{text}"
        );
    }
}
