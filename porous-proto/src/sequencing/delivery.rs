//! How the receiving half of a channel gives packets to the application, and what it gives up meanwhile.
//! Packets come in the order in which they were sent (§3.2.3) or, on an unordered channel, as they are
//! complete; m_b then stays behind what is missing for as long as the sender can do without it
//! (`docs/deviations.md` D5).

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;

use bytes::Bytes;

use super::entry::{Content, Entry};
use super::receive_queue::ReceiveQueue;
use super::reports::FateLog;
use super::rules::{last_marked, may_consume, next_marked};
use super::{SequencingParams, Shared, Totals, cost};
use crate::config::Order;
use crate::frame::Mode;
use crate::hooks::canary::{Bug, strikes};
use crate::serial;
use crate::time::Instant;

/// An incomplete unreliable packet is given up when nothing of it came for this time. Its fragments leave one
/// after the other: one that has not come by then was lost, unless the sender itself was held up.
const GIVEN_UP_AFTER: Duration = Duration::from_secs(2);

/// The most incomplete unreliable packets of a channel. An honest sender begins a packet of a channel when
/// the one before has left; there are more where fragments overtook each other or were lost.
const PARTIALS_MAX: usize = 32;

/// The incomplete unreliable packets of a channel, and when the last fragment of each came.
#[derive(Debug)]
pub(crate) struct Partials(Vec<(u64, Instant)>);

impl Partials {
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }

    /// A fragment has come of a packet that is still incomplete.
    fn grows(&mut self, id: u64, now: Instant) {
        match self.0.iter_mut().find(|(other, _)| *other == id) {
            Some((_, heard)) => *heard = now,
            None => self.0.push((id, now)),
        }
    }

    /// The packet is complete, or is given up.
    pub(crate) fn forget(&mut self, id: u64) {
        self.0.retain(|&(other, _)| other != id);
    }

    /// The receive window has passed the packets up to this id.
    pub(crate) fn forget_through(&mut self, id: u64) {
        self.0.retain(|&(other, _)| other > id);
    }

    /// The number of incomplete packets.
    #[cfg(any(test, feature = "audit"))]
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// When the next packet is to be given up.
    pub(crate) fn due(&self) -> Instant {
        let due = self.0.iter().map(|&(_, heard)| heard + GIVEN_UP_AFTER);
        due.min().unwrap_or(Instant::NEVER)
    }
}

/// What has come and the receive window Q_r (17) has not passed, and how the window moves on.
#[derive(Debug)]
pub(crate) struct Delivery {
    pub(super) queue: ReceiveQueue,
    pub(super) partials: Partials,
    /// What became of packets, from when their sender first wanted to know.
    pub(super) fates: Option<Box<FateLog>>,
    /// The last marked id (18) that m_b has passed and that was not reported.
    pub(super) fired: Option<u64>,
    order: Order,
    /// One past the newest entry at the last report, on an unordered channel.
    seen: u64,
}

impl Delivery {
    pub(crate) fn new(first_id: u64, order: Order) -> Self {
        Self {
            queue: ReceiveQueue::new(first_id),
            partials: Partials::new(),
            fates: None,
            fired: None,
            order,
            seen: first_id,
        }
    }

    /// Whether the window has passed this packet, and the sender, which wants to know, is still to be told
    /// that it was skipped.
    pub(super) fn comes_too_late(&self, id: u32, params: &SequencingParams) -> bool {
        let base = self.queue.base();
        let behind = (1 << params.id_bits) - params.window;
        let id = || serial::expand(id, params.id_bits, base, behind);
        let log = self.fates.as_ref();
        log.is_some_and(|log| id().is_some_and(|id| log.is_skipped(id, base)))
    }

    /// Adds an entry for a packet of which nothing is there.
    pub(super) fn open(&mut self, id: u64, entry: Entry, totals: &mut Totals) {
        totals.keep(entry.mode, entry.cost());
        // What comes whole and in order needs no place of its own: it only waits for its turn.
        let is_next = self.order == Order::Ordered && self.queue.is_next(id);
        if is_next && matches!(entry.content, Content::Complete(_)) {
            self.queue.append(entry);
        } else {
            totals.ring_ids += self.queue.insert(id, entry);
        }
    }

