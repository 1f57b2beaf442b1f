//! A datagram as it arrives: one form, or an acknowledgement in front of a request or a short form.

use super::Malformed;
use super::connect::{Connect, Request};
use super::disconnect::{Disconnect, DisconnectAck, LongControl};
use super::disconnect::{RESET, Reset};
use super::long::{self, Long, VERSION};
use super::refuse::Refuse;
use super::short::{SHORT, Short};

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
    if byte0 & 0xC0 == SHORT {
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
fn single(datagram: &[u8]) -> Result<Long<'_>, Malformed> {
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
        Some(byte0) if byte0 & 0xC0 == SHORT => {
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
