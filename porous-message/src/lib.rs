//! Messages for games, bit-packed: one function reads, writes and measures each of them.
#![no_std]
#![doc(test(attr(deny(warnings))))]

extern crate alloc;
// What is derived names this crate, also in this crate.
extern crate self as porous_message;
#[cfg(test)]
extern crate std;

#[doc(hidden)]
#[path = "derive.rs"]
pub mod __derive;
mod error;
mod serialize;
mod stream;

pub use error::Error;
pub use porous_message_derive::Message;
pub use serialize::{Serialize, measure, read, write};
pub use stream::{Float, Integer, MAX_DEPTH, MeasureStream, ReadStream, Stream, WriteStream};
