//! Bits at any place in a byte, padding, and the bits before and after.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use super::{both, bytes, read, text, written};
use crate::{Error, MeasureStream, ReadStream, Serialize, Stream, WriteStream};

/// Many ones, many zeros, and ones and zeros in turn.
const PATTERNS: [u64; 5] = [
    0,
    u64::MAX,
    0x5555_5555_5555_5555,
    1 << 63,
    0x0123_4567_89AB_CDEF,
];

#[test]
fn any_number_of_bits_at_any_place_is_what_it_was() {
    for (offset, bits) in (0..=64).flat_map(|offset| (0..=64).map(move |bits| (offset, bits))) {
        for pattern in PATTERNS {
            let [before, value] = [offset, bits].map(|bits| crate::stream::low(pattern, bits));
            let mut buffer = [0xFF; 24];
            let mut stream = WriteStream::new(&mut buffer);
            for (value, bits) in [(before, offset), (value, bits), (5, 3)] {
                assert_eq!(stream.bits(&mut { value }, bits), Ok(()));
            }
            assert_eq!(stream.written(), (offset + bits + 3) as usize);
            let mut stream = ReadStream::new(stream.finish());
            for (value, bits) in [(before, offset), (value, bits), (5, 3)] {
                let mut read = u64::MAX;
                assert_eq!(stream.bits(&mut read, bits), Ok(()));
                assert_eq!(read, value, "{bits} bits after {offset}");
            }
            assert_eq!(stream.finish(), Ok(()));
        }
    }
}

#[test]
fn the_lowest_bit_comes_first() {
    both!(u64, 0b1, "1000 0", bits(5));
    both!(u64, 0b1_0011, "1100 1", bits(5));
    both!(bool, true, "1", bool());
    both!(bool, false, "0", bool());
    both!(u64, 1 << 63 | 1, format!("1{}1", "0".repeat(62)), bits(64));
}

#[test]
fn bits_that_do_not_fit_are_refused_and_nothing_is_written() {
    for bits in 0..64 {
        assert_eq!(written!(1 << bits, bits(bits)), Err(Error::OutOfRange));
        assert_eq!(written!(u64::MAX, bits(bits)), Err(Error::OutOfRange));
    }
    assert_eq!(written!(0, bits(65)), Err(Error::Bounds));
    assert_eq!(read!(u64, "", bits(65)), Err(Error::Bounds));

    let mut buffer = [0; 2];
    let mut stream = WriteStream::new(&mut buffer);
    assert_eq!(stream.bits(&mut 8, 3), Err(Error::OutOfRange));
    assert_eq!(stream.ranged(&mut 8, 0..=7), Err(Error::OutOfRange));
    assert_eq!(stream.bits(&mut 0, 17), Err(Error::End));
    assert_eq!(stream.bytes(&mut [1; 3]), Err(Error::End));
    assert_eq!(stream.written(), 0);
    assert_eq!(stream.bits(&mut 0xFFFF, 16), Ok(()));
    assert_eq!(stream.bool(&mut true), Err(Error::End));
    assert_eq!(stream.bits(&mut 0, 0), Ok(()));
    assert_eq!(stream.finish(), [0xFF; 2]);
}

#[test]
fn a_buffer_is_used_to_its_last_bit() {
    for len in 0..20 {
        let mut buffer = vec![0; len];
        let mut stream = WriteStream::new(&mut buffer);
        for _ in 0..8 * len {
            assert_eq!(stream.bool(&mut true), Ok(()));
        }
        assert_eq!(stream.bool(&mut true), Err(Error::End));
        assert_eq!(stream.finish(), vec![0xFF; len]);
    }
}

#[test]
fn alignment_is_zeros_up_to_the_next_byte() {
    for offset in 0..=16_u32 {
        let mut buffer = [0xFF; 4];
        let mut stream = WriteStream::new(&mut buffer);
        assert_eq!(stream.bits(&mut { (1 << offset) - 1 }, offset), Ok(()));
        assert_eq!(stream.align(), Ok(()));
        assert_eq!(stream.align(), Ok(()));
        let aligned = offset.next_multiple_of(8);
        assert_eq!(stream.written(), aligned as usize);
        let bytes = stream.finish().to_vec();
        assert_eq!(text(&bytes, offset as usize), "1".repeat(offset as usize));

        let read = |bytes: &[u8]| {
            let mut stream = ReadStream::new(bytes);
            stream.bits(&mut 0, offset)?;
            stream.align()?;
            assert_eq!(stream.remaining(), 0);
            Ok(())
        };
        assert_eq!(read(&bytes), Ok(()));
        for spare in offset..aligned {
            let mut bytes = bytes.clone();
            bytes[spare as usize / 8] |= 1 << (spare % 8);
            assert_eq!(read(&bytes), Err(Error::NotCanonical));
        }
    }
    let mut stream = MeasureStream::new();
    assert_eq!(stream.align(), Ok(()));
    assert_eq!(stream.measured(), 7);
}

