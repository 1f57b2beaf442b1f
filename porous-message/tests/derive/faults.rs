//! What is said of a value that cannot be written, and of bytes that cannot be read.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Debug;
use core::ops::RangeInclusive;

use porous_message::{
    Error, Message, Serialize, Stream, explain, explain_read, measure, read, to_vec,
};

#[derive(Clone, Debug, Default, PartialEq, Message)]
struct Weapon {
    #[message(bits = 5)]
    r#type: u8,
    #[message(range = -100..=300)]
    ammo: i32,
}

#[derive(Clone, Debug, Default, PartialEq, Message)]
enum Order {
    #[default]
    Wait,
    Shoot {
        #[message(range = 0..=31)]
        target: u32,
    },
    Move(#[message(range = -50..=50)] [i8; 2]),
}

#[derive(Clone, Debug, Default, PartialEq, Message)]
struct Player {
    #[message(max = 5)]
    name: String,
    #[message(range = -1.0..=1.0, resolution = 0.5)]
    heading: f32,
    #[message(max = 3)]
    weapons: Vec<Weapon>,
    order: Option<Order>,
    #[message(with = by_hand)]
    odd: u16,
    rest: Box<Weapon>,
}

fn by_hand<S: Stream>(odd: &mut u16, stream: &mut S) -> Result<(), Error> {
    let mut half = u64::from(*odd / 2);
    stream.field("half", |stream| stream.bits(&mut half, 3))?;
    *odd = u16::try_from(2 * half).unwrap_or(0);
    Ok(())
}

/// A player whose values are all within their bounds.
fn player() -> Player {
    Player {
        name: "Ünal".into(),
        heading: 0.5,
        weapons: vec![Weapon::default(); 3],
        order: Some(Order::Shoot { target: 31 }),
        odd: 14,
        rest: Box::default(),
    }
}

/// Checks the words for a player that was changed, and that the other streams return the same error.
#[track_caller]
fn faulty(change: impl FnOnce(&mut Player), words: &str) {
    let mut value = player();
    change(&mut value);
    let fault = explain(&mut value).expect_err(words);
    assert_eq!(fault.to_string(), words);
    assert_eq!(measure(&mut value), Err(fault.error()));
    assert_eq!(to_vec(&mut value), Err(fault.error()));
}

#[test]
fn a_value_that_cannot_be_written_is_named_with_its_bound() {
    assert_eq!(explain(&mut player()), Ok(()));
    faulty(
        |player| player.name = "Ünaldi".into(),
        "name.len(): 7 is not in 0..=5",
    );
    faulty(
        |player| player.heading = f32::NAN,
        "heading: NaN is not in -1.0..=1.0",
    );
    faulty(
        |player| player.weapons.push(Weapon::default()),
        "weapons.len(): 4 is not in 0..=3",
    );
    faulty(
        |player| player.weapons[2].ammo = 301,
        "weapons[2].ammo: 301 is not in -100..=300",
    );
    faulty(
        |player| player.weapons[0].r#type = 32,
        "weapons[0].type: 32 is not in 0..=31",
    );
    faulty(
        |player| player.order = Some(Order::Shoot { target: 32 }),
        "order.Shoot.target: 32 is not in 0..=31",
    );
    faulty(
        |player| player.order = Some(Order::Move([50, -51])),
        "order.Move.0[1]: -51 is not in -50..=50",
    );
    faulty(
        |player| player.odd = 17,
        "odd.half: 8 takes more than 3 bits",
    );
    faulty(
        |player| player.rest.ammo = -101,
        "rest.ammo: -101 is not in -100..=300",
    );
}

#[test]
fn the_first_field_that_cannot_be_read_is_named() {
    /// Checks the words for bytes, and that `read` returns the same error.
    #[track_caller]
    fn refused<T: Serialize + Debug + PartialEq>(bytes: &[u8], words: &str) {
        let fault = explain_read::<T>(bytes).expect_err(words);
        assert_eq!(fault.to_string(), words);
        assert_eq!(read::<T>(bytes), Err(fault.error()));
    }
    let bytes = to_vec(&mut player()).expect("within its bounds");
    assert_eq!(explain_read(&bytes), Ok(player()));
    // Three bits of length, 0 to 5.
    refused::<Player>(&[7; 30], "name.len(): not in 0..=5");
    refused::<Player>(&[2, 0xFF], "name: more bits are needed than there are");
    refused::<Weapon>(&[0xFF; 2], "ammo: not in -100..=300");
    // Two bits of kind, 0 to 2.
    refused::<Order>(&[3], "kind not in 0..3");
    refused::<Order>(&[0, 0], "more bytes follow after the end");
    refused::<Order>(&[2, 0xFF], "Move.0[1]: not in -50..=50");
    refused::<Few>(&[0xFF], "0.len(): not in 2..=4");
}

#[derive(Debug, PartialEq, Message)]
struct Few(#[message(len = 2..=4)] Vec<u8>);

#[test]
fn whatever_is_cut_off_ends_at_a_field() {
    let bytes = to_vec(&mut player()).expect("within its bounds");
    for len in 0..bytes.len() {
        let fault = explain_read::<Player>(&bytes[..len]).expect_err("cut off");
        assert_eq!(fault.error(), Error::End, "{len}");
        assert!(!fault.place().is_empty(), "{len}");
        assert_eq!(fault.bound(), None, "{len}");
    }
}

#[test]
fn bounds_that_make_no_sense_are_shown() {
    struct Wrong(u8);
    impl Serialize for Wrong {
        fn blank() -> Self {
            Self(0)
        }

        fn serialize<S: Stream>(&mut self, stream: &mut S) -> Result<(), Error> {
            match self.0 {
                0 => stream.field("empty", |stream| {
                    stream.ranged(&mut 5_u8, RangeInclusive::new(7, 6))
                }),
                1 => stream.field("wide", |stream| stream.bits(&mut 0, 65)),
                2 => stream.field("fine", |stream| stream.quantized(&mut 0.0, 0.0..=1.0, 0.0)),
                _ => stream.field("kinds", |stream| stream.kind(&mut 0, 0)),
            }
        }
    }
    let words = [0, 1, 2, 3].map(|case| {
        let fault = explain(&mut Wrong(case)).expect_err("no value has these bounds");
        assert_eq!(fault.error(), Error::Bounds);
        fault.to_string()
    });
    assert_eq!(
        words,
        [
            "empty: the range 7..=6 is empty",
            "wide: 65 bits are more than 64",
            "fine: 0.0..=1.0 has no steps of 0.0",
            "kinds: there are no kinds",
        ]
    );
}
