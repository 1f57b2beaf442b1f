//! The client of `docs/first.md`, which explains it.
#![expect(
    clippy::print_stdout,
    clippy::std_instead_of_core,
    clippy::wildcard_enum_match_arm,
    reason = "a first program, as it stands on the page"
)]

use std::time::Duration;

use porous_std::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = std::env::args().nth(1);
    let server = server.as_deref().unwrap_or("127.0.0.1:7777");
    let mut host = UdpHost::bind("[::]:0", Config::client())?;
    host.connect(server.parse()?)?;
    loop {
        host.wait(Duration::from_secs(1))?;
        while let Some(event) = host.poll_event() {
            match event {
                Event::Connected { peer, .. } => {
                    println!("connected");
                    host.send(peer, ChannelId(0), "hello", Mode::Reliable)?;
                }
                Event::Readable { peer } => {
                    while let Some(packet) = host.receive(peer) {
                        println!("the server said {:?}", packet.payload);
                    }
                    host.disconnect(peer, Disconnect::Now { reason: 1 })?;
                }
                Event::PortClosed { .. } => println!("no server there yet"),
                Event::Disconnected { reason, .. } => {
                    println!("the end: {reason}");
                    return Ok(());
                }
                _ => {}
            }
        }
    }
}
