//! DISC and `DISC_ACK` of a sealed connection: the plain forms with a MAC behind them (`docs/wire.md`, "DISC
//! and `DISC_ACK` with a MAC"). They are authenticated and not encrypted, so that a host that answers
//! repetitions of a goodbye keeps a key and counts nothing.

use super::Malformed;
use super::disconnect::{DISCONNECT, DISCONNECT_ACK, Disconnect, DisconnectAck, LongControl};
use super::long::{self, CONTROL, Long};
use crate::wire::NoRoom;

/// Bytes of a MAC: half of HMAC-SHA-256, as RFC 2104 §5 allows at least.
pub(crate) const MAC: usize = 16;

/// The flag of a control form that has a MAC.
const WITH_MAC: u8 = 1 << 3;

/// Bytes 0 of the two forms.
pub(super) const DISCONNECT_MAC: u8 = CONTROL | WITH_MAC | DISCONNECT;
pub(super) const DISCONNECT_ACK_MAC: u8 = CONTROL | WITH_MAC | DISCONNECT_ACK;

/// A form that came with a MAC, which is not checked yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WithMac<'a, T> {
    pub(crate) form: T,
    /// What the MAC covers: the form without it, whose length counts it.
    pub(crate) covered: &'a [u8],
    pub(crate) mac: &'a [u8; MAC],
}

/// Writes DISC with a MAC, which the caller makes of all that stands before it.
pub(crate) fn encode_disconnect(
    form: &Disconnect,
    buffer: &mut [u8],
    mac: impl FnOnce(&[u8]) -> [u8; MAC],
) -> Result<usize, NoRoom> {
    let length = form.encode(buffer)?;
    append_mac(buffer, length, mac)
}

/// Writes `DISC_ACK` with a MAC, which the caller makes of all that stands before it.
pub(crate) fn encode_disconnect_ack(
    form: &DisconnectAck,
    buffer: &mut [u8],
    mac: impl FnOnce(&[u8]) -> [u8; MAC],
) -> Result<usize, NoRoom> {
    let length = form.encode(buffer)?;
    append_mac(buffer, length, mac)
}

/// A goodbye in plain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goodbye {
    /// DISC.
    Request,
    /// `DISC_ACK`.
    Acknowledgement,
}

/// Which goodbye a datagram is that this host has written; `None` if it is none.
pub(crate) fn goodbye_of(datagram: &[u8]) -> Option<Goodbye> {
    match datagram.first()?.checked_sub(CONTROL)? {
        DISCONNECT => Some(Goodbye::Request),
        DISCONNECT_ACK => Some(Goodbye::Acknowledgement),
        _ => None,
    }
}

/// Puts a MAC behind the goodbye in the first `length` bytes of `buffer`, which the caller makes of all that
/// stands before it. Returns the new length.
pub(crate) fn append_mac(
    buffer: &mut [u8],
    length: usize,
    mac: impl FnOnce(&[u8]) -> [u8; MAC],
) -> Result<usize, NoRoom> {
    let end = length.checked_add(MAC).ok_or(NoRoom)?;
    let form = buffer.get_mut(..end).ok_or(NoRoom)?;
    long::set_length(form)?;
    *form.first_mut().ok_or(NoRoom)? |= WITH_MAC;
    let (covered, place) = form.split_last_chunk_mut().ok_or(NoRoom)?;
    *place = mac(covered);
    Ok(end)
}

impl<'a> WithMac<'a, LongControl> {
    /// Reads a form whose byte 0 the caller has looked at.
    pub(super) fn decode(long: &Long<'a>) -> Result<Self, Malformed> {
        let (body, mac) = long.body.split_last_chunk().ok_or(Malformed::Truncated)?;
        let (covered, _) = long
            .form
            .split_last_chunk::<MAC>()
            .ok_or(Malformed::Truncated)?;
        // Without the flag and the MAC it is the plain form, with the same rules.
        let plain = Long {
            flags: long.flags & !WITH_MAC,
            body,
            ..*long
        };
        Ok(Self {
            form: LongControl::decode(&plain)?,
            covered,
            mac,
        })
    }
}
