//! Tests of how much one call does, in a simulated time of which each call of the system takes some.

use core::cell::Cell;
use core::net::SocketAddr;
use core::time::Duration;
use std::io;
use std::net::UdpSocket;

use porous_proto::{ChannelId, Config, Event, Listen, Mode, PeerId};
use socket2::SockRef;

use crate::clock::simulated;
use crate::{Endpoint, SystemSocket, bind};

const MICRO: Duration = Duration::from_micros(1);
const MS: Duration = Duration::from_millis(1);

/// Calls of the system that a call may make beyond its time, to send a batch that has begun.
const BATCH: u64 = 64;

/// A socket whose calls take simulated time.
#[derive(Debug)]
struct Slow {
    socket: UdpSocket,
    /// The time that a call takes.
    cost: Duration,
    /// True if tiny datagrams come without end.
    is_flooded: Cell<bool>,
    sent: Cell<u64>,
}

impl Slow {
    fn new(cost: Duration) -> Self {
        Self {
            socket: bind("127.0.0.1:0").unwrap(),
            cost,
            is_flooded: Cell::new(false),
            sent: Cell::new(0),
        }
    }
}

impl SystemSocket for Slow {
    fn options(&self) -> SockRef<'_> {
        self.socket.options()
    }

    fn send_to(&self, datagram: &[u8], to: SocketAddr) -> io::Result<usize> {
        simulated::pass(self.cost);
        self.sent.set(self.sent.get() + 1);
        self.socket.send_to(datagram, to)
    }

    fn recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        if self.is_flooded.get() {
            simulated::pass(self.cost);
            buffer[..8].fill(0xa5);
            return Ok((8, ([192, 0, 2, 1], 7).into()));
        }
        self.socket.recv_from(buffer)
    }
}

fn flooded(cost: Duration) -> Endpoint<Slow> {
    let host = Endpoint::plain(Slow::new(cost), Config::new()).unwrap();
    host.socket().is_flooded.set(true);
    host
}

/// Datagrams that one call takes in.
fn taken(host: &mut Endpoint<Slow>) -> u64 {
    let before = host.stats().datagrams_received;
    assert!(host.receive_datagrams().unwrap(), "there is more");
    host.stats().datagrams_received - before
}

#[test]
fn a_call_takes_in_what_its_time_allows_and_not_a_number_of_datagrams() {
    let _simulated = simulated::start();
    for (cost, wanted) in [(MICRO, 8000), (10 * MICRO, 800), (MS, 8), (100 * MS, 1)] {
        let mut host = flooded(cost);
        for _ in 0..3 {
            assert_eq!(taken(&mut host), wanted, "{cost:?}");
        }
    }
}

#[test]
fn the_time_of_a_call_can_be_chosen() {
    let _simulated = simulated::start();
    let mut host = flooded(MICRO);
    for (limit, wanted) in [(2 * MS, 2000), (20 * MS, 20_000), (Duration::ZERO, 1)] {
        host.set_time_limit(limit);
        assert_eq!(taken(&mut host), wanted, "{limit:?}");
    }
}

/// A server and its clients, all connected.
struct Crowd {
    server: Endpoint<Slow>,
    clients: Vec<Endpoint<UdpSocket>>,
}

impl Crowd {
    fn new(clients: usize) -> Self {
        let mut server = Endpoint::plain(Slow::new(Duration::ZERO), Config::new()).unwrap();
        server.listen(Listen::Open).unwrap();
        let to = server.local_addr().unwrap();
        let connect = |_| {
            let socket = bind("127.0.0.1:0").unwrap();
            let mut client = Endpoint::plain(socket, Config::client()).unwrap();
            client.connect(to).unwrap();
            client
        };
        let clients = (0..clients).map(connect).collect();
        let mut crowd = Self { server, clients };
        for _ in 0..20 {
            crowd.turn();
        }
        let is_there = |client: &mut Endpoint<UdpSocket>| {
            let event = client.poll_event();
            assert!(matches!(event, Some(Event::Connected { .. })), "{event:?}");
        };
        crowd.clients.iter_mut().for_each(is_there);
        crowd
    }

    fn turn(&mut self) {
        for client in &mut self.clients {
            client.receive_datagrams().unwrap();
            client.transmit().unwrap();
        }
        self.server.receive_datagrams().unwrap();
        self.server.transmit().unwrap();
    }

    /// Queues a packet of several datagrams for each client.
    fn send_to_all(&mut self) {
        let peers: Vec<PeerId> = self.server.peers().map(|(peer, _)| peer).collect();
        for peer in peers {
            let payload = vec![7; 20_000];
            self.server
                .send(peer, ChannelId(0), payload, Mode::Reliable)
                .unwrap();
        }
    }

    /// Datagrams that one call sends.
    fn sent(&mut self) -> u64 {
        let before = self.server.socket().sent.get();
        self.server.transmit().unwrap();
        self.server.socket().sent.get() - before
    }
}

#[test]
fn a_call_sends_what_its_time_allows_and_the_rest_is_due_at_once() {
    let _simulated = simulated::start();
    let mut crowd = Crowd::new(40);
    crowd.server.socket_mut().cost = 50 * MICRO;
    let limit = 8 * MS;
    let wanted = 160..=160 + BATCH;
    crowd.send_to_all();
    for _ in 0..2 {
        let sent = crowd.sent();
        assert!(wanted.contains(&sent), "{sent} in {limit:?}");
        assert!(crowd.server.deadline().unwrap() <= crowd.server.now());
        assert!(!crowd.server.is_blocked());
    }
    crowd.server.set_time_limit(MS);
    let sent = crowd.sent();
    assert!((20..=20 + BATCH).contains(&sent), "{sent} in a millisecond");
    // Every packet arrives.
    crowd.server.set_time_limit(limit);
    let mut missing = crowd.clients.len();
    for _ in 0..500 {
        simulated::pass(MS);
        crowd.turn();
        for client in &mut crowd.clients {
            let peers: Vec<_> = client.readable().collect();
            missing -= peers
                .into_iter()
                .filter_map(|peer| client.receive(peer))
                .count();
        }
    }
    assert_eq!(missing, 0);
}

/// However little time there is, a call sends something, so that it ends.
#[test]
fn a_call_without_time_sends_some() {
    let _simulated = simulated::start();
    let mut crowd = Crowd::new(40);
    crowd.server.socket_mut().cost = 50 * MICRO;
    crowd.server.set_time_limit(Duration::ZERO);
    crowd.send_to_all();
    for _ in 0..3 {
        let sent = crowd.sent();
        assert!((1..=BATCH).contains(&sent), "{sent}");
    }
}
