//! Plays the arena on real sockets of this machine: a server and its bots, each with a host of its own, over a network
//! as bad as you like.
//!
//! `cargo run --release -p porous-arena -- --loss 5 --rtt 120`

mod picture;
mod report;
mod session;

use core::error::Error;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::io::{IsTerminal, Write, stdout};
use std::process::ExitCode;

use clap::Parser;
use porous_std::Instant;
use porous_std::sim::{LinkConfig, Seed};

use crate::picture::Screen;
use crate::report::Report;
use crate::session::Session;

/// How long to play where nobody can press a key.
const HEADLESS: u32 = 10;

/// Between two pictures, and between two lines.
const PICTURE: Duration = Duration::from_millis(50);
const LINE: Duration = Duration::from_secs(1);

/// A small shooter of bots, with a server that decides and clients that show what it says.
#[derive(Debug, Parser)]
struct Args {
    /// Datagrams that get lost each way, in percent, 0 to 50
    #[arg(long, default_value = "0", value_name = "PERCENT", value_parser = percent)]
    loss: f64,
    /// The round trip, in milliseconds, 0 to 2000
    #[arg(long, default_value_t = 0, value_name = "MS", value_parser = clap::value_parser!(u32).range(0..=2000))]
    rtt: u32,
    /// The number of bots, 1 to 64
    #[arg(long, default_value_t = 32, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=64))]
    bots: u8,
    /// How long to play, 1 to 3600 [default: until `q` is pressed; 10 where there is no terminal]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=3600))]
    seconds: Option<u32>,
    /// The seed of the world, of the bots and of the network
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Writes lines instead of pictures
    #[arg(long)]
    plain: bool,
}

fn percent(text: &str) -> Result<f64, String> {
    let percent = text.parse().unwrap_or(f64::NAN);
    match (0.0..=50.0).contains(&percent) {
        true => Ok(percent),
        false => Err("a number from 0 to 50 is expected".into()),
    }
}

impl Args {
    /// The network, one way.
    fn conditions(&self) -> LinkConfig {
        let rtt = Duration::from_millis(self.rtt.into());
        LinkConfig::new().loss(self.loss).delay(rtt / 2)
    }
}

/// True once the user wants to stop.
static STOP: AtomicBool = AtomicBool::new(false);

/// Plays, and shows the game meanwhile.
fn play(args: &Args, session: &mut Session, screen: &mut Option<Screen>) -> std::io::Result<()> {
    let seconds = match screen {
        Some(_) => args.seconds,
        None => args.seconds.or(Some(HEADLESS)),
    };
    let begin = session.now();
    let end = seconds.map(|seconds| begin + Duration::from_secs(seconds.into()));
    let is_over = |now: Instant| end.is_some_and(|end| now >= end);
    let (mut shown_at, every) = match screen {
        Some(_) => (begin, PICTURE),
        None => (begin + LINE, LINE),
    };
    while !is_over(session.now()) && !STOP.load(Ordering::Relaxed) {
        session.turn()?;
        if session.now() < shown_at {
            continue;
        }
        shown_at = shown_at + every;
        if let Some(screen) = screen {
            if screen.asks_to_stop() || !screen.draw(session) {
                return Ok(());
            }
        } else {
            // Nobody may read the lines any more: the game goes on.
            drop(writeln!(stdout(), "{}", session.line(begin)));
        }
    }
    Ok(())
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let args = Args::parse();
    ctrlc::set_handler(|| STOP.store(true, Ordering::Relaxed))?;
    let mut session = Session::start(Seed::new(args.seed), args.bots.into(), args.conditions())?;
    session.connect()?;
    let wants_pictures = !args.plain && stdout().is_terminal();
    let mut screen = wants_pictures.then(Screen::take).flatten();
    let begin = session.now();
    play(&args, &mut session, &mut screen)?;
    // The terminal shows lines again.
    drop(screen);
    let mut report = Report::new(&session, begin);
    session.end()?;
    report.count_events(&session);
    write!(stdout(), "{report}")?;
    Ok(match report.is_whole() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (flag, value, is_fine) in [
            ("--loss", "5", true),
            ("--loss", "2.5", true),
            ("--loss", "51", false),
            ("--loss", "NaN", false),
            ("--rtt", "120", true),
            ("--rtt", "-1", false),
            ("--bots", "64", true),
            ("--bots", "0", false),
            ("--seconds", "0", false),
        ] {
            let parsed = Args::try_parse_from(["arena", flag, value]);
            assert_eq!(parsed.is_ok(), is_fine, "{flag} {value}");
        }
    }
}
