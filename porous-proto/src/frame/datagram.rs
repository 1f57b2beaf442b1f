//! A datagram as it arrives: one form, or an acknowledgement in front of a request or a short form. And
//! why bytes are none.

use core::fmt;

use super::connect::{Connect, Request};
use super::disconnect::{Disconnect, DisconnectAck, LongControl};
use super::disconnect::{RESET, Reset};
use super::long::{self, Long, VERSION};
use super::refuse::Refuse;
use super::short::{FORM, SHORT, Short};
use crate::wire::ReadError;

/// What a datagram says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Datagram<'a> {
    /// The acknowledgement of a connection request, if the datagram begins with one.
    pub(crate) acknowledge: Option<Connect>,
    pub(crate) rest: Rest<'a>,
}

/// What a datagram says besides a leading acknowledgement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rest<'a> {
    /// Nothing: the acknowledgement stands alone.
    Nothing,
    Request(Request<'a>),
    /// A request of another version, of which only the head is read.
    OtherVersion {
        version: u32,
        nonce_self: u64,
    },
    Refuse(Refuse),
    Disconnect(Disconnect),
    DisconnectAck(DisconnectAck),
    Reset(Reset),
    Short(Short<'a>),
}

/// Reads a datagram. Short forms carry `connection_id_len` bytes of connection id, and are read as far as is
/// possible without knowing the connection.
pub(crate) fn decode(datagram: &[u8], connection_id_len: usize) -> Result<Datagram<'_>, Malformed> {
    let byte0 = *datagram.first().ok_or(Malformed::Truncated)?;
    let alone = |rest| {
        Ok(Datagram {
            acknowledge: None,
            rest,
        })
    };
    if byte0 & FORM == SHORT {
        return alone(Rest::Short(Short::decode(datagram, connection_id_len)?));
    }
    // Before the kinds of long forms, which have the same upper half of byte 0.
    if let Some(rest) = datagram.strip_prefix(&[RESET]) {
        return alone(Rest::Reset(Reset::decode(rest)?));
    }
    match byte0 & 0xF0 {
        long::REQUEST => alone(decode_request(datagram)?),
        // An acknowledgement may be followed by what its sender has to say anyway: a request, or data.
        long::ACKNOWLEDGE => decode_acknowledge(datagram, connection_id_len),
        long::REFUSE => alone(Rest::Refuse(Refuse::decode(&single(datagram)?)?)),
        long::CONTROL => alone(match LongControl::decode(&single(datagram)?)? {
            LongControl::Disconnect(disconnect) => Rest::Disconnect(disconnect),
            LongControl::DisconnectAck(ack) => Rest::DisconnectAck(ack),
        }),
        _ => Err(Malformed::UnknownType),
    }
}

/// A long form that is the whole datagram.
pub(super) fn single(datagram: &[u8]) -> Result<Long<'_>, Malformed> {
    let (long, rest) = Long::split(datagram)?;
    if rest.is_empty() {
        Ok(long)
    } else {
        Err(Malformed::TrailingBytes)
    }
}

fn decode_request(datagram: &[u8]) -> Result<Rest<'_>, Malformed> {
    let (version, nonce_self) = long::common_head(datagram)?;
    // Of other versions only what stays in all of them: enough to answer with the own version.
    if version != VERSION {
        if nonce_self == 0 {
            return Err(Malformed::BadValue); // no answer could name it
        }
        return Ok(Rest::OtherVersion {
            version,
            nonce_self,
        });
    }
    let (long, padding) = Long::split(datagram)?;
    Request::decode(&long, padding, datagram.len()).map(Rest::Request)
}

fn decode_acknowledge(
    datagram: &[u8],
    connection_id_len: usize,
) -> Result<Datagram<'_>, Malformed> {
    let (long, rest) = Long::split(datagram)?;
    let acknowledge = Some(Connect::decode_acknowledge(&long)?);
    let rest = match rest.first() {
        None => Rest::Nothing,
        Some(byte0) if byte0 & FORM == SHORT => {
            Rest::Short(Short::decode(rest, connection_id_len)?)
        }
        Some(byte0) if byte0 & 0xF0 == long::REQUEST => {
            // With the length of the whole datagram, which bounds the length of an answer.
            let (long, padding) = Long::split(rest)?;
            Rest::Request(Request::decode(&long, padding, datagram.len())?)
        }
        Some(_) => return Err(Malformed::TrailingBytes),
    };
    Ok(Datagram { acknowledge, rest })
}

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
