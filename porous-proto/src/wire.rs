//! Checked cursors over bytes. They know no protocol. Integers are little-endian, a varint is LEB128 of a
//! `u32` in as few bytes as possible, and nothing in here can panic.
#![cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::arithmetic_side_effects)
)]

/// Bytes of `value` as a varint, 1 to 5.
pub(crate) const fn varint_length(value: u32) -> usize {
    match value {
        0..0x80 => 1,
        0x80..0x4000 => 2,
        0x4000..0x20_0000 => 3,
        0x20_0000..0x1000_0000 => 4,
        0x1000_0000.. => 5,
    }
}

/// Whether all bytes are 0.
pub(crate) fn all_zero(bytes: &[u8]) -> bool {
    // Looking at all of them is faster than stopping at the first that is not 0, and a flood of requests is a
    // flood of padding.
    bytes.iter().fold(0, |sum, byte| sum | byte) == 0
}

/// Why bytes could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadError {
    /// Fewer bytes are left than the value needs.
    Truncated,
    /// A varint has a last byte of 0: a shorter one says the same.
    NotMinimal,
    /// A varint tells a number of more than 32 bits.
    TooLarge,
}

/// Reads from the front of a slice. A failed read may have consumed some of the bytes.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'a> {
    /// The bytes that are not read yet.
    rest: &'a [u8],
    /// The length of the whole slice.
    total: usize,
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self {
            rest: bytes,
            total: bytes.len(),
        }
    }

    pub(crate) const fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// Bytes that were read so far.
    pub(crate) const fn position(&self) -> usize {
        self.total.saturating_sub(self.rest.len())
    }

    /// Reads all bytes that are left.
    pub(crate) fn rest(&mut self) -> &'a [u8] {
        core::mem::take(&mut self.rest)
    }

    pub(crate) fn bytes(&mut self, length: usize) -> Result<&'a [u8], ReadError> {
        let (bytes, rest) = self
            .rest
            .split_at_checked(length)
            .ok_or(ReadError::Truncated)?;
        self.rest = rest;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], ReadError> {
        let (bytes, rest) = self.rest.split_first_chunk().ok_or(ReadError::Truncated)?;
        self.rest = rest;
        Ok(*bytes)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, ReadError> {
        self.array().map(u8::from_le_bytes)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, ReadError> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u24(&mut self) -> Result<u32, ReadError> {
        self.array()
            .map(|[a, b, c]| u32::from_le_bytes([a, b, c, 0]))
    }

    pub(crate) fn u32(&mut self) -> Result<u32, ReadError> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, ReadError> {
        self.array().map(u64::from_le_bytes)
    }

    /// Reads an integer of `width` bytes, 1 to 4.
    pub(crate) fn uint(&mut self, width: u8) -> Result<u32, ReadError> {
        match width {
            1 => self.u8().map(u32::from),
            2 => self.u16().map(u32::from),
            3 => self.u24(),
            _ => self.u32(),
        }
    }

    pub(crate) fn varint(&mut self) -> Result<u32, ReadError> {
        let mut value = 0;
        for shift in [0, 7, 14, 21, 28] {
            let byte = self.u8()?;
            let part = u32::from(byte & 0x7F);
            let shifted = part.wrapping_shl(shift);
            // Of the fifth byte only four bits fit into 32.
            if shifted.wrapping_shr(shift) != part {
                return Err(ReadError::TooLarge);
            }
            value |= shifted;
            if byte & 0x80 == 0 {
                // A last byte of 0 adds nothing, but alone it is the number 0.
                let minimal = byte != 0 || shift == 0;
                return if minimal {
                    Ok(value)
                } else {
                    Err(ReadError::NotMinimal)
                };
            }
        }
        Err(ReadError::TooLarge)
    }
}

/// The error of a write that does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoRoom;

/// Writes from the front of a slice. A failed write leaves the position where it was.
#[derive(Debug)]
pub(crate) struct Writer<'b> {
    buffer: &'b mut [u8],
    position: usize,
}

impl<'b> Writer<'b> {
    pub(crate) const fn new(buffer: &'b mut [u8]) -> Self {
        Self {
            buffer,
            position: 0,
        }
    }

    /// Bytes that were written so far.
    pub(crate) const fn position(&self) -> usize {
        self.position
    }

    pub(crate) const fn remaining(&self) -> usize {
        self.buffer.len().saturating_sub(self.position)
    }

