//! Bits to values.

use super::{Stream, low};
use crate::error::Error;

/// Reads what a [`WriteStream`](super::WriteStream) wrote, from bytes that anyone may have sent.
///
/// ```
/// use porous_message::{Error, ReadStream, Stream};
///
/// let mut stream = ReadStream::new(&[0b1101]);
/// let (mut three, mut flag) = (0, false);
/// stream.bits(&mut three, 3)?;
/// stream.bool(&mut flag)?;
/// assert_eq!((three, flag), (5, true));
/// assert_eq!(stream.bits(&mut three, 5), Err(Error::End));
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug)]
pub struct ReadStream<'b> {
    data: &'b [u8],
    /// The next bit.
    position: usize,
    depth: u32,
}

impl<'b> ReadStream<'b> {
    /// At the beginning of these bytes.
    ///
    /// ```
    /// use porous_message::ReadStream;
    ///
    /// assert_eq!(ReadStream::new(&[1, 2]).remaining(), 16);
    /// ```
    #[must_use]
    pub const fn new(data: &'b [u8]) -> Self {
        Self {
            data,
            position: 0,
            depth: 0,
        }
    }

    /// How many bits are left.
    ///
    /// ```
    /// use porous_message::{ReadStream, Stream};
    ///
    /// let mut stream = ReadStream::new(&[1, 2]);
    /// stream.bool(&mut false)?;
    /// assert_eq!(stream.remaining(), 15);
    /// # Ok::<(), porous_message::Error>(())
    /// ```
    #[must_use]
    pub const fn remaining(&self) -> usize {
        self.data.len().saturating_mul(8) - self.position
    }

    /// Makes sure that all was read, but for the bits that the last byte had to spare.
    ///
    /// # Errors
    ///
    /// [`Error::Trailing`] if there is another byte, [`Error::NotCanonical`] if a spare bit is one.
    ///
    /// ```
    /// use porous_message::{Error, ReadStream};
    ///
    /// assert_eq!(ReadStream::new(&[]).finish(), Ok(()));
    /// assert_eq!(ReadStream::new(&[0]).finish(), Err(Error::Trailing));
    /// ```
    pub fn finish(mut self) -> Result<(), Error> {
        self.align()?;
        match self.remaining() {
            0 => Ok(()),
            _ => Err(Error::Trailing),
        }
    }

    /// 64 bits from a byte on; zeros follow after the end.
    #[inline]
    fn word(&self, byte: usize) -> u64 {
        let rest = self.data.get(byte..).unwrap_or_default();
        if let Some(word) = rest.first_chunk() {
            return u64::from_le_bytes(*word);
        }
        let shift = |(byte, place): (&u8, u32)| u64::from(*byte) << place;
        rest.iter().zip((0..).step_by(8)).map(shift).sum()
    }
}

impl Stream for ReadStream<'_> {
    const READS: bool = true;

    #[inline]
    fn bits(&mut self, value: &mut u64, bits: u32) -> Result<(), Error> {
        if bits > 64 {
            return Err(Error::Bounds);
        }
        if self.remaining() < bits as usize {
            return Err(Error::End);
        }
        let (byte, bit) = (self.position / 8, self.position % 8);
        let mut word = self.word(byte) >> bit;
        if bits as usize + bit > 64 {
            word |= u64::from(self.data[byte + 8]) << (64 - bit);
        }
        *value = low(word, bits);
        self.position += bits as usize;
        Ok(())
    }

    fn bytes(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        if self.remaining() / 8 < bytes.len() {
            return Err(Error::End);
        }
        let mut value = 0;
        let mut words = bytes.chunks_exact_mut(8);
        for word in &mut words {
            self.bits(&mut value, 64)?;
            word.copy_from_slice(&value.to_le_bytes());
        }
        for byte in words.into_remainder() {
            self.bits(&mut value, 8)?;
            [*byte, ..] = value.to_le_bytes();
        }
        Ok(())
    }

    fn align(&mut self) -> Result<(), Error> {
        let mut spare = 0;
        let bits = u32::try_from(self.position.wrapping_neg() % 8).unwrap_or(0);
        self.bits(&mut spare, bits)?;
        match spare {
            0 => Ok(()),
            _ => Err(Error::NotCanonical),
        }
    }

    fn depth(&mut self) -> &mut u32 {
        &mut self.depth
    }

    fn plausible(&self, items: usize, bits: usize) -> usize {
        items.min(self.remaining() / bits)
    }
}
