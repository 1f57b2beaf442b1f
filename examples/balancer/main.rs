//! A balancer in front of several servers: handshakes go to a server by a hash of the player's address,
//! all else by the id of the server that stands in each connection id, as the QUIC-LB draft has it. So a player
//! stays with its server when its address or port changes. It shows `porous_proto::route`, and is no
//! product: it has one thread, and no limits for those that flood it.
//!
//! `cargo run -p porous-examples --bin balancer` rehearses it with servers and players in one program.
//! `balancer ADDRESS SERVER...` balances between servers whose ids are 1, 2 and so on (`docs/scale.md`).

extern crate alloc;

mod balancer;
mod rehearsal;

use core::net::SocketAddr;
use std::env;
use std::io::Write;

use crate::balancer::Balancer;

type Failure = Box<dyn core::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let addresses: Result<Vec<SocketAddr>, _> = env::args().skip(1).map(|it| it.parse()).collect();
    match addresses?.as_slice() {
        [] => {
            let said = rehearsal::rehearse()?;
            writeln!(std::io::stdout(), "{said}")?;
            Ok(())
        }
        [at, servers @ ..] if !servers.is_empty() => {
            Balancer::bind(*at, servers.to_vec())?.run(|| true)?;
            Ok(())
        }
        _ => Err("balancer | balancer ADDRESS SERVER...".into()),
    }
}
