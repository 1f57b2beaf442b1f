//! The kinds of packets that a game sends.

use porous_sim::Seed;
use porous_std::{ChannelId, Mode, Priority};

/// The channel of the file, which gives way to everything else.
pub(crate) const FILE: ChannelId = ChannelId(3);

/// The priorities of all channels, in order: events, states, updates, the file.
pub(crate) const CHANNELS: [Priority; 4] = [
    Priority::High,
    Priority::High,
    Priority::High,
    Priority::Low,
];

/// One of the streams of packets that follow the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A shot was fired, a door opened: reliable.
    Event,
    /// The place of an object now, which the next state replaces: unreliable.
    State,
    /// A large piece of the world that may come late, but not out of order: passive.
    Update,
}

impl Kind {
    /// All of them, in the order of their channels.
    pub(crate) const ALL: [Self; 3] = [Self::Event, Self::State, Self::Update];

    pub(crate) const fn channel(self) -> ChannelId {
        ChannelId(self as u8)
    }

    pub(crate) const fn mode(self) -> Mode {
        match self {
            Self::Event => Mode::Reliable,
            Self::State => Mode::Unreliable,
            Self::Update => Mode::Passive,
        }
    }

    /// The kind that is sent with this mode.
    pub(crate) const fn of_mode(mode: Mode) -> Self {
        match mode {
            Mode::Reliable => Self::Event,
            Mode::Unreliable => Self::State,
            Mode::Passive => Self::Update,
        }
    }

    /// Packets a second.
    pub(crate) const fn rate(self) -> u32 {
        match self {
            Self::Event => 12,
            Self::State => 60,
            Self::Update => 4,
        }
    }

    /// Bytes a packet.
    pub(crate) const fn size(self) -> usize {
        match self {
            Self::Event => 24,
            Self::State => 200,
            Self::Update => 3000,
        }
    }
}

/// The direction of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// From a client to the server.
    Up,
    /// From the server to a client.
    Down,
}

impl Direction {
    /// The kinds that are sent in this direction.
    pub(crate) const fn kinds(self) -> &'static [Kind] {
        match self {
            Self::Up => &[Kind::Event, Kind::State],
            Self::Down => &Kind::ALL,
        }
    }

    /// The seed of everything that belongs to this direction of this client's link.
    pub(crate) fn seed(self, run: Seed, client: usize) -> Seed {
        let name = match self {
            Self::Up => "up",
            Self::Down => "down",
        };
        run.child(name, client as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_and_modes_are_distinct() {
        for (n, kind) in Kind::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(kind.channel().0), n);
            assert_eq!(Kind::of_mode(kind.mode()), kind);
        }
        assert_eq!(usize::from(FILE.0) + 1, CHANNELS.len());
    }
}
