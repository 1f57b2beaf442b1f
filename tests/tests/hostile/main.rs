//! The hostile catalogue: everything that is known to hurt a transport for games, case by case, with
//! the memory and the work that it may cost (`docs/hostile.md`).
#![expect(clippy::unwrap_used, reason = "tests")]

extern crate alloc;

mod catalogue;
mod metered;
mod peers;
mod scene;

mod acks;
mod budgets;
mod damage;
mod floods;
mod fragments;
mod frames;
mod habits;
mod markers;
mod messages;
mod packets;
mod ranges;
mod reading;
mod requests;
mod round_trips;
mod sending;
mod windows;
