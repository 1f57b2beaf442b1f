//! Short forms: the datagrams of an established connection (§3.1).

use arrayvec::ArrayVec;

use crate::wire::{NoRoom, Reader, Writer};

use super::ack::AckBlock;
use super::control;
use super::integrity::TAG;
use super::layout::{Context, Layout};
use super::message_codec::{self, Next};
use super::{ConnectionId, MAX_MESSAGES, Malformed, Message};

/// The bits of byte 0 that tell short forms and long ones apart, in all versions.
pub(crate) const FORM: u8 = 0xC0;
/// Byte 0 of every short form: 01 in the two upper bits, as in QUIC's short header.
pub(crate) const SHORT: u8 = 0x40;

/// The place in byte 0 of the width of the frame id less one.
const WIDTH_SHIFT: u32 = 4;
/// The phase of the keys, in sealed datagrams; always 0 in others.
pub(crate) const KEY_PHASE: u8 = 1 << 3;
const ACK: u8 = 1 << 2;
const NONCE: u8 = 1 << 1;
const ACK_NOW: u8 = 1;

/// The head of a short form, read before the connection is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Short<'a> {
    pub(crate) connection_id: ConnectionId,
    /// The bytes of the frame id that are sent, 1 to 4.
    pub(crate) id_width: u8,
    /// The low bytes of the frame id.
    pub(crate) id_low: u32,
    /// The nonce bit of the frame: an acknowledgement has to tell the sum of these bits.
    pub(crate) nonce: bool,
    /// True if the sender wants an acknowledgement without delay.
    pub(crate) ack_now: bool,
    pub(crate) has_ack: bool,
    /// All of the short form, from byte 0 on, with its check.
    pub(crate) bytes: &'a [u8],
    /// The place in `bytes` where the head ends.
    pub(crate) body: usize,
}

/// What a short form holds besides its messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Body {
    pub(crate) ack: Option<AckBlock>,
    /// The number of bytes of padding at the end, 0 or at least 2.
    pub(crate) padding: usize,
}

/// A sealed short form, cut up.
#[cfg(feature = "seal")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SealedBody<'a> {
    /// The head: sent in the open, and covered by the tag.
    pub(crate) aad: &'a [u8],
    pub(crate) body: &'a [u8],
    pub(crate) tag: &'a [u8; super::SEAL_TAG],
}

impl<'a> Short<'a> {
    /// Reads the head of a short form, which is all of `bytes`. The caller has looked at the first two bits.
    pub(super) fn decode(bytes: &'a [u8], connection_id_len: usize) -> Result<Self, Malformed> {
        // Plain connections have no phases.
        if bytes.first().is_some_and(|head| head & KEY_PHASE != 0) {
            return Err(Malformed::Reserved);
        }
        Self::decode_any_phase(bytes, connection_id_len)
    }

    /// The same, for a short form that may be sealed: its phase bit may be set.
    #[inline]
    pub(crate) fn decode_any_phase(
        bytes: &'a [u8],
        connection_id_len: usize,
    ) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes);
        let head = reader.u8()?;
        // Any width is taken: the receiver cannot know which is the least that would do.
        let id_width = ((head >> WIDTH_SHIFT) & 0b11).saturating_add(1);
        let connection_id = ConnectionId::new(reader.bytes(connection_id_len)?);
        Ok(Self {
            connection_id: connection_id.ok_or(Malformed::BadValue)?,
            id_width,
            id_low: reader.uint(id_width)?,
            nonce: head & NONCE != 0,
            ack_now: head & ACK_NOW != 0,
            has_ack: head & ACK != 0,
            bytes,
            body: reader.position(),
        })
    }

    /// K: the phase bit of a sealed form.
    #[cfg(feature = "seal")]
    pub(crate) fn phase(&self) -> bool {
        self.bytes.first().is_some_and(|head| head & KEY_PHASE != 0)
    }

    /// The parts of a sealed form. Everything behind the head is sealed, also the acknowledgement.
    #[cfg(feature = "seal")]
    pub(crate) fn sealed(&self) -> Result<SealedBody<'a>, Malformed> {
        let (aad, sealed) = self
            .bytes
            .split_at_checked(self.body)
            .ok_or(Malformed::Truncated)?;
        let (body, tag) = sealed.split_last_chunk().ok_or(Malformed::Truncated)?;
        Ok(SealedBody { aad, body, tag })
    }

    /// The low bytes of the newest id that is acknowledged, and their number; `None` without an
    /// acknowledgement.
    pub(crate) fn newest_acked(&self) -> Result<Option<(u32, u8)>, Malformed> {
        if !self.has_ack {
            return Ok(None);
        }
        // Before the check is verified: the full id is a part of what it covers.
        let end = self.bytes.len().saturating_sub(TAG);
        let block = self.bytes.get(self.body..end);
        let block = block.ok_or(Malformed::Truncated)?;
        AckBlock::decode_largest(&mut Reader::new(block)).map(|(_, low, width)| Some((low, width)))
    }

    /// Reads the rest of the form into `messages`, which mean something only if all of them are well-formed.
    /// The list is the caller's because it is large.
    #[inline]
    pub(crate) fn decode_body(
        &self,
        context: Context,
        messages: &mut ArrayVec<Message<&'a [u8]>, MAX_MESSAGES>,
    ) -> Result<Body, Malformed> {
        messages.clear();
        let end = self
            .bytes
            .len()
            .checked_sub(context.tag)
            .ok_or(Malformed::Truncated)?;
        let body = self.bytes.get(self.body..end).ok_or(Malformed::Truncated)?;
        let mut reader = Reader::new(body);
        let ack = if self.has_ack {
            Some(AckBlock::decode(&mut reader)?)
        } else {
            None
        };
        let padding = decode_messages(&mut reader, context, messages)?;
        // A datagram without messages is never acknowledged.
        if self.ack_now && messages.is_empty() {
            return Err(Malformed::NotCanonical);
        }
        Ok(Body { ack, padding })
    }
}

