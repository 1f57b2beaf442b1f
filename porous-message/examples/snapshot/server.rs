//! The side that knows the world: what it sends, and what it believes that the client has.

use alloc::collections::BTreeMap;

use porous_message::Error;

use crate::history::{GROUPS, Group, History};
use crate::packing::Packing;
use crate::part::{Entry, Header, LONGEST_AGE, Part};

/// A group of which nothing is new is sent all the same when the last time is so many ticks ago: if
/// the receipt was wrong, this is how it comes out.
const REFRESH: u32 = 60;

/// What is believed about a group. None is before all ticks.
#[derive(Clone, Copy, Debug, Default)]
struct Belief {
    /// The newest tick of it that was sent, and the first from which on that was always the same.
    sent: Option<u32>,
    same_since: Option<u32>,
    /// The newest that was delivered: differences refer to this one.
    baseline: Option<u32>,
    /// Until then it referred to something that the client did not have. Receipts of what was sent
    /// until then are worth nothing.
    doubted: Option<u32>,
}

/// The server's end of the snapshots for one client.
#[derive(Debug)]
pub(crate) struct Server {
    history: History,
    beliefs: [Belief; GROUPS],
    /// What is in the parts that may still be delivered, or refused.
    sent: BTreeMap<u64, Header>,
    next_id: u64,
    /// Where the next snapshot begins: with what did not fit the one before.
    first: u8,
    tick: u32,
}

/// A snapshot on its way out.
#[derive(Debug)]
pub(crate) struct Snapshot {
    /// Each with its id.
    pub(crate) parts: Vec<(u64, Vec<u8>)>,
    /// Whether all fitted that is new.
    pub(crate) is_whole: bool,
}

impl Server {
    pub(crate) fn new() -> Self {
        Self {
            history: History::new(LONGEST_AGE.into()),
            beliefs: [Belief::default(); GROUPS],
            sent: BTreeMap::new(),
            next_id: 0,
            first: 0,
            tick: 0,
        }
    }

    /// What to send of the world at this tick, in so many parts at most.
    pub(crate) fn snapshot(
        &mut self,
        tick: u32,
        world: &[Group; GROUPS],
        most_parts: usize,
    ) -> Result<Snapshot, Error> {
        self.tick = tick;
        for (index, group) in (0..).zip(world) {
            self.history.insert(tick, index, *group);
        }
        let mut packing = Packing::new(tick, most_parts);
        let is_whole = self.pack(&mut packing, world)?;
        let mut parts = Vec::new();
        for mut part in packing.finish() {
            part.header.id = self.next_id;
            self.next_id += 1;
            parts.push((part.header.id, part.write(&self.history)?));
            self.remember(part);
        }
        let oldest = tick.saturating_sub(LONGEST_AGE.into());
        self.sent.retain(|_, header| header.tick >= oldest);
        Ok(Snapshot { parts, is_whole })
    }

    /// Packs what is new, in turns: whether all of it fitted.
    fn pack(&mut self, packing: &mut Packing, world: &[Group; GROUPS]) -> Result<bool, Error> {
        let turns = (0..).zip(world).cycle().skip(self.first.into());
        for (index, group) in turns.take(GROUPS) {
            if self.is_old_news(index, group) {
                continue;
            }
            let entry = self.entry(index);
            let baseline = entry.baseline(self.tick, &self.history);
            if !packing.add(entry, *group, baseline)? {
                self.first = index;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// This part is sent now.
    fn remember(&mut self, part: Part) {
        for (entry, group) in part.header.entries.iter().zip(&part.groups) {
            let is_same = self.was_sent_last(entry.index, group);
            let belief = &mut self.beliefs[usize::from(entry.index)];
            belief.sent = Some(self.tick);
            if !is_same {
                belief.same_since = belief.sent;
            }
        }
        self.sent.insert(part.header.id, part.header);
    }

    /// A part has arrived: its groups can be referred to.
    pub(crate) fn delivered(&mut self, id: u64) {
        let Some(header) = self.sent.get(&id) else {
            return;
        };
        let tick = Some(header.tick);
        for entry in &header.entries {
            let belief = &mut self.beliefs[usize::from(entry.index)];
            if tick > belief.doubted {
                belief.baseline = belief.baseline.max(tick);
            }
        }
    }

    /// The client did not have what a part refers to. So one of the receipts was wrong, and it may
    /// lack all that was sent since then: its groups begin again.
    pub(crate) fn refused(&mut self, id: u64) {
        let Some(header) = self.sent.get(&id) else {
            return;
        };
        for entry in &header.entries {
            let belief = &mut self.beliefs[usize::from(entry.index)];
            // Those that were on their way meanwhile are refused, too: that is known already.
            if Some(header.tick) > belief.doubted {
                belief.baseline = None;
                belief.doubted = Some(self.tick);
            }
        }
    }

    /// What a group is to refer to now.
    fn entry(&self, index: u8) -> Entry {
        let baseline = self.beliefs[usize::from(index)].baseline;
        let age = baseline.and_then(|tick| u8::try_from(self.tick - tick).ok());
        let age = age.filter(|age| *age <= LONGEST_AGE).unwrap_or(0);
        Entry { index, age }
    }

    /// Whether the group was just like that when it was sent the last time.
    fn was_sent_last(&self, index: u8, group: &Group) -> bool {
        let sent = self.beliefs[usize::from(index)].sent;
        sent.is_some_and(|tick| self.history.get(tick, index) == Some(group))
    }

    /// Whether the client has it already, as far as is known.
    fn is_old_news(&self, index: u8, group: &Group) -> bool {
        let belief = self.beliefs[usize::from(index)];
        let is_recent = belief.sent.is_some_and(|tick| self.tick - tick < REFRESH);
        let is_known = belief.baseline >= belief.same_since;
        is_recent && is_known && self.was_sent_last(index, group)
    }
}
