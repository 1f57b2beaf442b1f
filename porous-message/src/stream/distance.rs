//! Integers that are near another one.

use super::integer::wide;
use super::{Integer, Stream};
use crate::error::Error;

/// The widths of the classes of small numbers. Each class begins where the one before ends; those
/// that are as wide as the integer itself, or wider, are left out.
const WIDTHS: [u32; 8] = [0, 2, 4, 8, 12, 16, 32, 64];

pub(super) fn relative<S: Stream, T: Integer>(
    stream: &mut S,
    value: &mut T,
    base: T,
) -> Result<(), Error> {
    // The next one is nought.
    let base = T::from_above(base, 1);
    let mut number = value.above(base);
    small::<S, T>(stream, &mut number)?;
    if S::READS {
        *value = T::from_above(base, number);
    }
    Ok(())
}

pub(super) fn delta<S: Stream, T: Integer>(
    stream: &mut S,
    value: &mut T,
    base: T,
) -> Result<(), Error> {
    let mut number = zigzag::<T>(value.above(base));
    small::<S, T>(stream, &mut number)?;
    if S::READS {
        *value = T::from_above(base, unzigzag::<T>(number));
    }
    Ok(())
}

/// A number that is probably small, below two to the power of `T::BITS`: a bit for each class, which
/// is one for that of the number, and where the number is in the class. If it is in none, all of it.
fn small<S: Stream, T: Integer>(stream: &mut S, number: &mut u128) -> Result<(), Error> {
    let mut first = 0;
    for width in WIDTHS.into_iter().take_while(|width| *width < T::BITS) {
        let end = first + (1 << width);
        let mut is_here = *number < end;
        stream.bool(&mut is_here)?;
        if is_here {
            let mut place = number.wrapping_sub(first);
            wide(stream, &mut place, width)?;
            if S::READS {
                *number = first + place;
            }
            return Ok(());
        }
        first = end;
    }
    wide(stream, number, T::BITS)?;
    match *number < first {
        true => Err(Error::NotCanonical),
        false => Ok(()),
    }
}

/// A distance, modulo the width, so that those to either side are small: 0, -1, 1, -2 become 0, 1,
/// 2, 3.
pub(super) fn zigzag<T: Integer>(distance: u128) -> u128 {
    let negative = distance >> (T::BITS - 1) & 1;
    (distance << 1 ^ negative.wrapping_neg()) & (u128::MAX >> (128 - T::BITS))
}

/// The inverse.
pub(super) fn unzigzag<T: Integer>(number: u128) -> u128 {
    (number >> 1 ^ (number & 1).wrapping_neg()) & (u128::MAX >> (128 - T::BITS))
}
