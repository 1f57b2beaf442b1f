//! Incomplete unreliable packets. Their missing fragments are not sent again, so that they may wait
//! for ever: they are given up after a while, and when there are too many
//! (`docs/deviations.md` Q10).

use alloc::vec::Vec;
use core::time::Duration;

use super::Totals;
use super::receive_queue::Content;
use super::receiver::Receiver;
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

    fn oldest(&self) -> Option<u64> {
        self.0.iter().map(|&(id, _)| id).min()
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
            self.give_up_oldest(totals);
        }
    }

    /// Gives up the packets of which nothing came for a while.
    pub(super) fn give_up_overdue(&mut self, totals: &mut Totals, now: Instant) {
        let overdue = |&(_, heard): &(u64, Instant)| heard + GIVEN_UP_AFTER <= now;
        while let Some(at) = self.partials.0.iter().position(overdue) {
            let (id, _) = self.partials.0.swap_remove(at);
            self.give_up(id, totals);
            totals.incomplete += 1;
        }
    }

    fn give_up_oldest(&mut self, totals: &mut Totals) -> bool {
        let Some(id) = self.partials.oldest() else {
            return false;
        };
        self.partials.forget(id);
        self.give_up(id, totals);
        totals.incomplete += 1;
        true
    }

    /// Forgets an unreliable packet. Its sentinel stays.
    fn give_up(&mut self, id: u64, totals: &mut Totals) {
        let Some(entry) = self.queue.get_mut(id) else {
            return;
        };
        totals.release(Mode::Unreliable, entry.cost());
        if entry.sentinel {
            entry.content = Content::Sentinel;
        } else {
            self.queue.remove(id);
        }
    }

    /// Makes room until `kept` bytes are kept at most, by giving up incomplete packets.
    pub(super) fn evict_incomplete(&mut self, kept: u64, totals: &mut Totals) {
        while totals.kept > kept && self.give_up_oldest(totals) {}
    }

    /// Makes room until `kept` bytes are kept at most, by giving up complete unreliable packets.
    pub(super) fn evict_complete(&mut self, kept: u64, totals: &mut Totals) {
        while totals.kept > kept {
            let Some((id, entry)) = self.queue.next(self.complete_from) else {
                return;
            };
            let complete = matches!(entry.content, Content::Complete(_));
            if complete && entry.mode == Mode::Unreliable {
                self.give_up(id, totals);
                totals.evicted += 1;
            }
            self.complete_from = id + 1;
        }
    }
}
