//! What goes into which packet, and what becomes of the packet.
#![expect(clippy::unwrap_used, reason = "a test")]

mod blocks;
mod carrier;
mod confirmations;
mod messages;
mod refusals;
mod sharing;
mod unreliable;
mod wire;
