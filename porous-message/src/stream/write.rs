//! From values to bits.

use super::{Stream, low, rare};
use crate::error::Error;

/// Writes bits into a buffer, from the lowest bit of its first byte on (`docs/message.md`).
///
/// Bits wait in a word until there are 64 of them. [`finish`](Self::finish) writes the last ones.
///
/// ```
/// use porous_message::{Stream, WriteStream};
///
/// let mut buffer = [0; 16];
/// let mut stream = WriteStream::new(&mut buffer);
/// stream.bits(&mut 5, 3)?;
/// stream.bool(&mut true)?;
/// assert_eq!(stream.finish(), [0b1101]);
/// # Ok::<(), porous_message::Error>(())
/// ```
#[derive(Debug)]
pub struct WriteStream<'b> {
    buffer: &'b mut [u8],
    /// Bytes of the buffer that are written, a multiple of 8.
    written: usize,
    /// The bits after the written bytes, `waiting` of them, fewer than 64.
    word: u64,
    waiting: u32,
    /// Bits of the buffer that are left after those in `word`.
    room: usize,
    depth: u32,
}

impl<'b> WriteStream<'b> {
    /// A stream at the beginning of a buffer.
    ///
    /// ```
    /// use porous_message::WriteStream;
    ///
    /// assert!(WriteStream::new(&mut [0; 4]).finish().is_empty());
    /// ```
    #[inline]
    #[must_use]
    pub const fn new(buffer: &'b mut [u8]) -> Self {
        let room = buffer.len().saturating_mul(8);
        Self {
            buffer,
            written: 0,
            word: 0,
            waiting: 0,
            room,
            depth: 0,
        }
    }

    /// The number of bits written.
    ///
    /// ```
    /// use porous_message::{Stream, WriteStream};
    ///
    /// let mut buffer = [0; 4];
    /// let mut stream = WriteStream::new(&mut buffer);
    /// stream.bits(&mut 5, 3)?;
    /// assert_eq!(stream.written(), 3);
    /// # Ok::<(), porous_message::Error>(())
    /// ```
    #[inline]
    #[must_use]
    pub const fn written(&self) -> usize {
        8 * self.written + self.waiting as usize
    }

    /// The bytes that were written; the spare bits of the last one are zero.
    ///
    /// ```
    /// use porous_message::{Stream, WriteStream};
    ///
    /// let mut buffer = [0xFF; 4];
    /// let mut stream = WriteStream::new(&mut buffer);
    /// stream.bits(&mut 0x1FF, 9)?;
    /// assert_eq!(stream.finish(), [0xFF, 0x01]);
    /// # Ok::<(), porous_message::Error>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn finish(self) -> &'b mut [u8] {
        let rest = self.waiting.div_ceil(8) as usize;
        let end = self.written + rest;
        let places = self.buffer[self.written..end].iter_mut();
        for (place, byte) in places.zip(self.word.to_le_bytes()) {
            *place = byte;
        }
        &mut self.buffer[..end]
    }

    /// As [`bytes`](Stream::bytes), for bytes that cannot be borrowed mutably.
    pub(crate) fn write_bytes(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if self.room / 8 < bytes.len() {
            return Err(Error::End);
        }
        let mut words = bytes.chunks_exact(8);
        for word in &mut words {
            let word = word.try_into().map_or(0, u64::from_le_bytes);
            self.bits(&mut { word }, 64)?;
        }
        for byte in words.remainder() {
            self.bits(&mut u64::from(*byte), 8)?;
        }
        Ok(())
    }
}

impl Stream for WriteStream<'_> {
    const READS: bool = false;

    #[inline]
    fn bits(&mut self, value: &mut u64, bits: u32) -> Result<(), Error> {
        let value = *value;
        if bits > 64 {
            return Err(rare(Error::Bounds));
        }
        if value != low(value, bits) {
            return Err(rare(Error::OutOfRange));
        }
        let room = self.room.checked_sub(bits as usize);
        self.room = room.ok_or_else(|| rare(Error::End))?;
        self.word |= value << self.waiting;
        let waiting = self.waiting + bits;
        if waiting >= 64 {
            let end = self.written + 8;
            self.buffer[self.written..end].copy_from_slice(&self.word.to_le_bytes());
            self.written = end;
            // The full word has the lowest `64 - waiting` bits of `value`; the others begin the next
            // word.
            self.word = value.checked_shr(64 - self.waiting).unwrap_or(0);
            self.waiting = waiting - 64;
        } else {
            self.waiting = waiting;
        }
        Ok(())
    }

    fn bytes(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        self.write_bytes(bytes)
    }

    #[inline]
    fn align(&mut self) -> Result<(), Error> {
        // Words are written whole, so the bits that wait also tell the place within a byte.
        self.bits(&mut 0, self.waiting.wrapping_neg() % 8)
    }

    #[inline]
    fn depth(&mut self) -> &mut u32 {
        &mut self.depth
    }

    fn plausible(&self, items: usize, _: usize) -> usize {
        items
    }
}
