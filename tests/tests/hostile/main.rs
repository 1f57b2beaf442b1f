//! The hostile catalogue: everything that is known to hurt a transport for games, case by case.
//!
//! What a case costs in memory and in work stands in `docs/hostile.md`.
#![expect(clippy::unwrap_used, reason = "tests")]

extern crate alloc;

mod catalogue;
mod cheats;
mod costs;
mod forge;
mod guest;
mod metered;
mod peers;
mod scene;

mod acks;
mod asking;
mod budgets;
mod crowds;
mod damage;
mod effort;
mod endings;
mod ends;
mod fates;
mod fields;
mod floods;
mod fragments;
mod frames;
mod greetings;
mod habits;
mod halfopen;
mod leaps;
mod liars;
mod markers;
mod messages;
mod offers;
mod offpath;
mod packets;
mod ranges;
mod reading;
mod recovery;
mod replays;
mod requests;
mod resources;
mod roaming;
mod round_trips;
mod sending;
mod windows;
