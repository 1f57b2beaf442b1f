//! The loads whose processor time is counted: hosts in one process, in virtual time, without delay or loss.

use core::time::Duration;

use clap::ValueEnum;
use porous_proto::Instant;

use super::counted::{Counter, counted};
use super::node::{Mail, Node, Protocol};

/// A tick of a game.
const TICK: Duration = Duration::from_micros(16_667);

/// Ticks before the counting begins: connections are made, and buffers have the length that they keep.
const WARM_UP: u64 = 300;

/// Messages that the first host of [`Load::DUnreliable`] and [`Load::DReliable`] sends in a tick.
const MESSAGES: u64 = 32;

/// The length of a packet of [`Load::T`], in bytes.
const PACKET: usize = 64 << 10;

/// Bytes that [`Load::T`] keeps under way.
const UNDER_WAY: usize = 256 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Load {
    /// 32 unreliable messages of 64 bytes a tick, one way: both hosts, for each message
    DUnreliable,
    /// The same with reliable messages
    DReliable,
    /// 200 clients without messages: the server, for each client and tick
    E200,
    /// 200 clients, 64 bytes from each and 200 bytes to each in a tick: the server, for each client and
    /// tick
    F200,
    /// The same with 1000 clients
    F1000,
    /// Reliable packets of 64 KiB, one way, 256 KiB under way: both hosts, for each KiB
    T,
}

/// What a load came to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    /// The units of the load that were done while its instructions were counted.
    pub(crate) units: u64,
    pub(crate) time: Duration,
    /// Bytes of UDP payload, both ways, while the instructions were counted.
    pub(crate) wire: u64,
}

impl Load {
    pub(crate) const ALL: [Self; 6] = [
        Self::DUnreliable,
        Self::DReliable,
        Self::E200,
        Self::F200,
        Self::F1000,
        Self::T,
    ];

    /// The name in tables, and the unit.
    pub(crate) const fn titles(self) -> [&'static str; 2] {
        match self {
            Self::DUnreliable => ["D, unreliable", "message"],
            Self::DReliable => ["D, reliable", "message"],
            Self::E200 => ["E, 200 idle clients", "client and tick"],
            Self::F200 => ["F, 200 clients", "client and tick"],
            Self::F1000 => ["F, 1000 clients", "client and tick"],
            Self::T => ["T, 64 KiB packets", "KiB"],
        }
    }

    pub(crate) fn run(self, protocol: &Protocol) -> Outcome {
        match self {
            Self::DUnreliable => messages(protocol, false),
            Self::DReliable => messages(protocol, true),
            Self::E200 => clients(protocol, 200, None, 600),
            Self::F200 => clients(protocol, 200, Some([64, 200]), 120),
            Self::F1000 => clients(protocol, 1000, Some([64, 200]), 60),
            Self::T => transfer(protocol),
        }
    }
}

/// A server and its clients.
struct Stage {
    now: Instant,
    server: Box<dyn Node>,
    clients: Vec<Box<dyn Node>>,
    to_server: Mail,
    to_clients: Mail,
    /// Bytes of all datagrams.
    wire: u64,
}

impl Stage {
    fn new(protocol: &Protocol, clients: usize) -> Self {
        let mut clients: Vec<_> = (0..clients)
            .map(|n| (protocol.open)(1, n as u64 + 1))
            .collect();
        let now = Instant::ZERO;
        clients.iter_mut().for_each(|client| client.connect(now));
        Self {
            now,
            server: (protocol.open)(clients.len(), 0),
            clients,
            to_server: Mail::default(),
            to_clients: Mail::default(),
            wire: 0,
        }
    }

    /// A tick of all clients: each gets its datagrams, is served, reads, sends this message if there is one,
    /// and puts its datagrams on their way.
    fn clients(&mut self, message: Option<&[u8]>) {
        for (to, datagram) in self.to_clients.iter() {
            self.clients[to].datagram_in(self.now, 0, datagram);
        }
        self.to_clients.clear();
        for (n, client) in self.clients.iter_mut().enumerate() {
            client.service(self.now, &mut |_, _| {});
            if let Some(message) = message {
                client.send(0, message, false);
            }
            let mail = &mut self.to_server;
            client.datagrams_out(self.now, &mut |_, datagram| mail.put(n, datagram));
        }
        self.wire += self.to_server.len() as u64;
    }