#[test]
fn the_end_is_the_end() {
    let end = |bits: u32, data: &[u8]| {
        let mut stream = ReadStream::new(data);
        stream.bits(&mut 0, bits)?;
        stream.finish()
    };
    assert_eq!(end(0, &[]), Ok(()));
    assert_eq!(end(0, &[0]), Err(Error::Trailing));
    assert_eq!(end(1, &[1]), Ok(()));
    assert_eq!(end(8, &[0xFF]), Ok(()));
    assert_eq!(end(8, &[0xFF, 0]), Err(Error::Trailing));
    assert_eq!(end(9, &[0xFF, 1]), Ok(()));
    assert_eq!(end(9, &[0xFF, 1, 0]), Err(Error::Trailing));
    for spare in 1..8 {
        assert_eq!(end(9, &[0xFF, 1 | 1 << spare]), Err(Error::NotCanonical));
    }
    assert_eq!(end(9, &[0xFF]), Err(Error::End));
}

#[test]
fn a_check_word_is_there_or_not() {
    let mut buffer = [0; 5];
    let mut stream = WriteStream::new(&mut buffer);
    assert_eq!(stream.bool(&mut true), Ok(()));
    assert_eq!(stream.check(u32::MAX), Ok(()));
    assert_eq!(stream.finish(), bytes(0, &"1".repeat(33)));
    let check = |word, data: &[u8]| ReadStream::new(data).check(word);
    assert_eq!(check(0x0403_0201, &[1, 2, 3, 4]), Ok(()));
    assert_eq!(check(0x0403_0200, &[1, 2, 3, 4]), Err(Error::Desync));
    assert_eq!(check(0x0403_0201, &[1, 2, 3]), Err(Error::End));
}

#[test]
fn bytes_at_any_place_are_what_they_were() {
    let all: Vec<u8> = (1..=40).collect();
    for (offset, len) in (0..64).flat_map(|offset| (0..all.len()).map(move |len| (offset, len))) {
        let mut buffer = [0; 48];
        let mut stream = WriteStream::new(&mut buffer);
        assert_eq!(stream.bits(&mut 0, offset), Ok(()));
        assert_eq!(stream.bytes(&mut all[..len].to_vec()), Ok(()));
        assert_eq!(stream.bool(&mut true), Ok(()));
        let mut stream = ReadStream::new(stream.finish());
        let (mut read, mut flag) = (vec![0; len], false);
        assert_eq!(stream.bits(&mut 0, offset), Ok(()));
        assert_eq!(stream.bytes(&mut read), Ok(()));
        assert_eq!(stream.bool(&mut flag), Ok(()));
        assert_eq!((&read[..], flag), (&all[..len], true));
    }
}

#[test]
fn bytes_that_are_not_there_are_not_read() {
    let mut stream = ReadStream::new(&[1, 2]);
    assert_eq!(stream.bytes(&mut [0; 3]), Err(Error::End));
    assert_eq!(stream.remaining(), 16);
    assert_eq!(stream.bool(&mut false), Ok(()));
    assert_eq!(stream.bytes(&mut [0; 2]), Err(Error::End));
    assert_eq!(stream.bytes(&mut [0; 1]), Ok(()));
    assert_eq!(stream.bytes(&mut []), Ok(()));
    assert_eq!(stream.bytes(&mut [0; 1]), Err(Error::End));
}

#[test]
fn floats_keep_every_bit() {
    let floats: [u32; 8] = [
        0,
        0x8000_0000,
        1,
        0x7F7F_FFFF,
        0x7F80_0000,
        0xFF80_0000,
        0x7F80_0001,
        0xFFFF_FFFF,
    ];
    for bits in floats {
        let bytes = bits.to_le_bytes();
        let mut buffer = [0; 4];
        assert_eq!(
            crate::write(&mut f32::from_bits(bits), &mut buffer),
            Ok(&mut { bytes }[..])
        );
        assert_eq!(crate::read::<f32>(&bytes).map(f32::to_bits), Ok(bits));
        let wide = u64::from(bits) << 32 | 1;
        let bytes = wide.to_le_bytes();
        assert_eq!(crate::read::<f64>(&bytes).map(f64::to_bits), Ok(wide));
        assert_eq!(crate::measure(&mut f64::from_bits(wide)), Ok(64));
    }
    assert_eq!(f32::blank().to_bits(), 0);
}

#[test]
fn more_than_can_be_counted_is_as_many_as_can_be_counted() {
    let mut stream = MeasureStream::new();
    stream.measured = u64::MAX - 8;
    assert_eq!(stream.bytes(&mut [0; 2]), Ok(()));
    assert_eq!(stream.align(), Ok(()));
    assert_eq!(stream.bool(&mut true), Ok(()));
    assert_eq!(stream.measured(), u64::MAX);
}
