//! What `#[derive(Message)]` implements is what one would write by hand.

use porous_message::{Error, Message, Stream, measure, read, write};

#[derive(Clone, Debug, PartialEq, Message)]
struct Everything {
    flag: bool,
    whole: i16,
    #[message(range = -5..=5)]
    ranged: i32,
    #[message(bits = 3)]
    bits: u8,
    #[message(varint)]
    varint: u64,
    #[message(range = -1.0..=1.0, resolution = 0.01)]
    float: f32,
    #[message(max = 8)]
    name: String,
    #[message(max = 4)]
    bytes: Vec<u8>,
    #[message(len = 1..=4, range = 1..=6)]
    dice: Vec<u8>,
    #[message(relative = whole)]
    next: i16,
    #[message(delta = next)]
    near: i16,
    #[message(align, check = 0xDEAD_BEEF)]
    checked: Option<u8>,
    #[message(with = odd)]
    odd: u8,
    #[message(skip)]
    skipped: core::ops::Range<u8>,
    #[message(max = 3, relative)]
    ids: Vec<u16>,
    #[message(delta)]
    axes: [i32; 3],
    #[message(max = 3, each(max = 9))]
    names: Vec<String>,
    digest: [u8; 2],
    #[message(range = 0..=9)]
    nested: Option<[Option<u8>; 2]>,
}

fn odd<S: Stream>(value: &mut u8, stream: &mut S) -> Result<(), Error> {
    stream.ranged(value, 1..=2)
}

#[test]
fn basics() {
    let mut all = Everything {
        flag: true,
        whole: 3,
        ranged: -4,
        bits: 7,
        varint: 300,
        float: 0.5,
        name: "abc".into(),
        bytes: vec![1, 2],
        dice: vec![3, 6],
        next: 4,
        near: 3,
        checked: Some(1),
        odd: 2,
        skipped: 0..0,
        ids: vec![1, 2, 9],
        axes: [3, 2, 1],
        names: vec!["a".into(), "b".into()],
        digest: [9, 8],
        nested: Some([None, Some(9)]),
    };
    let mut buffer = [0; 100];
    assert_eq!(measure(&mut all), Ok(272));
    let bytes = write(&mut all, &mut buffer).unwrap();
    assert_eq!(read::<Everything>(bytes), Ok(all));
}

#[derive(Debug, PartialEq, Message)]
enum Kind<T> {
    Nothing,
    One(#[message(range = 0..=3)] u8, T),
    Named { list: [T; 2] },
}

#[test]
fn enums() {
    let mut buffer = [0; 100];
    for mut kind in [
        Kind::Nothing,
        Kind::One(3, 9_u8),
        Kind::Named { list: [1, 2] },
    ] {
        let bytes = write(&mut kind, &mut buffer).unwrap();
        assert_eq!(read::<Kind<u8>>(bytes), Ok(kind));
    }
}
