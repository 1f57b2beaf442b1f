//! The one encoding of a message. A field is present exactly where the prediction fails, and the
//! decoder insists on that, so that what it accepts encodes to the same bytes again.

use crate::wire::{NoRoom, Reader, Writer};

use super::control::{self, Decoded};
use super::layout::Layout;
use super::{Control, Fragment, LEAST_FRAGMENT, Malformed, Message, Mode, Packet};

/// The channel is not that of the packet before.
const CHANNEL: u8 = 1 << 4;
/// The id is not one more than that of the packet before on this channel.
const ID: u8 = 1 << 3;
/// The dependency is not the predicted one.
const DEPENDENCY: u8 = 1 << 2;

/// How the length of the payload is told.
const TO_THE_END: u8 = 0b00;
const AS_BEFORE: u8 = 0b01;
const IN_ONE_BYTE: u8 = 0b10;
const IN_TWO_BYTES: u8 = 0b11;
const LENGTH: u8 = 0b11;

/// The values of the upper three bits.
const FIRST_FRAGMENT: u8 = 3;
const CONTROL: u8 = 6;

/// Before a packet: its sender wants to be told what becomes of it.
const RECEIPT: u8 = 7 << 5;

/// The next message of a frame.
pub(super) enum Next<'a> {
    Message(Message<&'a [u8]>),
    /// There is none: the rest is padding of this length.
    Padding(usize),
}

/// Writes a message. `last`: nothing follows before the end or the tag of the datagram.
pub(super) fn encode<P: AsRef<[u8]>>(
    message: &Message<P>,
    last: bool,
    layout: &Layout,
    writer: &mut Writer<'_>,
) -> Result<(), NoRoom> {
    match message {
        Message::Control(control) => control.encode(writer, layout.context()),
        Message::Packet(packet) => encode_packet(packet, last, layout, writer),
    }
}

/// How the length of a payload is told.
const fn length_form(payload: usize, last: bool, layout: &Layout) -> u8 {
    match layout.payload() {
        _ if last => TO_THE_END,
        Some(length) if length == payload => AS_BEFORE,
        _ if payload <= 0xFF => IN_ONE_BYTE,
        _ => IN_TWO_BYTES,
    }
}

fn encode_packet<P: AsRef<[u8]>>(
    packet: &Packet<P>,
    last: bool,
    layout: &Layout,
    writer: &mut Writer<'_>,
) -> Result<(), NoRoom> {
    debug_assert!(packet.id <= layout.context().id_mask());
    debug_assert!(u32::from(packet.dependency) < layout.context().window);
    let payload = packet.payload.as_ref();
    let form = length_form(payload.len(), last, layout);
    let mode = match packet.mode {
        Mode::Unreliable => 0,
        Mode::Reliable => 1,
        Mode::Passive => 2,
    };
    let kind = if packet.fragment.is_some() {
        FIRST_FRAGMENT
    } else {
        0_u8
    }
    .saturating_add(mode);
    let channel = packet.channel != layout.channel();
    let id = layout.id(packet.channel) != Some(packet.id);
    let dependency = layout.dependency(packet.channel, packet.mode, packet.id) != packet.dependency;

    let flag = |set: bool, bit: u8| if set { bit } else { 0 };
    let flags = flag(channel, CHANNEL) | flag(id, ID) | flag(dependency, DEPENDENCY);
    if packet.receipt {
        writer.u8(RECEIPT)?;
    }
    writer.u8((kind << 5) | flags | form)?;
    if channel {
        writer.u8(packet.channel)?;
    }
    if id {
        writer.uint(packet.id, layout.context().id_bytes)?;
    }
    if dependency {
        writer.varint(packet.dependency.into())?;
    }
    match form {
        IN_ONE_BYTE => writer.u8(u8::try_from(payload.len()).map_err(|_| NoRoom)?)?,
        IN_TWO_BYTES => writer.u16(u16::try_from(payload.len()).map_err(|_| NoRoom)?)?,
        _ => {}
    }
    if let Some(fragment) = packet.fragment {
        writer.varint(fragment.offset)?;
        writer.varint(fragment.len())?;
    }
    writer.bytes(payload)
}

/// Reads a message. `reader` ends before the tag.
pub(super) fn decode<'a>(reader: &mut Reader<'a>, layout: &Layout) -> Result<Next<'a>, Malformed> {
    let mut head = reader.u8()?;
    let receipt = head == RECEIPT;
    if receipt {
        head = reader.u8()?;
    }
    let mode = match head >> 5 {
        0 | 3 => Mode::Unreliable,
        1 | 4 => Mode::Reliable,
        2 | 5 => Mode::Passive,
        CONTROL if receipt => return Err(Malformed::BadValue),
        CONTROL if head == control::HEAD => {
            return Ok(match Control::decode(reader, layout.context())? {
                Decoded::Control(control) => Next::Message(Message::Control(control)),
                Decoded::Padding(length) => Next::Padding(length),
            });
        }
        CONTROL => return Err(Malformed::Reserved),
        _ => return Err(Malformed::UnknownType),
    };
    let mut packet = decode_packet(head, mode, reader, layout)?;
    packet.receipt = receipt;
    Ok(Next::Message(Message::Packet(packet)))
}

