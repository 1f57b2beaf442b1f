//! What is left of a packet.

/// Room for what is chosen, in bits and in number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Space {
    pub(super) bits: u64,
    pub(super) items: u32,
}

impl Space {
    /// Takes the room for one thing, if there is as much.
    pub(super) fn take(&mut self, bits: u64) -> bool {
        if self.items == 0 || self.bits < bits {
            return false;
        }
        self.bits -= bits;
        self.items -= 1;
        true
    }

    /// What a channel may use of it, which has this budget and has used some of it already.
    pub(super) fn share(&self, budget: usize, used: u64) -> Self {
        let budget = (budget as u64).saturating_mul(8).saturating_sub(used);
        Self {
            bits: self.bits.min(budget),
            items: self.items,
        }
    }

    /// Takes off what was taken of a share.
    pub(super) fn settle(&mut self, before: &Self, after: &Self) {
        self.bits -= before.bits - after.bits;
        self.items -= before.items - after.items;
    }
}
