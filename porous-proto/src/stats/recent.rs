//! What is remembered of the recent past, in a few bytes: extremes, shares, rates and jitter, most of them
//! over a time that slides in halves.

use crate::time::{Instant, Micros};

/// Half of the time for which an extreme of a path is remembered.
const PATH_HALF: Micros = Micros::from_secs(5);

/// What was noted in the current half and in the one before: the memory of one to two halves of time, without
/// a list of samples.
#[derive(Clone, Copy, Debug, Default)]
struct Halves<T> {
    began: Instant,
    before: T,
    current: T,
}

impl<T: Copy + Default> Halves<T> {
    /// Forgets what is older than two halves.
    fn slide(&mut self, half: Micros, now: Instant) {
        let age = now.since(self.began);
        if age >= half {
            let is_recent = age < 2 * half;
            self.before = if is_recent {
                self.current
            } else {
                T::default()
            };
            (self.current, self.began) = (T::default(), now);
        }
    }
}

/// The shortest time of a half; for ever if there was none.
#[derive(Clone, Copy, Debug)]
struct Shortest(Micros);

impl Default for Shortest {
    fn default() -> Self {
        Self(Micros::MAX)
    }
}

/// The shortest time of the last one to two halves of `HALF` seconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Minimum<const HALF: u64>(Halves<Shortest>);

impl<const HALF: u64> Minimum<HALF> {
    pub(crate) fn sample(&mut self, time: Micros, now: Instant) {
        self.0.slide(Micros::from_secs(HALF), now);
        self.0.current.0 = self.0.current.0.min(time);
    }

    /// `None` before the first sample.
    #[inline]
    pub(crate) fn get(&self) -> Option<Micros> {
        let least = self.0.before.0.min(self.0.current.0);
        (least < Micros::MAX).then_some(least)
    }
}

/// The longest time of the last 5 to 10 s.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Maximum(Halves<Micros>);

impl Maximum {
    pub(crate) fn sample(&mut self, time: Micros, now: Instant) {
        self.0.slide(PATH_HALF, now);
        self.0.current = self.0.current.max(time);
    }

    /// Zero if there was none.
    #[inline]
    pub(crate) fn get(&self) -> Micros {
        self.0.current.max(self.0.before)
    }
}

/// Values that a [`Ring`] remembers.
pub(crate) const VALUES: usize = 8;

/// The last [`VALUES`] values, the newest first; those that are not known yet are zero.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ring<T> {
    pub(crate) values: [T; VALUES],
    /// How many are known.
    pub(crate) count: usize,
}

impl<T: Copy + Default + Ord> Ring<T> {
    pub(crate) fn note(&mut self, value: T) {
        self.values.copy_within(..VALUES - 1, 1);
        self.values[0] = value;
        self.count = VALUES.min(self.count + 1);
    }

    pub(crate) fn max(&self) -> T {
        self.values.into_iter().max().unwrap_or_default()
    }

    pub(crate) fn min(&self) -> T {
        self.values.into_iter().min().unwrap_or_default()
    }
}

/// The most bytes of the last 5 to 10 s.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Peak(Halves<u32>);

impl Peak {
    pub(crate) fn note(&mut self, bytes: u32, now: Instant) {
        self.0.slide(PATH_HALF, now);
        self.0.current = self.0.current.max(bytes);
    }

    pub(crate) fn get(&self) -> u32 {
        self.0.current.max(self.0.before)
    }
}

/// A time that is smoothed: each sample counts for an eighth.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Smoothed {
    /// In eighths of a microsecond: in whole ones it would stop short of its samples.
    eighths: u64,
}

impl Smoothed {
    /// `time`: what is assumed before the first sample.
    pub(crate) const fn new(time: Micros) -> Self {
        Self {
            eighths: 8 * time.get(),
        }
    }

    pub(crate) const fn sample(&mut self, time: Micros) {
        self.eighths = self.eighths - self.eighths / 8 + time.get();
    }

    pub(crate) const fn get(&self) -> Micros {
        Micros::new(self.eighths / 8)
    }
}

/// Half of the time for which the longest time in the queue is remembered.
const QUEUE_HALF: Micros = Micros::from_millis(2500);

/// Times that packets of one channel waited, in microseconds: 71 minutes stand for all that is longer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct QueueTime {
    smoothed: Smoothed,
    longest: Halves<u32>,
}

impl QueueTime {
    /// A packet has waited this long.
    pub(crate) fn sample(&mut self, waited: Micros, now: Instant) {
        let waited = u32::try_from(waited.get()).unwrap_or(u32::MAX);
        self.smoothed.sample(Micros::new(waited.into()));
        self.longest.slide(QUEUE_HALF, now);
        self.longest.current = self.longest.current.max(waited);
    }

    pub(crate) const fn smoothed(&self) -> Micros {
        self.smoothed.get()
    }

    pub(crate) fn longest(&self) -> Micros {
        let longest = self.longest.before.max(self.longest.current);
        Micros::new(longest.into())
    }
}

