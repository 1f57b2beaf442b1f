//! The receiving half of an unordered channel: packets are delivered as they are complete, and m_b
//! stays behind what is missing for as long as the sender can do without it
//! (`docs/deviations.md` D5).

use bytes::Bytes;

use super::entry::{Content, Entry};
use super::receiver::Receiver;
use super::sentinel::last_marked;
use super::{SequencingParams, Totals, cost};
use crate::canary::{Bug, strikes};
use crate::frame::Mode;

impl Receiver {
    /// Whether something can be delivered, or m_b has to be moved on.
    pub(super) fn is_ready_unordered(&self, params: &SequencingParams) -> bool {
        let complete = self.queue.first_complete(self.believed_end());
        complete.is_some() || self.next_skip(self.relief(params), params).is_some()
    }

    /// The next packet that is complete. It leaves its entry in the queue, so that no other is
    /// delivered under its id.
    pub(super) fn consume_unordered(
        &mut self,
        params: &SequencingParams,
        totals: &mut Totals,
    ) -> Option<(Mode, Bytes)> {
        self.skip_to(self.relief(params), params, totals);
        while let Some(id) = self.queue.first_complete(self.believed_end()) {
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
            totals.release(mode, freed);
            totals.passed += freed;
            self.pass_to(self.queue.delivered_end(), params, totals);
            if let Content::Complete(payload) = content {
                return Some((mode, payload));
            }
        }
        // What was buried has moved m_b, and may let it go on.
        self.skip_to(self.relief(params), params, totals);
        None
    }

    /// Where m_b must not stay behind: the sender has half a window ahead of what it knows of.
    fn relief(&self, params: &SequencingParams) -> u64 {
        self.believed_end().saturating_sub(params.window / 2)
    }

    /// Whether packets were delivered that m_b has not passed.
    pub(super) fn lags(&self) -> bool {
        self.queue.has_delivered()
    }

    /// The remote host is about to be told where the window is: what is missing of what was there
    /// the last time is not waited for any longer.
    pub(super) fn catch_up(&mut self, params: &SequencingParams, totals: &mut Totals) {
        let end = self.believed_end();
        let seen = core::mem::replace(&mut self.seen, end);
        self.skip_to(seen, params, totals);
    }

    /// Moves m_b on to `to` at most, past what is missing and nobody waits for.
    fn skip_to(&mut self, to: u64, params: &SequencingParams, totals: &mut Totals) {
        while let Some(next) = self.next_skip(to, params) {
            self.pass_to(next, params, totals);
            self.pass_to(self.queue.delivered_end(), params, totals);
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
        let from = delivered.map_or_else(|| self.base(), |id| id + 1);
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
    fn pass_to(&mut self, to: u64, params: &SequencingParams, totals: &mut Totals) {
        let base = self.base();
        let mut from = base;
        while let Some(id) = self.queue.next(from).filter(|&id| id < to) {
            totals.passed += (id - from) * cost(0);
            if let Some(entry) = self.queue.remove(id) {
                totals.release(entry.mode, entry.cost());
                totals.passed += entry.cost();
                self.note(
                    (from, id),
                    matches!(entry.content, Content::Delivered),
                    params,
                );
            }
            from = id + 1;
        }
        if let Some(fates) = &mut self.fates {
            fates.push(to.saturating_sub(from), true, params);
        }
        if to > base {
            self.queue.advance_to(to);
            self.partials.forget_through(to - 1);
            self.fired = last_marked(base, to, params.spacing).or(self.fired);
        }
    }
}
