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
pub mod ack;
mod endpoint;
mod error;
mod sequence;
mod sequence_buffer;
mod serialize;
mod session;
mod stream;

pub use ack::{AckHeader, AckStats, AckSystem, Freshness};
pub use endpoint::{
    Arrival, Endpoint, MessageChannel, MessageConfig, MessageConfigError, MessageStats, Reason,
    Resend, Unsent,
};
pub use error::Error;
pub use porous_message_derive::Message;
pub use sequence::newer;
pub use sequence_buffer::SequenceBuffer;
pub use serialize::{Serialize, measure, read, write};
pub use session::Session;
pub use stream::{Float, Integer, MAX_DEPTH, MeasureStream, ReadStream, Stream, WriteStream};