/// Half of the time over which a share of losses is counted.
const LOSS_HALF: Micros = Micros::from_secs(5);

/// A share of all, in hundredths of a percent.
const ALL: u64 = 10_000;

/// Frames whose fate is known, and those of them that were lost.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    all: u64,
    lost: u64,
}

/// The share of frames that were lost in the last 5 to 10 s in which frames were counted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Loss {
    /// The counts when the half before began, and when the current one did.
    marks: [Count; 2],
    began: Instant,
    now: Count,
}

impl Loss {
    /// Takes the counts of all frames and of lost ones so far. `lost` may become smaller: a loss may be taken
    /// back.
    pub(crate) fn note(&mut self, all: u64, lost: u64, now: Instant) {
        if now.since(self.began) >= LOSS_HALF {
            (self.marks, self.began) = ([self.marks[1], self.now], now);
        }
        // Counts so far, and no sums of the halves: a loss that is taken back only makes `lost` smaller.
        self.now = Count { all, lost };
    }

    /// The share in hundredths of a percent; 0 without frames.
    pub(crate) fn recent(&self) -> u16 {
        let [mark, _] = self.marks;
        let all = self.now.all.saturating_sub(mark.all);
        let lost = self.now.lost.saturating_sub(mark.lost).min(all);
        let share = lost.saturating_mul(ALL).checked_div(all).unwrap_or(0);
        u16::try_from(share).unwrap_or(u16::MAX)
    }
}

/// Half of the time over which a rate is counted.
const RATE_HALF: Micros = Micros::from_millis(500);

/// A count of bytes, and when it was taken.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    at: Instant,
    bytes: u64,
}

/// How fast a count of bytes grew over the last half to whole second.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rate {
    /// The counts when the half before began, and when the current one did.
    marks: [Mark; 2],
    now: Mark,
}

impl Rate {
    /// Takes the count so far. To be called before it grows.
    pub(crate) fn note(&mut self, bytes: u64, now: Instant) {
        let mark = Mark { at: now, bytes };
        let age = now.since(self.marks[1].at);
        if age >= 2 * RATE_HALF {
            self.marks = [mark; 2]; // after silence the rate is that of what follows
        } else if age >= RATE_HALF {
            self.marks = [self.marks[1], mark];
        }
        self.now = mark;
    }

    /// The rate in bytes a second, where `bytes` is the count now.
    pub(crate) fn recent(&self, bytes: u64) -> u32 {
        let [mark, _] = self.marks;
        // Half a second at least: a first burst is not a rate.
        let time = self.now.at.since(mark.at).max(RATE_HALF);
        // More than 2^44 bytes in this time are more than a rate can say.
        let grown = bytes.saturating_sub(mark.bytes).saturating_mul(1_000_000);
        u32::try_from(grown / time.get()).unwrap_or(u32::MAX)
    }
}

/// The mean difference of one round trip to the next, by the filter of RFC 3550 §6.4.1. Over round trips,
/// since no clock of the remote host is needed for these.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Jitter {
    last: Option<u32>,
    /// The jitter, in sixteenths of a microsecond.
    sixteenths: u64,
}

impl Jitter {
    /// A round trip took this long.
    pub(crate) fn sample(&mut self, rtt: Micros) {
        let rtt = u32::try_from(rtt.get()).unwrap_or(u32::MAX);
        if let Some(last) = self.last.replace(rtt) {
            let difference = u64::from(rtt.abs_diff(last));
            self.sixteenths += difference;
            // Rounded, as in RFC 3550 A.8.
            self.sixteenths -= (self.sixteenths - difference + 8) / 16;
        }
    }

