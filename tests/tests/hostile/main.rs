//! The hostile catalogue: everything that is known to hurt a transport for games, case by case, with
//! the memory and the work that it may cost (`docs/hostile.md`).
#![expect(clippy::unwrap_used, reason = "tests")]

extern crate alloc;

mod catalogue;
mod forge;
mod guest;
mod metered;
mod scene;

mod asking;
mod crowds;
mod endings;
mod ends;
mod fields;
mod fragments;
mod halfopen;
mod liars;
mod offers;
mod offpath;
mod replays;
mod requests;
mod resources;
