//! Packs groups into parts: as many as fit each part, and at most as many parts as a snapshot may have.

use porous_message::Error;

use crate::history::Group;
use crate::part::{Entry, PART_BYTES, Part};

/// Parts that are being filled.
#[derive(Debug)]
pub(crate) struct Packing {
    tick: u32,
    parts: Vec<Part>,
    /// The length of the last part in bits.
    bits: u64,
    most_parts: usize,
}

impl Packing {
    pub(crate) const fn new(tick: u32, most_parts: usize) -> Self {
        Self {
            tick,
            parts: Vec::new(),
            bits: 0,
            most_parts,
        }
    }

    /// Adds a group. False if the last part is full.
    pub(crate) fn add(
        &mut self,
        entry: Entry,
        mut group: Group,
        baseline: Option<&Group>,
    ) -> Result<bool, Error> {
        let before = self
            .parts
            .last()
            .and_then(|part| part.header.entries.last());
        let mut bits = entry.measure(*before.unwrap_or(&Entry::NONE), &mut group, baseline)?;
        if self.parts.is_empty() || self.bits + bits > 8 * PART_BYTES as u64 {
            if self.parts.len() == self.most_parts {
                return Ok(false);
            }
            self.parts.push(Part::default());
            bits = Part::EMPTY_BITS + entry.measure(Entry::NONE, &mut group, baseline)?;
            self.bits = 0;
        }
        self.bits += bits;
        if let Some(part) = self.parts.last_mut() {
            part.header.tick = self.tick;
            part.header.entries.push(entry);
            part.groups.push(group);
        }
        Ok(true)
    }

    /// The parts that were packed.
    pub(crate) fn finish(self) -> Vec<Part> {
        self.parts
    }
}
