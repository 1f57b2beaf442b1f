//! How the receiving half of a channel gives packets to the application: in the order they were sent
//! (§3.2.3), or, if it is unordered, as they are complete, with m_b behind what is missing for as long
//! as the sender can do without it (`docs/deviations.md` D5); and what is given up meanwhile.

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

/// A packet of which nothing came for this time is given up. Its fragments leave one after the other:
/// what has not come by now was lost, unless the sender itself was held up.
const GIVEN_UP_AFTER: Duration = Duration::from_secs(2);

/// The most incomplete packets of a channel. An honest sender is at one packet of a channel at a time;
/// there are more where fragments overtook each other or were lost.
const PARTIALS_MAX: usize = 32;

/// The incomplete unreliable packets of a channel, and when the last fragment of each came.
#[derive(Debug)]
pub(crate) struct Partials(Vec<(u64, Instant)>);

impl Partials {
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }

    /// A fragment has come, of a packet that is not complete by it.
    fn grows(&mut self, id: u64, now: Instant) {
        match self.0.iter_mut().find(|(other, _)| *other == id) {
            Some((_, heard)) => *heard = now,
            None => self.0.push((id, now)),
        }
    }

    /// It is complete.
    pub(crate) fn forget(&mut self, id: u64) {
        self.0.retain(|&(other, _)| other != id);
    }

    /// The receive window has passed them.
    pub(crate) fn forget_through(&mut self, id: u64) {
        self.0.retain(|&(other, _)| other > id);
    }

    /// How many there are.
    #[cfg(any(test, feature = "audit"))]
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// When the next one is to be given up.
    pub(crate) fn due(&self) -> Instant {
        let due = self.0.iter().map(|&(_, heard)| heard + GIVEN_UP_AFTER);
        due.min().unwrap_or(Instant::NEVER)
    }
}

/// What has come and was not passed by the receive window Q_r (17), and what the window passes.
#[derive(Debug)]
pub(crate) struct Delivery {
    pub(super) queue: ReceiveQueue,
    pub(super) partials: Partials,
    /// What became of packets, if the sender wants to know.
    pub(super) fates: Option<Box<FateLog>>,
    /// The last marked id (18) that m_b passed and that was not reported.
    pub(super) fired: Option<u64>,
    order: Order,
    /// One past the newest entry at the last report, if it is unordered.
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

