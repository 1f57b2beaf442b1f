//! Copies of messages that are on their way, in the spare bytes of frames that are sent anyway
//! (`docs/deviations.md` P8): where a message is lost, its copy arrives a frame later instead of a round
//! trip.

use core::ops::Range;

use super::plan::Plan;
use super::store::{List, Store};
use crate::source::Source;
use crate::time::{Instant, Micros};

/// The most messages of a peer that wait for copies. Beyond it those with the most chances behind them give
/// way.
const WAITING_MAX: usize = 64;

/// Copies take at most one of this many parts of the largest datagram.
const SHARE: usize = 4;

/// While new messages wait, copies take at most one of this many parts of the bytes that these take.
const SHARE_OF_NEWS: usize = 64;

/// The most bytes of a message beside its payload.
const AROUND: usize = 24;

/// The least time between a message and its copy: a frame that follows at once shares the fate of the first,
/// as losses come in bursts.
const APART: Micros = Micros::from_millis(1);

/// Time after which a copy that found no room has had its chance: a repair would be as fast.
const LATE: Micros = Micros::from_millis(50);

/// The most copies of a message.
const COPIES_MAX: usize = 3;

/// Messages that have had equally many chances, in the order in which they were sent.
#[derive(Debug)]
struct Level {
    waiting: List,
    count: usize,
}

/// The messages of one peer that wait for a frame with room for a copy of them.
#[derive(Debug)]
pub(crate) struct Copies {
    /// By the number of chances that a message has had. First copies come before second ones.
    levels: [Level; COPIES_MAX],
    /// Bytes of new data that no copy was set against.
    news: usize,
    /// The most bytes of copies in a datagram.
    share: usize,
}

impl Copies {
    pub(crate) const fn new(max_datagram: u16) -> Self {
        const LEVEL: Level = Level {
            waiting: List::EMPTY,
            count: 0,
        };
        Self {
            levels: [LEVEL; COPIES_MAX],
            news: 0,
            share: max_datagram as usize / SHARE,
        }
    }

    /// All lists of messages that wait.
    #[cfg(any(test, feature = "audit"))]
    pub(super) fn lists(&self) -> impl Iterator<Item = &List> {
        self.levels.iter().map(|level| &level.waiting)
    }

    /// Messages that wait.
    pub(super) fn count(&self) -> usize {
        self.levels.iter().map(|level| level.count).sum()
    }

    /// The first message of this level has had a chance. `taken`: it is copied in the frame that is planned.
    fn count_chance(&mut self, store: &mut Store, level: usize, taken: bool) {
        let (before, after) = self.levels.split_at_mut(level + 1);
        let (Some(from), next) = (before.last_mut(), after.first_mut()) else {
            return;
        };
        let wants_more = store.count_chance(&from.waiting);
        match next.filter(|_| wants_more) {
            Some(next) => {
                store.shift(&mut from.waiting, &mut next.waiting);
                next.count += 1;
            }
            None => store.stop_waiting(&mut from.waiting, !taken),
        }
        from.count -= 1;
    }

    /// The first message of this level is not copied any more.
    fn stop(&mut self, store: &mut Store, level: usize) {
        if let Some(level) = self.levels.get_mut(level) {
            store.stop_waiting(&mut level.waiting, true);
            level.count -= 1;
        }
    }

    /// Fills the spare bytes of a datagram that is sent anyway.
    #[inline]
    pub(super) fn plan(
        &mut self,
        plan: &mut Plan,
        store: &mut Store,
        source: &impl Source,
        offer: &Offer,
        now: Instant,
    ) {
        // At most what one full share of copies is set against: a long silence of copies gives no right to a
        // burst of them.
        self.news = (self.news + offer.news).min(self.share * SHARE_OF_NEWS);
        let Some(room) = offer.room else {
            return;
        };
        let mut spare = room.saturating_sub(plan.len).min(self.share);
        if offer.data_waits {
            spare = spare.min(self.news / SHARE_OF_NEWS);
        }
        let start = plan.len;
        let spare = start..start + spare;
        // Counted before: a message that moves to the next level must not be copied a second time into this
        // frame.
        let counts = self.levels.each_ref().map(|level| level.count);
        for (level, count) in counts.into_iter().enumerate() {
            for _ in 0..count {
                if !self.plan_copy(plan, store, source, level, &spare, now) {
                    break;
                }
            }
        }
        let used = (plan.len - start) * SHARE_OF_NEWS;
        self.news = self.news.saturating_sub(used);
    }

    /// Plans a copy of the first message of a level, if it fits. Returns false if those behind it need no
    /// look.
    fn plan_copy(
        &mut self,
        plan: &mut Plan,
        store: &mut Store,
        source: &impl Source,
        level: usize,
        spare: &Range<usize>,
        now: Instant,
    ) -> bool {
        let Some(waiting) = self.levels.get(level).map(|level| &level.waiting) else {
            return false;
        };
        let Some((outgoing, sent)) = store.first_waiting(waiting) else {
            return false;
        };
        let current = outgoing.filter(|outgoing| source.is_current(&outgoing.message));
        let Some(outgoing) = current else {
            self.stop(store, level);
            return true;
        };
        // A level is in the order of sending: those behind this one have hardly waited longer.
        let waited = now.since(sent);
        if waited < APART {
            return false;
        }
        let len = plan.layout.length(&outgoing.message);
        let fits = plan.fits(len, spare.end);
        // The next frame may have more room. But a message that finds the room taken by other copies for long
        // has had its chance, or all copies would be late.
        if !fits && (plan.len == spare.start || waited < LATE) {
            return false;
        }
        if fits {
            plan.push(&outgoing.message, len);
            plan.has_data = true;
            store.copy(waiting, &mut plan.contents, now);
        }
        self.count_chance(store, level, fits);
        true
    }

    /// A frame with these messages is sent. Those of which copies are wanted begin to wait.
    #[inline]
    pub(super) fn on_sent(&mut self, store: &mut Store, contents: &List, now: Instant) {
        // A longer message would never find room for a copy.
        let longest = self.share.saturating_sub(AROUND);
        let [first, ..] = &mut self.levels;
        first.count += store.sent(contents, &mut first.waiting, longest, now);
        while self.count() > WAITING_MAX {
            let last = self.levels.iter().rposition(|level| level.count > 0);
            self.stop(store, last.unwrap_or_default());
        }
    }
}

/// What a datagram offers to copies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    /// Bytes of new data in it.
    pub(super) news: usize,
    /// The most bytes that it may have by the congestion window. `None` if data is held back.
    pub(super) room: Option<usize>,
    /// True if new data waits to be sent.
    pub(super) data_waits: bool,
}
