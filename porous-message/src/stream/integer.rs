//! Integers as distances from a bound.

use super::{Stream, rare};
use crate::error::Error;

/// The integers of Rust, except `usize` and `isize`, whose width depends on the machine.
///
/// Other types cannot implement it.
pub trait Integer: Copy + PartialOrd + core::fmt::Debug + private::Sealed {
    /// The width in bits.
    const BITS: u32;
    /// The least value.
    const MIN: Self;
    /// The greatest value.
    const MAX: Self;
    /// Zero.
    const ZERO: Self;

    /// The distance of this integer above `base`, modulo 2 to the power of [`BITS`](Self::BITS).
    ///
    /// ```
    /// use porous_message::Integer;
    ///
    /// assert_eq!((-3_i8).above(-5), 2);
    /// assert_eq!(1_u8.above(255), 2);
    /// ```
    #[must_use]
    fn above(self, base: Self) -> u128;

    /// The integer at this distance above `base`: the inverse of [`above`](Self::above).
    ///
    /// ```
    /// use porous_message::Integer;
    ///
    /// assert_eq!(i8::from_above(-5, 2), -3);
    /// ```
    #[must_use]
    fn from_above(base: Self, distance: u128) -> Self;
}

mod private {
    #[expect(unnameable_types, reason = "nobody else implements it")]
    pub trait Sealed {}
}

macro_rules! integers {
    ($($int:ident $unsigned:ident)*) => {$(
        impl private::Sealed for $int {}

        impl Integer for $int {
            const BITS: u32 = $int::BITS;
            const MIN: Self = $int::MIN;
            const MAX: Self = $int::MAX;
            const ZERO: Self = 0;

            #[inline]
            fn above(self, base: Self) -> u128 {
                let distance = self.wrapping_sub(base).to_le_bytes();
                u128::from($unsigned::from_le_bytes(distance))
            }

            #[inline]
            fn from_above(base: Self, distance: u128) -> Self {
                let low = distance.to_le_bytes();
                let low = low.first_chunk().copied().map_or(0, $int::from_le_bytes);
                base.wrapping_add(low)
            }
        }
    )*};
}

integers! {
    u8 u8 u16 u16 u32 u32 u64 u64 u128 u128
    i8 u8 i16 u16 i32 u32 i64 u64 i128 u128
}

/// The distance from `min`, in as many bits as the distance of `max` has.
#[inline]
pub(super) fn ranged<S: Stream, T: Integer>(
    stream: &mut S,
    value: &mut T,
    min: T,
    max: T,
) -> Result<(), Error> {
    if min > max {
        return Err(rare(Error::Bounds));
    }
    let span = max.above(min);
    // A value below `min` is above `max`, since the distance wraps.
    let mut distance = value.above(min);
    if !S::READS && distance > span {
        return Err(rare(Error::OutOfRange));
    }
    // As many bits as the largest distance has. Some numbers of that width may be beyond the range.
    wide(stream, &mut distance, u128::BITS - span.leading_zeros())?;
    if S::READS {
        if distance > span {
            return Err(rare(Error::OutOfRange));
        }
        *value = T::from_above(min, distance);
    }
    Ok(())
}

/// The lowest `bits` bits of a number, up to 128.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the halves of a word")]
pub(super) fn wide<S: Stream>(stream: &mut S, value: &mut u128, bits: u32) -> Result<(), Error> {
    let mut low = *value as u64;
    stream.bits(&mut low, bits.min(64))?;
    let mut high = (*value >> 64) as u64;
    if bits > 64 {
        stream.bits(&mut high, bits - 64)?;
    }
    if S::READS {
        *value = u128::from(low) | if bits > 64 { u128::from(high) << 64 } else { 0 };
    }
    Ok(())
}
