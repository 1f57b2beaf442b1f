//! The recent states of the world: the baselines that differences refer to.

use alloc::collections::BTreeMap;

use crate::body::Body;

/// Objects go in groups of neighbours, and each group has a baseline of its own.
pub(crate) const GROUP: usize = 8;
pub(crate) const GROUPS: usize = 125;

/// Eight objects.
pub(crate) type Group = [Body; GROUP];

/// The states of groups, as many ticks back as the other side may refer to.
#[derive(Debug)]
pub(crate) struct History {
    groups: BTreeMap<(u32, u8), Group>,
    newest: u32,
    ticks: u32,
}

impl History {
    pub(crate) const fn new(ticks: u32) -> Self {
        Self {
            groups: BTreeMap::new(),
            newest: 0,
            ticks,
        }
    }

    /// Keeps a state of a group, unless it is too old already, and forgets the states that are too old
    /// now.
    pub(crate) fn insert(&mut self, tick: u32, index: u8, group: Group) {
        self.newest = self.newest.max(tick);
        self.groups.insert((tick, index), group);
        let oldest = self.newest.saturating_sub(self.ticks);
        while let Some(entry) = self.groups.first_entry() {
            if entry.key().0 >= oldest {
                break;
            }
            entry.remove();
        }
    }

    pub(crate) fn get(&self, tick: u32, index: u8) -> Option<&Group> {
        self.groups.get(&(tick, index))
    }
}
