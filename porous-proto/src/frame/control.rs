//! The encoding of control messages: one fixed byte, a subtype, then fields that nothing predicts.

use crate::wire::{NoRoom, Reader, Writer, all_zero, varint_length};

use super::layout::Context;
use super::{Control, Fates, Malformed, Marker};

/// T = 6, no flags: the first byte of every control message.
pub(super) const HEAD: u8 = 0xC0;

const NOOP: u8 = 0;
const PING: u8 = 1;
const PONG: u8 = 2;
const WINDOW: u8 = 3;
const SENTINEL: u8 = 4;
const TOMBSTONE: u8 = 5;
const LIMITS: u8 = 6;
const PATH_CHALLENGE: u8 = 7;
const PATH_RESPONSE: u8 = 8;
const PADDING: u8 = 9;
const ASK: u8 = 10;
const TOLD: u8 = 11;
const FATES: u8 = 12;

/// In the count of FATES: set if no packet before these was given to the application.
const FIRST: u8 = 1 << 7;

/// The least bytes of padding: the two that name it.
pub(crate) const MIN_PADDING: usize = 2;

/// What follows the first byte of a control message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decoded {
    Control(Control),
    /// The rest of the datagram is padding, of this length with the two bytes that name it.
    Padding(usize),
}

impl Control {
    pub(super) fn length(&self, context: &Context) -> usize {
        let body = match self {
            Self::Noop => 0,
            Self::Ping(_) | Self::Pong(_) => 2,
            Self::Window { .. } => 5,
            Self::Sentinel(marker) | Self::Tombstone(marker) => {
                let id = usize::from(context.id_bytes);
                id.saturating_add(varint_length(marker.dependency))
                    .saturating_add(1)
            }
            Self::Limits { .. } => 6,
            Self::PathChallenge(_) | Self::PathResponse(_) => 8,
            Self::Ask { .. } => 3,
            Self::Told { .. } => 7,
            Self::Fates { fates, .. } => usize::from(Fates::bytes(fates.count)).saturating_add(6),
        };
        body.saturating_add(2)
    }

    pub(super) fn encode(&self, writer: &mut Writer<'_>, context: &Context) -> Result<(), NoRoom> {
        writer.u8(HEAD)?;
        match *self {
            Self::Noop => writer.u8(NOOP),
            Self::Ping(id) => {
                writer.u8(PING)?;
                writer.u16(id)
            }
            Self::Pong(id) => {
                writer.u8(PONG)?;
                writer.u16(id)
            }
            Self::Window { channel, id } => {
                writer.bytes(&[WINDOW, channel])?;
                writer.u32(id)
            }
            Self::Sentinel(marker) => encode_marker(writer, SENTINEL, marker, context),
            Self::Tombstone(marker) => encode_marker(writer, TOMBSTONE, marker, context),
            Self::Limits {
                serial,
                receive_rate,
            } => {
                writer.u8(LIMITS)?;
                writer.u16(serial)?;
                writer.u32(receive_rate)
            }
            Self::PathChallenge(data) => {
                writer.u8(PATH_CHALLENGE)?;
                writer.u64(data)
            }
            Self::PathResponse(data) => {
                writer.u8(PATH_RESPONSE)?;
                writer.u64(data)
            }
            Self::Ask { channel, number } => {
                writer.bytes(&[ASK, channel])?;
                writer.u16(number)
            }
            Self::Told {
                channel,
                number,
                next,
            } => {
                writer.bytes(&[TOLD, channel])?;
                writer.u16(number)?;
                writer.u32(next)
            }
            Self::Fates { channel, id, fates } => {
                writer.bytes(&[FATES, channel])?;
                writer.u32(id)?;
                encode_fates(writer, fates)
            }
        }
    }

