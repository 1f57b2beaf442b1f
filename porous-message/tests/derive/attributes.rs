//! Each attribute of a single value, next to the step that it stands for.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use porous_message::{Error, Message, Serialize, Stream, read};

use super::{fails, is};

#[derive(Debug, PartialEq, Message)]
struct Plain {
    flag: bool,
    small: i8,
    large: u128,
    float: f64,
    nothing: (),
    digest: [u8; 3],
    maybe: Option<[i16; 2]>,
}

#[test]
fn without_an_attribute_a_field_is_what_its_type_is() {
    let digest = [9, 8, 7];
    let plain = |maybe| Plain {
        flag: true,
        small: -3,
        large: 1 << 100,
        float: -0.1,
        nothing: (),
        digest,
        maybe,
    };
    for mut maybe in [None, Some([-1, 5])] {
        is(plain(maybe), |stream| {
            true.serialize(stream)?;
            (-3_i8).serialize(stream)?;
            (1_u128 << 100).serialize(stream)?;
            (-0.1_f64).serialize(stream)?;
            [9_u8, 8, 7].serialize(stream)?;
            maybe.serialize(stream)
        });
    }
}

const LAST: i32 = 4;

#[derive(Debug, PartialEq, Message)]
struct Ranged(#[message(range = -5..=LAST)] i32);

#[derive(Debug, PartialEq, Message)]
struct Constant<const N: i16>(#[message(range = Self::FIRST..=2 * N)] i16);

impl<const N: i16> Constant<N> {
    const FIRST: i16 = N - 1;
}

#[derive(Debug, PartialEq, Message)]
struct Whole {
    #[message(range = u64::MIN..=u64::MAX)]
    unsigned: u64,
    #[message(range = 7..=7)]
    known: u8,
}

#[test]
fn a_range_has_both_of_its_ends_and_nothing_else() {
    for number in -5..=LAST {
        is(Ranged(number), |stream| {
            stream.ranged(&mut { number }, -5..=4)
        });
    }
    fails(Ranged(-6), Error::OutOfRange);
    fails(Ranged(5), Error::OutOfRange);
    assert_eq!(read::<Ranged>(&[10]), Err(Error::OutOfRange));
    for number in [6, 14] {
        is(Constant::<7>(number), |stream| {
            stream.ranged(&mut { number }, 6..=14)
        });
    }
    fails(Constant::<7>(5), Error::OutOfRange);
    fails(Constant::<7>(15), Error::OutOfRange);
    is(
        Whole {
            unsigned: u64::MAX,
            known: 7,
        },
        |stream| stream.bits(&mut { u64::MAX }, 64),
    );
    fails(
        Whole {
            unsigned: 0,
            known: 8,
        },
        Error::OutOfRange,
    );
}

type Alias = u32;

const WIDTH: u32 = 9;

#[derive(Debug, PartialEq, Message)]
struct Bits {
    #[message(bits = 3)]
    few: u8,
    #[message(bits = WIDTH + 1)]
    some: Alias,
    #[message(bits = 128)]
    all: u128,
    #[message(bits = 100)]
    most: u128,
}

#[test]
fn bits_are_the_lowest_of_an_integer() {
    let value = |few, some, most| Bits {
        few,
        some,
        all: u128::MAX,
        most,
    };
    for (few, some) in [(0, 0), (7, 1023), (5, 513)] {
        is(value(few, some, 3), |stream| {
            stream.bits(&mut few.into(), 3)?;
            stream.bits(&mut some.into(), 10)?;
            { u128::MAX }.serialize(stream)?;
            stream.bits(&mut 3, 64)?;
            stream.bits(&mut 0, 36)
        });
    }
    fails(value(8, 0, 0), Error::OutOfRange);
    fails(value(0, 1024, 0), Error::OutOfRange);
    fails(value(0, 0, 1 << 100), Error::OutOfRange);
}

#[derive(Debug, PartialEq, Message)]
struct TooWide(#[message(bits = 33)] Alias);

#[derive(Debug, PartialEq, Message)]
struct NoBits(#[message(bits = 0)] Alias);

#[derive(Debug, PartialEq, Message)]
struct Backwards(#[message(range = 3..=LAST as Alias - 2)] Alias);

#[test]
fn of_an_alias_bounds_that_make_no_sense_are_found_when_they_are_used() {
    fails(TooWide(0), Error::Bounds);
    fails(NoBits(0), Error::Bounds);
    fails(Backwards(3), Error::Bounds);
    assert_eq!(read::<TooWide>(&[0; 8]), Err(Error::Bounds));
}

#[derive(Debug, PartialEq, Message)]
struct Varint(#[message(varint)] u16, #[message(varint)] i64);

#[test]
fn a_varint_is_the_one_of_the_stream() {
    for (mut unsigned, mut signed) in [(0, 0), (127, -64), (128, 64), (u16::MAX, i64::MIN)] {
        is(Varint(unsigned, signed), |stream| {
            stream.varint(&mut unsigned)?;
            stream.varint(&mut signed)
        });
    }
}

const FINE: f64 = 0.125;

#[derive(Debug, PartialEq, Message)]
struct Quantized {
    #[message(range = -1.0..=1.0, resolution = 0.25)]
    short: f32,
    #[message(resolution = FINE, range = 0.0..=8.0 * FINE)]
    long: f64,
}

#[test]
fn a_float_is_a_step_of_its_range() {
    for (mut short, mut long) in [(-1.0, 0.0), (1.0, 1.0), (-0.25, 0.625)] {
        is(Quantized { short, long }, |stream| {
            stream.quantized(&mut short, -1.0..=1.0, 0.25)?;
            stream.quantized(&mut long, 0.0..=1.0, 0.125)
        });
    }
    fails(
        Quantized {
            short: f32::NAN,
            long: 0.0,
        },
        Error::OutOfRange,
    );
}

#[derive(Debug, PartialEq, Message)]
struct Distances {
    first: u16,
    #[message(relative = first)]
    second: u16,
    #[message(range = -9..=9)]
    near: i8,
    #[message(delta = near)]
    nearer: i8,
}

#[derive(Debug, PartialEq, Message)]
struct Numbered(
    Alias,
    #[message(relative = 0)] u32,
    #[message(delta = 1)] Alias,
);

#[test]
fn a_distance_is_from_an_earlier_field() {
    for (first, second, near, nearer) in [(1, 2, 3, 3), (u16::MAX, 7, -9, 9), (5, 4, 0, -128)] {
        is(
            Distances {
                first,
                second,
                near,
                nearer,
            },
            |stream| {
                first.clone().serialize(stream)?;
                stream.relative(&mut { second }, first)?;
                stream.ranged(&mut { near }, -9..=9)?;
                stream.delta(&mut { nearer }, near)
            },
        );
    }
    is(Numbered(5, 6, 4), |stream| {
        5_u32.serialize(stream)?;
        stream.relative(&mut 6_u32, 5)?;
        stream.delta(&mut 4_u32, 6)
    });
}

const WORD: u32 = 0xDEAD_BEEF;

#[derive(Debug, PartialEq, Message)]
struct Checked {
    flag: bool,
    #[message(align)]
    aligned: bool,
    #[message(check = WORD)]
    checked: bool,
    #[message(check = 7, align, range = 0..=3)]
    both: u8,
}

#[test]
fn alignment_comes_before_the_check_and_that_before_the_field() {
    let value = Checked {
        flag: true,
        aligned: true,
        checked: false,
        both: 2,
    };
    is(value, |stream| {
        true.serialize(stream)?;
        stream.align()?;
        true.serialize(stream)?;
        stream.check(WORD)?;
        false.serialize(stream)?;
        stream.align()?;
        stream.check(7)?;
        stream.ranged(&mut 2, 0..=3)
    });
    assert_eq!(read::<Checked>(&[3]), Err(Error::NotCanonical));
    assert_eq!(read::<Checked>(&[1, 0, 0, 0, 0, 0]), Err(Error::Desync));
}

/// A type of another crate.
#[derive(Debug, Default, PartialEq)]
struct Foreign(u8);

fn odd<S: Stream>(value: &mut Foreign, stream: &mut S) -> Result<(), Error> {
    stream.ranged(&mut value.0, 3..=4)
}

fn span<S: Stream>(span: &mut Option<Range<u8>>, stream: &mut S) -> Result<(), Error> {
    let (mut start, mut end) = span.as_ref().map_or((0, 0), |span| (span.start, span.end));
    start.serialize(stream)?;
    end.serialize(stream)?;
    if S::READS {
        *span = (start != end).then_some(start..end);
    }
    Ok(())
}

#[derive(Debug, PartialEq, Message)]
struct With {
    #[message(with = odd)]
    foreign: Foreign,
    #[message(align, with = span)]
    span: Option<Range<u8>>,
    #[message(max = 3, each(with = odd))]
    more: Vec<Foreign>,
}

#[test]
fn a_function_of_ones_own_does_the_whole_field() {
    let value = With {
        foreign: Foreign(4),
        span: Some(3..5),
        more: vec![Foreign(3), Foreign(4)],
    };
    is(value, |stream| {
        stream.bits(&mut 1, 1)?;
        stream.align()?;
        3_u8.serialize(stream)?;
        5_u8.serialize(stream)?;
        stream.bits(&mut (2 | 0b10 << 2), 4)
    });
    fails(
        With {
            foreign: Foreign(5),
            span: None,
            more: vec![],
        },
        Error::OutOfRange,
    );
}

#[derive(Debug, PartialEq, Message)]
struct Skipped {
    a: u8,
    #[message(skip)]
    local: Option<&'static str>,
    b: u8,
}

#[test]
fn a_field_that_is_skipped_is_not_sent() {
    is(
        Skipped {
            a: 1,
            local: None,
            b: 2,
        },
        |stream| [1_u8, 2].serialize(stream),
    );
    let mut value = Skipped {
        a: 1,
        local: Some("here"),
        b: 2,
    };
    value
        .serialize(&mut porous_message::ReadStream::new(&[3, 4]))
        .unwrap();
    assert_eq!(
        value,
        Skipped {
            a: 3,
            local: Some("here"),
            b: 4
        }
    );
}
