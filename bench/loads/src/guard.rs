//! A guard against porous becoming slower: instructions of some loads beside those that are written down.

use std::collections::BTreeMap;
use std::env::consts::ARCH;
use std::env::current_exe;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::callgrind::instructions_of_unit;
use crate::load::Load;
use crate::node::Protocol;
use crate::porous::{MODERN, PAPER};

const PROTOCOLS: [Protocol; 2] = [MODERN, PAPER];
const LOADS: [Load; 4] = [Load::DUnreliable, Load::DReliable, Load::F200, Load::T];

/// How far a count may exceed the one that is written down, in per cent: what two machines of the same kind
/// differ by is far less.
const MOST: u64 = 3;

/// What counts depend on beside the code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Tools {
    /// The compiler that made this program, and its flags.
    rustc: String,
    valgrind: String,
    /// The C library has the allocator and the copying of bytes.
    libc: String,
    /// The C library copies bytes by the widest instructions that there are.
    processor: String,
}

impl Tools {
    fn here() -> io::Result<Self> {
        Ok(Self {
            rustc: env!("COMPILER").trim().into(),
            valgrind: version("valgrind")?,
            libc: version("ldd")?,
            processor: processor(),
        })
    }

    /// A line for each tool that is another one.
    fn differences(&self, here: &Self) -> Vec<String> {
        let pairs = [
            (&self.rustc, &here.rustc),
            (&self.valgrind, &here.valgrind),
            (&self.libc, &here.libc),
            (&self.processor, &here.processor),
        ];
        let others = pairs.into_iter().filter(|(written, here)| written != here);
        others
            .map(|(written, here)| format!("the counts are of {written}, here is {here}"))
            .collect()
    }
}

/// The first line of what a program says about its version.
fn version(program: &str) -> io::Result<String> {
    let done = Command::new(program).arg("--version").output();
    let done = done.map_err(|error| io::Error::new(error.kind(), format!("{program}: {error}")))?;
    let said = String::from_utf8_lossy(&done.stdout);
    Ok(said.lines().next().unwrap_or_default().trim().into())
}

#[cfg(target_arch = "x86_64")]
fn processor() -> String {
    let has = is_x86_feature_detected!("avx2");
    format!("{ARCH} {} AVX2", if has { "with" } else { "without" })
}

#[cfg(not(target_arch = "x86_64"))]
fn processor() -> String {
    ARCH.into()
}

/// Instructions for each unit, by the name of the load and the protocol.
type Counts = BTreeMap<String, u64>;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Guard {
    tools: Tools,
    instructions: Counts,
}

#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Fine,
    /// Counts of other tools say nothing: what is different.
    OtherTools(Vec<String>),
    /// What takes more instructions than it may.
    Slower(Vec<String>),
}

impl Guard {
    /// Judges the counts of this machine by those that are written down.
    fn judge(&self, here: &Self) -> Verdict {
        let differences = self.tools.differences(&here.tools);
        if !differences.is_empty() {
            return Verdict::OtherTools(differences);
        }
        let slower: Vec<_> = here
            .instructions
            .iter()
            .filter_map(|(name, &count)| match self.instructions.get(name) {
                None => Some(format!("{name}: {count} instructions, none written down")),
                Some(&was) if count * 100 > was * (100 + MOST) => {
                    Some(format!("{name}: {count} instructions, {was} before"))
                }
                Some(_) => None,
            })
            .collect();
        if slower.is_empty() {
            Verdict::Fine
        } else {
            Verdict::Slower(slower)
        }
    }
}

/// Where the counts are written down.
fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../results/cpu-guard.json")
}

