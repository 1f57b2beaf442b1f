//! Promises for packets that have an id: a time to live, a receipt, and that only the latest packet of a key
//! is repeated (`docs/deviations.md` D1 to D4).

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};

use super::Totals;
use crate::event::Outcome;
use crate::frame::Mode;
use crate::options::SendOptions;
use crate::time::Instant;

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Receipt {
    pub(crate) token: u64,
    pub(crate) outcome: Outcome,
    /// True if another one was told before, and was wrong.
    pub(crate) again: bool,
}

/// The receipts that are to be told (`docs/deviations.md` D2).
#[derive(Debug, Default)]
pub(crate) struct Receipts {
    queue: VecDeque<Receipt>,
    /// Receipts that were taken so far: the number of the first one in the queue.
    taken: u64,
}

impl Receipts {
    /// Queues a receipt, and returns its number, by which it can be changed until it is taken.
    fn tell(&mut self, token: u64, outcome: Outcome, again: bool) -> u64 {
        self.queue.push_back(Receipt {
            token,
            outcome,
            again,
        });
        self.taken + self.queue.len() as u64 - 1
    }

    /// Queues a receipt that stays as it is.
    pub(super) fn tell_once(&mut self, token: Option<u64>, outcome: Outcome) {
        if let Some(token) = token {
            self.tell(token, outcome, false);
        }
    }

    /// The receipt with this number, if it was not taken yet.
    fn waiting(&mut self, number: u64) -> Option<&mut Receipt> {
        let place = number.checked_sub(self.taken)?;
        self.queue.get_mut(usize::try_from(place).ok()?)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(crate) fn pop(&mut self) -> Option<Receipt> {
        let next = self.queue.pop_front();
        self.taken += u64::from(next.is_some());
        // What a burst of receipts took is given back.
        if self.queue.is_empty() {
            self.queue = VecDeque::new();
        }
        next
    }
}

/// The promises for one packet, and what is known of it.
#[derive(Debug)]
struct Promise {
    receipt: Option<u64>,
    /// When its time to live is over.
    ends: Instant,
    key: Option<u64>,
    /// True once a newer packet with its key has left.
    outdated: bool,
    /// True once the application has cancelled it.
    cancelled: bool,
    /// True once all of it has arrived.
    arrived: bool,
    /// Why nothing of it is sent any more; none while something may be.
    given_up: Option<Outcome>,
    /// What its newest receipt says, and the number of that receipt.
    told: Option<(Outcome, u64)>,
    /// True once the transfer window has passed it while the last word is still to come.
    passed: bool,
}

impl Promise {
    /// Tells this outcome: changes the receipt if it was not taken yet, or adds another one.
    fn tell(&mut self, outcome: Outcome, receipts: &mut Receipts) {
        let Some(token) = self.receipt else {
            return;
        };
        let number = match self.told {
            // The same word is told once.
            Some((before, _)) if before == outcome => return,
            Some((_, number)) => match receipts.waiting(number) {
                // Not taken yet: the application hears the last word alone.
                Some(receipt) => {
                    receipt.outcome = outcome;
                    number
                }
                None => receipts.tell(token, outcome, true),
            },
            None => receipts.tell(token, outcome, false),
        };
        self.told = Some((outcome, number));
    }

    /// The outcome, once it is known whether the remote application got it or never will.
    fn outcome(&self, given: bool) -> Outcome {
        // The remote host may pass a packet that nobody waits for any more before this host has found that it
        // was lost, and given it up.
        let is_unwanted = (self.cancelled || self.outdated) && self.told.is_none();
        let not_given = if is_unwanted {
            Outcome::Cancelled
        } else {
            Outcome::Lost
        };
        let not_sent = self.given_up.unwrap_or(not_given);
        match (given, self.arrived && self.given_up.is_none()) {
            (true, _) => Outcome::Delivered,
            (false, true) => Outcome::Skipped,
            (false, false) => not_sent,
        }
    }
}

/// How the sender knows that the remote host has passed packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passed {
    /// By WINDOW: no packet among them that a receipt was wanted of had come.
    Unseen,
    /// By FATES: what became of them was told or will be.
    Told,
}

