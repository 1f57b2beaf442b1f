//! What the receive queue holds of a packet: its sentinel alone, some of its bytes, or all of them. Memory is
//! taken for what arrived, never for what a fragment announces (`docs/deviations.md` Q1, Q3).

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

use bytes::Bytes;

use super::cost;
use crate::buffers::Buffers;
use crate::frame::{Mode, Packet};

/// What is there of a packet.
#[derive(Debug)]
pub(crate) enum Content {
    /// Nothing but its sentinel, or nothing yet (§3.2.2).
    Sentinel,
    Partial(Box<Reassembly>),
    Complete(Bytes),
    /// A reliable or passive packet that was given up. It is consumed like a packet, and not delivered.
    Tombstone,
    /// A packet of an unordered channel that was delivered, and that m_b has not passed.
    Delivered,
    /// A tombstone of an unordered channel that was consumed, and that m_b has not passed.
    Buried,
}

/// An entry of the queue.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) mode: Mode,
    /// Distance to the reliable packet that must be delivered before, 0 for none (§3.2.3).
    pub(crate) dependency: u32,
    /// True once a sentinel has come for the packet.
    pub(crate) sentinel: bool,
    pub(crate) content: Content,
}

impl Entry {
    pub(crate) const fn new(mode: Mode, dependency: u32, content: Content) -> Self {
        Self {
            mode,
            dependency,
            sentinel: false,
            content,
        }
    }

    /// Bytes of the packet that are there.
    pub(crate) fn len(&self) -> usize {
        match &self.content {
            Content::Sentinel | Content::Tombstone | Content::Delivered | Content::Buried => 0,
            Content::Partial(parts) => parts.len(),
            Content::Complete(payload) => payload.len(),
        }
    }

    /// Bytes that the entry takes of the receive budget.
    pub(crate) fn cost(&self) -> u64 {
        match self.content {
            // Both hosts leave sentinels out of the count: of a channel there are at most N_Q / M (Q2). What
            // was delivered takes no memory beside its entry.
            Content::Sentinel | Content::Delivered | Content::Buried => 0,
            Content::Partial(_) | Content::Complete(_) | Content::Tombstone => cost(self.len()),
        }
    }

    /// Adds the bytes of a message that was checked.
    pub(crate) fn add(&mut self, packet: &Packet<&[u8]>, buffers: &mut Buffers) {
        let (offset, len) = packet.part();
        if matches!(self.content, Content::Sentinel) {
            self.content = match packet.fragment {
                None => Content::Complete(buffers.copy(packet.payload)),
                Some(_) => Content::Partial(Box::new(Reassembly::new(len))),
            };
        }
        let Content::Partial(parts) = &mut self.content else {
            return;
        };
        let Some(news) = parts.news(offset, packet.payload) else {
            return;
        };
        if parts.add(offset, packet.payload, news) {
            // Moved out of the box: the bytes of a packet that came in order are not copied.
            let parts = core::mem::replace(&mut **parts, Reassembly::new(0));
            self.content = Content::Complete(parts.finish());
        }
    }

    /// Whether there is nothing but its sentinel.
    pub(crate) const fn is_sentinel(&self) -> bool {
        self.sentinel && matches!(self.content, Content::Sentinel)
    }

    /// Whether it waits for nothing but its turn to be consumed.
    pub(crate) const fn is_complete(&self) -> bool {
        matches!(self.content, Content::Complete(_) | Content::Tombstone)
    }
}

/// Bytes of a packet that follow each other in the packet and in the order of their arrival.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// Where it begins and ends in the packet.
    start: u32,
    end: u32,
    /// Where it begins among the bytes that arrived.
    at: u32,
}

impl Piece {
    /// Where these of its bytes lie among those that arrived.
    const fn place(&self, start: u32, end: u32) -> Range<usize> {
        let at = (self.at + (start - self.start)) as usize;
        at..at + (end - start) as usize
    }
}

/// A packet may have one piece for this number of bytes that arrived, and [`FEW`] more. Fragments that do not
/// overlap never reach that, as none but the last is shorter than 256 bytes.
const BYTES_A_PIECE: usize = 128;
const FEW: usize = 8;

/// A packet of which some bytes have arrived.
#[derive(Debug)]
pub(crate) struct Reassembly {
    /// The packet's length in bytes.
    whole: u32,
    /// The pieces that have arrived, in the order of the packet: no two overlap.
    pieces: Vec<Piece>,
    /// The bytes, in the order in which they arrived.
    data: Vec<u8>,
}

impl Reassembly {
    pub(crate) const fn new(whole: u32) -> Self {
        Self {
            whole,
            pieces: Vec::new(),
            data: Vec::new(),
        }
    }

