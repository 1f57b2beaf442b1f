//! Why something could not be read, written or measured.

use core::fmt;

/// Why a stream stopped. The values that were read before are of no use. [`explain`](crate::explain) and
/// [`explain_read`](crate::explain_read) also tell the field and the bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Error {
    /// More bits are needed than there are: the data ends, or the buffer is full.
    End,
    /// A value is outside of its bounds, or of an unknown kind.
    OutOfRange,
    /// A value is not written in its only form: each value has exactly one.
    NotCanonical,
    /// A string is not UTF-8.
    NotUtf8,
    /// A [check word](crate::Stream::check) was not there: reader and writer do not agree.
    Desync,
    /// Lists, options and boxes are nested deeper than [`MAX_DEPTH`](crate::MAX_DEPTH).
    TooDeep,
    /// More bytes follow after the end.
    Trailing,
    /// The bounds are at fault, not the value: a range that is empty, more than 64 bits, or a
    /// resolution finer than the range allows. Correct the declaration.
    Bounds,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::End => "more bits are needed than there are",
            Self::OutOfRange => "a value is outside of its bounds",
            Self::NotCanonical => "a value is not written in its only form",
            Self::NotUtf8 => "a string is not UTF-8",
            Self::Desync => "a check word is missing: reader and writer do not agree",
            Self::TooDeep => "lists, options and boxes are nested too deep",
            Self::Trailing => "more bytes follow after the end",
            Self::Bounds => "the bounds of a value make no sense: correct their declaration",
        })
    }
}

impl core::error::Error for Error {}
