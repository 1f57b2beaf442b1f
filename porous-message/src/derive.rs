//! Functions that the code of `#[derive(Message)]` calls, besides the methods of a [`Stream`]. Hidden: no
//! other code calls them.

use alloc::vec::Vec;
use core::ops::RangeInclusive;

use crate::error::Error;
use crate::serialize::Serialize;
use crate::stream::{Integer, Stream, lists};

/// The lowest `bits` bits of an integer; the others must be zero.
#[doc(hidden)]
#[inline]
pub fn bits<S: Stream, T: Integer>(stream: &mut S, value: &mut T, bits: u32) -> Result<(), Error> {
    if bits == 0 || bits > T::BITS {
        return Err(Error::Bounds);
    }
    let last = T::from_above(T::ZERO, u128::MAX >> (u128::BITS - bits));
    stream.ranged(value, T::ZERO..=last)
}

/// An item as a distance from the item before. The first item is written whole.
#[doc(hidden)]
#[inline]
pub fn chain<S: Stream, T: Integer + Serialize>(
    stream: &mut S,
    item: &mut T,
    last: &mut Option<T>,
    distance: impl FnOnce(&mut S, &mut T, T) -> Result<(), Error>,
) -> Result<(), Error> {
    match *last {
        Some(last) => distance(stream, item, last),
        None => item.serialize(stream),
    }?;
    *last = Some(*item);
    Ok(())
}

/// A list whose items need not be [`Serialize`].
#[doc(hidden)]
#[inline]
pub fn list<S: Stream, T>(
    stream: &mut S,
    items: &mut Vec<T>,
    len: RangeInclusive<usize>,
    blank: impl Fn() -> T,
    item: impl FnMut(&mut T, &mut S) -> Result<(), Error>,
) -> Result<(), Error> {
    lists::list(stream, items, len, blank, item)
}

/// An option whose value need not be [`Serialize`].
#[doc(hidden)]
#[inline]
pub fn option<S: Stream, T>(
    stream: &mut S,
    value: &mut Option<T>,
    blank: impl FnOnce() -> T,
    some: impl FnOnce(&mut T, &mut S) -> Result<(), Error>,
) -> Result<(), Error> {
    lists::option(stream, value, blank, some)
}
