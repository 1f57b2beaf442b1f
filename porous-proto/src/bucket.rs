//! Rates: a token bucket in integers. It caps channels (`docs/deviations.md` T21), peers and the host, and
//! spreads what a controller lets go (§3.1.4).

use crate::time::{Instant, Micros};

/// Time whose bytes a sender may make up for that was held back and is looked at late: hosts in a game loop
/// look at the time seldom.
const LATE_MAX: Micros = Micros::from_millis(100);

/// Microseconds in a second: credit is counted in millionths of a byte.
const SECOND: i64 = 1_000_000;

/// A token bucket. It saves nothing unless it is told to: a sender that was silent may send one message at
/// once, whatever its length, and waits afterwards until that is paid back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    /// In bytes a second; `u32::MAX`: no cap.
    rate: u32,
    /// What may be sent, in millionths of a byte. Below zero it is a debt, and the sender waits.
    credit: i64,
    /// When `credit` was last brought up to date.
    filled: Instant,
}

impl Bucket {
    pub(crate) const fn new(rate: u32) -> Self {
        Self {
            rate,
            credit: 0,
            filled: Instant::ZERO,
        }
    }

    /// A bucket that has saved what comes in this time.
    pub(crate) fn full(rate: u32, saved: Micros) -> Self {
        Self {
            credit: gain(rate, saved),
            ..Self::new(rate)
        }
    }

    const fn is_capped(&self) -> bool {
        self.rate < u32::MAX
    }

    /// Changes the cap. What was sent before is paid back at the new rate.
    pub(crate) fn set_rate(&mut self, rate: u32, now: Instant) {
        if rate == self.rate {
            return;
        }
        self.fill(now, Micros::ZERO);
        // What a late look has saved up was saved at the old rate.
        self.credit = self.credit.min(0);
        self.rate = rate;
    }

    /// Lets time pay debts, and save at most what is sent in `most`.
    pub(crate) fn fill(&mut self, now: Instant, most: Micros) {
        let gained = gain(self.rate, now.since(self.filled));
        let filled = self.credit.saturating_add(gained);
        let filled = filled.min(gain(self.rate, most));
        // What was saved under a larger limit is kept: a limit bounds only what this call adds.
        (self.credit, self.filled) = (self.credit.max(filled), now);
    }

    /// Changes the rate, for the time since the last look as well. Of what was not used, at most `most` bytes
    /// are saved.
    pub(crate) fn pace(&mut self, rate: u32, most: u64, now: Instant) {
        self.rate = rate;
        let gained = gain(rate, now.since(self.filled));
        let full = i64::try_from(most)
            .unwrap_or(i64::MAX)
            .saturating_mul(SECOND);
        (self.credit, self.filled) = (self.credit.saturating_add(gained).min(full), now);
    }

    /// The host looks at senders that were held back until now.
    pub(crate) fn release(&mut self, now: Instant) {
        self.fill(now, LATE_MAX);
    }

    /// Until when the next message is held back; `None` if it may leave.
    pub(crate) fn hold(&mut self, now: Instant) -> Option<Instant> {
        if !self.is_capped() {
            return None;
        }
        self.fill(now, Micros::ZERO);
        if self.credit >= 0 {
            return None;
        }
        let missing = self.credit.unsigned_abs();
        let wait = missing.div_ceil(u64::from(self.rate.max(1)));
        Some(now + Micros::new(wait))
    }

    /// A message of this many bytes is sent.
    pub(crate) fn spend(&mut self, bytes: u64) {
        if self.is_capped() {
            let cost = i64::try_from(bytes).unwrap_or(i64::MAX);
            self.credit = self.credit.saturating_sub(cost.saturating_mul(SECOND));
        }
    }
}

#[cfg(any(test, feature = "audit"))]
impl Bucket {
    /// # Panics
    ///
    /// If more than one message is owed, or more was saved up than a late look allows.
    pub(crate) fn audit(&self, longest: u64) {
        assert!(self.credit <= gain(self.rate, LATE_MAX), "{self:?}");
        let owed = i64::try_from(longest)
            .unwrap_or(i64::MAX)
            .saturating_mul(SECOND);
        assert!(self.credit >= -owed, "{self:?}");
    }
}

