//! Integers that are near another one.

use super::integer::wide;
use super::{Integer, Stream};
use crate::error::Error;

/// The widths of the classes of small numbers, in bits. Each class begins where the one before ends.
/// Classes that are as wide as the integer itself, or wider, are left out.
const WIDTHS: [u32; 8] = [0, 2, 4, 8, 12, 16, 32, 64];

pub(super) fn relative<S: Stream, T: Integer>(
    stream: &mut S,
    value: &mut T,
    base: T,
) -> Result<(), Error> {
    // Ascending numbers differ by at least 1, so the next integer has distance 0, the shortest form.
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

/// A number below two to the power of `T::BITS` that is probably small: a bit for each class, which is
/// 1 for the class of the number, and then the number's place in the class. A number in no class is
/// written whole.
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
    // A number that belongs to a class has a shorter form, and each number has only one.
    match *number < first {
        true => Err(Error::NotCanonical),
        false => Ok(()),
    }
}

/// A distance, modulo the width, so that small ones to either side become small numbers: 0, -1, 1, -2
/// become 0, 1, 2, 3.
pub(super) fn zigzag<T: Integer>(distance: u128) -> u128 {
    // The sign is the highest bit of the width, not of the 128 bits.
    let negative = distance >> (T::BITS - 1) & 1;
    (distance << 1 ^ negative.wrapping_neg()) & (u128::MAX >> (128 - T::BITS))
}

/// The inverse of [`zigzag`].
pub(super) fn unzigzag<T: Integer>(number: u128) -> u128 {
    (number >> 1 ^ (number & 1).wrapping_neg()) & (u128::MAX >> (128 - T::BITS))
}
