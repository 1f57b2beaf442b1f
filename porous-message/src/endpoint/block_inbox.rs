//! Blocks, the receiving half: pieces are kept until all are there. A block is received when it is
//! whole, whatever became of the blocks before it.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use bytes::Bytes;

use super::echo::Echo;
use super::fragment::{Fragment, Head, Shape};
use super::id;
use crate::error::Error;
use crate::shrink::shrink;

/// A block on its way, or one of which no piece has come yet.
#[derive(Debug)]
struct Incoming<M> {
    /// The length of the whole block in bytes, once a piece has come.
    length: Option<u32>,
    message: Option<M>,
    /// The pieces that have come, by index: memory follows what has come.
    pieces: BTreeMap<u32, Vec<u8>>,
    /// True once the application has received the block.
    is_received: bool,
}

impl<M> Incoming<M> {
    const fn new() -> Self {
        Self {
            length: None,
            message: None,
            pieces: BTreeMap::new(),
            is_received: false,
        }
    }

    fn is_whole(&self, shape: &Shape) -> bool {
        let whole = |length| self.pieces.len() == shape.pieces(length as usize);
        self.length.is_some_and(whole)
    }
}

/// The blocks of a channel that are coming, by id.
#[derive(Debug)]
pub(super) struct BlockInbox<M> {
    /// Up to the last block of which a piece has come.
    blocks: VecDeque<Incoming<M>>,
    /// The id of the first of `blocks`: all blocks before it were received.
    next: u32,
    shape: Shape,
    window: u16,
    pub(super) echo: Echo,
}

impl<M> BlockInbox<M> {
    pub(super) fn new(shape: Shape, window: u16) -> Self {
        Self {
            blocks: VecDeque::new(),
            next: 0,
            shape,
            window,
            echo: Echo::default(),
        }
    }

    pub(super) const fn next(&self) -> u32 {
        self.next
    }

    /// Checks that a piece can be kept, or belongs to a block that came before.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`] if the piece's block is ahead of the window, or the piece states another
    /// length of the block than the pieces before.
    pub(super) fn check(&self, head: &Head) -> Result<(), Error> {
        id::check(head.block, self.next, self.window)?;
        let block = self.blocks.get(self.position(head.block));
        let length = block.and_then(|block| block.length);
        match length.is_none_or(|length| length == head.length) {
            true => Ok(()),
            false => Err(Error::OutOfRange),
        }
    }

    fn position(&self, id: u32) -> usize {
        id.wrapping_sub(self.next) as usize
    }

    /// Keeps a piece that was checked. True if the piece is new.
    pub(super) fn insert(&mut self, fragment: Fragment<M>) -> bool {
        let position = self.position(fragment.head.block);
        if position >= self.window.into() {
            self.echo.repeat();
            return false;
        }
        while self.blocks.len() <= position {
            self.blocks.push_back(Incoming::new());
        }
        let block = &mut self.blocks[position];
        let index = fragment.head.index;
        // The pieces of one packet were checked one by one, and may state different lengths.
        let is_alien = block
            .length
            .is_some_and(|length| length != fragment.head.length);
        if block.is_received || is_alien || block.pieces.contains_key(&index) {
            self.echo.repeat();
            return false;
        }
        block.length = Some(fragment.head.length);
        block.pieces.insert(index, fragment.data);
        if fragment.message.is_some() {
            block.message = fragment.message;
        }
        true
    }

    /// Takes the first block that is whole.
    pub(super) fn receive(&mut self) -> Option<(M, Bytes)> {
        let shape = self.shape;
        let mut whole = self
            .blocks
            .iter_mut()
            .filter(|block| block.is_whole(&shape));
        let block = whole.next()?;
        let message = block.message.take()?;
        let pieces = core::mem::take(&mut block.pieces);
        let data = pieces.into_values().collect::<Vec<_>>().concat();
        block.is_received = true;
        // Blocks may be received out of order: the window moves past those at its front.
        while self.blocks.front().is_some_and(|block| block.is_received) {
            self.blocks.pop_front();
            self.next = self.next.wrapping_add(1);
        }
        shrink(&mut self.blocks);
        Some((message, data.into()))
    }
}
