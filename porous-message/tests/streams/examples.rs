//! Streams write the bits that the examples of `docs/message.md` show.
#![expect(clippy::unwrap_used, reason = "a test")]

use core::ops::RangeInclusive;
use core::str::FromStr;

use porous_message::Integer as _;

use crate::examine;
use crate::shape::{How, Shape, Type, Value};

const DOCUMENT: &str = include_str!("../../../docs/message.md");

const TYPES: [&str; Type::COUNT] = [
    "u8", "u16", "u32", "u64", "u128", "i8", "i16", "i32", "i64", "i128",
];

/// The three columns of all lines of the blocks with this name.
fn lines(name: &str) -> Vec<[&'static str; 3]> {
    let start = format!("```{name}\n");
    let blocks = DOCUMENT.split(&*start).skip(1);
    let lines = blocks.flat_map(|block| block.split("```").next().unwrap().lines());
    let columns = |line: &'static str| {
        let columns: Vec<_> = line.split(" | ").map(str::trim).collect();
        columns.try_into().expect(line)
    };
    lines.map(columns).collect()
}

fn parse<T: FromStr>(text: &str) -> T {
    let parsed = text.parse().ok();
    parsed.unwrap_or_else(|| panic!("{text:?} is not what it should be"))
}

fn two<'t>(text: &'t str, between: &str) -> (&'t str, &'t str) {
    text.split_once(between).expect(text)
}

fn range<T: FromStr>(text: &str) -> RangeInclusive<T> {
    let (start, end) = two(text, "..=");
    parse(start)..=parse(end)
}

fn hex(text: &str) -> Vec<u8> {
    let digits = text.trim_matches('-');
    let bytes = (0..digits.len()).step_by(2).map(|at| &digits[at..at + 2]);
    bytes
        .map(|byte| u8::from_str_radix(byte, 16).unwrap())
        .collect()
}

/// An integer as the number that stands for it in a [`Value`].
fn number(which: Type, text: &str) -> u128 {
    which.wrap(match text.starts_with('-') {
        true => parse::<i128>(text).above(0),
        false => parse(text),
    })
}

fn integer(name: &str) -> Option<Type> {
    TYPES.iter().position(|known| *known == name).map(Type)
}

/// A step like `ranged i8 -1 in -4..=3`.
fn step(text: &str) -> (Shape, Value) {
    let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
    let count = |value: &str| Value::Number(parse(value));
    match name {
        "bool" => (Shape::Bool, Value::Number(parse::<bool>(rest).into())),
        "bits" => (
            Shape::Bits(parse(two(rest, " of ").1)),
            count(two(rest, " of ").0),
        ),
        "kind" => (
            Shape::Kind(parse(two(rest, " of ").1)),
            count(two(rest, " of ").0),
        ),
        "f32" => (
            Shape::F32,
            Value::Number(parse::<f32>(rest).to_bits().into()),
        ),
        "f64" => (
            Shape::F64,
            Value::Number(parse::<f64>(rest).to_bits().into()),
        ),
        "quantized" => quantized(rest),
        "bytes" => (Shape::Bytes(hex(rest).len()), Value::Bytes(hex(rest))),
        "byte_vec" => {
            let (start, end) = range(two(rest, " of ").1).into_inner();
            (
                Shape::ByteVec(start, end),
                Value::Bytes(hex(two(rest, " of ").0)),
            )
        }
        "string" => {
            let (text, max) = two(rest, " of ");
            (Shape::Text(parse(max)), Value::Text(text.into()))
        }
        "list" => list(rest),
        "none" => (Shape::Option(Box::new(Shape::Bool)), Value::Many(vec![])),
        "some" => {
            let (shape, value) = step(rest);
            (Shape::Option(Box::new(shape)), Value::Many(vec![value]))
        }
        "align" => (Shape::Align, Value::Nothing),
        "check" => (
            Shape::Check(u32::from_str_radix(rest, 16).unwrap()),
            Value::Nothing,
        ),
        _ => near(name, rest),
    }
}

