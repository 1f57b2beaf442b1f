//! Copies of messages that are on their way, in the spare bytes of frames that are sent anyway
//! (`docs/deviations.md` P8): a message that is lost is there a frame later, and not a round trip.

use core::ops::Range;
use core::time::Duration;

use super::plan::Plan;
use super::store::{List, Store};
use crate::source::Source;
use crate::time::Instant;

/// No more messages wait for copies: those give way that have had the most chances.
const WAITING_MAX: usize = 64;

/// Copies take this part of a datagram at most,
const SHARE: usize = 4;

/// and while new messages wait, this part of the bytes that these take.
const SHARE_OF_NEWS: usize = 64;

/// What a message has at most beside its payload.
const AROUND: usize = 24;

/// What follows sooner on the heels of a frame shares its fate: losses come in bursts.
const APART: Duration = Duration::from_millis(1);

/// The time after which a copy is not worth another wait: a repair is as fast.
const LATE: Duration = Duration::from_millis(50);

/// The most copies of a message.
const COPIES_MAX: usize = 3;

/// Messages that have had equally many chances, in the order in which they were sent.
#[derive(Debug)]
struct Level {
    waiting: List,
    count: usize,
}

/// Messages that wait for a frame that has room for a copy of them.
#[derive(Debug)]
pub(crate) struct Copies {
    /// First copies come before second ones.
    levels: [Level; COPIES_MAX],
    /// New bytes that no copy was set against.
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

    /// All lists.
    #[cfg(any(test, feature = "audit"))]
    pub(super) fn lists(&self) -> impl Iterator<Item = &List> {
        self.levels.iter().map(|level| &level.waiting)
    }

    /// How many messages wait.
    pub(super) fn count(&self) -> usize {
        self.levels.iter().map(|level| level.count).sum()
    }

    /// The first message of this level has had a chance: `taken` if it is in the frame that is
    /// planned.
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

    /// Fills what is spare of a datagram that is sent anyway.
    pub(super) fn plan(
        &mut self,
        plan: &mut Plan,
        store: &mut Store,
        source: &impl Source,
        offer: &Offer,
        now: Instant,
    ) {
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

    /// Looks at the first message of a level. False if the others are better left alone.
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
        let waited = now.saturating_duration_since(sent);
        if waited < APART {
            return false;
        }
        let len = plan.layout.length(&outgoing.message);
        let fits = plan.fits(len, spare.end);
        // The next frame may have more room. But what finds it taken by other copies for long has had
        // its chance, or all copies would be late.
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

    /// A frame with these messages is sent.
    pub(super) fn on_sent(&mut self, store: &mut Store, contents: &List, now: Instant) {
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
    /// Its bytes that are new.
    pub(super) news: usize,
    /// How long it may become by the congestion window. `None` if data is held back.
    pub(super) room: Option<usize>,
    /// New data waits to be sent.
    pub(super) data_waits: bool,
}