    /// Whether this packet comes after the window has passed it, and its sender does not know that yet
    /// but wants to.
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
        totals.ring_ids += self.queue.insert(id, entry);
    }

    /// Forgets whatever is there of a packet.
    pub(super) fn forget(&mut self, id: u64, totals: &mut Totals) {
        if let Some(entry) = self.queue.remove(id) {
            totals.release(entry.mode, entry.cost());
        }
        self.partials.forget(id);
    }

    /// The next entry that can be consumed: a complete packet, which may pass sentinels, or else a
    /// sentinel that blocks the window.
    fn next_consumable(&self, believed: u64, params: &SequencingParams) -> Option<u64> {
        let limit = self.queue.limit().min(believed);
        let complete = self.queue.first_complete(limit);
        complete.or_else(|| self.first_blocking((limit, believed), params))
    }

    /// The first sentinel before `limit` whose packet is missing, if it may be consumed. Only marked
    /// ids have one.
    fn first_blocking(
        &self,
        (limit, believed): (u64, u64),
        params: &SequencingParams,
    ) -> Option<u64> {
        let newest = believed.checked_sub(1)?;
        let mut id = next_marked(self.queue.base(), params.spacing);
        while id < limit && may_consume(id, newest, params.window, params.spacing) {
            if self.queue.get(id).is_some_and(|entry| entry.sentinel) {
                return Some(id);
            }
            id += params.spacing;
        }
        None
    }

    /// The window passes the packet `id`, and those from `from` on before it, which have not come.
    fn note(&mut self, (from, id): (u64, u64), given: bool, params: &SequencingParams) {
        if let Some(fates) = &mut self.fates {
            fates.push(id - from, true, params);
            fates.push(1, !given, params);
        }
    }

    /// Whether [`consume`](Self::consume) would deliver something.
    pub(crate) fn is_ready(&self, believed: u64, params: &SequencingParams) -> bool {
        match self.order {
            Order::Ordered => self.next_consumable(believed, params).is_some(),
            // Something can be delivered, or m_b has to be moved on.
            Order::Unordered => {
                let complete = self.queue.first_complete(believed);
                complete.is_some() || self.next_skip(relief(believed, params), params).is_some()
            }
        }
    }

    /// Consumes entries up to and including the next packet that can be delivered.
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

    /// Deletes what is older, moves m_b past `id`, and notes whether (18) fired.
    fn consume_entry(&mut self, id: u64, shared: &mut Shared<'_>) -> Option<(Mode, Bytes)> {
        if strikes(Bug::DeliversTwice) {
            if let Some(Content::Complete(payload)) = self.queue.get(id).map(|e| &e.content) {
                return Some((self.queue.get(id)?.mode, payload.clone()));
            }
        }
        let base = self.queue.base();
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
        shared.totals.release(entry.mode, entry.cost());
        shared.totals.passed += cost(entry.len());
        self.queue.advance_to(id + 1);
        self.partials.forget_through(id);
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

    /// The next packet that is complete. It leaves its entry in the queue, so that no other is
    /// delivered under its id.
    fn consume_unordered(
        &mut self,
        believed: u64,
        shared: &mut Shared<'_>,
    ) -> Option<(Mode, Bytes)> {
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
        // What was buried has moved m_b, and may let it go on.
        self.skip_to(relief(believed, shared.params), shared);
        None
    }

    /// Whether packets were delivered that m_b has not passed.
    pub(super) fn lags(&self) -> bool {
        self.queue.has_delivered()
    }

    /// The remote host is about to be told where the window is: what is missing of what was there
    /// the last time is not waited for any longer.
    pub(super) fn catch_up(&mut self, believed: u64, shared: &mut Shared<'_>) {
        let seen = core::mem::replace(&mut self.seen, believed);
        self.skip_to(seen, shared);
    }

    /// Moves m_b on to `to` at most, past what is missing and nobody waits for.
    fn skip_to(&mut self, to: u64, shared: &mut Shared<'_>) {
        while let Some(next) = self.next_skip(to, shared.params) {
            self.pass_to(next, shared);
            self.pass_to(self.queue.delivered_end(), shared);
        }
    }

    /// Where m_b can be moved to at once, `to` at most: past the last packet that was delivered, or
    /// the last sentinel, before anything that depends on what was not delivered, and before
    /// anything that can be delivered.
    fn next_skip(&self, to: u64, params: &SequencingParams) -> Option<u64> {
        let limit = to.min(self.queue.limit());
        let complete = self.queue.first_complete(limit);
        let limit = complete.unwrap_or(limit);
        let delivered = self.queue.last_delivered(limit);
        let from = delivered.map_or_else(|| self.queue.base(), |id| id + 1);
        let mut marked = last_marked(from, limit.max(from), params.spacing);
        while let Some(id) = marked.filter(|&id| id >= from) {
            if self.queue.get(id).is_some_and(Entry::is_sentinel) {
                return Some(id + 1);
            }
            marked = id.checked_sub(params.spacing);
        }
        delivered.map(|id| id + 1)
    }

    /// m_b ← `to`. What was not delivered of what is before counts as skipped.
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

    /// A fragment has come, of a packet that is not complete by it. If there are too many such
    /// packets, the oldest goes, as it is the least likely to be completed.
    pub(super) fn grows(&mut self, id: u64, totals: &mut Totals, now: Instant) {
        self.partials.grows(id, now);
        if self.partials.0.len() > PARTIALS_MAX {
            if let Some(id) = self.queue.first_unreliable(false) {
                self.give_up(id, totals);
                totals.incomplete += 1;
            }
        }
    }

    /// Gives up the packets of which nothing came for a while. Whether there were any.
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

    /// Forgets an unreliable packet. Its sentinel stays.
    fn give_up(&mut self, id: u64, totals: &mut Totals) {
        self.partials.forget(id);
        let freed = self.queue.get(id).map_or(0, Entry::cost);
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

    /// Makes room until `kept` bytes are kept at most, by giving up incomplete unreliable packets,
    /// or complete ones. Whether it gave up any.
    pub(super) fn evict(&mut self, complete: bool, kept: u64, totals: &mut Totals) -> bool {
        let before = totals.kept;
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

/// Where m_b of an unordered channel must not stay behind: the sender has half a window ahead of what
/// it knows of.
const fn relief(believed: u64, params: &SequencingParams) -> u64 {
    believed.saturating_sub(params.window / 2)
}