    /// Forgets all that is there of a packet.
    pub(super) fn forget(&mut self, id: u64, totals: &mut Totals) {
        if let Some(entry) = self.queue.remove(id) {
            totals.release(entry.mode, entry.cost());
        }
        self.partials.forget(id);
    }

    /// The next entry that can be consumed: a complete packet, or else a sentinel that blocks the window.
    #[inline]
    fn next_consumable(&self, believed: u64, params: &SequencingParams) -> Option<u64> {
        let base = self.queue.base();
        // Nothing is believed beyond m_b, or nothing is there.
        if base >= believed {
            return None;
        }
        if self.queue.has_next() {
            return Some(base);
        }
        self.next_of_ring(believed, params)
    }

    /// As [`next_consumable`](Self::next_consumable), where nothing stands in the row.
    fn next_of_ring(&self, believed: u64, params: &SequencingParams) -> Option<u64> {
        let limit = self.queue.limit().min(believed);
        // The packet first: it passes sentinels and missing packets that stand before it.
        let complete = self.queue.first_complete(limit);
        complete.or_else(|| self.first_blocking((limit, believed), params))
    }

    /// The first sentinel before `limit` whose packet is missing, if it may be consumed.
    fn first_blocking(
        &self,
        (limit, believed): (u64, u64),
        params: &SequencingParams,
    ) -> Option<u64> {
        // What is not believed is not the newest: a forged packet must not let sentinels be passed (P14).
        let newest = believed.checked_sub(1)?;
        // Only marked ids have sentinels.
        let mut id = next_marked(self.queue.base(), params.spacing);
        while id < limit && may_consume(id, newest, params.window, params.spacing) {
            if self.queue.get(id).is_some_and(|entry| entry.sentinel) {
                return Some(id);
            }
            id += params.spacing;
        }
        None
    }

    /// Notes that the window passes the packet `id`, and the packets from `from` on before it, which were not
    /// given to the application.
    fn note(&mut self, (from, id): (u64, u64), given: bool, params: &SequencingParams) {
        if let Some(fates) = &mut self.fates {
            fates.push(id - from, true, params);
            fates.push(1, !given, params);
        }
    }

    /// Whether [`consume`](Self::consume) would deliver something.
    #[inline]
    pub(crate) fn is_ready(&self, believed: u64, params: &SequencingParams) -> bool {
        match self.order {
            Order::Ordered => self.next_consumable(believed, params).is_some(),
            // There is a packet to deliver, or m_b lags so far behind that it has to be moved on.
            Order::Unordered => {
                let complete = self.queue.first_complete(believed);
                complete.is_some() || self.next_skip(relief(believed, params), params).is_some()
            }
        }
    }

    /// Consumes entries up to and including the next packet that can be delivered.
    #[inline]
    pub(crate) fn consume(
        &mut self,
        believed: u64,
        shared: &mut Shared<'_>,
    ) -> Option<(Mode, Bytes)> {
        if self.order == Order::Unordered {
            return self.consume_unordered(believed, shared);
        }
        while let Some(id) = self.next_consumable(believed, shared.params) {
            if let Some(delivered) = self.consume_entry(id, shared) {
                return Some(delivered);
            }
        }
        None
    }

    /// Consumes the entry of `id`: deletes older ones, moves m_b past it, and notes whether (18) fired. The
    /// packet, if there is one to deliver.
    fn consume_entry(&mut self, id: u64, shared: &mut Shared<'_>) -> Option<(Mode, Bytes)> {
        if strikes(Bug::DeliversTwice) {
            if let Some(Content::Complete(payload)) = self.queue.get(id).map(|e| &e.content) {
                return Some((self.queue.get(id)?.mode, payload.clone()));
            }
        }
        let base = self.queue.base();
        let entry = match self.queue.take_next() {
            Some(entry) => entry,
            None => self.take_past(id, shared)?,
        };
        shared.totals.release(entry.mode, entry.cost());
        shared.totals.passed += cost(entry.len());
        // An earlier one that is not reported yet stays: its report is still due.
        self.fired = last_marked(base, id + 1, shared.params.spacing).or(self.fired);
        let given = matches!(entry.content, Content::Complete(_));
        self.note((base, id), given, shared.params);
        match entry.content {
            Content::Complete(payload) => Some((entry.mode, payload)),
            Content::Sentinel
            | Content::Partial(_)
            | Content::Tombstone
            | Content::Delivered
            | Content::Buried => None,
        }
    }