/// The promises for packets that are not settled, by id: most packets have none. Those that the transfer
/// window has passed wait for what the remote host tells of them.
#[derive(Debug, Default)]
pub(crate) struct Promises {
    by_id: BTreeMap<u64, Promise>,
    /// Token and id of each promise with a receipt.
    receipts: BTreeSet<(u64, u64)>,
    /// Of each key the newest packet that has left.
    keys: BTreeMap<u64, u64>,
}

/// Why nothing of a packet is sent any more.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reason {
    Expired,
    Cancelled,
    Outdated,
}

impl Promises {
    #[inline]
    pub(super) fn begin(&mut self, id: u64, options: &SendOptions, ends: Instant) {
        // Most packets: they take no memory here.
        if options.receipt.is_none() && options.ttl.is_none() && options.key.is_none() {
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
            arrived: false,
            given_up: None,
            told: None,
            passed: false,
        };
        self.by_id.insert(id, promise);
    }

    /// The first message of the packet leaves: an older packet with its key is not repeated any more. Whether
    /// the packet has a key.
    pub(super) fn left(&mut self, id: u64) -> bool {
        let Some(key) = self.by_id.get(&id).and_then(|promise| promise.key) else {
            return false;
        };
        let older = self.keys.insert(key, id);
        if let Some(promise) = older.and_then(|older| self.by_id.get_mut(&older)) {
            promise.outdated = true;
        }
        true
    }

    pub(super) fn ends(&self, id: u64) -> Instant {
        self.by_id
            .get(&id)
            .map_or(Instant::NEVER, |promise| promise.ends)
    }

    pub(super) fn is_given_up(&self, id: u64, now: Instant) -> bool {
        self.by_id.get(&id).is_some_and(|promise| {
            let unwanted = promise.cancelled || promise.outdated;
            promise.given_up.is_some() || unwanted || promise.ends <= now
        })
    }

    /// All of the packet has arrived. It counts as delivered unless FATES tell something else later.
    pub(super) fn arrived(&mut self, id: u64, mode: Mode, receipts: &mut Receipts) {
        let Some(promise) = self.by_id.get_mut(&id) else {
            return;
        };
        promise.arrived = true;
        if promise.given_up.is_some() {
            return; // the packet or its tombstone may have come first: only FATES tell which
        }
        // Told now, a round trip after the packet left, and not when FATES confirm it, as they nearly always
        // do.
        promise.tell(Outcome::Delivered, receipts);
        // No window passes over a reliable packet that has come, unless a newer one with its key did not wait for it:
        // this is the last word.
        if mode == Mode::Reliable && !promise.outdated {
            self.remove(id);
        }
    }

    /// Some of the packet was lost and is not sent again. True if the sender wants to hear should that prove
    /// wrong.
    pub(super) fn lost(&mut self, id: u64, receipts: &mut Receipts) -> bool {
        let Some(promise) = self.by_id.get_mut(&id) else {
            return false;
        };
        if promise.told.is_none() {
            promise.tell(Outcome::Lost, receipts);
        }
        promise.receipt.is_some()
    }

    /// The receive window has passed the packet. True if the last word is told later.
    pub(super) fn passed(
        &mut self,
        id: u64,
        (mode, how): (Mode, Passed),
        receipts: &mut Receipts,
    ) -> bool {
        let Some(promise) = self.by_id.get_mut(&id) else {
            return false;
        };
        // A reliable packet is not passed before it has come, unless it was given up, or a newer one with its key did
        // not wait for it.
        let waits = mode == Mode::Reliable && promise.given_up.is_none() && !promise.outdated;
        if !waits && promise.receipt.is_some() && how == Passed::Told {
            promise.passed = true;
            return true;
        }
        promise.tell(promise.outcome(waits), receipts);
        self.remove(id);
        false
    }

    /// The remote host tells the last word: whether its application got the packet.
    pub(super) fn settle(&mut self, id: u64, given: bool, totals: &mut Totals) {
        if let Some(promise) = self.by_id.get_mut(&id) {
            promise.tell(promise.outcome(given), &mut totals.receipts);
            totals.unsettled -= u32::from(promise.passed);
            self.remove(id);
        }
    }

