//! A server and its clients in one process, which hand each other their datagrams.

use core::time::Duration;

use porous_proto::Instant;

use crate::counted::{Counter, Measure};
use crate::node::{Mail, Node, Protocol, Setup};

/// Clients that begin to connect in one tick: porous lets nobody in while over 4096 events of such wait, and a handshake
/// lasts a few ticks.
const AT_ONCE: usize = 1000;

/// A server and its clients.
pub struct Stage {
    pub now: Instant,
    server: Box<dyn Node>,
    clients: Vec<Box<dyn Node>>,
    /// Clients that have begun to connect.
    begun: usize,
    to_server: Mail,
    to_clients: Mail,
    pub wire: Wire,
}

/// Datagrams of both ways.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wire {
    pub datagrams: u64,
    /// Their bytes of UDP payload.
    pub bytes: u64,
}

impl Wire {
    fn add(&mut self, mail: &Mail) {
        self.datagrams += mail.iter().len() as u64;
        self.bytes += mail.bytes() as u64;
    }

    /// What came after `before`.
    pub fn since(self, before: Self) -> Self {
        Self {
            datagrams: self.datagrams - before.datagrams,
            bytes: self.bytes - before.bytes,
        }
    }
}

impl Stage {
    /// Clients of which the first have begun to connect. What the server holds counts.
    pub fn new(protocol: &Protocol, clients: usize, channels: u8, counter: &mut Counter) -> Self {
        let setup = |remotes, n| Setup {
            remotes,
            channels,
            seed: n as u64,
        };
        let clients: Vec<_> = (1..=clients)
            .map(|n| (protocol.open)(setup(1, n)))
            .collect();
        let mut stage = Self {
            now: Instant::ZERO,
            begun: 0,
            server: counter.aside(|| (protocol.open)(setup(clients.len(), 0))),
            clients,
            to_server: Mail::default(),
            to_clients: Mail::default(),
            wire: Wire::default(),
        };
        stage.begin();
        stage
    }

    /// Some of the clients begin to connect that have not begun.
    fn begin(&mut self) {
        for client in self.clients.iter_mut().skip(self.begun).take(AT_ONCE) {
            client.connect(self.now);
            self.begun += 1;
        }
    }

    pub fn wait(&mut self, time: Duration) {
        self.now = self.now + time;
    }

    /// The first client sends a message; `false` if it has no room for it.
    pub fn send(&mut self, channel: u8, message: &[u8], reliable: bool) -> bool {
        self.clients[0].send(0, channel, message, reliable)
    }

    /// A tick of all clients, in which all send the message, if there is one.
    pub fn clients(&mut self, message: Option<&[u8]>) -> u64 {
        self.clients_of(self.clients.len(), message)
    }

    /// A tick of all clients: each gets its datagrams, is served, reads, sends this message if there is one
    /// and it is among the first `active`, and puts its datagrams on their way. The messages that they have
    /// read.
    pub fn clients_of(&mut self, active: usize, message: Option<&[u8]>) -> u64 {
        self.begin();
        let mut read = 0;
        for (to, datagram) in self.to_clients.iter() {
            self.clients[to].datagram_in(self.now, 0, datagram);
        }
        self.to_clients.clear();
        for (n, client) in self.clients.iter_mut().enumerate() {
            client.service(self.now, &mut |_, _| read += 1);
            if let Some(message) = message.filter(|_| n < active) {
                client.send(0, 0, message, false);
            }
            let mail = &mut self.to_server;
            client.datagrams_out(self.now, &mut |_, datagram| mail.put(n, datagram));
        }
        self.wire.add(&self.to_server);
        read
    }

    /// A tick of the server, which sends the message to all clients, if there is one.
    pub fn server(&mut self, message: Option<&[u8]>) -> u64 {
        self.server_to(self.clients.len(), message)
    }

    /// The same of the server, which sends the message to the first `active` clients. The messages that it
    /// has read.
    pub fn server_to(&mut self, active: usize, message: Option<&[u8]>) -> u64 {
        let mut read = 0;
        for (from, datagram) in self.to_server.iter() {
            self.server.datagram_in(self.now, from, datagram);
        }
        self.to_server.clear();
        self.server.service(self.now, &mut |_, _| read += 1);
        if let Some(message) = message {
            for to in 0..active {
                self.server.send(to, 0, message, false);
            }
        }
        let mail = &mut self.to_clients;
        self.server
            .datagrams_out(self.now, &mut |to, datagram| mail.put(to, datagram));
        self.wire.add(&self.to_clients);
        read
    }

    /// The heap of the server in bytes, for each client, if `held` bytes are what [`new`](Self::new) and all
    /// calls of [`server`](Self::server) hold. That of an empty server for one client does not count, nor
    /// does the bench's own.
    pub fn heap_of_peer(&self, protocol: &Protocol, held: i64, measure: Measure) -> i64 {
        let mut counter = Counter::new(Some(measure));
        let setup = Setup {
            remotes: 1,
            channels: 1,
            seed: 0,
        };
        let empty = counter.aside(|| (protocol.open)(setup));
        let empty = counter.held - empty.own_heap() as i64;
        let own = self.server.own_heap() + self.to_clients.heap();
        (held - own as i64 - empty) / self.clients.len() as i64
    }
}
