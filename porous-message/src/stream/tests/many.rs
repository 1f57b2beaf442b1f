//! Bytes, strings, lists and options, and the levels that they may be nested.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::RangeInclusive;

use super::{both, bytes, read, written};
use crate::{Error, MAX_DEPTH, MeasureStream, ReadStream, Serialize, Stream, WriteStream, measure};

#[test]
fn bytes_have_their_number_before_them() {
    both!(Vec<u8>, vec![], "00", byte_vec(0..=3));
    both!(
        Vec<u8>,
        vec![1, 255],
        "01 10000000 11111111",
        byte_vec(0..=3)
    );
    both!(Vec<u8>, vec![1, 255], "10000000 11111111", byte_vec(2..=2));
    both!(Vec<u8>, vec![2], "0 01000000", byte_vec(1..=2));
    assert_eq!(written!(vec![], byte_vec(1..=2)), Err(Error::OutOfRange));
    assert_eq!(
        written!(vec![0; 3], byte_vec(1..=2)),
        Err(Error::OutOfRange)
    );
    assert_eq!(
        read!(Vec<u8>, "11", byte_vec(0..=2)),
        Err(Error::OutOfRange)
    );
    assert_eq!(
        written!(vec![0], byte_vec(RangeInclusive::new(2, 1))),
        Err(Error::Bounds)
    );
}

#[test]
fn strings_are_utf_8_up_to_their_bound_of_bytes() {
    both!(String, String::new(), "00", string(3));
    both!(String, String::new(), "", string(0));
    both!(String, String::from("a"), "10 10000110", string(3));
    both!(
        String,
        String::from("字"),
        "11 10100111 10110101 11101001",
        string(3)
    );
    assert_eq!(
        written!(String::from("ü字"), string(4)),
        Err(Error::OutOfRange)
    );
    assert_eq!(read!(String, "10 11111111", string(3)), Err(Error::NotUtf8));
    assert_eq!(read!(String, "10 11100111", string(3)), Err(Error::NotUtf8));
    // A longer form of a character is not UTF-8.
    assert_eq!(
        read!(String, "01 00000011 00000001", string(3)),
        Err(Error::NotUtf8)
    );
}

#[test]
fn a_string_that_is_not_written_stays_what_it_was() {
    let mut text = String::from("all of it");
    assert_eq!(
        MeasureStream::new().string(&mut text, 8),
        Err(Error::OutOfRange)
    );
    assert_eq!(
        WriteStream::new(&mut [0; 4]).string(&mut text, 20),
        Err(Error::End)
    );
    assert_eq!(
        WriteStream::new(&mut []).string(&mut text, 20),
        Err(Error::End)
    );
    assert_eq!(text, "all of it");
}

#[test]
fn lists_have_their_number_before_them() {
    both!(Vec<u8>, vec![], "0", list(0..=1, u8::serialize));
    both!(
        Vec<u8>,
        vec![1, 6],
        "1 000 101",
        list(1..=2, |die, s| s.ranged(die, 1..=6))
    );
    both!(Vec<()>, vec![(); 5], "101", list(0..=7, <()>::serialize));
    assert_eq!(
        written!(vec![0_u8; 3], list(0..=2, u8::serialize)),
        Err(Error::OutOfRange)
    );
    assert_eq!(
        read!(Vec<u8>, "1 000", list(1..=2, |die, s| s.ranged(die, 1..=6))),
        Err(Error::End)
    );
    assert_eq!(
        read!(Vec<u8>, "0 011", list(1..=2, |die, s| s.ranged(die, 1..=6))),
        Err(Error::OutOfRange)
    );
}

#[test]
fn an_option_is_a_bit_and_what_there_is() {
    both!(Option<u8>, None, "0", option(u8::serialize));
    both!(Option<u8>, Some(1), "1 10000000", option(u8::serialize));
    assert_eq!(
        read!(Option<Option<bool>>, "111", option(Option::serialize)),
        Ok(Some(Some(true)))
    );
    assert_eq!(measure(&mut Some(Some(true))), Ok(3));
}

#[test]
fn room_is_made_for_what_may_be_there_only() {
    let claim = u64::MAX.to_le_bytes();
    let longest = || 0..=usize::MAX;
    let (mut read, mut items) = (Vec::new(), Vec::new());
    assert_eq!(
        ReadStream::new(&claim).byte_vec(&mut read, longest()),
        Err(Error::End)
    );
    assert_eq!(read.capacity(), 0);
    let data = [&claim[..], &[0; 10]].concat();
    let done = ReadStream::new(&data).list(&mut items, longest(), u64::serialize);
    assert_eq!(done, Err(Error::End));
    assert!(items.capacity() <= 8 * data.len());
    // Ten bytes where eleven are announced.
    let data = [&[11], &[0; 10][..]].concat();
    assert_eq!(
        ReadStream::new(&data).byte_vec(&mut read, 0..=255),
        Err(Error::End)
    );
    assert_eq!(read.capacity(), 0);
}

