//! Which tokens have been used that may be used only once.

use alloc::boxed::Box;
use alloc::vec;

use super::token::TokenRefusal;

/// No entry.
const NONE: u32 = u32::MAX;

/// A token that was used.
#[derive(Clone, Copy, Debug)]
struct Entry {
    id: [u8; 16],
    /// The Unix second from which on no server takes the token anyway; 0 if the entry is free.
    until: u64,
    /// The next entry of the same chain, or the next free one.
    next: u32,
}

/// A bounded table of used tokens. It never forgets one that could still be used, and refuses new ones when
/// it is full. All of its memory is allocated when it is made: 32 bytes for each token, and 4 for each of as
/// many chains, rounded up to a power of two; less than 40 bytes for each token in all.
///
/// A token is known by its tag. Tags are made by the backend's key and cannot be chosen by a client, so the
/// table is hashed by them without a key of its own.
#[derive(Debug)]
pub(crate) struct UsedTokens {
    /// The first entries of the chains, a power of two.
    chains: Box<[u32]>,
    entries: Box<[Entry]>,
    /// The first free entry.
    free: u32,
    /// No entry is free to be forgotten before this second.
    earliest: u64,
    /// All tokens that were forgotten could be used until this second at most. Others up to it are refused,
    /// or a clock that was put ahead and then back would make them good again.
    forgotten: u64,
}

impl UsedTokens {
    /// A table for `limit` tokens, at most 2^31.
    pub(crate) fn new(limit: u32) -> Self {
        let limit = limit.min(1 << 31);
        let entries = (1..=limit).map(|next| Entry {
            id: [0; 16],
            until: 0,
            next: if next == limit { NONE } else { next },
        });
        let chains = vec![NONE; limit.max(1).next_power_of_two() as usize];
        Self {
            chains: chains.into_boxed_slice(),
            entries: entries.collect(),
            free: if limit == 0 { NONE } else { 0 },
            earliest: u64::MAX,
            forgotten: 0,
        }
    }

    /// Whether a token could be used now, before it is known whether its owner has its secret.
    ///
    /// # Errors
    ///
    /// If it has been used, or may have been.
    pub(crate) fn check(&self, id: &[u8; 16], until: u64) -> Result<(), TokenRefusal> {
        let is_known = until <= self.forgotten || self.find(id);
        if is_known {
            Err(TokenRefusal::Used)
        } else {
            Ok(())
        }
    }

    /// Uses a token, which is taken until the Unix second `until`, exclusive.
    ///
    /// # Errors
    ///
    /// If it has been used, or may have been; and if there is no room for it, which there is when others
    /// have expired.
    pub(crate) fn spend(
        &mut self,
        id: &[u8; 16],
        until: u64,
        now: u64,
    ) -> Result<(), TokenRefusal> {
        self.check(id, until)?;
        // In each second at most one search that finds something, and none that does not.
        if self.free == NONE && self.earliest <= now {
            self.forget(now);
        }
        let chain = self.chain_of(id);
        let place = self.free;
        let free = self.entries.get_mut(place as usize);
        let (Some(entry), Some(first)) = (free, self.chains.get_mut(chain)) else {
            return Err(TokenRefusal::Full);
        };
        self.free = entry.next;
        let next = core::mem::replace(first, place);
        *entry = Entry {
            id: *id,
            until,
            next,
        };
        self.earliest = self.earliest.min(until);
        Ok(())
    }

    fn chain_of(&self, id: &[u8; 16]) -> usize {
        let [a, b, c, d, ..] = *id;
        // A remainder by a power of two.
        u32::from_le_bytes([a, b, c, d]) as usize & (self.chains.len() - 1)
    }

    fn find(&self, id: &[u8; 16]) -> bool {
        let mut place = self.chains.get(self.chain_of(id)).copied();
        while let Some(entry) = place.and_then(|place| self.entries.get(place as usize)) {
            if entry.id == *id {
                return true;
            }
            place = Some(entry.next);
        }
        false
    }

