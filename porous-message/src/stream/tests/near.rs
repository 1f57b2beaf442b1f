//! Integers that are near another one.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{both, each_integer, low, read, written};
use crate::{Error, Integer, Stream};

/// The first number of each class and the width of the class in bits, for an integer of 128 bits.
const CLASSES: [(u128, u32); 8] = [
    (0, 0),
    (1, 2),
    (5, 4),
    (21, 8),
    (277, 12),
    (4373, 16),
    (69_909, 32),
    (4_295_037_205, 64),
];
/// The first number that is in no class.
const BEYOND: u128 = 18_446_744_078_004_588_821;

/// The classes of an integer: the zeros before the one that names the class, its first number, the
/// number after its last, and its width in bits.
fn classes<T: Integer>() -> impl Iterator<Item = (usize, u128, u128, u32)> {
    let ends = CLASSES.iter().skip(1).map(|class| class.0).chain([BEYOND]);
    (CLASSES.iter().zip(ends).enumerate())
        .map(|(zeros, (&(first, width), end))| (zeros, first, end, width))
        .take_while(|(.., width)| *width < T::BITS)
}

/// The bits of numbers at the ends of each class, and of the greatest number.
fn expected<T: Integer>() -> Vec<(u128, String)> {
    let mut numbers = Vec::new();
    let (mut count, mut beyond) = (0, 0);
    for (zeros, first, end, width) in classes::<T>() {
        for number in [first, end - 1] {
            let bits = "0".repeat(zeros) + "1" + &low(number - first, width);
            numbers.push((number, bits));
        }
        (count, beyond) = (zeros + 1, end);
    }
    let most = u128::MAX >> (128 - T::BITS);
    for number in [beyond, beyond + 1, most - 1, most] {
        numbers.push((number, "0".repeat(count) + &low(number, T::BITS)));
    }
    numbers
}

fn bases<T: Integer>() -> [T; 5] {
    let before = |value| T::from_above(value, u128::MAX);
    [T::MIN, T::ZERO, before(T::ZERO), before(T::MAX), T::MAX]
}

fn relative_to_all<T: Integer + Default>() {
    for base in bases::<T>() {
        for (number, bits) in expected::<T>() {
            let value = T::from_above(base, number.wrapping_add(1));
            both!(T, value, bits, relative(base));
        }
    }
}

/// Distances 0, -1, 1, -2 are written as 0, 1, 2, 3.
fn near_all<T: Integer + Default>() {
    for base in bases::<T>() {
        for (number, bits) in expected::<T>() {
            let distance = match number % 2 {
                0 => number / 2,
                _ => (number / 2 + 1).wrapping_neg(),
            };
            both!(T, T::from_above(base, distance), bits, delta(base));
        }
    }
}

/// Numbers of a class, written as if they were of no class.
fn longer_forms<T: Integer + Default>() {
    let count = classes::<T>().count();
    for (_, first, end, _) in classes::<T>() {
        for number in [first, end - 1] {
            let bits = "0".repeat(count) + &low(number, T::BITS);
            let zero = T::ZERO;
            assert_eq!(read!(T, &bits, relative(zero)), Err(Error::NotCanonical));
            assert_eq!(read!(T, &bits, delta(zero)), Err(Error::NotCanonical));
        }
    }
}

#[test]
fn what_comes_after_is_counted_from_the_next_one_and_wraps_around() {
    each_integer!(relative_to_all);
}

#[test]
fn what_is_near_is_short_on_both_sides_and_wraps_around() {
    each_integer!(near_all);
}

#[test]
fn a_number_of_a_class_has_no_longer_form() {
    each_integer!(longer_forms);
}

#[test]
fn every_byte_near_every_byte_is_what_it_was() {
    for (base, value) in (0..=u8::MAX).flat_map(|base| (0..=u8::MAX).map(move |v| (base, v))) {
        for bits in [
            written!(value, relative(base)),
            written!(value, delta(base)),
        ] {
            assert!(bits.is_ok_and(|bits| bits.len() <= 11));
        }
        let bits = written!(value, relative(base)).unwrap_or_default();
        assert_eq!(read!(u8, &bits, relative(base)), Ok(value));
        let bits = written!(value, delta(base)).unwrap_or_default();
        assert_eq!(read!(u8, &bits, delta(base)), Ok(value));
    }
}

#[test]
fn a_sequence_number_takes_a_bit_if_it_is_the_next() {
    both!(u16, 0, "1", relative(u16::MAX));
    both!(u16, 4, "0101", relative(0));
    both!(u16, 0, format!("00000{}", "1".repeat(16)), relative(0));
    both!(i32, 1000, "1", delta(1000));
    both!(i32, 998, "0101", delta(1000));
    both!(i8, i8::MIN, "0110", delta(i8::MAX));
}
