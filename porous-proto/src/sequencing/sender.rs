//! The sending half of a channel: the transfer window Q_t (16), and packets becoming messages.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use core::time::Duration;

use bytes::Bytes;

use super::backlog::{Backlog, Waiting};
use super::cuts::Cuts;
use super::fates::Passed;
use super::promises::Promises;
use super::rules::{dependency, is_marked};
use super::send_room::Held;
use super::{SequencingParams, Totals, cost};
use crate::event::Outcome;
use crate::frame::{Control, Fragment, Message, Mode, Packet};
use crate::options::SendOptions;
use crate::progress::SendProgress;
use crate::serial::{self, SendWindow};
use crate::time::Instant;

/// The packet whose fragments are being sent.
#[derive(Debug)]
pub(super) struct Current {
    payload: Bytes,
    options: SendOptions,
    pub(super) id: u64,
    pub(super) dependency: u32,
    /// So many bytes of it were cut off.
    offset: u32,
}

/// A packet in the transfer window, sent in part at least.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) mode: Mode,
    /// It is charged to the remote's budget. Unreliable packets are charged while they are on their
    /// way only: the remote may throw them out for others, and never says so.
    is_charged: bool,
    /// It counts in our own send budget.
    is_queued: bool,
    len: u32,
    /// Bytes that are not acknowledged yet; of a packet of none (`deviations.md` Q14), 1.
    pub(super) open: u32,
}

impl Sent {
    fn cost(&self) -> u64 {
        cost(self.len as usize)
    }

    /// It is not charged to the remote's budget any more: what it was.
    pub(super) fn discharge(&mut self) -> u64 {
        let was_charged = core::mem::take(&mut self.is_charged);
        if was_charged { self.cost() } else { 0 }
    }

    /// It does not count in our own budget any more: what it did.
    fn give_back(&mut self) -> u64 {
        let was_queued = core::mem::take(&mut self.is_queued);
        if was_queued { self.cost() } else { 0 }
    }
}

/// The newest reliable packet that was begun.
#[derive(Clone, Copy, Debug)]
struct LastReliable {
    id: u64,
    key: Option<u64>,
    /// The one that it depends on.
    after: Option<u64>,
}

impl LastReliable {
    const fn plain(id: u64) -> Self {
        Self {
            id,
            key: None,
            after: None,
        }
    }
}

/// The sender.
#[derive(Debug)]
pub(crate) struct Sender {
    /// Q_t (16).
    window: SendWindow,
    pub(super) waiting: Backlog,
    pub(super) current: Option<Current>,
    /// What goes out next: sentinel packets (§3.2.2) and tombstones.
    pub(super) controls: VecDeque<Control>,
    /// The packets from n_b to the newest that was begun.
    sent: VecDeque<Sent>,
    /// Which bytes of them are acknowledged, of those in fragments that are not acknowledged whole.
    cuts: Option<Box<Cuts>>,
    pub(super) promises: Promises,
    /// What it takes of the send budget.
    pub(super) held: Held,
    last_reliable: Option<LastReliable>,
    /// Since when the newest of them had waited.
    begun: Instant,
    /// Nothing of that was sent yet.
    pub(super) unsent: bool,
    /// The remote host tells what becomes of packets: it need not be asked.
    pub(super) fates_told: bool,
}

impl Sender {
    /// Unreliable packets that are older than `age` are not begun.
    pub(crate) fn new(window: u64, first_id: u64, age: Duration) -> Self {
        Self {
            window: SendWindow::new(first_id, window),
            waiting: Backlog::new(age),
            current: None,
            controls: VecDeque::new(),
            sent: VecDeque::new(),
            cuts: None,
            promises: Promises::default(),
            held: Held::default(),
            last_reliable: None,
            begun: Instant::NEVER,
            unsent: false,
            fates_told: false,
        }
    }

    /// n_b.
    pub(crate) const fn base(&self) -> u64 {
        self.window.base()
    }

    /// The id that the next packet gets.
    pub(crate) fn next_id(&self) -> u64 {
        self.window.base() + self.sent.len() as u64
    }

    /// Whether anything waits, sendable or not.
    pub(crate) fn has_more(&self) -> bool {
        !self.controls.is_empty() || self.current.is_some() || !self.waiting.is_empty()
    }

