//! Whether frames are lost by chance. Where a queue overflows, frames are lost while round trips are longest;
//! by chance they are lost at any time.

use crate::time::{Instant, Micros};

/// Samples of the round trip that are remembered, so that one from before a loss is among them when the loss is
/// noticed.
const SAMPLES: usize = 8;

/// The mean round trip is that of the last 2 to this power of samples or so. Samples count, and not time: what is
/// sent is lost, and more is sent while the window is large.
const MEMORY: u32 = 8;

/// Binary digits after the point of times.
const POINT: u32 = 16;

/// The mean distance from the mean, in what scores are told in.
const ONE: i64 = 1 << 10;

/// No sample counts for more than this, so that no single one decides.
const MOST: i64 = 2 * ONE;

/// The score of losses by chance is mostly less than this, above or below zero: measured were -.3 to .5. The scores of
/// queues that overflow were .3 to 1.4, half of them above .7, so that a single score proves nothing.
const LOW: i64 = ONE / 5 * 2;

/// A greater score is hardly that of chance.
const HIGH: i64 = ONE / 5 * 3;

/// Losses that have to be seen.
const LEAST: u32 = 8;

/// Losses that are remembered.
const LOSSES: u32 = 32;

/// At the beginning the score is one, as if this number of losses had shown a queue that overflows.
const EXPECTED: u32 = 3;

/// The least mean distance from the mean that is jitter.
const JITTER: Micros = Micros::from_millis(2);

/// A longer round trip than a minute is taken for a minute, so that nothing can overflow.
const LONGEST: Micros = Micros::from_secs(60);

/// What is known of the round trips that were seen before frames were lost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chance {
    /// The last samples, the newest first.
    recent: [Sample; SAMPLES],
    /// The number of samples; it ends at 2 to the power of [`MEMORY`].
    samples: u32,
    /// The mean round trip, and the mean distance of one from it.
    mean: i64,
    deviation: i64,
    /// How far above the mean round trips are before losses, in mean distances.
    score: i64,
    losses: u32,
    /// When the frame was sent whose sample counted for the last loss.
    counted: u32,
}

/// One sample. It is small, as each peer has some.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    /// When the frame was sent: the last 32 binary digits, in microseconds.
    sent: u32,
    /// Its round trip in microseconds.
    rtt: u32,
}

/// The last 32 binary digits of a time.
const fn short(time: Instant) -> u32 {
    (time.as_micros() & 0xFFFF_FFFF) as u32
}

impl Default for Chance {
    fn default() -> Self {
        Self {
            recent: [Sample::default(); SAMPLES],
            samples: 0,
            mean: 0,
            deviation: 0,
            score: ONE,
            losses: 0,
            counted: 0,
        }
    }
}

/// A time with digits after the point.
const fn precise(time: Micros) -> i64 {
    // At most 26 binary digits are left of it.
    (time.get() as i64) << POINT
}

impl Chance {
    /// A frame that was sent at `sent` had this round trip.
    #[inline]
    pub(super) fn sample(&mut self, rtt: Micros, sent: Instant) {
        let rtt = rtt.min(LONGEST);
        self.recent.copy_within(..SAMPLES - 1, 1);
        self.recent[0] = Sample {
            sent: short(sent),
            rtt: u32::try_from(rtt.get()).unwrap_or(u32::MAX),
        };
        self.samples = (self.samples + 1).min(1 << MEMORY);
        // The first samples count for more.
        let weight = self.samples.ilog2();
        let off = precise(rtt) - self.mean;
        self.mean += off >> weight;
        self.deviation += (off.abs() - self.deviation) >> weight;
    }

    /// A frame that was sent at `sent` was lost.
    pub(super) fn on_loss(&mut self, sent: Instant) {
        // A sample from before the loss: an overflow ends as soon as frames are lost.
        let is_before = |sample: &&Sample| sample.sent.wrapping_sub(short(sent)) > u32::MAX / 2;
        let before = self.recent.iter().find(is_before);
        let before = *before.unwrap_or(&self.recent[SAMPLES - 1]);
        // Frames that are lost together are one loss. Nothing has a round trip of zero but a sample that is not there.
        if before.rtt == 0 || before.sent == self.counted {
            return;
        }
        self.counted = before.sent;
        let off = precise(Micros::new(before.rtt.into())) - self.mean;
        let off = off * ONE / self.deviation.max(1 << POINT);
        self.losses = (self.losses + 1).min(LOSSES);
        let weight = (self.losses + EXPECTED).min(LOSSES);
        self.score += (off.clamp(-MOST, MOST) - self.score) / i64::from(weight);
    }

