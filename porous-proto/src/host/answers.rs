//! Answers to hosts that are no peers: cookies, refusals, resets. A datagram gets one answer at most,
//! and none is repeated. None is longer than a third of a request (`docs/deviations.md` C1); a reset is not
//! longer than what it answers. Answers that cost no state are limited to a number a second, to each
//! address and to all, of which a quarter may leave at once (`docs/wire.md`, "Limits of answers").

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec;
use core::time::Duration;

use crate::bucket::Bucket;
use crate::config::Config;
use crate::frame::{
    Connect, ConnectionId, Disconnect, DisconnectAck, Offer, Refusal, Refuse, Reset,
};
#[cfg(feature = "seal")]
use crate::frame::{MAC, encode_disconnect_ack};
use crate::hooks::canary::{Bug, strikes};
use crate::time::{Instant, Micros};
use crate::wire::NoRoom;

/// The most replies that wait to be sent (told in `Config`), where as many may leave at once. A driver
/// that sends after each batch of datagrams hardly ever gets there.
const WAITING_MAX: u32 = 1024;

/// The part of the allowance that may be used at once: what this time allows.
const BURST: Duration = Duration::from_millis(250);

/// The buckets of addresses together let through this many times what all addresses may get, so that
/// a flood from everywhere meets the limit for all before sharing a bucket matters.
const SPARE: u64 = 4;

/// The most buckets that addresses share, of 8 bytes each.
const BUCKETS_MAX: u64 = 4096;

/// The fewest buckets: enough for a host that cannot listen, which hardly answers.
const BUCKETS_MIN: u64 = 64;

/// Resets get one part in this many of the answers: a few bytes provoke one.
const RESETS: u32 = 10;

/// The average time between agreements on keys: a thousand a second, each of which takes a processor 50 to
/// 150 µs, are a tenth of it.
#[cfg(feature = "seal")]
const AGREEMENT_INTERVAL: Duration = Duration::from_millis(1);

/// Answers get one part in this many of the bytes that the host may send to all: one stranger with a
/// thousand addresses could make it send nothing else (P11).
const STRANGERS: u32 = 10;

/// The time for which that part is saved up while no answer leaves: as long as for the cap itself.
const SAVED: Micros = Micros::from_millis(20);

/// An answer that costs no state but its place in the queue.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reply {
    /// The listener's request, whose random id is a cookie (§2.3).
    Cookie {
        cookie: u64,
        nonce_peer: u64,
    },
    Refuse {
        nonce_peer: u64,
        refusal: Refusal,
    },
    /// A short datagram came for a connection that is not here.
    Reset(Reset),
    /// This host gave up connecting to the receiver.
    Disconnect(Disconnect),
    /// The receiver has given up; this host goes on connecting at other addresses.
    DisconnectAck(DisconnectAck),
    /// The receiver has ended a sealed connection from another address.
    #[cfg(feature = "seal")]
    SignedAck(DisconnectAck, [u8; MAC]),
}

impl Reply {
    /// The bytes of the longest reply: a request with a cookie, or a refusal with all its data.
    fn longest(offer: &Offer) -> usize {
        let cookie = cookie_request(1, 1, offer);
        cookie.encoded_length(&[]).max(Refuse::LONGEST)
    }

    fn encode(&self, offer: &Offer, buf: &mut [u8]) -> Result<usize, NoRoom> {
        match *self {
            Self::Cookie { cookie, nonce_peer } => {
                cookie_request(cookie, nonce_peer, offer).encode_request(&[], buf)
            }
            Self::Refuse {
                nonce_peer,
                refusal,
            } => Refuse::new(nonce_peer, refusal).encode(buf),
            Self::Reset(reset) => reset.encode(buf),
            Self::Disconnect(bye) => bye.encode(buf),
            Self::DisconnectAck(ack) => ack.encode(buf),
            #[cfg(feature = "seal")]
            Self::SignedAck(ack, mac) => encode_disconnect_ack(&ack, buf, |_| mac),
        }
    }
}

/// The request with which a listener gives a cookie.
pub(super) fn cookie_request(cookie: u64, nonce_peer: u64, offer: &Offer) -> Connect {
    Connect {
        cookie: true,
        nonce_self: cookie,
        nonce_peer,
        connection_id: ConnectionId::EMPTY,
        offer: offer.clone(),
    }
}

/// The replies that wait to be sent, the oldest first.
#[derive(Debug)]
pub(super) struct Replies<A> {
    waiting: VecDeque<(A, Reply)>,
    /// The most replies that may wait.
    most: usize,
}

