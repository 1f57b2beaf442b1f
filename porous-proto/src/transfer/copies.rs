//! Copies of messages that are on their way, in the spare bytes of frames that are sent anyway
//! (`docs/deviations.md` P8): a message that is lost is there a frame later, and not a round trip.

use core::time::Duration;

use super::assembly::Plan;
use super::store::{List, Store};
use super::{Source, Transfer};
use crate::frame::MAX_MESSAGES;
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

/// What has waited for so long is not worth another wait: a repair is as fast.
const LATE: Duration = Duration::from_millis(50);

/// So many copies of a message at most.
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
}

impl Copies {
    pub(crate) const fn new() -> Self {
        const LEVEL: Level = Level {
            waiting: List::EMPTY,
            count: 0,
        };
        Self {
            levels: [LEVEL; COPIES_MAX],
            news: 0,
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
}

/// What copies may take of a datagram.
#[derive(Clone, Copy, Debug)]
struct Spare {
    start: usize,
    end: usize,
}

impl Transfer {
    /// Fills what is spare of a datagram that is sent anyway, in which `news` bytes are new.
    pub(super) fn plan_copies(
        &mut self,
        plan: &mut Plan,
        source: &impl Source,
        now: Instant,
        (news, max): (usize, usize),
    ) {
        let share = self.share();
        self.copies.news = (self.copies.news + news).min(share * SHARE_OF_NEWS);
        let is_held = self.gate.is_shut || self.path.control.is_capped();
        if !self.queue.has_room() || is_held {
            return;
        }
        let (flight, is_trusted) = (self.queue.flight(), self.nonces.is_trusted());
        let room = self.path.room(flight, is_trusted, max);
        let spare = room.saturating_sub(plan.len).min(share);
        let spare = if self.send_queue.is_empty() {
            spare
        } else {
            spare.min(self.copies.news / SHARE_OF_NEWS)
        };
        let start = plan.len;
        let spare = Spare {
            start,
            end: start + spare,
        };
        let counts = self.copies.levels.each_ref().map(|level| level.count);
        for (level, count) in counts.into_iter().enumerate() {
            for _ in 0..count {
                if !self.plan_copy(plan, source, level, spare, now) {
                    break;
                }
            }
        }
        let used = (plan.len - start) * SHARE_OF_NEWS;
        self.copies.news = self.copies.news.saturating_sub(used);
    }

    /// Looks at the first message of a level. False if the others are better left alone.
    fn plan_copy(
        &mut self,
        plan: &mut Plan,
        source: &impl Source,
        level: usize,
        spare: Spare,
        now: Instant,
    ) -> bool {
        let Some(waiting) = self.copies.levels.get(level).map(|level| &level.waiting) else {
            return false;
        };
        let Some((outgoing, sent)) = self.store.first_waiting(waiting) else {
            return false;
        };
        let current = outgoing.filter(|outgoing| source.is_current(&outgoing.message));
        let Some(outgoing) = current else {
            self.copies.stop(&mut self.store, level);
            return true;
        };
        if now.saturating_duration_since(sent) < APART {
            return false;
        }
        let len = plan.layout.length(&outgoing.message);
        let fits = plan.len + len <= spare.end && plan.messages < MAX_MESSAGES;
        // The next frame may have more room. But what finds it taken by other copies for long has had
        // its chance, or all copies would be late.
        let waited = now.saturating_duration_since(sent);
        if !fits && (plan.len == spare.start || waited < LATE) {
            return false;
        }
        if fits {
            plan.layout.push(&outgoing.message);
            plan.len += len;
            plan.messages += 1;
            plan.data = true;
            self.store.copy(waiting, &mut plan.contents, now);
        }
        self.copies.count_chance(&mut self.store, level, fits);
        true
    }

    /// A frame with these messages is sent.
    pub(super) fn await_copies(&mut self, contents: &List, now: Instant) {
        let longest = self.share().saturating_sub(AROUND);
        let [first, ..] = &mut self.copies.levels;
        first.count += self.store.sent(contents, &mut first.waiting, longest, now);
        while self.copies.count() > WAITING_MAX {
            let last = self.copies.levels.iter().rposition(|level| level.count > 0);
            self.copies.stop(&mut self.store, last.unwrap_or_default());
        }
    }

    /// The most bytes of copies in a datagram.
    fn share(&self) -> usize {
        usize::from(self.params.max_datagram) / SHARE
    }
}