fn decode_packet<'a>(
    head: u8,
    mode: Mode,
    reader: &mut Reader<'a>,
    layout: &Layout,
) -> Result<Packet<&'a [u8]>, Malformed> {
    let channel = decode_channel(head, reader, layout)?;
    let id = decode_id(head, channel, reader, layout)?;
    let expected = layout.dependency(channel, mode, id);
    let dependency = decode_dependency(head, expected, reader, layout)?;
    let length = decode_length(head, reader, layout)?;
    let is_fragment = head >> 5 >= FIRST_FRAGMENT;
    let fragment = if is_fragment {
        Some(decode_fragment(reader)?)
    } else {
        None
    };
    let payload = match length {
        None => reader.rest(),
        Some(length) => {
            let payload = reader.bytes(length)?;
            // The last message needs no length.
            if reader.remaining() == 0 {
                return Err(Malformed::NotCanonical);
            }
            payload
        }
    };
    if let Some(fragment) = fragment {
        check_fragment(fragment, payload.len())?;
    }
    Ok(Packet {
        mode,
        channel,
        id,
        dependency,
        fragment,
        receipt: false,
        payload,
    })
}

fn decode_channel(head: u8, reader: &mut Reader<'_>, layout: &Layout) -> Result<u8, Malformed> {
    if head & CHANNEL == 0 {
        return Ok(layout.channel());
    }
    let channel = reader.u8()?;
    if channel == layout.channel() {
        Err(Malformed::NotCanonical)
    } else {
        Ok(channel)
    }
}

fn decode_id(
    head: u8,
    channel: u8,
    reader: &mut Reader<'_>,
    layout: &Layout,
) -> Result<u32, Malformed> {
    let predicted = layout.id(channel);
    if head & ID == 0 {
        return predicted.ok_or(Malformed::NotCanonical);
    }
    let id = reader.uint(layout.context().id_bytes)?;
    if predicted == Some(id) {
        Err(Malformed::NotCanonical)
    } else {
        Ok(id)
    }
}

fn decode_dependency(
    head: u8,
    expected: u16,
    reader: &mut Reader<'_>,
    layout: &Layout,
) -> Result<u16, Malformed> {
    if head & DEPENDENCY == 0 {
        return Ok(expected);
    }
    let dependency = reader.varint()?;
    if dependency == expected.into() {
        return Err(Malformed::NotCanonical);
    }
    if dependency >= layout.context().window {
        return Err(Malformed::BadValue);
    }
    // No window is larger than 2^16.
    u16::try_from(dependency).map_err(|_| Malformed::BadValue)
}

/// The length of the payload; `None`: all that is left.
fn decode_length(
    head: u8,
    reader: &mut Reader<'_>,
    layout: &Layout,
) -> Result<Option<usize>, Malformed> {
    let before = layout.payload();
    let (length, least) = match head & LENGTH {
        TO_THE_END => return Ok(None),
        AS_BEFORE => return before.map(Some).ok_or(Malformed::NotCanonical),
        IN_ONE_BYTE => (usize::from(reader.u8()?), 0),
        _ => (usize::from(reader.u16()?), 0x100),
    };
    if length < least || before == Some(length) {
        return Err(Malformed::NotCanonical);
    }
    Ok(Some(length))
}

fn decode_fragment(reader: &mut Reader<'_>) -> Result<Fragment, Malformed> {
    let offset = reader.varint()?;
    let len = reader.varint()?;
    Fragment::new(offset, len).ok_or(Malformed::BadValue)
}

/// Nothing is left of a packet but what more than one fragment has, each but the last of them long
/// enough that a receiver need not keep in mind many places for few bytes.
fn check_fragment(fragment: Fragment, length: usize) -> Result<(), Malformed> {
    let (offset, is_first) = (fragment.offset as usize, fragment.offset == 0);
    let left = (fragment.len() as usize).checked_sub(offset);
    let is_long = match left {
        Some(left) if left == length => length > 0 && !is_first,
        Some(left) => length >= LEAST_FRAGMENT && length < left,
        None => false,
    };
    if is_long && (is_first || offset >= LEAST_FRAGMENT) {
        Ok(())
    } else {
        Err(Malformed::BadValue)
    }
}
