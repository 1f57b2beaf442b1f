//! How blocks are cut into pieces, and what the head of a piece says.

use alloc::vec::Vec;
use core::ops::Range;

use super::id;
use crate::error::Error;
use crate::serialize::Serialize;
use crate::stream::{MeasureStream, ReadStream, Stream, WriteStream};

/// What both ends have agreed on for the blocks of a channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// The length of the largest block, in bytes.
    pub(super) max_block: u32,
    /// The length of every piece but the last, in bytes.
    pub(super) fragment: u16,
}

impl Shape {
    /// The number of pieces of a block of this length in bytes: at least one, which carries its
    /// message.
    pub(super) fn pieces(&self, length: usize) -> usize {
        length.div_ceil(self.fragment.into()).max(1)
    }

    /// The bytes of the block that a piece has.
    pub(super) fn range(&self, length: usize, index: usize) -> Range<usize> {
        let start = index * usize::from(self.fragment);
        start..length.min(start + usize::from(self.fragment))
    }

    /// The bits that a piece takes in a packet, without the message; `previous` is the block of the
    /// piece before it.
    pub(super) fn bits(
        &self,
        (block, previous): (u32, Option<u32>),
        length: usize,
        index: usize,
    ) -> u64 {
        let mut stream = MeasureStream::new();
        let mut head = Head::new(block, length, index);
        // Measuring a head of a block that was checked cannot fail.
        let _ = head.serialize(&mut stream, previous, self);
        1 + stream.measured() + 8 * self.range(length, index).len() as u64
    }
}

/// A number of bytes or of pieces: a block has at most 16 MiB.
pub(super) fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Which piece of which block, at the front of the piece.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) block: u32,
    /// The length of the whole block, in bytes.
    pub(super) length: u32,
    pub(super) index: u32,
}

impl Head {
    pub(super) fn new(block: u32, length: usize, index: usize) -> Self {
        Self {
            block,
            length: narrow(length),
            index: narrow(index),
        }
    }

    /// `previous`: the block of the piece before it in the packet.
    fn serialize<S: Stream>(
        &mut self,
        stream: &mut S,
        previous: Option<u32>,
        shape: &Shape,
    ) -> Result<(), Error> {
        id::serialize_near(stream, &mut self.block, previous)?;
        stream.ranged(&mut self.length, 0..=shape.max_block)?;
        let pieces = shape.pieces(self.length as usize);
        stream.kind(&mut self.index, narrow(pieces))
    }

    fn range(&self, shape: &Shape) -> Range<usize> {
        shape.range(self.length as usize, self.index as usize)
    }

    /// The first piece of a block carries the message that belongs to it.
    pub(super) fn write<M: Serialize>(
        &mut self,
        stream: &mut WriteStream<'_>,
        (previous, shape): (Option<u32>, &Shape),
        message: &mut M,
        data: &[u8],
    ) -> Result<(), Error> {
        self.serialize(stream, previous, shape)?;
        if self.index == 0 {
            message.serialize(stream)?;
        }
        stream.write_bytes(data.get(self.range(shape)).unwrap_or_default())
    }
}

/// A piece that has come.
#[derive(Debug)]
pub(super) struct Fragment<M> {
    pub(super) head: Head,
    /// The message that belongs to the block, in its first piece.
    pub(super) message: Option<M>,
    pub(super) data: Vec<u8>,
}

impl<M: Serialize> Fragment<M> {
    pub(super) fn read(
        stream: &mut ReadStream<'_>,
        previous: Option<u32>,
        shape: &Shape,
    ) -> Result<Self, Error> {
        let mut head = Head::default();
        head.serialize(stream, previous, shape)?;
        let mut message = (head.index == 0).then(M::blank);
        if let Some(message) = &mut message {
            message.serialize(stream)?;
        }
        let (mut data, bytes) = (Vec::new(), head.range(shape).len());
        stream.byte_vec(&mut data, bytes..=bytes)?;
        Ok(Self {
            head,
            message,
            data,
        })
    }
}
