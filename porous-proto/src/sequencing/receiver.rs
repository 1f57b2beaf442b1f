//! The receiving half of a channel: the receive window Q_r (17), and messages becoming packets in
//! the order they were sent (§3.2.3).

use alloc::boxed::Box;

use bytes::Bytes;

use super::dispute::Dispute;
use super::entry::{Content, Entry};
use super::fates::FateLog;
use super::partials::Partials;
use super::receive_queue::ReceiveQueue;
use super::sentinel::{last_marked, may_consume, next_marked};
use super::trust::Trust;
use super::{SequencingParams, Totals, cost};
use crate::canary::{Bug, strikes};
use crate::config::Order;
use crate::frame::{Mode, Packet};
use crate::serial;
use crate::time::Instant;

/// What to think of a packet message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It begins a packet: its bytes count in the receive budget, and the packet does.
    Begin,
    /// It adds to a packet that is there: this number of new bytes, which count.
    Join(usize),
    /// Its packet was passed, or it is a duplicate: nothing to do.
    Stale,
    /// No honest sender sends this.
    Violation,
}

/// The receiver.
#[derive(Debug)]
pub(crate) struct Receiver {
    pub(super) queue: ReceiveQueue,
    pub(super) partials: Partials,
    pub(super) trust: Trust,
    pub(super) dispute: Dispute,
    /// What became of packets, if the sender wants to know.
    pub(super) fates: Option<Box<FateLog>>,
    /// The last marked id (18) that m_b passed and that was not reported.
    pub(super) fired: Option<u64>,
    order: Order,
    /// One past the newest entry at the last report, if it is unordered.
    pub(super) seen: u64,
}

/// The verdict on the first message of a channel.
pub(crate) fn check_first(
    packet: &Packet<&[u8]>,
    params: &SequencingParams,
    first: u64,
) -> Verdict {
    Receiver::new(first, Order::Ordered).check(packet, params)
}

impl Receiver {
    pub(crate) fn new(first_id: u64, order: Order) -> Self {
        Self {
            queue: ReceiveQueue::new(first_id),
            partials: Partials::new(),
            trust: Trust::new(first_id),
            dispute: Dispute::default(),
            fates: None,
            fired: None,
            order,
            seen: first_id,
        }
    }

    /// m_b.
    pub(crate) const fn base(&self) -> u64 {
        self.queue.base()
    }

    pub(crate) const fn fired(&self) -> Option<u64> {
        self.fired
    }

    pub(crate) const fn take_fired(&mut self) -> Option<u64> {
        self.fired.take()
    }

    /// The full id of a packet in Q_r (17). None for one that the window has passed: of the whole
    /// id space, everything but the window lies behind.
    fn expand(&self, id: u32, params: &SequencingParams) -> Option<u64> {
        let base = self.base();
        let behind = (1 << params.id_bits) - params.window;
        serial::expand(id, params.id_bits, base, behind).filter(|&id| id >= base)
    }

    /// As [`expand`](Self::expand), if the dependency does not reach below the first packet.
    fn place(&self, id: u32, dependency: u32, params: &SequencingParams) -> Option<u64> {
        let id = self.expand(id, params)?;
        (u64::from(dependency) <= id).then_some(id)
    }

    /// Checks a message without changing anything.
    pub(crate) fn check(&self, packet: &Packet<&[u8]>, params: &SequencingParams) -> Verdict {
        let Some(id) = self.expand(packet.id, params) else {
            return Verdict::Stale;
        };
        if u64::from(packet.dependency) > id {
            return Verdict::Violation;
        }
        if self.contradicted_by(packet, params).is_some() {
            return Verdict::Violation; // `deviations.md` Q13
        }
        let Some(entry) = self.queue.get(id) else {
            return Verdict::Begin;
        };
        match &entry.content {
            Content::Sentinel => Verdict::Begin,
            Content::Partial(parts) => match parts.news(packet.part().0, packet.payload) {
                None | Some(0) => Verdict::Stale,
                Some(news) => Verdict::Join(news),
            },
            // The packet of a tombstone is late, in whatever mode.
            Content::Complete(_) | Content::Tombstone | Content::Delivered | Content::Buried => {
                Verdict::Stale
            }
        }
    }

    /// The packet that cannot be what is kept of it, if this message is true: its own, or the first that
    /// waits for another. The reliable packet that comes last before one that is newer cannot be older
    /// than that.
    pub(super) fn contradicted_by(
        &self,
        packet: &Packet<&[u8]>,
        params: &SequencingParams,
    ) -> Option<u64> {
        let id = self.place(packet.id, packet.dependency.into(), params)?;
        if let Some(entry) = self.queue.get(id) {
            let (offset, len) = packet.part();
            let dependency = u32::from(packet.dependency);
            let is_other = entry.mode != packet.mode || entry.dependency != dependency;
            let cannot_be = match &entry.content {
                Content::Tombstone | Content::Buried => false,
                Content::Partial(parts) => {
                    let agrees = || parts.news(offset, packet.payload).is_some();
                    is_other || parts.whole() != len || !agrees()
                }
                Content::Sentinel | Content::Complete(_) | Content::Delivered => is_other,
            };
            if cannot_be {
                return Some(id);
            }
        }
        let waiting = self.queue.limit();
        let entry = self.queue.get(waiting).filter(|_| waiting < id)?;
        let awaited = waiting.saturating_sub(entry.dependency.into());
        let last = id.saturating_sub(u64::from(packet.dependency).max(1));
        let is_denied = packet.dependency == 0 || last < awaited;
        is_denied.then_some(waiting)
    }

