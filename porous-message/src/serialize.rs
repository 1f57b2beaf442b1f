//! The trait of values that one function reads, writes and measures.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::array;

use crate::error::Error;
use crate::stream::lists::deeper;
use crate::stream::{MeasureStream, ReadStream, Stream, WriteStream};

/// A value that knows how to serialize itself.
///
/// One function writes in a [`WriteStream`], reads in a [`ReadStream`], and counts bits in a
/// [`MeasureStream`]. So writer, reader and measure can never disagree, as long as the function does the
/// same steps in each stream.
///
/// [`#[derive(Message)]`](crate::Message) generates both functions. By hand:
///
/// ```
/// use porous_message::{Error, Serialize, Stream, read, write};
///
/// #[derive(Debug, Default, PartialEq)]
/// struct Shot {
///     at: [i32; 2],
///     weapon: u8,
///     charged: bool,
///     charge: u8,
/// }
///
/// impl Serialize for Shot {
///     fn blank() -> Self {
///         Self::default()
///     }
///
///     fn serialize<S: Stream>(&mut self, stream: &mut S) -> Result<(), Error> {
///         for axis in &mut self.at {
///             stream.ranged(axis, -2048..=2047)?;
///         }
///         stream.ranged(&mut self.weapon, 0..=9)?;
///         stream.bool(&mut self.charged)?;
///         if self.charged {
///             self.charge.serialize(stream)?;
///         }
///         Ok(())
///     }
/// }
///
/// let mut shot = Shot { at: [-7, 300], weapon: 3, ..Shot::default() };
/// let mut buffer = [0; 64];
/// let bytes = write(&mut shot, &mut buffer)?;
/// assert_eq!(bytes.len(), 4); // 29 bits
/// assert_eq!(read::<Shot>(bytes)?, shot);
/// # Ok::<(), Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be written, read and measured",
    note = "`#[derive(Message)]` implements it for types of your own",
    note = "a field of another type has a function that does it: `#[message(with = function)]`"
)]
pub trait Serialize: Sized {
    /// A value to read into. Its content does not matter.
    ///
    /// ```
    /// use porous_message::Serialize;
    ///
    /// assert_eq!(u8::blank(), 0);
    /// ```
    #[must_use]
    fn blank() -> Self;

    /// Reads, writes or measures. Only a stream that [reads](Stream::READS) changes the value.
    ///
    /// # Errors
    ///
    /// Those of the [`Stream`].
    ///
    /// ```
    /// use porous_message::{MeasureStream, Serialize};
    ///
    /// let mut stream = MeasureStream::new();
    /// 7_u16.serialize(&mut stream)?;
    /// assert_eq!(stream.measured(), 16);
    /// # Ok::<(), porous_message::Error>(())
    /// ```
    fn serialize<S: Stream>(&mut self, stream: &mut S) -> Result<(), Error>;
}

/// Writes a value at the beginning of a buffer, and returns the bytes that it takes.
///
/// # Errors
///
/// [`Error::End`] if the buffer is too short, and those of the value.
///
/// ```
/// use porous_message::write;
///
/// assert_eq!(write(&mut 513_u16, &mut [0; 8])?, [1, 2]);
/// # Ok::<(), porous_message::Error>(())
/// ```
#[inline]
pub fn write<'b, T: Serialize>(value: &mut T, buffer: &'b mut [u8]) -> Result<&'b mut [u8], Error> {
    let mut stream = WriteStream::new(buffer);
    value.serialize(&mut stream)?;
    Ok(stream.finish())
}

/// Writes a value into memory of its own, as long as it takes: for
/// [`Host::send`](porous_proto::Host::send), which takes the memory over.
///
/// # Errors
///
/// Those of the value.
///
/// ```
/// use porous_message::to_vec;
///
/// assert_eq!(to_vec(&mut 513_u16)?, [1, 2]);
/// # Ok::<(), porous_message::Error>(())
/// ```
pub fn to_vec<T: Serialize>(value: &mut T) -> Result<Vec<u8>, Error> {
    let bytes = measure(value)?.div_ceil(8);
    let mut buffer = vec![0; usize::try_from(bytes).map_err(|_| Error::End)?];
    let written = write(value, &mut buffer)?.len();
    buffer.truncate(written);
    Ok(buffer)
}

