//! The side that knows the world: the snapshots that it sends, and the states that it believes the client
//! to have.

use alloc::collections::BTreeMap;

use porous_message::Error;

use crate::history::{GROUPS, Group, History};
use crate::packing::Packing;
use crate::part::{Entry, Header, LONGEST_AGE, Part};

/// Ticks after which a group is sent again although nothing of it is new: so a wrong receipt is found
/// out.
const REFRESH: u32 = 60;

/// The belief about a group, in ticks. `None` is before all ticks.
#[derive(Clone, Copy, Debug, Default)]
struct Belief {
    /// The newest tick of the group that was sent, and the first tick since which the same state was
    /// sent.
    sent: Option<u32>,
    same_since: Option<u32>,
    /// The newest tick that was delivered: differences refer to this one.
    baseline: Option<u32>,
    /// The last tick at which the group referred to a state that the client did not have. Receipts of parts
    /// sent until then are not believed.
    doubted: Option<u32>,
}

/// The server's end of the snapshots for one client.
#[derive(Debug)]
pub(crate) struct Server {
    history: History,
    beliefs: [Belief; GROUPS],
    /// The headers of the parts that may still be delivered, or refused.
    sent: BTreeMap<u64, Header>,
    next_id: u64,
    /// The first group of the next snapshot: the first that did not fit the snapshot before.
    first: u8,
    tick: u32,
}

/// A snapshot on its way out.
#[derive(Debug)]
pub(crate) struct Snapshot {
    /// Each part with its id.
    pub(crate) parts: Vec<(u64, Vec<u8>)>,
    /// True if everything new fitted.
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

    /// A snapshot of the world at this tick, in at most `most_parts` parts.
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

    /// Packs the groups that are new, in turns. True if all of them fitted.
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

    /// Notes that this part is sent now.
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

    /// Notes that a part has arrived: its groups can be baselines.
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

    /// Notes that the client did not have a baseline of a part. So one of the receipts was wrong, and the
    /// client may lack all parts that were sent since then: the groups of this part begin again.
    pub(crate) fn refused(&mut self, id: u64) {
        let Some(header) = self.sent.get(&id) else {
            return;
        };
        for entry in &header.entries {
            let belief = &mut self.beliefs[usize::from(entry.index)];
            // Not again for parts that were on their way meanwhile: they are refused for the same reason.
            if Some(header.tick) > belief.doubted {
                belief.baseline = None;
                belief.doubted = Some(self.tick);
            }
        }
    }

    /// The entry of a group in the next part: with the newest baseline that it may refer to.
    fn entry(&self, index: u8) -> Entry {
        let baseline = self.beliefs[usize::from(index)].baseline;
        let age = baseline.and_then(|tick| u8::try_from(self.tick - tick).ok());
        let age = age.filter(|age| *age <= LONGEST_AGE).unwrap_or(0);
        Entry { index, age }
    }

    /// True if the group was in this state when it was sent last.
    fn was_sent_last(&self, index: u8, group: &Group) -> bool {
        let sent = self.beliefs[usize::from(index)].sent;
        sent.is_some_and(|tick| self.history.get(tick, index) == Some(group))
    }

    /// True if the client has this state already, as far as is known.
    fn is_old_news(&self, index: u8, group: &Group) -> bool {
        let belief = self.beliefs[usize::from(index)];
        let is_recent = belief.sent.is_some_and(|tick| self.tick - tick < REFRESH);
        let is_known = belief.baseline >= belief.same_since;
        is_recent && is_known && self.was_sent_last(index, group)
    }
}
