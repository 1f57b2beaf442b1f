//! The acknowledgement block of a short datagram (`docs/wire.md`, "Acknowledgements").

use arrayvec::ArrayVec;

use crate::wire::{NoRoom, Reader, Writer, varint_length};

use super::Malformed;

/// The most ranges of a block, beyond its map: old holes must not be told for ever.
pub(crate) const MAX_RANGES: usize = 16;

/// The unit of the delay byte in microseconds: five bits of it count units, shifted by the other three.
const DELAY_UNIT: u64 = 125;

const DELAY: u8 = 1 << 2;
const RANGES: u8 = 1 << 1;
const NONCE: u8 = 1;

/// In the byte that counts ranges: set if the newest frame came with ECT(0) or CE.
const CAPABLE: u8 = 1 << 7;
/// In the byte that counts ranges: set if the number of frames that came with CE follows.
const MARKS: u8 = 1 << 6;

/// The marks of congestion that frames came with: routers may have changed them (RFC 3168).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    /// True if the newest frame came with ECT(0) or CE.
    pub(crate) newest: bool,
    /// The number of frames that came with CE; 0 if nothing new is to be told.
    pub(crate) count: u32,
}

impl Marks {
    /// The upper bits of the byte that counts ranges.
    const fn flags(self) -> u8 {
        let newest = if self.newest { CAPABLE } else { 0 };
        newest | if self.count > 0 { MARKS } else { 0 }
    }
}

/// An acknowledgement block: the frames that a host has received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AckBlock {
    /// The low bytes of the newest id received.
    pub(crate) largest_low: u32,
    /// The number of these bytes, 1 to 4, as in the datagram that carried that id.
    pub(crate) largest_width: u8,
    /// How long the newest frame was held back, as its byte on the wire; `None` if it was not.
    pub(crate) delay: Option<u8>,
    /// Bit i is 1 if `largest - 1 - i` was received. Ids below 0 count as received.
    pub(crate) map: u32,
    /// The exclusive or of the nonce bits of all frames that the block acknowledges.
    pub(crate) nonce: bool,
    pub(crate) marks: Marks,
    /// Further received ids, downward from `largest - 33`.
    pub(crate) ranges: ArrayVec<AckRange, MAX_RANGES>,
}

/// A run of received ids below a gap of ids that were not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AckRange {
    /// Ids that were not received, at least 1; 0 as well in the first range.
    pub(crate) gap: u32,
    /// Ids below them that were received, at least 1.
    pub(crate) length: u32,
}

impl AckBlock {
    /// How long the newest frame was held back, in microseconds.
    pub(crate) fn held_back(&self) -> u64 {
        self.delay.map_or(0, |byte| {
            let units = u64::from(byte & 0x1F) << (byte >> 5);
            units.saturating_mul(DELAY_UNIT)
        })
    }

    /// The byte that tells that the newest frame was held back for this many microseconds; `None` for less
    /// than a unit.
    pub(crate) fn delay(held_back: u64) -> Option<u8> {
        let units = held_back.checked_div(DELAY_UNIT)?;
        if units == 0 {
            return None;
        }
        // The smallest exponent tells the time most exactly; what is longer than all of them is `FF`.
        let exponent = (0..8).find(|exponent| units >> exponent < 32);
        Some(exponent.map_or(u8::MAX, |exponent| {
            let mantissa = u8::try_from(units >> exponent).unwrap_or(31);
            exponent << 5 | mantissa
        }))
    }

    /// Whether the block has more than its map: the byte that counts ranges.
    fn is_extended(&self) -> bool {
        !self.ranges.is_empty() || self.marks.flags() != 0
    }

    /// The length of the encoded block in bytes.
    pub(crate) fn length(&self) -> usize {
        let map =
            4_usize.saturating_sub(usize::try_from(self.map.leading_ones() >> 3).unwrap_or(4));
        let ranges = self.ranges.iter().fold(0_usize, |sum, range| {
            sum.saturating_add(varint_length(range.gap))
                .saturating_add(varint_length(range.length))
        });
        let fixed = 1_usize.saturating_add(usize::from(self.largest_width));
        // Exactly what `encode` writes: frames are planned by it.
        fixed
            .saturating_add(map)
            .saturating_add(usize::from(self.delay.is_some()))
            .saturating_add(usize::from(self.is_extended()))
            .saturating_add(match self.marks.count {
                0 => 0,
                count => varint_length(count),
            })
            .saturating_add(ranges)
    }

