//! DISC and `DISC_ACK` of a sealed connection: the plain forms with a MAC behind them (`docs/wire.md`, "DISC
//! and `DISC_ACK` with a MAC"). They are authenticated and not encrypted, so that a host that answers
//! repetitions of a goodbye keeps a key and counts nothing.

use super::Malformed;
use super::disconnect::{DISCONNECT, DISCONNECT_ACK, Disconnect, DisconnectAck, LongControl};
use super::long::{self, CONTROL, Long, VERSION};
use crate::wire::{NoRoom, Writer};

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
    let nonces = [form.nonce_self, form.nonce_peer];
    let body = |writer: &mut Writer<'_>| writer.u32(form.reason);
    encode(buffer, DISCONNECT_MAC, nonces, body, mac)
}

/// Writes `DISC_ACK` with a MAC, which the caller makes of all that stands before it.
pub(crate) fn encode_disconnect_ack(
    form: &DisconnectAck,
    buffer: &mut [u8],
    mac: impl FnOnce(&[u8]) -> [u8; MAC],
) -> Result<usize, NoRoom> {
    let nonces = [form.nonce_self, form.nonce_peer];
    encode(buffer, DISCONNECT_ACK_MAC, nonces, |_| Ok(()), mac)
}

fn encode(
    buffer: &mut [u8],
    byte0: u8,
    nonces: [u64; 2],
    body: impl FnOnce(&mut Writer<'_>) -> Result<(), NoRoom>,
    mac: impl FnOnce(&[u8]) -> [u8; MAC],
) -> Result<usize, NoRoom> {
    let length = long::encode(buffer, byte0, VERSION, nonces, |writer| {
        body(writer)?;
        writer.zeros(MAC)
    })?;
    let form = buffer.get_mut(..length).ok_or(NoRoom)?;
    let (covered, place) = form.split_last_chunk_mut().ok_or(NoRoom)?;
    *place = mac(covered);
    Ok(length)
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
