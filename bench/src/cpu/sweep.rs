//! Loads of which one figure changes, for the chart.

use clap::ValueEnum;
use porous_loads::node::Protocol;
use porous_loads::task::{Clients, Messages, Task, Ticks};

/// What changes from point to point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sweep {
    /// The length of messages, one way, reliable: up to 32 a tick
    Length,
    /// The clients of a server, with the messages of F
    Clients,
    /// The channels of a connection that carry 32 reliable messages of 64 bytes a tick in turn
    Channels,
}

impl Sweep {
    pub(super) const ALL: [Self; 3] = [Self::Length, Self::Clients, Self::Channels];

    /// The name in the chart, and the unit.
    pub(super) const fn titles(self) -> [&'static str; 2] {
        match self {
            Self::Length => ["length of a reliable message, bytes", "message"],
            Self::Clients => ["clients of a server", "client and tick"],
            Self::Channels => ["channels", "message of 64 bytes"],
        }
    }

    pub(super) const fn points(self) -> &'static [usize] {
        match self {
            Self::Length => &[16, 64, 256, 1024, 4096, 16_384, 65_536],
            Self::Clients => &[1, 10, 100, 1000, 4000],
            Self::Channels => &[1, 4, 16, 64, 255],
        }
    }

    /// Whether a protocol can do this: see `bench/README.md`.
    pub(super) fn is_possible(self, at: usize, protocol: &Protocol) -> bool {
        match (self, protocol.name) {
            (Self::Length, "renet") => at < 60_000,
            (Self::Clients, "kcp-fast") => false,
            _ => true,
        }
    }

    pub(super) fn task(self, at: usize) -> Task {
        let ticks = Ticks {
            warm_up: 120,
            counted: 60,
        };
        match self {
            Self::Length => Task::Messages(Messages {
                reliable: true,
                length: at,
                count: (32 * 1024 / at).clamp(1, 32) as u64,
                channels: 1,
                ticks,
            }),
            Self::Clients => Task::Clients(Clients {
                count: at,
                active: at,
                lengths: Some([64, 200]),
                // Connections of 4000 clients take long under callgrind.
                ticks: Ticks {
                    warm_up: 16,
                    counted: (1000 / at).clamp(2, 60) as u64,
                },
            }),
            Self::Channels => Task::Messages(Messages {
                reliable: true,
                length: 64,
                count: 32,
                channels: at as u8,
                ticks,
            }),
        }
    }
}