    pub(crate) fn queue(&mut self, payload: Bytes, options: SendOptions, totals: &mut Totals) {
        let cost = cost(payload.len());
        totals.room.take(&mut self.held, options.mode, cost);
        totals.unsent += 1;
        totals.undelivered += u32::from(options.mode != Mode::Unreliable);
        if let Some(older) = self.waiting.push(payload, options) {
            self.drop_waiting(&older, Outcome::Cancelled, totals);
            totals.replaced += 1;
        }
    }

    /// What was sent since the last look waits from now on.
    pub(super) fn look(&mut self, now: Instant) {
        self.waiting.look(now);
    }

    /// The next message, with `most` bytes of a packet at most, and how it is sent: fragments of reliable
    /// and passive packets reliably, those of unreliable ones not (§3.2).
    pub(crate) fn next_message(
        &mut self,
        (channel, most): (u8, usize),
        params: &SequencingParams,
        totals: &mut Totals,
    ) -> Option<(Message<Bytes>, SendOptions)> {
        if let Some(control) = self.controls.pop_front() {
            return Some((Message::Control(control), Mode::Reliable.into()));
        }
        if self.current.is_none() {
            self.begin(channel, params, totals);
        }
        let current = self.current.as_mut()?;
        let receipt = current.options.receipt.is_some() && !self.fates_told;
        let packet = next_part((channel, receipt), current, most, params);
        let (id, options) = (current.id, current.options);
        let offset = current.offset;
        let is_over = offset as usize == current.payload.len();
        if packet.fragment.is_some() {
            self.cut_at(id, offset);
        }
        if is_over {
            self.current = None;
            totals.unsent -= 1;
            if options.mode == Mode::Unreliable {
                // Sent once and forgotten.
                self.give_back(id, totals);
            }
        }
        Some((Message::Packet(packet), options))
    }

    /// Gives the next packet its id, if the transfer window (16) and the remote's budget allow
    /// (`deviations.md` Q2).
    fn begin(&mut self, channel: u8, params: &SequencingParams, totals: &mut Totals) {
        let id = self.next_id();
        let Some(front) = self.waiting.front() else {
            return;
        };
        let cost = cost(front.payload.len());
        if !self.window.contains(id) || totals.charged + cost > params.remote_budget {
            return;
        }
        let Some(next) = self.waiting.pop() else {
            return;
        };
        let ends = next.ends();
        let Waiting {
            payload,
            options,
            since,
        } = next;
        let mode = options.mode;
        (self.begun, self.unsent) = (since, true);
        self.promises.begin(id, &options, ends);
        // Nobody waits for what is outdated as soon as this leaves.
        let same_key = |last: &LastReliable| last.key.is_some() && last.key == options.key;
        if let Some(last) = self.last_reliable.filter(same_key) {
            self.last_reliable = last.after.map(LastReliable::plain);
        }
        let after = self.last_reliable.map(|last| last.id);
        let dependency = dependency(id, after, params.window);
        if mode == Mode::Reliable {
            let key = options.key;
            self.last_reliable = Some(LastReliable { id, key, after });
        }
        if mode == Mode::Unreliable && is_marked(id, params.spacing) {
            let id = serial::truncate(id, params.id_bits);
            self.controls.push_back(Control::Sentinel {
                channel,
                id,
                dependency,
            });
        }
        totals.charged += cost;
        // A packet is at most 4 GiB long by `Config`.
        let len = u32::try_from(payload.len()).unwrap_or(u32::MAX);
        self.sent.push_back(Sent {
            mode,
            is_charged: true,
            is_queued: true,
            len,
            open: len.max(1),
        });
        self.current = Some(Current {
            payload,
            options,
            id,
            dependency,
            offset: 0,
        });
    }

    pub(super) fn sent_mut(&mut self, id: u64) -> Option<&mut Sent> {
        let index = id.checked_sub(self.window.base())?;
        self.sent.get_mut(usize::try_from(index).ok()?)
    }

    /// The packet does not count in the send budget any more.
    pub(super) fn give_back(&mut self, id: u64, totals: &mut Totals) {
        if let Some(sent) = self.sent_mut(id) {
            let (mode, queued) = (sent.mode, sent.give_back());
            totals.room.give_back(&mut self.held, mode, queued);
        }
    }