    /// Takes the entry of `id` out of the ring, which begins at m_b, and moves m_b past it and all before it.
    fn take_past(&mut self, id: u64, shared: &mut Shared<'_>) -> Option<Entry> {
        let base = self.queue.base();
        // Each id counts a packet's charge, also where nothing came: the sender has charged them all, and
        // cannot go on before it hears that they were passed.
        shared.totals.passed += (id - base) * cost(0);
        let mut from = base;
        while let Some(skipped) = self.queue.next(from).filter(|&next| next < id) {
            from = skipped + 1;
            if let Some(entry) = self.queue.remove(skipped) {
                shared.totals.release(entry.mode, entry.cost());
                shared.totals.passed += entry.len() as u64;
            }
        }
        let entry = self.queue.remove(id)?;
        self.queue.advance_to(id + 1);
        self.partials.forget_through(id);
        Some(entry)
    }

    /// Delivers the next complete packet of an unordered channel. Its entry stays in the queue, so that no
    /// other packet is delivered under its id.
    fn consume_unordered(
        &mut self,
        believed: u64,
        shared: &mut Shared<'_>,
    ) -> Option<(Mode, Bytes)> {
        // Before all else: a sender that fills its window would wait for m_b.
        self.skip_to(relief(believed, shared.params), shared);
        while let Some(id) = self.queue.first_complete(believed) {
            let twice = strikes(Bug::DeliversTwice);
            let deliver = |entry: &mut Entry| {
                let freed = entry.cost();
                if twice {
                    if let Content::Complete(payload) = &entry.content {
                        return (entry.mode, 0, Content::Complete(payload.clone()));
                    }
                }
                // Told apart, as the sender hears that the packet of a tombstone was not delivered.
                let after = if matches!(entry.content, Content::Tombstone) {
                    Content::Buried
                } else {
                    Content::Delivered
                };
                let content = core::mem::replace(&mut entry.content, after);
                (entry.mode, freed, content)
            };
            let (mode, freed, content) = self.queue.change(id, deliver)?;
            shared.totals.release(mode, freed);
            shared.totals.passed += freed;
            self.pass_to(self.queue.delivered_end(), shared);
            if let Content::Complete(payload) = content {
                return Some((mode, payload));
            }
        }
        // Tombstones were consumed, which may let m_b go on.
        self.skip_to(relief(believed, shared.params), shared);
        None
    }

    /// Whether there are packets that were delivered and that m_b has not passed.
    pub(super) fn lags(&self) -> bool {
        self.queue.has_delivered()
    }

    /// To be called when the remote host is about to be told where the window is. What is missing and was
    /// missing at the report before is not waited for any longer: m_b passes it.
    pub(super) fn catch_up(&mut self, believed: u64, shared: &mut Shared<'_>) {
        let seen = core::mem::replace(&mut self.seen, believed);
        self.skip_to(seen, shared);
    }

    /// Moves m_b on to `to` at most, past missing packets that no other waits for.
    fn skip_to(&mut self, to: u64, shared: &mut Shared<'_>) {
        while let Some(next) = self.next_skip(to, shared.params) {
            self.pass_to(next, shared);
            self.pass_to(self.queue.delivered_end(), shared);
        }
    }