impl<A: Copy> Replies<A> {
    /// `per_second`: the most answers a second to all addresses.
    pub(super) fn new(per_second: u32) -> Self {
        Self {
            waiting: VecDeque::new(),
            // A quarter of a second's: what `BURST` lets leave at once.
            most: (per_second / 4).clamp(1, WAITING_MAX) as usize,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn has_goodbye(&self) -> bool {
        let is_goodbye = |(_, reply): &(A, Reply)| matches!(reply, Reply::Disconnect(_));
        self.waiting.iter().any(is_goodbye)
    }

    #[cfg(any(test, feature = "audit"))]
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// False if too many wait: the reply is dropped, as its receiver asks again.
    pub(super) fn push(&mut self, to: A, reply: Reply) -> bool {
        let room = self.waiting.len() < self.most;
        if room {
            self.waiting.push_back((to, reply));
            if strikes(Bug::AnswersTwice) {
                self.waiting.push_back((to, reply));
            }
        }
        room
    }

    /// Writes the next reply, and says where to and how many bytes it has.
    pub(super) fn poll_transmit(&mut self, offer: &Offer, buf: &mut [u8]) -> Option<(A, usize)> {
        let (to, reply) = self.waiting.pop_front()?;
        let len = reply.encode(offer, buf);
        debug_assert!(len.is_ok(), "a reply fits into any legal buffer");
        Some((to, len.ok()?))
    }
}

/// What an answer is for: each has its own limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Answered {
    /// A request, or what is left of a dead connection.
    Handshake,
    /// A short datagram of a connection that is not here.
    UnknownConnection,
}

/// A bucket of answers: the time at which it will be full again. Eight bytes say all of it.
#[derive(Clone, Copy, Debug)]
struct Allowance(Instant);

impl Allowance {
    /// When the bucket would be full again if a token was taken now; `None` if there is none.
    fn after(self, now: Instant, interval: Duration) -> Option<Instant> {
        let full = self.0.max(now) + interval;
        // A rate below one in `BURST` still lets one answer out at a time.
        (full <= now + BURST.max(interval)).then_some(full)
    }
}

/// The limits of answers: their number and their bytes.
#[derive(Debug)]
pub(super) struct AnswerLimits {
    /// By a hash of the address under a secret key: nobody can choose whom to share a bucket with.
    addresses: Box<[Allowance]>,
    all: Allowance,
    resets: Allowance,
    /// Of agreements on keys.
    #[cfg(feature = "seal")]
    agreements: Allowance,
    /// The average time between answers to one address.
    address_interval: Duration,
    /// The average time between answers to all addresses.
    interval: Duration,
    /// The part of the bytes that the host may send.
    share: Bucket,
    /// The length of the longest answer, in bytes.
    longest: u64,
}

impl AnswerLimits {
    pub(super) fn new(config: &Config) -> Self {
        let full = Allowance(Instant::ZERO);
        let budgets = &config.budgets;
        Self {
            // Full: a host that was just started answers at once.
            addresses: vec![full; buckets(config)].into_boxed_slice(),
            all: full,
            resets: full,
            #[cfg(feature = "seal")]
            agreements: full,
            address_interval: interval(budgets.replies_per_address),
            interval: interval(budgets.replies),
            share: Bucket::new(share(budgets.host_send_rate)),
            longest: Reply::longest(&config.offer()) as u64,
        }
    }

    /// Writes what is left of each limit: nothing of the many addresses that were never answered.
    #[cfg(feature = "audit")]
    pub(super) fn view(&self, out: &mut dyn core::fmt::Write) -> core::fmt::Result {
        let Self {
            addresses,
            all,
            resets,
            #[cfg(feature = "seal")]
            agreements,
            address_interval: _,
            interval: _,
            share,
            longest: _,
        } = self;
        let answered = addresses.iter().enumerate();
        for (place, Allowance(full)) in answered.filter(|(_, full)| full.0 > Instant::ZERO) {
            write!(out, "{place} {full:?} ")?;
        }
        write!(out, "{all:?} {resets:?} {share:?}")?;
        #[cfg(feature = "seal")]
        write!(out, "{agreements:?}")?;
        Ok(())
    }

    /// `rate`: the most bytes a second that the host may send to all.
    pub(super) fn set_host_rate(&mut self, rate: u32, now: Instant) {
        self.share.set_rate(share(rate), now);
    }

    /// The bucket of an address with this hash.
    fn place(&self, hash: u64) -> usize {
        let buckets = self.addresses.len() as u64;
        usize::try_from(hash % buckets).unwrap_or(0)
    }

