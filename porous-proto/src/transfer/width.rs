//! How many bytes of a frame's id are sent: as few as the remote host can expand (`docs/wire.md`, "Frame
//! ids").

use crate::config::Policy;
use crate::serial::{reach, truncate};
use crate::time::{Instant, Micros};

/// How late a datagram may be and still be understood, and for how long a width is kept.
const HORIZON: Micros = Micros::from_secs(2);

/// Buckets in which the advance of the last two seconds is counted.
const BUCKETS: usize = 8;

/// How many ids were used in the last two seconds, in buckets of a quarter of a second.
#[derive(Debug)]
struct Advance {
    /// The lowest 32 bits of the next id when each of the last buckets began, the oldest first: no host sends
    /// so many frames in two seconds.
    at: [u32; BUCKETS + 1],
    /// The number of the current bucket.
    current: u64,
}

impl Advance {
    fn new(first: u64) -> Self {
        Self {
            at: [truncate(first, u32::BITS); BUCKETS + 1],
            current: 0,
        }
    }

    fn bucket(now: Instant) -> u64 {
        now.as_micros() / (HORIZON.get() / BUCKETS as u64)
    }

    /// The id `next` is about to be used.
    fn note(&mut self, next: u64, now: Instant) {
        let bucket = Self::bucket(now);
        for _ in 0..bucket.saturating_sub(self.current).min(BUCKETS as u64 + 1) {
            self.at.rotate_left(1);
            self.at[BUCKETS] = truncate(next, u32::BITS);
        }
        self.current = self.current.max(bucket);
    }

    /// Ids that were used in the last two seconds, where `next` is the next id.
    fn moved(&self, next: u64, now: Instant) -> u64 {
        let passed = Self::bucket(now)
            .saturating_sub(self.current)
            .min(BUCKETS as u64 + 1);
        let index = usize::try_from(passed).unwrap_or(BUCKETS + 1);
        let before = self.at.get(index);
        before.map_or(0, |&before| {
            truncate(next, u32::BITS).wrapping_sub(before).into()
        })
    }
}

/// Widths beside the least one.
const WIDER: usize = 3;

/// The widths of the frame ids of this host.
#[derive(Debug)]
pub(crate) struct Widths {
    policy: Policy,
    advance: Advance,
    /// Until when each width of 2 to 4 bytes is used at least.
    until: [Instant; WIDER],
}

impl Widths {
    pub(crate) fn new(policy: Policy, first: u64) -> Self {
        Self {
            policy,
            advance: Advance::new(first),
            until: [Instant::ZERO; WIDER],
        }
    }

    /// The bytes of the id `next` that are sent, 1 to 4. `acked`: one past the newest id that was
    /// acknowledged.
    pub(crate) fn choose(&mut self, next: u64, acked: u64, now: Instant) -> u8 {
        if self.policy == Policy::Paper {
            return 4;
        }
        let used = self.advance.moved(next, now);
        // Both must hold: the remote host expands from what it has acknowledged or more, and a frame that is
        // two seconds late must still be nearest to its id.
        let fits = |width: &u32| next - acked < reach(*width) && 2 * used < 5 * reach(*width);
        let least = (1..4).find(fits).unwrap_or(4);
        // A width that was the least goes on for two seconds, as frames of that time may still be on their
        // way.
        if let Some(until) = (least as usize)
            .checked_sub(2)
            .and_then(|wider| self.until.get_mut(wider))
        {
            *until = now + HORIZON;
        }
        let in_use = self.until.iter().rposition(|&until| until > now);
        in_use.map_or(1, |index| [2, 3, 4][index])
    }

    /// The id `next` is used.
    pub(crate) fn note(&mut self, next: u64, now: Instant) {
        self.advance.note(next, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The widths of `frames` frames that leave at this rate, each acknowledged `late` ids later.
    fn widths(frames: u64, a_second: u64, late: u64) -> alloc::vec::Vec<u8> {
        let mut widths = Widths::new(Policy::Modern, 0);
        let at = |id| Instant::ZERO + Micros::new(id * 1_000_000 / a_second);
        let mut send = |id: u64| {
            let width = widths.choose(id, id.saturating_sub(late), at(id));
            widths.note(id, at(id));
            width
        };
        (0..frames).map(&mut send).collect()
    }

    #[test]
    fn sixty_frames_a_second_have_ids_of_one_byte() {
        assert_eq!(widths(2000, 60, 20).iter().max(), Some(&1));
        assert_eq!(widths(2000, 70, 63).iter().max(), Some(&1));
    }

    #[test]
    fn unacknowledged_frames_widen_ids() {
        let all = widths(1000, 10, 64);
        assert_eq!((all[63], all[64]), (1, 2));
        assert_eq!(all[999], 2);
    }

    #[test]
    fn fast_frames_have_wider_ids() {
        let all = widths(20_000, 1000, 10);
        assert_eq!((all[100], all[200], all[19_999]), (1, 2, 2));
        assert_eq!(widths(200_000, 100_000, 10)[199_999], 3);
    }

    #[test]
    fn a_width_is_kept_for_two_seconds() {
        let at = |ms| Instant::ZERO + Micros::from_millis(ms);
        let mut widths = Widths::new(Policy::Modern, 0);
        assert_eq!(widths.choose(100, 0, at(1000)), 2);
        assert_eq!(widths.choose(100, 100, at(2999)), 2);
        assert_eq!(widths.choose(100, 100, at(3000)), 1);
    }

    #[test]
    fn the_paper_has_four_bytes() {
        assert_eq!(Widths::new(Policy::Paper, 0).choose(1, 1, Instant::ZERO), 4);
    }
}
