//! Which message goes into which packet, and what follows from the packet's fate.
#![expect(clippy::unwrap_used, reason = "a test")]

mod blocks;
mod carrier;
mod confirmations;
mod messages;
mod refusals;
mod sharing;
mod unreliable;
mod wire;
