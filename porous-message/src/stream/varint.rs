//! Integers that take few bits if they are small.

use super::distance::{unzigzag, zigzag};
use super::{Integer, Stream};
use crate::error::Error;

/// Bits of a group, without the bit that is 1 if another group follows.
const GROUP: u32 = 7;

pub(super) fn varint<S: Stream, T: Integer>(stream: &mut S, value: &mut T) -> Result<(), Error> {
    let is_signed = T::MIN < T::ZERO;
    let distance = value.above(T::ZERO);
    let number = if is_signed {
        zigzag::<T>(distance)
    } else {
        distance
    };
    let read = groups(stream, number, T::BITS)?;
    if S::READS {
        let distance = if is_signed { unzigzag::<T>(read) } else { read };
        *value = T::from_above(T::ZERO, distance);
    }
    Ok(())
}

/// Writes a number of up to `bits` bits, or returns the one that was read.
fn groups<S: Stream>(stream: &mut S, number: u128, bits: u32) -> Result<u128, Error> {
    let (mut rest, mut read, mut place) = (number, 0, 0);
    loop {
        let mut group = (rest & 0x7F) as u64;
        rest >>= GROUP;
        let mut more = rest != 0;
        stream.bits(&mut group, GROUP)?;
        stream.bool(&mut more)?;
        if S::READS {
            // Bits of the last group beyond the width must be zero.
            if bits - place < GROUP && group >> (bits - place) != 0 {
                return Err(Error::OutOfRange);
            }
            // A zero group at the end adds nothing: the number has a shorter form.
            if group == 0 && !more && place > 0 {
                return Err(Error::NotCanonical);
            }
            read |= u128::from(group) << place;
        }
        place += GROUP;
        if !more {
            return Ok(read);
        }
        if place >= bits {
            // More groups than the type has bits for. This also bounds the loop.
            return Err(Error::OutOfRange);
        }
    }
}
