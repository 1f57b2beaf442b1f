//! How many answers that cost no state go out (`docs/wire.md`, "Limits of answers"): so many a
//! second to each address and so many to all, and in between a quarter of a second's worth at once.

use alloc::boxed::Box;
use alloc::vec;
use core::time::Duration;

use crate::bucket::Bucket as Bytes;
use crate::config::Config;
use crate::time::Instant;

use super::replies::Reply;

/// How much of the allowance may be used at once, in time.
const BURST: Duration = Duration::from_millis(250);

/// Together the buckets let through so many times what the host sends to all: a flood from
/// everywhere runs into the latter.
const SPARE: u64 = 4;

/// Addresses share this many buckets at most.
const BUCKETS_MAX: u64 = 4096;

/// And at least so many, which is enough for a host that cannot listen: it answers hardly anybody.
const BUCKETS_MIN: u64 = 64;

/// Resets can be provoked by a few bytes, so they get no more than a tenth of the answers.
const RESETS: u32 = 10;

/// Answers get one part in ten of what a host may send to all: one stranger with a thousand addresses
/// may want all of them.
const STRANGERS: u32 = 10;

/// What may be saved up of that part: a fiftieth of any second, as of the cap itself.
const SAVED: Duration = Duration::from_millis(20);

/// What is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Answered {
    /// A request, or what is left of a dead connection.
    Handshake,
    /// A short datagram of a connection that is not here.
    UnknownConnection,
}

/// A token bucket, as the time at which it will be full again.
#[derive(Clone, Copy, Debug)]
struct Bucket(Instant);

impl Bucket {
    /// When the bucket would be full again if a token was taken now; `None` if there is none.
    fn after(self, now: Instant, interval: Duration) -> Option<Instant> {
        let full = self.0.max(now) + interval;
        (full <= now + BURST.max(interval)).then_some(full)
    }
}

/// The buckets of a host.
#[derive(Debug)]
pub(crate) struct Limits {
    /// By address, under a hash that nobody else knows.
    addresses: Box<[Bucket]>,
    all: Bucket,
    resets: Bucket,
    address_interval: Duration,
    interval: Duration,
    /// Of the bytes that the host may send.
    share: Bytes,
    /// No answer is longer.
    longest: u64,
}

impl Limits {
    pub(crate) fn new(config: &Config) -> Self {
        let full = Bucket(Instant::ZERO);
        Self {
            addresses: vec![full; buckets(config)].into_boxed_slice(),
            all: full,
            resets: full,
            address_interval: interval(config.replies_per_address),
            interval: interval(config.replies),
            share: Bytes::new(share(config.host_send_rate)),
            longest: Reply::longest(&config.offer()) as u64,
        }
    }

    /// `rate`: the bytes a second that the host may send to all.
    pub(crate) fn set_host_rate(&mut self, rate: u32, now: Instant) {
        self.share.set_rate(share(rate), now);
    }

    /// Whether an address with this hash may be answered once more; it counts as answered then.
    pub(crate) fn take(&mut self, now: Instant, hash: u64, what: Answered) -> bool {
        let buckets = self.addresses.len() as u64;
        let place = usize::try_from(hash % buckets).unwrap_or(0);
        let resets = match what {
            Answered::Handshake => Some(self.resets.0),
            Answered::UnknownConnection => self.resets.after(now, RESETS * self.interval),
        };
        let address = self.addresses[place].after(now, self.address_interval);
        let all = self.all.after(now, self.interval);
        self.share.fill(now, SAVED);
        let share = self.share.hold(now).is_none();
        let (Some(resets), Some(address), Some(all), true) = (resets, address, all, share) else {
            return false;
        };
        self.share.spend(self.longest);
        self.resets = Bucket(resets);
        self.addresses[place] = Bucket(address);
        self.all = Bucket(all);
        true
    }
}

/// The part of answers, where `u32::MAX` is no cap.
fn share(host_rate: u32) -> u32 {
    if host_rate == u32::MAX {
        return u32::MAX;
    }
    (host_rate / STRANGERS).max(1)
}

/// How many may go out at once of so many a second.
pub(super) const fn burst(per_second: u32) -> u32 {
    per_second / 4
}

