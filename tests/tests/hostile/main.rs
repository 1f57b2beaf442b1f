//! The hostile catalogue: everything that is known to hurt a transport for games, case by case, with
//! the memory and the work that it may cost (`docs/hostile.md`).
#![expect(clippy::unwrap_used, reason = "tests")]

mod catalogue;
mod forge;
mod metered;
mod scene;

mod asking;
mod endings;
mod ends;
mod fields;
mod fragments;
mod halfopen;
mod offers;
mod requests;
