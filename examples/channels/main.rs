//! POROUS without sockets: threads that send datagrams through channels, with numbers for addresses. Each
//! thread sleeps until a deadline of its host is due or a datagram comes.
//!
//! Run it with `cargo run -p porous-examples --bin channels`.

mod clock;

use core::time::Duration;
use std::io::Write;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use getrandom::SysRng;
use porous_proto::{
    ChannelId, Config, Disconnect, DisconnectReason, Ecn, Event, Host, Listen, Mode,
};
use rand_core::UnwrapErr;

use crate::clock::Clock;

const SERVER: u32 = 0;
const CLIENTS: u32 = 4;
const PACKETS: usize = 50;

/// The sender's address, and the bytes.
type Datagram = (u32, Vec<u8>);

/// One thread's end of the network.
struct Node {
    address: u32,
    host: Host<UnwrapErr<SysRng>, u32>,
    inbox: Receiver<Datagram>,
    /// The inboxes of all threads, by address.
    network: Vec<Sender<Datagram>>,
    clock: Clock,
}

impl Node {
    /// Sends all datagrams of the host.
    fn send(&mut self) {
        let mut buffer = vec![0; self.host.max_datagram_size()];
        while let Some(transmit) = self.host.poll_transmit(self.clock.now(), &mut buffer) {
            let datagram = (self.address, transmit.datagram.to_vec());
            // A thread that has ended receives nothing more: the datagram is lost.
            drop(self.network[transmit.to as usize].send(datagram));
        }
    }

    /// Waits for a datagram or a deadline.
    fn wait(&mut self) {
        let due = self.host.poll_timeout();
        let wait = due.map_or(Duration::from_secs(1), |due| {
            due.saturating_duration_since(self.clock.now())
        });
        if let Ok((from, datagram)) = self.inbox.recv_timeout(wait) {
            let now = self.clock.now();
            self.host.handle_datagram(now, from, Ecn::NotEct, &datagram);
        }
        self.host.handle_timeout(self.clock.now());
    }
}

/// Counts the packets of all clients until each of them has left.
fn serve(mut node: Node) -> usize {
    let (mut left, mut count) = (0, 0);
    node.host.listen(Listen::Open).expect("servers may listen");
    while left < CLIENTS {
        node.send();
        node.wait();
        while let Some(event) = node.host.poll_event() {
            match event {
                Event::Readable { peer } => {
                    while node.host.receive(peer).is_some() {
                        count += 1;
                    }
                }
                Event::Disconnected { .. } => left += 1,
                Event::Request { .. }
                | Event::Connected { .. }
                | Event::Writable { .. }
                | Event::PeerMoved { .. }
                | _ => {}
            }
        }
    }
    // The last client still waits for the answer to its disconnection.
    node.send();
    count
}

/// Sends the packets of a client, and disconnects when they have arrived.
fn play(mut node: Node) -> DisconnectReason {
    let now = node.clock.now();
    node.host.connect(now, SERVER).expect("the first attempt");
    loop {
        node.send();
        node.wait();
        while let Some(event) = node.host.poll_event() {
            match event {
                Event::Connected { peer, .. } => {
                    for n in 0..PACKETS {
                        let packet = n.to_le_bytes().to_vec();
                        let sent = node.host.send(peer, ChannelId(0), packet, Mode::Reliable);
                        sent.expect("there is room for a few");
                    }
                    let (reason, deadline) = (0, Duration::from_secs(5));
                    let flush = Disconnect::Flush { reason, deadline };
                    let now = node.clock.now();
                    node.host.disconnect(now, peer, flush).expect("it is there");
                }
                Event::Disconnected { reason, .. } => return reason,
                Event::Request { .. }
                | Event::Readable { .. }
                | Event::Writable { .. }
                | Event::PeerMoved { .. }
                | _ => {}
            }
        }
    }
}

fn main() -> std::io::Result<()> {
    let clock = Clock::start();
    let (network, inboxes): (Vec<_>, Vec<_>) = (0..=CLIENTS).map(|_| channel()).unzip();
    let mut threads = Vec::new();
    let mut nodes = (0..).zip(inboxes).map(|(address, inbox)| {
        let config = if address == SERVER {
            Config::new()
        } else {
            Config::client()
        };
        Node {
            address,
            host: Host::new(config, UnwrapErr(SysRng)),
            inbox,
            network: network.clone(),
            clock,
        }
    });
    let server = nodes.next().expect("the first inbox");
    let server = thread::spawn(|| serve(server));
    for client in nodes {
        threads.push(thread::spawn(|| play(client)));
    }
    for thread in threads {
        let reason = thread.join().expect("a client that does not panic");
        assert_eq!(reason, DisconnectReason::ByUs(0));
    }
    let count = server.join().expect("a server that does not panic");
    writeln!(
        std::io::stdout(),
        "{count} of {} packets arrived",
        PACKETS * CLIENTS as usize
    )
}