    /// Forgets all tokens that have expired, and threads the chains anew.
    fn forget(&mut self, now: u64) {
        self.chains.fill(NONE);
        (self.free, self.earliest) = (NONE, u64::MAX);
        for place in 0..self.entries.len() {
            let chain = self
                .entries
                .get(place)
                .map(|entry| self.chain_of(&entry.id));
            let (Some(entry), Some(chain)) = (self.entries.get_mut(place), chain) else {
                continue;
            };
            let is_kept = entry.until > now;
            if is_kept {
                self.earliest = self.earliest.min(entry.until);
            } else {
                self.forgotten = self.forgotten.max(entry.until);
            }
            let first = self.chains.get_mut(chain).filter(|_| is_kept);
            let first = first.unwrap_or(&mut self.free);
            entry.next = *first;
            // There are at most 2^31 places.
            *first = u32::try_from(place).unwrap_or(NONE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ids that share their chain in pairs.
    fn id(number: u8) -> [u8; 16] {
        let mut id = [number; 16];
        id[0] = number / 2;
        id
    }

    const USED: Result<(), TokenRefusal> = Err(TokenRefusal::Used);
    const FULL: Result<(), TokenRefusal> = Err(TokenRefusal::Full);

    #[test]
    fn a_token_is_used_once() {
        let mut table = UsedTokens::new(8);
        for number in 0..8 {
            assert_eq!(table.check(&id(number), 100), Ok(()));
            assert_eq!(table.spend(&id(number), 100, 1), Ok(()));
            for earlier in 0..=number {
                assert_eq!(table.check(&id(earlier), 100), USED);
                assert_eq!(table.spend(&id(earlier), 100, 2), USED);
            }
        }
    }

    #[test]
    fn a_full_table_refuses_and_forgets_nothing_that_counts() {
        let mut table = UsedTokens::new(3);
        for (number, until) in [(0, 100), (1, 50), (2, 100)] {
            assert_eq!(table.spend(&id(number), until, 1), Ok(()));
        }
        assert_eq!(table.check(&id(3), 100), Ok(()), "it was not used");
        assert_eq!(table.spend(&id(3), 100, 49), FULL);
        assert_eq!(table.check(&id(1), 50), USED);
        // In the second 50 no server takes token 1 any more.
        assert_eq!(table.spend(&id(3), 100, 50), Ok(()));
        assert_eq!(table.spend(&id(4), 100, 50), FULL);
        for number in [0, 2, 3] {
            assert_eq!(table.check(&id(number), 100), USED);
        }
    }

    #[test]
    fn each_token_is_forgotten_when_it_has_expired() {
        let mut table = UsedTokens::new(3);
        for (number, until) in [(0, 50), (1, 60), (2, 70)] {
            assert_eq!(table.spend(&id(number), until, 1), Ok(()));
        }
        for (number, now) in [(3, 50), (4, 60), (5, 70)] {
            assert_eq!(table.spend(&id(number), 100, now - 1), FULL, "{now}");
            assert_eq!(table.spend(&id(number), 100, now), Ok(()), "{now}");
        }
    }

    /// A clock that was put ahead and then back does not make a token good again.
    #[test]
    fn what_was_forgotten_is_not_taken_again_when_the_clock_goes_back() {
        let mut table = UsedTokens::new(1);
        assert_eq!(table.spend(&id(0), 100, 1), Ok(()));
        assert_eq!(table.spend(&id(1), 200, 100), Ok(()));
        assert_eq!(table.check(&id(0), 100), USED);
        assert_eq!(table.spend(&id(0), 100, 1), USED);
        assert_eq!(table.check(&id(2), 101), Ok(()));
    }

    #[test]
    fn a_table_without_room_is_always_full() {
        let mut table = UsedTokens::new(0);
        assert_eq!(table.check(&id(0), 100), Ok(()));
        assert_eq!(table.spend(&id(0), 100, 1), FULL);
    }

    #[test]
    fn many_turns_of_a_table_lose_no_place() {
        let mut table = UsedTokens::new(7);
        for turn in 1..30 {
            for number in 0..7 {
                let id = id(turn * 8 + number);
                assert_eq!(table.spend(&id, u64::from(turn) + 1, turn.into()), Ok(()));
            }
            let one_more = table.spend(&id(turn * 8 + 7), u64::from(turn) + 1, turn.into());
            assert_eq!(one_more, FULL, "{turn}");
        }
    }

    #[test]
    fn the_memory_is_what_the_documentation_says() {
        assert_eq!(size_of::<Entry>(), 32);
        let table = UsedTokens::new(16_384);
        assert_eq!((table.entries.len(), table.chains.len()), (16_384, 16_384));
        let odd = UsedTokens::new(5);
        assert_eq!((odd.entries.len(), odd.chains.len()), (5, 8));
    }
}
