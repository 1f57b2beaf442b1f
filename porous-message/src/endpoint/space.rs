//! The room that is left in a packet.

/// Room for what is chosen: bits, and the number of messages and pieces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Space {
    pub(super) bits: u64,
    pub(super) items: u32,
}

impl Space {
    /// Takes the room for one message or piece. True if there was room.
    pub(super) fn take(&mut self, bits: u64) -> bool {
        if self.items == 0 || self.bits < bits {
            return false;
        }
        self.bits -= bits;
        self.items -= 1;
        true
    }

    /// The part of this room that a channel may use; the channel has a budget of bytes, and has used
    /// some bits of it.
    pub(super) fn share(&self, budget: usize, used: u64) -> Self {
        let budget = (budget as u64).saturating_mul(8).saturating_sub(used);
        Self {
            bits: self.bits.min(budget),
            items: self.items,
        }
    }

    /// Takes off the room that was taken of a share.
    pub(super) fn settle(&mut self, before: &Self, after: &Self) {
        self.bits -= before.bits - after.bits;
        self.items -= before.items - after.items;
    }
}
