//! The loads whose processor time is counted: hosts in one process, in virtual time, without delay or loss.

use core::time::Duration;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use super::counted::{Counter, Measure, counted};
use super::node::Protocol;
use super::stage::Stage;

/// A tick of a game.
const TICK: Duration = Duration::from_micros(16_667);

/// A step of [`Load::T`]: the path has no delay.
const STEP: Duration = Duration::from_millis(1);

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
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// The units of the load that were done while its instructions were counted.
    pub(crate) units: u64,
    pub(crate) nanoseconds: u64,
    /// Bytes of UDP payload, both ways, while the instructions were counted.
    pub(crate) wire: u64,
    /// Allocations while the instructions were counted; 0 where nothing counts them.
    pub(crate) allocations: u64,
    /// The heap of a server in bytes, for each of its clients.
    pub(crate) heap: Option<i64>,
}

impl Outcome {
    fn new(units: u64, wire: u64, counter: &Counter, heap: Option<i64>) -> Self {
        Self {
            units,
            nanoseconds: counter.time.as_nanos() as u64,
            wire,
            allocations: counter.allocations,
            heap,
        }
    }
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

    pub(crate) fn run(self, protocol: &Protocol, measure: Option<Measure>) -> Outcome {
        let lengths = Some([64, 200]);
        match self {
            Self::DUnreliable => messages(protocol, false, measure),
            Self::DReliable => messages(protocol, true, measure),
            Self::E200 => clients(protocol, 200, None, 600, measure),
            Self::F200 => clients(protocol, 200, lengths, 120, measure),
            Self::F1000 => clients(protocol, 1000, lengths, 60, measure),
            Self::T => transfer(protocol, measure),
        }
    }
}

/// A server with this number of clients, and the lengths of the messages to it and from it.
fn clients(
    protocol: &Protocol,
    count: usize,
    lengths: Option<[usize; 2]>,
    ticks: u64,
    measure: Option<Measure>,
) -> Outcome {
    let mut counter = Counter::new(measure);
    let mut stage = Stage::new(protocol, count, &mut counter);
    let messages = lengths.map(|lengths| lengths.map(|length| vec![7; length]));
    let [up, down] = match &messages {
        Some([up, down]) => [Some(&up[..]), Some(&down[..])],
        None => [None, None],
    };
    let (mut read, mut before) = (0, 0);
    for tick in 0..WARM_UP + ticks {
        stage.wait(TICK);
        stage.clients(up);
        if tick < WARM_UP {
            counter.aside(|| stage.server(down));
            before = stage.wire;
        } else {
            read += counted(&mut counter, || stage.server(down));
        }
    }
    let units = ticks * count as u64;
    let expected = if up.is_some() { units } else { 0 };
    assert_eq!(read, expected, "nothing is lost");
    let heap = measure.map(|measure| stage.heap_of_peer(protocol, counter.held, measure));
    Outcome::new(units, stage.wire - before, &counter, heap)
}

/// Messages of 64 bytes, one way.
fn messages(protocol: &Protocol, reliable: bool, measure: Option<Measure>) -> Outcome {
    let ticks = 300;
    let mut counter = Counter::new(measure);
    let mut stage = Stage::new(protocol, 1, &mut counter);
    let (mut read, mut before) = (0, 0);
    for tick in 0..WARM_UP + ticks {
        stage.wait(TICK);
        let mut work = || {
            for _ in 0..MESSAGES {
                stage.send(&[7; 64], reliable);
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
    Outcome::new(read, stage.wire - before, &counter, None)
}

/// Packets of 64 KiB, one way: a new one leaves for each that was read.
fn transfer(protocol: &Protocol, measure: Option<Measure>) -> Outcome {
    let (packets, warm_up) = (256, 32);
    let mut counter = Counter::new(measure);
    let mut stage = Stage::new(protocol, 1, &mut counter);
    let packet = vec![7; PACKET];
    let (mut sent, mut read) = (0, 0);
    let (mut before, mut begun) = (0, 0);
    while read < packets {
        stage.wait(STEP);
        let most = read + (UNDER_WAY / PACKET) as u64;
        let mut work = || {
            while sent < most && stage.send(&packet, true) {
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
    let units = (read - begun) * (PACKET as u64 >> 10);
    Outcome::new(units, stage.wire - before, &counter, None)
}
