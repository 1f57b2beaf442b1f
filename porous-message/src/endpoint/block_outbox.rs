//! Blocks, the sending half: each is cut into pieces, of which many are on their way at once.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use bytes::Bytes;
use porous_proto::Instant;

use super::fragment::{Head, Shape, narrow};
use super::hunger::Hunger;
use super::record::{Doubt, Fate, Turn};
use super::space::Space;
use crate::error::Error;
use crate::serialize::Serialize;
use crate::shrink::shrink;
use crate::stream::{Stream, WriteStream};

/// A block on its way.
#[derive(Debug)]
struct Outgoing<M> {
    message: M,
    /// The length of the block's message in bits; the first piece carries it.
    bits: u64,
    data: Bytes,
    pieces: Vec<Fate>,
}

/// The blocks of a channel that are not confirmed, by id.
#[derive(Debug)]
pub(super) struct BlockOutbox<M> {
    blocks: VecDeque<Outgoing<M>>,
    /// The id of the first of `blocks`.
    oldest: u32,
    shape: Shape,
    queue: u16,
    window: u16,
    doubt: Doubt,
    hunger: Hunger<(u32, u32)>,
    /// The first piece that found no room in the packet that is being made.
    passed_over: Option<(u32, u32)>,
    /// Where choosing goes on: the id of a block, and the index of one of its pieces.
    turn: (u32, usize),
    /// The pieces in the packet that is being made: block and index.
    chosen: Vec<(u32, u32)>,
}

impl<M: Serialize> BlockOutbox<M> {
    pub(super) fn new(shape: Shape, queue: u16, window: u16) -> Self {
        Self {
            blocks: VecDeque::new(),
            oldest: 0,
            shape,
            queue,
            window,
            doubt: Doubt::default(),
            hunger: Hunger::new(),
            passed_over: None,
            turn: (0, 0),
            chosen: Vec::new(),
        }
    }

    /// The number of blocks that are not confirmed.
    pub(super) fn len(&self) -> usize {
        self.blocks.len()
    }

    pub(super) fn is_full(&self) -> bool {
        self.blocks.len() >= self.queue.into()
    }

    pub(super) fn send(&mut self, message: M, bits: u64, data: Bytes) {
        let pieces = self.shape.pieces(data.len());
        self.blocks.push_back(Outgoing {
            message,
            bits,
            data,
            pieces: vec![Fate::default(); pieces],
        });
    }

    /// Chooses pieces that were not sent within the resend time, as many as fit.
    pub(super) fn choose(&mut self, turn: &Turn, space: &mut Space) {
        self.chosen = Vec::new();
        self.doubt_oldest(turn);
        if let Some((id, index)) = self.hunger.starving(turn.now) {
            self.turn = (id, index as usize);
        }
        self.passed_over = None;
        self.choose_in_turn(turn, space);
        let is_due = |(id, index): (u32, u32)| {
            let block = self.blocks.get(self.position(id));
            let piece = block.and_then(|block| block.pieces.get(index as usize));
            let is_due = piece.is_some_and(|piece| piece.is_due(turn));
            is_due && !self.chosen.contains(&(id, index))
        };
        self.hunger = self.hunger.after(self.passed_over, is_due, turn.now);
    }

    /// True if a piece has found no room for 250 ms.
    pub(super) fn is_starving(&self, now: Instant) -> bool {
        self.hunger.starving(now).is_some()
    }

    /// Chooses from where the last packet ended.
    fn choose_in_turn(&mut self, turn: &Turn, space: &mut Space) {
        // All pieces on their way take turns: if acknowledgements take longer than the resend time, the
        // first ones would go again and again before the last ones go once.
        let on_their_way = self.blocks.len().min(self.window.into());
        let (first, index) = match self.position(self.turn.0) {
            position if position < on_their_way => (position, self.turn.1),
            _ => (0, 0),
        };
        let all = |position: usize| (position, 0, usize::MAX);
        let turns = core::iter::once((first, index, usize::MAX))
            .chain((first + 1..on_their_way).map(all))
            .chain((0..first).map(all))
            .chain([(first, 0, index)]);
        for (position, start, end) in turns {
            if !self.choose_of(position, start..end, turn, space) {
                return;
            }
        }
    }

