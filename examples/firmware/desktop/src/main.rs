//! The client of the board: starts the board in QEMU, connects over a path that loses, copies and
//! reorders datagrams both ways, and exits with 0 if each side received the other's packets.
//!
//! usage: desktop plain|sealed FIRMWARE [SEED]

mod board;
mod path;
mod seal;
mod session;

use core::error::Error;
use std::env;
use std::io::{self, Write};
use std::process::ExitCode;

use crate::board::Board;
use crate::path::Path;
use crate::session::Session;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let is_sealed = match arguments.first().map(String::as_str) {
        Some("plain") => Some(false),
        Some("sealed") => Some(true),
        _ => None,
    };
    let seed = arguments.get(2).map_or(Ok(1), |seed| seed.parse());
    let (Some(is_sealed), Some(firmware), Ok(seed)) = (is_sealed, arguments.get(1), seed) else {
        let _ = writeln!(io::stderr(), "usage: desktop plain|sealed FIRMWARE [SEED]");
        return ExitCode::from(2);
    };
    match run(firmware, seed, is_sealed) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "desktop: seed {seed}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(firmware: &str, seed: u64, is_sealed: bool) -> Result<(), Box<dyn Error>> {
    let board = Board::start(firmware, seed)?;
    let mut path = Path::new(board.address(), seed)?;
    let mut session = if is_sealed {
        Session::sealed(path.near()?)?
    } else {
        Session::plain(path.near()?)?
    };
    while !session.turn()? {
        path.turn()?;
    }
    // The board may have to be told again that the client has left, and then ends by itself.
    board.wait(|| {
        session.turn()?;
        Ok(path.turn()?)
    })?;
    let mut out = io::stdout();
    writeln!(out, "desktop: {}", session.tally())?;
    writeln!(out, "desktop: {}", path.tally())?;
    path.was_bad()?;
    Ok(())
}
