//! A stream that remembers where it stopped, and at which bound.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write as _};
use core::ops::RangeInclusive;

use super::{Float, Integer, MeasureStream, ReadStream, Stream, integer, quantized};
use crate::error::Error;
use crate::serialize::Serialize;

/// Why a value cannot be written, or bytes cannot be read: the error, the field, and the bound. [`explain`] and
/// [`explain_read`] find it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    error: Error,
    place: String,
    bound: Option<String>,
}

impl Fault {
    /// The error without its place, as all streams return it.
    ///
    /// ```
    /// use porous_message::{Error, explain_read};
    ///
    /// let fault = explain_read::<u16>(&[1]).expect_err("a byte is missing");
    /// assert_eq!(fault.error(), Error::End);
    /// ```
    #[must_use]
    pub const fn error(&self) -> Error {
        self.error
    }

    /// The path of fields to the value, as Rust writes it: `shots[3].target`. It is empty for the outermost value.
    /// A field of a variant is `Variant.field`, a length is `field.len()`, and a field of a tuple has its number.
    /// Fields that are serialized by hand have a name if [`Stream::field`] gives them one.
    ///
    /// ```
    /// use porous_message::{Message, explain};
    ///
    /// #[derive(Message)]
    /// struct Throw {
    ///     #[message(max = 5, each(range = 1..=6))]
    ///     dice: Vec<u8>,
    /// }
    ///
    /// let mut throw = Throw { dice: vec![2, 7] };
    /// let fault = explain(&mut throw).expect_err("no die has seven sides up");
    /// assert_eq!(fault.place(), "dice[1]");
    /// ```
    #[must_use]
    pub fn place(&self) -> &str {
        &self.place
    }

    /// The bound in words, if a bound is at fault. Of values that are written it names the value, too.
    ///
    /// ```
    /// use porous_message::{Message, explain};
    ///
    /// #[derive(Message)]
    /// struct Name(#[message(max = 8)] String);
    ///
    /// let fault = explain(&mut Name("Bartholomew".into())).expect_err("too long");
    /// assert_eq!(fault.bound(), Some("11 is not in 0..=8"));
    /// assert_eq!(fault.to_string(), "0.len(): 11 is not in 0..=8");
    /// ```
    #[must_use]
    pub fn bound(&self) -> Option<&str> {
        self.bound.as_deref()
    }
}

/// The place, and the bound or the error.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        match &self.bound {
            Some(bound) => f.write_str(bound),
            None => self.error.fmt(f),
        }
    }
}

impl core::error::Error for Fault {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        Some(&self.error)
    }
}

/// Says why a value cannot be written: for logs and messages to people, after [`write`](crate::write) or
/// [`to_vec`](crate::to_vec) has failed. It takes the time of a [`measure`](crate::measure) and memory for the words.
///
/// # Errors
///
/// The [`Fault`]. A value without fault can be written to a buffer of [`measure`](crate::measure) bits.
///
/// ```
/// use porous_message::{Message, explain};
///
/// #[derive(Message)]
/// struct Player {
///     #[message(range = 0..=100)]
///     health: i16,
/// }
///
/// assert!(explain(&mut Player { health: 100 }).is_ok());
/// let fault = explain(&mut Player { health: -3 }).expect_err("below the bound");
/// assert_eq!(fault.to_string(), "health: -3 is not in 0..=100");
/// ```
pub fn explain<T: Serialize>(value: &mut T) -> Result<(), Fault> {
    let mut stream = Explained::new(MeasureStream::new());
    match value.serialize(&mut stream) {
        Ok(()) => Ok(()),
        Err(error) => Err(stream.fault(error)),
    }
}

/// Reads a value as [`read`](crate::read) does, and says at which field the bytes stop to make sense: for the one
/// that looks for the difference between two programs. It is slower than `read`, and not for each message.
///
/// # Errors
///
/// The [`Fault`].
///
/// ```
/// use porous_message::{Message, explain_read};
///
/// #[derive(Debug, Message)]
/// struct Player {
///     #[message(range = 0..=100)]
///     health: i16,
/// }
///
/// let fault = explain_read::<Player>(&[127]).expect_err("above the bound");
/// assert_eq!(fault.to_string(), "health: not in 0..=100");
/// ```
pub fn explain_read<T: Serialize>(data: &[u8]) -> Result<T, Fault> {
    let mut stream = Explained::new(ReadStream::new(data));
    let mut value = T::blank();
    match value.serialize(&mut stream) {
        Ok(()) => {}
        Err(error) => return Err(stream.fault(error)),
    }
    match stream.inner.finish() {
        Ok(()) => Ok(value),
        Err(error) => Err(Fault {
            error,
            place: String::new(),
            bound: None,
        }),
    }
}

