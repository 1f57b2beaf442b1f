//! Who is there: the ids of Godot and the peers of the host.

use alloc::collections::BTreeMap;

use porous_std::PeerId;

/// A remote host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) peer: PeerId,
    /// True if Godot knows of it.
    pub(crate) is_announced: bool,
}

/// All remote hosts, by both of their names.
#[derive(Debug)]
pub(crate) struct Roster {
    members: BTreeMap<i32, Member>,
    ids: BTreeMap<PeerId, i32>,
}

impl Roster {
    pub(crate) const fn new() -> Self {
        Self {
            members: BTreeMap::new(),
            ids: BTreeMap::new(),
        }
    }

    pub(crate) fn add(&mut self, id: i32, peer: PeerId) {
        let is_announced = false;
        self.members.insert(id, Member { peer, is_announced });
        self.ids.insert(peer, id);
    }

    pub(crate) fn remove(&mut self, id: i32) -> Option<Member> {
        let member = self.members.remove(&id)?;
        self.ids.remove(&member.peer);
        Some(member)
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::new();
    }

    pub(crate) fn get(&self, id: i32) -> Option<Member> {
        self.members.get(&id).copied()
    }

    pub(crate) fn id(&self, peer: PeerId) -> Option<i32> {
        self.ids.get(&peer).copied()
    }

    /// Notes that Godot is told of this one. Returns true the first time.
    pub(crate) fn announce(&mut self, id: i32) -> bool {
        let member = self.members.get_mut(&id);
        member.is_some_and(|member| !core::mem::replace(&mut member.is_announced, true))
    }

    /// Those that Godot knows, in the order of their ids.
    pub(crate) fn announced(&self) -> impl Iterator<Item = (i32, PeerId)> {
        let all = self
            .members
            .iter()
            .filter(|(_, member)| member.is_announced);
        all.map(|(id, member)| (*id, member.peer))
    }

    /// An id that nobody has, from 32 bits of chance.
    pub(crate) fn free_id(&self, random: u32) -> i32 {
        /// 2 to 2³¹ - 1.
        const COUNT: u32 = i32::MAX as u32 - 1;
        let mut id = i32::try_from(random % COUNT).unwrap_or(0) + 2;
        // A host has far fewer peers than there are ids, so this ends.
        while self.members.contains_key(&id) {
            id = if id == i32::MAX { 2 } else { id + 1 };
        }
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_in_the_range_of_clients_and_nobody_has_them() {
        let mut roster = Roster::new();
        let peer = |n: u64| PeerId::from_u64(1 << 32 | n).expect("a name");
        assert_eq!(roster.free_id(0), 2);
        assert_eq!(roster.free_id(i32::MAX as u32 - 2), i32::MAX);
        assert_eq!(roster.free_id(u32::MAX), 5);
        roster.add(i32::MAX, peer(1));
        roster.add(2, peer(2));
        assert_eq!(roster.free_id(i32::MAX as u32 - 2), 3, "around the end");
        assert_eq!(roster.id(peer(2)), Some(2));
        assert!(roster.announce(2));
        assert!(!roster.announce(2));
        assert_eq!(roster.announced().collect::<Vec<_>>(), [(2, peer(2))]);
        assert!(roster.remove(2).is_some());
        assert_eq!((roster.id(peer(2)), roster.free_id(0)), (None, 2));
    }
}
