//! From values to the number of their bits.

use super::{Stream, low};
use crate::error::Error;

/// Counts the bits that a [`WriteStream`](super::WriteStream) would write, and writes none.
///
/// The count is never too low. It is up to 7 bits too high for each value that is
/// [aligned](Stream::align), because padding depends on the place in the stream.
///
/// ```
/// use porous_message::{MeasureStream, Stream};
///
/// let mut stream = MeasureStream::new();
/// stream.ranged(&mut 17, 0..=100)?;
/// assert_eq!(stream.measured(), 7);
/// # Ok::<(), porous_message::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct MeasureStream {
    pub(super) measured: u64,
    depth: u32,
}

impl MeasureStream {
    /// A stream with nothing counted.
    ///
    /// ```
    /// use porous_message::MeasureStream;
    ///
    /// assert_eq!(MeasureStream::new().measured(), 0);
    /// ```
    #[must_use]
    pub const fn new() -> Self {
        Self {
            measured: 0,
            depth: 0,
        }
    }

    /// The number of bits counted.
    ///
    /// ```
    /// use porous_message::{MeasureStream, Stream};
    ///
    /// let mut stream = MeasureStream::new();
    /// stream.bool(&mut true)?;
    /// assert_eq!(stream.measured(), 1);
    /// # Ok::<(), porous_message::Error>(())
    /// ```
    #[must_use]
    pub const fn measured(&self) -> u64 {
        self.measured
    }
}

impl Stream for MeasureStream {
    const READS: bool = false;

    #[inline]
    fn bits(&mut self, value: &mut u64, bits: u32) -> Result<(), Error> {
        if bits > 64 {
            return Err(Error::Bounds);
        }
        if *value != low(*value, bits) {
            return Err(Error::OutOfRange);
        }
        self.measured = self.measured.saturating_add(bits.into());
        Ok(())
    }

    fn bytes(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        let bits = 8 * bytes.len() as u64;
        self.measured = self.measured.saturating_add(bits);
        Ok(())
    }

    fn align(&mut self) -> Result<(), Error> {
        self.measured = self.measured.saturating_add(7);
        Ok(())
    }

    fn depth(&mut self) -> &mut u32 {
        &mut self.depth
    }

    fn plausible(&self, items: usize, _: usize) -> usize {
        items
    }
}
