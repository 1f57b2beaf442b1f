//! Several hosts on one port, and clients whose ports change.

use core::net::SocketAddr;
use core::time::Duration;
use std::io::{self, ErrorKind};
use std::net::UdpSocket;

use porous_std::{
    ChannelId, Clock, Config, ConnectionIds, DisconnectReason, Endpoint, Event, Listen, Mode,
    PeerId, UdpHost,
};
use porous_udp::SystemSocket;
use socket2::SockRef;

use crate::hosts::{LIMIT, elapsed};

const SHARDS: u8 = 4;
const CLIENTS: usize = 200;

/// A socket that is replaced by another one when its client gets another port.
#[derive(Debug)]
struct Movable(UdpSocket);

impl Movable {
    fn new() -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_nonblocking(true).unwrap();
        Self(socket)
    }
}

impl SystemSocket for Movable {
    fn options(&self) -> SockRef<'_> {
        SockRef::from(&self.0)
    }

    fn send_to(&self, datagram: &[u8], to: SocketAddr) -> io::Result<usize> {
        self.0.send_to(datagram, to)
    }

    fn recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.0.recv_from(buffer)
    }
}

struct Client {
    host: Endpoint<Movable>,
    server: PeerId,
    is_connected: bool,
    /// Answers of the server.
    heard: usize,
    ended: Option<DisconnectReason>,
}

impl Client {
    fn new(server: SocketAddr) -> Self {
        let mut host = Endpoint::plain(Movable::new(), Config::client()).unwrap();
        let server = host.connect(server).unwrap();
        Self {
            host,
            server,
            is_connected: false,
            heard: 0,
            ended: None,
        }
    }

    fn step(&mut self) {
        self.host.receive_datagrams().unwrap();
        self.host.transmit().unwrap();
        while let Some(event) = self.host.poll_event() {
            self.is_connected |= matches!(event, Event::Connected { .. });
            if let Event::Disconnected { reason, .. } = event {
                self.ended = Some(reason);
            }
        }
        while self.host.receive(self.server).is_some() {
            self.heard += 1;
        }
    }

    /// Gets another port, and asks the server from there.
    fn move_and_ask(&mut self) {
        *self.host.socket_mut() = Movable::new();
        self.ask();
    }

    fn ask(&mut self) {
        let sent = self
            .host
            .send(self.server, ChannelId(0), &b"?"[..], Mode::Reliable);
        assert_eq!(sent, Ok(()));
    }
}

/// Answers each packet.
fn step_server(hosts: &mut [UdpHost]) {
    for host in hosts {
        host.step().unwrap();
        while let Some(event) = host.poll_event() {
            let Event::Readable { peer } = event else {
                continue;
            };
            while let Some(packet) = host.receive(peer) {
                let sent = host.send(peer, packet.channel, packet.payload, packet.mode);
                assert_eq!(sent, Ok(()));
            }
        }
        host.transmit().unwrap();
    }
}

/// Lets all hosts work until this is true of all clients, or the time is over.
fn run(
    hosts: &mut [UdpHost],
    clients: &mut [Client],
    limit: Duration,
    is_done: impl Fn(&Client) -> bool,
) {
    let clock = Clock::start();
    while !clients.iter().all(&is_done) && elapsed(&clock) < limit {
        clients.iter_mut().for_each(Client::step);
        step_server(hosts);
    }
}

/// All clients, each of them connected to the host that the system has chosen.
fn connected(hosts: &mut [UdpHost]) -> Vec<Client> {
    let server = hosts[0].local_addr().unwrap();
    for host in &mut *hosts {
        host.listen(Listen::Open).unwrap();
    }
    let mut clients: Vec<_> = (0..CLIENTS).map(|_| Client::new(server)).collect();
    run(hosts, &mut clients, LIMIT, |client| client.is_connected);
    assert!(clients.iter().all(|client| client.is_connected));
    let peers: Vec<_> = hosts.iter().map(|host| host.peers().count()).collect();
    assert!(peers.iter().all(|&count| count > 10), "{peers:?}");
    clients
}

#[test]
fn a_client_whose_port_changes_stays_with_its_shard() {
    let config = Config::new().roaming(true);
    let mut hosts = match UdpHost::bind_shards("127.0.0.1:0", SHARDS, config) {
        Ok(hosts) => hosts,
        Err(error) if error.kind() == ErrorKind::Unsupported && std::env::var("CI").is_err() => {
            eprintln!("skipped: {error}");
            return;
        }
        Err(error) => panic!("{error}"),
    };
    let mut clients = connected(&mut hosts);
    for moves in 1..=5 {
        clients.iter_mut().for_each(Client::move_and_ask);
        run(&mut hosts, &mut clients, LIMIT, |client| {
            client.heard >= moves || client.ended.is_some()
        });
        let lost = clients.iter().filter(|client| client.ended.is_some());
        assert_eq!(lost.count(), 0, "after {moves} moves");
        assert!(clients.iter().all(|client| client.heard == moves));
    }
}

/// Hosts on one port of which the system knows nothing but a hash of the addresses.
fn without_steering(config: &Config) -> Vec<UdpHost> {
    let mut address = SocketAddr::from(([127, 0, 0, 1], 0));
    let mut hosts = Vec::new();
    for shard in 0..SHARDS {
        let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::DGRAM, None);
        let socket = socket.unwrap();
        rustix::net::sockopt::set_socket_reuseport(&socket, true).unwrap();
        socket.bind(&address.into()).unwrap();
        let mut host = UdpHost::from_socket(socket.into(), config.clone()).unwrap();
        let ids = ConnectionIds::Sharded { shard, bits: 2 };
        host.set_connection_ids(ids).unwrap();
        address = host.local_addr().unwrap();
        hosts.push(host);
    }
    hosts
}

/// The host to which the datagrams come does not know the connection, and says so.
#[test]
fn without_steering_a_client_that_comes_to_another_host_ends_soon() {
    let mut hosts = without_steering(&Config::new().roaming(true));
    let mut clients = connected(&mut hosts);
    clients.iter_mut().for_each(Client::move_and_ask);
    // A connection that is said to be over ends three times T_rto after a ping, in 1 s at least
    // (`docs/wire.md`), which is long only if the machine that runs this test is busy.
    let timeout = |client: &Client| {
        let server = client.host.peer(client.server).expect("connected");
        Duration::from_secs(2) + 3 * server.stats().resend_timeout
    };
    let longest = clients.iter().map(timeout).max().unwrap_or_default();
    let limit = longest.max(Duration::from_secs(3)).min(LIMIT);
    let is_settled = |client: &Client| client.heard == 1 || client.ended.is_some();
    run(&mut hosts, &mut clients, limit, is_settled);
    assert!(clients.iter().all(is_settled));
    let lost: Vec<_> = clients.iter().filter_map(|client| client.ended).collect();
    // 150 are expected.
    assert!(lost.len() > 75, "{}", lost.len());
    assert!(
        lost.iter()
            .all(|reason| *reason == DisconnectReason::LostByPeer),
        "{lost:?}"
    );
}

#[test]
fn hosts_whose_ids_cannot_tell_the_shard_are_refused() {
    let short = Config::new().connection_id_len(1).unwrap();
    let error = UdpHost::bind_shards("127.0.0.1:0", 2, short.clone()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.to_string().contains("connection_id_len"), "{error}");
    let error = UdpHost::bind_shards("127.0.0.1:0", 6, Config::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    // Nobody has to tell one host from others.
    assert_eq!(
        UdpHost::bind_shards("127.0.0.1:0", 1, short).unwrap().len(),
        1
    );
}
