//! Generic types, types that contain themselves, and all ways to write a type.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::marker::PhantomData;

use porous_message::{Error, MAX_DEPTH, Message, Serialize, WriteStream, measure, read};

use super::{is, written};

#[derive(Debug, PartialEq, Message)]
struct Unit;

#[derive(Debug, PartialEq, Message)]
struct Empty {}

#[derive(Debug, PartialEq, Message)]
struct Nothing();

#[test]
fn types_without_fields_take_no_bits() {
    is(Unit, |_| Ok(()));
    is(Empty {}, |_| Ok(()));
    is(Nothing(), |_| Ok(()));
}

#[derive(Debug, PartialEq, Message)]
struct Inner<T>(T, bool);

trait Game {
    type State;
}

#[derive(Debug, PartialEq)]
struct Chess;

impl Game for Chess {
    type State = u16;
}

/// Neither the game nor the marker can be serialized.
#[derive(Debug, PartialEq, Message)]
struct Generic<T, G: Game, const N: usize, U = u8>
where
    U: Copy,
{
    value: T,
    #[message(max = N)]
    inner: Vec<Inner<T>>,
    state: G::State,
    other: Option<[U; N]>,
    #[message(skip)]
    game: PhantomData<G>,
}

#[derive(Debug, PartialEq, Message)]
enum Either<A, B> {
    Left(A),
    Right { right: B },
}

#[test]
fn generic_types_ask_of_their_parameters_what_they_need() {
    let value: Generic<i8, Chess, 2> = Generic {
        value: -1,
        inner: vec![Inner(1, true)],
        state: 500,
        other: Some([1, 2]),
        game: PhantomData,
    };
    is(value, |stream| {
        (-1_i8).serialize(stream)?;
        stream_bits(stream, 1, 2)?;
        1_i8.serialize(stream)?;
        true.serialize(stream)?;
        500_u16.serialize(stream)?;
        Some([1_u8, 2]).serialize(stream)
    });
    is(Either::<u8, bool>::Left(7), |stream| {
        stream_bits(stream, 7 << 1, 9)
    });
    is(Either::<u8, Unit>::Right { right: Unit }, |stream| {
        stream_bits(stream, 1, 1)
    });
}

fn stream_bits(stream: &mut WriteStream<'_>, mut value: u64, bits: u32) -> Result<(), Error> {
    porous_message::Stream::bits(stream, &mut value, bits)
}

#[derive(Debug, PartialEq, Message)]
struct Tree {
    leaf: u8,
    #[message(max = 1)]
    children: Vec<Self>,
}

#[derive(Debug, PartialEq, Message)]
#[expect(clippy::use_self, reason = "its parameter is in its field")]
struct Chain<T> {
    item: T,
    next: Option<Box<Chain<T>>>,
}

#[derive(Debug, PartialEq, Message)]
enum Expression {
    Number(#[message(varint)] i32),
    Negated(Box<Self>),
}

/// A blank value of the first variant would have no end.
#[derive(Debug, PartialEq, Message)]
#[expect(clippy::use_self, reason = "both ways to write it")]
enum Sum {
    Of(Box<Self>, Box<Sum>),
    Pair(u8, [Box<Self>; 1]),
    Number(u8),
    List(#[message(max = 1)] Vec<Self>, Option<Box<Self>>),
}

#[test]
fn the_variant_that_ends_may_come_last() {
    let number = |number| Box::new(Sum::Number(number));
    let six = Sum::Of(number(1), Box::new(Sum::Pair(2, [number(3)])));
    is(Sum::List(vec![six], Some(number(4))), |stream| {
        stream_bits(stream, 3, 2)?;
        true.serialize(stream)?;
        stream_bits(stream, 0, 2)?;
        stream_bits(stream, 2, 2)?;
        1_u8.serialize(stream)?;
        stream_bits(stream, 1, 2)?;
        2_u8.serialize(stream)?;
        stream_bits(stream, 2, 2)?;
        3_u8.serialize(stream)?;
        true.serialize(stream)?;
        stream_bits(stream, 2, 2)?;
        4_u8.serialize(stream)
    });
}

/// The game itself cannot be serialized.
#[derive(Debug, PartialEq, Message)]
struct Saved<G: Game> {
    boxed: Box<G::State>,
    inner: Inner<<G as Game>::State>,
    option: Option<[G::State; 2]>,
}

#[test]
fn types_of_a_parameter_may_be_anywhere_in_a_field() {
    let saved = Saved::<Chess> {
        boxed: Box::new(2),
        inner: Inner(3, true),
        option: Some([4, 5]),
    };
    is(saved, |stream| {
        2_u16.serialize(stream)?;
        3_u16.serialize(stream)?;
        true.serialize(stream)?;
        Some([4_u16, 5]).serialize(stream)
    });
}

#[test]
fn types_may_hold_themselves() {
    let leaf = Tree {
        leaf: 3,
        children: vec![],
    };
    is(
        Tree {
            leaf: 2,
            children: vec![leaf],
        },
        |stream| {
            2_u8.serialize(stream)?;
            true.serialize(stream)?;
            3_u8.serialize(stream)?;
            false.serialize(stream)
        },
    );
    let last = Some(Box::new(Chain {
        item: true,
        next: None,
    }));
    is(
        Chain {
            item: false,
            next: last,
        },
        |stream| [false, true, true, false].serialize(stream),
    );
    is(
        Expression::Negated(Box::new(Expression::Number(0))),
        |stream| stream_bits(stream, 1, 10),
    );
}

#[test]
fn types_that_hold_themselves_too_deep_are_neither_read_nor_written() {
    let deep = |levels| {
        (0..levels).fold(Expression::Number(1), |inner, _| {
            Expression::Negated(Box::new(inner))
        })
    };
    let mut deepest = deep(MAX_DEPTH);
    let (_, bytes) = written(|stream| deepest.serialize(stream)).unwrap();
    assert_eq!(read(&bytes), Ok(deepest));
    assert_eq!(measure(&mut deep(MAX_DEPTH + 1)), Err(Error::TooDeep));
    assert_eq!(
        written(|stream| deep(MAX_DEPTH + 1).serialize(stream)),
        Err(Error::TooDeep)
    );
    // Ones forever: each says that another level follows.
    assert_eq!(read::<Expression>(&[0xFF; 1000]), Err(Error::TooDeep));
    assert_eq!(read::<Tree>(&[0xFF; 1000]), Err(Error::TooDeep));
    assert_eq!(read::<Chain<bool>>(&[0xFF; 1000]), Err(Error::TooDeep));
}

/// A field's type that comes out of a macro is in an invisible group.
macro_rules! point {
    ($name:ident, $axis:ty, $more:ty, $last:expr) => {
        #[derive(Debug, PartialEq, Message)]
        struct $name {
            #[message(range = 0..=$last)]
            x: $axis,
            #[message(max = $last, range = 0..=$last)]
            more: $more,
        }
    };
}

point!(Small, u8, Vec<u8>, 3);

#[test]
fn a_type_may_come_out_of_a_macro() {
    is(
        Small {
            x: 3,
            more: vec![2, 1],
        },
        |stream| stream_bits(stream, 3 | 2 << 2 | 2 << 4 | 1 << 6, 8),
    );
}
