//! Code that the scenario tests share: the contract of a channel as a model, traffic to test it with, and
//! ways to look at what two hosts did.

#[cfg(doctest)]
#[doc = include_str!("../../docs/security.md")]
mod security {}

#[cfg(doctest)]
#[doc = include_str!("../../porous-message-derive/src/message.md")]
mod derived {}

extern crate alloc;

pub mod again;
pub mod config;
pub mod crowd;
pub mod drivers;
pub mod encoder;
mod events;
pub mod flow;
pub mod forge;
mod parting;
pub mod players;
pub mod recorder;
pub mod remote;
pub mod sources;
mod stamps;
mod tape;
mod traffic;
mod wire;

pub use events::{
    Ends, assert_silent, assert_talk, connected, ended, events, one_connection, state,
};
pub use parting::{assert_all, assert_told, disconnect, flush, line, queue, quiet_pair, seed};
pub use porous_sim::Model;
pub use stamps::{percentile, receive_for, sent_at, stamped};
pub use tape::{Tape, Taped, record, record_while};
pub use traffic::Traffic;
pub use wire::{Kind, kind, nonce_peer, nonce_self};
