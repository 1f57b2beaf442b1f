//! The transfer window Q_t (16) of a channel: the packets that were begun and that the remote host's receive
//! window has not passed, and which of their bytes are acknowledged.

use alloc::boxed::Box;
use alloc::collections::VecDeque;

use bytes::Bytes;

use super::{SequencingParams, cost};
use crate::frame::{Fragment, Mode};
use crate::serial::{self, SendWindow};

/// A packet in the transfer window, sent in part at least.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) mode: Mode,
    /// True while it is charged to the remote's budget. Unreliable packets are charged only while they are on
    /// their way: the remote host may throw them out for others, and never says so.
    pub(super) is_charged: bool,
    /// True while it counts in this host's send budget.
    pub(super) is_queued: bool,
    pub(super) len: u32,
    /// Bytes that are not acknowledged yet; 1 of an empty packet (`deviations.md` Q14) until it is.
    pub(super) open: u32,
}

impl Sent {
    pub(super) fn cost(&self) -> u64 {
        cost(self.len as usize)
    }

    /// Ends its charge to the remote's budget: the bytes of that, 0 if it had ended.
    pub(super) fn discharge(&mut self) -> u64 {
        let was_charged = core::mem::take(&mut self.is_charged);
        if was_charged { self.cost() } else { 0 }
    }

    /// Ends its count in this host's own budget: the bytes of that, 0 if it had ended.
    pub(super) fn give_back(&mut self) -> u64 {
        let was_queued = core::mem::take(&mut self.is_queued);
        if was_queued { self.cost() } else { 0 }
    }
}

/// The packets of a channel from n_b to the newest that was begun.
#[derive(Debug)]
pub(super) struct TransferWindow {
    window: SendWindow,
    sent: VecDeque<Sent>,
    /// None while no packet is in fragments.
    cuts: Option<Box<Cuts>>,
}

impl TransferWindow {
    pub(super) const fn new(first_id: u64, size: u64) -> Self {
        Self {
            window: SendWindow::new(first_id, size),
            sent: VecDeque::new(),
            cuts: None,
        }
    }

    /// n_b.
    pub(super) const fn base(&self) -> u64 {
        self.window.base()
    }

    /// The id that the next packet gets.
    pub(super) fn next_id(&self) -> u64 {
        self.window.base() + self.sent.len() as u64
    }

    /// The id before the next one: that of the newest packet, if the window has not passed it.
    pub(super) fn newest(&self) -> Option<u64> {
        self.next_id().checked_sub(1)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sent.is_empty()
    }

    /// Whether the next packet may be begun.
    pub(super) fn has_room(&self) -> bool {
        self.window.contains(self.next_id())
    }

    /// A packet of this length is begun, and gets the next id.
    #[inline]
    pub(super) fn begin(&mut self, mode: Mode, len: usize) {
        // A packet is at most 4 GiB long by `Config`.
        let len = u32::try_from(len).unwrap_or(u32::MAX);
        self.sent.push_back(Sent {
            mode,
            is_charged: true,
            is_queued: true,
            len,
            // Also an empty packet is open until it is acknowledged.
            open: len.max(1),
        });
    }

    fn index(&self, id: u64) -> Option<usize> {
        usize::try_from(id.checked_sub(self.window.base())?).ok()
    }

    pub(super) fn get(&self, id: u64) -> Option<&Sent> {
        self.sent.get(self.index(id)?)
    }

    pub(super) fn get_mut(&mut self, id: u64) -> Option<&mut Sent> {
        let index = self.index(id)?;
        self.sent.get_mut(index)
    }

    #[cfg(any(test, feature = "audit"))]
    pub(super) fn iter(&self) -> impl Iterator<Item = &Sent> {
        self.sent.iter()
    }

    /// The full id of a packet that is here. None if the window has passed it.
    pub(super) fn expand(&self, id: u32, params: &SequencingParams) -> Option<u64> {
        // What the window has passed expands to an id almost Y ahead, which was not begun.
        let id = serial::expand(id, params.id_bits, self.window.base(), 0)?;
        (id < self.next_id()).then_some(id)
    }

    /// A piece of the packet ends at byte `start`, and another one begins.
    pub(super) fn cut(&mut self, id: u64, start: u32) {
        if let Some(len) = self
            .get(id)
            .filter(|sent| sent.open > 0)
            .map(|sent| sent.len)
        {
            // Only of a packet that is not acknowledged whole: the pieces of one that is are forgotten.
            self.cuts.get_or_insert_default().cut(id, len, start);
        }
    }

    /// Keeps the bytes of a packet that was cut until the packet is acknowledged whole, passed, or
    /// [released](Self::release).
    pub(super) fn keep(&mut self, id: u64, payload: Bytes) {
        if let Some(packet) = self.cuts.as_mut().and_then(|cuts| cuts.get_mut(id)) {
            packet.payload = payload;
        }
    }

