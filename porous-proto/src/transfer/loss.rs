//! Which frames are considered dropped (Figure 7, §3.1.5): by three later acknowledgements, or by
//! time (`deviations.md` T1).

/// So many later transmissions must be acknowledged (Figure 7; RFC 4341, NUMDUPACK).
const LATER: usize = 3;

/// The newest acknowledged ids.
#[derive(Debug)]
pub(crate) struct LaterAcks {
    newest: [Option<u64>; LATER],
    next: u64,
}

impl LaterAcks {
    /// `first` is the id of the first frame.
    pub(crate) const fn new(first: u64) -> Self {
        Self {
            newest: [None; LATER],
            next: first,
        }
    }

    /// The frame `id` was acknowledged, for the first time. `is_elsewhere`: it took another path than
    /// the others, and tells nothing of them.
    pub(crate) fn on_acknowledged(&mut self, id: u64, is_elsewhere: bool) {
        self.next = self.next.max(id + 1);
        if is_elsewhere {
            return;
        }
        let mut id = Some(id);
        for slot in &mut self.newest {
            if id > *slot {
                core::mem::swap(slot, &mut id);
            }
        }
    }

    /// Frames below this id have seen three later ones acknowledged.
    pub(crate) const fn dropped_below(&self) -> u64 {
        match self.newest[LATER - 1] {
            Some(id) => id,
            None => 0,
        }
    }

    /// The newest acknowledged id, of those that took the path.
    pub(crate) const fn newest(&self) -> Option<u64> {
        self.newest[0]
    }

    /// One past the newest acknowledged id: a of `docs/wire.md`, "Frame ids".
    pub(crate) const fn next(&self) -> u64 {
        self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_later_acknowledgements_drop_a_frame_in_any_order() {
        let mut acks = LaterAcks::new(0);
        for id in [4, 2] {
            acks.on_acknowledged(id, false);
            assert_eq!(acks.dropped_below(), 0);
        }
        acks.on_acknowledged(3, false);
        assert_eq!((acks.dropped_below(), acks.next()), (2, 5));
        acks.on_acknowledged(0, false);
        assert_eq!(acks.dropped_below(), 2);
        acks.on_acknowledged(9, false);
        assert_eq!(acks.dropped_below(), 3);
        for id in 20..30 {
            acks.on_acknowledged(id, true);
        }
        assert_eq!(
            (acks.dropped_below(), acks.newest(), acks.next()),
            (3, Some(9), 30)
        );
    }
}
