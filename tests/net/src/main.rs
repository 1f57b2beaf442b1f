//! One host with a socket of its own, for the tests of this crate, which run several such programs in
//! network namespaces. The program prints a line for each event, and reads commands. It ends when its
//! input ends, so that no process is left of a test that was killed.
//!
//! `porous-net BIND [OPTION]...`; the options are those of [`Options`], the only command is
//! `connect ADDRESS...`.

extern crate alloc;

mod actor;
mod flood;
mod options;
mod talk;

use core::error::Error;
use std::io::{self, BufRead, Write};
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::thread;

use crate::actor::Actor;
use crate::flood::Flood;
use crate::options::Options;

/// The lines of the input, which a thread reads.
fn commands() -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}

fn run() -> Result<(), Box<dyn Error>> {
    let options = Options::parse(std::env::args().skip(1))?;
    let commands = commands();
    if let Some(to) = options.flood {
        let mut flood = Flood::start(&options, to)?;
        while commands.try_recv() == Err(TryRecvError::Empty) {
            flood.turn()?;
        }
        return Ok(());
    }
    let mut actor = Actor::start(&options)?;
    loop {
        match commands.try_recv() {
            Ok(command) => actor.command(&command)?,
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => return Ok(()),
        }
        actor.turn()?;
    }
}

fn main() {
    if let Err(error) = run() {
        // The test reads this line, and shows it as the reason of its failure.
        let _ = writeln!(io::stdout(), "failed {error}");
        std::process::exit(1);
    }
}
