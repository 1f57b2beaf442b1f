//! How much was lost of late.

use core::time::Duration;

use crate::time::Instant;

/// Half of the time that is looked back on.
const HALF: Duration = Duration::from_secs(5);

/// So much is everything: a hundredth of a percent is 1.
const ALL: u64 = 10_000;

/// Frames whose fate is known, and those of them that were lost.
#[derive(Clone, Copy, Debug)]
struct Count {
    all: u64,
    lost: u64,
}

/// The share of frames that were lost in the last 5 to 10 s in which there were any.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loss {
    /// As it was when the halves began: the one before, and this one.
    marks: [Count; 2],
    began: Instant,
    now: Count,
}

impl Loss {
    pub(crate) const NONE: Self = {
        let none = Count { all: 0, lost: 0 };
        Self {
            marks: [none, none],
            began: Instant::ZERO,
            now: none,
        }
    };

    /// So many frames in all, and so many lost. A loss may be taken back.
    pub(crate) fn note(&mut self, all: u64, lost: u64, now: Instant) {
        if now.saturating_duration_since(self.began) >= HALF {
            (self.marks, self.began) = ([self.marks[1], self.now], now);
        }
        self.now = Count { all, lost };
    }

    /// In hundredths of a percent.
    pub(crate) fn recent(&self) -> u16 {
        let [mark, _] = self.marks;
        let all = self.now.all.saturating_sub(mark.all);
        let lost = self.now.lost.saturating_sub(mark.lost).min(all);
        let share = lost.saturating_mul(ALL).checked_div(all).unwrap_or(0);
        u16::try_from(share).unwrap_or(u16::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(seconds)
    }

    /// Each second, from one to the other, a hundred frames, of which so many are lost.
    fn seconds(loss: &mut Loss, from: u64, to: u64, lost: u64) {
        for second in from..to {
            let Count { all, lost: before } = loss.now;
            loss.note(all + 100, before + lost, at(second));
        }
    }

    #[test]
    fn the_loss_of_the_last_seconds_is_told_and_what_was_before_forgotten() {
        let mut loss = Loss::NONE;
        assert_eq!(loss.recent(), 0);
        seconds(&mut loss, 0, 3, 5);
        assert_eq!(loss.recent(), 500);
        seconds(&mut loss, 3, 20, 1);
        assert_eq!(loss.recent(), 100);
        seconds(&mut loss, 20, 22, 100);
        assert!(loss.recent() > 2000, "{}", loss.recent());
        seconds(&mut loss, 22, 40, 0);
        assert_eq!(loss.recent(), 0);
    }

    #[test]
    fn losses_that_are_taken_back_count_nothing() {
        let mut loss = Loss::NONE;
        loss.note(100, 7, at(1));
        loss.note(100, 0, at(20));
        loss.note(110, 0, at(26));
        assert_eq!(loss.recent(), 0);
    }
}
