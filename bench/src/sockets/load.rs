//! The loads: what two processes send each other.

use core::time::Duration;

use clap::ValueEnum;

/// What a load measures. All messages have one channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Load {
    /// Reliable messages of 64 bytes, one way, 64 KiB under way
    ReliableSaturated,
    /// Reliable messages of 64 bytes, one way, 64 a millisecond
    ReliablePaced,
    /// The same with unreliable messages
    UnreliablePaced,
    /// Reliable packets of 64 KiB, one way, 256 KiB under way
    Bulk,
    /// 200 clients, 60 times a second, unreliable: 64 bytes from each, 200 bytes to each
    Clients,
}

/// A load in figures.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) clients: usize,
    /// The length of a client's messages, in bytes.
    pub(super) up: usize,
    /// The length of the server's messages, one to each client in a tick, in bytes. 0 if it sends none, and
    /// then the server has no ticks: it is driven by its network.
    pub(super) down: usize,
    pub(super) is_reliable: bool,
    pub(super) pace: Pace,
}

/// When clients send.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pace {
    /// Whenever less than this number of messages is under way: sent, and not among those that the server
    /// has said to have read. The server says how many it has read each time that it has read a quarter of
    /// this number.
    Saturated { under_way: u64 },
    /// This number of messages at each tick.
    Ticks { period: Duration, burst: u64 },
}

/// What one unit of a load's processor time is divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    MillionMessages,
    Gigabyte,
    ClientAndSecond,
}

impl Load {
    pub(super) const ALL: [Self; 5] = [
        Self::ReliableSaturated,
        Self::ReliablePaced,
        Self::UnreliablePaced,
        Self::Bulk,
        Self::Clients,
    ];

    /// The name in the table.
    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::ReliableSaturated => "reliable, 64 B, saturated",
            Self::ReliablePaced => "reliable, 64 B, 64 a ms",
            Self::UnreliablePaced => "unreliable, 64 B, 64 a ms",
            Self::Bulk => "reliable, 64 KiB, saturated",
            Self::Clients => "200 clients at 60 Hz",
        }
    }

    pub(super) const fn unit(self) -> Unit {
        match self {
            Self::ReliableSaturated | Self::ReliablePaced | Self::UnreliablePaced => {
                Unit::MillionMessages
            }
            Self::Bulk => Unit::Gigabyte,
            Self::Clients => Unit::ClientAndSecond,
        }
    }

    pub(super) const fn shape(self) -> Shape {
        let paced = Pace::Ticks {
            period: Duration::from_millis(1),
            burst: 64,
        };
        let small = Shape {
            clients: 1,
            up: 64,
            down: 0,
            is_reliable: true,
            pace: paced,
        };
        match self {
            // What ENet's window takes. If more wait, ENet searches them each time that it sends.
            Self::ReliableSaturated => Shape {
                pace: Pace::Saturated { under_way: 1024 },
                ..small
            },
            Self::ReliablePaced => small,
            Self::UnreliablePaced => Shape {
                is_reliable: false,
                ..small
            },
            Self::Bulk => Shape {
                up: 64 << 10,
                pace: Pace::Saturated { under_way: 4 },
                ..small
            },
            Self::Clients => Shape {
                clients: 200,
                down: 200,
                is_reliable: false,
                pace: Pace::Ticks {
                    period: Duration::from_nanos(16_666_667),
                    burst: 1,
                },
                ..small
            },
        }
    }
}

impl Unit {
    /// The name in the table, with the unit of the processor time.
    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::MillionMessages => "s for a million messages",
            Self::Gigabyte => "s for a GB",
            Self::ClientAndSecond => "ms for a client and second",
        }
    }
}