    /// The packet's length.
    pub(crate) const fn whole(&self) -> u32 {
        self.whole
    }

    /// Bytes that arrived.
    pub(crate) fn len(&self) -> usize {
        self.data.len()
    }

    /// The first piece that ends behind this byte.
    fn first(&self, byte: u32) -> usize {
        self.pieces.partition_point(|piece| piece.end <= byte)
    }

    /// The number of these bytes of the packet that are new. None if the others differ from what arrived
    /// before.
    pub(crate) fn news(&self, offset: u32, bytes: &[u8]) -> Option<usize> {
        // Nearly always: fragments come in the order of the packet.
        if self.pieces.last().is_none_or(|last| last.end <= offset) {
            return Some(bytes.len());
        }
        let end = end(offset, bytes);
        let mut new = bytes.len();
        let rest = self.pieces.get(self.first(offset)..)?;
        for piece in rest.iter().take_while(|piece| piece.start < end) {
            let (from, to) = (piece.start.max(offset), piece.end.min(end));
            let known = &self.data[piece.place(from, to)];
            // One of the two is forged, and a receiver cannot tell which (Q13).
            if known != part(offset, bytes, from, to) {
                return None;
            }
            new -= known.len();
        }
        Some(new)
    }

    /// Adds bytes of the packet, of which [`news`](Self::news) are new. Whether the packet is complete now.
    pub(crate) fn add(&mut self, offset: u32, bytes: &[u8], news: usize) -> bool {
        self.reserve(news);
        let end = end(offset, bytes);
        if let Some(last) = self.pieces.last_mut().filter(|last| last.end == offset) {
            // As in `append`, without a search for the place.
            if last.at as usize + (last.end - last.start) as usize == self.data.len() {
                last.end = end;
                self.data.extend_from_slice(bytes);
                return self.data.len() == self.whole as usize;
            }
        }
        let (mut from, mut index) = (offset, self.first(offset));
        while from < end {
            let next = self.pieces.get(index).map(|piece| (piece.start, piece.end));
            // What is known is left out, and each gap between known pieces becomes a piece.
            match next.filter(|&(start, _)| start <= from) {
                Some((_, known)) => {
                    from = known;
                    index += 1;
                }
                None => {
                    let to = next.map_or(end, |(start, _)| start.min(end));
                    index = self.append(index, from, part(offset, bytes, from, to));
                    from = to;
                }
            }
        }
        // Fragments that overlap others can be made to bring one byte each: pieces must not take more memory
        // than the bytes.
        if self.pieces.len() > self.data.len() / BYTES_A_PIECE + FEW {
            self.sort();
        }
        self.data.len() == self.whole as usize
    }

    /// Makes room for `more` bytes.
    fn reserve(&mut self, more: usize) {
        let needed = self.data.len() + more;
        if needed > self.data.capacity() {
            // At most twice what arrived, which bounds what a peer may cost, and never more than the packet:
            // its announced length alone must cost nothing (Q1).
            let room = (2 * self.data.len()).min(self.whole as usize);
            self.data.reserve_exact(room.max(needed) - self.data.len());
        }
    }

    /// Adds bytes that are new, before the piece with this index. Returns the index of the piece behind them.
    fn append(&mut self, index: usize, start: u32, bytes: &[u8]) -> usize {
        let at = last(self.data.len());
        self.data.extend_from_slice(bytes);
        let end = end(start, bytes);
        let before = index.checked_sub(1).and_then(|i| self.pieces.get_mut(i));
        let follows =
            |piece: &&mut Piece| piece.end == start && piece.at + (piece.end - piece.start) == at;
        // Fragments mostly come in the order of the packet: then there is one piece, however many they are.
        if let Some(before) = before.filter(follows) {
            before.end = end;
            return index;
        }
        self.pieces.insert(index, Piece { start, end, at });
        index + 1
    }

    /// Copies the bytes into the order of the packet: pieces that touch become one.
    fn sort(&mut self) {
        let mut sorted = Self {
            whole: self.whole,
            pieces: Vec::new(),
            data: Vec::with_capacity(self.data.len()),
        };
        for piece in &self.pieces {
            let bytes = &self.data[piece.place(piece.start, piece.end)];
            sorted.append(sorted.pieces.len(), piece.start, bytes);
        }
        *self = sorted;
    }

    /// The complete packet.
    pub(crate) fn finish(mut self) -> Bytes {
        // One piece is in order already, and copies nothing.
        if self.pieces.len() > 1 {
            self.sort();
        }
        Bytes::from(self.data)
    }
}

/// Of `bytes`, which begin at `offset` of the packet, those from `start` to `end`.
fn part(offset: u32, bytes: &[u8], start: u32, end: u32) -> &[u8] {
    &bytes[(start - offset) as usize..(end - offset) as usize]
}

