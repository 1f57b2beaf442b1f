//! The head that all long forms share, in every version up to and including `nonce_self`.

use crate::wire::{NoRoom, Reader, Writer};

use super::Malformed;

/// The version of the protocol that this crate speaks. It stays as long as hosts of earlier releases understand
/// what this crate sends (`docs/wire.md`, "What may change, and what never"; `deviations.md` C20).
pub(crate) const VERSION: u32 = 1;

/// Byte 0 of every long form: the two upper bits, of which one is that of QUIC's long header.
pub(crate) const LONG: u8 = 0xC0;

/// The four kinds of long forms, by the upper half of byte 0.
pub(super) const REQUEST: u8 = 0xC0;
pub(super) const ACKNOWLEDGE: u8 = 0xD0;
pub(super) const REFUSE: u8 = 0xE0;
pub(super) const CONTROL: u8 = 0xF0;

/// Bytes of the head: byte 0, length, version and both nonces.
pub(super) const HEAD: usize = 23;

/// Bytes before those that the length counts: byte 0 and the length itself.
const PREFIX: usize = 3;

/// A long form, cut out of its datagram.
#[derive(Clone, Copy, Debug)]
pub(super) struct Long<'a> {
    /// The lower half of byte 0.
    pub(super) flags: u8,
    pub(super) version: u32,
    pub(super) nonce_self: u64,
    pub(super) nonce_peer: u64,
    pub(super) body: &'a [u8],
    /// All of the form, from byte 0 on.
    pub(super) form: &'a [u8],
}

impl<'a> Long<'a> {
    /// The long form at the front of `datagram`, and what follows it.
    pub(super) fn split(datagram: &'a [u8]) -> Result<(Self, &'a [u8]), Malformed> {
        let mut reader = Reader::new(datagram);
        reader.u8()?;
        let length = usize::from(reader.u16()?);
        let end = length.checked_add(PREFIX).ok_or(Malformed::Truncated)?;
        // The head is read from within the length that the form names, not from what follows it.
        let (form, rest) = datagram.split_at_checked(end).ok_or(Malformed::Truncated)?;
        let mut reader = Reader::new(form);
        let byte0 = reader.u8()?;
        reader.u16()?;
        let long = Self {
            flags: byte0 & 0x0F,
            version: reader.u32()?,
            nonce_self: reader.u64()?,
            nonce_peer: reader.u64()?,
            body: reader.rest(),
            form,
        };
        Ok((long, rest))
    }

    /// Refuses a form that does not name both hosts.
    pub(super) const fn expect_nonces(&self) -> Result<(), Malformed> {
        if self.nonce_self == 0 || self.nonce_peer == 0 {
            Err(Malformed::BadValue)
        } else {
            Ok(())
        }
    }
}

/// The version of a long form of any version, and the sender's nonce: these keep their places.
pub(super) fn common_head(datagram: &[u8]) -> Result<(u32, u64), Malformed> {
    let mut reader = Reader::new(datagram);
    reader.bytes(PREFIX)?;
    Ok((reader.u32()?, reader.u64()?))
}

/// Writes a long form to the front of `buffer`. Returns its length.
pub(super) fn encode(
    buffer: &mut [u8],
    byte0: u8,
    version: u32,
    [nonce_self, nonce_peer]: [u64; 2],
    body: impl FnOnce(&mut Writer<'_>) -> Result<(), NoRoom>,
) -> Result<usize, NoRoom> {
    let mut writer = Writer::new(buffer);
    writer.u8(byte0)?;
    // The length, which is known once the body is written.
    writer.u16(0)?;
    writer.u32(version)?;
    writer.u64(nonce_self)?;
    writer.u64(nonce_peer)?;
    body(&mut writer)?;
    let end = writer.position();
    let length = end
        .checked_sub(PREFIX)
        .and_then(|length| u16::try_from(length).ok());
    writer.patch_u16(1, length.ok_or(NoRoom)?)?;
    Ok(end)
}

/// Notes in a long form how long it is.
#[cfg(feature = "seal")]
pub(super) fn set_length(form: &mut [u8]) -> Result<(), NoRoom> {
    let length = form.len().checked_sub(PREFIX);
    let length = length.and_then(|length| u16::try_from(length).ok());
    let place = form.get_mut(1..PREFIX).ok_or(NoRoom)?;
    place.copy_from_slice(&length.ok_or(NoRoom)?.to_le_bytes());
    Ok(())
}