/// Millionths of a byte that come in this time at `rate` bytes a second.
fn gain(rate: u32, time: Micros) -> i64 {
    i64::try_from(u64::from(rate).saturating_mul(time.get())).unwrap_or(i64::MAX)
}

/// Time whose bytes a cap saves while nothing is held back: a fiftieth of any second, so that all that a game
/// sends in one step below the cap leaves in that step.
const SAVED: Micros = Micros::from_millis(20);

/// One of this many parts of the cap is left for data, however much leaves that is not held back.
const PARTS: u64 = 8;

/// Time whose bytes of the cap are the most that is remembered of what was not held back.
const DEBT: Micros = Micros::from_millis(100);

/// The cap of a peer or of the host. It holds back data alone, but counts all bytes (`docs/deviations.md`
/// P11).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cap {
    bucket: Bucket,
    /// True if it held data back at the last look.
    is_holding: bool,
    /// When data left last, and how many bytes.
    last: (Instant, u64),
}

impl Cap {
    /// A cap of `rate` bytes a second; `u32::MAX`: none.
    pub(crate) const fn new(rate: u32) -> Self {
        Self {
            bucket: Bucket::new(rate),
            is_holding: false,
            last: (Instant::ZERO, 0),
        }
    }

    /// Changes the cap. No more is paid back of what the old one let go than the new one would have let go:
    /// otherwise a cap that becomes much smaller would stop data for long.
    pub(crate) fn set_rate(&mut self, rate: u32, now: Instant) {
        self.bucket.set_rate(rate, now);
        self.bucket.credit = self.bucket.credit.max(self.least(self.last.1));
    }

    /// The least credit, in millionths of a byte, if data of `bytes` left last.
    fn least(&self, bytes: u64) -> i64 {
        let debt = gain(self.bucket.rate, DEBT);
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        bytes.saturating_mul(-SECOND).saturating_sub(debt)
    }

    /// Until when data is held back; `None` if it may leave. `step`: how late the host looks.
    pub(crate) fn hold(&mut self, step: Micros, now: Instant) -> Option<Instant> {
        if !self.bucket.is_capped() {
            self.is_holding = false; // by a cap that was there before
            return None;
        }
        // A sender that was held back is let go up to a step too late, and makes up for that; one that was
        // not held back saves no more than the fixed part.
        let late = if self.is_holding { step } else { SAVED };
        self.bucket.fill(now, late.max(SAVED));
        let until = self.bucket.hold(now).map(|until| until.min(self.due()));
        let until = until.filter(|&until| until > now);
        self.is_holding = until.is_some();
        until
    }

    /// Whether it held data back at the last look.
    pub(crate) const fn is_holding(&self) -> bool {
        self.is_holding
    }

    /// When data may leave, whatever else has left: this leaves it a part of the cap.
    fn due(&self) -> Instant {
        let (sent, bytes) = self.last;
        let millionths = bytes.saturating_mul(PARTS * SECOND.unsigned_abs());
        sent + Micros::new(millionths / u64::from(self.bucket.rate.max(1)))
    }

    /// Data of this many bytes leaves.
    pub(crate) fn spend(&mut self, bytes: u64, now: Instant) {
        self.bucket.spend(bytes);
        self.last = (now, bytes);
    }

    /// This many bytes leave that are not held back.
    pub(crate) fn count(&mut self, bytes: u64) {
        // They count, but a flood of acknowledgements must not put off data for longer than the remembered
        // part.
        let least = self.bucket.credit.min(self.least(0));
        self.bucket.spend(bytes);
        self.bucket.credit = self.bucket.credit.max(least);
    }
}

