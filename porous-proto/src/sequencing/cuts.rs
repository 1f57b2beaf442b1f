//! Which bytes of packets in fragments are acknowledged. The sender cuts a packet piece by piece, and a
//! piece that is sent again perhaps once more, so that a fragment ends where the next one begins: its
//! first byte says which one it is, and an acknowledgement of it that comes late never says too much.

use alloc::vec::Vec;

/// Where a piece of a packet begins, and whether it is acknowledged.
#[derive(Clone, Copy, Debug)]
struct Cut {
    id: u64,
    start: u32,
    acknowledged: bool,
}

/// The pieces of the packets of a channel that are in fragments and not acknowledged whole: in their
/// order, each packet with its end, by id. What is not cut yet is one piece. Of pieces in a row that are
/// acknowledged only the first is here.
#[derive(Debug, Default)]
pub(super) struct Cuts(Vec<Cut>);

impl Cuts {
    /// The first piece that is not before this.
    fn place(&self, id: u64, start: u32) -> usize {
        self.0
            .partition_point(|cut| (cut.id, cut.start) < (id, start))
    }

    /// One piece of the packet `id`, which has `len` bytes, ends here, and another one begins.
    pub(super) fn cut(&mut self, id: u64, len: u32, start: u32) {
        let first = self.place(id, 0);
        if self.0.get(first).is_none_or(|cut| cut.id != id) {
            for start in [len, 0] {
                self.0.insert(first, Cut::new(id, start));
            }
        }
        let at = self.place(id, start);
        let is_there = self
            .0
            .get(at)
            .is_some_and(|cut| (cut.id, cut.start) == (id, start));
        let is_known = at > 0 && self.0[at - 1].acknowledged;
        if !is_there && !is_known {
            self.0.insert(at, Cut::new(id, start));
        }
    }

    /// The piece of this packet that begins there is acknowledged: how many bytes that were not.
    pub(super) fn acknowledge(&mut self, id: u64, start: u32) -> u32 {
        let at = self.place(id, start);
        let [cut, next, ..] = &mut self.0[at..] else {
            return 0;
        };
        if (cut.id, cut.start, cut.acknowledged, next.id) != (id, start, false, id) {
            return 0;
        }
        cut.acknowledged = true;
        let (end, joins_next) = (next.start, next.acknowledged);
        if joins_next {
            self.0.remove(at + 1);
        }
        if at > 0 && self.0[at - 1].id == id && self.0[at - 1].acknowledged {
            self.0.remove(at);
        }
        end - start
    }

    /// All of the packet is acknowledged, or was passed.
    pub(super) fn forget(&mut self, id: u64) {
        self.0.retain(|cut| cut.id != id);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Cut {
    const fn new(id: u64, start: u32) -> Self {
        Self {
            id,
            start,
            acknowledged: false,
        }
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

    fn pieces(cuts: &Cuts, id: u64) -> usize {
        cuts.0.iter().filter(|cut| cut.id == id).count()
    }

    #[test]
    fn each_byte_is_acknowledged_once_in_any_order() {
        for order in [[0, 10, 30], [30, 10, 0], [10, 30, 0], [30, 0, 10]] {
            let mut cuts = cut(35, &[10, 30]);
            let sum: u32 = order.iter().map(|&start| cuts.acknowledge(7, start)).sum();
            assert_eq!(sum, 35, "{order:?}");
            assert_eq!(pieces(&cuts, 7), 2, "one piece, and the end");
            assert_eq!(order.map(|start| cuts.acknowledge(7, start)), [0; 3]);
            cuts.forget(7);
            assert_eq!([5, 7, 9].map(|id| pieces(&cuts, id)), [3, 0, 3]);
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
    fn a_piece_that_is_cut_once_more_is_acknowledged_in_two() {
        let mut cuts = cut(200, &[100]);
        cuts.cut(7, 200, 60);
        assert_eq!([0, 100].map(|start| cuts.acknowledge(7, start)), [60, 100]);
        assert_eq!(cuts.acknowledge(7, 60), 40);
        // What is acknowledged is not sent again, and not cut either.
        cuts.cut(7, 200, 150);
        assert_eq!((cuts.acknowledge(7, 150), pieces(&cuts, 7)), (0, 2));
    }
}