    /// The full id of a packet in the transfer window. None if the window has passed it.
    pub(super) fn expand(&self, id: u32, params: &SequencingParams) -> Option<u64> {
        let id = serial::expand(id, params.id_bits, self.window.base(), 0)?;
        (id < self.next_id()).then_some(id)
    }

    /// Whether the packet is still in the transfer window.
    pub(crate) fn is_current(&self, id: u32, params: &SequencingParams) -> bool {
        self.expand(id, params).is_some()
    }

    /// Since when an unreliable packet had waited when it got its id: `NEVER` for any but the
    /// newest, which have been sent.
    pub(super) fn begun(&self, id: u32, params: &SequencingParams) -> Instant {
        if self.expand(id, params) == self.next_id().checked_sub(1) {
            self.begun
        } else {
            Instant::NEVER
        }
    }

    /// Something of the packet is sent: since when it had waited, if that is the first.
    pub(super) fn take_since(&mut self, id: u32, params: &SequencingParams) -> Option<Instant> {
        let newest = self.next_id().checked_sub(1).filter(|_| self.unsent)?;
        if self.expand(id, params) != Some(newest) {
            return None;
        }
        self.unsent = false;
        self.promises.left(newest);
        Some(self.begun)
    }

    /// How far the oldest packet with this receipt has come.
    pub(super) fn progress(&self, token: u64) -> Option<SendProgress> {
        let Some(id) = self.promises.open(token) else {
            let waiting = self.waiting.with_receipt(token)?;
            // A packet is at most 4 GiB long by `Config`.
            return Some(SendProgress {
                len: u32::try_from(waiting.payload.len()).unwrap_or(u32::MAX),
                sent: 0,
                acknowledged: 0,
            });
        };
        let index = usize::try_from(id.checked_sub(self.window.base())?).ok()?;
        let packet = self.sent.get(index)?;
        let current = self.current.as_ref().filter(|current| current.id == id);
        Some(SendProgress {
            len: packet.len,
            sent: current.map_or(packet.len, |current| current.offset),
            acknowledged: packet.len.saturating_sub(packet.open),
        })
    }

    /// Packets of which nothing was sent.
    pub(super) fn waiting_count(&self) -> u32 {
        let waiting = self.waiting.len() + usize::from(self.unsent && !self.sent.is_empty());
        u32::try_from(waiting).unwrap_or(u32::MAX)
    }

    /// A piece of a packet ends, and another one begins.
    fn cut_at(&mut self, id: u64, start: u32) {
        let Some(len) = self
            .sent_mut(id)
            .filter(|sent| sent.open > 0)
            .map(|sent| sent.len)
        else {
            return;
        };
        let cuts = self.cuts.get_or_insert_default();
        cuts.cut(id, len, start);
    }

    /// Nobody asks any more which bytes of the packet are acknowledged.
    fn forget_cuts(&mut self, id: u64) {
        if let Some(cuts) = &mut self.cuts {
            cuts.forget(id);
        }
        self.cuts.take_if(|cuts| cuts.is_empty());
    }

    /// A message of the packet is sent in two, of which the second begins there.
    pub(super) fn cut(&mut self, id: u32, start: u32, params: &SequencingParams) {
        if let Some(id) = self.expand(id, params) {
            self.cut_at(id, start);
        }
    }

    /// One message of the packet arrived: all of it, or a fragment.
    pub(crate) fn acknowledged(
        &mut self,
        id: u32,
        fragment: Option<Fragment>,
        params: &SequencingParams,
        totals: &mut Totals,
    ) {
        let Some(id) = self.expand(id, params) else {
            return;
        };
        let arrived = fragment.map_or(u32::MAX, |part| {
            let cuts = self.cuts.as_mut();
            cuts.map_or(0, |cuts| cuts.acknowledge(id, part.offset))
        });
        let Some(sent) = self.sent_mut(id).filter(|sent| sent.open > 0) else {
            return;
        };
        sent.open = sent.open.saturating_sub(arrived);
        if sent.open > 0 {
            return;
        }
        let mode = sent.mode;
        match mode {
            Mode::Unreliable => totals.charged -= sent.discharge(),
            Mode::Reliable | Mode::Passive => {
                totals.undelivered -= 1;
                self.give_back(id, totals);
            }
        }
        self.forget_cuts(id);
        self.promises.arrived(id, mode, &mut totals.receipts);
    }

