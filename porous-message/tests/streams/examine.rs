//! Properties of any shape with any value, and of any shape with any bytes.

use core::mem::size_of;

use allocation_counter::measure as memory;
use porous_message::{Error, MeasureStream, ReadStream, WriteStream};

use crate::shape::{How, Shape, Value};

impl Shape {
    /// True if there is a value that takes no bits.
    pub(crate) fn is_free(&self) -> bool {
        match self {
            Self::Bits(bits) => *bits == 0,
            Self::Integer(_, How::Ranged(_, span)) => *span == 0,
            Self::Kind(count) => *count == 1,
            Self::Bytes(len) | Self::Text(len) => *len == 0,
            Self::ByteVec(min, max) => (*min, *max) == (0, 0),
            Self::List(min, max, item) => min == max && (*max == 0 || item.is_free()),
            Self::All(shapes) => shapes.iter().all(Self::is_free),
            Self::Align => true,
            Self::Bool
            | Self::Integer(..)
            | Self::F32
            | Self::F64
            | Self::Quantized32(_)
            | Self::Quantized64(_)
            | Self::Option(_)
            | Self::Check(_) => false,
        }
    }

    /// The most values that a bit can bring, or that can come without any bit.
    fn values(&self) -> usize {
        let inside: usize = self.inside().iter().map(Self::values).sum();
        let times = if let Self::List(_, max, item) = self {
            if item.is_free() { *max } else { 1 }
        } else {
            1
        };
        1 + times * inside
    }

    fn is_aligned(&self) -> bool {
        matches!(self, Self::Align) || self.inside().iter().any(Self::is_aligned)
    }

    fn measured(&self, value: &mut Value) -> Result<usize, Error> {
        let mut stream = MeasureStream::new();
        self.run(value, &mut stream)?;
        Ok(stream.measured().try_into().expect("not so many"))
    }

    /// The bits of the value, in a buffer of `room` bytes.
    pub(crate) fn written(
        &self,
        value: &mut Value,
        room: usize,
    ) -> Result<(Vec<u8>, usize), Error> {
        let mut buffer = vec![0xA5; room];
        let mut stream = WriteStream::new(&mut buffer);
        self.run(value, &mut stream)?;
        let bits = stream.written();
        Ok((stream.finish().to_vec(), bits))
    }

    /// The value that is read, and the number of its bits.
    pub(crate) fn read(&self, bytes: &[u8]) -> Result<(Value, usize), Error> {
        let mut stream = ReadStream::new(bytes);
        let mut value = Value::default();
        self.run(&mut value, &mut stream)?;
        Ok((value, 8 * bytes.len() - stream.remaining()))
    }

    fn finished(&self, bytes: &[u8]) -> Result<(), Error> {
        let mut stream = ReadStream::new(bytes);
        self.run(&mut Value::default(), &mut stream)?;
        stream.finish()
    }

    /// True if `read` is the value that has to be read where `written` was written.
    fn is_same(&self, read: &Value, written: &Value) -> bool {
        match (self, read, written) {
            (Self::Quantized32(range), ..) => is_near(range.map(f64::from), read, written),
            (Self::Quantized64(range), ..) => is_near(*range, read, written),
            (Self::List(_, _, item), Value::Many(read), Value::Many(written))
            | (Self::Option(item), Value::Many(read), Value::Many(written)) => {
                read.len() == written.len()
                    && (read.iter().zip(written)).all(|(read, written)| item.is_same(read, written))
            }
            (Self::All(shapes), Value::Many(read), Value::Many(written)) => (shapes.iter())
                .zip(read.iter().zip(written))
                .all(|(shape, (read, written))| shape.is_same(read, written)),
            _ => read == written,
        }
    }
}

/// True if the two differ by no more than half a step and the rounding of floats.
fn is_near([start, end, resolution]: [f64; 3], read: &Value, written: &Value) -> bool {
    let (read, written) = (read.float(), written.float());
    let blur = start.abs().max(end.abs()) / f64::from(1 << 22) + 2e-38;
    (start..=end).contains(&read)
        && (read - written.clamp(start, end)).abs() <= resolution / 2.0 + blur
}

/// Writes and reads a value of this shape. True if the value could be written.
pub(crate) fn value(shape: &Shape, value: &Value) -> bool {
    let mut same = value.clone();
    let measured = shape.measured(&mut same);
    let room = measured.map_or(4096, |bits| bits.div_ceil(8));
    let written = shape.written(&mut same, room);
    assert_eq!(same, *value, "it was changed");
    let (bytes, bits) = match (measured, written) {
        (Ok(measured), Ok((bytes, bits))) => {
            assert!(measured >= bits, "{measured} measured, {bits} written");
            assert!(shape.is_aligned() || measured == bits);
            (bytes, bits)
        }
        (measured, written) => {
            assert_eq!(measured.err(), written.err());
            return false;
        }
    };
    assert_eq!(bytes.len(), bits.div_ceil(8));
    let exact = shape.written(&mut same, bytes.len());
    assert_eq!(exact, Ok((bytes.clone(), bits)));

    let (read, taken) = shape.read(&bytes).expect("it was written");
    assert_eq!(taken, bits);
    assert!(shape.is_same(&read, value), "{read:?}");
    let mut read = read;
    assert_eq!(
        shape.written(&mut read, bytes.len()),
        Ok((bytes.clone(), bits))
    );
    assert_eq!(shape.finished(&bytes), Ok(()));

    for len in 0..bytes.len() {
        assert_eq!(shape.written(&mut same, len), Err(Error::End));
        assert_eq!(shape.read(&bytes[..len]), Err(Error::End));
    }
    let longer = [&bytes[..], &[0]].concat();
    assert_eq!(shape.finished(&longer), Err(Error::Trailing));
    if bits % 8 != 0 {
        let mut damaged = bytes;
        damaged[bits / 8] |= 0x80;
        assert_eq!(shape.finished(&damaged), Err(Error::NotCanonical));
    }
    true
}

/// Reads any bytes as this shape: the value is written with the same bits, and takes no more memory
/// than there are bits. True if the bytes could be read.
pub(crate) fn bytes(shape: &Shape, bytes: &[u8]) -> bool {
    let mut read = Err(Error::End);
    let memory = memory(|| read = shape.read(bytes));
    let most = 4 * size_of::<Value>() * shape.values() * (8 * bytes.len() + 1);
    assert!(memory.bytes_max <= most as u64, "{memory:?}, {most}");
    let Ok((mut value, taken)) = read else {
        return false;
    };
    let mut expected = bytes[..taken.div_ceil(8)].to_vec();
    if taken % 8 != 0 {
        expected[taken / 8] &= !(0xFF << (taken % 8));
    }
    assert_eq!(
        shape.written(&mut value, bytes.len()),
        Ok((expected, taken))
    );
    true
}