/// Reads a value from all of these bytes.
///
/// # Errors
///
/// Those of the value, and of [`ReadStream::finish`].
///
/// ```
/// use porous_message::{Error, read};
///
/// assert_eq!(read::<u16>(&[1, 2]), Ok(513));
/// assert_eq!(read::<u16>(&[1]), Err(Error::End));
/// assert_eq!(read::<u16>(&[1, 2, 3]), Err(Error::Trailing));
/// ```
#[inline]
pub fn read<T: Serialize>(data: &[u8]) -> Result<T, Error> {
    let mut stream = ReadStream::new(data);
    let mut value = T::blank();
    value.serialize(&mut stream)?;
    stream.finish()?;
    Ok(value)
}

/// The most bits that a value takes.
///
/// # Errors
///
/// Those of the value.
///
/// ```
/// use porous_message::measure;
///
/// assert_eq!(measure(&mut [true; 3]), Ok(3));
/// ```
#[inline]
pub fn measure<T: Serialize>(value: &mut T) -> Result<u64, Error> {
    let mut stream = MeasureStream::new();
    value.serialize(&mut stream)?;
    Ok(stream.measured())
}

impl Serialize for bool {
    fn blank() -> Self {
        false
    }

    #[inline]
    fn serialize<S: Stream>(&mut self, stream: &mut S) -> Result<(), Error> {
        stream.bool(self)
    }
}

macro_rules! integers {
    ($($int:ident)*) => {$(
        /// All bits of the integer.
        impl Serialize for $int {
            fn blank() -> Self {
                0
            }

            #[inline]
            fn serialize<S: Stream>(&mut self, stream: &mut S) -> Result<(), Error> {
                stream.ranged(self, $int::MIN..=$int::MAX)
            }
        }
    )*};
}

integers!(u8 u16 u32 u64 u128 i8 i16 i32 i64 i128);

macro_rules! floats {
    ($($float:ident $bits:ident)*) => {$(
        /// All bits of the float: infinities and NaNs are kept.
        impl Serialize for $float {
            fn blank() -> Self {
                0.0
            }

            #[inline]
            fn serialize<S: Stream>(&mut self, stream: &mut S) -> Result<(), Error> {
                let mut bits = self.to_bits();
                bits.serialize(stream)?;
                if S::READS {
                    *self = Self::from_bits(bits);
                }
                Ok(())
            }
        }
    )*};
}

floats!(f32 u32 f64 u64);

/// Takes no bits.
impl Serialize for () {
    fn blank() -> Self {}

    fn serialize<S: Stream>(&mut self, _: &mut S) -> Result<(), Error> {
        Ok(())
    }
}

/// The items one after the other.
impl<T: Serialize, const N: usize> Serialize for [T; N] {
    fn blank() -> Self {
        array::from_fn(|_| T::blank())
    }

    #[inline]
    fn serialize<S: Stream>(&mut self, stream: &mut S) -> Result<(), Error> {
        for (number, item) in self.iter_mut().enumerate() {
            stream.item(number, |stream| item.serialize(stream))?;
        }
        Ok(())
    }
}

/// A bit that is 1 if there is a value, and the value.
impl<T: Serialize> Serialize for Option<T> {
    fn blank() -> Self {
        None
    }

    #[inline]
    fn serialize<S: Stream>(&mut self, stream: &mut S) -> Result<(), Error> {
        stream.option(self, T::serialize)
    }
}

/// The value itself. A box counts as a level, because types that contain themselves do so in boxes.
impl<T: Serialize> Serialize for Box<T> {
    fn blank() -> Self {
        Self::new(T::blank())
    }

    fn serialize<S: Stream>(&mut self, stream: &mut S) -> Result<(), Error> {
        deeper(stream, |stream| T::serialize(self, stream))
    }
}