/// A step with an integer near another one.
fn near(name: &str, rest: &str) -> (Shape, Value) {
    if let Some(which) = integer(name) {
        let how = How::Ranged(0, which.wrap(u128::MAX));
        return (
            Shape::Integer(which, how),
            Value::Number(number(which, rest)),
        );
    }
    let (which, rest) = two(rest, " ");
    let which = integer(which).expect(rest);
    let (value, base) = match name {
        "ranged" => two(rest, " in "),
        "relative" => two(rest, " after "),
        "delta" => two(rest, " near "),
        _ => (rest, "0"),
    };
    let above_least = |text| which.wrap(number(which, text).wrapping_sub(which.least()));
    let how = match name {
        "ranged" => {
            let (min, max) = two(base, "..=");
            How::Ranged(above_least(min), above_least(max) - above_least(min))
        }
        "relative" => How::Relative(number(which, base)),
        "delta" => How::Delta(number(which, base)),
        "varint" => How::Varint,
        _ => panic!("what is {name}?"),
    };
    (
        Shape::Integer(which, how),
        Value::Number(number(which, value)),
    )
}

fn quantized(text: &str) -> (Shape, Value) {
    let (which, rest) = two(text, " ");
    let (value, rest) = two(rest, " in ");
    let (bounds, resolution) = two(rest, " by ");
    let (start, end) = range::<f32>(bounds).into_inner();
    let shape = match which {
        "f32" => Shape::Quantized32([start, end, parse(resolution)]),
        _ => Shape::Quantized64([start.into(), end.into(), parse(resolution)]),
    };
    (shape, Value::Number(parse::<f64>(value).to_bits().into()))
}

/// A list, whose items are of one shape.
fn list(text: &str) -> (Shape, Value) {
    let (bounds, items) = two(text.strip_prefix("of ").expect(text), " [");
    let (start, end) = range(bounds).into_inner();
    let items = items
        .trim_end_matches(']')
        .split(", ")
        .filter(|item| !item.is_empty());
    let (shapes, values): (Vec<_>, Vec<_>) = items.map(step).unzip();
    let shape = shapes.into_iter().next_back().unwrap_or(Shape::Bool);
    (
        Shape::List(start, end, Box::new(shape)),
        Value::Many(values),
    )
}

/// A program: steps one after the other.
fn program(text: &str) -> (Shape, Value) {
    let (shapes, values) = text.split(" + ").map(step).unzip();
    (Shape::All(shapes), Value::Many(values))
}

fn bits(bytes: &[u8], count: usize) -> String {
    let bit = |at: usize| char::from(b'0' + (bytes[at / 8] >> (at % 8) & 1));
    (0..count).map(bit).collect()
}

#[test]
fn the_examples_are_written_and_read_as_the_document_says() {
    let examples = lines("bits");
    assert!(examples.len() > 50, "where are they?");
    let mut wrong = Vec::new();
    for [text, expected, hexadecimal] in examples {
        let (shape, mut value) = program(text);
        assert!(examine::value(&shape, &value), "{text}");
        let (bytes, count) = shape.written(&mut value, 100).expect(text);
        let written = bits(&bytes, count);
        if written != expected.replace([' ', '-'], "")
            || bytes != hex(&hexadecimal.replace(' ', ""))
        {
            wrong.push(format!("{text} | {written} | {bytes:02x?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_the_document_says_is_refused_is_refused() {
    let examples = lines("refused");
    assert!(examples.len() > 10, "where are they?");
    for [text, refused, error] in examples {
        let (shape, _) = program(text);
        let refused = refused.replace(' ', "");
        let mut bytes = vec![0; refused.len().div_ceil(8)];
        for (at, bit) in refused.bytes().enumerate() {
            bytes[at / 8] |= (bit - b'0') << (at % 8);
        }
        let read = shape.read(&bytes).expect_err(text);
        assert_eq!(format!("{read:?}"), error, "{text}");
    }
}
