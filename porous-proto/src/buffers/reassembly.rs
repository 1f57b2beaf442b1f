//! A packet that is put together of fragments. Memory is taken for what arrived, never for what a fragment
//! announces (`docs/deviations.md` Q1, Q3), but for memory that the host has free.

use alloc::vec::Vec;
use core::ops::Range;

use bytes::{Bytes, BytesMut};

use super::Buffers;

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
#[derive(Debug, Default)]
pub(crate) struct Reassembly {
    /// The packet's length in bytes.
    whole: u32,
    /// The pieces that have arrived, in the order of the packet: no two overlap.
    pieces: Vec<Piece>,
    /// The bytes, in the order in which they arrived.
    data: BytesMut,
    /// True if `data` has room for the whole packet, in memory of the host.
    is_lent: bool,
}

impl Reassembly {
    /// Begins with a packet of `whole` bytes. `lent` has no bytes, and room for all of them.
    pub(super) fn begin(&mut self, whole: u32, lent: Option<BytesMut>) {
        self.whole = whole;
        self.is_lent = lent.is_some();
        self.data = lent.unwrap_or_default();
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

    /// Whether no byte from here on has arrived: nearly always, as fragments come in the order of the packet.
    fn ends_before(&self, offset: u32) -> bool {
        self.pieces.last().is_none_or(|last| last.end <= offset)
    }

    /// The number of these bytes of the packet that are new. None if the others differ from what arrived
    /// before.
    pub(crate) fn news(&self, offset: u32, bytes: &[u8]) -> Option<usize> {
        if self.ends_before(offset) {
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
        if self.ends_before(offset) {
            self.append(self.pieces.len(), offset, bytes);
        } else {
            self.fill_gaps(offset, bytes);
        }
        // Fragments that overlap others can be made to bring one byte each: pieces must not take more memory
        // than the bytes.
        if self.pieces.len() > self.data.len() / BYTES_A_PIECE + FEW {
            self.sort(None);
        }
        self.data.len() == self.whole as usize
    }

    /// Adds those of the bytes that are not known: each gap between known pieces becomes a piece.
    fn fill_gaps(&mut self, offset: u32, bytes: &[u8]) {
        let end = end(offset, bytes);
        let (mut from, mut index) = (offset, self.first(offset));
        while from < end {
            let next = self.pieces.get(index).map(|piece| (piece.start, piece.end));
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
    }

    /// Makes room for `more` bytes.
    fn reserve(&mut self, more: usize) {
        let needed = self.data.len() + more;
        if needed > self.data.capacity() {
            // At most twice what arrived, which bounds what a peer may cost, and never more than the packet:
            // its announced length alone must cost nothing (Q1).
            let room = (2 * self.data.len()).min(self.whole as usize);
            let mut grown = BytesMut::with_capacity(room.max(needed));
            grown.extend_from_slice(&self.data);
            self.data = grown;
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

    /// Copies the bytes into the order of the packet: pieces that touch become one. `lent` has room for all of
    /// them, and no bytes.
    fn sort(&mut self, lent: Option<BytesMut>) {
        self.is_lent = lent.is_some();
        let sorted = lent.unwrap_or_else(|| BytesMut::with_capacity(self.data.len()));
        let data = core::mem::replace(&mut self.data, sorted);
        let pieces = core::mem::take(&mut self.pieces);
        for piece in &pieces {
            let bytes = &data[piece.place(piece.start, piece.end)];
            self.append(self.pieces.len(), piece.start, bytes);
        }
    }

    /// Takes out the complete packet. What stays is empty.
    pub(super) fn finish(&mut self, buffers: &mut Buffers) -> Bytes {
        // One piece is in order already, and copies nothing.
        if self.pieces.len() > 1 {
            self.sort(buffers.large.lend(self.whole as usize));
        }
        self.pieces.clear();
        self.pieces.shrink_to(FEW);
        let full = core::mem::take(&mut self.data);
        if self.is_lent {
            return full.freeze();
        }
        buffers.keep(full)
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

    fn begun(whole: u32) -> Reassembly {
        let mut reassembly = Reassembly::default();
        reassembly.begin(whole, None);
        reassembly
    }

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
        let mut reassembly = begun(993);
        for index in (0..100).rev() {
            let len = if index == 99 { 3 } else { 10 };
            take(&mut reassembly, 10 * index, &[7; 10][..len]);
            let (room, arrived) = (reassembly.data.capacity(), reassembly.len());
            assert!(room <= (2 * arrived).min(993), "{index}: {room}");
        }
    }

    #[test]
    fn memory_does_not_grow_with_every_fragment() {
        let mut reassembly = begun(10_000);
        let mut rooms = 0;
        for index in 0..1000 {
            let before = reassembly.data.capacity();
            take(&mut reassembly, 10 * index, &[7; 10]);
            rooms += u32::from(reassembly.data.capacity() != before);
            assert_eq!(reassembly.pieces.len(), 1);
        }
        assert!(rooms <= 11, "{rooms}");
    }

    /// Q1.
    #[test]
    fn what_is_announced_takes_no_memory_but_what_is_free() {
        let mut buffers = Buffers::new(u64::MAX);
        assert_eq!(buffers.reassembly(10_000).data.capacity(), 0);
        let mut first = buffers.reassembly(10_000);
        assert!(take(&mut first, 0, &[7; 10_000]));
        let first = buffers.finish(first);
        assert_eq!(buffers.reassembly(10_000).data.capacity(), 0, "in use");
        let place = first.as_ptr();
        drop(first);
        let mut second = buffers.reassembly(6_000);
        assert_eq!(buffers.reassembly(6_000).data.capacity(), 0, "in use");
        assert!(take(&mut second, 0, &[8; 6_000]));
        let second = buffers.finish(second);
        assert_eq!((second.as_ptr(), &second[..]), (place, &[8; 6_000][..]));
    }

    /// Two regions by turns, a byte at a time: no two bytes that touch come one after the other.
    /// Q1.
    #[test]
    fn what_is_known_of_the_bytes_does_not_outgrow_them() {
        const FAR: usize = 100_000;
        let packet = vec![7; 2 * FAR];
        let mut reassembly = begun(u32::try_from(2 * FAR).unwrap());
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
        let mut reassembly = begun(30);
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
        assert_eq!(reassembly.finish(&mut Buffers::new(0)), packet[..]);
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
            let mut buffers = Buffers::new(u64::MAX);
            // In memory of its own, and in that of the first time.
            for is_lent in [false, true] {
                let mut reassembly = buffers.reassembly(u32::try_from(packet.len()).unwrap());
                prop_assert_eq!(reassembly.is_lent, is_lent);
                let mut come = vec![false; packet.len()];
                for &(start, end) in &parts {
                    let complete = take(&mut reassembly, start, &packet[start..end]);
                    come[start..end].fill(true);
                    prop_assert_eq!(complete, come.iter().all(|&byte| byte));
                    let count = come.iter().filter(|&&byte| byte).count();
                    prop_assert_eq!(reassembly.len(), count);
                }
                prop_assert_eq!(buffers.finish(reassembly), packet.clone());
            }
        }
    }
}
