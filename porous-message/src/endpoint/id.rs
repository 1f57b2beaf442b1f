//! The ids of messages and blocks.
//!
//! Ids wrap around, but so late that no two on their way are the same: a packet has no more ids than a
//! window of 16,384, and carriers drop packets that are half a turn of their own numbers late, which
//! makes at most 2²⁹ ids.

use crate::error::Error;
use crate::stream::{MeasureStream, Stream};

/// Half a turn of ids: beyond this distance older and newer ids cannot be told apart.
const HALF: u32 = 1 << 31;

/// The length of an id without one before it, in bits.
pub(super) const ID_BITS: u64 = 32;

/// Serializes an id without one before it.
pub(super) fn serialize<S: Stream>(stream: &mut S, id: &mut u32) -> Result<(), Error> {
    stream.ranged(id, 0..=u32::MAX)
}

/// The id of a message: whole for the first one in a packet, and for each other one its distance from
/// the one before.
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

/// The bits that [`serialize_after`] takes.
pub(super) fn bits_after(id: u32, previous: Option<u32>) -> u64 {
    let mut stream = MeasureStream::new();
    // Measuring an id cannot fail.
    let _ = serialize_after(&mut stream, &mut { id }, previous);
    stream.measured()
}

/// The id of a piece's block: whole for the first piece in a packet, and for each other one its
/// distance from the one before, which is probably 0.
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

/// Checks that this id is in a window that begins at `next`, or older.
///
/// # Errors
///
/// [`Error::OutOfRange`] if the id is ahead of the window.
pub(super) fn check(id: u32, next: u32, window: u16) -> Result<(), Error> {
    let is_old = next.wrapping_sub(id) <= HALF;
    match is_old || is_ahead(id, next, window) {
        true => Ok(()),
        false => Err(Error::OutOfRange),
    }
}

/// True if this id is in a window that begins at `next`.
pub(super) fn is_ahead(id: u32, next: u32, window: u16) -> bool {
    id.wrapping_sub(next) < window.into()
}
