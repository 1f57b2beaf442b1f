//! Messages for games, bit-packed: one function reads, writes and measures each of them.
#![no_std]
#![doc(test(attr(deny(warnings))))]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod ack;
mod error;
mod sequence;
mod sequence_buffer;
mod serialize;
mod stream;

pub use ack::{AckHeader, AckStats, AckSystem, Arrival};
pub use error::Error;
pub use sequence::newer;
pub use sequence_buffer::SequenceBuffer;
pub use serialize::{Serialize, measure, read, write};
pub use stream::{Float, Integer, MAX_DEPTH, MeasureStream, ReadStream, Stream, WriteStream};