    /// Where m_b can be moved to at once, `to` at most: past the last packet that was delivered, or the last
    /// sentinel.
    fn next_skip(&self, to: u64, params: &SequencingParams) -> Option<u64> {
        // Not past an entry that waits for another: the packet that it depends on is reliable, and comes. Nor
        // past a complete packet, which would never be delivered.
        let limit = to.min(self.queue.limit());
        let complete = self.queue.first_complete(limit);
        let limit = complete.unwrap_or(limit);
        let delivered = self.queue.last_delivered(limit);
        let from = delivered.map_or_else(|| self.queue.base(), |id| id + 1);
        // Behind the last delivered packet a sentinel shows that an unreliable packet was sent there, and
        // that nobody needs it.
        let mut marked = last_marked(from, limit.max(from), params.spacing);
        while let Some(id) = marked.filter(|&id| id >= from) {
            if self.queue.get(id).is_some_and(Entry::is_sentinel) {
                return Some(id + 1);
            }
            marked = id.checked_sub(params.spacing);
        }
        delivered.map(|id| id + 1)
    }

    /// m_b ← `to`. Packets before that were not delivered count as skipped.
    fn pass_to(&mut self, to: u64, shared: &mut Shared<'_>) {
        let base = self.queue.base();
        let mut from = base;
        while let Some(id) = self.queue.next(from).filter(|&id| id < to) {
            shared.totals.passed += (id - from) * cost(0);
            if let Some(entry) = self.queue.remove(id) {
                shared.totals.release(entry.mode, entry.cost());
                shared.totals.passed += entry.cost();
                self.note(
                    (from, id),
                    matches!(entry.content, Content::Delivered),
                    shared.params,
                );
            }
            from = id + 1;
        }
        if let Some(fates) = &mut self.fates {
            fates.push(to.saturating_sub(from), true, shared.params);
        }
        if to > base {
            self.queue.advance_to(to);
            self.partials.forget_through(to - 1);
            self.fired = last_marked(base, to, shared.params.spacing).or(self.fired);
        }
    }

    /// A fragment has come of an unreliable packet that is still incomplete.
    pub(super) fn grows(&mut self, id: u64, totals: &mut Totals, now: Instant) {
        self.partials.grows(id, now);
        if self.partials.0.len() > PARTIALS_MAX {
            // The oldest: it is the least likely to become complete.
            if let Some(id) = self.queue.first_unreliable(false) {
                self.give_up(id, totals);
                totals.incomplete += 1;
            }
        }
    }

    /// Gives up the packets of which nothing came for [`GIVEN_UP_AFTER`]. Whether there were any.
    pub(super) fn give_up_overdue(&mut self, totals: &mut Totals, now: Instant) -> bool {
        let before = totals.incomplete;
        let overdue = |&(_, heard): &(u64, Instant)| heard + GIVEN_UP_AFTER <= now;
        while let Some(at) = self.partials.0.iter().position(overdue) {
            let (id, _) = self.partials.0.swap_remove(at);
            self.give_up(id, totals);
            totals.incomplete += 1;
        }
        totals.incomplete > before
    }

    /// Forgets an unreliable packet, but not its sentinel.
    fn give_up(&mut self, id: u64, totals: &mut Totals) {
        self.partials.forget(id);
        let freed = self.queue.get(id).map_or(0, Entry::cost);
        // Without the sentinel the window could not move past this packet.
        let keeps_sentinel = |entry: &mut Entry| {
            entry.content = Content::Sentinel;
            entry.sentinel
        };
        if self.queue.change(id, keeps_sentinel) == Some(false) {
            self.queue.remove(id);
        }
        if !strikes(Bug::LeaksFragment) {
            totals.release(Mode::Unreliable, freed);
        }
    }

    /// Gives up unreliable packets, complete or incomplete ones, until at most `kept` bytes are kept. Whether
    /// it gave up any.
    pub(super) fn evict(&mut self, complete: bool, kept: u64, totals: &mut Totals) -> bool {
        let before = totals.kept;
        if complete && before > kept {
            self.queue.dissolve();
        }
        while totals.kept > kept {
            let Some(id) = self.queue.first_unreliable(complete) else {
                break;
            };
            self.give_up(id, totals);
            totals.incomplete += u64::from(!complete);
            totals.evicted += u64::from(complete);
        }
        totals.kept < before
    }
}

/// The id before which m_b of an unordered channel must not stay: half a window is left to the sender, which
/// knows no more of m_b than it was told.
const fn relief(believed: u64, params: &SequencingParams) -> u64 {
    believed.saturating_sub(params.window / 2)
}
