//! Floats in steps. Only operations that IEEE 754 defines to the last bit are used, so that all machines
//! read the same numbers.

use core::ops::RangeInclusive;

use super::integer::ranged;
use super::{Integer, Stream, rare};
use crate::error::Error;

/// The floats of Rust.
///
/// Other types cannot implement it.
pub trait Float: Copy + PartialOrd + Into<f64> + core::fmt::Debug + private::Sealed {
    /// The smallest step, as a part of the end that is farther from zero: smaller steps could not be told
    /// apart.
    #[doc(hidden)]
    const FINEST: f64;
    /// The smallest number with all digits.
    #[doc(hidden)]
    const LEAST: f64;

    /// The nearest float.
    #[doc(hidden)]
    fn nearest(value: f64) -> Self;
}

mod private {
    #[expect(unnameable_types, reason = "nobody else implements it")]
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

impl Float for f32 {
    const FINEST: f64 = 1.0 / (1_u64 << 23) as f64;
    const LEAST: f64 = Self::MIN_POSITIVE as f64;

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the nearest one")]
    fn nearest(value: f64) -> Self {
        value as Self
    }
}

impl Float for f64 {
    /// Four bits less than the type has, which are left for rounding errors.
    const FINEST: Self = 1.0 / (1_u64 << 48) as Self;
    const LEAST: Self = Self::MIN_POSITIVE;

    #[inline]
    fn nearest(value: f64) -> Self {
        value
    }
}

/// A range that is divided into steps.
struct Steps {
    start: f64,
    end: f64,
    span: f64,
    /// The number of steps in the span.
    count: u64,
}

impl Steps {
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "positive, and at most 2^49"
    )]
    fn new<F: Float>(range: &RangeInclusive<F>, resolution: F) -> Result<Self, Error> {
        let (start, end): (f64, f64) = ((*range.start()).into(), (*range.end()).into());
        let (span, resolution) = (end - start, resolution.into());
        let largest = if -start > end { -start } else { end };
        let finest = F::FINEST * largest.max(F::LEAST);
        // Written so that a NaN in any of the three bounds makes it false.
        let is_sound = span > 0.0 && span < f64::INFINITY && resolution >= finest;
        if !is_sound {
            return Err(rare(Error::Bounds));
        }
        let steps = span / resolution;
        let nearest = (steps + 0.5) as u64;
        // The ends and the resolution were rounded to floats, which may make a whole number of steps look
        // like a little more. Without this tolerance there would be a step too many.
        let slack = 2.0 * finest / resolution;
        let is_over = steps - nearest as f64 > slack;
        let count = (nearest + u64::from(is_over)).max(1);
        Ok(Self {
            start,
            end,
            span,
            count,
        })
    }

    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "what is outside becomes the nearest end"
    )]
    fn step(&self, value: f64) -> u64 {
        let steps = (value - self.start) / self.span * self.count as f64;
        // Both branches give the same, but a short integer is made in a third of the time.
        let step = if self.count <= u32::MAX.into() {
            u64::from((steps + 0.5) as u32)
        } else {
            (steps + 0.5) as u64
        };
        step.min(self.count)
    }

    #[inline]
    #[expect(clippy::cast_precision_loss, reason = "at most 2^49")]
    fn value(&self, step: u64) -> f64 {
        // The sum may be a rounding error beside the end, which has to be exact.
        if step == self.count {
            return self.end;
        }
        self.start + self.span * (step as f64 / self.count as f64)
    }
}

#[inline]
pub(super) fn quantized<S: Stream, F: Float>(
    stream: &mut S,
    value: &mut F,
    range: &RangeInclusive<F>,
    resolution: F,
) -> Result<(), Error> {
    let steps = Steps::new(range, resolution)?;
    let mut step = 0;
    if !S::READS {
        let value: f64 = (*value).into();
        if value.is_nan() {
            return Err(rare(Error::OutOfRange));
        }
        step = steps.step(value);
    }
    ranged(stream, &mut step, u64::ZERO, steps.count)?;
    if S::READS {
        *value = F::nearest(steps.value(step));
    }
    Ok(())
}
