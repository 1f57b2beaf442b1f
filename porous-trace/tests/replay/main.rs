//! What was recorded is replayed, byte for byte, and each change of a record is seen.
#![expect(clippy::unwrap_used, reason = "tests")]
#![expect(clippy::wildcard_enum_match_arm, reason = "tests look at some kinds")]

extern crate alloc;

mod calls;
mod changes;
mod same;
mod sealed;
mod talk;
mod world;
