//! The loads of the table.

use crate::task::{Clients, Exchange, Messages, Task, Ticks, Transfer};

/// Ticks before the counting begins.
const WARM_UP: u64 = 300;

/// Clients of a crowd.
pub const CROWD: usize = 10_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Load {
    /// 32 unreliable messages of 64 bytes a tick, one way: both hosts, for each message
    DUnreliable,
    /// The same with reliable messages
    DReliable,
    /// 200 clients without messages: the server, for each client and tick
    E200,
    /// The same with 1000 clients
    E1000,
    /// 200 clients, 64 bytes from each and 200 bytes to each in a tick: the server, for each client and
    /// tick
    F200,
    /// The same with 1000 clients
    F1000,
    /// Reliable packets of 64 KiB, one way, 256 KiB under way: both hosts, for each KiB
    T,
    /// The same with 4 MiB under way
    T4m,
    /// Packets of 1 MiB, 4 MiB under way
    T1m,
    /// With --sealed: an unreliable message of 64 bytes each way a tick: both hosts, for each message
    S64,
    /// The same with messages of 200 bytes
    S200,
    /// The same with messages of 1100 bytes
    S1100,
    /// With --crowd: 10,000 clients, of which 10 get and send the messages of F: the server, for each
    /// client and tick
    C10,
    /// The same with 100 such clients
    C100,
    /// The same with 1000 such clients
    C1000,
    /// The same with 10,000 such clients
    C10000,
}

impl Load {
    /// The loads of the table of processor time.
    pub const ALL: [Self; 9] = [
        Self::DUnreliable,
        Self::DReliable,
        Self::E200,
        Self::E1000,
        Self::F200,
        Self::F1000,
        Self::T,
        Self::T4m,
        Self::T1m,
    ];

    /// The loads of the table of what sealing costs.
    pub const SEALED: [Self; 5] = [Self::S64, Self::S200, Self::S1100, Self::F200, Self::F1000];

    /// The loads of the table of a crowd.
    pub const CROWD: [Self; 4] = [Self::C10, Self::C100, Self::C1000, Self::C10000];

    /// The name in tables, and the unit.
    pub const fn titles(self) -> [&'static str; 2] {
        match self {
            Self::DUnreliable => ["D, unreliable", "message"],
            Self::DReliable => ["D, reliable", "message"],
            Self::E200 => ["E, 200 idle clients", "client and tick"],
            Self::E1000 => ["E, 1000 idle clients", "client and tick"],
            Self::F200 => ["F, 200 clients", "client and tick"],
            Self::F1000 => ["F, 1000 clients", "client and tick"],
            Self::T => ["T, 64 KiB packets, 256 KiB under way", "KiB"],
            Self::T4m => ["T, 64 KiB packets, 4 MiB under way", "KiB"],
            Self::T1m => ["T, 1 MiB packets, 4 MiB under way", "KiB"],
            Self::S64 => ["S, 64 bytes", "message"],
            Self::S200 => ["S, 200 bytes", "message"],
            Self::S1100 => ["S, 1100 bytes", "message"],
            Self::C10 => ["10", "client and tick"],
            Self::C100 => ["100", "client and tick"],
            Self::C1000 => ["1000", "client and tick"],
            Self::C10000 => ["10,000", "client and tick"],
        }
    }

    pub const fn is_idle(self) -> bool {
        matches!(self, Self::E200 | Self::E1000)
    }

    /// Whether one connection carries a message each way in a tick.
    pub const fn is_exchange(self) -> bool {
        matches!(self, Self::S64 | Self::S200 | Self::S1100)
    }

    pub const fn task(self) -> Task {
        match self {
            Self::DUnreliable => messages(false),
            Self::DReliable => messages(true),
            Self::E200 => clients(200, None, 600),
            Self::E1000 => clients(1000, None, 600),
            Self::F200 => clients(200, Some([64, 200]), 120),
            Self::F1000 => clients(1000, Some([64, 200]), 60),
            Self::T => transfer(64 << 10, 256 << 10),
            Self::T4m => transfer(64 << 10, 4 << 20),
            Self::T1m => transfer(1 << 20, 4 << 20),
            Self::S64 => exchange(64),
            Self::S200 => exchange(200),
            Self::S1100 => exchange(1100),
            Self::C10 => crowd(10),
            Self::C100 => crowd(100),
            Self::C1000 => crowd(1000),
            Self::C10000 => crowd(10_000),
        }
    }
}

const fn messages(reliable: bool) -> Task {
    Task::Messages(Messages {
        reliable,
        length: 64,
        count: 32,
        channels: 1,
        ticks: ticks(300),
    })
}

const fn exchange(length: usize) -> Task {
    Task::Exchange(Exchange {
        length,
        ticks: ticks(1200),
    })
}

const fn clients(count: usize, lengths: Option<[usize; 2]>, counted: u64) -> Task {
    Task::Clients(Clients {
        count,
        active: count,
        lengths,
        ticks: ticks(counted),
    })
}

const fn crowd(active: usize) -> Task {
    Task::Clients(Clients {
        count: CROWD,
        active,
        lengths: Some([64, 200]),
        ticks: ticks(60),
    })
}

const fn ticks(counted: u64) -> Ticks {
    Ticks {
        warm_up: WARM_UP,
        counted,
    }
}

/// A transfer of 14 MiB, after one of 2 MiB, or of two of the bytes that are under way.
const fn transfer(length: usize, under_way: usize) -> Task {
    let under_way = (under_way / length) as u64;
    let mebibyte = (1 << 20) / length as u64;
    let warm_up = if 2 * under_way > 2 * mebibyte {
        2 * under_way
    } else {
        2 * mebibyte
    };
    Task::Transfer(Transfer {
        length,
        under_way,
        warm_up,
        packets: warm_up + 14 * mebibyte,
    })
}
