//! Any operation of a stream, as a value: one random program runs in all three streams.

use porous_message::{Error, Float, Integer, Serialize, Stream};

/// The bits and the signedness of the integers, in the order of [`with_integer`].
const INTEGERS: [(u32, bool); 10] = [
    (8, false),
    (16, false),
    (32, false),
    (64, false),
    (128, false),
    (8, true),
    (16, true),
    (32, true),
    (64, true),
    (128, true),
];

/// One of the ten integers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Type(pub(crate) usize);

impl Type {
    pub(crate) const COUNT: usize = INTEGERS.len();

    pub(crate) fn bits(self) -> u32 {
        INTEGERS[self.0].0
    }

    /// The least value of the type, as the number that stands for it in a [`Value`].
    pub(crate) fn least(self) -> u128 {
        let (bits, is_signed) = INTEGERS[self.0];
        u128::from(is_signed) << (bits - 1)
    }

    /// A number modulo the width.
    pub(crate) fn wrap(self, number: u128) -> u128 {
        number & (u128::MAX >> (128 - self.bits()))
    }
}

/// An operation on an integer. Numbers are distances above 0, modulo the width.
#[derive(Clone, Debug)]
pub(crate) enum How {
    /// A range: the distance of its start above the least value, and the distance of its end above its
    /// start.
    Ranged(u128, u128),
    Varint,
    Relative(u128),
    Delta(u128),
}

/// An operation of a stream.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    Bool,
    Bits(u32),
    Integer(Type, How),
    Kind(u32),
    F32,
    F64,
    /// Start, end and resolution.
    Quantized32([f32; 3]),
    Quantized64([f64; 3]),
    Bytes(usize),
    ByteVec(usize, usize),
    Text(usize),
    List(usize, usize, Box<Self>),
    Option(Box<Self>),
    All(Vec<Self>),
    Align,
    Check(u32),
}

/// The value on which an operation is done.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Value {
    #[default]
    Nothing,
    /// An integer, a `bool`, or the bits of a float: of a float in steps, the bits of an `f64`.
    Number(u128),
    Bytes(Vec<u8>),
    Text(String),
    /// A list, or an option.
    Many(Vec<Self>),
}

/// Needed for lists only: the shape says what an item is.
impl Serialize for Value {
    fn blank() -> Self {
        Self::Nothing
    }

    fn serialize<S: Stream>(&mut self, _: &mut S) -> Result<(), Error> {
        Ok(())
    }
}

impl Value {
    pub(crate) fn number(&self) -> u128 {
        match self {
            Self::Number(number) => *number,
            Self::Nothing | Self::Bytes(_) | Self::Text(_) | Self::Many(_) => 0,
        }
    }

    pub(crate) fn float(&self) -> f64 {
        f64::from_bits(low(self.number()))
    }
}

fn low(number: u128) -> u64 {
    u64::from_above(0, number)
}

impl Shape {
    /// Runs the operation. Only a stream that reads changes the value, whatever the value was before.
    pub(crate) fn run<S: Stream>(&self, value: &mut Value, stream: &mut S) -> Result<(), Error> {
        match self {
            Self::Bytes(len) => with_bytes(value, *len, |bytes| stream.bytes(bytes)),
            Self::ByteVec(min, max) => {
                with_bytes(value, 0, |bytes| stream.byte_vec(bytes, *min..=*max))
            }
            Self::Text(max) => with_text(value, |text| stream.string(text, *max)),
            Self::List(min, max, item) => with_many(value, |items| {
                stream.list(items, *min..=*max, |value, stream| item.run(value, stream))
            }),
            Self::Option(some) => with_many(value, |items| {
                let mut option = items.pop();
                let done = stream.option(&mut option, |value, stream| some.run(value, stream));
                items.clear();
                items.extend(option);
                done
            }),
            Self::All(shapes) => with_many(value, |values| {
                values.resize(shapes.len(), Value::Nothing);
                let mut both = shapes.iter().zip(values);
                both.try_for_each(|(shape, value)| shape.run(value, stream))
            }),
            Self::Align => stream.align(),
            Self::Check(word) => stream.check(*word),
            Self::Bool => with_number::<S>(value, |number| {
                let mut bit = number & 1 == 1;
                stream.bool(&mut bit)?;
                Ok(bit.into())
            }),
            Self::Bits(count) => with_number::<S>(value, |number| {
                let mut bits = low(number);
                stream.bits(&mut bits, *count)?;
                Ok(bits.into())
            }),
            Self::Kind(count) => with_number::<S>(value, |number| {
                let mut kind = u32::from_above(0, number);
                stream.kind(&mut kind, *count)?;
                Ok(kind.into())
            }),
            Self::Integer(which, how) => {
                with_number::<S>(value, |number| with_integer(*which, how, number, stream))
            }
            Self::F32 => with_number::<S>(value, |number| {
                let mut float = f32::from_bits(u32::from_above(0, number));
                float.serialize(stream)?;
                Ok(float.to_bits().into())
            }),
            Self::F64 => with_number::<S>(value, |number| {
                let mut float = f64::from_bits(low(number));
                float.serialize(stream)?;
                Ok(float.to_bits().into())
            }),
            Self::Quantized32(range) => {
                with_number::<S>(value, |number| quantized(number, *range, stream))
            }
            Self::Quantized64(range) => {
                with_number::<S>(value, |number| quantized(number, *range, stream))
            }
        }
    }

