//! Two players who connect to each other: a rendezvous server tells each the addresses of the other, and
//! a token that only the two know; then both connect at the same time (`docs/nat.md`).
//!
//! Run it with `cargo run -p porous-examples --bin punch`: all three are threads of one program then.
//! To play it between machines, run `punch serve 0.0.0.0:4000` on one that all reach, and
//! `punch play HOST:4000` on two others.

mod player;
mod rendezvous;
mod words;

use core::net::{Ipv4Addr, SocketAddr};
use std::env;
use std::io::Write;
use std::net::ToSocketAddrs;
use std::thread;

type Failure = Box<dyn core::error::Error + Send + Sync>;

fn resolve(name: &str) -> Result<SocketAddr, Failure> {
    let mut addresses = name.to_socket_addrs()?;
    Ok(addresses.next().ok_or("no such address")?)
}

/// Plays one player's game, and prints the result.
fn play(server: SocketAddr, bind: Ipv4Addr) -> Result<(), Failure> {
    let greeting = player::play(server, bind)?;
    writeln!(std::io::stdout(), "{greeting}")?;
    Ok(())
}

/// Runs both players and the server on this machine.
fn rehearse() -> Result<(), Failure> {
    let here = Ipv4Addr::LOCALHOST;
    let server = rendezvous::bind((here, 0).into())?;
    let address = server.local_addr()?;
    let serve = thread::spawn(move || rendezvous::serve(server, Some(1)));
    let players = [0, 1].map(|_| thread::spawn(move || play(address, here)));
    for player in players {
        player.join().map_err(|_| "a player has panicked")??;
    }
    serve.join().map_err(|_| "the server has panicked")?
}

fn main() -> Result<(), Failure> {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        [] => rehearse(),
        ["serve", address] => rendezvous::serve(rendezvous::bind(resolve(address)?)?, None),
        ["play", server] => play(resolve(server)?, Ipv4Addr::UNSPECIFIED),
        _ => Err("punch | punch serve ADDRESS | punch play SERVER".into()),
    }
}