    pub(crate) const fn get(&self) -> Micros {
        Micros::new(self.sixteenths / 16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Micros = Micros::from_millis(1);

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Micros::from_millis(ms)
    }

    #[test]
    fn a_time_that_does_not_change_is_reached() {
        for time in [1, 3, 7, 999, 33_333, 1_000_003, 10_000_000] {
            for before in [0, 20_000_000] {
                let mut smoothed = Smoothed::new(Micros::new(before));
                (0..200).for_each(|_| smoothed.sample(Micros::new(time)));
                assert_eq!(smoothed.get().get(), time, "from {before}");
            }
        }
    }

    #[test]
    fn a_minimum_lasts_for_five_to_ten_seconds() {
        let mut minimum = Minimum::<5>::default();
        assert_eq!(minimum.get(), None);
        minimum.sample(30 * MS, at(0));
        for n in 1..20 {
            minimum.sample(50 * MS, at(n * 500));
            assert_eq!(minimum.get(), Some(30 * MS), "{n}");
        }
        minimum.sample(50 * MS, at(10_000));
        assert_eq!(minimum.get(), Some(50 * MS));
        minimum.sample(60 * MS, at(60_000));
        assert_eq!(minimum.get(), Some(60 * MS));
    }

    #[test]
    fn a_maximum_lasts_for_five_to_ten_seconds() {
        let mut maximum = Maximum::default();
        assert_eq!(maximum.get(), Micros::ZERO);
        maximum.sample(30 * MS, at(10_000));
        for n in 20..40 {
            maximum.sample(20 * MS, at(n * 500));
            assert_eq!(maximum.get(), 30 * MS, "{n}");
        }
        maximum.sample(20 * MS, at(20_000));
        assert_eq!(maximum.get(), 20 * MS);
    }

    /// P12.
    #[test]
    fn a_peak_lasts_for_five_to_ten_seconds() {
        let mut peak = Peak::default();
        peak.note(100, at(1000));
        peak.note(7, at(4000));
        assert_eq!(peak.get(), 100);
        peak.note(7, at(5000));
        assert_eq!(peak.get(), 100);
        peak.note(8, at(10_000));
        assert_eq!(peak.get(), 8);
        peak.note(3, at(60_000));
        assert_eq!(peak.get(), 3);
    }

    mod queue_time {
        use super::super::*;

        const MS: Micros = Micros::from_millis(1);

        #[test]
        fn times_are_smoothed_and_the_longest_is_remembered_for_a_while() {
            let at = |ms| Instant::ZERO + Micros::from_millis(ms);
            let mut times = QueueTime::default();
            times.sample(80 * MS, at(1000));
            assert_eq!((times.smoothed(), times.longest()), (10 * MS, 80 * MS));
            for n in 0..40 {
                times.sample(16 * MS, at(1100 + 50 * n));
            }
            assert!(times.smoothed().get().abs_diff(16_000) < 1000);
            assert_eq!(times.longest(), 80 * MS);
            times.sample(16 * MS, at(4000));
            assert_eq!(times.longest(), 80 * MS);
            times.sample(16 * MS, at(7000));
            assert_eq!(times.longest(), 16 * MS);
            times.sample(Micros::MAX, at(u64::MAX / 2000));
            assert!(times.longest() > Micros::from_secs(3600));
        }
    }

    mod loss {
        use super::super::*;

        fn at(seconds: u64) -> Instant {
            Instant::ZERO + Micros::from_secs(seconds)
        }

        /// A hundred frames in each second from `from` to `to`, of which `lost` are lost.
        fn seconds(loss: &mut Loss, from: u64, to: u64, lost: u64) {
            for second in from..to {
                let Count { all, lost: before } = loss.now;
                loss.note(all + 100, before + lost, at(second));
            }
        }

        #[test]
        fn the_loss_of_the_last_seconds_is_told_and_what_was_before_forgotten() {
            let mut loss = Loss::default();
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
            let mut loss = Loss::default();
            loss.note(100, 7, at(1));
            loss.note(100, 0, at(20));
            loss.note(110, 0, at(26));
            assert_eq!(loss.recent(), 0);
        }
    }

    mod rate {
        use super::super::*;

        /// Adds 100 bytes each `every` milliseconds, from `from` to `to`.
        fn send(rate: &mut Rate, bytes: &mut u64, from: u64, to: u64, every: u64) {
            for at in (from..to).step_by(usize::try_from(every).unwrap()) {
                rate.note(*bytes, Instant::from_micros(1000 * at));
                *bytes += 100;
            }
        }

        #[test]
        fn the_rate_of_the_last_second_is_told() {
            let (mut rate, mut bytes) = (Rate::default(), 0);
            assert_eq!(rate.recent(0), 0);
            send(&mut rate, &mut bytes, 7000, 10_000, 10);
            let told = rate.recent(bytes);
            assert!((9_900..=10_300).contains(&told), "{told}");
            send(&mut rate, &mut bytes, 10_000, 12_000, 100);
            let told = rate.recent(bytes);
            assert!((900..=1200).contains(&told), "{told}");
        }

        #[test]
        fn after_silence_it_begins_anew() {
            let (mut rate, mut bytes) = (Rate::default(), 0);
            send(&mut rate, &mut bytes, 0, 3000, 10);
            send(&mut rate, &mut bytes, 9000, 9001, 10);
            assert_eq!(rate.recent(bytes), 200);
        }
    }

    mod jitter {
        use super::super::*;

        const MS: Micros = Micros::from_millis(1);

        #[test]
        fn jitter_is_the_mean_difference_of_one_round_trip_to_the_next() {
            let mut jitter = Jitter::default();
            jitter.sample(300 * MS);
            assert_eq!(jitter.get(), Micros::ZERO);
            for n in 0..200 {
                jitter.sample(if n % 2 == 0 { 40 * MS } else { 48 * MS });
            }
            let told = jitter.get();
            assert!(told.get().abs_diff(8000) < 10, "{told:?}");
            for _ in 0..200 {
                jitter.sample(40 * MS);
            }
            assert!(jitter.get() < MS / 100, "{:?}", jitter.get());
        }

        #[test]
        fn absurd_samples_do_not_overflow() {
            let mut jitter = Jitter::default();
            for n in 0..1000 {
                jitter.sample(if n % 2 == 0 {
                    Micros::MAX
                } else {
                    Micros::ZERO
                });
            }
            assert!(jitter.get() <= Micros::new(u32::MAX.into()));
        }
    }
}
