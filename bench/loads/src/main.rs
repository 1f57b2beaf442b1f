//! Guards porous against becoming slower. See `bench/README.md`, "The guard".
//!
//! usage: `porous-guard check|write`
//!        `check` fails if porous takes 3 % more instructions than `results/cpu-guard.json` says, where the same tools
//!        count; `write` counts, and writes the counts into that file.

use std::env::args;
use std::io;

use porous_loads::guard;

fn main() -> io::Result<()> {
    let arguments: Vec<_> = args().skip(1).collect();
    let words: Vec<_> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["check"] => guard::check(),
        ["write"] => guard::write(),
        // What callgrind counts.
        ["once", load, protocol] => guard::once(load, protocol),
        _ => Err(io::Error::other("usage: porous-guard check|write")),
    }
}
