//! Why a datagram is not one of this protocol.

use core::fmt;

use crate::wire::ReadError;

/// Why a received datagram was refused. A refused datagram is counted by cause, and has no other effect. An
/// application need do nothing: the causes help to find out what a network or another host does to datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Malformed {
    /// The datagram ends in the middle of a field.
    Truncated,
    /// A form, a parameter or a message has a type that is unknown, or that has no place there.
    UnknownType,
    /// A version of the protocol that this host does not speak.
    Version,
    /// A bit or a byte that must be zero is not.
    Reserved,
    /// Something is said in another way than the only one that is allowed: a field that had to be left out, a
    /// number or a length in too many bytes, or an acknowledgement that is wanted for nothing.
    NotCanonical,
    /// A field has a value outside its range.
    BadValue,
    /// There are more messages than a frame may hold.
    TooManyMessages,
    /// Bytes follow where the datagram should end.
    TrailingBytes,
    /// The check does not match: the datagram is damaged, forged, far too late, or of another connection.
    Integrity,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Truncated => "datagram ends too early",
            Self::UnknownType => "unknown type of datagram, parameter or message",
            Self::Version => "unknown protocol version",
            Self::Reserved => "reserved bits are set",
            Self::NotCanonical => "encoding is not canonical",
            Self::BadValue => "field is out of range",
            Self::TooManyMessages => "too many messages",
            Self::TrailingBytes => "bytes follow where the datagram should end",
            Self::Integrity => "check at the end does not match",
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
