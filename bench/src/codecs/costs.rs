//! Instructions and time, measured by running this program again: under callgrind, and with divan.

use std::env::current_exe;
use std::io;
use std::process::Command;

use clap::ValueEnum as _;
use porous_loads::callgrind::collected;

use super::subject::{MESSAGES, Operation, SUBJECTS, Subject};

/// Passes over all messages in a short and in a long run. The difference of the two is the cost of the
/// messages alone, without that of starting the program.
const ROUNDS: [u64; 2] = [1, 5];

/// The cost of one operation on one message.
pub(crate) struct Cost {
    pub(crate) subject: &'static Subject,
    pub(crate) operation: Operation,
    pub(crate) instructions: f64,
    /// The time of the fastest pass, for each message.
    pub(crate) nanoseconds: f64,
}

/// The costs of each codec, form and operation.
pub(crate) fn measure() -> io::Result<Vec<Cost>> {
    let times = Command::new(current_exe()?)
        .args(["codecs", "time"])
        .output()?;
    let times = String::from_utf8_lossy(&times.stdout);
    let mut costs = Vec::new();
    for &operation in Operation::value_variants() {
        for subject in &SUBJECTS {
            costs.push(Cost {
                subject,
                operation,
                instructions: instructions(subject, operation)?,
                nanoseconds: nanoseconds(&times, subject, operation)?,
            });
        }
    }
    Ok(costs)
}

fn wrong(what: &str) -> io::Error {
    io::Error::other(format!("not understood: {what}"))
}

fn instructions(subject: &Subject, operation: Operation) -> io::Result<f64> {
    let mut counts = [0; 2];
    for (count, rounds) in counts.iter_mut().zip(ROUNDS) {
        let done = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(current_exe()?)
            .args([
                "codecs",
                "repeat",
                subject.codec,
                subject.form,
                name(operation),
            ])
            .arg(rounds.to_string())
            .output()?;
        let said = String::from_utf8_lossy(&done.stderr);
        *count = collected(&said).ok_or_else(|| wrong(&said))?;
    }
    let passes = ROUNDS[1] - ROUNDS[0];
    Ok((counts[1] - counts[0]) as f64 / (passes as f64 * MESSAGES as f64))
}

pub(crate) fn name(operation: Operation) -> &'static str {
    match operation {
        Operation::Write => "write",
        Operation::Read => "read",
        Operation::Measure => "measure",
    }
}

fn nanoseconds(times: &str, subject: &Subject, operation: Operation) -> io::Result<f64> {
    let pass = fastest(times, &subject.to_string(), name(operation));
    Ok(pass.ok_or_else(|| wrong(times))? / MESSAGES as f64)
}

/// The first time in the line of this subject, below the line of this operation, in what divan prints: the
/// fastest.
fn fastest(times: &str, subject: &str, operation: &str) -> Option<f64> {
    let has = |line: &&str, name: &str| line.split_whitespace().any(|word| word == name);
    let mut lines = times.lines();
    lines.find(|line| has(line, operation))?;
    let line = lines.find(|line| has(line, subject))?;
    let mut words = line.split_whitespace().skip_while(|word| *word != subject);
    let number: f64 = words.nth(1)?.parse().ok()?;
    let unit = match words.next()? {
        "ns" => 1.0,
        "µs" => 1e3,
        "ms" => 1e6,
        _ => return None,
    };
    Some(number * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_of_divan_is_parsed() {
        let times = "codecs  fastest       │ slowest\n\
            ├─ read               │\n\
            │  ├─ a/b  1.5 µs     │ 9 µs\n\
            ╰─ write              │\n\
            \x20  ╰─ a/b  340.2 ns   │ 1 µs\n";
        assert_eq!(fastest(times, "a/b", "read"), Some(1500.0));
        assert_eq!(fastest(times, "a/b", "write"), Some(340.2));
    }
}
