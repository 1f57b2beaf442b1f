//! Numbers in steps.

use core::ops::RangeInclusive;

use super::written;
use crate::{Error, Float, MeasureStream, ReadStream, Stream, WriteStream};

/// The step of a number and its bits, and the number that is read.
fn becomes<F: Float>(mut value: F, range: &RangeInclusive<F>, resolution: F) -> (u64, u64, F) {
    let mut buffer = [0; 8];
    let mut stream = WriteStream::new(&mut buffer);
    let done = stream.quantized(&mut value, range.clone(), resolution);
    assert_eq!(done, Ok(()));
    let bits = stream.written() as u64;
    let mut measured = MeasureStream::new();
    let done = measured.quantized(&mut value, range.clone(), resolution);
    assert_eq!((done, measured.measured()), (Ok(()), bits));
    let mut read = value;
    let done = ReadStream::new(stream.finish()).quantized(&mut read, range.clone(), resolution);
    assert_eq!(done, Ok(()));
    (u64::from_le_bytes(buffer), bits, read)
}

/// Each `every`th of `count` steps, from the number that it is read as, is the same step; the steps at
/// the ends are the ends.
fn every_step<F: Float>(range: RangeInclusive<F>, resolution: F, count: u64, every: u64) {
    let bits = u64::BITS - count.leading_zeros();
    assert_eq!(
        becomes(*range.start(), &range, resolution),
        (0, bits.into(), *range.start())
    );
    assert_eq!(
        becomes(*range.end(), &range, resolution),
        (count, bits.into(), *range.end())
    );
    for step in (0..=count / every)
        .map(|nth| nth * every)
        .chain(count.saturating_sub(1000)..=count)
    {
        let mut read = *range.start();
        let bytes = step.to_le_bytes();
        let done = ReadStream::new(&bytes).quantized(&mut read, range.clone(), resolution);
        assert_eq!(done, Ok(()));
        assert!(range.contains(&read), "{read:?}");
        assert_eq!(becomes(read, &range, resolution), (step, bits.into(), read));
    }
}

#[test]
fn every_step_is_read_as_a_number_of_that_step() {
    every_step(-1.0_f32..=1.0, 0.01, 200, 1);
    every_step(-1.0_f64..=1.0, 0.01, 200, 1);
    every_step(0.0_f32..=1.0, 0.3, 4, 1);
    every_step(-512.0_f32..=-511.0, 1.0 / 1024.0, 1024, 1);
    every_step(1000.0_f32..=1000.2, 0.01, 20, 1);
    every_step(-180.0_f64..=180.0, 1e-7, 3_600_000_000, 1_000_003);
    every_step(0.1_f64..=0.3, 0.1, 2, 1);
    every_step(-0.1_f64..=0.3, 1e-9, 400_000_000, 1_000_003);
    every_step(1e300_f64..=2e300, 1e299, 10, 1);
    every_step(0.0_f32..=f32::MAX, f32::MAX / 1000.0, 1000, 1);
}

#[test]
fn steps_are_as_fine_as_floats_allow_and_no_finer() {
    let [fine, finer] = [23, 24].map(|bits| 1.0 / f32::from(2_u8).powi(bits));
    every_step(-1.0_f32..=1.0, fine, 1 << 24, 997);
    every_step(0.0_f32..=1.0, fine, 1 << 23, 997);
    every_step(-1.0_f32..=0.0, fine, 1 << 23, 997);
    assert_eq!(
        written!(0.0_f32, quantized(0.0..=1.0, finer)),
        Err(Error::Bounds)
    );
    assert_eq!(
        written!(0.0_f32, quantized(-1.0..=0.0, finer)),
        Err(Error::Bounds)
    );
    let [fine, finer] = [48, 49].map(|bits| 1.0 / f64::from(2).powi(bits));
    every_step(-1.0_f64..=1.0, fine, 1 << 49, (1 << 39) + 1);
    assert_eq!(
        written!(0.0_f64, quantized(-1.0..=1.0, finer)),
        Err(Error::Bounds)
    );
    // The least numbers have fewer digits.
    let least = f32::from_bits(1);
    every_step(0.0_f32..=f32::from_bits(1000), least, 1000, 1);
    assert_eq!(
        written!(0.0_f32, quantized(0.0..=least, least / 2.0)),
        Err(Error::Bounds)
    );
    every_step(
        0.0_f64..=f64::MIN_POSITIVE,
        f64::MIN_POSITIVE / 1024.0,
        1024,
        1,
    );
    let least = f64::from_bits(1);
    assert_eq!(
        written!(0.0_f64, quantized(0.0..=least, least)),
        Err(Error::Bounds)
    );
}