    /// Takes a message in. What does not fit to an earlier message of the same datagram is
    /// dropped: the first wins (`deviations.md` Q13).
    pub(crate) fn insert(
        &mut self,
        packet: &Packet<&[u8]>,
        frame: u64,
        params: &SequencingParams,
        (totals, now): (&mut Totals, Instant),
    ) {
        if let Some(id) = self.expand(packet.id, params) {
            self.trust.on_message(id, frame, params.window);
        }
        let more = match self.check(packet, params) {
            Verdict::Begin => cost(packet.payload.len()),
            Verdict::Join(news) => news as u64,
            Verdict::Stale | Verdict::Violation => return,
        };
        let (mode, dependency) = (packet.mode, packet.dependency.into());
        // The packet that it was to join may have made room for others of the datagram.
        if mode == Mode::Unreliable && totals.kept + more > params.receive_budget {
            return;
        }
        let Some(id) = self.expand(packet.id, params) else {
            return;
        };
        if self.queue.get(id).is_none() {
            self.open(id, mode, dependency, false, Content::Sentinel, totals);
        }
        let complete = self.queue.change(id, |entry| {
            entry.add(packet);
            entry.is_complete()
        });
        totals.keep(mode, more);
        if mode == Mode::Unreliable {
            if complete == Some(true) {
                self.partials.forget(id);
            } else {
                self.grows(id, totals, now);
            }
        }
    }

    /// A sentinel packet: an unreliable packet with this id was sent (§3.2.2).
    pub(crate) fn insert_sentinel(
        &mut self,
        (id, dependency): (u32, u32),
        frame: u64,
        params: &SequencingParams,
        totals: &mut Totals,
    ) {
        let Some(id) = self.place(id, dependency, params) else {
            return;
        };
        self.trust.on_message(id, frame, params.window);
        let note = |entry: &mut Entry| entry.sentinel |= entry.mode == Mode::Unreliable;
        if self.queue.change(id, note).is_none() {
            let nothing = Content::Sentinel;
            self.open(id, Mode::Unreliable, dependency, true, nothing, totals);
        }
    }

    /// A reliable or passive packet with this id was given up.
    pub(crate) fn insert_tombstone(
        &mut self,
        (id, dependency): (u32, u32),
        frame: u64,
        params: &SequencingParams,
        totals: &mut Totals,
    ) {
        let Some(id) = self.place(id, dependency, params) else {
            return;
        };
        self.trust.on_message(id, frame, params.window);
        let bury = |entry: &mut Entry| {
            let before = entry.cost();
            if matches!(entry.content, Content::Partial(_)) && entry.mode != Mode::Unreliable {
                entry.content = Content::Tombstone;
            }
            (entry.mode, before - entry.cost())
        };
        match self.queue.change(id, bury) {
            Some((mode, freed)) => totals.release(mode, freed),
            None => self.open(
                id,
                Mode::Reliable,
                dependency,
                false,
                Content::Tombstone,
                totals,
            ),
        }
    }

    /// Checks a tombstone: it may take the place of nothing.
    pub(crate) fn check_tombstone(&self, id: u32, params: &SequencingParams) -> Verdict {
        match self.expand(id, params) {
            Some(id) if self.queue.get(id).is_none() => Verdict::Begin,
            Some(_) | None => Verdict::Stale,
        }
    }

    fn open(
        &mut self,
        id: u64,
        mode: Mode,
        dependency: u32,
        sentinel: bool,
        content: Content,
        totals: &mut Totals,
    ) {
        let entry = Entry {
            mode,
            dependency,
            sentinel,
            content,
        };
        totals.keep(mode, entry.cost());
        totals.ring_ids += self.queue.insert(id, entry);
    }

    /// One past the newest entry that is no suspect, or m_b: nothing from here on may be consumed.
    pub(super) fn believed_end(&self) -> u64 {
        self.queue.end().min(self.trust.reach())
    }

    /// Nobody can be asked any more: suspects have been acknowledged, and are given out.
    pub(super) fn believe_all(&mut self) {
        self.trust.believe(self.queue.end());
    }

    fn has_suspects(&self) -> bool {
        self.queue.end() > self.trust.reach()
    }

