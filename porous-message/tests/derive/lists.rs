//! Fields that hold many values, and the attributes of their items.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use porous_message::{Error, Message, Serialize, Stream, read};

use super::{fails, is};

const MOST: usize = 4;

#[derive(Debug, Default, PartialEq, Message)]
struct Lists {
    #[message(max = 10)]
    text: String,
    #[message(max = MOST)]
    bytes: Vec<u8>,
    #[message(len = 0..=MOST + 1)]
    some: Vec<u16>,
    #[message(max = 3, range = 1..=6)]
    dice: Vec<u8>,
}

#[test]
fn lists_and_strings_have_their_bounds() {
    let full = Lists {
        text: "0123456789".into(),
        bytes: vec![1, 2, 3, 4],
        some: vec![5; 5],
        dice: vec![1, 6, 6],
    };
    is(full, |stream| {
        stream.string(&mut "0123456789".into(), 10)?;
        stream.byte_vec(&mut vec![1, 2, 3, 4], 0..=4)?;
        stream.list(&mut vec![5_u16; 5], 0..=5, u16::serialize)?;
        stream.list(&mut vec![1_u8, 6, 6], 0..=3, |die, stream| {
            stream.ranged(die, 1..=6)
        })
    });
    is(Lists::default(), |stream| {
        stream.bits(&mut 0, 4 + 3 + 3 + 2)
    });
    let lists = Lists::default;
    fails(
        Lists {
            text: "0123456789a".into(),
            ..lists()
        },
        Error::OutOfRange,
    );
    fails(
        Lists {
            bytes: vec![0; 5],
            ..lists()
        },
        Error::OutOfRange,
    );
    fails(
        Lists {
            some: vec![0; 6],
            ..lists()
        },
        Error::OutOfRange,
    );
    fails(
        Lists {
            dice: vec![0],
            ..lists()
        },
        Error::OutOfRange,
    );
    // Eleven bytes of text are announced, and missing.
    assert_eq!(read::<Lists>(&[11; 20]), Err(Error::OutOfRange));
}

#[derive(Debug, PartialEq, Message)]
struct Least(
    #[message(len = 2..=3)] Vec<u8>,
    #[message(len = 1..=1)] Vec<bool>,
);

#[test]
fn a_list_may_have_a_least_length() {
    is(Least(vec![1, 2], vec![true]), |stream| {
        stream.byte_vec(&mut vec![1, 2], 2..=3)?;
        true.serialize(stream)
    });
    fails(Least(vec![1], vec![true]), Error::OutOfRange);
    fails(Least(vec![1, 2], vec![]), Error::OutOfRange);
}

#[derive(Debug, PartialEq, Message)]
struct Nested {
    #[message(max = 2, each(max = 3, each(max = 4)))]
    names: Vec<Vec<String>>,
    #[message(max = 5)]
    maybe: Option<String>,
    #[message(max = 1)]
    pair: [Vec<u8>; 2],
    #[message(range = 0..=9)]
    digits: Option<[Option<u8>; 2]>,
    #[message(max = 1, each(range = 0..=9))]
    holes: Vec<Option<u8>>,
}

#[test]
fn attributes_hold_for_what_is_inside() {
    let value = Nested {
        names: vec![vec![], vec!["a".into(), "bcde".into()]],
        maybe: Some("abc".into()),
        pair: [vec![], vec![7]],
        digits: Some([None, Some(9)]),
        holes: vec![Some(3)],
    };
    is(value, |stream| {
        stream.bits(&mut 2, 2)?;
        stream.bits(&mut (2 << 2), 4)?;
        stream.string(&mut "a".into(), 4)?;
        stream.string(&mut "bcde".into(), 4)?;
        true.serialize(stream)?;
        stream.string(&mut "abc".into(), 5)?;
        stream.byte_vec(&mut vec![], 0..=1)?;
        stream.byte_vec(&mut vec![7], 0..=1)?;
        stream.bits(&mut (0b101 | 9 << 3), 7)?;
        stream.bits(&mut (0b11 | 3 << 2), 6)
    });
}

#[derive(Debug, PartialEq, Message)]
struct Chains {
    #[message(max = 7, relative)]
    ids: Vec<u16>,
    #[message(delta)]
    path: [[i32; 3]; 2],
    base: u8,
    #[message(max = 3, relative = base)]
    above: Vec<Option<u8>>,
}

#[test]
fn items_may_be_distances_from_the_one_before() {
    let value = Chains {
        ids: vec![300, 301, 310, 5],
        path: [[1, 2, 0], [-7, -7, i32::MAX]],
        base: 9,
        above: vec![Some(10), None, Some(11)],
    };
    is(value, |stream| {
        stream.bits(&mut 4, 3)?;
        300_u16.serialize(stream)?;
        stream.relative(&mut 301_u16, 300)?;
        stream.relative(&mut 310_u16, 301)?;
        stream.relative(&mut 5_u16, 310)?;
        for mut line in [[1, 2, 0], [-7, -7, i32::MAX]] {
            line[0].serialize(stream)?;
            stream.delta(&mut { line[1] }, line[0])?;
            stream.delta(&mut { line[2] }, line[1])?;
        }
        9_u8.serialize(stream)?;
        stream.bits(&mut (3 | 1 << 2), 3)?;
        stream.relative(&mut 10_u8, 9)?;
        stream.bits(&mut 0b10, 2)?;
        stream.relative(&mut 11_u8, 9)
    });
    let nothing = Chains {
        ids: vec![],
        path: [[0; 3]; 2],
        base: 0,
        above: vec![],
    };
    is(nothing, |stream| {
        stream.bits(&mut 0, 3).and_then(|()| {
            for _ in 0..2 {
                0_i32.serialize(stream)?;
                stream.delta(&mut 0_i32, 0)?;
                stream.delta(&mut 0_i32, 0)?;
            }
            stream.bits(&mut 0, 10)
        })
    });
}
