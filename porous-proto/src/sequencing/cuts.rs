//! Which pieces of the packets in fragments are acknowledged.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use bytes::Bytes;

/// The most lists of pieces that wait for further packets, and the most pieces that each has room for: those of
/// 64 KiB, cut for the narrowest path. A channel takes 4 KiB for them at most.
const SPARE: usize = 4;
const SPARE_LEN: usize = 128;

/// Where a piece of a packet begins, and whether it is acknowledged.
#[derive(Clone, Copy, Debug)]
struct Cut {
    start: u32,
    acknowledged: bool,
}

/// A packet in fragments that is not acknowledged whole, and its pieces from the first that is not
/// acknowledged on. A piece ends where the next one begins. What is not cut yet is one piece. Of pieces in a
/// row that are acknowledged only the first is here.
#[derive(Debug)]
pub(super) struct Fragmented {
    id: u64,
    /// Bytes of the packet.
    len: u32,
    /// The bytes of a reliable or passive packet, which is not given up.
    pub(super) payload: Bytes,
    pieces: VecDeque<Cut>,
}

/// The packets of a channel that are in fragments and not acknowledged whole, in the order of their ids.
///
/// The sender cuts a packet piece by piece, and a lost piece perhaps once more. A fragment ends where the
/// next one begins: so its first byte names it, and a late acknowledgement of one that was cut since counts
/// for its first piece only, never for too much.
#[derive(Debug, Default)]
pub(super) struct Cuts {
    packets: VecDeque<Fragmented>,
    /// Memory for the pieces of further packets.
    spare: Vec<VecDeque<Cut>>,
}

impl Cuts {
    /// The index of the packet, or where it would stand.
    fn place(&self, id: u64) -> Result<usize, usize> {
        // Nearly always: packets are cut, and acknowledged, in the order of their ids.
        match (self.packets.front(), self.packets.back()) {
            (Some(first), _) if first.id == id => Ok(0),
            (_, Some(last)) if last.id == id => Ok(self.packets.len() - 1),
            (_, Some(last)) if last.id < id => Err(self.packets.len()),
            _ => self.packets.binary_search_by_key(&id, |packet| packet.id),
        }
    }

    pub(super) fn get(&self, id: u64) -> Option<&Fragmented> {
        self.packets.get(self.place(id).ok()?)
    }

    fn get_mut(&mut self, id: u64) -> Option<&mut Fragmented> {
        let at = self.place(id).ok()?;
        self.packets.get_mut(at)
    }

    /// Keeps the bytes of a packet that was cut.
    pub(super) fn keep(&mut self, id: u64, payload: Bytes) {
        if let Some(packet) = self.get_mut(id) {
            packet.payload = payload;
        }
    }

    /// A piece of the packet `id`, which has `len` bytes, ends at byte `start`, and another one begins.
    pub(super) fn cut(&mut self, id: u64, len: u32, start: u32) {
        let at = self.place(id).unwrap_or_else(|at| {
            let pieces = self.spare.pop().unwrap_or_default();
            self.packets.insert(at, Fragmented::new(id, len, pieces));
            at
        });
        if let Some(packet) = self.packets.get_mut(at) {
            packet.cut(start);
        }
    }

    /// The piece that begins at byte `start` is acknowledged: the bytes of it that were not.
    pub(super) fn acknowledge(&mut self, id: u64, start: u32) -> u32 {
        self.get_mut(id)
            .map_or(0, |packet| packet.acknowledge(start))
    }

    /// All of the packet is acknowledged, or the window has passed it.
    pub(super) fn forget(&mut self, id: u64) {
        let at = self.place(id).ok();
        let Some(forgotten) = at.and_then(|at| self.packets.remove(at)) else {
            return;
        };
        if self.packets.is_empty() {
            self.packets.shrink_to(SPARE);
        }
        let mut pieces = forgotten.pieces;
        if self.spare.len() < SPARE && pieces.capacity() <= SPARE_LEN {
            pieces.clear();
            self.spare.push(pieces);
        }
    }
}

impl Fragmented {
    /// `pieces` is empty.
    fn new(id: u64, len: u32, mut pieces: VecDeque<Cut>) -> Self {
        pieces.push_back(Cut {
            start: 0,
            acknowledged: false,
        });
        Self {
            id,
            len,
            payload: Bytes::new(),
            pieces,
        }
    }

    /// The index of the first piece that is not before this byte.
    fn place(&self, start: u32) -> usize {
        if self.pieces.front().is_some_and(|cut| cut.start == start) {
            return 0;
        }
        self.pieces.partition_point(|cut| cut.start < start)
    }

