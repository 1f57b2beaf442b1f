//! Room for what the application sends: the send budget of a peer, which its channels share without
//! keeping each other out (`docs/design.md`, "Why has each channel a reserve of the send budget?").

use alloc::vec::Vec;

use crate::frame::Mode;

/// Bytes of the send budget that a passed packet takes until the last word of its receipt is known: what is
/// remembered of it, and the event to come.
pub(super) const UNSETTLED: u64 = 192;

/// Bytes that wait on one channel to be sent or acknowledged, 64 for each packet included.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Held {
    unreliable: u64,
    /// Reliable and passive packets.
    repeated: u64,
}

impl Held {
    const fn of(&self, mode: Mode) -> u64 {
        match mode {
            Mode::Unreliable => self.unreliable,
            Mode::Reliable | Mode::Passive => self.repeated,
        }
    }

    const fn of_mut(&mut self, mode: Mode) -> &mut u64 {
        match mode {
            Mode::Unreliable => &mut self.unreliable,
            Mode::Reliable | Mode::Passive => &mut self.repeated,
        }
    }
}

/// The send budget of a peer, in bytes, and what all of its channels take of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct SendRoom {
    budget: u64,
    /// Bytes that the unreliable packets of each channel find at any time, and its other packets as well.
    reserve: u64,
    /// Bytes of the budget that are in no reserve.
    common: u64,
    used: u64,
    /// Bytes in use beyond reserves.
    borrowed: u64,
    /// Packets that found no room since the application was last told that there is some.
    refusals: Vec<Refusal>,
}

/// A packet that asks for room, or that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) channel: u8,
    pub(super) mode: Mode,
    /// Bytes that it takes; of several that were refused, those of the smallest.
    pub(super) cost: u64,
}

impl SendRoom {
    pub(super) fn new(budget: u64, channels: u8) -> Self {
        let reserves = 2 * u64::from(channels);
        // A quarter of the budget: more would lie idle, as few channels are ever long.
        let reserve = budget / 4 / reserves;
        Self {
            budget,
            reserve,
            common: budget - reserves * reserve,
            used: 0,
            borrowed: 0,
            refusals: Vec::new(),
        }
    }

    pub(crate) const fn used(&self) -> u64 {
        self.used
    }

    pub(super) const fn take(&mut self, held: &mut Held, mode: Mode, bytes: u64) {
        let held = held.of_mut(mode);
        let before = held.saturating_sub(self.reserve);
        *held += bytes;
        self.used += bytes;
        // Only what goes beyond the reserve is taken of the common part.
        self.borrowed += held.saturating_sub(self.reserve) - before;
    }

    pub(super) const fn give_back(&mut self, held: &mut Held, mode: Mode, bytes: u64) {
        let held = held.of_mut(mode);
        let before = held.saturating_sub(self.reserve);
        *held -= bytes;
        self.used -= bytes;
        self.borrowed -= before - held.saturating_sub(self.reserve);
    }

    /// Whether a packet of `cost` bytes fits where its channel holds `held` already, beside `receipts` bytes
    /// for receipts that were not taken.
    const fn fits(&self, held: u64, cost: u64, receipts: u64) -> bool {
        let total = self.used + receipts;
        // A packet may be longer than the budget: it is accepted where nothing else waits.
        if total == 0 {
            return true;
        }
        let beyond = (held + cost).saturating_sub(self.reserve);
        let more = beyond - held.saturating_sub(self.reserve);
        // Within its reserve a packet borrows nothing, however full the common part is.
        total + cost <= self.budget
            && (beyond == 0 || self.borrowed + more + receipts <= self.common)
    }

    /// Whether half of the bytes that a channel can use is free, where it holds `held`.
    const fn is_half_free(&self, held: u64, receipts: u64) -> bool {
        let own = held.saturating_sub(self.reserve);
        // What others have borrowed is out of reach until they give it back.
        let others = self.borrowed - own + receipts;
        held <= (self.reserve + self.common.saturating_sub(others)) / 2
            && receipts <= self.budget / 2
    }

