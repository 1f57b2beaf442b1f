//! The side that is told: what it has of the world.

use crate::history::{GROUPS, Group, History};
use crate::part::{LONGEST_AGE, Part, Unusable};

/// The client's end of the snapshots.
#[derive(Debug)]
pub(crate) struct Client {
    history: History,
    /// The newest of each group, and its tick.
    shown: [Option<(u32, Group)>; GROUPS],
}

impl Client {
    pub(crate) const fn new() -> Self {
        Self {
            // Twice as far back: what comes late refers to what is older still.
            history: History::new(2 * LONGEST_AGE as u32),
            shown: [None; GROUPS],
        }
    }

    /// Takes a part. If it refers to what is not here, the server is to be told.
    ///
    /// What is older than what is shown is kept all the same: the server was told that it arrived,
    /// and may refer to it.
    pub(crate) fn receive(&mut self, data: &[u8]) -> Result<Part, Unusable> {
        let part = Part::read(data, &self.history)?;
        let tick = part.header.tick;
        for (entry, group) in part.header.entries.iter().zip(&part.groups) {
            self.history.insert(tick, entry.index, *group);
            let shown = &mut self.shown[usize::from(entry.index)];
            if shown.is_none_or(|(newest, _)| newest < tick) {
                *shown = Some((tick, *group));
            }
        }
        Ok(part)
    }

    /// The newest that is known of a group, and its tick.
    pub(crate) fn shown(&self, index: u8) -> Option<&(u32, Group)> {
        self.shown.get(usize::from(index))?.as_ref()
    }
}
