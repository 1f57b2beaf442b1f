//! Packets of a channel that have no id yet: they get one when their first fragment is sent, so
//! that what never leaves makes no hole.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;
use core::time::Duration;

use bytes::Bytes;

use crate::frame::Mode;
use crate::options::SendOptions;
use crate::time::{Instant, Micros};

/// Packets up to which a queue keeps its memory: less is not worth giving back.
const SMALL: usize = 256;

/// A packet that has waited for less than this when it leaves shows that no queue stands before it.
const SHORT: Micros = Micros::from_millis(30);

/// A queue stands when for this time every packet has left late. A burst that is sent in less loses nothing.
const STANDING: Micros = Micros::from_millis(400);

/// By how much the head of a queue that stands may be older than its newest packet.
const KEPT: Micros = Micros::from_millis(60);

/// A packet that waits.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) payload: Bytes,
    pub(crate) options: SendOptions,
    /// Time of the host's first look after `send`, which is told none; `NEVER` before.
    pub(crate) since: Instant,
}

impl Waiting {
    /// When its time to live is over.
    pub(crate) fn ends(&self) -> Instant {
        self.options
            .ttl
            .map_or(Instant::NEVER, |ttl| end(self.since, ttl))
    }

    /// When it is dropped unless it has been begun; `age` is how old unreliable packets may become.
    fn expires(&self, age: Duration) -> Instant {
        match self.options.mode {
            Mode::Unreliable => self.ends().min(end(self.since, age)),
            Mode::Reliable | Mode::Passive => self.ends(),
        }
    }

    /// Whether it is of less use than a newer one, as states are, and its application has not said for how
    /// long it is of use.
    fn may_give_way(&self) -> bool {
        self.options.mode == Mode::Unreliable && self.options.ttl.is_none()
    }

    /// Whether its age alone can end it: packets like this expire in the order in which they were sent.
    fn is_plain(&self) -> bool {
        let SendOptions {
            ttl, receipt, key, ..
        } = self.options;
        self.options.mode == Mode::Unreliable && ttl.is_none() && receipt.is_none() && key.is_none()
    }
}

/// The first instant at which something that waits since `since` is too old. Exactly `age` is not.
pub(super) fn end(since: Instant, age: Duration) -> Instant {
    since + age + Duration::from_micros(1)
}

/// A packet and its place, a running number. Empty once the packet was taken out.
#[derive(Debug)]
struct Slot {
    place: u64,
    waiting: Option<Waiting>,
}

/// The packets, in the order in which they were sent. One that is taken out from between others leaves an
/// empty slot: so the places stay in order, and binary search finds one.
#[derive(Debug)]
pub(crate) struct Backlog {
    /// How old an unreliable packet may become before it is begun.
    age: Duration,
    /// Since when every packet has left late; `NEVER` while they leave soon.
    late: Instant,
    queue: VecDeque<Slot>,
    /// Slots in the queue that are empty.
    empty: usize,
    next_place: u64,
    /// Packets at places before this one were looked at, except those in [`Others::replaced`].
    looked: u64,
    /// Places of the unreliable packets that only their age can end, the oldest first: they leave in this
    /// order.
    ages: VecDeque<u64>,
    /// None until a packet has options.
    others: Option<Box<Others>>,
}

/// Places of packets with options.
#[derive(Debug, Default)]
struct Others {
    /// Those whose packets took the place of older ones and were not looked at.
    replaced: Vec<u64>,
    /// By the times when their packets expire, of those that do.
    deadlines: BTreeSet<(Instant, u64)>,
    /// By key: at most one packet of a key waits.
    keys: BTreeMap<u64, u64>,
    /// By the token of the receipt, of which there may be several.
    receipts: BTreeSet<(u64, u64)>,
}

impl Backlog {
    pub(crate) const fn new(age: Duration) -> Self {
        Self {
            age,
            late: Instant::NEVER,
            queue: VecDeque::new(),
            empty: 0,
            next_place: 0,
            looked: 0,
            ages: VecDeque::new(),
            others: None,
        }
    }

