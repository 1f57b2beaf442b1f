//! Whether more comes than the program around the host can take in (`docs/limits.md`, "Overload").

use crate::time::{Instant, Micros};

/// How long datagrams must have waited at the end of each turn: a loading screen or a crowd that connects at
/// once leaves less behind.
const TOO_LONG: Micros = Micros::from_secs(1);

/// The most that one turn counts for: a program that was stopped for long has a backlog, but is not too slow.
const TURN_MAX: Micros = Micros::from_millis(100);

/// The datagrams that the program had no time to hand over.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Backlog {
    /// The time of the turns that left some behind, one after the other up to the last turn.
    lasted: Micros,
    /// When the last turn began, if it left some behind.
    told: Option<Instant>,
}

impl Backlog {
    /// The turn of taking in that began at `now` has ended. `waits`: it has left datagrams behind.
    pub(super) fn note(&mut self, now: Instant, waits: bool) {
        if !waits {
            *self = Self::default();
            return;
        }
        if let Some(told) = self.told.replace(now) {
            let turn = now.since(told).min(TURN_MAX);
            self.lasted = self.lasted + turn;
        }
    }

    /// True if more comes than the program can take in.
    pub(super) fn is_too_much(&self) -> bool {
        self.lasted >= TOO_LONG
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The turn, counted from 1, after which there is too much, if each lasts this long.
    fn turns(millis: u64) -> Option<u64> {
        let mut backlog = Backlog::default();
        (1..=1000).find(|turn| {
            backlog.note(Instant::from_micros(turn * millis * 1000), true);
            backlog.is_too_much()
        })
    }

    #[test]
    fn a_backlog_is_too_much_after_a_second_of_turns_that_leave_one() {
        assert_eq!(turns(8), Some(126));
        assert_eq!(turns(50), Some(21));
    }

    #[test]
    fn a_long_turn_counts_as_a_short_one() {
        assert_eq!(turns(100), Some(11));
        assert_eq!(turns(30_000), Some(11));
    }

    #[test]
    fn a_turn_that_leaves_nothing_behind_ends_a_backlog() {
        let mut backlog = Backlog::default();
        for turn in 1..=11 {
            backlog.note(Instant::from_micros(turn * 100_000), true);
        }
        assert!(backlog.is_too_much());
        backlog.note(Instant::from_micros(1_200_000), false);
        assert!(!backlog.is_too_much());
        for turn in 13..=22 {
            backlog.note(Instant::from_micros(turn * 100_000), true);
        }
        assert!(!backlog.is_too_much());
    }
}
