//! Integers from ranges, kinds, and varints.

use alloc::format;
use alloc::string::String;

use super::{both, each_integer, low, read, written};
use crate::{Error, Integer, Stream};

fn next<T: Integer>(value: T) -> T {
    T::from_above(value, 1)
}

fn last<T: Integer>(value: T) -> T {
    T::from_above(value, u128::MAX)
}

/// A range of all values of an integer takes all its bits.
fn whole_range<T: Integer + Default>() {
    let range = || T::MIN..=T::MAX;
    for value in [T::MIN, next(T::MIN), T::ZERO, last(T::MAX), T::MAX] {
        both!(T, value, low(value.above(T::MIN), T::BITS), ranged(range()));
    }
}

/// A range without the two ends: the ends are refused, and bits that would read as them.
fn ends_left_out<T: Integer + Default>() {
    let range = || next(T::MIN)..=last(T::MAX);
    both!(T, next(T::MIN), low(0, T::BITS), ranged(range()));
    let most = T::MAX.above(T::MIN) - 2;
    both!(T, last(T::MAX), low(most, T::BITS), ranged(range()));
    for value in [T::MIN, T::MAX] {
        assert_eq!(written!(value, ranged(range())), Err(Error::OutOfRange));
    }
    for number in [most + 1, most + 2] {
        let bits = low(number, T::BITS);
        assert_eq!(read!(T, &bits, ranged(range())), Err(Error::OutOfRange));
    }
}

/// A range of one value takes no bits, a range of two takes one, and an empty one is refused.
fn small_ranges<T: Integer + Default>() {
    for value in [T::MIN, T::ZERO, T::MAX] {
        both!(T, value, "", ranged(value..=value));
        let empty = || next(T::MIN)..=T::MIN;
        assert_eq!(written!(value, ranged(empty())), Err(Error::Bounds));
        assert_eq!(read!(T, "0", ranged(empty())), Err(Error::Bounds));
    }
    assert_eq!(
        written!(T::MAX, ranged(T::MIN..=T::MIN)),
        Err(Error::OutOfRange)
    );
    both!(T, T::MAX, "1", ranged(last(T::MAX)..=T::MAX));
    both!(T, T::MIN, "0", ranged(T::MIN..=next(T::MIN)));
}

#[test]
fn any_integer_from_the_range_of_all_takes_its_width() {
    each_integer!(whole_range);
}

#[test]
fn any_integer_outside_of_its_range_is_refused() {
    each_integer!(ends_left_out);
}

#[test]
fn a_range_takes_as_many_bits_as_its_span_and_an_empty_one_is_refused() {
    each_integer!(small_ranges);
}

#[test]
fn a_span_takes_the_bits_of_its_own() {
    for bits in 0..128 {
        let span = 1_u128 << bits;
        both!(u128, 7 + span, low(span, bits + 1), ranged(7..=7 + span));
        both!(u128, 6 + span, low(span - 1, bits), ranged(7..=6 + span));
    }
    both!(i8, -1, "110", ranged(-4..=3));
    both!(i64, 2047, "1".repeat(12), ranged(-2048..=2047));
}

#[test]
fn kinds_are_counted_from_zero() {
    both!(u32, 0, "", kind(1));
    both!(u32, 1, "1", kind(2));
    both!(u32, 2, "01", kind(3));
    both!(
        u32,
        u32::MAX - 1,
        format!("0{}", "1".repeat(31)),
        kind(u32::MAX)
    );
    assert_eq!(read!(u32, "11", kind(3)), Err(Error::OutOfRange));
    assert_eq!(written!(3, kind(3)), Err(Error::OutOfRange));
    assert_eq!(written!(0, kind(0)), Err(Error::Bounds));
    assert_eq!(read!(u32, "0", kind(0)), Err(Error::Bounds));
}

/// The bits of a number, in groups of seven.
fn groups(mut number: u128) -> String {
    let mut bits = String::new();
    while number >= 128 {
        bits += &(low(number, 7) + "1");
        number >>= 7;
    }
    bits + &low(number, 7) + "0"
}

/// The numbers on both sides of each edge between groups, and of the width.
fn edges<T: Integer + Default>() {
    let is_signed = T::MIN < T::ZERO;
    let most = u128::MAX >> (128 - T::BITS);
    for edge in (0..T::BITS).step_by(7).map(|bits| 1 << bits) {
        for number in [edge - 1, edge, edge + 1, most - 1, most] {
            let distance = match is_signed && number % 2 == 1 {
                true => !(number / 2),
                false if is_signed => number / 2,
                false => number,
            };
            both!(
                T,
                T::from_above(T::ZERO, distance),
                groups(number),
                varint()
            );
        }
    }
}

/// Forms that are longer than necessary, or of a number that is too large.
fn other_forms<T: Integer + Default>() {
    let groups_of_it = T::BITS.div_ceil(7) as usize;
    for zeros in 1..groups_of_it {
        let overlong = "0000000 1".repeat(zeros) + "0000000 0";
        assert_eq!(read!(T, &overlong, varint()), Err(Error::NotCanonical));
        let overlong = "1111111 1".repeat(zeros) + "0000000 0";
        assert_eq!(read!(T, &overlong, varint()), Err(Error::NotCanonical));
    }
    let full = "1111111 1".repeat(groups_of_it - 1);
    let (place, lowest) = (T::BITS - 7 * (T::BITS / 7), full.clone() + "1");
    for bit in place..7 {
        let wide = full.clone() + &low(1 << bit, 7) + "0";
        assert_eq!(read!(T, &wide, varint()), Err(Error::OutOfRange));
    }
    let longer = lowest + "0000001";
    assert_eq!(read!(T, &longer, varint()), Err(Error::OutOfRange));
}

#[test]
fn varints_grow_by_groups_of_seven() {
    each_integer!(edges);
}

#[test]
fn varints_have_no_other_forms() {
    each_integer!(other_forms);
}

#[test]
fn small_signed_varints_are_short_on_both_sides() {
    let bits = |value: i32| written!(value, varint());
    assert_eq!(bits(0), Ok("00000000".into()));
    assert_eq!(bits(-1), Ok("10000000".into()));
    assert_eq!(bits(1), Ok("01000000".into()));
    assert_eq!(bits(-64), Ok("11111110".into()));
    assert_eq!(bits(64), Ok("0000000110000000".into()));
}
