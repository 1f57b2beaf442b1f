//! The transfer window Q_t (16) of a channel: the packets that were begun and that the remote host's receive
//! window has not passed, and which of their bytes are acknowledged.

use alloc::boxed::Box;
use alloc::collections::VecDeque;

use bytes::Bytes;

use super::cuts::Cuts;
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
    /// None before the first packet in fragments.
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
        if let Some(cuts) = &mut self.cuts {
            cuts.keep(id, payload);
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
    }
}