    /// The same of the server, which sends the message to each client. The messages that it has read.
    fn server(&mut self, message: Option<&[u8]>) -> u64 {
        let mut read = 0;
        for (from, datagram) in self.to_server.iter() {
            self.server.datagram_in(self.now, from, datagram);
        }
        self.to_server.clear();
        self.server.service(self.now, &mut |_, _| read += 1);
        if let Some(message) = message {
            for to in 0..self.clients.len() {
                self.server.send(to, message, false);
            }
        }
        let mail = &mut self.to_clients;
        self.server
            .datagrams_out(self.now, &mut |to, datagram| mail.put(to, datagram));
        self.wire += self.to_clients.len() as u64;
        read
    }
}

/// A server with this number of clients, and the lengths of the messages to it and from it.
fn clients(protocol: &Protocol, count: usize, lengths: Option<[usize; 2]>, ticks: u64) -> Outcome {
    let mut stage = Stage::new(protocol, count);
    let messages = lengths.map(|lengths| lengths.map(|length| vec![7; length]));
    let [up, down] = match &messages {
        Some([up, down]) => [Some(&up[..]), Some(&down[..])],
        None => [None, None],
    };
    let mut counter = Counter::default();
    let (mut read, mut before) = (0, 0);
    for tick in 0..WARM_UP + ticks {
        stage.now = stage.now + TICK;
        stage.clients(up);
        if tick < WARM_UP {
            stage.server(down);
            before = stage.wire;
        } else {
            read += counted(&mut counter, || stage.server(down));
        }
    }
    let units = ticks * count as u64;
    let expected = if up.is_some() { units } else { 0 };
    assert_eq!(read, expected, "nothing is lost");
    Outcome {
        units,
        time: counter.time,
        wire: stage.wire - before,
    }
}

/// Messages of 64 bytes, one way.
fn messages(protocol: &Protocol, reliable: bool) -> Outcome {
    let ticks = 300;
    let mut stage = Stage::new(protocol, 1);
    let mut counter = Counter::default();
    let (mut read, mut before) = (0, 0);
    for tick in 0..WARM_UP + ticks {
        stage.now = stage.now + TICK;
        let mut work = || {
            for _ in 0..MESSAGES {
                stage.clients[0].send(0, &[7; 64], reliable);
            }
            stage.clients(None);
            stage.server(None)
        };
        if tick < WARM_UP {
            work();
            before = stage.wire;
        } else {
            read += counted(&mut counter, work);
        }
    }
    assert_eq!(read, ticks * MESSAGES, "nothing is lost");
    Outcome {
        units: read,
        time: counter.time,
        wire: stage.wire - before,
    }
}

/// Packets of 64 KiB, one way: a new one leaves for each that was read.
fn transfer(protocol: &Protocol) -> Outcome {
    let (packets, warm_up) = (256, 32);
    let mut stage = Stage::new(protocol, 1);
    // A path without delay: a step each millisecond, until the connection stands.
    let step = Duration::from_millis(1);
    let packet = vec![7; PACKET];
    let mut counter = Counter::default();
    let (mut sent, mut read) = (0, 0);
    let (mut before, mut begun) = (0, 0);
    while read < packets {
        stage.now = stage.now + step;
        let most = read + (UNDER_WAY / PACKET) as u64;
        let mut work = || {
            while sent < most && stage.clients[0].send(0, &packet, true) {
                sent += 1;
            }
            stage.clients(None);
            stage.server(None)
        };
        if read < warm_up {
            read += work();
            (before, begun) = (stage.wire, read);
        } else {
            read += counted(&mut counter, work);
        }
    }
    Outcome {
        units: (read - begun) * (PACKET as u64 >> 10),
        time: counter.time,
        wire: stage.wire - before,
    }
}