    /// Chooses pieces of one block. True if there may be room for pieces of other blocks.
    fn choose_of(
        &mut self,
        position: usize,
        range: Range<usize>,
        turn: &Turn,
        space: &mut Space,
    ) -> bool {
        let Some(block) = self.blocks.get(position) else {
            return true;
        };
        let id = self.oldest.wrapping_add(narrow(position));
        for index in range.start..range.end.min(block.pieces.len()) {
            if !block.pieces[index].is_due(turn) {
                continue;
            }
            let message = if index == 0 { block.bits } else { 0 };
            let previous = self.chosen.last().map(|&(block, _)| block);
            let bits = self.shape.bits((id, previous), block.data.len(), index);
            if space.take(bits + message) {
                self.chosen.push((id, narrow(index)));
                self.turn = (id, index + 1);
                continue;
            }
            let piece = (id, narrow(index));
            self.passed_over = self.passed_over.or(Some(piece));
            // The first piece carries the block's message, too: a piece without one may still fit. All others
            // are as large as this one.
            if index > 0 {
                return false;
            }
        }
        true
    }

    /// Sends the oldest block again if it was acknowledged long ago and is still not confirmed.
    fn doubt_oldest(&mut self, turn: &Turn) {
        match self.blocks.front_mut() {
            Some(block) if block.pieces.iter().all(|piece| piece.acked) => {
                if self.doubt.strikes(turn.now) {
                    block.pieces.iter_mut().for_each(Fate::doubt);
                }
            }
            _ => self.doubt.pause(),
        }
    }

    fn position(&self, id: u32) -> usize {
        id.wrapping_sub(self.oldest) as usize
    }

    fn piece(&mut self, id: u32, index: u32) -> Option<&mut Fate> {
        let position = self.position(id);
        self.blocks
            .get_mut(position)?
            .pieces
            .get_mut(index as usize)
    }

    /// Writes the chosen pieces, and a bit that says that no other follows.
    pub(super) fn write(&mut self, stream: &mut WriteStream<'_>) -> Result<(), Error> {
        let mut previous = None;
        for &(id, index) in &self.chosen {
            let position = self.position(id);
            let Some(block) = self.blocks.get_mut(position) else {
                continue;
            };
            stream.bool(&mut true)?;
            let mut head = Head::new(id, block.data.len(), index as usize);
            let shape = (previous, &self.shape);
            head.write(stream, shape, &mut block.message, &block.data)?;
            previous = Some(id);
        }
        stream.bool(&mut false)
    }

    /// The chosen pieces are in this packet: calls `on_piece` with each. Returns how many of them were
    /// in an earlier packet.
    pub(super) fn sent(&mut self, turn: &Turn, mut on_piece: impl FnMut(u32, u32)) -> u64 {
        let mut again = 0;
        for (id, index) in core::mem::take(&mut self.chosen) {
            if let Some(piece) = self.piece(id, index) {
                again += u64::from(piece.sent(turn));
            }
            on_piece(id, index);
        }
        again
    }

    /// The piece has arrived, and is not sent again.
    pub(super) fn acked(&mut self, id: u32, index: u32) {
        if let Some(piece) = self.piece(id, index) {
            piece.acked();
        }
    }

    /// The piece is in a packet that has not left.
    pub(super) fn waits(&mut self, id: u32, index: u32, packet: u16, now: Instant) {
        if let Some(piece) = self.piece(id, index) {
            piece.waits(packet, now);
        }
    }

    /// The piece was in a packet that is lost.
    pub(super) fn lost(&mut self, id: u32, index: u32, packet: u16) {
        if let Some(piece) = self.piece(id, index) {
            piece.lost(packet);
        }
    }

    /// The acknowledgement of a packet was taken back.
    pub(super) fn taken_back(&mut self, packet: u16) {
        for block in &mut self.blocks {
            for piece in &mut block.pieces {
                piece.taken_back(packet);
            }
        }
    }

    /// The receiver has all blocks before `next`. An id that was never sent, or is older than the
    /// newest known, changes nothing.
    pub(super) fn confirm(&mut self, next: u32) {
        let count = self.position(next);
        if count == 0 || count > self.blocks.len() {
            return;
        }
        self.blocks.drain(..count);
        shrink(&mut self.blocks);
        self.oldest = next;
        self.doubt.clear();
    }
}
