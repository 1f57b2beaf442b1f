//! The sending half of a channel: packets becoming messages, and what becomes of them.

use alloc::collections::VecDeque;
use core::time::Duration;

use bytes::Bytes;

use super::backlog::{Backlog, Waiting};
use super::promises::{Passed, Promises, Reason};
use super::rules::{dependency, is_marked};
use super::send_room::Held;
use super::transfer_window::{Sent, TransferWindow};
use super::{SequencingParams, Shared, Totals, cost};
use crate::event::Outcome;
use crate::frame::{Control, Fates, Fragment, Length, Marker, Message, Mode, Packet};
use crate::options::{CopyCount, SendOptions};
use crate::serial;
use crate::source::{MessageBytes, NextMessage};
use crate::stats::SendProgress;
use crate::time::{Instant, Micros};

/// The packet whose fragments are being sent.
#[derive(Debug)]
pub(super) struct Current {
    /// Empty once the window keeps it.
    payload: Bytes,
    /// Bytes of the packet.
    len: usize,
    options: SendOptions,
    id: u64,
    dependency: u32,
    /// Bytes of it that were cut off and sent.
    offset: u32,
}

/// The newest reliable packet that was begun.
#[derive(Clone, Copy, Debug)]
struct LastReliable {
    id: u64,
    key: Option<u64>,
    /// The reliable packet that it depends on.
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

/// The sending half of a channel.
#[derive(Debug)]
pub(crate) struct Sender {
    /// Packets that have an id.
    pub(super) window: TransferWindow,
    /// Packets that have none yet.
    pub(super) waiting: Backlog,
    pub(super) current: Option<Current>,
    /// Sentinel packets (§3.2.2) and tombstones, which leave before packets.
    pub(super) controls: VecDeque<Control>,
    pub(super) promises: Promises,
    /// Bytes that the channel takes of the send budget.
    pub(super) held: Held,
    last_reliable: Option<LastReliable>,
    /// Since when the newest packet that has an id had waited in the queue.
    begun: Instant,
    /// True while nothing of that packet was sent.
    unsent: bool,
    /// True if that packet does not wait for the reliable one just before it, as it has the same key.
    outdates: bool,
    /// True once FATES have come: packets need not ask for them any more.
    fates_told: bool,
}

impl Sender {
    /// Unreliable packets that have waited for longer than `age` are not begun.
    pub(crate) fn new(window: u64, first_id: u64, age: Duration) -> Self {
        Self {
            window: TransferWindow::new(first_id, window),
            waiting: Backlog::new(age),
            current: None,
            controls: VecDeque::new(),
            promises: Promises::default(),
            held: Held::default(),
            last_reliable: None,
            begun: Instant::NEVER,
            unsent: false,
            outdates: false,
            fates_told: false,
        }
    }

    /// Whether anything waits, sendable or not.
    pub(crate) fn has_more(&self) -> bool {
        !self.controls.is_empty() || self.current.is_some() || !self.waiting.is_empty()
    }

    #[inline]
    pub(crate) fn queue(&mut self, payload: Bytes, options: SendOptions, totals: &mut Totals) {
        let cost = cost(payload.len());
        totals.room.take(&mut self.held, options.mode, cost);
        totals.unsent += 1;
        totals.undelivered += u32::from(options.mode != Mode::Unreliable);
        // Of the packets with one key only the newest is sent: the older one makes room at once (D3).
        if let Some(older) = self.waiting.push(payload, options) {
            self.drop_waiting(&older, Outcome::Cancelled, totals);
            totals.replaced += 1;
        }
    }

    /// The packets that were sent since the last look wait from now on. In a queue that stands older ones
    /// give way to them (T8).
    #[inline]
    pub(super) fn look(&mut self, now: Instant, totals: &mut Totals) {
        self.waiting.look(now);
        while let Some(dropped) = self.waiting.pop_outrun(now) {
            self.drop_waiting(&dropped, Outcome::Expired, totals);
            totals.expired += 1;
        }
    }

