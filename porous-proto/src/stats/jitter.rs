//! How much round trips differ from one to the next.

use core::time::Duration;

/// The filter of RFC 3550 §6.4.1, over round trips: no clock of the remote host is needed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Jitter {
    last: Option<u32>,
    /// In sixteenths of a microsecond.
    sixteenths: u64,
}

impl Jitter {
    pub(crate) const NONE: Self = Self {
        last: None,
        sixteenths: 0,
    };

    /// A round trip took this long.
    pub(crate) fn sample(&mut self, rtt: Duration) {
        let rtt = u32::try_from(rtt.as_micros()).unwrap_or(u32::MAX);
        if let Some(last) = self.last.replace(rtt) {
            let difference = u64::from(rtt.abs_diff(last));
            self.sixteenths += difference;
            self.sixteenths -= (self.sixteenths - difference + 8) / 16;
        }
    }

    pub(crate) const fn get(&self) -> Duration {
        Duration::from_micros(self.sixteenths / 16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn it_is_the_mean_difference_of_one_round_trip_to_the_next() {
        let mut jitter = Jitter::NONE;
        jitter.sample(300 * MS);
        assert_eq!(jitter.get(), Duration::ZERO);
        for n in 0..200 {
            jitter.sample(if n % 2 == 0 { 40 * MS } else { 48 * MS });
        }
        let told = jitter.get();
        assert!(told.abs_diff(8 * MS) < MS / 100, "{told:?}");
        for _ in 0..200 {
            jitter.sample(40 * MS);
        }
        assert!(jitter.get() < MS / 100, "{:?}", jitter.get());
    }

    #[test]
    fn absurd_samples_do_not_overflow() {
        let mut jitter = Jitter::NONE;
        for n in 0..1000 {
            jitter.sample(if n % 2 == 0 {
                Duration::MAX
            } else {
                Duration::ZERO
            });
        }
        assert!(jitter.get() <= Duration::from_micros(u32::MAX.into()));
    }
}
