//! The server of `docs/first.md`, which explains it.
#![expect(
    clippy::print_stdout,
    clippy::std_instead_of_core,
    clippy::wildcard_enum_match_arm,
    reason = "a first program, as it stands on the page"
)]

use std::time::Duration;

use porous_std::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1);
    let address = address.as_deref().unwrap_or("[::]:7777");
    let mut host = UdpHost::bind(address, Config::new())?;
    host.listen(Listen::Open)?;
    println!("listening at {}", host.local_addr()?);
    loop {
        host.wait(Duration::from_secs(1))?;
        while let Some(event) = host.poll_event() {
            match event {
                Event::Connected { address, .. } => println!("{address} has come"),
                Event::Readable { peer } => {
                    while let Some(packet) = host.receive(peer) {
                        println!("heard {:?}", packet.payload);
                        // A client that has left meanwhile gets no answer.
                        let _ = host.send(peer, packet.channel, packet.payload, packet.mode);
                    }
                }
                Event::Disconnected { reason, .. } => println!("one has left: {reason}"),
                _ => {}
            }
        }
    }
}