    /// No packet before this one was given to the remote application.
    pub(super) fn settle_before(&mut self, id: u64, totals: &mut Totals) {
        while let Some(oldest) = self.by_id.first_entry().map(|entry| *entry.key()) {
            if oldest >= id {
                return;
            }
            self.settle(oldest, false, totals);
        }
    }

    fn remove(&mut self, id: u64) -> Option<Promise> {
        let promise = self.by_id.remove(&id)?;
        if let Some(token) = promise.receipt {
            self.receipts.remove(&(token, id));
        }
        // The entry of the key may be that of a newer packet by now.
        if let Some(key) = promise.key.filter(|key| self.keys.get(key) == Some(&id)) {
            self.keys.remove(&key);
        }
        Some(promise)
    }

    /// Gives the packet up: why, or none if it was given up before or has arrived.
    pub(super) fn give_up(&mut self, id: u64, receipts: &mut Receipts) -> Option<Reason> {
        let Some(promise) = self.by_id.get_mut(&id) else {
            return Some(Reason::Expired); // by its age alone
        };
        // Nothing of it would be sent any more, so that there is nothing to give up.
        if promise.given_up.is_some() || promise.arrived {
            return None;
        }
        // The application's own wish goes before what else was true by then.
        let (reason, outcome) = if promise.cancelled {
            (Reason::Cancelled, Outcome::Cancelled)
        } else if promise.outdated {
            (Reason::Outdated, Outcome::Cancelled)
        } else {
            (Reason::Expired, Outcome::Expired)
        };
        promise.given_up = Some(outcome);
        promise.tell(outcome, receipts);
        Some(reason)
    }

    /// The application cancels the packet: false if it did before, or if nothing of it would be sent.
    pub(super) fn cancel(&mut self, id: u64) -> bool {
        self.by_id.get_mut(&id).is_some_and(|promise| {
            let is_over = promise.given_up.is_some() || promise.arrived;
            !is_over && !core::mem::replace(&mut promise.cancelled, true)
        })
    }

    /// The first packet with this receipt from this id on.
    pub(super) fn next(&self, token: u64, from: u64) -> Option<u64> {
        let those = self.receipts.range((token, from)..=(token, u64::MAX));
        those.map(|&(_, id)| id).next()
    }

    /// The oldest packet with this receipt of which nothing was told and which was not given up.
    pub(super) fn open(&self, token: u64) -> Option<u64> {
        let those = self.receipts.range((token, 0)..=(token, u64::MAX));
        let is_open = |id: &u64| {
            let promise = self.by_id.get(id);
            promise.is_some_and(|promise| promise.told.is_none() && promise.given_up.is_none())
        };
        those.map(|&(_, id)| id).find(is_open)
    }

    /// The connection has ended: packets of which no receipt has told are lost.
    pub(super) fn close(&mut self, receipts: &mut Receipts) {
        for mut promise in core::mem::take(&mut self.by_id).into_values() {
            if promise.told.is_none() {
                promise.tell(Outcome::Lost, receipts);
            }
        }
        self.receipts.clear();
        self.keys.clear();
    }

    /// The ids of those that the transfer window has not passed, the oldest first, and how many it has.
    #[cfg(any(test, feature = "audit"))]
    pub(super) fn ids(&self) -> (impl Iterator<Item = u64>, u32) {
        let with = |(_, promise): &(&u64, &Promise)| promise.receipt.is_some();
        let receipts = self.by_id.iter().filter(with).count();
        assert_eq!(receipts, self.receipts.len(), "receipts");
        for (key, id) in &self.keys {
            let promise = self.by_id.get(id);
            let has_key = promise.is_some_and(|promise| promise.key == Some(*key));
            assert!(has_key, "no packet {id} with key {key}");
        }
        let passed = self.by_id.values().filter(|promise| promise.passed);
        let passed = u32::try_from(passed.count()).unwrap_or(u32::MAX);
        let open = self.by_id.iter().filter(|(_, promise)| !promise.passed);
        (open.map(|(&id, _)| id), passed)
    }
}