/// Counts, and fails if porous became slower since the counts were written down.
///
/// # Errors
///
/// It did, a program or the file is missing, or the file has another form.
pub fn check() -> io::Result<()> {
    let written: Guard = serde_json::from_slice(&fs::read(file())?)?;
    let mut here = Guard {
        tools: Tools::here()?,
        instructions: Counts::new(),
    };
    // Other tools need no count.
    if written.tools == here.tools {
        here.instructions = count(Some(&written.instructions))?;
    }
    match written.judge(&here) {
        Verdict::Fine => Ok(()),
        Verdict::OtherTools(differences) => {
            let why = differences.join("\n");
            writeln!(io::stdout(), "nothing is compared:\n{why}")
        }
        Verdict::Slower(slower) => {
            let what = slower.join("\n");
            writeln!(
                io::stdout(),
                "over {MOST} % above what is written down:\n{what}"
            )?;
            let advice = "if this is meant: porous-guard write";
            Err(io::Error::other(advice))
        }
    }
}

/// Counts, and writes the counts down.
///
/// # Errors
///
/// A program is missing, or the file cannot be written.
pub fn write() -> io::Result<()> {
    let guard = Guard {
        tools: Tools::here()?,
        instructions: count(None)?,
    };
    let text = serde_json::to_string_pretty(&guard)?;
    fs::write(file(), format!("{text}\n"))
}

/// Plays a load once, by its name and that of the protocol, and prints what it came to.
///
/// # Errors
///
/// There is no such load or protocol.
pub fn once(load: &str, protocol: &str) -> io::Result<()> {
    let load = LOADS.into_iter().find(|known| known.titles()[0] == load);
    let protocol = PROTOCOLS.iter().find(|known| known.name == protocol);
    let Some((load, protocol)) = load.zip(protocol) else {
        return Err(io::Error::other("no such load or protocol"));
    };
    let outcome = load.task().run(protocol, None);
    writeln!(io::stdout(), "{}", serde_json::to_string(&outcome)?)
}

fn count(written: Option<&Counts>) -> io::Result<Counts> {
    let own = current_exe()?;
    let mut counts = Counts::new();
    for load in LOADS {
        for protocol in PROTOCOLS {
            let title = load.titles()[0];
            let name = format!("{title}, {}", protocol.name);
            let count = instructions_of_unit(&own, &["once", title, protocol.name])?;
            let count = count.round() as u64;
            let was = written.and_then(|written| written.get(&name));
            let was = was.map_or(String::new(), |was| format!(", {was} before"));
            writeln!(io::stdout(), "{name}: {count} instructions{was}")?;
            counts.insert(name, count);
        }
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(count: u64) -> Guard {
        let tool = || String::from("1.0");
        Guard {
            tools: Tools {
                rustc: tool(),
                valgrind: tool(),
                libc: tool(),
                processor: tool(),
            },
            instructions: [(String::from("a load"), count)].into(),
        }
    }

    #[test]
    fn a_count_may_fall_and_may_rise_by_three_per_cent() {
        for count in [1, 999, 1000, 1030] {
            assert_eq!(guard(1000).judge(&guard(count)), Verdict::Fine);
        }
    }

    #[test]
    fn a_count_that_rises_by_more_is_reported() {
        let slower = vec![String::from("a load: 1031 instructions, 1000 before")];
        assert_eq!(guard(1000).judge(&guard(1031)), Verdict::Slower(slower));
    }

    #[test]
    fn a_load_that_is_not_written_down_is_reported() {
        let mut written = guard(1000);
        written.instructions.clear();
        assert!(matches!(written.judge(&guard(1000)), Verdict::Slower(_)));
    }

    #[test]
    fn counts_of_other_tools_are_not_compared() {
        let others: [fn(&mut Tools) -> &mut String; 4] = [
            |tools| &mut tools.rustc,
            |tools| &mut tools.valgrind,
            |tools| &mut tools.libc,
            |tools| &mut tools.processor,
        ];
        for other in others {
            let mut here = guard(2000);
            *other(&mut here.tools) = "1.1".into();
            let difference = vec![String::from("the counts are of 1.0, here is 1.1")];
            assert_eq!(guard(1000).judge(&here), Verdict::OtherTools(difference));
        }
    }
}