    /// The bytes of a packet that are kept: `len` of them from the byte `offset` on.
    pub(super) fn kept(&self, id: u64, offset: u32, len: usize) -> Option<&[u8]> {
        let packet = self.cuts.as_ref()?.get(id)?;
        let offset = usize::try_from(offset).ok()?;
        packet.payload.get(offset..offset.checked_add(len)?)
    }

    /// Whether bytes of this packet are kept.
    pub(super) fn keeps(&self, id: u64) -> bool {
        let packet = self.cuts.as_ref().and_then(|cuts| cuts.get(id));
        packet.is_some_and(|packet| !packet.payload.is_empty())
    }

    /// The bytes of a packet need not be kept: it was given up.
    pub(super) fn release(&mut self, id: u64) {
        self.keep(id, Bytes::new());
    }

    /// All of a packet arrived, or a fragment of it: its mode, if this was what was missing.
    #[inline]
    pub(super) fn acknowledge(&mut self, id: u64, fragment: Option<Fragment>) -> Option<Mode> {
        let arrived = fragment.map_or(u32::MAX, |part| {
            // A fragment that was never sent has no piece, and acknowledges nothing.
            let cuts = self.cuts.as_mut();
            cuts.map_or(0, |cuts| cuts.acknowledge(id, part.offset))
        });
        let sent = self.get_mut(id).filter(|sent| sent.open > 0)?;
        sent.open = sent.open.saturating_sub(arrived);
        if sent.open > 0 {
            return None;
        }
        let mode = sent.mode;
        self.forget_cuts(id);
        Some(mode)
    }

    /// The window passes its oldest packet, if there is one.
    pub(super) fn pass(&mut self) -> Option<Sent> {
        let sent = self.sent.pop_front()?;
        self.forget_cuts(self.base());
        self.window.advance_to(self.base() + 1);
        Some(sent)
    }

    /// No packet that is begun from now on has an id before this one. All that were begun are passed.
    pub(super) fn skip_to(&mut self, id: u64) {
        self.window.advance_to(id);
    }

    /// Forgets the pieces of a packet that is acknowledged or passed.
    fn forget_cuts(&mut self, id: u64) {
        if let Some(cuts) = &mut self.cuts {
            cuts.forget(id);
        }
        self.cuts.take_if(|cuts| cuts.is_empty());
    }
}

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
struct Fragmented {
    id: u64,
    /// Bytes of the packet.
    len: u32,
    /// The bytes of a reliable or passive packet, which is not given up.
    payload: Bytes,
    pieces: VecDeque<Cut>,
}

/// The packets of a channel that are in fragments and not acknowledged whole, in the order of their ids.
///
/// The sender cuts a packet piece by piece, and a lost piece perhaps once more. A fragment ends where the
/// next one begins: so its first byte names it, and a late acknowledgement of one that was cut since counts
/// for its first piece only, never for too much.
#[derive(Debug, Default)]
struct Cuts(VecDeque<Fragmented>);

impl Cuts {
    /// The index of the packet, or where it would stand.
    fn place(&self, id: u64) -> Result<usize, usize> {
        // Nearly always: packets are cut, and acknowledged, in the order of their ids.
        match (self.0.front(), self.0.back()) {
            (Some(first), _) if first.id == id => Ok(0),
            (_, Some(last)) if last.id == id => Ok(self.0.len() - 1),
            (_, Some(last)) if last.id < id => Err(self.0.len()),
            _ => self.0.binary_search_by_key(&id, |packet| packet.id),
        }
    }

    fn get(&self, id: u64) -> Option<&Fragmented> {
        self.0.get(self.place(id).ok()?)
    }

    fn get_mut(&mut self, id: u64) -> Option<&mut Fragmented> {
        let at = self.place(id).ok()?;
        self.0.get_mut(at)
    }

    /// A piece of the packet `id`, which has `len` bytes, ends at byte `start`, and another one begins.
    fn cut(&mut self, id: u64, len: u32, start: u32) {
        let at = self.place(id).unwrap_or_else(|at| {
            self.0.insert(at, Fragmented::new(id, len));
            at
        });
        if let Some(packet) = self.0.get_mut(at) {
            packet.cut(start);
        }
    }

    /// The piece that begins at byte `start` is acknowledged: the bytes of it that were not.
    fn acknowledge(&mut self, id: u64, start: u32) -> u32 {
        self.get_mut(id)
            .map_or(0, |packet| packet.acknowledge(start))
    }

    /// All of the packet is acknowledged, or the window has passed it.
    fn forget(&mut self, id: u64) {
        if let Ok(at) = self.place(id) {
            self.0.remove(at);
        }
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Fragmented {
    fn new(id: u64, len: u32) -> Self {
        let whole = Cut {
            start: 0,
            acknowledged: false,
        };
        Self {
            id,
            len,
            payload: Bytes::new(),
            pieces: VecDeque::from([whole]),
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
        let packet = cuts.place(id).map(|at| &cuts.0[at].pieces);
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
            assert!(cuts.0[1].pieces.is_empty(), "what is acknowledged is one");
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
