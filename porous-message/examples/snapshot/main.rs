//! A server sends a world of a thousand moving objects over a bad network, as differences from states that
//! the client is known to have.
//!
//! Run it with `cargo run --release -p porous-message --example snapshot`. The exit status is 0 if
//! both sides saw the same world. `docs/message.md`, "Snapshots", explains how it works.

extern crate alloc;

mod body;
mod client;
mod game;
mod history;
mod packing;
mod part;
mod report;
mod server;
mod witness;
mod world;

#[cfg(test)]
mod tests;

use core::time::Duration;
use std::io::{self, Write, stdout};
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use porous_sim::{LinkConfig, Preset, Seed};

use crate::game::{Game, Settings};

/// A world of a thousand objects, sent as differences.
#[derive(Debug, Parser)]
struct Args {
    /// The same seed gives the same output
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How long to play, in virtual time
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=3600))]
    seconds: u32,
    /// The network between the two
    #[arg(long, default_value = "bad")]
    link: Link,
    /// Snapshots a second while the network is good, at most 60; half of them while it is bad
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=60))]
    rate: u32,
    /// One in this many parts that arrive is thrown away unseen; 0 for none
    #[arg(long, default_value_t = 0)]
    unseen: u64,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Link {
    Bad,
    Lan,
    HomeWifi,
    Lte,
    Transatlantic,
    Satellite,
    Terrible,
}

impl Link {
    /// The links from the client to the server, and back.
    const fn both(self) -> [LinkConfig; 2] {
        match self {
            Self::Bad => [bad(); 2],
            Self::Lan => Preset::Lan.links(),
            Self::HomeWifi => Preset::HomeWifi.links(),
            Self::Lte => Preset::Lte.links(),
            Self::Transatlantic => Preset::Transatlantic.links(),
            Self::Satellite => Preset::Satellite.links(),
            Self::Terrible => Preset::Terrible.links(),
        }
    }
}

/// A lossy wireless network, far away: 80 ms one way, and up to 20 ms more or less.
const fn bad() -> LinkConfig {
    let line = LinkConfig::new().delay(Duration::from_millis(80));
    let line = line.jitter(Duration::from_millis(20)).jitter_reorders(true);
    line.loss(5.0).duplicate(1.0).reorder(1.0)
}

fn main() -> io::Result<ExitCode> {
    let args = Args::parse();
    let mut game = Game::new(Settings {
        seed: Seed::new(args.seed),
        links: args.link.both(),
        rates: [args.rate, args.rate.div_ceil(2)],
        loss: 2000,
        unseen: args.unseen,
    });
    game.play(args.seconds);
    let mut out = stdout().lock();
    let figures = game.figures();
    writeln!(out, "network     {:?}, seed {}", args.link, args.seed)?;
    write!(out, "{figures}")?;
    let is_same = game.settle();
    let witness = &game.witness;
    writeln!(
        out,
        "same world  {} groups compared with what they were on the server at that tick: {} differ, \
         {} parts were unreadable; at the end all objects are {}",
        witness.same + witness.different,
        witness.different,
        witness.malformed,
        if is_same { "the same" } else { "NOT the same" },
    )?;
    Ok(match is_same && witness.is_content() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}