    /// The next message, with `most` bytes of a packet at most, and how it is sent: fragments of reliable
    /// and passive packets reliably, those of unreliable ones not (§3.2).
    #[inline]
    pub(crate) fn next_message(
        &mut self,
        (channel, most): (u8, usize),
        shared: &mut Shared<'_>,
    ) -> Option<NextMessage> {
        // They let the remote window move on, which makes room for what follows.
        if let Some(control) = self.controls.pop_front() {
            return Some(NextMessage {
                message: Message::Control(control),
                copies: CopyCount::NONE,
            });
        }
        let mut current = match self.current.take() {
            Some(current) => current,
            None => self.begin(channel, shared)?,
        };
        // Asked with each message until the answer has come: what a receiver passes before it is asked counts
        // as not delivered (`docs/wire.md`, "Receipts").
        let receipt = current.options.receipt.is_some() && !self.fates_told;
        let packet = next_part((channel, receipt), &mut current, most, shared.params);
        let (id, offset, copies) = (current.id, current.offset, current.options.redundancy);
        let is_over = packet.fragment.is_none() || offset as usize == current.len;
        // A fragment ends where the next begins: its first byte is enough to know it by.
        if packet.fragment.is_some() {
            self.window.cut(id, offset);
            if packet.mode != Mode::Unreliable && !current.payload.is_empty() {
                self.window.keep(id, core::mem::take(&mut current.payload));
            }
        }
        if is_over {
            shared.totals.unsent -= 1;
            if packet.mode == Mode::Unreliable {
                // Never sent again, so that nothing of it waits any more.
                self.give_back(id, shared.totals);
            }
        } else {
            self.current = Some(current);
        }
        Some(NextMessage {
            message: Message::Packet(packet),
            copies,
        })
    }

    /// Gives the next packet its id, if the transfer window (16) and the remote's budget allow
    /// (`deviations.md` Q2).
    #[inline]
    fn begin(&mut self, channel: u8, shared: &mut Shared<'_>) -> Option<Current> {
        let id = self.window.next_id();
        let cost = cost(self.waiting.front()?.payload.len());
        // A shorter packet behind it waits as well: ids are given in the order of sending.
        if !self.window.has_room() || shared.totals.charged + cost > shared.params.remote_budget {
            return None;
        }
        let next = self.waiting.pop()?;
        let ends = next.ends();
        let Waiting {
            payload,
            options,
            since,
        } = next;
        let mode = options.mode;
        (self.begun, self.unsent) = (since, true);
        self.promises.begin(id, &options, ends);
        // The older packet with this key is outdated as soon as this one leaves: nothing may wait for it, but
        // for what it depends on itself (D3). Unless a packet between the two waits for it: the remote host takes
        // a packet for damaged that depends on an older one than a packet before it.
        let same_key = |last: &LastReliable| {
            last.key.is_some() && last.key == options.key && last.id + 1 == id
        };
        let outdated = self.last_reliable.filter(same_key);
        self.outdates = outdated.is_some();
        if let Some(last) = outdated {
            self.last_reliable = last.after.map(LastReliable::plain);
        }
        let after = self.last_reliable.map(|last| last.id);
        let dependency = dependency(id, after, shared.params.window);
        if mode == Mode::Reliable {
            let key = options.key;
            self.last_reliable = Some(LastReliable { id, key, after });
        }
        // The sentinel is sent reliably: were a whole window of unreliable packets lost, nothing else would
        // let the remote window move (§3.2.2).
        if mode == Mode::Unreliable && is_marked(id, shared.params.spacing) {
            let id = serial::truncate(id, shared.params.id_bits);
            self.controls.push_back(Control::Sentinel(Marker {
                channel,
                id,
                dependency,
            }));
        }
        // All of it at once: what is begun must find room at the remote host to its end (Q2).
        shared.totals.charged += cost;
        self.window.begin(mode, payload.len());
        Some(Current {
            len: payload.len(),
            payload,
            options,
            id,
            dependency,
            offset: 0,
        })
    }

    /// Ends the packet's charge to the remote's budget.
    fn discharge(&mut self, id: u64, totals: &mut Totals) {
        let sent = self.window.get_mut(id);
        totals.charged -= sent.map_or(0, Sent::discharge);
    }

    /// The bytes of a fragment, if something of its packet may still be sent.
    pub(super) fn kept(
        &self,
        part: &Packet<MessageBytes>,
        params: &SequencingParams,
    ) -> Option<&[u8]> {
        let id = self.window.expand(part.id, params)?;
        self.window.kept(id, part.part().0, part.payload.length())
    }

