//! Why a datagram is not one of this protocol.

use core::fmt;

use crate::wire::ReadError;

/// Why a received datagram was refused. It is dropped and counted by cause; nothing in it has any
/// effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Malformed {
    /// It ends in the middle of something.
    Truncated,
    /// A form, a control message, a parameter or a message of a type that nobody defined.
    UnknownType,
    /// A version of the protocol that this host does not speak.
    Version,
    /// A bit or a byte that must be zero is not.
    Reserved,
    /// The same could be said in the one form that is allowed: a field that could have been left
    /// out, a number or a length in too many bytes, an acknowledgement wanted for nothing.
    NotCanonical,
    /// A field has a value outside its range.
    BadValue,
    /// More messages than a frame may hold.
    TooManyMessages,
    /// Bytes follow where the datagram should end.
    TrailingBytes,
    /// The checksum does not match.
    Integrity,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Truncated => "datagram ends too early",
            Self::UnknownType => "unknown type of frame or message",
            Self::Version => "unknown protocol version",
            Self::Reserved => "reserved bits are set",
            Self::NotCanonical => "encoding is not canonical",
            Self::BadValue => "field is out of range",
            Self::TooManyMessages => "too many messages",
            Self::TrailingBytes => "bytes follow the end of the frame",
            Self::Integrity => "checksum does not match",
        })
    }
}

impl core::error::Error for Malformed {}

impl From<ReadError> for Malformed {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Truncated => Self::Truncated,
            ReadError::NotMinimal => Self::NotCanonical,
            ReadError::TooLarge => Self::BadValue,
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn every_cause_is_told_in_its_own_words() {
        let causes = [
            Malformed::Truncated,
            Malformed::UnknownType,
            Malformed::Version,
            Malformed::Reserved,
            Malformed::NotCanonical,
            Malformed::BadValue,
            Malformed::TooManyMessages,
            Malformed::TrailingBytes,
            Malformed::Integrity,
        ];
        let words: BTreeSet<_> = causes.iter().map(ToString::to_string).collect();
        assert_eq!(words.len(), causes.len());
        assert!(words.iter().all(|text| text.len() > 10));
    }
}
