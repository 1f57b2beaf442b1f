//! Compares one reliable transfer over the loopback interface with batches and without, in turns.
//! `cargo run --release -p porous-udp --example batches`
#![expect(clippy::unwrap_used, reason = "a failed step ends the measurement")]

use core::net::SocketAddr;
use core::time::Duration;
use std::io::{self, Write as _};
use std::net::UdpSocket;

use porous_udp::{ChannelId, Config, Endpoint, Event, Listen, Mode, PeerId, SendError, bind};

/// Bytes of one packet.
const PACKET: usize = 60_000;
/// Packets of one transfer.
const PACKETS: usize = 1000;
const ROUNDS: usize = 5;

type Open = fn(UdpSocket, Config) -> io::Result<Endpoint<UdpSocket>>;

fn step(host: &mut Endpoint<UdpSocket>) {
    host.receive_datagrams().unwrap();
    host.transmit().unwrap();
}

fn connected(host: &mut Endpoint<UdpSocket>) -> Option<PeerId> {
    while let Some(event) = host.poll_event() {
        if let Event::Connected { peer, .. } = event {
            return Some(peer);
        }
    }
    None
}

/// The time that the packets take to the other end.
fn transfer(open: Open) -> Duration {
    let local: SocketAddr = ([127, 0, 0, 1], 0).into();
    let mut server = open(bind(local).unwrap(), Config::new()).unwrap();
    server.listen(Listen::Open).unwrap();
    let mut client = open(bind(local).unwrap(), Config::client()).unwrap();
    let to_server = client.connect(server.local_addr().unwrap()).unwrap();
    let (mut to_client, mut is_connected) = (None, false);
    while to_client.is_none() || !is_connected {
        step(&mut client);
        step(&mut server);
        to_client = to_client.or_else(|| connected(&mut server));
        is_connected |= connected(&mut client).is_some();
    }
    let to_client = to_client.unwrap();
    let payload = bytes::Bytes::from(vec![7; PACKET]);
    let (mut sent, mut received) = (0, 0);
    let started = client.now();
    while received < PACKETS {
        while sent < PACKETS {
            let packet = payload.clone();
            match client.send(to_server, ChannelId(0), packet, Mode::Reliable) {
                Ok(()) => sent += 1,
                Err(SendError::Full) => break,
                Err(error) => panic!("{error}"),
            }
        }
        step(&mut client);
        step(&mut server);
        while client.poll_event().is_some() {}
        while server.poll_event().is_some() {}
        while server.receive(to_client).is_some() {
            received += 1;
        }
    }
    client.now().saturating_duration_since(started)
}

fn main() -> io::Result<()> {
    let mut ratios = Vec::new();
    let mut out = io::stdout().lock();
    for round in 1..=ROUNDS {
        let [batched, plain] = [Endpoint::new as Open, Endpoint::plain].map(transfer);
        let ratio = plain.as_micros() * 100 / batched.as_micros().max(1);
        writeln!(
            out,
            "round {round}: with batches {batched:?}, without {plain:?}"
        )?;
        ratios.push(ratio);
    }
    ratios.sort_unstable();
    let median = ratios[ROUNDS / 2];
    writeln!(
        out,
        "batches are {}.{:02} times as fast (median)",
        median / 100,
        median % 100
    )
}
