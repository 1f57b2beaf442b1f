//! The packets of the game, and how each is sent.

use porous_message::Message;

use crate::world::{Happening, Input, LAST, PLAYERS, Score};

/// The most inputs in a packet: the newest, and those before it, which may have been lost.
pub(crate) const REPEATED: usize = 4;

/// What a client sends in each tick. Unreliable: the next packet repeats it.
#[derive(Message, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Inputs {
    /// The number of the last input; those before it follow each other.
    pub(crate) newest: u32,
    #[message(len = 1..=REPEATED)]
    pub(crate) inputs: Vec<Input>,
    /// The tick of a snapshot that the client could not read, as it lacks what the snapshot refers to.
    pub(crate) lacks: Option<u32>,
}

/// What a server tells one player reliably.
#[derive(Message, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// The number of this player.
    You(#[message(range = 0..=LAST)] u8),
    Happened(Happening),
}

/// The scores at a tick.
#[derive(Message, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scores {
    pub(crate) tick: u32,
    #[message(max = PLAYERS)]
    pub(crate) scores: Vec<Score>,
}

/// What a packet is about: it decides how the packet is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The inputs of a player: unreliable, and repeated in the next packets.
    Inputs,
    /// The bodies: unreliable, with a receipt, which says what the next ones may refer to.
    Snapshot {
        /// The token of the receipt.
        token: u64,
    },
    /// What has happened: reliable.
    Told,
    /// The scores: passive, as the next packet makes this one worthless.
    Scores,
}

/// A packet that the server sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// The number of the player.
    pub to: u8,
    /// How it is to be sent.
    pub kind: Kind,
    /// The packet.
    pub bytes: Vec<u8>,
}

impl Outgoing {
    pub(crate) fn new(to: u8, kind: Kind, bytes: &[u8]) -> Self {
        Self {
            to,
            kind,
            bytes: bytes.to_vec(),
        }
    }
}
