//! The scenarios that every driver has to pass, in both runtimes, and a crowd of a thousand.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use core::net::SocketAddr;
use core::time::Duration;

use porous_tests::crowd;
use porous_tests::drivers::{Drivers, End, Happened};
use porous_tokio::{
    ChannelId, Client, Clock, Closed, Config, Connection, Disconnect, Instant, Mode, SendError,
    Server,
};
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;

use crate::runtimes::{address, both, client, in_both, server};

/// What tasks tell the test.
enum Told {
    Connected(Connection),
    Happened(End, Happened),
}

type Teller = UnboundedSender<(usize, Told)>;

/// All hosts in one runtime, with a task for each connection.
struct InOneRuntime {
    runtime: Runtime,
    clock: Clock,
    servers: Vec<Option<Arc<Server>>>,
    addresses: Vec<SocketAddr>,
    connections: BTreeMap<End, Connection>,
    teller: Teller,
    told: UnboundedReceiver<(usize, Told)>,
}

impl InOneRuntime {
    fn new(runtime: Runtime) -> Self {
        let (teller, told) = unbounded_channel();
        Self {
            runtime,
            clock: Clock::start(),
            servers: Vec::new(),
            addresses: Vec::new(),
            connections: BTreeMap::new(),
            teller,
            told,
        }
    }
}

/// Receives all that comes by a connection, and tells it.
async fn receive(host: usize, connection: Connection, teller: Teller) {
    let end = (host, connection.id());
    // The test is over when it does not listen any more.
    let _listens = teller.send((host, Told::Connected(connection.clone())));
    let closed = loop {
        match connection.recv().await {
            Ok(packet) => {
                let _listens = teller.send((host, Told::Happened(end, Happened::Received(packet))));
            }
            Err(closed) => break closed,
        }
    };
    if let Closed::Ended {
        reason,
        undelivered,
    } = closed
    {
        let ended = Happened::Ended(reason, undelivered);
        let _listens = teller.send((host, Told::Happened(end, ended)));
    }
}

impl Drivers for InOneRuntime {
    fn server(&mut self, config: Config) -> usize {
        let host = self.addresses.len();
        let bound = self.runtime.block_on(Server::bind("127.0.0.1:0", config));
        let server = Arc::new(bound.unwrap());
        self.addresses.push(address(&server));
        self.servers.push(Some(Arc::clone(&server)));
        let teller = self.teller.clone();
        self.runtime.spawn(async move {
            while let Ok(connection) = server.accept().await {
                tokio::spawn(receive(host, connection, teller.clone()));
            }
        });
        host
    }

    fn client(&mut self, config: Config, to: SocketAddr) -> usize {
        let host = self.addresses.len();
        let bound = self.runtime.block_on(Client::bind("127.0.0.1:0", config));
        let client = bound.unwrap();
        self.addresses.push(client.local_addr().unwrap());
        self.servers.push(None);
        let teller = self.teller.clone();
        self.runtime.spawn(async move {
            let connection = client.connect(&[to]).await.unwrap();
            receive(host, connection, teller).await;
        });
        host
    }

    fn address(&self, host: usize) -> SocketAddr {
        self.addresses[host]
    }

    fn turn(&mut self, at_most: Duration) -> Vec<(End, Happened)> {
        let mut told = Vec::new();
        let wait = async { timeout(at_most, self.told.recv_many(&mut told, 10_000)).await };
        // If nothing was told, there is nothing to tell.
        let _told = self.runtime.block_on(wait);
        let known = told.into_iter().map(|(host, told)| match told {
            Told::Happened(end, happened) => (end, happened),
            Told::Connected(connection) => {
                let end = (host, connection.id());
                let from = connection.address().unwrap();
                self.connections.insert(end, connection);
                (end, Happened::Connected(from))
            }
        });
        known.collect()
    }

    fn send(
        &mut self,
        from: End,
        channel: ChannelId,
        packet: Vec<u8>,
        mode: Mode,
    ) -> Result<(), SendError> {
        self.connections[&from].send(channel, packet, mode)
    }

    fn disconnect(&mut self, end: End, how: Disconnect) {
        self.connections[&end].disconnect(how);
    }

    fn elapsed(&self) -> Duration {
        self.clock.now().saturating_duration_since(Instant::ZERO)
    }

    fn counts(&self, host: usize) -> (u64, u64) {
        self.servers[host].as_ref().map_or((0, 0), |server| {
            let received = server.stats().datagrams_received;
            (received, server.socket_stats().send_lost)
        })
    }
}

#[test]
fn fifty_clients_talk_with_their_server() {
    for runtime in both() {
        crowd::a_crowd_talks(InOneRuntime::new(runtime), 1);
    }
}

#[test]
fn fifty_clients_talk_with_several_servers() {
    for runtime in both() {
        crowd::a_crowd_talks(InOneRuntime::new(runtime), 3);
    }
}

#[test]
fn a_flooded_server_holds_up_no_other() {
    for runtime in both() {
        crowd::a_flood_on_one_host_holds_up_no_other(InOneRuntime::new(runtime));
    }
}

#[test]
fn two_converse() {
    for runtime in both() {
        crowd::two_converse(InOneRuntime::new(runtime));
    }
}

/// Ten servers, and a hundred clients with a connection to each of them.
#[test]
fn a_thousand_connections_echo() {
    const SERVERS: usize = 10;
    const CLIENTS: u32 = 100;
    in_both(|| async {
        let mut addresses = Vec::new();
        for _ in 0..SERVERS {
            let server = server().await;
            addresses.push(address(&server));
            tokio::spawn(async move {
                while let Ok(connection) = server.accept().await {
                    tokio::spawn(echo(connection));
                }
            });
        }
        let mut tasks = Vec::new();
        for number in 0..CLIENTS {
            let client = client().await;
            for &to in &addresses {
                let client = client.clone();
                tasks.push(tokio::spawn(async move {
                    let connection = client.connect(&[to]).await.unwrap();
                    for turn in 0..3 {
                        let packet = (3 * number + turn).to_le_bytes();
                        connection.send(0, &packet[..], Mode::Reliable).unwrap();
                        assert_eq!(connection.recv().await.unwrap().payload, packet[..]);
                    }
                    // Until all are there.
                    connection
                }));
            }
        }
        let mut connections = Vec::new();
        for task in tasks {
            connections.push(task.await.unwrap());
        }
        assert_eq!(connections.len(), 1000);
        for connection in &connections {
            assert!(connection.stats().is_some());
        }
    });
}

async fn echo(connection: Connection) {
    while let Ok(packet) = connection.recv().await {
        let back = connection.send_when_room(packet.channel, packet.payload, packet.mode);
        if back.await.is_err() {
            break;
        }
    }
}
