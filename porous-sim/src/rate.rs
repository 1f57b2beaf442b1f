//! The bottleneck of a link: a transmitter of limited rate and the drop-tail queue before it.

use core::time::Duration;

use porous_proto::{Ecn, Instant};

use crate::codel::CoDel;
use crate::{LinkConfig, Queue};

/// Picoseconds in a microsecond. The transmitter counts in picoseconds: rounding to microseconds would
/// cost a fast link a tenth of its rate.
const PICOS: u128 = 1_000_000;

/// The bits of a large packet, with its overhead.
const PACKET: u128 = 8 * 1514;

/// The longest wait in front of a link with CoDel, which sets no bound itself.
const LONGEST_CODEL: Duration = Duration::from_secs(1);

/// The decision of a queue about a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Pass,
    /// There is room, but the queue is too long: the datagram is marked or dropped.
    Shorten,
    Full,
}

/// The transmitter, and the queue before it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bottleneck {
    /// When the last bit of all accepted datagrams will have left, in picoseconds of virtual time.
    free_at: u128,
    codel: CoDel,
}

impl Bottleneck {
    /// Accepts a datagram of `len` bytes and returns when its last bit leaves, rounded up; `None` if
    /// the queue is full. An ECN-capable datagram may be marked.
    pub(crate) fn accept(
        &mut self,
        now: Instant,
        len: usize,
        config: &LinkConfig,
        ecn: &mut Ecn,
    ) -> Option<Instant> {
        if config.rate == 0 {
            return Some(now);
        }
        let rate = u128::from(config.rate);
        let bits = 8 * (len as u128 + u128::from(config.overhead));
        let now = u128::from(now.as_micros()) * PICOS;
        let backlog = self.free_at.saturating_sub(now);
        let may_mark = config.marks && matches!(ecn, Ecn::Ect0 | Ecn::Ect1);
        match self.judge(config.queue, now, backlog, [bits, rate]) {
            Verdict::Pass => {}
            Verdict::Shorten if may_mark => *ecn = Ecn::Ce,
            Verdict::Shorten | Verdict::Full => return None,
        }
        self.free_at = now + backlog + (bits * PICOS * 1_000_000).div_ceil(rate);
        let micros = self.free_at.div_ceil(PICOS);
        Some(Instant::from_micros(
            u64::try_from(micros).unwrap_or(u64::MAX),
        ))
    }

    /// Decides about a datagram of `bits` bits, `backlog` picoseconds of waiting ones before it.
    fn judge(
        &mut self,
        queue: Queue,
        now: u128,
        backlog: u128,
        [bits, rate]: [u128; 2],
    ) -> Verdict {
        let waiting = backlog.saturating_mul(rate).div_ceil(PICOS * 1_000_000);
        let is_full = match queue {
            Queue::Time(longest) => backlog > picos(longest),
            Queue::Bytes(most) => waiting + bits > 8 * u128::from(most),
            Queue::CoDel { target, interval } => {
                let micros = |picos: u128| u64::try_from(picos / PICOS).unwrap_or(u64::MAX);
                // CoDel decides when a datagram leaves. That time is known here when it comes.
                let (leaves, wait) = (micros(now + backlog), micros(backlog));
                let times = [target, interval];
                let is_full = backlog > picos(LONGEST_CODEL);
                if !is_full && self.codel.drops(leaves, wait, waiting > PACKET, times) {
                    return Verdict::Shorten;
                }
                is_full
            }
        };
        // An idle link takes any datagram, even into a queue that is shorter than it.
        if is_full && backlog > 0 {
            Verdict::Full
        } else {
            Verdict::Pass
        }
    }
}

