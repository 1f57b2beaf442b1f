//! Any value comes back, and any bytes are either refused or the only form of their value.

use alloc::string::String;
use alloc::vec::Vec;

use porous_message::{Message, ReadStream, Serialize, measure, read};
use proptest::option;
use proptest::prelude::{Strategy, any, prop};
use proptest::{prop_assert, prop_assert_eq, prop_oneof, proptest};

use super::written;

#[derive(Clone, Debug, PartialEq, Message)]
struct Numbers {
    #[message(range = -1000..=1000)]
    ranged: i16,
    #[message(bits = 37)]
    bits: u64,
    #[message(varint)]
    varint: i128,
    whole: u32,
    #[message(relative = whole)]
    above: u32,
    #[message(delta = above)]
    near: u32,
    #[message(align)]
    axes: Option<[i8; 3]>,
}

#[derive(Clone, Debug, PartialEq, Message)]
enum Any {
    Nothing,
    Numbers(Numbers),
    Lists {
        #[message(max = 20)]
        text: String,
        #[message(len = 1..=9)]
        bytes: Vec<u8>,
        #[message(max = 4, relative)]
        ids: Vec<u16>,
        #[message(check = 0x1234_5678, max = 3, each(max = 4, range = 1..=6))]
        dice: Vec<Vec<u8>>,
    },
    Inside(#[message(max = 3)] Vec<Self>),
    Maybe(Option<Result>),
}

#[derive(Clone, Copy, Debug, PartialEq, Message)]
enum Result {
    Won,
    Lost {
        #[message(range = 0..=5)]
        by: u8,
    },
    Drawn,
}

fn numbers() -> impl Strategy<Value = Any> {
    let first = (
        -1000..=1000_i16,
        0..1_u64 << 37,
        any::<i128>(),
        any::<u32>(),
    );
    let rest = (any::<i8>(), any::<i8>(), any::<Option<[i8; 3]>>());
    (first, rest).prop_map(|((ranged, bits, varint, whole), (above, near, axes))| {
        let above = whole.wrapping_add_signed(above.into());
        let near = above.wrapping_add_signed(near.into());
        Any::Numbers(Numbers {
            ranged,
            bits,
            varint,
            whole,
            above,
            near,
            axes,
        })
    })
}

fn lists() -> impl Strategy<Value = Any> {
    let bytes = prop::collection::vec(any::<u8>(), 1..=9);
    let ids = prop::collection::vec(any::<u16>(), 0..=4);
    let dice = prop::collection::vec(1..=6_u8, 0..=4);
    let dice = prop::collection::vec(dice, 0..=3);
    ("[a-zäß]{0,10}", bytes, ids, dice).prop_map(|(text, bytes, ids, dice)| Any::Lists {
        text,
        bytes,
        ids,
        dice,
    })
}

fn maybe() -> impl Strategy<Value = Any> {
    let lost = (0..=5_u8).prop_map(|by| Result::Lost { by });
    let result = prop_oneof![
        prop::strategy::Just(Result::Won),
        lost,
        prop::strategy::Just(Result::Drawn)
    ];
    option::of(result).prop_map(Any::Maybe)
}

fn message() -> impl Strategy<Value = Any> {
    let leaf = prop_oneof![
        prop::strategy::Just(Any::Nothing),
        numbers(),
        lists(),
        maybe()
    ];
    leaf.prop_recursive(5, 20, 3, |inner| {
        prop::collection::vec(inner, 0..=3).prop_map(Any::Inside)
    })
}

proptest! {
    #[test]
    fn any_value_is_read_as_it_was_written(mut value in message()) {
        let (bits, bytes) = written(|stream| value.serialize(stream)).unwrap();
        prop_assert!(measure(&mut value).unwrap() >= bits as u64);
        prop_assert_eq!(read(&bytes), Ok(value));
        // Any part of the bytes is too short.
        for end in 0..bytes.len() {
            prop_assert!(read::<Any>(&bytes[..end]).is_err());
        }
    }

    #[test]
    fn what_can_be_read_is_written_the_same(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let mut stream = ReadStream::new(&bytes);
        let mut value = Any::blank();
        if value.serialize(&mut stream).is_ok() {
            let end = 8 * bytes.len() - stream.remaining();
            let (bits, again) = written(|stream| value.serialize(stream)).unwrap();
            prop_assert_eq!(bits, end);
            let whole = bits / 8;
            prop_assert_eq!(&again[..whole], &bytes[..whole]);
        }
    }
}
