//! A cursor that reads.

/// Why bytes could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadError {
    /// Fewer bytes are left than the value needs.
    Truncated,
    /// A varint with a last byte of zero: a shorter one says the same.
    NotMinimal,
    /// A varint beyond 32 bits.
    TooLarge,
}

/// Reads from the front of a slice. A failed read may have consumed some of the bytes.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
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

    /// The number of bytes read so far.
    pub(crate) const fn position(&self) -> usize {
        self.total.saturating_sub(self.rest.len())
    }

    /// All that is left.
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

    /// An integer of `width` bytes, 1 to 4.
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
            if shifted.wrapping_shr(shift) != part {
                return Err(ReadError::TooLarge);
            }
            value |= shifted;
            if byte & 0x80 == 0 {
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

#[cfg(test)]
mod tests {
    use super::*;

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
