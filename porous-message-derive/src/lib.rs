//! `#[derive(Message)]`: the crate `porous-message` exports it, with the trait that it implements.
#![doc(test(attr(deny(warnings))))]

mod attributes;
mod bounds;
mod emit;
mod enums;
mod expand;
mod fields;
mod form;
mod leaf;
mod range;
mod shape;
mod structs;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

/// Implements `Serialize`: the fields of a struct one after the other, or the kind of an enum and the
/// fields of that variant.
///
/// Attributes of a field state the bounds of its values. Without an attribute, a field takes as many
/// bits as its type does.
///
/// ```
/// use porous_message::{Message, measure, read, write};
///
/// #[derive(Debug, PartialEq, Message)]
/// struct Shot {
///     #[message(range = -2048..=2047)]
///     at: [i32; 2],
///     #[message(range = 0..=9)]
///     weapon: u8,
///     charge: Option<u8>,
/// }
///
/// let mut shot = Shot { at: [-7, 300], weapon: 3, charge: None };
/// assert_eq!(measure(&mut shot), Ok(12 + 12 + 4 + 1));
/// let mut buffer = [0; 64];
/// let bytes = write(&mut shot, &mut buffer)?;
/// assert_eq!(read(bytes), Ok(shot));
/// # Ok::<(), porous_message::Error>(())
/// ```
///
/// # Enums
///
/// The messages of a game are one enum, with a variant for each kind of message. The kind takes just as
/// many bits as the number of variants needs. Variants are numbered in their order, from 0, whatever
/// discriminants they have. A number that no variant has is `Error::OutOfRange`. Before the fields of a
/// variant are read, they are blank; the blank value of the enum is that of its first variant.
///
/// ```
/// use porous_message::{Message, measure};
///
/// #[derive(Message)]
/// enum Input {
///     Idle,
///     Jump { #[message(range = 1..=4)] height: u8 },
///     Look(#[message(range = -180..=179)] i16, #[message(range = -90..=90)] i16),
/// }
///
/// assert_eq!(measure(&mut Input::Idle), Ok(2));
/// assert_eq!(measure(&mut Input::Jump { height: 4 }), Ok(2 + 2));
/// assert_eq!(measure(&mut Input::Look(-5, 20)), Ok(2 + 9 + 8));
/// ```
///
/// # Types that hold others
///
/// An attribute of numbers applies to each number in an `Option`, an array or a `Vec`, in any nesting.
/// A `Vec` and a `String` need a bound. If the items of a `Vec` need a bound, too, their attributes stand
/// in `each(...)`.
///
/// A type may contain itself, in a `Vec`, or in a `Box` of a variant or an `Option`. `MAX_DEPTH` bounds
/// the levels: each `Vec`, `Option` and `Box` counts. Of the parameters of a generic type, those that
/// are sent have to be `Serialize`.
///
/// A macro knows a type by its name only. So `Vec`, `String` and `Option` have to be written by these
/// names. Whether another name, such as `type Health = u8`, fits an attribute, the compiler finds out
/// after the macro.
///
/// # Attributes
///
/// | attribute | of | meaning |
/// |---|---|---|
/// | [`range = a..=b`](#range) | integers | only numbers of this range, in as few bits as they need |
/// | [`range = a..=b, resolution = r`](#range-and-resolution) | floats | steps of this range |
/// | [`bits = n`](#bits) | unsigned integers | only the lowest `n` bits |
/// | [`varint`](#varint) | integers | few bits if the number is small |
/// | [`relative = field`](#relative-and-delta) | integers | few bits if the number is a little above an
/// earlier field |
/// | [`delta = field`](#relative-and-delta) | integers | few bits if the number is near an earlier
/// field |
/// | [`relative`, `delta`](#relative-and-delta) | `Vec`s and arrays of integers | the same, for the
/// distance of each item from the one before |
/// | [`max = n`](#max-len-and-each) | `String`, `Vec` | at most `n` bytes, or items |
/// | [`len = a..=b`](#max-len-and-each) | `Vec` | from `a` to `b` items |
/// | [`each(...)`](#max-len-and-each) | `Vec` | attributes of its items |
/// | [`with = function`](#with) | any | serialized by a function |
/// | [`align`](#align-and-check) | any | begins at a whole byte |
/// | [`check = word`](#align-and-check) | any | a word before the field that has to be there |
/// | [`skip`](#skip) | any | not sent |
///
/// Bounds are numbers, constants, or expressions of them. Bounds that make no sense do not compile.
///
/// ## range
///
/// An integer from this range. Both ends belong to the range, and other numbers can neither be written
/// nor read.
///
/// ```
/// use porous_message::{Error, Message, measure, read};
///
/// const LAST: u16 = 99;
///
/// #[derive(Debug, Message)]
/// struct Percent(#[message(range = 0..=LAST + 1)] u16);
///
/// assert_eq!(measure(&mut Percent(100)), Ok(7));
/// assert_eq!(measure(&mut Percent(101)), Err(Error::OutOfRange));
/// assert_eq!(read::<Percent>(&[101]).err(), Some(Error::OutOfRange));
/// ```
///
/// ```compile_fail,E0080
/// # use porous_message::{Message, measure};
/// const FIRST: u16 = 7;
///
/// #[derive(Message)]
/// struct Nothing(#[message(range = FIRST..=6)] u16);
///
/// measure(&mut Nothing(7));
/// ```
///
/// ## range and resolution
///
/// A float from this range, rounded to the nearest multiple of the resolution above the start. A number
/// outside of the range becomes the nearest end; a NaN is `Error::OutOfRange`.
///
/// ```
/// use porous_message::{Message, read, write};
///
/// #[derive(Message)]
/// struct Angle(#[message(range = 0.0..=360.0, resolution = 0.5)] f32);
///
/// let mut buffer = [0; 8];
/// let bytes = write(&mut Angle(90.3), &mut buffer)?; // 721 values: 10 bits
/// assert_eq!(read::<Angle>(bytes)?.0, 90.5);
/// # Ok::<(), porous_message::Error>(())
/// ```
///
/// A range without steps does not compile, whether the type is used or not:
///
/// ```compile_fail
/// # use porous_message::Message;
/// #[derive(Message)]
/// struct Angle(#[message(range = 0.0..=360.0, resolution = 0.0)] f32);
/// ```
///
/// ```compile_fail,E0080
/// # use porous_message::Message;
/// const STEP: f32 = 0.0;
///
/// #[derive(Message)]
/// struct Angle(#[message(range = 0.0..=360.0, resolution = STEP)] f32);
/// ```
///
/// ## bits
///
/// The lowest `n` bits of an unsigned integer; the others have to be zero.
///
/// ```
/// use porous_message::{Error, Message, measure};
///
/// #[derive(Message)]
/// struct Flags(#[message(bits = 5)] u8);
///
/// assert_eq!(measure(&mut Flags(31)), Ok(5));
/// assert_eq!(measure(&mut Flags(32)), Err(Error::OutOfRange));
/// ```
///
/// ## varint
///
/// An integer of any size. Small numbers, also negative ones, take few bits: 8, 16, 24 and so on.
///
/// ```
/// use porous_message::{Message, measure};
///
/// #[derive(Message)]
/// struct Score(#[message(varint)] i64);
///
/// assert_eq!(measure(&mut Score(-64)), Ok(8));
/// assert_eq!(measure(&mut Score(i64::MAX)), Ok(80));
/// ```
///
/// ## relative and delta
///
/// An integer that is probably a little above an earlier field (`relative`), or near it on either side
/// (`delta`). Any number can be sent, but one that is far away takes more bits than without the
/// attribute.
///
/// ```
/// use porous_message::{Message, measure};
///
/// #[derive(Message)]
/// struct Command {
///     first: u16,
///     #[message(relative = first)]
///     last: u16,
///     #[message(range = -2048..=2047)]
///     x: i32,
///     #[message(delta = x)]
///     target: i32,
/// }
///
/// let mut command = Command { first: 65_535, last: 0, x: -1000, target: -1000 };
/// assert_eq!(measure(&mut command), Ok(16 + 1 + 12 + 1));
/// ```
///
/// On a `Vec` or an array, without a field: the distance of each item from the one before. The first
/// item takes as many bits as its type does.
///
/// ```
/// use porous_message::{Message, measure};
///
/// #[derive(Message)]
/// struct Gone {
///     #[message(max = 63, relative)]
///     entities: Vec<u16>,
/// }
///
/// assert_eq!(measure(&mut Gone { entities: vec![300, 301, 302, 305] }), Ok(6 + 16 + 1 + 1 + 4));
/// ```
///
/// ## max, len and each
///
/// `max`: the most bytes of a `String`, or items of a `Vec`; `len`: the least and the most items. The
/// number of bytes or items takes as many bits as these bounds need. A receiver never holds more.
///
/// ```
/// use porous_message::{Error, Message, measure};
///
/// #[derive(Message)]
/// struct Chat {
///     #[message(max = 200)]
///     text: String,
///     #[message(max = 7, range = 0..=63)]
///     to: Vec<u8>,
///     #[message(len = 2..=3)]
///     sound: Vec<u8>,
///     #[message(max = 3, each(max = 15))]
///     tags: Vec<String>,
/// }
///
/// let mut chat = Chat {
///     text: "hi".into(),
///     to: vec![1, 60],
///     sound: vec![9, 9],
///     tags: vec!["new".into()],
/// };
/// assert_eq!(measure(&mut chat), Ok((8 + 16) + (3 + 6 + 6) + (1 + 16) + (2 + 4 + 24)));
/// chat.sound.clear();
/// assert_eq!(measure(&mut chat), Err(Error::OutOfRange));
/// ```
///
/// ## with
///
/// A function of your own, for types of other crates, or for forms that no attribute describes. It has to
/// do the same steps whether it reads, writes or measures. The field is read into `Default::default()`.
///
/// ```
/// use core::time::Duration;
///
/// use porous_message::{Error, Message, Stream, read, write};
///
/// #[derive(Debug, PartialEq, Message)]
/// struct Reload {
///     #[message(with = milliseconds)]
///     takes: Duration,
/// }
///
/// fn milliseconds<S: Stream>(time: &mut Duration, stream: &mut S) -> Result<(), Error> {
///     let mut number = u16::try_from(time.as_millis()).map_err(|_| Error::OutOfRange)?;
///     stream.ranged(&mut number, 0..=9_999)?;
///     if S::READS {
///         *time = Duration::from_millis(number.into());
///     }
///     Ok(())
/// }
///
/// let mut buffer = [0; 8];
/// let mut reload = Reload { takes: Duration::from_millis(350) };
/// let bytes = write(&mut reload, &mut buffer)?;
/// assert_eq!(read(bytes), Ok(reload));
/// # Ok::<(), Error>(())
/// ```
///
/// ## align and check
///
/// Before the field, zeros up to the next whole byte (`align`), or a word of 32 bits that has to be
/// there (`check`), which shows where a reader and a writer part ways. If a field has both, the word is
/// aligned.
///
/// ```
/// use porous_message::{Error, Message, read};
///
/// #[derive(Debug, Message)]
/// struct State {
///     flag: bool,
///     #[message(align, check = 0x4554_4154)]
///     rest: u8,
/// }
///
/// assert_eq!(read::<State>(b"\x01TATE\x07")?.rest, 7);
/// assert_eq!(read::<State>(b"\x01tate\x07").err(), Some(Error::Desync));
/// # Ok::<(), Error>(())
/// ```
///
/// ## skip
///
/// Not sent: the field is `Default::default()` in a message that is read, and stays as it is if a
/// message is read into an existing value.
///
/// ```
/// use porous_message::{Message, read, write};
///
/// #[derive(Message)]
/// struct Ping {
///     id: u8,
///     #[message(skip)]
///     sent_at: Option<u64>,
/// }
///
/// let mut buffer = [0; 8];
/// let bytes = write(&mut Ping { id: 7, sent_at: Some(1_000) }, &mut buffer)?;
/// assert_eq!(bytes, [7]);
/// assert_eq!(read::<Ping>(bytes)?.sent_at, None);
/// # Ok::<(), porous_message::Error>(())
/// ```
#[proc_macro_derive(Message, attributes(message))]
pub fn derive_message(input: TokenStream) -> TokenStream {
    syn::parse(input)
        .and_then(|input| expand::message(&input))
        .unwrap_or_else(|error| error.into_compile_error())
        .into()
}