    #[inline]
    pub(super) fn encode(&self, writer: &mut Writer<'_>) -> Result<(), NoRoom> {
        debug_assert!((1..=4).contains(&self.largest_width));
        // The oldest bytes of the map are left out as far as all of their frames were received: on a path
        // without losses the map takes nothing.
        let full = self.map.leading_ones() >> 3;
        let present = u8::try_from(4_u32.saturating_sub(full)).map_err(|_| NoRoom)?;
        let mut head = (self.largest_width.saturating_sub(1) << 6) | (present << 3);
        head |= if self.delay.is_some() { DELAY } else { 0 };
        head |= if self.is_extended() { RANGES } else { 0 };
        head |= if self.nonce { NONCE } else { 0 };
        writer.u8(head)?;
        writer.uint(self.largest_low, self.largest_width)?;
        if let Some(delay) = self.delay {
            writer.u8(delay)?;
        }
        writer.uint(self.map, present)?;
        if self.is_extended() {
            let count = u8::try_from(self.ranges.len()).map_err(|_| NoRoom)?;
            writer.u8(self.marks.flags() | count)?;
        }
        if self.marks.count > 0 {
            writer.varint(self.marks.count)?;
        }
        self.ranges.iter().try_for_each(|range| {
            writer.varint(range.gap)?;
            writer.varint(range.length)
        })
    }

    /// Reads the beginning of a block: its head, the low bytes of the newest id, and their number.
    pub(super) fn decode_largest(reader: &mut Reader<'_>) -> Result<(u8, u32, u8), Malformed> {
        let head = reader.u8()?;
        let width = (head >> 6).saturating_add(1);
        Ok((head, reader.uint(width)?, width))
    }

    #[inline]
    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let (head, largest_low, largest_width) = Self::decode_largest(reader)?;
        let present = (head >> 3) & 0b111;
        let delay = if head & DELAY != 0 {
            Some(reader.u8()?)
        } else {
            None
        };
        let mut ranges = ArrayVec::new();
        let map = decode_map(reader.bytes(usize::from(present))?)?;
        let mut marks = Marks::default();
        if head & RANGES != 0 {
            marks = decode_extension(reader, &mut ranges)?;
        }
        let nonce = head & NONCE != 0;
        Ok(Self {
            largest_low,
            largest_width,
            delay,
            map,
            nonce,
            marks,
            ranges,
        })
    }
}

/// The map from those of its bytes that are present, the newest first.
fn decode_map(present: &[u8]) -> Result<u32, Malformed> {
    let mut bytes = [0xFF; 4];
    bytes
        .get_mut(..present.len())
        .ok_or(Malformed::BadValue)?
        .copy_from_slice(present);
    // A byte that could have been left out.
    if present.last() == Some(&0xFF) {
        return Err(Malformed::NotCanonical);
    }
    Ok(u32::from_le_bytes(bytes))
}