/// Reads messages to the end. Returns the length of the padding that ends them, 0 if there is none.
// Not inlined: a layout is large, and would stay on the stack of a microcontroller while the messages are
// taken in.
#[inline(never)]
fn decode_messages<'a>(
    reader: &mut Reader<'a>,
    context: Context,
    messages: &mut ArrayVec<Message<&'a [u8]>, MAX_MESSAGES>,
) -> Result<usize, Malformed> {
    let mut layout = Layout::new(context);
    while reader.remaining() > 0 {
        match message_codec::decode(reader, &layout)? {
            Next::Padding(length) => return Ok(length),
            Next::Message(message) => {
                // Each message is predicted from those before it.
                layout.push(&message);
                messages
                    .try_push(message)
                    .map_err(|_| Malformed::TooManyMessages)?;
            }
        }
    }
    Ok(0)
}

/// The head of a short form that is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) connection_id: ConnectionId,
    /// The frame id, of which the lowest `id_width` bytes are sent, 1 to 4.
    pub(crate) id: u64,
    pub(crate) id_width: u8,
    pub(crate) nonce: bool,
    /// True if an acknowledgement is wanted without delay: only in a frame with a message.
    pub(crate) ack_now: bool,
}

impl Header {
    /// The length in bytes of a short form with this head and block, and no messages.
    pub(crate) fn length(&self, ack: Option<&AckBlock>) -> usize {
        1_usize
            .saturating_add(self.connection_id.len())
            .saturating_add(usize::from(self.id_width))
            .saturating_add(ack.map_or(0, AckBlock::length))
    }
}

/// Writes a short form, message by message. The check is appended later.
#[derive(Debug)]
pub(crate) struct FrameWriter<'b> {
    writer: Writer<'b>,
    /// The caller's, because it is large.
    layout: &'b mut Layout,
    messages: usize,
    /// True once nothing can follow: padding was written, or a message without a length.
    is_closed: bool,
    ack_now: bool,
}

impl<'b> FrameWriter<'b> {
    /// Begins a frame in `buffer`, whose length is the most that the frame may have without its check.
    /// `layout`: of a frame without messages.
    #[inline]
    pub(crate) fn new(
        buffer: &'b mut [u8],
        header: &Header,
        ack: Option<&AckBlock>,
        layout: &'b mut Layout,
    ) -> Result<Self, NoRoom> {
        debug_assert!((1..=4).contains(&header.id_width));
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        let width = header.id_width.saturating_sub(1) << WIDTH_SHIFT;
        let flags = flag(ack.is_some(), ACK) | flag(header.nonce, NONCE);
        let mut writer = Writer::new(buffer);
        writer.u8(SHORT | width | flags | flag(header.ack_now, ACK_NOW))?;
        writer.bytes(header.connection_id.as_bytes())?;
        let id = header.id.to_le_bytes();
        writer.bytes(id.get(..usize::from(header.id_width)).ok_or(NoRoom)?)?;
        if let Some(ack) = ack {
            ack.encode(&mut writer)?;
        }
        Ok(Self {
            writer,
            layout,
            messages: 0,
            is_closed: false,
            ack_now: header.ack_now,
        })
    }

    /// Appends a message. `last`: true if nothing follows, not even padding. After an error the frame must be
    /// thrown away; [`Layout::length`] tells beforehand what fits.
    pub(crate) fn message<P: AsRef<[u8]>>(
        &mut self,
        message: &Message<P>,
        last: bool,
    ) -> Result<(), NoRoom> {
        debug_assert!(!self.is_closed, "a message after the last one");
        // A plan that lets this happen has a fault; the receiver would refuse the datagram.
        if self.is_closed || self.messages >= MAX_MESSAGES {
            return Err(NoRoom);
        }
        message_codec::encode(message, last, self.layout, &mut self.writer)?;
        self.layout.push(message);
        self.messages = self.messages.saturating_add(1);
        self.is_closed = last;
        Ok(())
    }

    /// Appends `length` bytes of padding, at least 2. Nothing may follow.
    pub(crate) fn padding(&mut self, length: usize) -> Result<(), NoRoom> {
        debug_assert!(!self.is_closed, "padding after the last message");
        if self.is_closed {
            return Err(NoRoom);
        }
        control::encode_padding(&mut self.writer, length)?;
        self.is_closed = true;
        Ok(())
    }

    /// Bytes that are left in the buffer.
    #[cfg(test)]
    pub(crate) const fn room(&self) -> usize {
        self.writer.remaining()
    }

    /// The predictions for the next message.
    #[cfg(test)]
    pub(crate) const fn layout(&self) -> &Layout {
        self.layout
    }

    /// The length of the frame in bytes, without its check.
    pub(crate) fn finish(self) -> usize {
        debug_assert!(!self.ack_now || self.messages > 0, "nothing to acknowledge");
        self.writer.position()
    }
}