    /// Whether an address with this hash may be answered once more. If so, the answer counts.
    pub(super) fn take(&mut self, now: Instant, hash: u64, what: Answered) -> bool {
        let place = self.place(hash);
        let resets = match what {
            // Resets count for themselves: they must not keep anybody from connecting.
            Answered::Handshake => Some(self.resets.0),
            Answered::UnknownConnection => self.resets.after(now, RESETS * self.interval),
        };
        let address = self.addresses[place].after(now, self.address_interval);
        let all = self.all.after(now, self.interval);
        self.share.fill(now, SAVED);
        let share = self.share.hold(now).is_none();
        // All four or none: an answer that one limit refuses must not use up another one.
        let (Some(resets), Some(address), Some(all), true) = (resets, address, all, share) else {
            return false;
        };
        // Its length is not known yet: it counts as the longest.
        self.share.spend(self.longest);
        self.resets = Allowance(resets);
        self.addresses[place] = Allowance(address);
        self.all = Allowance(all);
        true
    }
}

#[cfg(feature = "seal")]
impl AnswerLimits {
    /// Whether the host may agree on keys once more, for an address with this hash. If so, that counts.
    pub(super) fn take_agreement(&mut self, now: Instant, hash: u64) -> bool {
        let place = self.place(hash);
        let address = self.addresses[place].after(now, self.address_interval);
        let all = self.agreements.after(now, AGREEMENT_INTERVAL);
        let (Some(address), Some(all)) = (address, all) else {
            return false;
        };
        self.addresses[place] = Allowance(address);
        self.agreements = Allowance(all);
        true
    }
}

/// The part of answers of a host's rate, in bytes a second; `u32::MAX` is no cap.
fn share(host_rate: u32) -> u32 {
    if host_rate == u32::MAX {
        return u32::MAX;
    }
    (host_rate / STRANGERS).max(1)
}

/// The number of buckets.
fn buckets(config: &Config) -> usize {
    let budgets = &config.budgets;
    let enough = SPARE * u64::from(budgets.replies) / u64::from(budgets.replies_per_address.max(1));
    // Few where all addresses together get little: 64 buckets, half a kilobyte, on a microcontroller.
    let most = if config.may_listen() {
        BUCKETS_MAX
    } else {
        BUCKETS_MIN
    };
    let buckets = enough.next_power_of_two().clamp(BUCKETS_MIN, most);
    usize::try_from(buckets).unwrap_or(1)
}

/// The time between answers at this rate, rounded up: the limit is never exceeded.
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
        limits: &mut AnswerLimits,
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
        let mut limits = AnswerLimits::new(&Config::new());
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

    /// C1.
    #[test]
    fn all_addresses_together_get_twenty_thousand_a_second() {
        let mut limits = AnswerLimits::new(&Config::new());
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
        let mut limits = AnswerLimits::new(&Config::new());
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
            AnswerLimits::new(&config).addresses.len()
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
            let mut limits = AnswerLimits::new(&config);
            let what = Answered::Handshake;
            let at_once = count(&mut limits, Instant::ZERO, what, 1_000_000, |_| 7);
            let rate = per_address.min(all) as usize;
            assert_eq!(at_once, (rate / 4).max(1), "{rate}");
            let later = Instant::ZERO + 1000 * MS;
            assert!(limits.take(later, 7, Answered::UnknownConnection));
        }
        // At the end of time answers still leave.
        let mut limits = AnswerLimits::new(&Config::client());
        let end = Instant::from_micros(u64::MAX - 1);
        assert!(count(&mut limits, end, Answered::Handshake, 10, |n| n) > 4);
    }

    #[cfg(feature = "seal")]
    #[test]
    fn a_thousand_agreements_a_second_and_twenty_with_an_address() {
        let mut limits = AnswerLimits::new(&Config::new());
        let now = Instant::ZERO + 1000 * MS;
        let count = |limits: &mut AnswerLimits, now, hash: fn(u64) -> u64| {
            let tries = (0..2000).filter(|&n| limits.take_agreement(now, hash(n)));
            tries.count()
        };
        assert_eq!(count(&mut limits, now, |_| 7), 5);
        assert_eq!(count(&mut limits, now + 50 * MS, |_| 7), 1);
        let later = now + 9999 * MS;
        assert_eq!(count(&mut limits, later, |n| n), 250);
        let second: usize = (1..=1000)
            .map(|ms| count(&mut limits, later + ms * MS, |n| n))
            .sum();
        assert_eq!(second, 1000);
        // Answers are not fewer for it, but to the same address.
        assert!(limits.take(later + 1000 * MS, 4095, Answered::Handshake));
    }

    /// C2.
    #[test]
    fn a_bounded_number_of_replies_waits() {
        let mut replies = Replies::new(20_000);
        let connection_id = ConnectionId::new(&[7; 4]).unwrap();
        let reply = Reply::Reset(Reset { connection_id });
        for n in 0..1024 {
            assert!(replies.push(n, reply), "{n}");
        }
        assert!(!replies.push(1024, reply));
        let (mut buf, offer) = ([0; 1200], crate::Config::new().offer());
        assert_eq!(replies.poll_transmit(&offer, &mut buf), Some((0, 5)));
        assert!(replies.push(1024, reply));
        assert!(!replies.push(0, reply));
        let sent = core::iter::from_fn(|| replies.poll_transmit(&offer, &mut buf)).count();
        assert_eq!((sent, replies.is_empty()), (1024, true));
    }

    #[test]
    fn no_more_replies_wait_than_may_go_out_at_once() {
        let reply = Reply::Refuse {
            nonce_peer: 7,
            refusal: Refusal::Full,
        };
        for (rate, most) in [(1, 1), (7, 1), (100, 25), (4100, 1024)] {
            let mut replies = Replies::new(rate);
            let taken = (0..2000).filter(|&n| replies.push(n, reply)).count();
            assert_eq!(taken, most, "{rate}");
        }
    }
}