    fn others(&mut self) -> &mut Others {
        self.others.get_or_insert_default()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Waiting> {
        self.queue.iter().filter_map(|slot| slot.waiting.as_ref())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Adds a packet, and gives back the one whose place it takes, as it has the same key
    /// (`docs/deviations.md` D3).
    #[inline]
    pub(crate) fn push(&mut self, payload: Bytes, options: SendOptions) -> Option<Waiting> {
        let waiting = Waiting {
            payload,
            options,
            since: Instant::NEVER,
        };
        let older = options
            .key
            .and_then(|key| self.others().keys.get(&key).copied());
        let place = older.unwrap_or(self.next_place);
        let replaced = older.and_then(|place| self.take(place));
        if let Some(key) = options.key {
            self.others().keys.insert(key, place);
        }
        if let Some(token) = options.receipt {
            self.others().receipts.insert((token, place));
        }
        let waiting = Some(waiting);
        match replaced {
            // At the end of the queue it would be put off for ever where states change faster than they leave
            // (D3).
            Some(older) => {
                // `look` does not return to places that it has seen.
                if !older.since.is_never() {
                    self.others().replaced.push(place);
                }
                if let Some(index) = self.index(place) {
                    self.queue[index].waiting = waiting;
                }
                Some(older)
            }
            None => {
                self.next_place += 1;
                self.queue.push_back(Slot { place, waiting });
                None
            }
        }
    }

    /// The index of the first slot at this place or a later one.
    fn first_from(&self, place: u64) -> usize {
        // Unless slots were taken out from between others, places follow each other.
        let front = self.queue.front().map_or(place, |slot| slot.place);
        let guess = usize::try_from(place.saturating_sub(front)).unwrap_or(usize::MAX);
        let is_right = |slot: &Slot| slot.place == place;
        if self.queue.get(guess).is_some_and(is_right) {
            return guess;
        }
        self.queue.partition_point(|slot| slot.place < place)
    }

    fn index(&self, place: u64) -> Option<usize> {
        let index = self.first_from(place);
        let found = self
            .queue
            .get(index)
            .is_some_and(|slot| slot.place == place);
        found.then_some(index)
    }

    /// Takes a packet from its place, and leaves that empty.
    fn take(&mut self, place: u64) -> Option<Waiting> {
        let index = self.index(place)?;
        let waiting = self.queue[index].waiting.take()?;
        self.forget(&waiting, place);
        Some(waiting)
    }

    /// A packet has left its place.
    fn forget(&mut self, waiting: &Waiting, place: u64) {
        if waiting.is_plain() {
            // Without a key or a receipt it can only be sent or expire, and both take the oldest first. It is
            // not in the list if it was not looked at.
            if self.ages.front() == Some(&place) {
                pop(&mut self.ages);
            }
        } else if let Some(others) = &mut self.others {
            others.deadlines.remove(&(waiting.expires(self.age), place));
            if let Some(key) = waiting.options.key {
                others.keys.remove(&key);
            }
            if let Some(token) = waiting.options.receipt {
                others.receipts.remove(&(token, place));
            }
        }
    }

    /// Takes a packet out.
    fn remove(&mut self, place: u64) -> Option<Waiting> {
        let waiting = self.take(place)?;
        self.empty += 1;
        self.drop_empty_front();
        // Only where half is empty: as many packets were taken out as are moved.
        if self.empty > SMALL && 2 * self.empty > self.queue.len() {
            self.queue.retain(|slot| slot.waiting.is_some());
            self.queue.shrink_to(2 * self.queue.len());
            self.empty = 0;
        }
        Some(waiting)
    }

    /// The slot at the front is never empty: `front` and `is_empty` need no search.
    fn drop_empty_front(&mut self) {
        while let Some(Slot { waiting: None, .. }) = self.queue.front() {
            pop(&mut self.queue);
            self.empty -= 1;
        }
    }

    /// The packet that was sent first.
    pub(crate) fn front(&self) -> Option<&Waiting> {
        self.queue.front()?.waiting.as_ref()
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Waiting> {
        let Slot { place, waiting } = pop(&mut self.queue)?;
        let waiting = waiting?;
        self.forget(&waiting, place);
        self.drop_empty_front();
        Some(waiting)
    }

    /// The host looks: packets that were sent since the last look wait from now on.
    #[inline]
    pub(crate) fn look(&mut self, now: Instant) {
        let age = self.age;
        let fresh = self.first_from(self.looked);
        self.looked = self.next_place;
        // The queue was empty: what left late before is no word on these packets.
        if fresh == 0 {
            self.late = Instant::NEVER;
        }
        for slot in self.queue.range_mut(fresh..) {
            let Some(waiting) = &mut slot.waiting else {
                continue;
            };
            waiting.since = now;
            if waiting.is_plain() {
                self.ages.push_back(slot.place);
            } else if !waiting.expires(age).is_never() {
                let others = self.others.get_or_insert_default();
                others.deadlines.insert((waiting.expires(age), slot.place));
            }
        }
        // Those in the place of older packets stand anywhere in the queue.
        let Some(mut others) = self.others.take() else {
            return;
        };
        for place in others.replaced.drain(..) {
            let slot = self.index(place).map(|index| &mut self.queue[index]);
            if let Some(waiting) = slot.and_then(|slot| slot.waiting.as_mut()) {
                waiting.since = now;
                if !waiting.expires(age).is_never() {
                    others.deadlines.insert((waiting.expires(age), place));
                }
            }
        }
        self.others = Some(others);
    }

    /// A packet that waited in its own place for this time leaves.
    #[inline]
    pub(super) fn left(&mut self, waited: Micros, now: Instant) {
        self.late = if waited < SHORT {
            Instant::NEVER
        } else {
            self.late.min(now)
        };
    }

    /// Takes the head out of a queue that stands, if it is much older than the newest packet. To be called
    /// after [`look`](Self::look).
    #[inline]
    pub(crate) fn pop_outrun(&mut self, now: Instant) -> Option<Waiting> {
        if self.late.is_never() {
            return None;
        }
        self.pop_standing(now)
    }

    /// Apart, as hardly any queue stands.
    fn pop_standing(&mut self, now: Instant) -> Option<Waiting> {
        let head = self.front()?;
        let newest = self.queue.back()?.waiting.as_ref()?;
        // With an age without end every packet is to leave.
        if newest.since.since(head.since) <= KEPT || end(head.since, self.age).is_never() {
            return None;
        }
        if now < self.late + STANDING || !(head.may_give_way() && newest.may_give_way()) {
            return None;
        }
        // The last one before a reliable packet leaves: behind a file all are late, and none would be left.
        let next = self.queue.get(1)?.waiting.as_ref()?;
        let gives_way = next.options.mode == Mode::Unreliable;
        gives_way.then(|| self.pop()).flatten()
    }

    pub(crate) fn len(&self) -> usize {
        self.queue.len() - self.empty
    }

    /// When the next packet with options expires, and its place.
    fn next_deadline(&self) -> Option<(Instant, u64)> {
        self.others.as_ref()?.deadlines.first().copied()
    }

    /// When the next packet expires, of those that were looked at.
    pub(crate) fn next_expiry(&self) -> Instant {
        let plain = self.ages.front().and_then(|&place| self.index(place));
        let plain = plain.and_then(|index| self.queue[index].waiting.as_ref());
        let plain = plain.map_or(Instant::NEVER, |waiting| waiting.expires(self.age));
        let other = self.next_deadline();
        plain.min(other.map_or(Instant::NEVER, |(at, _)| at))
    }

    /// Takes out a packet that has expired.
    pub(crate) fn pop_expired(&mut self, now: Instant) -> Option<Waiting> {
        if let Some((at, place)) = self.next_deadline() {
            if at <= now {
                return self.remove(place);
            }
        }
        if self.next_expiry() > now {
            return None;
        }
        let &place = self.ages.front()?;
        self.remove(place)
    }

    /// The packet with this receipt that was sent first.
    pub(crate) fn with_receipt(&self, token: u64) -> Option<&Waiting> {
        let receipts = &self.others.as_ref()?.receipts;
        let &(_, place) = receipts.range((token, 0)..=(token, u64::MAX)).next()?;
        self.queue[self.index(place)?].waiting.as_ref()
    }

    /// Takes out a packet with this receipt.
    pub(crate) fn pop_receipt(&mut self, token: u64) -> Option<Waiting> {
        let receipts = &self.others.as_ref()?.receipts;
        let &(_, place) = receipts.range((token, 0)..=(token, u64::MAX)).next()?;
        self.remove(place)
    }
}

/// Takes the first element. A queue that has become short gives back its memory.
#[inline]
pub(super) fn pop<T>(queue: &mut VecDeque<T>) -> Option<T> {
    let first = queue.pop_front();
    if queue.capacity() > SMALL && 4 * queue.len() < queue.capacity() {
        // To twice its length, so that it does not grow and shrink by turns.
        queue.shrink_to(2 * queue.len());
    }
    first
}

#[cfg(test)]
mod tests;