    /// Where the piece ends.
    fn end(&self, at: usize) -> u32 {
        self.pieces.get(at + 1).map_or(self.len, |next| next.start)
    }

    fn is_acknowledged(&self, at: usize) -> bool {
        self.pieces.get(at).is_some_and(|cut| cut.acknowledged)
    }

    fn cut(&mut self, start: u32) {
        // Nearly always behind all others. The end of the packet begins no piece.
        let at = match self.pieces.back() {
            Some(last) if last.start < start => self.pieces.len(),
            _ => self.place(start),
        };
        let is_there = self.pieces.get(at).is_some_and(|cut| cut.start == start);
        // What is acknowledged is one piece, however it was cut. What stands before the first piece is.
        let is_known = at == 0 || self.is_acknowledged(at - 1);
        if start < self.len && !is_there && !is_known {
            let acknowledged = false;
            self.pieces.insert(
                at,
                Cut {
                    start,
                    acknowledged,
                },
            );
        }
    }

    fn acknowledge(&mut self, start: u32) -> u32 {
        let at = self.place(start);
        let end = self.end(at);
        let Some(cut) = self.pieces.get_mut(at) else {
            return 0;
        };
        // A repetition, or no piece begins here.
        if cut.start != start || cut.acknowledged {
            return 0;
        }
        cut.acknowledged = true;
        // Joined with acknowledged neighbours: fragments that arrive in order leave nothing behind.
        if self.is_acknowledged(at + 1) {
            self.pieces.remove(at + 1);
        }
        if at == 0 || self.is_acknowledged(at - 1) {
            self.pieces.remove(at);
        }
        end - start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packet 7 with these cuts, between two others.
    fn cut(len: u32, starts: &[u32]) -> Cuts {
        let mut cuts = Cuts::default();
        for id in [9, 5] {
            cuts.cut(id, 1000, 300);
        }
        starts.iter().for_each(|&start| cuts.cut(7, len, start));
        cuts
    }

    /// Pieces that are not acknowledged.
    fn pieces(cuts: &Cuts, id: u64) -> usize {
        let packet = cuts.place(id).map(|at| &cuts.packets[at].pieces);
        packet.map_or(0, |pieces| {
            pieces.iter().filter(|cut| !cut.acknowledged).count()
        })
    }

    /// Q3.
    #[test]
    fn each_byte_is_acknowledged_once_in_any_order() {
        for order in [[0, 10, 30], [30, 10, 0], [10, 30, 0], [30, 0, 10]] {
            let mut cuts = cut(35, &[10, 30]);
            let sum: u32 = order.iter().map(|&start| cuts.acknowledge(7, start)).sum();
            assert_eq!(sum, 35, "{order:?}");
            assert!(
                cuts.packets[1].pieces.is_empty(),
                "what is acknowledged is one"
            );
            assert_eq!(order.map(|start| cuts.acknowledge(7, start)), [0; 3]);
            cuts.forget(7);
            assert_eq!([5, 7, 9].map(|id| pieces(&cuts, id)), [2, 0, 2]);
            assert_eq!([5, 7, 9].map(|id| cuts.acknowledge(id, 300)), [700, 0, 700]);
        }
    }

    #[test]
    fn what_is_not_cut_cannot_be_acknowledged() {
        let mut cuts = cut(30, &[10]);
        let unknown = [5, 20, 30, 40].map(|start| cuts.acknowledge(7, start));
        assert_eq!(unknown, [0; 4]);
        cuts.cut(7, 30, 20);
        assert_eq!([10, 0].map(|start| cuts.acknowledge(7, start)), [10, 10]);
    }

    #[test]
    fn a_packet_has_no_pieces_of_one_that_was_forgotten() {
        let mut cuts = cut(500, &[100, 200, 300]);
        cuts.forget(7);
        cuts.cut(11, 500, 250);
        let starts = [100, 200, 300, 0, 250];
        let acknowledged = starts.map(|start| cuts.acknowledge(11, start));
        assert_eq!(acknowledged, [0, 0, 0, 250, 250]);
    }

    #[test]
    fn a_piece_that_is_cut_once_more_is_acknowledged_in_two() {
        let mut cuts = cut(200, &[100]);
        cuts.cut(7, 200, 60);
        assert_eq!([0, 100].map(|start| cuts.acknowledge(7, start)), [60, 100]);
        assert_eq!(cuts.acknowledge(7, 60), 40);
        // What is acknowledged is not sent again, and not cut either.
        cuts.cut(7, 200, 150);
        assert_eq!((cuts.acknowledge(7, 150), pieces(&cuts, 7)), (0, 0));
    }
}
