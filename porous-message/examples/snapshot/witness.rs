//! Somebody who sees both sides, which nobody does in a real game, and compares them.

use std::collections::BTreeMap;

use porous_message::write;

use crate::history::{GROUPS, Group};
use crate::part::Part;

/// Digests of all that was sent, and what the client made of it.
#[derive(Debug, Default)]
pub(crate) struct Witness {
    sent: BTreeMap<u32, [u64; GROUPS]>,
    /// Groups that the client was told as they were at that tick, and others: there must be none.
    pub(crate) same: u64,
    pub(crate) different: u64,
    /// Parts that could not be read: likewise.
    pub(crate) malformed: u64,
}

impl Witness {
    /// The world of a snapshot.
    pub(crate) fn sent(&mut self, tick: u32, world: &[Group; GROUPS]) {
        self.sent.insert(tick, world.map(digest));
    }

    /// What the client has taken.
    pub(crate) fn shown(&mut self, part: &Part) {
        let sent = self.sent.get(&part.header.tick);
        for (entry, group) in part.header.entries.iter().zip(&part.groups) {
            let sent = sent.and_then(|groups| groups.get(usize::from(entry.index)));
            if sent == Some(&digest(*group)) {
                self.same += 1;
            } else {
                self.different += 1;
            }
        }
    }

    /// Whether the client has taken something, and never anything else than what was there.
    pub(crate) fn is_content(&self) -> bool {
        self.same > 0 && self.different == 0 && self.malformed == 0
    }
}

/// FNV-1a of all bits of a group.
fn digest(mut group: Group) -> u64 {
    let mut buffer = [0; 256];
    let bytes = write(&mut group, &mut buffer).expect("eight objects are shorter");
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