fn picos(duration: Duration) -> u128 {
    duration.as_nanos() * 1000
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// The payload of a datagram of 1000 bytes with overhead: 8 ms at 1 Mbit/s.
    const LEN: usize = 972;

    fn config() -> LinkConfig {
        LinkConfig::new().rate(1_000_000)
    }

    /// Accepts a datagram that is not ECN-capable.
    fn accept(b: &mut Bottleneck, now: Instant, len: usize, c: &LinkConfig) -> Option<Instant> {
        b.accept(now, len, c, &mut Ecn::NotEct)
    }

    fn at(millis: u64) -> Instant {
        Instant::from_micros(millis * 1000)
    }

    #[test]
    fn one_after_the_other() {
        let mut b = Bottleneck::default();
        assert_eq!(accept(&mut b, at(0), LEN, &config()), Some(at(8)));
        assert_eq!(accept(&mut b, at(1), LEN, &config()), Some(at(16)));
        assert_eq!(
            accept(&mut b, at(100), LEN, &config()),
            Some(at(108)),
            "an idle link saves nothing"
        );
    }

    #[test]
    fn time_limits_the_wait() {
        let mut b = Bottleneck::default();
        let c = config().queue(Queue::Time(Duration::from_millis(16)));
        assert!(accept(&mut b, at(0), LEN, &c).is_some());
        assert!(accept(&mut b, at(0), LEN, &c).is_some());
        assert_eq!(
            accept(&mut b, at(0), LEN, &c),
            Some(at(24)),
            "waits for exactly 16 ms"
        );
        assert_eq!(accept(&mut b, at(0), LEN, &c), None);
        assert_eq!(accept(&mut b, at(7), LEN, &c), None, "17 ms");
        assert_eq!(accept(&mut b, at(8), LEN, &c), Some(at(32)));
    }

    #[test]
    fn bytes_limit_the_backlog() {
        let mut b = Bottleneck::default();
        let c = config().queue(Queue::Bytes(2000));
        assert!(accept(&mut b, at(0), LEN, &c).is_some());
        assert!(accept(&mut b, at(0), LEN, &c).is_some());
        assert_eq!(accept(&mut b, at(0), LEN, &c), None);
        assert_eq!(accept(&mut b, at(7), LEN, &c), None, "1125 + 1000 bytes");
        assert!(accept(&mut b, at(8), LEN, &c).is_some());
    }

    #[test]
    fn an_idle_link_takes_anything() {
        for queue in [Queue::Bytes(0), Queue::Time(Duration::ZERO)] {
            let mut b = Bottleneck::default();
            let c = config().queue(queue);
            assert_eq!(accept(&mut b, at(0), LEN, &c), Some(at(8)));
            assert_eq!(accept(&mut b, at(1), LEN, &c), None);
            assert_eq!(accept(&mut b, at(8), LEN, &c), Some(at(16)));
        }
    }

    #[test]
    fn codel_marks_what_it_would_drop() {
        let run = |marks, sent: Ecn| {
            let mut b = Bottleneck::default();
            let c = config().queue(Queue::CODEL).marks(marks);
            let (mut dropped, mut marked) = (Vec::new(), Vec::new());
            for n in 0..1000_u64 {
                let mut ecn = sent;
                let left = b.accept(Instant::from_micros(n * 7900), LEN, &c, &mut ecn);
                dropped.extend(left.is_none().then_some(n));
                marked.extend((ecn == Ecn::Ce).then_some(n));
            }
            (dropped, marked)
        };
        let (dropped, none) = run(true, Ecn::NotEct);
        assert!(!dropped.is_empty() && none.is_empty());
        assert_eq!(run(false, Ecn::Ect0), (dropped.clone(), Vec::new()));
        let (none, marked) = run(true, Ecn::Ect0);
        assert!(none.is_empty());
        assert_eq!(marked.first(), dropped.first());
    }

    #[test]
    fn codel_keeps_the_wait_short() {
        // 1000 bytes each 6.4 ms are 125 % of the rate; for an hour.
        let mut b = Bottleneck::default();
        let c = config().queue(Queue::CODEL);
        let (mut dropped, mut longest) = (0_u32, Duration::ZERO);
        for n in 0..500_000_u64 {
            let now = Instant::from_micros(n * 6400);
            match accept(&mut b, now, LEN, &c) {
                Some(left) => longest = longest.max(left.saturating_duration_since(now)),
                None => dropped += 1,
            }
        }
        assert!(dropped.abs_diff(100_000) < 100, "a fifth: {dropped}");
        assert!(longest < Duration::from_millis(300), "{longest:?}");
        let c = config().queue(Queue::Time(Duration::from_secs(60)));
        let mut drop_tail = Bottleneck::default();
        let last = (0..10_000)
            .filter_map(|n| accept(&mut drop_tail, at(6 * n), LEN, &c))
            .last();
        assert!(last.is_some_and(|last| last > at(70_000)), "it only grows");
    }

    #[test]
    fn rounding_does_not_add_up() {
        // 100 bytes at 10 Gbit/s take 80 ns.
        let mut b = Bottleneck::default();
        let c = LinkConfig::new().rate(10_000_000_000).overhead(0);
        let last = (0..100_000)
            .filter_map(|_| accept(&mut b, at(0), 100, &c))
            .last();
        assert_eq!(last, Some(at(8)));
    }

    #[test]
    fn extremes_do_not_overflow() {
        let mut b = Bottleneck::default();
        let c = LinkConfig::new().rate(1).queue(Queue::Bytes(u64::MAX));
        let end = Instant::from_micros(u64::MAX);
        assert_eq!(accept(&mut b, end, usize::MAX / 32, &c), Some(end));
        assert!(
            accept(
                &mut b,
                Instant::ZERO,
                1,
                &c.queue(Queue::Time(Duration::MAX))
            )
            .is_some()
        );
        assert_eq!(accept(&mut b, Instant::ZERO, 1, &c.rate(u64::MAX)), None);
        let mut b = Bottleneck::default();
        assert!(accept(&mut b, at(1), 1, &c.rate(u64::MAX)).is_some());
    }
}
