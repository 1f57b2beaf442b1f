//! A chat over one socket: what one says, all hear. The server and three guests run here, each in tasks of its own.
//! `cargo run -p porous-tokio --example chat`
#![expect(clippy::print_stdout, reason = "an example")]

use core::error::Error;
use core::net::SocketAddr;
use core::time::Duration;

use porous_tokio::{Client, Connection, Incoming, Server, prelude::*};
use tokio::sync::broadcast::{Receiver, Sender, channel};

const CHAT: ChannelId = ChannelId(0);

/// Lets guests in that say their names, until the server is dropped.
async fn serve(server: &Server, said: Sender<Bytes>) {
    while let Ok(incoming) = server.incoming().await {
        // A task for each, so that one that is slow holds up no other.
        tokio::spawn(welcome(incoming, said.clone()));
    }
}

async fn welcome(incoming: Incoming, said: Sender<Bytes>) {
    let name = String::from_utf8(incoming.greeting()).unwrap_or_default();
    if name.is_empty() {
        // It may have given up already.
        let _heard = incoming.refuse(b"say your name");
        return;
    }
    if let Ok(connection) = incoming.accept().await {
        let hears = said.subscribe();
        relay(&connection, &name, &said, hears).await;
    }
}

/// Passes on what this guest says, and what others say to it, until it leaves.
async fn relay(
    connection: &Connection,
    name: &str,
    said: &Sender<Bytes>,
    mut hears: Receiver<Bytes>,
) {
    loop {
        // Both futures are cancel-safe: the one that is dropped has taken nothing.
        tokio::select! {
            packet = connection.recv() => {
                let Ok(packet) = packet else { return };
                let line = format!("{name}: {}", String::from_utf8_lossy(&packet.payload));
                // Nobody has to listen.
                let _listeners = said.send(line.into());
            }
            line = hears.recv() => {
                let Ok(line) = line else { return };
                if connection.send_when_room(CHAT, line, Mode::Reliable).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// Says one line, and prints what it hears until the server says goodbye.
async fn visit(to: SocketAddr, name: &str) -> Result<usize, Box<dyn Error + Send + Sync>> {
    let client = Client::bind("127.0.0.1:0", Config::client()).await?;
    let connection = client.connect_with(&[to], name.as_bytes()).await?;
    connection.send(CHAT, "good evening", Mode::Reliable)?;
    let mut heard = 0;
    while let Ok(packet) = connection.recv().await {
        println!("{name} hears {}", String::from_utf8_lossy(&packet.payload));
        heard += 1;
    }
    Ok(heard)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let asking = Server::builder(Config::new()).listen(Listen::Ask);
    let server = asking.bind("127.0.0.1:0").await?;
    let to = server.local_addr()?;
    let (said, _) = channel(64);
    let guests = ["Ada", "Grace", "Katherine"].map(|name| tokio::spawn(visit(to, name)));
    // A real server would wait for a signal to stop.
    tokio::select! {
        () = serve(&server, said) => {}
        () = tokio::time::sleep(Duration::from_millis(500)) => {}
    }
    server.drain(0, Duration::from_secs(5)).await;
    for guest in guests {
        assert!(guest.await?? > 0, "each hears its own line at least");
    }
    Ok(())
}
