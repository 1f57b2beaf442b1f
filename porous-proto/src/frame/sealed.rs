//! The datagrams that only a host that seals can read. [`decode`](super::decode), which reads all others,
//! refuses them.

use super::Malformed;
use super::auth::{ACKNOWLEDGE_AUTH, Auth, FirstAuth, SecondAuth};
use super::connect::Request;
use super::datagram::single;
use super::disconnect::{Disconnect, DisconnectAck, LongControl};
use super::long::{Long, REQUEST};
use super::mac::{DISCONNECT_ACK_MAC, DISCONNECT_MAC, WithMac};
use super::short::{KEY_PHASE, SHORT, Short};

/// What such a datagram says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sealed<'a> {
    /// ACK with AUTH, message 1, and the request of its sender, which names the same nonces.
    First(FirstAuth<'a>, Request<'a>),
    /// ACK with AUTH, message 2, and the first sealed short form of its sender, if there is one.
    Second(SecondAuth<'a>, Option<Short<'a>>),
    Disconnect(WithMac<'a, Disconnect>),
    DisconnectAck(WithMac<'a, DisconnectAck>),
}

/// Reads a datagram that only a host that seals can read; `None` if it is another, which
/// [`decode`](super::decode) reads. Short forms carry `connection_id_len` bytes of connection id.
pub(crate) fn decode_sealed(
    datagram: &[u8],
    connection_id_len: usize,
) -> Option<Result<Sealed<'_>, Malformed>> {
    match *datagram.first()? {
        ACKNOWLEDGE_AUTH => Some(decode_auth(datagram, connection_id_len)),
        DISCONNECT_MAC | DISCONNECT_ACK_MAC => Some(decode_control(datagram)),
        _ => None,
    }
}

/// Reads a short form with the phase bit, which no plain connection has; `None` if it is another datagram.
pub(crate) fn decode_phased(
    datagram: &[u8],
    connection_id_len: usize,
) -> Option<Result<Short<'_>, Malformed>> {
    let byte0 = *datagram.first()?;
    let is_phased = byte0 & 0xC0 == SHORT && byte0 & KEY_PHASE != 0;
    is_phased.then(|| Short::decode_any_phase(datagram, connection_id_len))
}

fn decode_auth(datagram: &[u8], connection_id_len: usize) -> Result<Sealed<'_>, Malformed> {
    let (long, rest) = Long::split(datagram)?;
    match Auth::decode(&long)? {
        Auth::First(first) => {
            let request = decode_request(&first, rest, datagram.len())?;
            Ok(Sealed::First(first, request))
        }
        Auth::Second(second) => Ok(Sealed::Second(
            second,
            decode_short(rest, connection_id_len)?,
        )),
    }
}

/// Reads what follows message 1.
fn decode_request<'a>(
    first: &FirstAuth<'_>,
    rest: &'a [u8],
    datagram_length: usize,
) -> Result<Request<'a>, Malformed> {
    if rest.first().ok_or(Malformed::Truncated)? & 0xF0 != REQUEST {
        return Err(Malformed::TrailingBytes);
    }
    let (long, padding) = Long::split(rest)?;
    let request = Request::decode(&long, padding, datagram_length)?;
    // The request is its sender's own: it tells what the message leaves out, and brings back the cookie that
    // the message has sealed. A request with a cookie speaks of a host that keeps no state.
    let connect = &request.connect;
    let named = [connect.nonce_self, connect.nonce_peer];
    if connect.cookie || named != [first.nonce_self, first.nonce_peer] {
        return Err(Malformed::BadValue);
    }
    Ok(request)
}

/// Reads what follows message 2.
fn decode_short(rest: &[u8], connection_id_len: usize) -> Result<Option<Short<'_>>, Malformed> {
    match rest.first() {
        None => Ok(None),
        Some(byte0) if byte0 & 0xC0 == SHORT => {
            let short = Short::decode_any_phase(rest, connection_id_len)?;
            short.sealed()?;
            Ok(Some(short))
        }
        Some(_) => Err(Malformed::TrailingBytes),
    }
}

fn decode_control(datagram: &[u8]) -> Result<Sealed<'_>, Malformed> {
    let WithMac { form, covered, mac } = WithMac::decode(&single(datagram)?)?;
    Ok(match form {
        LongControl::Disconnect(form) => Sealed::Disconnect(WithMac { form, covered, mac }),
        LongControl::DisconnectAck(form) => Sealed::DisconnectAck(WithMac { form, covered, mac }),
    })
}
