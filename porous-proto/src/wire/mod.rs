//! Checked cursors over bytes. They know no protocol: integers are little-endian, a varint is
//! LEB128 of a `u32` in as few bytes as possible, and nothing in here can panic.
#![cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::arithmetic_side_effects)
)]

mod reader;
mod writer;

pub(crate) use reader::{ReadError, Reader};
pub(crate) use writer::{NoRoom, Writer};

/// The number of bytes of `value` as a varint.
pub(crate) const fn varint_length(value: u32) -> usize {
    match value {
        0..0x80 => 1,
        0x80..0x4000 => 2,
        0x4000..0x20_0000 => 3,
        0x20_0000..0x1000_0000 => 4,
        0x1000_0000.. => 5,
    }
}

/// Whether all bytes are 0. It looks at all of them, which is faster than to stop at the first that
/// is not: a flood of requests is a flood of padding.
pub(crate) fn all_zero(bytes: &[u8]) -> bool {
    bytes.iter().fold(0, |sum, byte| sum | byte) == 0
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
}