/// How many addresses are told apart.
fn buckets(config: &Config) -> usize {
    let enough = SPARE * u64::from(config.replies) / u64::from(config.replies_per_address.max(1));
    let most = if config.may_listen() {
        BUCKETS_MAX
    } else {
        BUCKETS_MIN
    };
    let buckets = enough.next_power_of_two().clamp(BUCKETS_MIN, most);
    usize::try_from(buckets).unwrap_or(1)
}

/// From one token to the next.
fn interval(per_second: u32) -> Duration {
    Duration::from_micros(1_000_000_u64.div_ceil(per_second.max(1).into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    const MS: Duration = Duration::from_millis(1);

    /// How many of `tries` at `now` are let through, each from the address that `hash` gives.
    fn count(
        limits: &mut Limits,
        now: Instant,
        what: Answered,
        tries: u64,
        hash: impl Fn(u64) -> u64,
    ) -> usize {
        (0..tries)
            .filter(|&n| limits.take(now, hash(n), what))
            .count()
    }

    #[test]
    fn an_address_gets_twenty_answers_a_second_and_five_at_once() {
        let mut limits = Limits::new(&Config::new());
        let now = Instant::ZERO + 1000 * MS;
        let what = Answered::Handshake;
        assert_eq!(count(&mut limits, now, what, 100, |_| 7), 5);
        assert_eq!(count(&mut limits, now + 49 * MS, what, 100, |_| 7), 0);
        assert_eq!(count(&mut limits, now + 50 * MS, what, 100, |_| 7), 1);
        assert_eq!(count(&mut limits, now + 50 * MS, what, 100, |_| 8), 5);
        let second: usize = (51..=1050)
            .map(|ms| count(&mut limits, now + ms * MS, what, 3, |_| 7))
            .sum();
        assert_eq!(second, 20);
        assert_eq!(count(&mut limits, now + 9999 * MS, what, 100, |_| 7), 5);
    }

    #[test]
    fn all_addresses_together_get_twenty_thousand_a_second() {
        let mut limits = Limits::new(&Config::new());
        let now = Instant::ZERO + 1000 * MS;
        let what = Answered::Handshake;
        assert_eq!(count(&mut limits, now, what, 20_000, |n| n), 5000);
        let second: usize = (1..=1000)
            .map(|ms| {
                count(&mut limits, now + ms * MS, what, 100, |n| {
                    ms as u64 * 100 + n
                })
            })
            .sum();
        assert_eq!(second, 20_000);
    }

    #[test]
    fn resets_leave_most_of_the_answers_to_others() {
        let mut limits = Limits::new(&Config::new());
        let now = Instant::ZERO + 1000 * MS;
        let resets = Answered::UnknownConnection;
        assert_eq!(count(&mut limits, now, resets, 10_000, |n| n), 500);
        let others = count(&mut limits, now, Answered::Handshake, 10_000, |n| n);
        assert_eq!(others, 4500);
    }

    #[test]
    fn there_are_as_many_buckets_as_a_flood_from_everywhere_needs() {
        let buckets = |address, all| {
            let config = Config::new().reply_limits(address, all).unwrap();
            Limits::new(&config).addresses.len()
        };
        assert_eq!(buckets(20, 20_000), 4096);
        assert_eq!([buckets(20, 2000), buckets(10, 1000)], [512; 2]);
        assert_eq!([buckets(1, 1), buckets(1_000_000, 1)], [64; 2]);
        assert_eq!(buckets(1, 1_000_000), 4096);
        assert_eq!(super::buckets(&Config::new()), 4096);
        assert_eq!(super::buckets(&Config::client()), 64);
        assert_eq!(super::buckets(&Config::embedded()), 64);
    }

    #[test]
    fn limits_of_any_size_work() {
        for (per_address, all) in [(1, 1), (3, 7), (1_000_000, 1_000_000)] {
            let config = Config::new().reply_limits(per_address, all).unwrap();
            let mut limits = Limits::new(&config);
            let what = Answered::Handshake;
            let at_once = count(&mut limits, Instant::ZERO, what, 1_000_000, |_| 7);
            let rate = per_address.min(all) as usize;
            assert_eq!(at_once, (rate / 4).max(1), "{rate}");
            let later = Instant::ZERO + 1000 * MS;
            assert!(limits.take(later, 7, Answered::UnknownConnection));
        }
        // Time that has come to its end stops nobody.
        let mut limits = Limits::new(&Config::client());
        let end = Instant::from_micros(u64::MAX - 1);
        assert!(count(&mut limits, end, Answered::Handshake, 10, |n| n) > 4);
    }
}
