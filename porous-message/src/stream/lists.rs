//! Values of a variable number: bytes, strings, lists, options.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::RangeInclusive;

use super::{MAX_DEPTH, Stream};
use crate::error::Error;

/// The number of items, counted in 64 bits: the wire does not depend on the width of `usize`.
fn length<S: Stream>(
    stream: &mut S,
    current: usize,
    range: &RangeInclusive<usize>,
) -> Result<usize, Error> {
    let mut length = current as u64;
    let range = *range.start() as u64..=*range.end() as u64;
    stream.field("len()", |stream| stream.ranged(&mut length, range))?;
    usize::try_from(length).map_err(|_| Error::OutOfRange)
}

pub(super) fn byte_vec<S: Stream>(
    stream: &mut S,
    bytes: &mut Vec<u8>,
    range: RangeInclusive<usize>,
) -> Result<(), Error> {
    let length = length(stream, bytes.len(), &range)?;
    if S::READS {
        // Before memory is taken: a few bytes from a stranger must not claim megabytes.
        if stream.plausible(length, 8) < length {
            return Err(Error::End);
        }
        bytes.clear();
        bytes.resize(length, 0);
    }
    stream.bytes(bytes)
}

pub(super) fn string<S: Stream>(
    stream: &mut S,
    string: &mut String,
    max: usize,
) -> Result<(), Error> {
    let mut bytes = core::mem::take(string).into_bytes();
    let done = byte_vec(stream, &mut bytes, 0..=max);
    // Before the error is returned: a string that was written, and so is UTF-8, is put back.
    *string = String::from_utf8(bytes).map_err(|_| Error::NotUtf8)?;
    done
}

/// Each item is read into a `blank` one.
pub(crate) fn list<S: Stream, T>(
    stream: &mut S,
    items: &mut Vec<T>,
    range: RangeInclusive<usize>,
    blank: impl Fn() -> T,
    mut item: impl FnMut(&mut T, &mut S) -> Result<(), Error>,
) -> Result<(), Error> {
    let length = length(stream, items.len(), &range)?;
    deeper(stream, |stream| {
        if !S::READS {
            let mut items = items.iter_mut().enumerate();
            return items
                .try_for_each(|(number, each)| stream.item(number, |stream| item(each, stream)));
        }
        items.clear();
        // As many items as there are bits left at most: the sender chooses the length.
        items.reserve_exact(stream.plausible(length, 1));
        for number in 0..length {
            let mut each = blank();
            stream.item(number, |stream| item(&mut each, stream))?;
            items.push(each);
        }
        Ok(())
    })
}

#[inline]
pub(crate) fn option<S: Stream, T>(
    stream: &mut S,
    value: &mut Option<T>,
    blank: impl FnOnce() -> T,
    some: impl FnOnce(&mut T, &mut S) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut is_some = value.is_some();
    stream.bool(&mut is_some)?;
    if S::READS {
        *value = is_some.then(blank);
    }
    match value {
        Some(value) => deeper(stream, |stream| some(value, stream)),
        None => Ok(()),
    }
}

/// Runs a closure one level deeper, and fails beyond [`MAX_DEPTH`] levels.
#[inline]
pub(crate) fn deeper<S: Stream>(
    stream: &mut S,
    inside: impl FnOnce(&mut S) -> Result<(), Error>,
) -> Result<(), Error> {
    *stream.depth() += 1;
    if *stream.depth() > MAX_DEPTH {
        return Err(Error::TooDeep);
    }
    let done = inside(stream);
    *stream.depth() -= 1;
    done
}