    /// Whether a question about suspects becomes due.
    pub(super) fn wants_to_ask(&mut self) -> bool {
        self.has_suspects() && self.trust.wants_to_ask()
    }

    /// The question that is due is to be sent under this number: whether there is still a need for it.
    pub(super) fn ask(&mut self, number: u16) -> bool {
        let asks = self.has_suspects();
        self.trust.ask(asks.then_some(number));
        asks
    }

    /// The remote host answers a question: suspects that it has not sent are forgotten.
    pub(super) fn told(
        &mut self,
        number: u16,
        next: u32,
        params: &SequencingParams,
        totals: &mut Totals,
    ) {
        if !(self.trust).told(number, next, (self.base(), params.window)) {
            return;
        }
        let reach = self.trust.reach();
        while let Some(id) = self.queue.next(reach) {
            if let Some(entry) = self.queue.remove(id) {
                totals.release(entry.mode, entry.cost());
            }
            self.partials.forget(id);
        }
        self.queue.end_at(reach);
    }

    /// The next entry that can be consumed: a complete packet, which may pass sentinels, or else a
    /// sentinel that blocks the window.
    fn next_consumable(&self, params: &SequencingParams) -> Option<u64> {
        let limit = self.queue.limit().min(self.believed_end());
        let complete = self.queue.first_complete(limit);
        complete.or_else(|| self.first_blocking(limit, params))
    }

    /// The first sentinel before `limit` whose packet is missing, if it may be consumed. Only marked
    /// ids have one.
    fn first_blocking(&self, limit: u64, params: &SequencingParams) -> Option<u64> {
        let newest = self.believed_end().checked_sub(1)?;
        let mut id = next_marked(self.base(), params.spacing);
        while id < limit && may_consume(id, newest, params.window, params.spacing) {
            if self.queue.get(id).is_some_and(|entry| entry.sentinel) {
                return Some(id);
            }
            id += params.spacing;
        }
        None
    }

    /// The window passes the packet `id`, and those from `from` on before it, which have not come.
    pub(super) fn note(&mut self, (from, id): (u64, u64), given: bool, params: &SequencingParams) {
        if let Some(fates) = &mut self.fates {
            fates.push(id - from, true, params);
            fates.push(1, !given, params);
        }
    }

    /// Whether [`consume`](Self::consume) would deliver something.
    pub(crate) fn is_ready(&self, params: &SequencingParams) -> bool {
        match self.order {
            Order::Ordered => self.next_consumable(params).is_some(),
            Order::Unordered => self.is_ready_unordered(params),
        }
    }

    /// Consumes entries up to and including the next packet that can be delivered.
    pub(crate) fn consume(
        &mut self,
        params: &SequencingParams,
        totals: &mut Totals,
    ) -> Option<(Mode, Bytes)> {
        if self.order == Order::Unordered {
            return self.consume_unordered(params, totals);
        }
        while let Some(id) = self.next_consumable(params) {
            if let Some(delivered) = self.consume_entry(id, params, totals) {
                return Some(delivered);
            }
        }
        None
    }

    /// Deletes what is older, moves m_b past `id`, and notes whether (18) fired.
    fn consume_entry(
        &mut self,
        id: u64,
        params: &SequencingParams,
        totals: &mut Totals,
    ) -> Option<(Mode, Bytes)> {
        if strikes(Bug::DeliversTwice) {
            if let Some(Content::Complete(payload)) = self.queue.get(id).map(|e| &e.content) {
                return Some((self.queue.get(id)?.mode, payload.clone()));
            }
        }
        let base = self.base();
        totals.passed += (id - base) * cost(0);
        let mut from = base;
        while let Some(skipped) = self.queue.next(from).filter(|&next| next < id) {
            from = skipped + 1;
            if let Some(entry) = self.queue.remove(skipped) {
                totals.release(entry.mode, entry.cost());
                totals.passed += entry.len() as u64;
            }
        }
        let entry = self.queue.remove(id)?;
        totals.release(entry.mode, entry.cost());
        totals.passed += cost(entry.len());
        self.queue.advance_to(id + 1);
        self.partials.forget_through(id);
        self.fired = last_marked(base, id + 1, params.spacing).or(self.fired);
        let given = matches!(entry.content, Content::Complete(_));
        self.note((base, id), given, params);
        match entry.content {
            Content::Complete(payload) => Some((entry.mode, payload)),
            Content::Sentinel
            | Content::Partial(_)
            | Content::Tombstone
            | Content::Delivered
            | Content::Buried => None,
        }
    }
}

impl Totals {
    fn keep(&mut self, mode: Mode, bytes: u64) {
        self.kept += bytes;
        if mode == Mode::Unreliable {
            self.kept_unreliable += bytes;
        }
    }

    pub(super) fn release(&mut self, mode: Mode, bytes: u64) {
        self.kept -= bytes;
        if mode == Mode::Unreliable {
            self.kept_unreliable -= bytes;
        }
    }
}