    /// Whether there is room for a packet, where its channel holds `held` already. A refusal is remembered:
    /// see [`has_new_room`](Self::has_new_room).
    #[inline]
    pub(super) fn has_room(&mut self, wanted: Refusal, held: Held, receipts: u64) -> bool {
        let fits = self.fits(held.of(wanted.mode), wanted.cost, receipts);
        if !fits {
            self.refuse(wanted);
        }
        fits
    }

    fn refuse(&mut self, refusal: Refusal) {
        let is_unreliable = |mode| mode == Mode::Unreliable;
        let same = |other: &&mut Refusal| {
            other.channel == refusal.channel
                && is_unreliable(other.mode) == is_unreliable(refusal.mode)
        };
        // One for each reserve: the list is no longer than twice the channels.
        match self.refusals.iter_mut().find(same) {
            // The smallest packet is the first to find room again.
            Some(other) => other.cost = other.cost.min(refusal.cost),
            None => self.refusals.push(refusal),
        }
    }

    /// Whether a packet that was refused fits now, and half of the room that its channel can use is free.
    /// `held`: what each channel holds.
    #[inline]
    pub(super) fn has_new_room(&self, held: impl Fn(u8) -> Held, receipts: u64) -> bool {
        self.refusals.iter().any(|refusal| {
            let held = held(refusal.channel).of(refusal.mode);
            // Both: with half of the room free a long packet may still not fit, and would be refused again.
            self.fits(held, refusal.cost, receipts) && self.is_half_free(held, receipts)
        })
    }

    /// To be called when the application is told that there is room: a packet that finds none then is refused
    /// anew.
    pub(super) fn forget_refusals(&mut self) {
        self.refusals.clear();
    }
}

#[cfg(any(test, feature = "audit"))]
impl SendRoom {
    /// Adds what a channel holds to books that are made anew.
    pub(super) fn audit(&mut self, held: Held) {
        for held in [held.unreliable, held.repeated] {
            self.used += held;
            self.borrowed += held.saturating_sub(self.reserve);
        }
    }

    /// The same budget with nothing in it.
    pub(super) fn empty(&self) -> Self {
        let mut empty = self.clone();
        (empty.used, empty.borrowed) = (0, 0);
        empty
    }

    pub(super) const fn sums(&self) -> [u64; 2] {
        [self.used, self.borrowed]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many packets of 100 bytes fit, as `send` asks.
    fn fill(room: &mut SendRoom, held: &mut Held, mode: Mode) -> usize {
        let mut count = 0;
        while room.fits(held.of(mode), 100, 0) {
            room.take(held, mode, 100);
            count += 1;
        }
        count
    }

    #[test]
    fn a_channel_that_fills_the_common_room_leaves_each_reserve_free() {
        const TWO: u8 = 2;
        let mut room = SendRoom::new(16_000, TWO);
        let mut held = [Held::default(); TWO as usize];
        // 12,000 are common, and each of the four has 1000.
        assert_eq!(fill(&mut room, &mut held[0], Mode::Reliable), 130);
        assert_eq!(fill(&mut room, &mut held[0], Mode::Unreliable), 10);
        assert_eq!(fill(&mut room, &mut held[1], Mode::Unreliable), 10);
        assert_eq!(fill(&mut room, &mut held[1], Mode::Passive), 10);
        assert_eq!(room.used(), 16_000);
        room.give_back(&mut held[1], Mode::Unreliable, 300);
        assert_eq!(fill(&mut room, &mut held[0], Mode::Reliable), 0);
        assert_eq!(fill(&mut room, &mut held[1], Mode::Unreliable), 3);
        // What is given back beyond a reserve is common again.
        room.give_back(&mut held[0], Mode::Reliable, 300);
        assert_eq!(fill(&mut room, &mut held[1], Mode::Unreliable), 3);
    }

    #[test]
    fn any_packet_fits_where_nothing_waits() {
        let mut room = SendRoom::new(100, 1);
        let mut held = Held::default();
        assert!(room.fits(0, 5000, 0) && !room.fits(0, 5000, 64));
        room.take(&mut held, Mode::Reliable, 5000);
        assert!(!room.fits(0, 1, 0));
        room.give_back(&mut held, Mode::Reliable, 5000);
        assert_eq!(room.sums(), [0, 0]);
    }
}