/// Reads the marks and the ranges behind the map.
fn decode_extension(
    reader: &mut Reader<'_>,
    ranges: &mut ArrayVec<AckRange, MAX_RANGES>,
) -> Result<Marks, Malformed> {
    let head = reader.u8()?;
    // It tells nothing, and could have been left out.
    if head == 0 {
        return Err(Malformed::NotCanonical);
    }
    let mut marks = Marks {
        newest: head & CAPABLE != 0,
        count: 0,
    };
    if head & MARKS != 0 {
        marks.count = reader.varint()?;
        // A count of 0 is told by leaving it out.
        if marks.count == 0 {
            return Err(Malformed::NotCanonical);
        }
    }
    for _ in 0..head & !(CAPABLE | MARKS) {
        let range = AckRange {
            gap: reader.varint()?,
            length: reader.varint()?,
        };
        // An empty range would join two gaps.
        if range.length == 0 {
            return Err(Malformed::BadValue);
        }
        // Without a gap the two would be one range. Only the first may follow the map at once.
        if range.gap == 0 && !ranges.is_empty() {
            return Err(Malformed::NotCanonical);
        }
        ranges.try_push(range).map_err(|_| Malformed::BadValue)?;
    }
    Ok(marks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(bytes: &[u8]) -> Result<AckBlock, Malformed> {
        let mut reader = Reader::new(bytes);
        let block = AckBlock::decode(&mut reader)?;
        assert_eq!(reader.remaining(), 0);
        Ok(block)
    }

    fn encode(block: &AckBlock) -> alloc::vec::Vec<u8> {
        let mut buffer = [0; 200];
        let mut writer = Writer::new(&mut buffer);
        block.encode(&mut writer).unwrap();
        let length = writer.position();
        buffer[..length].to_vec()
    }

    /// Frames are planned by it.
    #[test]
    fn the_length_of_a_block_is_known_before_it_is_written() {
        let range = |gap, length| AckRange { gap, length };
        for width in 1..=4 {
            for map in [
                u32::MAX,
                u32::MAX >> 1,
                u32::MAX >> 8,
                0xFFFF_FE00,
                0x00FF_FFFF,
                0,
            ] {
                for delay in [None, Some(7)] {
                    for ranges in [&[][..], &[range(0, 1)], &[range(0, 300), range(70_000, 63)]] {
                        let newest = map & 2 == 0;
                        let count = if delay.is_some() { map % 300 } else { 0 };
                        let block = AckBlock {
                            marks: Marks { newest, count },
                            largest_low: 3,
                            largest_width: width,
                            delay,
                            map,
                            nonce: false,
                            ranges: ranges.iter().copied().collect(),
                        };
                        let bytes = encode(&block);
                        assert_eq!(block.length(), bytes.len(), "{block:?}");
                        assert_eq!(decode(&bytes), Ok(block));
                    }
                }
            }
        }
    }

    #[test]
    fn a_block_without_losses_takes_two_bytes() {
        let block = decode(&[0x00, 0x2A]).unwrap();
        assert_eq!(
            (block.largest_low, block.map, block.delay),
            (0x2A, u32::MAX, None)
        );
        assert_eq!(encode(&block), [0x00, 0x2A]);
    }

    #[test]
    fn only_the_newest_part_of_the_map_that_has_holes_is_sent() {
        for (map, bytes) in [
            (0xFFFF_FFFE, &[0x08, 9, 0xFE][..]),
            (0xFFFF_7FFF, &[0x10, 9, 0xFF, 0x7F]),
            (0xFF00_0000, &[0x18, 9, 0, 0, 0]),
            (0x7FFF_FFFF, &[0x20, 9, 0xFF, 0xFF, 0xFF, 0x7F]),
        ] {
            let block = decode(bytes).unwrap();
            assert_eq!(block.map, map);
            assert_eq!(encode(&block), bytes);
        }
    }

    #[test]
    fn a_map_byte_that_could_be_left_out_is_refused() {
        assert_eq!(decode(&[0x08, 9, 0xFF]), Err(Malformed::NotCanonical));
        assert_eq!(decode(&[0x10, 9, 0x00, 0xFF]), Err(Malformed::NotCanonical));
    }

    #[test]
    fn a_map_of_more_than_four_bytes_is_refused() {
        for present in 5..=7 {
            assert_eq!(
                decode(&[present << 3, 9, 0, 0, 0, 0, 0, 0, 0]),
                Err(Malformed::BadValue)
            );
        }
    }

    #[test]
    fn marks_take_a_byte_and_a_count_if_there_is_news() {
        let marks = |bytes| decode(bytes).map(|block| (block.marks.newest, block.marks.count));
        assert_eq!(marks(&[0x02, 9, 0x80]), Ok((true, 0)));
        assert_eq!(marks(&[0x02, 9, 0x40, 5]), Ok((false, 5)));
        assert_eq!(marks(&[0x02, 9, 0xC1, 0xAC, 0x02, 1, 1]), Ok((true, 300)));
        let block = decode(&[0x02, 9, 0xC1, 0xAC, 0x02, 1, 1]).unwrap();
        assert_eq!((block.ranges.len(), block.length()), (1, 7));
        // None is not told, and no other bit means anything.
        assert_eq!(marks(&[0x02, 9, 0x00]), Err(Malformed::NotCanonical));
        assert_eq!(marks(&[0x02, 9, 0x40, 0]), Err(Malformed::NotCanonical));
        assert_eq!(
            marks(&[0x02, 9, 0x40, 0x81, 0]),
            Err(Malformed::NotCanonical)
        );
        let mut many = [1; 2 + 2 * 63];
        (many[0], many[2]) = (0x02, 0x20);
        assert_eq!(marks(&many), Err(Malformed::BadValue));
    }

    #[test]
    fn ranges_are_never_adjacent_empty_or_too_many() {
        assert!(
            decode(&[0x02, 9, 2, 0, 1, 1, 1]).is_ok(),
            "only the first gap may be 0"
        );
        assert_eq!(
            decode(&[0x02, 9, 2, 0, 1, 0, 1]),
            Err(Malformed::NotCanonical)
        );
        assert_eq!(decode(&[0x02, 9, 1, 1, 0]), Err(Malformed::BadValue));
        assert_eq!(decode(&[0x02, 9, 0]), Err(Malformed::NotCanonical));
        let mut many = [1; 3 + 2 * 17];
        (many[0], many[2]) = (0x02, 17);
        assert_eq!(decode(&many), Err(Malformed::BadValue));
        many[2] = 16;
        assert!(decode(&many[..3 + 2 * 16]).is_ok());
    }
}