#[test]
fn what_is_in_an_array_is_one_after_the_other() {
    let mut buffer = [0; 4];
    let written = crate::write(&mut [1_u8, 2, 255], &mut buffer);
    assert_eq!(written, Ok(&mut [1, 2, 255][..]));
    assert_eq!(crate::read::<[u8; 3]>(&[1, 2, 255]), Ok([1, 2, 255]));
    assert_eq!(crate::read::<[u8; 3]>(&[1, 2]), Err(Error::End));
    assert_eq!(crate::read::<[(); 9]>(&[]), Ok([(); 9]));
    assert_eq!(
        crate::read::<[Option<bool>; 2]>(&[0b011]),
        Ok([Some(true), None])
    );
}

/// A list of lists.
#[derive(Clone, Debug, Default, PartialEq)]
struct Tree(Vec<Self>);

impl Serialize for Tree {
    fn blank() -> Self {
        Self::default()
    }

    fn serialize<S: Stream>(&mut self, stream: &mut S) -> Result<(), Error> {
        stream.list(&mut self.0, 0..=1, Self::serialize)
    }
}

impl Tree {
    /// A tree with `depth` nested levels of lists.
    fn of(depth: u32) -> Self {
        (1..depth).fold(Self::default(), |inner, _| Self(vec![inner]))
    }

    fn depth(&self) -> u32 {
        1 + self.0.first().map_or(0, Self::depth)
    }
}

#[test]
fn lists_are_as_deep_as_they_may_be_and_no_deeper() {
    let mut deepest = Tree::of(MAX_DEPTH);
    let mut buffer = [0; 9];
    assert_eq!(measure(&mut deepest), Ok(MAX_DEPTH.into()));
    let bytes = crate::write(&mut deepest, &mut buffer);
    assert_eq!(bytes, Ok(&mut bytes_of(MAX_DEPTH)[..]));
    let read = crate::read::<Tree>(&bytes_of(MAX_DEPTH));
    assert_eq!(read.map(|tree| tree.depth()), Ok(MAX_DEPTH));

    let mut deeper = Tree::of(MAX_DEPTH + 1);
    assert_eq!(measure(&mut deeper), Err(Error::TooDeep));
    assert_eq!(crate::write(&mut deeper, &mut buffer), Err(Error::TooDeep));
    assert_eq!(
        crate::read::<Tree>(&bytes_of(MAX_DEPTH + 1)),
        Err(Error::TooDeep)
    );
}

/// The bytes of a tree with `depth` levels of lists.
fn bytes_of(depth: u32) -> Vec<u8> {
    bytes(0, &("1".repeat(depth as usize - 1) + "0"))
}

#[test]
fn what_claims_to_be_deeper_than_any_stack_is_refused() {
    assert_eq!(
        crate::read::<Tree>(&vec![0xFF; 1 << 20]),
        Err(Error::TooDeep)
    );
}

/// A box in an option in a box: each link has two levels.
#[derive(Debug, Default)]
struct Chain(Option<Box<Self>>);

impl Serialize for Chain {
    fn blank() -> Self {
        Self::default()
    }

    fn serialize<S: Stream>(&mut self, stream: &mut S) -> Result<(), Error> {
        stream.option(&mut self.0, Box::serialize)
    }
}

#[test]
fn boxes_count_as_a_level_each() {
    let mut chain = Chain::default();
    for _ in 0..MAX_DEPTH / 2 {
        assert!(measure(&mut chain).is_ok());
        chain = Chain(Some(Box::new(chain)));
    }
    assert_eq!(measure(&mut chain), Ok(u64::from(MAX_DEPTH / 2) + 1));
    let mut longer = Chain(Some(Box::new(chain)));
    assert_eq!(measure(&mut longer), Err(Error::TooDeep));
    let read = crate::read::<Chain>(&vec![0xFF; 1 << 20]);
    assert_eq!(read.map(drop), Err(Error::TooDeep));
}

#[test]
fn lists_and_options_beside_each_other_are_not_deep() {
    let mut stream = MeasureStream::new();
    for _ in 0..2 * MAX_DEPTH {
        assert_eq!(Some(1_u8).serialize(&mut stream), Ok(()));
        assert_eq!(Tree::of(2).serialize(&mut stream), Ok(()));
    }
    let mut inside = vec![Some(1_u8); 3];
    let mut stream = MeasureStream::new();
    *stream.depth() = MAX_DEPTH - 2;
    assert_eq!(stream.list(&mut inside, 0..=3, Option::serialize), Ok(()));
    let mut stream = MeasureStream::new();
    *stream.depth() = MAX_DEPTH - 1;
    assert_eq!(
        stream.list(&mut inside, 0..=3, Option::serialize),
        Err(Error::TooDeep)
    );
}
