//! The bottleneck of a road: what waits in front of it, in what order it leaves, and when.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use porous_proto::Instant;

use super::opportunities::{Opportunities, Position};
use super::road::HEADERS;
use super::waiting::{Order, Waiting};

/// Picoseconds in a microsecond. The line counts in picoseconds: rounding to microseconds would cost a fast line
/// a tenth of its rate.
const PICOS: u128 = 1_000_000;

/// How fast datagrams leave.
#[derive(Clone, Debug)]
pub(super) enum Line {
    /// At once: there is no bottleneck.
    Open,
    /// This number of bits a second.
    Rate(u64),
    /// When a trace says so.
    Trace(Arc<Opportunities>),
}

/// A datagram in front of the bottleneck.
#[derive(Debug)]
pub(super) struct Parcel {
    pub(super) flow: usize,
    pub(super) came: Instant,
    pub(super) datagram: Vec<u8>,
}

impl Parcel {
    /// Its bytes with the headers of IP and UDP.
    pub(super) fn bytes(&self) -> u64 {
        self.datagram.len() as u64 + HEADERS
    }
}

/// The datagram whose bits leave now.
#[derive(Debug)]
struct Leaving {
    parcel: Parcel,
    /// When its last bit leaves, in picoseconds.
    until: u128,
}

#[derive(Debug)]
pub(super) struct Bottleneck {
    line: Line,
    is_down: bool,
    waiting: Waiting,
    leaving: Option<Leaving>,
    /// The place in the trace.
    position: Position,
    /// The flows whose datagrams were dropped since the last look.
    dropped: VecDeque<usize>,
}

impl Bottleneck {
    pub(super) fn new(line: Line, order: Order) -> Self {
        Self {
            line,
            is_down: false,
            waiting: Waiting::new(order),
            leaving: None,
            position: Position::default(),
            dropped: VecDeque::new(),
        }
    }

    /// Datagrams that begin to leave from now on leave at this rate, in bits a second.
    pub(super) fn set_rate(&mut self, rate: u64) {
        self.line = Line::Rate(rate);
    }

    /// While it is down it takes nothing. What waits leaves all the same.
    pub(super) fn set_down(&mut self, is_down: bool) {
        self.is_down = is_down;
    }

    /// Takes a datagram, or drops it.
    pub(super) fn send(&mut self, parcel: Parcel) {
        let now = parcel.came;
        if self.is_down || !self.has_room(now, parcel.bytes()) {
            self.dropped.push_back(parcel.flow);
            return;
        }
        self.waiting.push(parcel);
        if self.leaving.is_none() {
            self.begin(picos(now));
        }
    }

    fn has_room(&self, now: Instant, bytes: u64) -> bool {
        let before = self.bytes(now);
        matches!(self.line, Line::Open) || self.waiting.has_room(bytes, before, self.delay(now))
    }

    /// The next datagram that has left by `now`, and when its last bit did.
    pub(super) fn receive(&mut self, now: Instant) -> Option<(Parcel, Instant)> {
        let left = self.next().filter(|&left| left <= now)?;
        let Leaving { parcel, until } = self.leaving.take()?;
        self.begin(until);
        Some((parcel, left))
    }

    /// When the next datagram leaves.
    pub(super) fn next(&self) -> Option<Instant> {
        self.leaving.as_ref().map(|leaving| instant(leaving.until))
    }

    /// The flow of the next datagram that was dropped.
    pub(super) fn dropped(&mut self) -> Option<usize> {
        self.dropped.pop_front()
    }

    /// How long a datagram that comes now would wait if all that is there leaves before it.
    pub(super) fn delay(&self, now: Instant) -> Duration {
        let Some(leaving) = &self.leaving else {
            return Duration::ZERO;
        };
        let free = match &self.line {
            Line::Open => leaving.until,
            Line::Rate(rate) => leaving.until + time(self.waiting.bytes(), *rate),
            Line::Trace(trace) => {
                let mut position = self.position;
                let from = instant(leaving.until);
                picos(trace.send(&mut position, from, self.waiting.bytes()))
            }
        };
        let micros = free.saturating_sub(picos(now)) / PICOS;
        Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
    }

    /// The bytes that have not left yet.
    fn bytes(&self, now: Instant) -> u64 {
        let Some(leaving) = &self.leaving else {
            return 0;
        };
        let rest = match self.line {
            Line::Rate(rate) => {
                let rest = leaving.until.saturating_sub(picos(now)) * u128::from(rate);
                u64::try_from(rest.div_ceil(8 * PICOS * 1_000_000)).unwrap_or(u64::MAX)
            }
            Line::Open | Line::Trace(_) => leaving.parcel.bytes(),
        };
        rest.min(leaving.parcel.bytes()) + self.waiting.bytes()
    }

