//! Streams of bits: one that writes, one that reads, one that measures, and the operations that all three
//! have (`docs/message.md`, "Primitives").

mod distance;
mod explained;
mod integer;
pub(crate) mod lists;
mod measure;
mod quantized;
mod read;
#[cfg(test)]
mod tests;
mod varint;
mod write;

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::RangeInclusive;

pub use self::explained::{Fault, explain, explain_read};
pub use self::integer::Integer;
pub use self::measure::MeasureStream;
pub use self::quantized::Float;
pub use self::read::ReadStream;
pub use self::write::WriteStream;
use crate::error::Error;
use crate::serialize::Serialize;

/// The most levels of nested lists, options and boxes.
///
/// A value of a recursive type needs stack for each level, and the sender chooses how many levels there
/// are. So a type that contains itself has to do so in one of these: other recursion is not counted.
pub const MAX_DEPTH: u32 = 64;

/// An error that is not expected. Without this hint, the compiler takes both branches for equally likely.
/// After a few fields it then takes all code that follows for rare, and does not inline it.
#[cold]
const fn rare(error: Error) -> Error {
    error
}

/// The lowest `bits` bits of a value.
#[inline]
const fn low(value: u64, bits: u32) -> u64 {
    if bits < 64 {
        value & !(!0 << bits)
    } else {
        value
    }
}

/// Where a [`Serialize`] value is written, read or measured: the value names its fields in order, and
/// the stream writes, reads or measures each.
///
/// A stream that reads sets the values that it is given, the others leave them unchanged. Every
/// method fails with [`Error::End`] if there are not enough bits, and after an error a stream is of
/// no use. A value out of bounds is [`Error::OutOfRange`] in every stream, so that nothing is written
/// that would be refused when it is read.
///
/// Each value has exactly one form: a value that was read and is written again gives the same bits.
pub trait Stream: Sized {
    /// True if the stream reads, and so sets values.
    const READS: bool;

    /// The lowest `bits` bits, 0 to 64; the others must be zero.
    ///
    /// # Errors
    ///
    /// [`Error::Bounds`] for more than 64 bits.
    ///
    /// ```
    /// use porous_message::{Error, MeasureStream, Stream};
    ///
    /// let mut stream = MeasureStream::new();
    /// assert_eq!(stream.bits(&mut 7, 3), Ok(()));
    /// assert_eq!(stream.bits(&mut 8, 3), Err(Error::OutOfRange));
    /// ```
    fn bits(&mut self, value: &mut u64, bits: u32) -> Result<(), Error>;

    /// The bytes of a slice, `bytes.len()` of them. They need not begin at a whole byte of the stream.
    ///
    /// # Errors
    ///
    /// As all methods.
    ///
    /// ```
    /// use porous_message::{ReadStream, Stream};
    ///
    /// let mut stream = ReadStream::new(b"abc");
    /// let mut two = [0; 2];
    /// stream.bytes(&mut two)?;
    /// assert_eq!(&two, b"ab");
    /// # Ok::<(), porous_message::Error>(())
    /// ```
    fn bytes(&mut self, bytes: &mut [u8]) -> Result<(), Error>;

    /// Zeros up to the next whole byte.
    ///
    /// # Errors
    ///
    /// [`Error::NotCanonical`] if one of them is not zero.
    ///
    /// ```
    /// use porous_message::{Stream, WriteStream};
    ///
    /// let mut buffer = [0; 2];
    /// let mut stream = WriteStream::new(&mut buffer);
    /// stream.bool(&mut true)?;
    /// stream.align()?;
    /// stream.bool(&mut true)?;
    /// assert_eq!(stream.finish(), [1, 1]);
    /// # Ok::<(), porous_message::Error>(())
    /// ```
    fn align(&mut self) -> Result<(), Error>;

    /// Levels of lists, options and boxes that the stream is in.
    #[doc(hidden)]
    fn depth(&mut self) -> &mut u32;