    /// The newest packet is given up before anything of it has left: the one before it is not outdated, and what is
    /// behind waits for that (D3). The new dependency of the packet that is given up.
    fn depend_again(&mut self, id: u64, params: &SequencingParams) -> Option<u32> {
        let never_left = self.unsent && id + 1 == self.window.next_id();
        if !never_left || !core::mem::take(&mut self.outdates) {
            return None;
        }
        let older = LastReliable::plain(id - 1);
        self.last_reliable = Some(older);
        let dependency = dependency(id, Some(older.id), params.window);
        // Its sentinel leaves behind it, so that it is still here.
        let own = serial::truncate(id, params.id_bits);
        for control in &mut self.controls {
            if let Control::Sentinel(marker) = control {
                if marker.id == own {
                    marker.dependency = dependency;
                }
            }
        }
        Some(dependency)
    }

    /// Gives back what the packet takes of the send budget.
    #[inline]
    pub(super) fn give_back(&mut self, id: u64, totals: &mut Totals) {
        if let Some(sent) = self.window.get_mut(id) {
            let (mode, queued) = (sent.mode, sent.give_back());
            totals.room.give_back(&mut self.held, mode, queued);
        }
    }

    /// Whether the packet is still in the transfer window.
    pub(crate) fn is_current(&self, id: u32, params: &SequencingParams) -> bool {
        self.window.expand(id, params).is_some()
    }

    /// Since when the newest packet had waited when it got its id; `NEVER` of older ones, whose beginning has
    /// left.
    pub(super) fn begun(&self, id: u32, params: &SequencingParams) -> Instant {
        if self.window.expand(id, params) == self.window.newest() {
            self.begun
        } else {
            Instant::NEVER
        }
    }

    /// A message of the packet leaves: for how long the packet has waited, if it is its first one.
    #[inline]
    pub(super) fn take_waited(
        &mut self,
        id: u32,
        now: Instant,
        params: &SequencingParams,
    ) -> Option<Micros> {
        let newest = self.window.newest().filter(|_| self.unsent)?;
        if self.window.expand(id, params) != Some(newest) {
            return None;
        }
        self.unsent = false;
        // Not before: as long as nothing of this one has left, an older one with its key is the latest.
        let has_key = self.promises.left(newest);
        let waited = now.since(self.begun);
        // With a key it may stand in the place of an older packet, which has waited for longer.
        if !has_key {
            self.waiting.left(waited, now);
        }
        Some(waited)
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
        let packet = self.window.get(id)?;
        let current = self.current.as_ref().filter(|current| current.id == id);
        Some(SendProgress {
            len: packet.len,
            sent: current.map_or(packet.len, |current| current.offset),
            // Saturating, as an empty packet has an open byte (Q14).
            acknowledged: packet.len.saturating_sub(packet.open),
        })
    }

    /// Packets of which nothing was sent.
    pub(super) fn waiting_count(&self) -> u32 {
        let waiting = self.waiting.len() + usize::from(self.unsent && !self.window.is_empty());
        u32::try_from(waiting).unwrap_or(u32::MAX)
    }

    /// A message of the packet is sent in two, of which the second begins at byte `start`.
    pub(super) fn cut(&mut self, id: u32, start: u32, params: &SequencingParams) {
        if let Some(id) = self.window.expand(id, params) {
            self.window.cut(id, start);
        }
    }

    /// A message of the packet arrived: all of it, or a fragment.
    #[inline]
    pub(crate) fn acknowledged(
        &mut self,
        id: u32,
        fragment: Option<Fragment>,
        shared: &mut Shared<'_>,
    ) {
        let Some(id) = self.window.expand(id, shared.params) else {
            return;
        };
        let Some(mode) = self.window.acknowledge(id, fragment) else {
            return;
        };
        match mode {
            // The remote host may throw it out for others without a word: nobody would end a longer charge
            // (Q2).
            Mode::Unreliable => self.discharge(id, shared.totals),
            // The remote host keeps these until its window passes them, and so does the charge.
            Mode::Reliable | Mode::Passive => {
                shared.totals.undelivered -= 1;
                self.give_back(id, shared.totals);
            }
        }
        self.promises.arrived(id, mode, &mut shared.totals.receipts);
    }

    /// A message of an unreliable packet was lost. True if the sender wants to hear should that prove wrong.
    pub(crate) fn lost(&mut self, id: u32, shared: &mut Shared<'_>) -> bool {
        let Some(id) = self.window.expand(id, shared.params) else {
            return false;
        };
        // Without this message the packet cannot become complete, and the remote host gives it up (Q10).
        self.discharge(id, shared.totals);
        self.promises.lost(id, &mut shared.totals.receipts)
    }

