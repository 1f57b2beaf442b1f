//! The bottleneck of a link: a transmitter of limited rate and the drop-tail queue before it.

use core::time::Duration;

use porous_proto::Instant;

use crate::{LinkConfig, Queue};

/// Picoseconds in a microsecond. The transmitter counts in picoseconds: in microseconds, rounding
/// would cost a fast link a tenth of its rate.
const PICOS: u128 = 1_000_000;

/// When the transmitter will have sent all that was accepted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bottleneck {
    /// In picoseconds since the epoch.
    free_at: u128,
}

impl Bottleneck {
    /// Accepts a datagram of `len` bytes and says when its last bit leaves, rounded up; `None` if
    /// the queue is full.
    pub(crate) fn accept(
        &mut self,
        now: Instant,
        len: usize,
        config: &LinkConfig,
    ) -> Option<Instant> {
        if config.rate == 0 {
            return Some(now);
        }
        let rate = u128::from(config.rate);
        let bits = 8 * (len as u128 + u128::from(config.overhead));
        let now = u128::from(now.as_micros()) * PICOS;
        let backlog = self.free_at.saturating_sub(now);
        if backlog > 0 && is_full(config.queue, backlog, bits, rate) {
            return None;
        }
        self.free_at = now + backlog + (bits * PICOS * 1_000_000).div_ceil(rate);
        let micros = self.free_at.div_ceil(PICOS);
        Some(Instant::from_micros(
            u64::try_from(micros).unwrap_or(u64::MAX),
        ))
    }
}

/// Whether the queue has no room for `bits` more after `backlog` picoseconds of waiting bits.
fn is_full(queue: Queue, backlog: u128, bits: u128, rate: u128) -> bool {
    match queue {
        Queue::Time(longest) => backlog > picos(longest),
        Queue::Bytes(most) => {
            let waiting = backlog.saturating_mul(rate).div_ceil(PICOS * 1_000_000);
            waiting + bits > 8 * u128::from(most)
        }
    }
}

fn picos(duration: Duration) -> u128 {
    duration.as_nanos() * 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1000 bytes with overhead: 8 ms at 1 Mbit/s.
    const LEN: usize = 972;

    fn config() -> LinkConfig {
        LinkConfig::new().rate(1_000_000)
    }

    fn at(millis: u64) -> Instant {
        Instant::from_micros(millis * 1000)
    }

    #[test]
    fn one_after_the_other() {
        let mut b = Bottleneck::default();
        assert_eq!(b.accept(at(0), LEN, &config()), Some(at(8)));
        assert_eq!(b.accept(at(1), LEN, &config()), Some(at(16)));
        assert_eq!(
            b.accept(at(100), LEN, &config()),
            Some(at(108)),
            "an idle link saves nothing"
        );
    }

    #[test]
    fn time_limits_the_wait() {
        let mut b = Bottleneck::default();
        let c = config().queue(Queue::Time(Duration::from_millis(16)));
        assert!(b.accept(at(0), LEN, &c).is_some());
        assert!(b.accept(at(0), LEN, &c).is_some());
        assert_eq!(
            b.accept(at(0), LEN, &c),
            Some(at(24)),
            "waits for exactly 16 ms"
        );
        assert_eq!(b.accept(at(0), LEN, &c), None);
        assert_eq!(b.accept(at(7), LEN, &c), None, "17 ms");
        assert_eq!(b.accept(at(8), LEN, &c), Some(at(32)));
    }

    #[test]
    fn bytes_limit_the_backlog() {
        let mut b = Bottleneck::default();
        let c = config().queue(Queue::Bytes(2000));
        assert!(b.accept(at(0), LEN, &c).is_some());
        assert!(b.accept(at(0), LEN, &c).is_some());
        assert_eq!(b.accept(at(0), LEN, &c), None);
        assert_eq!(b.accept(at(7), LEN, &c), None, "1125 + 1000 bytes");
        assert!(b.accept(at(8), LEN, &c).is_some());
    }

    #[test]
    fn an_idle_link_takes_anything() {
        for queue in [Queue::Bytes(0), Queue::Time(Duration::ZERO)] {
            let mut b = Bottleneck::default();
            let c = config().queue(queue);
            assert_eq!(b.accept(at(0), LEN, &c), Some(at(8)));
            assert_eq!(b.accept(at(1), LEN, &c), None);
            assert_eq!(b.accept(at(8), LEN, &c), Some(at(16)));
        }
    }

    #[test]
    fn rounding_does_not_add_up() {
        // 100 bytes at 10 Gbit/s take 80 ns.
        let mut b = Bottleneck::default();
        let c = LinkConfig::new().rate(10_000_000_000).overhead(0);
        let last = (0..100_000).filter_map(|_| b.accept(at(0), 100, &c)).last();
        assert_eq!(last, Some(at(8)));
    }

    #[test]
    fn extremes_do_not_overflow() {
        let mut b = Bottleneck::default();
        let c = LinkConfig::new().rate(1).queue(Queue::Bytes(u64::MAX));
        let end = Instant::from_micros(u64::MAX);
        assert_eq!(b.accept(end, usize::MAX / 32, &c), Some(end));
        assert!(
            b.accept(Instant::ZERO, 1, &c.queue(Queue::Time(Duration::MAX)))
                .is_some()
        );
        assert_eq!(b.accept(Instant::ZERO, 1, &c.rate(u64::MAX)), None);
        assert!(
            Bottleneck::default()
                .accept(at(1), 1, &c.rate(u64::MAX))
                .is_some()
        );
    }
}
