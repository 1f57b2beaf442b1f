//! POROUS: packetized, optionally-reliable, orthogonal UDP streams, as a pure state machine.
#![no_std]
#![doc(test(attr(deny(warnings))))]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod config;
#[doc(hidden)]
pub mod doc;
mod error;
mod event;
mod frame;
mod host;
mod peer;
mod sequencing;
mod serial;
mod stats;
mod time;
mod transfer;
mod wire;

pub use config::{Config, Priority};
pub use error::{ConfigError, ConnectError, ListenError, SendError, UnknownPeer};
pub use event::{
    Disconnect, DisconnectReason, Disposition, Ecn, Event, Ignored, Listen, Received, Refusal,
    Transmit,
};
pub use frame::{Integrity, Malformed, Mode};
pub use host::{Address, ChannelId, Host, PeerId};
pub use peer::{Peer, PeerState};
pub use stats::{HostStats, ModeCounts, PeerStats};
pub use time::Instant;