#[test]
fn multiples_of_the_resolution_come_back() {
    // As many steps as a coordinate has at a resolution of a thousandth.
    for value in [
        0.0,
        1.0,
        12_345.0,
        2_000_000.0,
        3_999_999.0,
        4_000_000.0_f32,
    ] {
        assert_eq!(becomes(value, &(0.0..=4_000_000.0), 1.0).2, value);
    }
    for value in [0.0, 1.0, 500_000_001.0, 999_999_999.0_f64] {
        assert_eq!(becomes(value, &(0.0..=1e9), 1.0).2, value);
    }
}

#[test]
fn what_is_outside_becomes_the_nearest_end() {
    let range = -2.0_f32..=3.0;
    for value in [3.0, 3.01, 1e30, f32::INFINITY] {
        assert_eq!(becomes(value, &range, 0.5), (10, 4, 3.0));
    }
    for value in [-2.0, -2.01, -1e30, f32::NEG_INFINITY] {
        assert_eq!(becomes(value, &range, 0.5), (0, 4, -2.0));
    }
    assert_eq!(becomes(f64::MAX, &(-1.0..=1.0), 0.5).2, 1.0);
    assert_eq!(becomes(f64::MIN, &(-1e308..=0.0), 1e307).2, -1e308);
}

#[test]
fn a_number_becomes_the_nearest_step() {
    let range = 0.0_f32..=10.0;
    assert_eq!(becomes(0.49, &range, 1.0).2, 0.0);
    assert_eq!(becomes(0.5, &range, 1.0).2, 1.0);
    assert_eq!(becomes(1.49, &range, 1.0).2, 1.0);
    assert_eq!(becomes(9.5, &range, 1.0).2, 10.0);
    // Four steps of 2.5, as four steps of 3 would exceed the range.
    assert_eq!(becomes(2.4, &range, 3.0), (1, 3, 2.5));
    // There is one step, however coarse the resolution.
    for resolution in [10.0, 11.0, 1e30, f32::INFINITY] {
        assert_eq!(becomes(4.9, &range, resolution), (0, 1, 0.0));
        assert_eq!(becomes(5.1, &range, resolution), (1, 1, 10.0));
    }
}

#[test]
fn what_is_no_number_is_refused() {
    assert_eq!(
        written!(f32::NAN, quantized(0.0..=1.0, 0.1)),
        Err(Error::OutOfRange)
    );
    assert_eq!(
        written!(-f64::NAN, quantized(0.0..=1.0, 0.1)),
        Err(Error::OutOfRange)
    );
}

#[test]
fn a_step_that_there_is_not_is_refused() {
    assert_eq!(
        written!(1.0_f32, quantized(0.0..=1.0, 0.1)),
        Ok("0101".into())
    );
    let mut value = 0.0_f32;
    for step in 11..16 {
        let done = ReadStream::new(&[step]).quantized(&mut value, 0.0..=1.0, 0.1);
        assert_eq!(done, Err(Error::OutOfRange));
    }
}

#[test]
fn ranges_that_make_no_sense_are_refused() {
    let (nan, infinity) = (f32::NAN, f32::INFINITY);
    let ranges = [
        (1.0, 1.0, 0.1),
        (1.0, 0.0, 0.1),
        (0.0, 0.0, 0.0),
        (0.0, 1.0, 0.0),
        (0.0, 1.0, -0.1),
        (0.0, infinity, 1.0),
        (-infinity, 0.0, 1.0),
        (-infinity, infinity, infinity),
        (nan, 1.0, 0.1),
        (0.0, nan, 0.1),
        (0.0, 1.0, nan),
        (0.0, 1.0, -infinity),
        (1e9, 1e9 + 256.0, 1.0),
    ];
    for (start, end, resolution) in ranges {
        let range = || start..=end;
        assert_eq!(
            written!(0.5_f32, quantized(range(), resolution)),
            Err(Error::Bounds)
        );
        let mut value = 0.5;
        let done = ReadStream::new(&[0; 8]).quantized(&mut value, range(), resolution);
        assert_eq!((done, value), (Err(Error::Bounds), 0.5));
    }
    assert_eq!(
        written!(0.5_f64, quantized(f64::MIN..=f64::MAX, 1e300)),
        Err(Error::Bounds)
    );
}
