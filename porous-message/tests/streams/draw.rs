//! Shapes and values drawn from bytes: any bytes give one, and a fuzzer that changes a byte changes a
//! small part of it.

use crate::shape::{How, Shape, Type, Value};

/// The most levels of nested lists, options and boxes.
const DEEPEST: u32 = 3;

/// The bytes that are left; zeros follow.
#[derive(Debug)]
pub(crate) struct Source<'b>(pub(crate) &'b [u8]);

impl Source<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        *first
    }

    /// A number less than `end`, which is at most 256.
    fn below(&mut self, end: usize) -> usize {
        usize::from(self.byte()) % end
    }

    /// A number of up to `bits` bits, from whole bytes: often small, or almost as large as possible.
    fn number(&mut self, bits: u32) -> u128 {
        let whole = u128::MAX >> (128 - bits);
        let choice = self.byte();
        let few = usize::from(choice & 0xF) % (bits as usize / 8) + 1;
        let number = (0..few).fold(0, |number, _| number << 8 | u128::from(self.byte()));
        match choice >> 4 {
            0..8 => number,
            8..10 => number.wrapping_neg() & whole,
            10 => whole >> 1,
            11 => (whole >> 1) + 1,
            12 => 1 << (number % u128::from(bits)),
            13 => (1 << (number % u128::from(bits))) - 1,
            14 => whole,
            _ => 0,
        }
    }

    fn size(&mut self) -> usize {
        self.number(usize::BITS).try_into().unwrap_or(usize::MAX)
    }

    fn float(&mut self) -> f64 {
        match self.byte() {
            0..100 => f64::from(i16::from_le_bytes([self.byte(), self.byte()])) / 16.0,
            100..150 => f64::from(i8::from_le_bytes([self.byte()])) / 10.0,
            150..200 => f64::from(f32::from_le_bytes([(); 4].map(|()| self.byte()))),
            200..240 => f64::from_le_bytes([(); 8].map(|()| self.byte())),
            240..245 => f64::NAN,
            245..250 => f64::INFINITY,
            _ => f64::NEG_INFINITY,
        }
    }

    /// Bounds of the number of items; few if an item may take no bits (`is_free`).
    fn bounds(&mut self, is_free: bool) -> (usize, usize) {
        let min = self.below(4);
        let max = match self.byte() {
            kind @ 0..16 if !is_free => (self.size(), usize::from(kind)).0,
            few => usize::from(few) % 8,
        };
        (min, max)
    }

    pub(crate) fn shape(&mut self, depth: u32) -> Shape {
        let kinds = if depth < DEEPEST { 19 } else { 16 };
        match self.below(kinds) {
            0 => Shape::Bool,
            1 => Shape::Bits(self.number(8).try_into().unwrap_or(0) % 66),
            2 | 3 => {
                let which = Type(self.below(Type::COUNT));
                let low = self.number(which.bits());
                let most = which.wrap(u128::MAX) - low;
                // An odd range may be empty.
                let span = match self.number(which.bits()) {
                    span if span > most && span % 2 == 0 => span % (most + 1),
                    span => span,
                };
                Shape::Integer(which, How::Ranged(low, span))
            }
            4 => Shape::Integer(Type(self.below(Type::COUNT)), How::Varint),
            5 => {
                let which = Type(self.below(Type::COUNT));
                Shape::Integer(which, How::Relative(self.number(which.bits())))
            }
            6 => {
                let which = Type(self.below(Type::COUNT));
                Shape::Integer(which, How::Delta(self.number(which.bits())))
            }
            7 => Shape::Kind(self.number(32).try_into().unwrap_or(0)),
            8 => Shape::F32,
            9 => Shape::F64,
            10 => Shape::Quantized32(self.steps().map(porous_message::Float::nearest)),
            11 => Shape::Quantized64(self.steps()),
            12 => Shape::Bytes(self.below(20)),
            13 => {
                let (min, max) = self.bounds(false);
                Shape::ByteVec(min, max)
            }
            14 => Shape::Text(self.bounds(false).1),
            15 => match self.below(2) {
                0 => Shape::Align,
                _ => Shape::Check(self.number(32).try_into().unwrap_or(0)),
            },
            16 => {
                let item = self.shape(depth + 1);
                let (min, max) = self.bounds(item.is_free());
                Shape::List(min, max, Box::new(item))
            }
            17 => Shape::Option(Box::new(self.shape(depth + 1))),
            _ => Shape::All((0..self.below(6)).map(|_| self.shape(depth + 1)).collect()),
        }
    }

    /// A range and a resolution, which are valid most of the time.
    fn steps(&mut self) -> [f64; 3] {
        let start = self.float();
        match self.byte() {
            0..16 => [start, self.float(), self.float()],
            way => {
                let span = self.float().abs();
                let count = self.number(24 + 8 * u32::from(way % 4)) + 1;
                [
                    start,
                    start + span,
                    span / u64::try_from(count).map_or(1.0, |count| count as f64),
                ]
            }
        }
    }

    /// A value that fits most of the time.
    pub(crate) fn value(&mut self, shape: &Shape) -> Value {
        match shape {
            Shape::Align | Shape::Check(_) => Value::Nothing,
            Shape::Bool => Value::Number((self.byte() & 1).into()),
            Shape::Bits(bits) => {
                let number = self.number(64);
                let fits = *bits < 64 && self.byte() > 16;
                Value::Number(if fits { number % (1 << bits) } else { number })
            }
            Shape::Kind(count) => Value::Number(self.fitting(32, (*count).max(1).into())),
            Shape::Integer(which, How::Ranged(low, span)) => {
                let distance = match span.checked_add(1) {
                    Some(end) => self.fitting(which.bits(), end),
                    None => self.number(which.bits()),
                };
                let above = low.wrapping_add(distance).wrapping_add(which.least());
                Value::Number(which.wrap(above))
            }
            Shape::Integer(which, How::Varint) => Value::Number(self.number(which.bits())),
            Shape::Integer(which, How::Relative(base) | How::Delta(base)) => {
                Value::Number(which.wrap(base.wrapping_add(self.number(which.bits()))))
            }
            Shape::F32 => Value::Number(self.number(32)),
            Shape::F64 => Value::Number(self.number(64)),
            Shape::Quantized32([start, end, _]) => self.quantized((*start).into(), (*end).into()),
            Shape::Quantized64([start, end, _]) => self.quantized(*start, *end),
            Shape::Bytes(len) => Value::Bytes(self.bytes(*len)),
            Shape::ByteVec(min, max) => {
                let len = self.len(*min, *max);
                Value::Bytes(self.bytes(len))
            }
            Shape::Text(max) => Value::Text(self.text(*max)),
            Shape::List(min, max, item) => {
                let len = self.len(*min, *max);
                Value::Many((0..len).map(|_| self.value(item)).collect())
            }
            Shape::Option(some) => {
                Value::Many((0..self.below(2)).map(|_| self.value(some)).collect())
            }
            Shape::All(shapes) => {
                Value::Many(shapes.iter().map(|shape| self.value(shape)).collect())
            }
        }
    }

    fn fitting(&mut self, bits: u32, end: u128) -> u128 {
        match self.byte() {
            0..16 => self.number(bits),
            16..32 => end - 1,
            _ => self.number(bits) % end,
        }
    }

    fn quantized(&mut self, start: f64, end: f64) -> Value {
        let float = match self.byte() {
            0..32 => self.float(),
            32..64 => start,
            64..96 => end,
            part => start + (end - start) * f64::from(part - 96) / 159.0,
        };
        Value::Number(float.to_bits().into())
    }

    fn len(&mut self, min: usize, max: usize) -> usize {
        match self.byte() {
            0..16 => self.below(8),
            16..48 => min,
            48..80 if max < 8 => max,
            few => min + usize::from(few) % 3,
        }
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.byte()).collect()
    }

    fn text(&mut self, max: usize) -> String {
        let mut text = String::new();
        for _ in 0..self.below(5) {
            let next = match self.byte() {
                ascii @ 0..128 => char::from(ascii),
                128..170 => 'ü',
                170..210 => '字',
                _ => '\u{1F600}',
            };
            if text.len() + next.len_utf8() <= max || self.byte() < 8 {
                text.push(next);
            }
        }
        text
    }
}
