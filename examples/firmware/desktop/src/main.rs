//! The client of the board: starts the board in QEMU, connects over a path that loses, copies and
//! reorders datagrams both ways, and exits with 0 if each side received the other's packets.
//!
//! usage: desktop FIRMWARE [SEED]

mod board;
mod path;
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
    let seed = arguments.get(1).map_or(Ok(1), |seed| seed.parse());
    let (Some(firmware), Ok(seed)) = (arguments.first(), seed) else {
        let _ = writeln!(io::stderr(), "usage: desktop FIRMWARE [SEED]");
        return ExitCode::from(2);
    };
    match run(firmware, seed) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "desktop: seed {seed}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(firmware: &str, seed: u64) -> Result<(), Box<dyn Error>> {
    let board = Board::start(firmware, seed)?;
    let mut path = Path::new(board.address(), seed)?;
    let mut session = Session::new(path.near()?)?;
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
