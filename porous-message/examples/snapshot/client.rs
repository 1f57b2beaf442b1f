//! The side that is told of the world, and the states that it has.

use crate::history::{GROUPS, Group, History};
use crate::part::{LONGEST_AGE, Part, Unusable};

/// The client's end of the snapshots.
#[derive(Debug)]
pub(crate) struct Client {
    history: History,
    /// The newest state of each group that has come, and its tick.
    shown: [Option<(u32, Group)>; GROUPS],
}

impl Client {
    pub(crate) const fn new() -> Self {
        Self {
            // Twice as far back as a baseline: a part that comes late refers to ticks that are older still.
            history: History::new(2 * LONGEST_AGE as u32),
            shown: [None; GROUPS],
        }
    }

    /// Takes a part in. If the part refers to a baseline that the client does not have, tell the server.
    ///
    /// A state that is older than the shown one is kept, too: the server was told that it arrived, and may
    /// refer to it.
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

    /// The newest known state of a group, and its tick.
    pub(crate) fn shown(&self, index: u8) -> Option<&(u32, Group)> {
        self.shown.get(usize::from(index))?.as_ref()
    }
}
