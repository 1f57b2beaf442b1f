//! The ids of messages and blocks.
//!
//! They wrap around, but so late that nothing with the same one is on its way: a packet has no more
//! than a window of 16,384 ids, and carriers drop what is half a turn of their own numbers late, which
//! makes 2²⁹ at most.

use crate::error::Error;
use crate::stream::{MeasureStream, Stream};

/// Beyond half of a turn, what is older and what is newer cannot be told.
const HALF: u32 = 1 << 31;

/// The bits of an id that stands alone.
pub(super) const ID_BITS: u64 = 32;

/// An id that stands alone.
pub(super) fn serialize<S: Stream>(stream: &mut S, id: &mut u32) -> Result<(), Error> {
    stream.ranged(id, 0..=u32::MAX)
}

/// The id of a message: all of the first in a packet, and of the others how far they are from the one
/// before.
pub(super) fn serialize_after<S: Stream>(
    stream: &mut S,
    id: &mut u32,
    previous: Option<u32>,
) -> Result<(), Error> {
    match previous {
        Some(previous) => stream.relative(id, previous),
        None => serialize(stream, id),
    }
}

/// How many bits that takes.
pub(super) fn bits_after(id: u32, previous: Option<u32>) -> u64 {
    let mut stream = MeasureStream::new();
    // Every id can be measured.
    let _ = serialize_after(&mut stream, &mut { id }, previous);
    stream.measured()
}

/// The id of the block of a piece: all of the first in a packet, and of the others how far they are
/// from the one before, which is probably of the same.
pub(super) fn serialize_near<S: Stream>(
    stream: &mut S,
    id: &mut u32,
    previous: Option<u32>,
) -> Result<(), Error> {
    match previous {
        Some(previous) => stream.delta(id, previous),
        None => serialize(stream, id),
    }
}

/// Whether this id is in a window that begins at `next`, or older than that.
///
/// # Errors
///
/// [`Error::OutOfRange`] if it is ahead of the window.
pub(super) fn check(id: u32, next: u32, window: u16) -> Result<(), Error> {
    let is_old = next.wrapping_sub(id) <= HALF;
    match is_old || is_ahead(id, next, window) {
        true => Ok(()),
        false => Err(Error::OutOfRange),
    }
}

/// Whether this id is in a window that begins at `next`.
pub(super) fn is_ahead(id: u32, next: u32, window: u16) -> bool {
    id.wrapping_sub(next) < window.into()
}