    /// Reads what follows the first byte.
    pub(super) fn decode(reader: &mut Reader<'_>, context: &Context) -> Result<Decoded, Malformed> {
        let control = match reader.u8()? {
            NOOP => Self::Noop,
            PING => Self::Ping(reader.u16()?),
            PONG => Self::Pong(reader.u16()?),
            WINDOW => Self::Window {
                channel: reader.u8()?,
                id: reader.u32()?,
            },
            SENTINEL => Self::Sentinel(decode_marker(reader, context)?),
            TOMBSTONE => Self::Tombstone(decode_marker(reader, context)?),
            LIMITS => decode_limits(reader)?,
            PATH_CHALLENGE => Self::PathChallenge(reader.u64()?),
            PATH_RESPONSE => Self::PathResponse(reader.u64()?),
            ASK => Self::Ask {
                channel: reader.u8()?,
                number: reader.u16()?,
            },
            TOLD => Self::Told {
                channel: reader.u8()?,
                number: reader.u16()?,
                next: reader.u32()?,
            },
            FATES => Self::Fates {
                channel: reader.u8()?,
                id: reader.u32()?,
                fates: decode_fates(reader)?,
            },
            // It ends the messages, whatever follows.
            PADDING => return decode_padding(reader.rest()),
            _ => return Err(Malformed::UnknownType),
        };
        Ok(Decoded::Control(control))
    }
}

/// Writes padding of `length` bytes in all, at least [`MIN_PADDING`].
pub(super) fn encode_padding(writer: &mut Writer<'_>, length: usize) -> Result<(), NoRoom> {
    let zeros = length.checked_sub(MIN_PADDING).ok_or(NoRoom)?;
    // Before anything is written: a failed write leaves nothing behind.
    if length > writer.remaining() {
        return Err(NoRoom);
    }
    writer.bytes(&[HEAD, PADDING])?;
    writer.zeros(zeros)
}

fn decode_padding(zeros: &[u8]) -> Result<Decoded, Malformed> {
    // Any other byte would be a second spelling of the same padding.
    if !all_zero(zeros) {
        return Err(Malformed::Reserved);
    }
    Ok(Decoded::Padding(zeros.len().saturating_add(MIN_PADDING)))
}

fn encode_marker(
    writer: &mut Writer<'_>,
    subtype: u8,
    marker: Marker,
    context: &Context,
) -> Result<(), NoRoom> {
    writer.bytes(&[subtype, marker.channel])?;
    writer.uint(marker.id, context.id_bytes)?;
    writer.varint(marker.dependency)
}

fn decode_marker(reader: &mut Reader<'_>, context: &Context) -> Result<Marker, Malformed> {
    let marker = Marker {
        channel: reader.u8()?,
        id: reader.uint(context.id_bytes)?,
        dependency: reader.varint()?,
    };
    let is_near = marker.dependency < context.window;
    is_near.then_some(marker).ok_or(Malformed::BadValue)
}

fn encode_fates(writer: &mut Writer<'_>, fates: Fates) -> Result<(), NoRoom> {
    let Fates {
        count,
        first,
        skipped,
    } = fates;
    writer.u8(if first { count | FIRST } else { count })?;
    let bytes = skipped.to_le_bytes();
    let length = usize::from(Fates::bytes(count));
    writer.bytes(bytes.get(..length).ok_or(NoRoom)?)
}

fn decode_fates(reader: &mut Reader<'_>) -> Result<Fates, Malformed> {
    let head = reader.u8()?;
    let count = head & !FIRST;
    // Of no packet there is nothing to tell, and the bits of more do not fit into 64.
    if !(1..=Fates::MAX).contains(&count) {
        return Err(Malformed::BadValue);
    }
    let told = reader.bytes(Fates::bytes(count).into())?;
    let mut bytes = [0; 8];
    for (byte, told) in bytes.iter_mut().zip(told) {
        *byte = *told;
    }
    let skipped = u64::from_le_bytes(bytes);
    // Bits of packets that are not told of.
    if skipped & !Fates::mask(count) != 0 {
        return Err(Malformed::Reserved);
    }
    Ok(Fates {
        count,
        first: head & FIRST != 0,
        skipped,
    })
}

fn decode_limits(reader: &mut Reader<'_>) -> Result<Control, Malformed> {
    let limits = Control::Limits {
        serial: reader.u16()?,
        receive_rate: reader.u32()?,
    };
    // A rate of 0 would stall the sender for ever.
    if matches!(
        limits,
        Control::Limits {
            receive_rate: 0,
            ..
        }
    ) {
        return Err(Malformed::BadValue);
    }
    Ok(limits)
}
