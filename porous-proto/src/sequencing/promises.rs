//! What was promised for packets that have an id: a time to live, a receipt, and that only the latest
//! one of a key is repeated (`docs/deviations.md` D1 to D4).

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};

use super::backlog::Waiting;
use super::sender::Sender;
use super::{Sequencing, SequencingParams, Totals, cost};
use crate::event::Outcome;
use crate::frame::{Control, Mode};
use crate::options::SendOptions;
use crate::serial;
use crate::time::Instant;

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Receipt {
    pub(crate) token: u64,
    pub(crate) outcome: Outcome,
    /// Another one was told before, and was wrong.
    pub(crate) again: bool,
}

/// The receipts that are to be told (`docs/deviations.md` D2).
#[derive(Debug, Default)]
pub(crate) struct Receipts(VecDeque<Receipt>);

impl Receipts {
    fn tell(&mut self, token: Option<u64>, outcome: Outcome, again: bool) {
        if let Some(token) = token {
            self.0.push_back(Receipt {
                token,
                outcome,
                again,
            });
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn pop(&mut self) -> Option<Receipt> {
        let next = self.0.pop_front();
        if self.0.is_empty() {
            self.0 = VecDeque::new();
        }
        next
    }
}

/// What was promised for one packet.
#[derive(Debug)]
struct Promise {
    receipt: Option<u64>,
    /// When its time to live is over.
    ends: Instant,
    key: Option<u64>,
    /// A newer one with its key has left.
    outdated: bool,
    /// The application wants it no more.
    cancelled: bool,
    /// Its receipt was told.
    told: bool,
    /// Nothing of it is sent any more.
    given_up: bool,
}

/// The promises for packets in the transfer window that are not settled, by id: most packets have
/// none.
#[derive(Debug, Default)]
pub(crate) struct Promises {
    by_id: BTreeMap<u64, Promise>,
    receipts: BTreeSet<(u64, u64)>,
    /// The newest packet with each key that has left.
    keys: BTreeMap<u64, u64>,
}

/// Why nothing of a packet is sent any more.
#[derive(Clone, Copy, Debug)]
enum Reason {
    Expired,
    Cancelled,
    Outdated,
}

impl Promises {
    pub(super) fn begin(&mut self, id: u64, options: &SendOptions, ends: Instant) {
        let SendOptions {
            receipt, ttl, key, ..
        } = options;
        if receipt.is_none() && ttl.is_none() && key.is_none() {
            return;
        }
        if let Some(token) = options.receipt {
            self.receipts.insert((token, id));
        }
        let promise = Promise {
            receipt: options.receipt,
            ends,
            key: options.key,
            outdated: false,
            cancelled: false,
            told: false,
            given_up: false,
        };
        self.by_id.insert(id, promise);
    }

    /// Something of the packet is sent: an older one with its key is not repeated any more.
    pub(super) fn left(&mut self, id: u64) {
        let Some(key) = self.by_id.get(&id).and_then(|promise| promise.key) else {
            return;
        };
        let older = self.keys.insert(key, id);
        if let Some(promise) = older.and_then(|older| self.by_id.get_mut(&older)) {
            promise.outdated = true;
        }
    }

    pub(super) fn ends(&self, id: u64) -> Instant {
        self.by_id
            .get(&id)
            .map_or(Instant::NEVER, |promise| promise.ends)
    }

    pub(super) fn is_given_up(&self, id: u64, now: Instant) -> bool {
        self.by_id.get(&id).is_some_and(|promise| {
            let unwanted = promise.cancelled || promise.outdated;
            promise.given_up || unwanted || promise.ends <= now
        })
    }

    /// All of it has arrived.
    pub(super) fn delivered(&mut self, id: u64, receipts: &mut Receipts) {
        if let Some(promise) = self.remove(id) {
            if !promise.given_up {
                receipts.tell(promise.receipt, Outcome::Delivered, promise.told);
            }
        }
    }

    /// Some of it was lost and is not sent again. Whether it matters if that proves wrong.
    pub(super) fn lost(&mut self, id: u64, receipts: &mut Receipts) -> bool {
        let Some(promise) = self.by_id.get_mut(&id) else {
            return false;
        };
        if !promise.told && !promise.given_up {
            promise.told = true;
            receipts.tell(promise.receipt, Outcome::Lost, false);
        }
        promise.receipt.is_some() && !promise.given_up
    }

    /// The receive window has passed it before all of it was acknowledged: if it waited for it, it
    /// has come.
    pub(super) fn passed(&mut self, id: u64, mode: Mode, receipts: &mut Receipts) {
        if let Some(promise) = self.remove(id) {
            let outcome = match mode {
                Mode::Reliable => Outcome::Delivered,
                Mode::Unreliable | Mode::Passive => Outcome::Lost,
            };
            if !promise.told && !promise.given_up {
                receipts.tell(promise.receipt, outcome, false);
            }
        }
    }

    fn remove(&mut self, id: u64) -> Option<Promise> {
        let promise = self.by_id.remove(&id)?;
        if let Some(token) = promise.receipt {
            self.receipts.remove(&(token, id));
        }
        if let Some(key) = promise.key.filter(|key| self.keys.get(key) == Some(&id)) {
            self.keys.remove(&key);
        }
        Some(promise)
    }

    /// It is given up: why, if it was not before.
    fn give_up(&mut self, id: u64, receipts: &mut Receipts) -> Option<Reason> {
        let Some(promise) = self.by_id.get_mut(&id) else {
            return Some(Reason::Expired); // by its age alone
        };
        if core::mem::replace(&mut promise.given_up, true) {
            return None;
        }
        let (reason, outcome) = if promise.cancelled {
            (Reason::Cancelled, Outcome::Cancelled)
        } else if promise.outdated {
            (Reason::Outdated, Outcome::Cancelled)
        } else {
            (Reason::Expired, Outcome::Expired)
        };
        if !promise.told {
            receipts.tell(promise.receipt, outcome, false);
        }
        Some(reason)
    }

    /// The next packet with this receipt, from this id on.
    fn next(&self, token: u64, from: u64) -> Option<u64> {
        let those = self.receipts.range((token, from)..=(token, u64::MAX));
        those.map(|&(_, id)| id).next()
    }

    /// The connection has ended.
    fn close(&mut self, receipts: &mut Receipts) {
        for promise in core::mem::take(&mut self.by_id).into_values() {
            if !promise.told && !promise.given_up {
                receipts.tell(promise.receipt, Outcome::Lost, false);
            }
        }
        self.receipts.clear();
        self.keys.clear();
    }

    /// The ids, the oldest first.
    #[cfg(any(test, feature = "audit"))]
    pub(super) fn ids(&self) -> impl Iterator<Item = u64> {
        let with = |(_, promise): &(&u64, &Promise)| promise.receipt.is_some();
        let receipts = self.by_id.iter().filter(with).count();
        assert_eq!(receipts, self.receipts.len(), "receipts");
        self.by_id.keys().copied()
    }
}

impl Sender {
    /// A packet that waited is not sent.
    pub(super) fn drop_waiting(
        &mut self,
        dropped: &Waiting,
        outcome: Outcome,
        totals: &mut Totals,
    ) {
        let (mode, cost) = (dropped.options.mode, cost(dropped.payload.len()));
        totals.room.give_back(&mut self.held, mode, cost);
        totals.unsent -= 1;
        totals.undelivered -= u32::from(mode != Mode::Unreliable);
        let token = dropped.options.receipt;
        totals.receipts.tell(token, outcome, false);
    }

    /// Drops what has expired.
    pub(super) fn drop_expired(
        &mut self,
        channel: u8,
        now: Instant,
        params: &SequencingParams,
        totals: &mut Totals,
    ) {
        while let Some(dropped) = self.waiting.pop_expired(now) {
            self.drop_waiting(&dropped, Outcome::Expired, totals);
            totals.expired += 1;
        }
        if let Some(current) = &self.current {
            let (id, dependency) = (current.id, current.dependency);
            if self.promises.ends(id) <= now {
                self.give_up_id(channel, (id, dependency), params, totals);
            }
        }
    }

    /// When something expires that waits to be sent.
    pub(super) fn next_expiry(&self) -> Instant {
        let current = self.current.as_ref();
        let current = current.map_or(Instant::NEVER, |current| self.promises.ends(current.id));
        self.waiting.next_expiry().min(current)
    }

    /// Whether nothing of this packet is to be sent any more.
    pub(super) fn is_given_up(&self, id: u32, now: Instant, params: &SequencingParams) -> bool {
        let id = self.expand(id, params);
        id.is_some_and(|id| self.promises.is_given_up(id, now))
    }

    /// Nothing of this packet is sent any more.
    pub(super) fn give_up(
        &mut self,
        channel: u8,
        (id, dependency): (u32, u32),
        params: &SequencingParams,
        totals: &mut Totals,
    ) {
        if let Some(id) = self.expand(id, params) {
            self.give_up_id(channel, (id, dependency), params, totals);
        }
    }

    /// A packet that others may wait for is replaced by a tombstone. An incomplete unreliable one
    /// makes room for others anyway.
    fn give_up_id(
        &mut self,
        channel: u8,
        (id, dependency): (u64, u32),
        params: &SequencingParams,
        totals: &mut Totals,
    ) {
        let Some(reason) = self.promises.give_up(id, &mut totals.receipts) else {
            return;
        };
        let Some(sent) = self.sent_mut(id) else {
            return;
        };
        match sent.mode {
            Mode::Unreliable => totals.charged -= u64::from(core::mem::take(&mut sent.charged)),
            Mode::Reliable | Mode::Passive => self.controls.push_back(Control::Tombstone {
                channel,
                id: serial::truncate(id, params.id_bits),
                dependency,
            }),
        }
        self.give_back(id, totals);
        match reason {
            Reason::Expired => totals.expired += 1,
            Reason::Cancelled => totals.cancelled += 1,
            Reason::Outdated => totals.replaced += 1,
        }
        if id + 1 == self.next_id() {
            self.unsent = false;
        }
        if self.current.take_if(|current| current.id == id).is_some() {
            totals.unsent -= 1;
        }
    }

    /// Cancels the packets with this receipt (`docs/deviations.md` D4). Whether there were any of
    /// which something would be
    /// sent, or sent again if it is lost.
    pub(super) fn cancel(
        &mut self,
        channel: u8,
        token: u64,
        params: &SequencingParams,
        totals: &mut Totals,
    ) -> bool {
        let mut any = false;
        while let Some(dropped) = self.waiting.pop_receipt(token) {
            self.drop_waiting(&dropped, Outcome::Cancelled, totals);
            totals.cancelled += 1;
            any = true;
        }
        let mut from = 0;
        while let Some(id) = self.promises.next(token, from) {
            from = id + 1;
            let current = self.current.as_ref().filter(|current| current.id == id);
            let dependency = current.map(|current| current.dependency);
            let repeated = self
                .sent_mut(id)
                .is_some_and(|sent| sent.mode != Mode::Unreliable);
            let Some(promise) = self.promises.by_id.get_mut(&id) else {
                continue;
            };
            if promise.given_up || promise.cancelled || !(repeated || dependency.is_some()) {
                continue;
            }
            promise.cancelled = true;
            any = true;
            if let Some(dependency) = dependency {
                self.give_up_id(channel, (id, dependency), params, totals);
            }
        }
        any
    }

    /// The tombstone of a packet arrived: it is settled.
    pub(super) fn buried(&mut self, id: u32, params: &SequencingParams, totals: &mut Totals) {
        let id = self.expand(id, params);
        let Some(sent) = id.and_then(|id| self.sent_mut(id)) else {
            return;
        };
        if core::mem::take(&mut sent.open) > 0 {
            totals.undelivered -= 1;
        }
    }

    /// The connection has ended: nothing else arrives.
    pub(super) fn close(&mut self, totals: &mut Totals) {
        for waiting in self.waiting.iter() {
            let token = waiting.options.receipt;
            totals.receipts.tell(token, Outcome::Lost, false);
        }
        self.promises.close(&mut totals.receipts);
    }
}

impl Sequencing {
    /// Cancels the packets with this receipt: whether there were any.
    pub(crate) fn cancel(&mut self, channel: u8, token: u64) -> bool {
        let Some(Some(made)) = self.channels.get_mut(usize::from(channel)) else {
            return false;
        };
        let any = made
            .sender
            .cancel(channel, token, &self.params, &mut self.totals);
        if any {
            self.wants_turn(channel);
            self.unblock_senders();
        }
        any
    }

    /// The next receipt that is to be told.
    pub(crate) fn next_receipt(&mut self) -> Option<Receipt> {
        self.totals.receipts.pop()
    }

    /// The connection has ended: what is open is lost. All receipts that are to be told.
    pub(crate) fn close(&mut self) -> Receipts {
        for made in self.channels.iter_mut().flatten() {
            made.sender.close(&mut self.totals);
        }
        core::mem::take(&mut self.totals.receipts)
    }
}
