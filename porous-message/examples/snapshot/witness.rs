//! An observer that compares both sides. No part of a real game sees both.

use alloc::collections::BTreeMap;

use porous_message::write;

use crate::client::Client;
use crate::history::{GROUPS, Group};
use crate::part::Part;

/// A snapshot that was sent.
#[derive(Debug)]
struct Sent {
    digests: [u64; GROUPS],
    /// The number of parts that the client has not taken.
    missing: usize,
}

/// Digests of all snapshots that were sent, and the comparison with the states of the client.
#[derive(Debug, Default)]
pub(crate) struct Witness {
    sent: BTreeMap<u32, Sent>,
    /// The newest tick of each group that the client has.
    newest: BTreeMap<u8, u32>,
    /// Groups that the client has in the state that they had on the server at that tick, and groups in
    /// another state: there must be none of the latter.
    pub(crate) same: u64,
    pub(crate) different: u64,
    /// Parts that could not be read: there must be none.
    pub(crate) malformed: u64,
}

impl Witness {
    /// Notes that a snapshot of this world is sent, in `parts` parts.
    pub(crate) fn sent(&mut self, tick: u32, world: &[Group; GROUPS], parts: usize) {
        let digests = world.map(digest);
        let missing = parts;
        self.sent.insert(tick, Sent { digests, missing });
    }

    /// Compares the groups of a part that the client has taken.
    pub(crate) fn shown(&mut self, part: &Part, client: &Client) {
        let tick = part.header.tick;
        for (entry, group) in part.header.entries.iter().zip(&part.groups) {
            self.compare(tick, entry.index, group);
            let newest = self.newest.entry(entry.index).or_default();
            *newest = tick.max(*newest);
            match client.shown(entry.index) {
                Some((shown, group)) if shown == newest => {
                    self.compare(*shown, entry.index, group);
                }
                _ => self.different += 1,
            }
        }
        if let Some(sent) = self.sent.get_mut(&tick) {
            sent.missing -= 1;
        }
    }

    fn compare(&mut self, tick: u32, index: u8, group: &Group) {
        let sent = self.sent.get(&tick).map(|sent| &sent.digests);
        match sent.and_then(|digests| digests.get(usize::from(index))) {
            Some(there) if *there == digest(*group) => self.same += 1,
            _ => self.different += 1,
        }
    }

    /// The number of snapshots that have come whole.
    pub(crate) fn complete(&self) -> u64 {
        let whole = self.sent.values().filter(|sent| sent.missing == 0);
        whole.count() as u64
    }

    /// True if the client has seen something, and never a state that the server did not have.
    pub(crate) const fn is_content(&self) -> bool {
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