    fn take(&mut self, length: usize) -> Result<&mut [u8], NoRoom> {
        let end = self.position.checked_add(length).ok_or(NoRoom)?;
        let room = self.buffer.get_mut(self.position..end).ok_or(NoRoom)?;
        // Only once it is known to fit: a failed write leaves no trace.
        self.position = end;
        Ok(room)
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<(), NoRoom> {
        self.take(bytes.len())?.copy_from_slice(bytes);
        Ok(())
    }

    pub(crate) fn zeros(&mut self, length: usize) -> Result<(), NoRoom> {
        self.take(length)?.fill(0);
        Ok(())
    }

    pub(crate) fn u8(&mut self, value: u8) -> Result<(), NoRoom> {
        self.bytes(&[value])
    }

    pub(crate) fn u16(&mut self, value: u16) -> Result<(), NoRoom> {
        self.bytes(&value.to_le_bytes())
    }

    /// Writes the low 24 bits of `value`.
    #[cfg(test)]
    pub(crate) fn u24(&mut self, value: u32) -> Result<(), NoRoom> {
        self.uint(value, 3)
    }

    pub(crate) fn u32(&mut self, value: u32) -> Result<(), NoRoom> {
        self.bytes(&value.to_le_bytes())
    }

    pub(crate) fn u64(&mut self, value: u64) -> Result<(), NoRoom> {
        self.bytes(&value.to_le_bytes())
    }

    /// Writes the lowest `width` bytes of `value`, 1 to 4.
    pub(crate) fn uint(&mut self, value: u32, width: u8) -> Result<(), NoRoom> {
        self.bytes(
            value
                .to_le_bytes()
                .get(..usize::from(width))
                .ok_or(NoRoom)?,
        )
    }

    pub(crate) fn varint(&mut self, mut value: u32) -> Result<(), NoRoom> {
        let mut bytes = [0; 5];
        let mut length: usize = 0;
        for byte in &mut bytes {
            length = length.saturating_add(1);
            let [low, ..] = value.to_le_bytes();
            value >>= 7;
            *byte = low & 0x7F;
            if value == 0 {
                break;
            }
            *byte |= 0x80;
        }
        self.bytes(bytes.get(..length).ok_or(NoRoom)?)
    }

    /// Writes over two bytes that were written before, as a length does that is known only later.
    pub(crate) fn patch_u16(&mut self, at: usize, value: u16) -> Result<(), NoRoom> {
        let written = self.buffer.get_mut(..self.position).ok_or(NoRoom)?;
        let room = written
            .get_mut(at..)
            .and_then(<[u8]>::first_chunk_mut)
            .ok_or(NoRoom)?;
        *room = value.to_le_bytes();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn integers_survive_the_wire(a: u8, b: u16, c in 0_u32..1 << 24, d: u32, e: u64) {
            let mut bytes = [0; 18];
            let mut writer = Writer::new(&mut bytes);
            writer.u8(a).unwrap();
            writer.u16(b).unwrap();
            writer.u24(c).unwrap();
            writer.u32(d).unwrap();
            writer.u64(e).unwrap();
            prop_assert_eq!(writer.position(), 18);
            let mut reader = Reader::new(&bytes);
            prop_assert_eq!(reader.u8(), Ok(a));
            prop_assert_eq!(reader.u16(), Ok(b));
            prop_assert_eq!(reader.u24(), Ok(c));
            prop_assert_eq!(reader.u32(), Ok(d));
            prop_assert_eq!(reader.u64(), Ok(e));
            prop_assert_eq!(reader.remaining(), 0);
        }

        #[test]
        fn varints_survive_the_wire(value: u32, shift in 0_u32..32) {
            let value = value >> shift;
            let mut bytes = [0; 5];
            let mut writer = Writer::new(&mut bytes);
            writer.varint(value).unwrap();
            let length = writer.position();
            prop_assert_eq!(length, varint_length(value));
            prop_assert_eq!(Reader::new(&bytes[..length]).varint(), Ok(value));
        }

        #[test]
        fn a_varint_has_one_encoding(bytes: [u8; 5]) {
            let mut reader = Reader::new(&bytes);
            if let Ok(value) = reader.varint() {
                let mut again = [0; 5];
                let mut writer = Writer::new(&mut again);
                writer.varint(value).unwrap();
                let length = writer.position();
                prop_assert_eq!(&again[..length], &bytes[..reader.position()]);
            }
        }
    }

    #[test]
    fn varints_beyond_32_bits_or_not_minimal_are_refused() {
        let read = |bytes: &[u8]| Reader::new(bytes).varint();
        assert_eq!(read(&[0xFF, 0xFF, 0xFF, 0xFF, 0x0F]), Ok(u32::MAX));
        assert_eq!(
            read(&[0xFF, 0xFF, 0xFF, 0xFF, 0x1F]),
            Err(ReadError::TooLarge)
        );
        assert_eq!(
            read(&[0x80, 0x80, 0x80, 0x80, 0x80, 0x01]),
            Err(ReadError::TooLarge)
        );
        assert_eq!(read(&[0x81, 0x00]), Err(ReadError::NotMinimal));
        assert_eq!(read(&[0x80]), Err(ReadError::Truncated));
    }

    mod reader {
        use super::super::*;

        #[test]
        fn reading_past_the_end_is_an_error() {
            let mut reader = Reader::new(&[1, 2, 3]);
            assert_eq!(reader.u32(), Err(ReadError::Truncated));
            assert_eq!(reader.bytes(4), Err(ReadError::Truncated));
            assert_eq!(reader.bytes(2), Ok(&[1, 2][..]));
            assert_eq!((reader.position(), reader.remaining()), (2, 1));
            assert_eq!(reader.rest(), &[3]);
            assert_eq!(reader.u8(), Err(ReadError::Truncated));
        }
    }

    mod writer {
        use super::super::*;

        #[test]
        fn a_write_that_does_not_fit_writes_nothing() {
            let mut buffer = [7; 3];
            let mut writer = Writer::new(&mut buffer);
            assert_eq!(writer.u32(0), Err(NoRoom));
            assert_eq!(writer.varint(u32::MAX), Err(NoRoom));
            assert_eq!((writer.position(), writer.remaining()), (0, 3));
            assert_eq!(writer.u24(0x0102_0304), Ok(()));
            assert_eq!(writer.patch_u16(2, 0), Err(NoRoom));
            assert_eq!(writer.patch_u16(0, 0), Ok(()));
            assert_eq!(buffer, [0, 0, 2]);
        }
    }
}
