//! The one encoding of a message. A field is present exactly where the prediction fails, and the
//! decoder insists on that, so that what it accepts encodes to the same bytes again.

use crate::wire::{NoRoom, Reader, Writer};

use super::control::{self, Decoded};
use super::layout::Layout;
use super::{Control, Fragment, LEAST_FRAGMENT, Malformed, Message, Mode, Packet};

/// Set if the channel is not that of the packet before.
const CHANNEL: u8 = 1 << 4;
/// Set if the id is not one more than that of the packet before on this channel.
const ID: u8 = 1 << 3;
/// Set if the dependency is not the predicted one.
const DEPENDENCY: u8 = 1 << 2;

/// The lowest two bits: how the length of the payload is told.
const TO_THE_END: u8 = 0b00;
const AS_BEFORE: u8 = 0b01;
const IN_ONE_BYTE: u8 = 0b10;
const IN_TWO_BYTES: u8 = 0b11;
const LENGTH: u8 = 0b11;

/// Values of the upper three bits: 0 to 2 are the modes of whole packets, 3 to 5 those of fragments.
const FIRST_FRAGMENT: u8 = 3;
const CONTROL: u8 = 6;

/// A byte before a packet whose sender wants to be told what becomes of it.
const RECEIPT: u8 = 7 << 5;

/// The next message of a frame.
pub(super) enum Next<'a> {
    Message(Message<&'a [u8]>),
    /// No message: the rest of the datagram is padding of this length.
    Padding(usize),
}

/// Writes a message. `last`: true if nothing follows before the end or the check of the datagram.
#[inline]
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

/// The form in which the length of a payload is told, which is the shortest that is possible.
const fn length_form(payload: usize, last: bool, layout: &Layout) -> u8 {
    match layout.payload() {
        // Also where the length is that of the payload before: the last message has no other form.
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
    // A field is written exactly where the receiver could not predict it: so there is one spelling.
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

/// Reads a message. `reader` ends before the check of the datagram.
#[inline]
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
        // Only packets have receipts.
        CONTROL if receipt => return Err(Malformed::BadValue),
        CONTROL if head == control::HEAD => {
            return Ok(match Control::decode(reader, layout.context())? {
                Decoded::Control(control) => Next::Message(Message::Control(control)),
                Decoded::Padding(length) => Next::Padding(length),
            });
        }
        // The flags of control messages are kept for extensions.
        CONTROL => return Err(Malformed::Reserved),
        _ => return Err(Malformed::UnknownType),
    };
    let mut packet = decode_packet(head, mode, reader, layout)?;
    packet.receipt = receipt;
    Ok(Next::Message(Message::Packet(packet)))
}

#[inline]
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
    // The payload stands after the fields of a fragment, although its length comes before them.
    let payload = match length {
        None => reader.rest(),
        Some(length) => {
            let payload = reader.bytes(length)?;
            // The last message must be told without a length.
            if reader.remaining() == 0 {
                return Err(Malformed::NotCanonical);
            }
            payload
        }
    };
    if let Some(fragment) = fragment {
        // Only now is the length of a last message known.
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
    // It was predicted: the sender had to leave it out.
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
        // The first packet of a channel in a datagram must bring its id.
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
        // Each form only for lengths that no shorter form can tell.
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

/// Checks that a fragment is a part of its packet, not all of it, and long enough: a receiver must not have
/// to keep many places for few bytes.
fn check_fragment(fragment: Fragment, length: usize) -> Result<(), Malformed> {
    let (offset, is_first) = (fragment.offset as usize, fragment.offset == 0);
    let left = (fragment.len() as usize).checked_sub(offset);
    let is_long = match left {
        // The end of a packet may be short; if it were the beginning as well, it would be the whole packet.
        Some(left) if left == length => length > 0 && !is_first,
        Some(left) => length >= LEAST_FRAGMENT && length < left,
        None => false,
    };
    // Any but the first begins behind another one, which is no shorter than this.
    if is_long && (is_first || offset >= LEAST_FRAGMENT) {
        Ok(())
    } else {
        Err(Malformed::BadValue)
    }
}