    /// The most of `items` items that there can be, if each takes at least `bits` bits. No more memory is
    /// taken before they are read.
    #[doc(hidden)]
    fn plausible(&self, items: usize, bits: usize) -> usize;

    /// Serializes a field by `inside`, and tells [`explain`] its name. All other streams run `inside`, and that costs
    /// nothing. Derived code calls it for each field; a [`Serialize`] that is written by hand may.
    ///
    /// # Errors
    ///
    /// Those of `inside`.
    ///
    /// ```
    /// use porous_message::{Error, Serialize, Stream, explain};
    ///
    /// struct Weapon(u8);
    ///
    /// impl Serialize for Weapon {
    ///     fn blank() -> Self {
    ///         Self(0)
    ///     }
    ///
    ///     fn serialize<S: Stream>(&mut self, stream: &mut S) -> Result<(), Error> {
    ///         stream.field("weapon", |stream| stream.ranged(&mut self.0, 0..=9))
    ///     }
    /// }
    ///
    /// let fault = explain(&mut Weapon(12)).expect_err("there are ten weapons");
    /// assert_eq!(fault.to_string(), "weapon: 12 is not in 0..=9");
    /// ```
    #[inline]
    fn field(
        &mut self,
        name: &'static str,
        inside: impl FnOnce(&mut Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let _ = name;
        inside(self)
    }

    /// As [`field`](Self::field) for an item of a list.
    #[doc(hidden)]
    #[inline]
    fn item(
        &mut self,
        number: usize,
        inside: impl FnOnce(&mut Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let _ = number;
        inside(self)
    }

    /// One bit.
    ///
    /// # Errors
    ///
    /// As all methods.
    ///
    /// ```
    /// use porous_message::{ReadStream, Stream};
    ///
    /// let mut flag = false;
    /// ReadStream::new(&[1]).bool(&mut flag)?;
    /// assert!(flag);
    /// # Ok::<(), porous_message::Error>(())
    /// ```
    #[inline]
    fn bool(&mut self, value: &mut bool) -> Result<(), Error> {
        let mut bit = u64::from(*value);
        self.bits(&mut bit, 1)?;
        if Self::READS {
            *value = bit == 1;
        }
        Ok(())
    }

    /// An integer from a range, with as many bits as the distance between its ends needs.
    ///
    /// # Errors
    ///
    /// [`Error::Bounds`] if the range is empty.
    ///
    /// ```
    /// use porous_message::{Error, MeasureStream, Stream};
    ///
    /// let mut stream = MeasureStream::new();
    /// stream.ranged(&mut -1, -4..=3)?;
    /// assert_eq!(stream.measured(), 3);
    /// assert_eq!(stream.ranged(&mut 4, -4..=3), Err(Error::OutOfRange));
    /// # Ok::<(), Error>(())
    /// ```
    #[inline]
    fn ranged<T: Integer>(&mut self, value: &mut T, range: RangeInclusive<T>) -> Result<(), Error> {
        integer::ranged(self, value, *range.start(), *range.end())
    }

    /// The number of a kind, less than `count`, with just as many bits as `count - 1` needs.
    ///
    /// # Errors
    ///
    /// [`Error::Bounds`] if `count` is 0.
    ///
    /// ```
    /// use porous_message::{Error, MeasureStream, Stream};
    ///
    /// let mut stream = MeasureStream::new();
    /// stream.kind(&mut 4, 5)?;
    /// assert_eq!(stream.measured(), 3);
    /// assert_eq!(stream.kind(&mut 5, 5), Err(Error::OutOfRange));
    /// # Ok::<(), Error>(())
    /// ```
    #[inline]
    fn kind(&mut self, value: &mut u32, count: u32) -> Result<(), Error> {
        let last = count.checked_sub(1).ok_or(Error::Bounds)?;
        integer::ranged(self, value, 0, last)
    }

    /// An integer of any size, with few bits if it is small: groups of 7 bits, the lowest first, each
    /// followed by a bit that is 1 if another group follows. The signed integers 0, -1, 1, -2 and so on
    /// are written as 0, 1, 2, 3.
    ///
    /// # Errors
    ///
    /// [`Error::NotCanonical`] if the last group is zero and not the only one.
    ///
    /// ```
    /// use porous_message::{MeasureStream, Stream};
    ///
    /// let mut stream = MeasureStream::new();
    /// stream.varint(&mut 127_u64)?;
    /// assert_eq!(stream.measured(), 8);
    /// stream.varint(&mut -65_i16)?;
    /// assert_eq!(stream.measured(), 8 + 16);
    /// # Ok::<(), porous_message::Error>(())
    /// ```
    fn varint<T: Integer>(&mut self, value: &mut T) -> Result<(), Error> {
        varint::varint(self, value)
    }

    /// A float from a range, rounded to the nearest multiple of `resolution` above the start of the range.
    /// If the steps would not fit evenly, they are made a little smaller, so that both ends are among them.
    /// A number outside of the range becomes the nearest end.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`] for a NaN. [`Error::Bounds`] if the range is empty or infinite, or if `F` could
    /// not tell the steps around the larger end apart: a step has to be at least 2⁻²³ of the end that is
    /// farther from zero for an `f32`, 2⁻⁴⁸ for an `f64`.
    ///
    /// ```
    /// use porous_message::{ReadStream, Stream, WriteStream};
    ///
    /// let mut buffer = [0; 4];
    /// let mut stream = WriteStream::new(&mut buffer);
    /// stream.quantized(&mut 0.333, -1.0..=1.0, 0.01)?;
    /// assert_eq!(stream.written(), 8); // 201 values
    /// let bytes = stream.finish();
    /// let mut read = 0.0_f32;
    /// ReadStream::new(bytes).quantized(&mut read, -1.0..=1.0, 0.01)?;
    /// assert!((read - 0.33).abs() < 1e-6);
    /// # Ok::<(), porous_message::Error>(())
    /// ```
    #[inline]
    fn quantized<F: Float>(
        &mut self,
        value: &mut F,
        range: RangeInclusive<F>,
        resolution: F,
    ) -> Result<(), Error> {
        quantized::quantized(self, value, &range, resolution)
    }

    /// An integer that is probably a little larger than `base`, modulo its width: ascending indices, or
    /// sequence numbers, which wrap around. One bit for `base` + 1, few for the integers after.
    ///
    /// # Errors
    ///
    /// [`Error::NotCanonical`] if the integer had a shorter form.
    ///
    /// ```
    /// use porous_message::{MeasureStream, Stream};
    ///
    /// let mut stream = MeasureStream::new();
    /// stream.relative(&mut 0_u16, 65_535)?;
    /// assert_eq!(stream.measured(), 1);
    /// stream.relative(&mut 4_u16, 0)?;
    /// assert_eq!(stream.measured(), 1 + 4);
    /// # Ok::<(), porous_message::Error>(())
    /// ```
    fn relative<T: Integer>(&mut self, value: &mut T, base: T) -> Result<(), Error> {
        distance::relative(self, value, base)
    }

    /// An integer that is probably near `base`, on either side, modulo its width. One bit if the two
    /// are equal.
    ///
    /// # Errors
    ///
    /// [`Error::NotCanonical`] if the integer had a shorter form.
    ///
    /// ```
    /// use porous_message::{MeasureStream, Stream};
    ///
    /// let mut stream = MeasureStream::new();
    /// stream.delta(&mut 1000_i32, 1000)?;
    /// assert_eq!(stream.measured(), 1);
    /// stream.delta(&mut 998_i32, 1000)?;
    /// assert_eq!(stream.measured(), 1 + 4);
    /// # Ok::<(), porous_message::Error>(())
    /// ```
    fn delta<T: Integer>(&mut self, value: &mut T, base: T) -> Result<(), Error> {
        distance::delta(self, value, base)
    }

    /// Bytes whose number is in a range.
    ///
    /// # Errors
    ///
    /// As all methods.
    ///
    /// ```
    /// use porous_message::{MeasureStream, Stream};
    ///
    /// let mut stream = MeasureStream::new();
    /// stream.byte_vec(&mut vec![1, 2, 3], 0..=15)?;
    /// assert_eq!(stream.measured(), 4 + 24);
    /// # Ok::<(), porous_message::Error>(())
    /// ```
    fn byte_vec(&mut self, bytes: &mut Vec<u8>, len: RangeInclusive<usize>) -> Result<(), Error> {
        lists::byte_vec(self, bytes, len)
    }

    /// A string of at most `max` bytes.
    ///
    /// # Errors
    ///
    /// [`Error::NotUtf8`] if the bytes that are read are not UTF-8.
    ///
    /// ```
    /// use porous_message::{Error, MeasureStream, Stream};
    ///
    /// let mut stream = MeasureStream::new();
    /// stream.string(&mut "Ünal".into(), 20)?;
    /// assert_eq!(stream.measured(), 5 + 40);
    /// assert_eq!(stream.string(&mut "Ünal".into(), 4), Err(Error::OutOfRange));
    /// # Ok::<(), Error>(())
    /// ```
    fn string(&mut self, string: &mut String, max: usize) -> Result<(), Error> {
        lists::string(self, string, max)
    }

    /// Items whose number is in a range, each serialized by `item`.
    ///
    /// The sender chooses how many items there are. If an item can take no bits at all, a few bytes can
    /// bring as many items as the range allows.
    ///
    /// # Errors
    ///
    /// [`Error::TooDeep`] beyond [`MAX_DEPTH`].
    ///
    /// ```
    /// use porous_message::{MeasureStream, Stream};
    ///
    /// let mut stream = MeasureStream::new();
    /// let mut dice = vec![1_u8, 6, 6];
    /// stream.list(&mut dice, 1..=4, |die, stream| stream.ranged(die, 1..=6))?;
    /// assert_eq!(stream.measured(), 2 + 3 * 3);
    /// # Ok::<(), porous_message::Error>(())
    /// ```
    fn list<T: Serialize>(
        &mut self,
        items: &mut Vec<T>,
        len: RangeInclusive<usize>,
        item: impl FnMut(&mut T, &mut Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        lists::list(self, items, len, T::blank, item)
    }

    /// A bit that is 1 if there is a value, and the value, serialized by `some`.
    ///
    /// # Errors
    ///
    /// [`Error::TooDeep`] beyond [`MAX_DEPTH`].
    ///
    /// ```
    /// use porous_message::{MeasureStream, Serialize, Stream};
    ///
    /// let mut stream = MeasureStream::new();
    /// stream.option(&mut None, u32::serialize)?;
    /// stream.option(&mut Some(9_u8), |value, stream| stream.ranged(value, 0..=9))?;
    /// assert_eq!(stream.measured(), 1 + 1 + 4);
    /// # Ok::<(), porous_message::Error>(())
    /// ```
    #[inline]
    fn option<T: Serialize>(
        &mut self,
        value: &mut Option<T>,
        some: impl FnOnce(&mut T, &mut Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        lists::option(self, value, T::blank, some)
    }

    /// A word of 32 bits that has to be at this place. It shows where a reader and a writer part ways.
    ///
    /// # Errors
    ///
    /// [`Error::Desync`] if another word was read.
    ///
    /// ```
    /// use porous_message::{Error, ReadStream, Stream};
    ///
    /// let mut stream = ReadStream::new(b"poru");
    /// assert_eq!(stream.check(u32::from_le_bytes(*b"poro")), Err(Error::Desync));
    /// ```
    fn check(&mut self, word: u32) -> Result<(), Error> {
        let mut found = word.into();
        self.bits(&mut found, 32)?;
        match found == u64::from(word) {
            true => Ok(()),
            false => Err(Error::Desync),
        }
    }
}
