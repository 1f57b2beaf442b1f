//! The hostile catalogue: everything that is known to hurt a transport for games, case by case, with
//! the memory and the work that it may cost (`docs/hostile.md`).
#![expect(clippy::unwrap_used, reason = "tests")]

mod catalogue;
mod metered;
mod peers;
mod scene;

mod acks;
mod fragments;
mod frames;
mod markers;
mod packets;
mod ranges;
mod reading;
mod requests;
mod round_trips;
mod windows;
