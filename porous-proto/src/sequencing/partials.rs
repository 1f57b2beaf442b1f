//! Incomplete unreliable packets. Their missing fragments are not sent again, so that they may wait
//! for ever: they are given up after a while, and when there are too many
//! (`docs/deviations.md` Q10).

use alloc::vec::Vec;
use core::time::Duration;

use super::Totals;
use super::entry::{Content, Entry};
use super::receiver::Receiver;
use crate::canary::{Bug, strikes};
use crate::frame::Mode;
use crate::time::Instant;

/// A packet of which nothing came for so long is given up. Its fragments leave one after the other:
/// what has not come by now was lost, unless the sender itself was held up.
const GIVEN_UP_AFTER: Duration = Duration::from_secs(2);

/// So many of a channel at most. An honest sender is at one packet of a channel at a time; there
/// are more where fragments overtook each other or were lost.
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

impl Receiver {
    /// A fragment has come, of a packet that is not complete by it. If there are too many such
    /// packets, the oldest goes, as it is the least likely to be completed.
    pub(super) fn grows(&mut self, id: u64, totals: &mut Totals, now: Instant) {
        self.partials.grows(id, now);
        if self.partials.0.len() > PARTIALS_MAX {
            if let Some(id) = self.queue.first_unreliable(false) {
                self.partials.forget(id);
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
            self.partials.forget(id);
            self.give_up(id, totals);
            totals.incomplete += u64::from(!complete);
            totals.evicted += u64::from(complete);
        }
        totals.kept < before
    }
}
