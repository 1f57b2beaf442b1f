//! Each primitive at the ends of its range, bit by bit.

mod ends;
mod integers;
mod many;
mod near;
mod steps;

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::Error;

/// The lowest `bits` bits of a number, the lowest first.
fn low(number: u128, bits: u32) -> String {
    let bit = |bit: u32| char::from(b'0' + u8::from(number >> bit & 1 == 1));
    (0..bits).map(bit).collect()
}

/// Zeros and ones in the order of the stream.
fn text(bytes: &[u8], bits: usize) -> String {
    let bit = |at: usize| char::from(b'0' + (bytes[at / 8] >> (at % 8) & 1));
    (0..bits).map(bit).collect()
}

/// The inverse of [`text`], with the bits from `offset` on. Spaces are ignored.
fn bytes(offset: usize, text: &str) -> Vec<u8> {
    let bits: Vec<u8> = text.bytes().filter(|bit| *bit != b' ').collect();
    let mut bytes = vec![0; (offset + bits.len()).div_ceil(8)];
    for (at, bit) in bits.iter().enumerate() {
        bytes[(offset + at) / 8] |= (bit - b'0') << ((offset + at) % 8);
    }
    bytes
}

/// `written!(value, method(arguments))`: the bits of a value, or the error. As many are measured, and
/// the value stays as it is.
macro_rules! written {
    ($value:expr, $method:ident($($argument:expr),*)) => {{
        let original = $value;
        let mut value = original.clone();
        let mut measured = crate::MeasureStream::new();
        let is_measured = measured.$method(&mut value $(, $argument)*);
        let mut buffer = [0xA5; 4000];
        let mut stream = crate::WriteStream::new(&mut buffer);
        let is_written = stream.$method(&mut value $(, $argument)*);
        assert_eq!(is_measured, is_written);
        assert_eq!(alloc::format!("{value:?}"), alloc::format!("{original:?}"));
        is_written.map(|()| {
            let bits = stream.written();
            assert_eq!(measured.measured(), bits as u64);
            crate::stream::tests::text(stream.finish(), bits)
        })
    }};
}

/// `read!(type, bits, method(arguments))`: the value that is read from all of these bits.
macro_rules! read {
    ($type:ty, $bits:expr, $method:ident($($argument:expr),*)) => {{
        let bits: &str = $bits;
        let count = bits.replace(' ', "").len();
        crate::stream::tests::at_the_end(count, |offset| {
            let bytes = crate::stream::tests::bytes(offset, bits);
            let mut stream = crate::ReadStream::new(&bytes);
            (0..offset).try_for_each(|_| stream.bool(&mut false))?;
            let mut value = <$type>::default();
            stream.$method(&mut value $(, $argument)*)?;
            assert_eq!(stream.remaining(), 0, "not all was read");
            Ok(value)
        })
    }};
}

/// `both!(type, value, bits, method(arguments))`: the value is written as these bits, and the bits are
/// read as the value; one bit less is not enough.
macro_rules! both {
    ($type:ty, $value:expr, $bits:expr, $method:ident($($argument:expr),*)) => {{
        let bits = $bits.replace(' ', "");
        let value: $type = $value;
        assert_eq!(written!(value.clone(), $method($($argument),*)), Ok(bits.clone()));
        assert_eq!(read!($type, &bits, $method($($argument),*)), Ok(value));
        for len in 0..bits.len() {
            let read = read!($type, &bits[..len], $method($($argument),*));
            assert_eq!(read, Err(crate::Error::End), "{len} bits");
        }
    }};
}

/// Calls a generic function with each integer.
macro_rules! each_integer {
    ($function:ident) => {
        $function::<u8>();
        $function::<u16>();
        $function::<u32>();
        $function::<u64>();
        $function::<u128>();
        $function::<i8>();
        $function::<i16>();
        $function::<i32>();
        $function::<i64>();
        $function::<i128>();
    };
}

use {both, each_integer, read, written};

/// Calls `read` with the offset from which `bits` bits end at the end of a byte.
fn at_the_end<T>(bits: usize, read: impl FnOnce(usize) -> Result<T, Error>) -> Result<T, Error> {
    read(bits.wrapping_neg() % 8)
}
