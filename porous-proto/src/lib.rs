//! POROUS: packetized, optionally-reliable, orthogonal UDP streams, as a pure state machine.
#![no_std]
#![doc(test(attr(deny(warnings))))]

extern crate alloc;

mod frame;
mod time;

pub use frame::Mode;
pub use time::Instant;
