//! What hosts do while their processor time is counted: in virtual time, without delay or loss.

use core::time::Duration;

use serde::{Deserialize, Serialize};

use crate::counted::{Counter, Measure, counted};
use crate::node::Protocol;
use crate::stage::{Stage, Wire};

/// A tick of a game.
pub const TICK: Duration = Duration::from_micros(16_667);

/// A step of [`Transfer`]: the path has no delay.
const STEP: Duration = Duration::from_millis(1);

#[derive(Clone, Copy, Debug)]
pub enum Task {
    Messages(Messages),
    Exchange(Exchange),
    Clients(Clients),
    Transfer(Transfer),
}

/// Messages, one way, over the channels in turn.
#[derive(Clone, Copy, Debug)]
pub struct Messages {
    pub reliable: bool,
    pub length: usize,
    /// Messages in a tick.
    pub count: u64,
    pub channels: u8,
    pub ticks: Ticks,
}

/// One unreliable message each way in a tick, over one connection.
#[derive(Clone, Copy, Debug)]
pub struct Exchange {
    pub length: usize,
    pub ticks: Ticks,
}

/// A server and its clients.
#[derive(Clone, Copy, Debug)]
pub struct Clients {
    pub count: usize,
    /// Those of them that send and get messages, the first ones.
    pub active: usize,
    /// The lengths of the unreliable messages to the server and from it, one to and from each active client
    /// in a tick.
    pub lengths: Option<[usize; 2]>,
    pub ticks: Ticks,
}

/// Reliable packets, one way: a new one leaves for each that was read.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    pub length: usize,
    /// Packets that were sent and not yet read, at most.
    pub under_way: u64,
    /// Packets before the counting begins.
    pub warm_up: u64,
    /// Packets in all.
    pub packets: u64,
}

/// Ticks before the counting begins, so that connections are made and buffers have the length that they
/// keep, and ticks that count.
#[derive(Clone, Copy, Debug)]
pub struct Ticks {
    pub warm_up: u64,
    pub counted: u64,
}

/// What a task came to.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// Messages, clients and ticks, or KiB that were done while instructions were counted.
    pub units: u64,
    pub nanoseconds: u64,
    /// Datagrams, both ways, while instructions were counted.
    pub datagrams: u64,
    /// Their bytes of UDP payload.
    pub wire: u64,
    /// Allocations while instructions were counted; 0 where nothing counts them.
    pub allocations: u64,
    /// The heap of a server in bytes, for each of its clients.
    pub heap: Option<i64>,
}

impl Task {
    pub fn run(&self, protocol: &Protocol, measure: Option<Measure>) -> Outcome {
        match self {
            Self::Messages(messages) => messages.run(protocol, measure),
            Self::Exchange(exchange) => exchange.run(protocol, measure),
            Self::Clients(clients) => clients.run(protocol, measure),
            Self::Transfer(transfer) => transfer.run(protocol, measure),
        }
    }
}

impl Messages {
    fn run(&self, protocol: &Protocol, measure: Option<Measure>) -> Outcome {
        let mut counter = Counter::new(measure);
        let mut stage = Stage::new(protocol, 1, self.channels, &mut counter);
        let message = vec![7; self.length];
        let mut channels = (0..self.channels).cycle();
        let (mut read, mut before) = (0, Wire::default());
        for tick in 0..self.ticks.warm_up + self.ticks.counted {
            stage.wait(TICK);
            let mut work = || {
                for channel in channels.by_ref().take(self.count as usize) {
                    stage.send(channel, &message, self.reliable);
                }
                stage.clients(None);
                stage.server(None)
            };
            if tick < self.ticks.warm_up {
                work();
                before = stage.wire;
            } else {
                read += counted(&mut counter, work);
            }
        }
        assert_eq!(read, self.ticks.counted * self.count, "nothing is lost");
        Outcome::new(read, stage.wire.since(before), &counter, None)
    }
}

impl Exchange {
    fn run(&self, protocol: &Protocol, measure: Option<Measure>) -> Outcome {
        let mut counter = Counter::new(measure);
        let mut stage = Stage::new(protocol, 1, 1, &mut counter);
        let message = vec![7; self.length];
        let (mut read, mut before) = (0, Wire::default());
        for tick in 0..self.ticks.warm_up + self.ticks.counted {
            stage.wait(TICK);
            let mut work = || stage.clients(Some(&message)) + stage.server(Some(&message));
            if tick < self.ticks.warm_up {
                work();
                before = stage.wire;
            } else {
                read += counted(&mut counter, work);
            }
        }
        assert_eq!(read, self.ticks.counted * 2, "nothing is lost");
        Outcome::new(read, stage.wire.since(before), &counter, None)
    }
}

impl Clients {
    fn run(&self, protocol: &Protocol, measure: Option<Measure>) -> Outcome {
        let mut counter = Counter::new(measure);
        let mut stage = Stage::new(protocol, self.count, 1, &mut counter);
        let messages = self.lengths.map(|lengths| lengths.map(|len| vec![7; len]));
        let [up, down] = match &messages {
            Some([up, down]) => [Some(&up[..]), Some(&down[..])],
            None => [None, None],
        };
        let (mut read, mut before) = (0, Wire::default());
        for tick in 0..self.ticks.warm_up + self.ticks.counted {
            stage.wait(TICK);
            stage.clients_of(self.active, up);
            if tick < self.ticks.warm_up {
                counter.aside(|| stage.server_to(self.active, down));
                before = stage.wire;
            } else {
                read += counted(&mut counter, || stage.server_to(self.active, down));
            }
        }
        let messages = self.ticks.counted * self.active as u64;
        let expected = if up.is_some() { messages } else { 0 };
        assert_eq!(read, expected, "nothing is lost");
        let heap = measure.map(|measure| stage.heap_of_peer(protocol, counter.held, measure));
        let units = self.ticks.counted * self.count as u64;
        Outcome::new(units, stage.wire.since(before), &counter, heap)
    }
}

impl Transfer {
    fn run(&self, protocol: &Protocol, measure: Option<Measure>) -> Outcome {
        let mut counter = Counter::new(measure);
        let mut stage = Stage::new(protocol, 1, 1, &mut counter);
        let packet = vec![7; self.length];
        let (mut sent, mut read) = (0, 0);
        let (mut before, mut begun) = (Wire::default(), 0);
        while read < self.packets {
            stage.wait(STEP);
            let mut work = || {
                while sent < read + self.under_way && stage.send(0, &packet, true) {
                    sent += 1;
                }
                stage.clients(None);
                stage.server(None)
            };
            if read < self.warm_up {
                read += work();
                (before, begun) = (stage.wire, read);
            } else {
                read += counted(&mut counter, work);
            }
        }
        let units = (read - begun) * (self.length as u64 >> 10);
        Outcome::new(units, stage.wire.since(before), &counter, None)
    }
}

impl Outcome {
    fn new(units: u64, wire: Wire, counter: &Counter, heap: Option<i64>) -> Self {
        Self {
            units,
            nanoseconds: counter.time.as_nanos() as u64,
            datagrams: wire.datagrams,
            wire: wire.bytes,
            allocations: counter.allocations,
            heap,
        }
    }
}