    /// The next datagram begins to leave at this time, in picoseconds.
    fn begin(&mut self, at: u128) {
        let next = self.waiting.pop(instant(at), &mut self.dropped);
        self.leaving = next.map(|parcel| {
            let until = match &self.line {
                Line::Open => at,
                Line::Rate(rate) => at + time(parcel.bytes(), *rate),
                Line::Trace(trace) => {
                    picos(trace.send(&mut self.position, instant(at), parcel.bytes()))
                }
            };
            Leaving { parcel, until }
        });
    }
}

/// The picoseconds that these bytes take at this rate in bits a second.
fn time(bytes: u64, rate: u64) -> u128 {
    (8 * u128::from(bytes) * PICOS * 1_000_000).div_ceil(u128::from(rate.max(1)))
}

fn picos(at: Instant) -> u128 {
    u128::from(at.as_micros()) * PICOS
}

/// The time in whole microseconds, rounded up.
fn instant(picos: u128) -> Instant {
    Instant::from_micros(u64::try_from(picos.div_ceil(PICOS)).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::Queue;

    fn at(millis: u64) -> Instant {
        Instant::from_micros(1000 * millis)
    }

    /// A datagram of 1000 bytes with its headers: 8 ms at 1 Mbit/s.
    fn parcel(flow: usize, millis: u64) -> Parcel {
        Parcel {
            flow,
            came: at(millis),
            datagram: vec![0; 972],
        }
    }

    fn slow(queue: Queue) -> Bottleneck {
        Bottleneck::new(Line::Rate(1_000_000), Order::Arrival(queue))
    }

    /// The flows of the datagrams that leave by then, and the milliseconds at which they do.
    fn leave(bottleneck: &mut Bottleneck, millis: u64) -> Vec<(usize, u64)> {
        let next = || bottleneck.receive(at(millis));
        let all = core::iter::from_fn(next);
        all.map(|(parcel, left)| (parcel.flow, left.as_micros() / 1000))
            .collect()
    }

    #[test]
    fn datagrams_leave_one_after_the_other_at_the_rate() {
        let mut bottleneck = slow(Queue::Bytes(10_000));
        for flow in 0..3 {
            bottleneck.send(parcel(flow, 0));
        }
        assert_eq!(bottleneck.delay(at(0)), Duration::from_millis(24));
        assert_eq!(leave(&mut bottleneck, 15), [(0, 8)]);
        // The one that leaves now keeps its rate.
        bottleneck.set_rate(2_000_000);
        assert_eq!(bottleneck.delay(at(15)), Duration::from_millis(5));
        assert_eq!(leave(&mut bottleneck, 100), [(1, 16), (2, 20)]);
        bottleneck.send(parcel(3, 50));
        assert_eq!(
            leave(&mut bottleneck, 100),
            [(3, 54)],
            "an idle line saves nothing"
        );
    }

    #[test]
    fn what_finds_no_room_is_dropped_and_an_idle_line_takes_anything() {
        for queue in [Queue::Bytes(2000), Queue::Time(Duration::from_millis(8))] {
            let mut bottleneck = slow(queue);
            for flow in 0..4 {
                bottleneck.send(parcel(flow, 0));
            }
            let dropped: Vec<_> = core::iter::from_fn(|| bottleneck.dropped()).collect();
            assert_eq!(dropped, [2, 3], "{queue:?}");
        }
        let mut bottleneck = slow(Queue::Bytes(0));
        bottleneck.send(parcel(0, 0));
        assert_eq!(bottleneck.dropped(), None);
        bottleneck.set_down(true);
        bottleneck.send(parcel(7, 50));
        assert_eq!(bottleneck.dropped(), Some(7));
        assert_eq!(leave(&mut bottleneck, 100), [(0, 8)]);
    }

    #[test]
    fn without_a_bottleneck_nothing_waits() {
        let mut bottleneck = Bottleneck::new(Line::Open, Order::Arrival(Queue::Bytes(0)));
        bottleneck.send(parcel(0, 3));
        bottleneck.send(parcel(1, 3));
        assert_eq!(bottleneck.delay(at(3)), Duration::ZERO);
        assert_eq!(leave(&mut bottleneck, 3), [(0, 3), (1, 3)]);
    }

    #[test]
    fn a_trace_says_when_datagrams_leave() {
        let trace: Opportunities = "5\n5\n20\n".parse().unwrap();
        let order = Order::Arrival(Queue::Bytes(10_000));
        let mut bottleneck = Bottleneck::new(Line::Trace(Arc::new(trace)), order);
        for flow in 0..4 {
            bottleneck.send(parcel(flow, 0));
        }
        // 1500 bytes at a time: three times 1000 take the two of 5 ms, the fourth the one of 20 ms.
        assert_eq!(bottleneck.delay(at(0)), Duration::from_millis(20));
        assert_eq!(
            leave(&mut bottleneck, 50),
            [(0, 5), (1, 5), (2, 5), (3, 20)]
        );
    }
}
