//! Derived code means the same wherever it stands, and no lint complains about it.
#![deny(clippy::all, clippy::nursery, clippy::pedantic)]

use core::fmt::Debug;

use super::is;

/// Names that the derived code uses, with other meanings here.
mod shadows {
    #![expect(dead_code, non_camel_case_types, reason = "they are in the way")]

    use ::porous_message::Message;

    mod core {}
    mod alloc {}
    mod porous_message {}
    mod std {}
    struct Error;
    struct Option;
    struct Result;
    struct Some;
    struct None;
    struct Ok;
    struct Err;
    struct Box;
    trait Serialize {}
    trait Stream {}
    trait Default {}
    type u32 = ();
    macro_rules! assert {
        () => {};
    }

    const N: i16 = 1;

    #[derive(PartialEq, Message)]
    pub(super) struct Struct<S> {
        #[message(range = -N..=N)]
        pub(super) stream: i16,
        #[message(bits = 3)]
        pub(super) r#type: ::core::primitive::u32,
        #[message(relative = r#type)]
        pub(super) kind: ::core::primitive::u32,
        #[message(range = 0.0..=1.0, resolution = 1.0)]
        pub(super) read: f32,
        #[message(max = 1, delta)]
        pub(super) bits: ::alloc::vec::Vec<u16>,
        #[message(max = 1)]
        pub(super) text: ::alloc::string::String,
        #[message(varint)]
        pub(super) maybe: ::core::option::Option<[u8; 1]>,
        pub(super) item: S,
    }

    #[derive(PartialEq, Message)]
    pub(super) enum Enum<S, T> {
        Ok(S),
        Err(T),
        None,
        Some { error: [u8; 2] },
        Option([bool; 2]),
    }

    assert!();
}

use shadows::{Enum, Struct};

impl<S> Debug for Struct<S> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Struct")
    }
}

impl<S, T> Debug for Enum<S, T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Enum")
    }
}

#[test]
fn names_that_stand_for_other_things_are_not_in_the_way() {
    let value = Struct {
        stream: 1,
        r#type: 5,
        kind: 6,
        read: 1.0,
        bits: alloc::vec![],
        text: alloc::string::String::new(),
        maybe: None,
        item: true,
    };
    is(value, |stream| {
        porous_message::Stream::bits(stream, &mut (2 | 5 << 2 | 1 << 5 | 1 << 6 | 1 << 10), 11)
    });
    for (value, mut kind, rest) in [
        (Enum::Ok(()), 0, 0),
        (Enum::Err(()), 1, 0),
        (Enum::None, 2, 0),
        (Enum::Some { error: [0; 2] }, 3, 16),
        (Enum::Option([false; 2]), 4, 2),
    ] {
        is(value, |stream| {
            porous_message::Stream::bits(stream, &mut kind, 3 + rest)
        });
    }
}