    /// Whether frames are lost at any round trip, on a path of which the shortest is `base`. In a queue that is kept
    /// full by many, and where there is none, round trips are nearly the same when frames are lost and when they
    /// are not: that says nothing.
    pub(super) fn is_seen(&self, base: Micros) -> bool {
        self.losses >= LEAST && self.score.abs() < LOW && self.is_uneven(base)
    }

    /// Whether frames are lost while round trips are long, as where a queue overflows.
    pub(super) fn is_refuted(&self) -> bool {
        self.losses >= LEAST && self.score > HIGH && self.has_jitter()
    }

    /// A round trip as it usually is, rather too short.
    pub(super) fn usual(&self) -> Micros {
        let usual = (self.mean - self.deviation) >> POINT;
        Micros::new(u64::try_from(usual).unwrap_or_default())
    }

    /// Whether round trips differ from each other by as much as from the shortest, as by jitter. They hardly do where
    /// a queue never becomes empty.
    fn is_uneven(&self, base: Micros) -> bool {
        self.has_jitter() && 3 * self.deviation >= self.mean - precise(base.min(LONGEST))
    }

    /// Whether round trips differ by so much that they tell something of losses.
    fn has_jitter(&self) -> bool {
        self.deviation >= precise(JITTER).max(self.mean / 32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: Micros = Micros::from_millis(50);

    /// Frames a millisecond apart, of which the `n`th has the round trip `rtt(n)` and is lost if `is_lost(n, rtt)`.
    fn seen(rtt: impl Fn(u64) -> u64, is_lost: impl Fn(u64, u64) -> bool) -> Chance {
        let mut chance = Chance::default();
        for n in 1..2000 {
            let sent = Instant::from_micros(n * 1000);
            let rtt = rtt(n);
            if is_lost(n, rtt) {
                chance.on_loss(sent);
            } else {
                chance.sample(Micros::from_millis(rtt), sent);
            }
        }
        chance
    }

    /// Between 50 and 69 ms, without a pattern.
    const fn jitter(n: u64) -> u64 {
        50 + n * 7919 % 1009 % 20
    }

    #[test]
    fn losses_at_any_round_trip_are_chance() {
        let chance = seen(jitter, |n, _| n % 11 == 0);
        assert!(chance.is_seen(BASE), "{chance:?}");
        assert!(!chance.is_refuted(), "{chance:?}");
        let usual = chance.usual();
        let range = Micros::from_millis(53)..Micros::from_millis(57);
        assert!(range.contains(&usual), "{usual:?}");
    }

    #[test]
    fn losses_where_a_queue_overflows_are_no_chance() {
        // A queue that grows for 100 frames, overflows, and becomes empty.
        let chance = seen(|n| 50 + n % 100 / 5, |n, _| n % 100 > 96);
        assert!(!chance.is_seen(BASE), "{chance:?}");
        assert!(chance.is_refuted(), "{chance:?}");
    }

    #[test]
    fn losses_over_a_queue_that_never_ends_say_nothing() {
        // Round trips differ by less than from the shortest.
        let chance = seen(|n| 40 + jitter(n), |n, _| n % 11 == 0);
        assert!(!chance.is_seen(BASE), "{chance:?}");
        assert!(!chance.is_refuted(), "{chance:?}");
    }

    #[test]
    fn losses_without_jitter_say_nothing() {
        let chance = seen(|n| 50 + n * 7919 % 1009 % 2, |n, _| n % 11 == 0);
        assert!(!chance.is_seen(BASE), "{chance:?}");
    }

    #[test]
    fn few_losses_say_nothing() {
        let chance = seen(jitter, |n, _| n > 10 && n <= 80 && n % 11 == 0);
        assert_eq!(chance.losses, 7);
        assert!(!chance.is_seen(BASE), "{chance:?}");
    }

    #[test]
    fn frames_that_are_lost_together_are_one_loss() {
        let chance = seen(jitter, |n, _| (100..200).contains(&n));
        assert_eq!(chance.losses, 1);
    }

    #[test]
    fn no_sample_overflows() {
        let mut chance = Chance::default();
        chance.on_loss(Instant::ZERO);
        for n in 0..20 {
            let rtt = if n % 2 == 0 {
                Micros::MAX
            } else {
                Micros::ZERO
            };
            chance.sample(rtt, Instant::from_micros(n));
            chance.on_loss(Instant::from_micros(u64::MAX));
        }
        assert!(chance.usual() <= LONGEST);
        assert!(chance.score.abs() <= MOST);
    }
}