/// Where bytes end that begin at `offset` of the packet. No packet is longer than 2^32 - 1 bytes.
fn end(offset: u32, bytes: &[u8]) -> u32 {
    offset.saturating_add(last(bytes.len()))
}

fn last(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use proptest::prelude::*;

    use super::*;

    /// As a receiver adds what has come.
    fn take(reassembly: &mut Reassembly, offset: usize, bytes: &[u8]) -> bool {
        let offset = u32::try_from(offset).unwrap();
        let news = reassembly.news(offset, bytes).unwrap();
        let before = reassembly.len();
        let complete = reassembly.add(offset, bytes, news);
        assert_eq!(reassembly.len(), before + news);
        complete
    }

    /// `docs/deviations.md` Q1.
    #[test]
    fn memory_is_at_most_twice_what_arrived_and_never_more_than_the_packet() {
        let mut reassembly = Reassembly::new(993);
        for index in (0..100).rev() {
            let len = if index == 99 { 3 } else { 10 };
            take(&mut reassembly, 10 * index, &[7; 10][..len]);
            let (room, arrived) = (reassembly.data.capacity(), reassembly.len());
            assert!(room <= (2 * arrived).min(993), "{index}: {room}");
        }
    }

    #[test]
    fn memory_does_not_grow_with_every_fragment() {
        let mut reassembly = Reassembly::new(10_000);
        let mut rooms = 0;
        for index in 0..1000 {
            let before = reassembly.data.capacity();
            take(&mut reassembly, 10 * index, &[7; 10]);
            rooms += u32::from(reassembly.data.capacity() != before);
            assert_eq!(reassembly.pieces.len(), 1);
        }
        assert!(rooms <= 11, "{rooms}");
    }

    /// Two regions by turns, a byte at a time: no two bytes that touch come one after the other.
    /// Q1.
    #[test]
    fn what_is_known_of_the_bytes_does_not_outgrow_them() {
        const FAR: usize = 100_000;
        let packet = vec![7; 2 * FAR];
        let mut reassembly = Reassembly::new(u32::try_from(2 * FAR).unwrap());
        for byte in 0..20_000 {
            for offset in [byte, FAR + byte] {
                take(&mut reassembly, offset, &packet[offset..offset + 256]);
                let most = reassembly.len() / BYTES_A_PIECE + FEW;
                assert!(reassembly.pieces.len() <= most, "{byte}");
            }
        }
        assert_eq!(reassembly.len(), 2 * (19_999 + 256));
    }

    /// Q13.
    #[test]
    fn what_overlaps_has_to_agree() {
        let packet: [u8; 30] = core::array::from_fn(|n| u8::try_from(n).unwrap());
        let mut reassembly = Reassembly::new(30);
        assert!(!take(&mut reassembly, 20, &packet[20..25]));
        assert!(!take(&mut reassembly, 5, &packet[5..15]));
        for byte in 0..30 {
            let mut other = packet;
            other[byte] ^= 1;
            let known = (5..15).contains(&byte) || (20..25).contains(&byte);
            let expected = (!known).then_some(15);
            assert_eq!(reassembly.news(0, &other), expected, "{byte}");
        }
        assert_eq!(reassembly.news(7, &packet[7..15]), Some(0));
        assert!(take(&mut reassembly, 0, &packet));
        assert_eq!(reassembly.finish(), packet[..]);
    }

    proptest! {
        /// Cut anywhere, more than once, and in any order. Q3.
        #[test]
        fn any_order_of_fragments_gives_the_packet(
            (packet, parts) in proptest::collection::vec(any::<u8>(), 1..500).prop_flat_map(|p| {
                let len = p.len();
                let part = (0..len, 1..=40_usize)
                    .prop_map(move |(start, size)| (start, (start + size).min(len)));
                let tiles = (0..len.div_ceil(10)).map(move |i| (10 * i, (10 * i + 10).min(len)));
                let tiles: Vec<_> = tiles.collect();
                let more = proptest::collection::vec(part, 0..20);
                let all = more.prop_map(move |more| [tiles.clone(), more].concat());
                (Just(p), all.prop_shuffle())
            })
        ) {
            let mut reassembly = Reassembly::new(u32::try_from(packet.len()).unwrap());
            let mut come = vec![false; packet.len()];
            for (start, end) in parts {
                let complete = take(&mut reassembly, start, &packet[start..end]);
                come[start..end].fill(true);
                prop_assert_eq!(complete, come.iter().all(|&byte| byte));
                let count = come.iter().filter(|&&byte| byte).count();
                prop_assert_eq!(reassembly.len(), count);
            }
            prop_assert_eq!(reassembly.finish(), packet);
        }
    }
}
