//! A cursor that writes.

/// What was to be written does not fit.
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

    /// The number of bytes written so far.
    pub(crate) const fn position(&self) -> usize {
        self.position
    }

    pub(crate) const fn remaining(&self) -> usize {
        self.buffer.len().saturating_sub(self.position)
    }

    fn take(&mut self, length: usize) -> Result<&mut [u8], NoRoom> {
        let end = self.position.checked_add(length).ok_or(NoRoom)?;
        let room = self.buffer.get_mut(self.position..end).ok_or(NoRoom)?;
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

    /// The low 24 bits of `value`.
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

    /// The low `width` bytes of `value`, 1 to 4.
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

    /// Writes over two bytes that were written before: a length, once it is known.
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
