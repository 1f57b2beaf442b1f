//! A cap on all that a peer or a host sends, which holds nothing back but data.

use core::time::Duration;

use super::{Bucket, SECOND, micros};
use crate::time::Instant;

/// What may be saved up while nobody waits: a fiftieth of any second, so that all that a game sends
/// in one step below the cap leaves in that step.
const SAVED: Duration = Duration::from_millis(20);

/// What is not held back takes all of so many parts but one, whatever it is.
const PARTS: u64 = 8;

/// What is not held back may be remembered for so long.
const DEBT: Duration = Duration::from_millis(100);

/// The cap.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cap {
    bucket: Bucket,
    /// It held data back at the last look.
    is_holding: bool,
    /// When data left last, and its bytes.
    last: (Instant, u64),
}

impl Cap {
    /// Of so many bytes a second; `u32::MAX`: none.
    pub(crate) const fn new(rate: u32) -> Self {
        Self {
            bucket: Bucket::new(rate),
            is_holding: false,
            last: (Instant::ZERO, 0),
        }
    }

    /// Another cap. Of what the old one let go, no more is paid back than the new one would have.
    pub(crate) fn set_rate(&mut self, rate: u32, now: Instant) {
        self.bucket.set_rate(rate, now);
        self.bucket.credit = self.bucket.credit.max(self.least(self.last.1));
    }

    /// What is owed at most, if data of so many bytes left last.
    fn least(&self, bytes: u64) -> i64 {
        let debt = i64::from(self.bucket.rate).saturating_mul(micros(DEBT));
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        bytes.saturating_mul(-SECOND).saturating_sub(debt)
    }

    /// Until when data is held back. Who waits makes up for a step of the host.
    pub(crate) fn hold(&mut self, step: Duration, now: Instant) -> Option<Instant> {
        let late = if self.is_holding { step } else { SAVED };
        self.bucket.fill(now, late.max(SAVED));
        let until = self.bucket.hold(now).map(|until| until.min(self.due()));
        let until = until.filter(|&until| until > now);
        self.is_holding = until.is_some();
        until
    }

    /// It held data back at the last look.
    pub(crate) const fn is_holding(&self) -> bool {
        self.is_holding
    }

    /// When data may leave whatever else has left.
    fn due(&self) -> Instant {
        let (sent, bytes) = self.last;
        let wait = u128::from(bytes) * u128::from(PARTS) * 1_000_000;
        let wait = wait / u128::from(self.bucket.rate.max(1));
        sent + Duration::from_micros(u64::try_from(wait).unwrap_or(u64::MAX))
    }

    /// Data of so many bytes leaves.
    pub(crate) fn spend(&mut self, bytes: u64, now: Instant) {
        self.bucket.spend(bytes);
        self.last = (now, bytes);
    }

    /// Something else leaves, which was not held back.
    pub(crate) fn count(&mut self, bytes: u64) {
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
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn at(ms: u32) -> Instant {
        Instant::ZERO + ms * MS
    }

    /// The bytes of data that leave at each of these times, in datagrams of this length.
    fn sent(cap: &mut Cap, len: u64, step: Duration, now: Instant) -> u64 {
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
            let now = Instant::ZERO + step * Duration::from_micros(16_667);
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
                let step = MS * u32::try_from(step).unwrap();
                let sent = looks.map(|ms| (ms, sent(&mut cap, len, step, at(ms))));
                let sent: alloc::vec::Vec<_> = sent.collect();
                let within = |from: u32| {
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

    #[test]
    fn what_is_not_held_back_leaves_an_eighth_for_data() {
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
            let elapsed = now.saturating_duration_since(at(1000)).as_secs();
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