    /// A message of an unreliable packet was lost: it can never be complete, unless that proves
    /// wrong. Whether that matters.
    pub(crate) fn lost(&mut self, id: u32, params: &SequencingParams, totals: &mut Totals) -> bool {
        let Some(id) = self.expand(id, params) else {
            return false;
        };
        if let Some(sent) = self.sent_mut(id) {
            totals.charged -= sent.discharge();
        }
        self.promises.lost(id, &mut totals.receipts)
    }

    /// The receive window has passed the packet `id`: n_b ← id + 1 (§3.2.1). What it passed is
    /// delivered or skipped for good. If there is no such packet yet, somebody has forged one: its id
    /// is not used, or what is sent under it would be stale.
    pub(crate) fn advance_past(&mut self, id: u64, how: Passed, totals: &mut Totals) {
        while self.window.base() <= id {
            let Some(mut sent) = self.sent.pop_front() else {
                self.window.advance_to(id + 1);
                break;
            };
            totals.charged -= sent.discharge();
            let queued = sent.give_back();
            totals.room.give_back(&mut self.held, sent.mode, queued);
            totals.undelivered -= u32::from(sent.open > 0 && sent.mode != Mode::Unreliable);
            let passed = self.window.base();
            self.forget_cuts(passed);
            let receipts = &mut totals.receipts;
            let later = self.promises.passed(passed, (sent.mode, how), receipts);
            totals.unsettled += u32::from(later);
            self.window.advance_to(self.window.base() + 1);
        }
        self.abandon_current(totals);
    }

    /// A passive packet that was skipped before all of it was sent is not sent any further.
    fn abandon_current(&mut self, totals: &mut Totals) {
        if self
            .current
            .as_ref()
            .is_some_and(|current| current.id < self.window.base())
        {
            self.current = None;
            totals.unsent -= 1;
        }
    }
}

/// For audits.
#[cfg(any(test, feature = "audit"))]
impl Sender {
    pub(super) fn waiting(&self) -> impl Iterator<Item = (Mode, &Bytes)> {
        self.waiting
            .iter()
            .map(|waiting| (waiting.options.mode, &waiting.payload))
    }

    /// Of each packet in the transfer window: what it is charged, what it counts in the send
    /// budget, and whether messages of it are not acknowledged.
    pub(super) fn sent(&self) -> impl Iterator<Item = (Mode, u64, u64, bool)> {
        let numbers = |sent: &Sent| {
            let charged = if sent.is_charged { sent.cost() } else { 0 };
            let queued = if sent.is_queued { sent.cost() } else { 0 };
            (sent.mode, charged, queued, sent.open > 0)
        };
        self.sent.iter().map(numbers)
    }

    pub(super) const fn is_sending(&self) -> bool {
        self.current.is_some()
    }

    /// The oldest packet for which something was promised and that was not passed, and how many were.
    pub(super) fn promises(&self) -> (Option<u64>, u32) {
        let (mut open, passed) = self.promises.ids();
        (open.next(), passed)
    }
}

/// The next fragment of a packet, with `most` bytes at most, or the whole of it.
fn next_part(
    (channel, receipt): (u8, bool),
    current: &mut Current,
    most: usize,
    params: &SequencingParams,
) -> Packet<Bytes> {
    let (start, len) = (current.offset as usize, current.payload.len());
    let end = start.saturating_add(most).min(len);
    // A packet is at most 4 GiB long by `Config`.
    let [offset, next, whole] = [start, end, len].map(|at| u32::try_from(at).unwrap_or(u32::MAX));
    current.offset = next;
    let (fragment, payload) = if start == 0 && end == len {
        (None, current.payload.clone())
    } else {
        // A copy: what the receive window passes leaves the budget, and must not be held whole by one
        // fragment that is not acknowledged.
        let part = Bytes::copy_from_slice(&current.payload[start..end]);
        (Fragment::new(offset, whole), part)
    };
    Packet {
        mode: current.options.mode,
        channel,
        id: serial::truncate(current.id, params.id_bits),
        // It is below N_Q, which is 2^16 at most.
        dependency: u16::try_from(current.dependency).unwrap_or(u16::MAX),
        fragment,
        receipt,
        payload,
    }
}
