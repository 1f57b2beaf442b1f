//! From bits to values.

use super::{Stream, low, rare};
use crate::error::Error;

/// Reads the values that a [`WriteStream`](super::WriteStream) wrote, from bytes that anyone may have sent.
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
    /// The next bits, `waiting` of them; the bits above them are zero.
    word: u64,
    waiting: u32,
    /// The bytes after those in `word`.
    rest: &'b [u8],
    depth: u32,
}

impl<'b> ReadStream<'b> {
    /// A stream at the beginning of these bytes.
    ///
    /// ```
    /// use porous_message::ReadStream;
    ///
    /// assert_eq!(ReadStream::new(&[1, 2]).remaining(), 16);
    /// ```
    #[inline]
    #[must_use]
    pub const fn new(data: &'b [u8]) -> Self {
        Self {
            word: 0,
            waiting: 0,
            rest: data,
            depth: 0,
        }
    }

    /// The number of bits that are left.
    ///
    /// ```
    /// use porous_message::{ReadStream, Stream};
    ///
    /// let mut stream = ReadStream::new(&[1, 2]);
    /// stream.bool(&mut false)?;
    /// assert_eq!(stream.remaining(), 15);
    /// # Ok::<(), porous_message::Error>(())
    /// ```
    #[inline]
    #[must_use]
    pub const fn remaining(&self) -> usize {
        let rest = self.rest.len().saturating_mul(8);
        rest.saturating_add(self.waiting as usize)
    }

    /// Checks that all bits were read, except spare bits of the last byte, which have to be zero.
    ///
    /// # Errors
    ///
    /// [`Error::Trailing`] if another byte follows, [`Error::NotCanonical`] if a spare bit is 1.
    ///
    /// ```
    /// use porous_message::{Error, ReadStream};
    ///
    /// assert_eq!(ReadStream::new(&[]).finish(), Ok(()));
    /// assert_eq!(ReadStream::new(&[0]).finish(), Err(Error::Trailing));
    /// ```
    #[inline]
    pub fn finish(mut self) -> Result<(), Error> {
        self.align()?;
        match self.remaining() {
            0 => Ok(()),
            _ => Err(Error::Trailing),
        }
    }
}

/// The first up to 8 of these bytes as a word, the number of their bits, and the bytes after them.
#[inline]
fn load(bytes: &[u8]) -> (u64, u32, &[u8]) {
    match bytes.split_first_chunk() {
        Some((word, rest)) => (u64::from_le_bytes(*word), 64, rest),
        None => last(bytes),
    }
}

/// [`load`] for fewer than 8 bytes. Apart from it, because it is rare: once at the end of a message.
fn last(mut bytes: &[u8]) -> (u64, u32, &[u8]) {
    let (mut word, mut bits) = (0, 0);
    while let Some((byte, rest)) = bytes.split_first() {
        word |= u64::from(*byte) << bits;
        bits += 8;
        bytes = rest;
    }
    (word, bits, bytes)
}

impl Stream for ReadStream<'_> {
    const READS: bool = true;

    #[inline]
    fn bits(&mut self, value: &mut u64, bits: u32) -> Result<(), Error> {
        if bits > 64 {
            return Err(rare(Error::Bounds));
        }
        // The usual case first: most values need no new word.
        if bits <= self.waiting {
            *value = low(self.word, bits);
            // To shift by all 64 bits would overflow, and has to give 0.
            self.word = self.word.checked_shr(bits).unwrap_or(0);
            self.waiting -= bits;
            return Ok(());
        }
        let (word, loaded, rest) = load(self.rest);
        let missing = bits - self.waiting;
        if loaded < missing {
            return Err(rare(Error::End));
        }
        // The bits that wait, and behind them the first bits of the next word.
        *value = low(self.word | word << self.waiting, bits);
        self.word = word.checked_shr(missing).unwrap_or(0);
        self.waiting = loaded - missing;
        self.rest = rest;
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

    #[inline]
    fn align(&mut self) -> Result<(), Error> {
        let mut spare = 0;
        // Whole bytes were loaded, so the bits that wait also tell the place within a byte.
        self.bits(&mut spare, self.waiting % 8)?;
        match spare {
            0 => Ok(()),
            _ => Err(Error::NotCanonical),
        }
    }

    #[inline]
    fn depth(&mut self) -> &mut u32 {
        &mut self.depth
    }

    fn plausible(&self, items: usize, bits: usize) -> usize {
        items.min(self.remaining() / bits)
    }
}