    /// The receive window has passed the packet `id`: n_b ← id + 1 (§3.2.1). What it has passed is delivered
    /// or skipped for good.
    pub(crate) fn advance_past(&mut self, id: u64, how: Passed, totals: &mut Totals) {
        while self.window.base() <= id {
            let passed = self.window.base();
            let Some(mut sent) = self.window.pass() else {
                // No such packet was begun: somebody has forged one. A packet with one of these ids would be
                // stale at the remote host (P14).
                self.window.skip_to(id + 1);
                break;
            };
            totals.charged -= sent.discharge();
            let queued = sent.give_back();
            totals.room.give_back(&mut self.held, sent.mode, queued);
            // It need not be acknowledged: it was skipped, or the acknowledgement comes later than this.
            totals.undelivered -= u32::from(sent.open > 0 && sent.mode != Mode::Unreliable);
            let receipts = &mut totals.receipts;
            let later = self.promises.passed(passed, (sent.mode, how), receipts);
            totals.unsettled += u32::from(later);
        }
        // A passive packet that was skipped before all of it was sent is not sent any further (Q9).
        let base = self.window.base();
        let skipped = self.current.take_if(|current| current.id < base);
        totals.unsent -= u32::from(skipped.is_some());
    }

    /// The remote host tells what became of the packets up to `id`.
    pub(super) fn on_fates(&mut self, id: u64, fates: Fates, totals: &mut Totals) {
        self.fates_told = true;
        let count = u64::from(fates.count);
        let from = (id + 1).saturating_sub(count);
        if fates.first {
            // What was passed before the remote host was asked had not come: it was skipped.
            self.promises.settle_before(from, totals);
        }
        for place in 0..count {
            // The lowest bit is that of the oldest packet.
            let given = fates.skipped >> place & 1 == 0;
            self.promises.settle(from + place, given, totals);
        }
        self.advance_past(id, Passed::Told, totals);
    }

    /// A packet that waited without an id is not sent: gives back what it took, and tells its receipt.
    fn drop_waiting(&mut self, dropped: &Waiting, outcome: Outcome, totals: &mut Totals) {
        let (mode, cost) = (dropped.options.mode, cost(dropped.payload.len()));
        totals.room.give_back(&mut self.held, mode, cost);
        totals.unsent -= 1;
        totals.undelivered -= u32::from(mode != Mode::Unreliable);
        let token = dropped.options.receipt;
        totals.receipts.tell_once(token, outcome);
    }

    /// Drops the packets that have expired, and what is not sent yet of the one that is being sent.
    pub(super) fn drop_expired(&mut self, channel: u8, now: Instant, shared: &mut Shared<'_>) {
        while let Some(dropped) = self.waiting.pop_expired(now) {
            self.drop_waiting(&dropped, Outcome::Expired, shared.totals);
            shared.totals.expired += 1;
        }
        if let Some(current) = &self.current {
            let (id, dependency) = (current.id, current.dependency);
            if self.promises.ends(id) <= now {
                self.give_up_id(channel, (id, dependency), shared);
            }
        }
    }

    /// When the next packet expires of those that wait or are being sent.
    pub(super) fn next_expiry(&self) -> Instant {
        let current = self.current.as_ref();
        let current = current.map_or(Instant::NEVER, |current| self.promises.ends(current.id));
        self.waiting.next_expiry().min(current)
    }

    /// Whether nothing of this packet is to be sent any more.
    pub(super) fn is_given_up(&self, id: u32, now: Instant, params: &SequencingParams) -> bool {
        let id = self.window.expand(id, params);
        id.is_some_and(|id| self.promises.is_given_up(id, now))
    }

    /// Nothing of this packet is sent any more, as [`is_given_up`](Self::is_given_up) told.
    pub(super) fn give_up(
        &mut self,
        channel: u8,
        (id, dependency): (u32, u32),
        shared: &mut Shared<'_>,
    ) {
        if let Some(id) = self.window.expand(id, shared.params) {
            self.give_up_id(channel, (id, dependency), shared);
        }
    }

