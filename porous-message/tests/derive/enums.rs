//! Kinds, and the fields of each of them.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use porous_message::{Error, Message, ReadStream, Serialize, Stream, measure, read};

use super::is;

#[derive(Debug, PartialEq, Message)]
enum Game {
    Nothing,
    Move(#[message(range = -9..=9)] i8, bool),
    Say {
        to: u8,
        #[message(max = 9)]
        text: String,
    },
    Empty {},
    Never(),
}

#[test]
fn a_variant_is_its_kind_and_then_its_fields() {
    let kind =
        |mut kind| move |stream: &mut porous_message::WriteStream<'_>| stream.kind(&mut kind, 5);
    is(Game::Nothing, kind(0));
    is(Game::Empty {}, kind(3));
    is(Game::Never(), kind(4));
    is(Game::Move(-9, true), |stream| {
        stream.kind(&mut 1, 5)?;
        stream.ranged(&mut -9, -9..=9)?;
        stream.bool(&mut true)
    });
    is(
        Game::Say {
            to: 7,
            text: "hello".into(),
        },
        |stream| {
            stream.kind(&mut 2, 5)?;
            7_u8.serialize(stream)?;
            stream.string(&mut "hello".into(), 9)
        },
    );
}

#[test]
fn an_unknown_kind_is_out_of_range() {
    for kind in 5..8 {
        assert_eq!(
            read::<Game>(&[kind, 0, 0]),
            Err(Error::OutOfRange),
            "{kind}"
        );
    }
    assert_eq!(read::<Game>(&[]), Err(Error::End));
}

#[derive(Debug, PartialEq, Message)]
enum Forms {
    First {
        list: [u8; 2],
        #[message(skip)]
        note: u8,
    },
    Second(#[message(max = 3)] Vec<u8>, u8),
}

#[test]
fn the_blank_value_is_that_of_the_first_variant() {
    assert_eq!(
        Forms::blank(),
        Forms::First {
            list: [0; 2],
            note: 0
        }
    );
}

#[test]
fn a_variant_is_blank_before_it_is_read() {
    let mut value = Forms::First {
        list: [1, 2],
        note: 3,
    };
    value.serialize(&mut ReadStream::new(&[0, 0, 0])).unwrap();
    assert_eq!(
        value,
        Forms::First {
            list: [0; 2],
            note: 0
        }
    );
    value
        .serialize(&mut ReadStream::new(&[0b1000_1011, 0b1000, 0b1]))
        .unwrap();
    assert_eq!(value, Forms::Second(vec![0x11], 0x21));
}

/// Discriminants are not sent.
#[derive(Clone, Copy, Debug, PartialEq, Message)]
#[repr(u8)]
enum Team {
    Red = 7,
    Blue = 200,
}

#[test]
fn kinds_are_numbered_in_their_order() {
    is(Team::Red, |stream| stream.kind(&mut 0, 2));
    is(Team::Blue, |stream| stream.kind(&mut 1, 2));
}

/// An enum of this many kinds by itself, and the bits that each takes.
macro_rules! takes {
    ($bits:literal: $($kind:ident)*) => {{
        #[derive(Clone, Copy, Debug, PartialEq, Message)]
        enum Many {
            $($kind,)*
        }
        let all = [$(Many::$kind,)*];
        for (number, mut kind) in (0_u32..).zip(all) {
            assert_eq!(measure(&mut kind), Ok($bits), "{kind:?}");
            let count = u32::try_from(all.len()).unwrap();
            is(kind, |stream| stream.kind(&mut { number }, count));
        }
        all.len()
    }};
}

/// An enum of 256 kinds and those given.
macro_rules! with_256_takes {
    ($bits:literal: $($more:ident)*) => {
        takes!($bits:
            K00 K01 K02 K03 K04 K05 K06 K07 K08 K09 K0a K0b K0c K0d K0e K0f
            K10 K11 K12 K13 K14 K15 K16 K17 K18 K19 K1a K1b K1c K1d K1e K1f
            K20 K21 K22 K23 K24 K25 K26 K27 K28 K29 K2a K2b K2c K2d K2e K2f
            K30 K31 K32 K33 K34 K35 K36 K37 K38 K39 K3a K3b K3c K3d K3e K3f
            K40 K41 K42 K43 K44 K45 K46 K47 K48 K49 K4a K4b K4c K4d K4e K4f
            K50 K51 K52 K53 K54 K55 K56 K57 K58 K59 K5a K5b K5c K5d K5e K5f
            K60 K61 K62 K63 K64 K65 K66 K67 K68 K69 K6a K6b K6c K6d K6e K6f
            K70 K71 K72 K73 K74 K75 K76 K77 K78 K79 K7a K7b K7c K7d K7e K7f
            K80 K81 K82 K83 K84 K85 K86 K87 K88 K89 K8a K8b K8c K8d K8e K8f
            K90 K91 K92 K93 K94 K95 K96 K97 K98 K99 K9a K9b K9c K9d K9e K9f
            Ka0 Ka1 Ka2 Ka3 Ka4 Ka5 Ka6 Ka7 Ka8 Ka9 Kaa Kab Kac Kad Kae Kaf
            Kb0 Kb1 Kb2 Kb3 Kb4 Kb5 Kb6 Kb7 Kb8 Kb9 Kba Kbb Kbc Kbd Kbe Kbf
            Kc0 Kc1 Kc2 Kc3 Kc4 Kc5 Kc6 Kc7 Kc8 Kc9 Kca Kcb Kcc Kcd Kce Kcf
            Kd0 Kd1 Kd2 Kd3 Kd4 Kd5 Kd6 Kd7 Kd8 Kd9 Kda Kdb Kdc Kdd Kde Kdf
            Ke0 Ke1 Ke2 Ke3 Ke4 Ke5 Ke6 Ke7 Ke8 Ke9 Kea Keb Kec Ked Kee Kef
            Kf0 Kf1 Kf2 Kf3 Kf4 Kf5 Kf6 Kf7 Kf8 Kf9 Kfa Kfb Kfc Kfd Kfe Kff
            $($more)*)
    };
}

#[test]
fn a_kind_takes_as_many_bits_as_their_number_needs() {
    assert_eq!(takes!(0: A), 1);
    assert_eq!(takes!(1: A B), 2);
    assert_eq!(takes!(2: A B C), 3);
    assert_eq!(takes!(2: A B C D), 4);
    assert_eq!(takes!(3: A B C D E), 5);
    assert_eq!(with_256_takes!(8:), 256);
    assert_eq!(with_256_takes!(9: Z), 257);
}