#[cfg(any(test, feature = "audit"))]
impl Cap {
    /// # Panics
    ///
    /// If more data has left than there was room for, where no datagram is longer than this.
    pub(crate) fn audit(&self, longest: u64) {
        assert!(self.bucket.credit >= self.least(longest), "{self:?}");
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn at(micros: u64) -> Instant {
        Instant::from_micros(micros)
    }

    /// When a channel that always has something to send sends messages of `len` bytes, if the host looks at
    /// these times.
    fn sent(rate: u32, len: u64, looks: impl IntoIterator<Item = u64>) -> Vec<u64> {
        let mut bucket = Bucket::new(rate);
        let mut sent = Vec::new();
        for now in looks {
            bucket.release(at(now));
            while bucket.hold(at(now)).is_none() {
                bucket.spend(len);
                sent.push(now);
            }
        }
        sent
    }

    /// The most bytes in any second.
    fn most(sent: &[u64], len: u64) -> u64 {
        let within = |&from: &u64| {
            let after = |&&at: &&u64| at >= from && at < from + 1_000_000;
            sent.iter().filter(after).count() as u64
        };
        len * sent.iter().map(within).max().unwrap_or(0)
    }

    /// P10.
    #[test]
    fn no_second_has_more_than_the_cap_a_step_and_one_message() {
        for (rate, len) in [(100_000, 1000), (1_000_000, 1160), (7_777, 101), (3, 1)] {
            for step in [1, 1000, 16_667, 33_333, 50_000] {
                let looks = (0..).map(|n| n * step).take_while(|&at| at < 5_000_000);
                let sent = sent(rate, len, looks);
                let most = most(&sent, len);
                let a_step = u64::from(rate) * step / 1_000_000;
                let cap = u64::from(rate) + a_step + len;
                assert!(most <= cap, "{rate} {len} {step}: {most}");
                let all = len * sent.len() as u64;
                let due = 5 * u64::from(rate) - a_step;
                assert!(all + len >= due, "{rate} {len} {step}: {all} of {due}");
            }
        }
    }

    #[test]
    fn what_is_slower_than_a_message_a_second_is_sent_nevertheless() {
        let mut bucket = Bucket::new(1);
        assert_eq!(bucket.hold(at(5)), None);
        bucket.spend(1160);
        let due = at(5 + 1_160_000_000);
        assert_eq!(bucket.hold(at(5)), Some(due));
        assert_eq!(bucket.hold(at(1_160_000_004)), Some(due));
        assert_eq!(bucket.hold(due), None);
    }

    #[test]
    fn silence_saves_nothing_and_a_late_look_saves_a_tenth_of_a_second() {
        let mut bucket = Bucket::new(1000);
        assert_eq!(bucket.hold(at(60_000_000)), None);
        bucket.spend(10);
        assert_eq!(bucket.hold(at(60_000_000)), Some(at(60_010_000)));
        let late = at(90_000_000);
        bucket.release(late);
        let mut count = 0;
        while bucket.hold(late).is_none() {
            bucket.spend(10);
            count += 1;
        }
        assert_eq!(count, 11);
    }

    #[test]
    fn a_new_cap_pays_the_debt_of_the_old_one() {
        let mut bucket = Bucket::new(10);
        bucket.spend(1000);
        bucket.set_rate(1000, at(1_000_000));
        assert_eq!(bucket.hold(at(1_000_000)), Some(at(1_990_000)));
        bucket.set_rate(u32::MAX, at(1_000_000));
        assert_eq!(bucket.hold(at(1_000_000)), None);
    }

    #[test]
    fn what_was_saved_up_is_of_the_old_cap() {
        let mut bucket = Bucket::new(1_000_000);
        bucket.spend(1000);
        bucket.release(at(101_000));
        bucket.set_rate(1000, at(101_000));
        assert_eq!(bucket.hold(at(101_000)), None);
        bucket.spend(100);
        assert_eq!(bucket.hold(at(101_000)), Some(at(201_000)));
    }

    #[test]
    fn absurd_times_and_lengths_do_not_overflow() {
        let mut bucket = Bucket::new(u32::MAX - 1);
        for now in [0, u64::MAX - 1, 3, u64::MAX - 1] {
            bucket.hold(at(now));
            bucket.spend(u64::MAX);
        }
        assert!(bucket.hold(at(u64::MAX - 1)).is_some());
    }

    mod cap {
        use super::super::*;

        const MS: Micros = Micros::from_millis(1);

        fn at(ms: u64) -> Instant {
            Instant::ZERO + ms * MS
        }

        /// The bytes of data that leave at `now`, in datagrams of `len` bytes.
        fn sent(cap: &mut Cap, len: u64, step: Micros, now: Instant) -> u64 {
            let mut sent = 0;
            while cap.hold(step, now).is_none() {
                cap.spend(len, now);
                sent += len;
            }
            sent
        }

        #[test]
        fn what_a_step_sends_below_the_cap_leaves_in_that_step() {
            let mut cap = Cap::new(60_000);
            for step in 1..1000 {
                let now = Instant::ZERO + step * Micros::new(16_667);
                for _ in 0..3 {
                    assert_eq!(cap.hold(16 * MS, now), None, "{step}");
                    cap.spend(300, now);
                }
            }
        }

        #[test]
        fn no_second_is_over_by_more_than_a_fiftieth_and_a_datagram() {
            for (rate, len) in [(100_000, 1200), (2_000_000, 1200), (7_777, 101)] {
                for step in [1, 5, 16] {
                    let mut cap = Cap::new(rate);
                    let looks = (1000..9000).step_by(step);
                    let step = step as u64 * MS;
                    let sent = looks.map(|ms| (ms, sent(&mut cap, len, step, at(ms))));
                    let sent: alloc::vec::Vec<_> = sent.collect();
                    let within = |from: u64| {
                        let second = sent
                            .iter()
                            .filter(|(ms, _)| (from..from + 1000).contains(ms));
                        second.map(|(_, bytes)| bytes).sum::<u64>()
                    };
                    let most = sent.iter().map(|&(ms, _)| within(ms)).max().unwrap();
                    let rate = u64::from(rate);
                    assert!(most <= rate + rate / 50 + len, "{rate} {step:?}: {most}");
                    let all = within(2000) + within(3000) + within(4000);
                    assert!(all + len >= 3 * rate - rate / 50, "{rate} {step:?}: {all}");
                }
            }
        }

        /// P11.
        #[test]
        fn bytes_that_are_not_held_back_leave_an_eighth_for_data() {
            for rate in [800, 80_000] {
                let mut cap = Cap::new(rate);
                let (mut now, mut count) = (at(1000), 0);
                cap.spend(1000, now);
                for _ in 0..200_000 {
                    now = now + 5 * MS;
                    cap.count(u64::from(rate));
                    if cap.hold(5 * MS, now).is_none() {
                        count += 1;
                        cap.spend(1000, now);
                    }
                }
                let elapsed = now.since(at(1000)).get() / 1_000_000;
                let eighth = u64::from(rate) * elapsed / 8000;
                assert!(
                    (eighth * 9 / 10..=eighth).contains(&count),
                    "{rate}: {count} of {eighth}"
                );
            }
        }

        #[test]
        fn what_else_leaves_is_counted() {
            let mut cap = Cap::new(100_000);
            assert_eq!(cap.hold(MS, at(1000)), None);
            cap.count(10_000);
            cap.spend(1000, at(1000));
            let waits = cap.hold(MS, at(1000)).unwrap();
            assert!(waits > at(1070), "{waits:?}");
        }

        #[test]
        fn a_higher_cap_is_felt_at_once() {
            let mut cap = Cap::new(1);
            cap.spend(1200, at(1000));
            assert!(cap.hold(MS, at(1000)).unwrap() > at(1_000_000));
            cap.set_rate(1_200_000, at(1000));
            assert_eq!(cap.hold(MS, at(1001)), None);
            cap.set_rate(u32::MAX, at(1001));
            cap.spend(u64::MAX, at(1001));
            assert_eq!(cap.hold(MS, at(1001)), None);
        }
    }
}