    /// Gives up a packet of which something was or would be sent, if it has not arrived whole.
    fn give_up_id(&mut self, channel: u8, (id, dependency): (u64, u32), shared: &mut Shared<'_>) {
        let Some(reason) = self.promises.give_up(id, &mut shared.totals.receipts) else {
            return;
        };
        let again = self.depend_again(id, shared.params);
        let dependency = again.unwrap_or(dependency);
        let Some(sent) = self.window.get_mut(id) else {
            return;
        };
        match sent.mode {
            // Nobody waits for it, and the remote host gives up what is incomplete by itself.
            Mode::Unreliable => shared.totals.charged -= sent.discharge(),
            // Others may wait for it, and what has come of it would take the receive budget for ever (D1).
            Mode::Reliable | Mode::Passive => self.controls.push_back(Control::Tombstone(Marker {
                channel,
                id: serial::truncate(id, shared.params.id_bits),
                dependency,
            })),
        }
        self.give_back(id, shared.totals);
        // Not now: a datagram that is being planned may name bytes of the packet.
        if self.window.keeps(id) {
            shared.totals.given_up.push((channel, id));
        }
        match reason {
            Reason::Expired => shared.totals.expired += 1,
            Reason::Cancelled => shared.totals.cancelled += 1,
            Reason::Outdated => shared.totals.replaced += 1,
        }
        // The newest one: it waits no more, although nothing of it may have left.
        if id + 1 == self.window.next_id() {
            self.unsent = false;
        }
        if self.current.take_if(|current| current.id == id).is_some() {
            shared.totals.unsent -= 1;
        }
    }

    /// Cancels the packets with this receipt (`docs/deviations.md` D4). Whether there were any of
    /// which something would be sent, or sent again if it is lost.
    pub(super) fn cancel(&mut self, channel: u8, token: u64, shared: &mut Shared<'_>) -> bool {
        let mut any = false;
        while let Some(dropped) = self.waiting.pop_receipt(token) {
            self.drop_waiting(&dropped, Outcome::Cancelled, shared.totals);
            shared.totals.cancelled += 1;
            any = true;
        }
        let mut from = 0;
        while let Some(id) = self.promises.next(token, from) {
            from = id + 1;
            let current = self.current.as_ref().filter(|current| current.id == id);
            let dependency = current.map(|current| current.dependency);
            let repeated = self
                .window
                .get(id)
                .is_some_and(|sent| sent.mode != Mode::Unreliable);
            let has_not_left = self.unsent && self.window.newest() == Some(id);
            // An unreliable packet that has left whole cannot be called back.
            let is_over = !repeated && !has_not_left && dependency.is_none();
            if is_over || !self.promises.cancel(id) {
                continue;
            }
            any = true;
            // The rest of its fragments is not sent. A packet that has left whole becomes a tombstone when
            // something of it is lost: it may as well have arrived.
            if let Some(dependency) = dependency {
                self.give_up_id(channel, (id, dependency), shared);
            }
        }
        any
    }

    /// The tombstone of a packet arrived: nothing of the packet has to arrive any more.
    pub(super) fn buried(&mut self, id: u32, shared: &mut Shared<'_>) {
        let id = self.window.expand(id, shared.params);
        let Some(sent) = id.and_then(|id| self.window.get_mut(id)) else {
            return;
        };
        if core::mem::take(&mut sent.open) > 0 {
            shared.totals.undelivered -= 1;
        }
    }

    /// The connection has ended: tells the receipts of what can no longer arrive.
    pub(super) fn close(&mut self, totals: &mut Totals) {
        for waiting in self.waiting.iter() {
            let token = waiting.options.receipt;
            totals.receipts.tell_once(token, Outcome::Lost);
        }
        self.promises.close(&mut totals.receipts);
        totals.unsettled = 0;
    }
}

/// The next fragment of a packet, with `most` bytes at most, or the whole of it.
#[inline]
fn next_part(
    (channel, receipt): (u8, bool),
    current: &mut Current,
    most: usize,
    params: &SequencingParams,
) -> Packet<MessageBytes> {
    let (start, len) = (current.offset as usize, current.len);
    let end = start.saturating_add(most).min(len);
    // A packet is at most 4 GiB long by `Config`.
    let [offset, next, whole] = [start, end, len].map(|at| u32::try_from(at).unwrap_or(u32::MAX));
    current.offset = next;
    let (fragment, payload) = if start == 0 && end == len {
        // Moved, not shared: to share a `Bytes` that was made of a `Vec` takes an allocation.
        (
            None,
            MessageBytes::Own(core::mem::take(&mut current.payload)),
        )
    } else if current.options.mode == Mode::Unreliable {
        let mut part = MessageBytes::Own(current.payload.slice(start..end));
        if current.options.redundancy.get().unwrap_or(0) > 0 {
            part.detach(); // a copy waits until it has left
        }
        (Fragment::new(offset, whole), part)
    } else {
        (
            Fragment::new(offset, whole),
            MessageBytes::Kept(next - offset),
        )
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