    /// The shapes inside of it.
    pub(crate) fn inside(&self) -> &[Self] {
        match self {
            Self::List(_, _, shape) | Self::Option(shape) => core::slice::from_ref(shape),
            Self::All(shapes) => shapes,
            Self::Bool
            | Self::Bits(_)
            | Self::Integer(..)
            | Self::Kind(_)
            | Self::F32
            | Self::F64
            | Self::Quantized32(_)
            | Self::Quantized64(_)
            | Self::Bytes(_)
            | Self::ByteVec(..)
            | Self::Text(_)
            | Self::Align
            | Self::Check(_) => &[],
        }
    }
}

/// Calls `step` with the number of a value, and sets the number if it is read.
fn with_number<S: Stream>(
    value: &mut Value,
    step: impl FnOnce(u128) -> Result<u128, Error>,
) -> Result<(), Error> {
    let number = step(value.number())?;
    if S::READS {
        *value = Value::Number(number);
    }
    Ok(())
}

fn quantized<S: Stream, F: Float>(
    number: u128,
    [start, end, resolution]: [F; 3],
    stream: &mut S,
) -> Result<u128, Error> {
    let mut float = F::nearest(f64::from_bits(low(number)));
    stream.quantized(&mut float, start..=end, resolution)?;
    let read: f64 = float.into();
    Ok(read.to_bits().into())
}

fn with_integer<S: Stream>(
    which: Type,
    how: &How,
    number: u128,
    stream: &mut S,
) -> Result<u128, Error> {
    match which.0 {
        0 => integer::<u8, S>(how, number, stream),
        1 => integer::<u16, S>(how, number, stream),
        2 => integer::<u32, S>(how, number, stream),
        3 => integer::<u64, S>(how, number, stream),
        4 => integer::<u128, S>(how, number, stream),
        5 => integer::<i8, S>(how, number, stream),
        6 => integer::<i16, S>(how, number, stream),
        7 => integer::<i32, S>(how, number, stream),
        8 => integer::<i64, S>(how, number, stream),
        _ => integer::<i128, S>(how, number, stream),
    }
}

fn integer<T: Integer, S: Stream>(how: &How, number: u128, stream: &mut S) -> Result<u128, Error> {
    let mut value = T::from_above(T::ZERO, number);
    match *how {
        How::Ranged(low, span) => {
            let min = T::from_above(T::MIN, low);
            stream.ranged(&mut value, min..=T::from_above(min, span))?;
        }
        How::Varint => stream.varint(&mut value)?,
        How::Relative(base) => stream.relative(&mut value, T::from_above(T::ZERO, base))?,
        How::Delta(base) => stream.delta(&mut value, T::from_above(T::ZERO, base))?,
    }
    Ok(value.above(T::ZERO))
}

/// Lends out the bytes of a value, at least `len`.
fn with_bytes(
    value: &mut Value,
    len: usize,
    step: impl FnOnce(&mut Vec<u8>) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut bytes = match core::mem::take(value) {
        Value::Bytes(bytes) => bytes,
        Value::Nothing | Value::Number(_) | Value::Text(_) | Value::Many(_) => vec![0; len],
    };
    let done = step(&mut bytes);
    *value = Value::Bytes(bytes);
    done
}

fn with_text(
    value: &mut Value,
    step: impl FnOnce(&mut String) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut text = match core::mem::take(value) {
        Value::Text(text) => text,
        Value::Nothing | Value::Number(_) | Value::Bytes(_) | Value::Many(_) => String::new(),
    };
    let done = step(&mut text);
    *value = Value::Text(text);
    done
}

fn with_many(
    value: &mut Value,
    step: impl FnOnce(&mut Vec<Value>) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut many = match core::mem::take(value) {
        Value::Many(many) => many,
        Value::Nothing | Value::Number(_) | Value::Bytes(_) | Value::Text(_) => Vec::new(),
    };
    let done = step(&mut many);
    *value = Value::Many(many);
    done
}