/// A step of the path to a value.
enum Step {
    Field(&'static str),
    Item(usize),
}

/// Another stream, with the path to the value that it is at.
struct Explained<S> {
    inner: S,
    /// After an error the path to the value at fault: steps are taken back only after success.
    path: Vec<Step>,
    bound: Option<String>,
}

impl<S: Stream> Explained<S> {
    const fn new(inner: S) -> Self {
        Self {
            inner,
            path: Vec::new(),
            bound: None,
        }
    }

    fn fault(self, error: Error) -> Fault {
        let mut place = String::new();
        for step in &self.path {
            // Writing to a string does not fail.
            let _ = match step {
                Step::Field(name) if place.is_empty() => write!(place, "{name}"),
                Step::Field(name) => write!(place, ".{name}"),
                Step::Item(number) => write!(place, "[{number}]"),
            };
        }
        Fault {
            error,
            place,
            bound: self.bound,
        }
    }

    fn step(
        &mut self,
        step: Step,
        inside: impl FnOnce(&mut Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.path.push(step);
        inside(self)?;
        self.path.pop();
        Ok(())
    }

    /// Keeps the words for a value out of its bounds, or for bounds that make no sense, unless an operation inside of
    /// this one has said more.
    fn bounded(
        &mut self,
        done: Result<(), Error>,
        outside: impl FnOnce() -> String,
        nonsense: impl FnOnce() -> String,
    ) -> Result<(), Error> {
        if self.bound.is_none() {
            self.bound = if done == Err(Error::OutOfRange) {
                Some(outside())
            } else if done == Err(Error::Bounds) {
                Some(nonsense())
            } else {
                None
            };
        }
        done
    }
}

/// `value is not in bounds`, without the value if it was read: no value was made of it.
fn outside<S: Stream>(value: &dyn fmt::Debug, bounds: &dyn fmt::Debug) -> String {
    if S::READS {
        format!("not in {bounds:?}")
    } else {
        format!("{value:?} is not in {bounds:?}")
    }
}

impl<S: Stream> Stream for Explained<S> {
    const READS: bool = S::READS;

    fn bits(&mut self, value: &mut u64, bits: u32) -> Result<(), Error> {
        let done = self.inner.bits(value, bits);
        let value = *value;
        let outside = || format!("{value} takes more than {bits} bits");
        self.bounded(done, outside, || format!("{bits} bits are more than 64"))
    }

    fn bytes(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        self.inner.bytes(bytes)
    }

    fn align(&mut self) -> Result<(), Error> {
        self.inner.align()
    }

    fn depth(&mut self) -> &mut u32 {
        self.inner.depth()
    }

    fn plausible(&self, items: usize, bits: usize) -> usize {
        self.inner.plausible(items, bits)
    }

    fn field(
        &mut self,
        name: &'static str,
        inside: impl FnOnce(&mut Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.step(Step::Field(name), inside)
    }

    fn item(
        &mut self,
        number: usize,
        inside: impl FnOnce(&mut Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.step(Step::Item(number), inside)
    }

    fn ranged<T: Integer>(&mut self, value: &mut T, range: RangeInclusive<T>) -> Result<(), Error> {
        let before = *value;
        let done = integer::ranged(self, value, *range.start(), *range.end());
        let outside = || outside::<S>(&before, &range);
        self.bounded(done, outside, || format!("the range {range:?} is empty"))
    }

    fn kind(&mut self, value: &mut u32, count: u32) -> Result<(), Error> {
        let before = *value;
        let done = match count.checked_sub(1) {
            Some(last) => integer::ranged(self, value, 0, last),
            None => Err(Error::Bounds),
        };
        let outside = || format!("kind {}", outside::<S>(&before, &(0..count)));
        self.bounded(done, outside, || "there are no kinds".into())
    }

    fn quantized<F: Float>(
        &mut self,
        value: &mut F,
        range: RangeInclusive<F>,
        resolution: F,
    ) -> Result<(), Error> {
        let before = *value;
        let done = quantized::quantized(self, value, &range, resolution);
        let outside = || outside::<S>(&before, &range);
        let nonsense = || format!("{range:?} has no steps of {resolution:?}");
        self.bounded(done, outside, nonsense)
    }
}
