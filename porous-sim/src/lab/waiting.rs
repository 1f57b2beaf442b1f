//! The datagrams that wait in front of a bottleneck, and which of them leaves or is dropped.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use porous_proto::Instant;

use super::bottleneck::Parcel;
use crate::Queue;
use crate::codel::CoDel;

/// The times of CoDel in FQ-CoDel (RFC 8290 §5.2.1 and §5.2.2).
const TIMES: [Duration; 2] = [Duration::from_millis(5), Duration::from_millis(100)];

/// The most datagrams in front of CoDel and FQ-CoDel (RFC 8290 §5.2.3; Linux has 1000 for CoDel).
const MOST_CODEL: usize = 1000;
const MOST_FAIR: usize = 10_240;

/// The bytes of a large packet.
const PACKET: u64 = 1514;

/// The bytes that a flow may send in its turn (RFC 8290 §5.2.4).
const QUANTUM: i64 = 1514;

/// The order in which datagrams leave, and the bound on those that wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// One queue for all.
    Arrival(Queue),
    /// FQ-CoDel (RFC 8290): flows take turns, each with a CoDel of its own.
    Fair,
}

/// A queue that CoDel shortens.
#[derive(Debug, Default)]
struct Row {
    parcels: VecDeque<Parcel>,
    bytes: u64,
    codel: CoDel,
}

impl Row {
    fn push(&mut self, parcel: Parcel) {
        self.bytes += parcel.bytes();
        self.parcels.push_back(parcel);
    }

    fn take(&mut self) -> Option<Parcel> {
        let parcel = self.parcels.pop_front()?;
        self.bytes -= parcel.bytes();
        Some(parcel)
    }

    /// The first datagram that CoDel lets pass (RFC 8289 §5.5).
    fn take_good(
        &mut self,
        times: [Duration; 2],
        now: Instant,
        dropped: &mut VecDeque<usize>,
    ) -> Option<Parcel> {
        loop {
            let parcel = self.take()?;
            let wait = now.saturating_duration_since(parcel.came);
            let wait = u64::try_from(wait.as_micros()).unwrap_or(u64::MAX);
            // No more than a packet is left: dropping would only make the line idle.
            let stands = self.bytes > PACKET;
            if !self.codel.drops(now.as_micros(), wait, stands, times) {
                return Some(parcel);
            }
            dropped.push_back(parcel.flow);
        }
    }
}

/// A flow in front of FQ-CoDel.
#[derive(Debug, Default)]
struct Turn {
    row: Row,
    /// Bytes that it may still send in its turn.
    deficit: i64,
    /// True while it stands in one of the lists.
    is_listed: bool,
}

/// The flows in front of FQ-CoDel, each by its index.
#[derive(Debug, Default)]
struct Flows {
    turns: Vec<Turn>,
    /// Flows that were silent go before the others, once.
    new: VecDeque<usize>,
    old: VecDeque<usize>,
}

impl Flows {
    fn push(&mut self, parcel: Parcel) {
        let flow = parcel.flow;
        if self.turns.len() <= flow {
            self.turns.resize_with(flow + 1, Turn::default);
        }
        let turn = &mut self.turns[flow];
        turn.row.push(parcel);
        if !core::mem::replace(&mut turn.is_listed, true) {
            turn.deficit = QUANTUM;
            self.new.push_back(flow);
        }
    }

    /// The next datagram by RFC 8290 §4.2.
    fn take(&mut self, now: Instant, dropped: &mut VecDeque<usize>) -> Option<Parcel> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let flow = list.pop_front()?;
            let turn = &mut self.turns[flow];
            if turn.deficit <= 0 {
                turn.deficit += QUANTUM;
                self.old.push_back(flow);
                continue;
            }
            let Some(parcel) = turn.row.take_good(TIMES, now, dropped) else {
                // A new flow that is empty waits for a round of the old ones, so that it cannot go before them
                // again and again.
                turn.is_listed = is_new;
                if is_new {
                    self.old.push_back(flow);
                }
                continue;
            };
            turn.deficit -= i64::try_from(parcel.bytes()).unwrap_or(i64::MAX);
            if is_new {
                self.new.push_front(flow);
            } else {
                self.old.push_front(flow);
            }
            return Some(parcel);
        }
    }
}

#[derive(Debug)]
pub(super) struct Waiting {
    order: Order,
    row: Row,
    flows: Flows,
}

impl Waiting {
    pub(super) fn new(order: Order) -> Self {
        Self {
            order,
            row: Row::default(),
            flows: Flows::default(),
        }
    }

    fn rows(&self) -> impl Iterator<Item = &Row> {
        let rows = self.flows.turns.iter().map(|turn| &turn.row);
        rows.chain([&self.row])
    }

    pub(super) fn bytes(&self) -> u64 {
        self.rows().map(|row| row.bytes).sum()
    }

    fn count(&self) -> usize {
        self.rows().map(|row| row.parcels.len()).sum()
    }

    /// Whether a datagram of `bytes` bytes finds room behind `before` bytes that have not left, after which it
    /// would wait for `delay`.
    pub(super) fn has_room(&self, bytes: u64, before: u64, delay: Duration) -> bool {
        match self.order {
            // An idle line takes any datagram, even into a queue that is shorter than it.
            Order::Arrival(_) if before == 0 => true,
            Order::Arrival(Queue::Bytes(most)) => before + bytes <= most,
            Order::Arrival(Queue::Time(longest)) => delay <= longest,
            Order::Arrival(Queue::CoDel { .. }) => self.count() < MOST_CODEL,
            Order::Fair => self.count() < MOST_FAIR,
        }
    }

    pub(super) fn push(&mut self, parcel: Parcel) {
        match self.order {
            Order::Arrival(_) => self.row.push(parcel),
            Order::Fair => self.flows.push(parcel),
        }
    }

    /// The datagram that leaves next. The flows of those that are dropped go to the end of `dropped`.
    pub(super) fn pop(&mut self, now: Instant, dropped: &mut VecDeque<usize>) -> Option<Parcel> {
        match self.order {
            Order::Arrival(Queue::CoDel { target, interval }) => {
                self.row.take_good([target, interval], now, dropped)
            }
            Order::Arrival(Queue::Bytes(_) | Queue::Time(_)) => self.row.take(),
            Order::Fair => self.flows.take(now, dropped),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    fn parcel(flow: usize, micros: u64, len: usize) -> Parcel {
        Parcel {
            flow,
            came: Instant::from_micros(micros),
            datagram: vec![0; len],
        }
    }

    #[test]
    fn flows_take_turns_by_bytes_and_a_new_one_goes_first() {
        let mut waiting = Waiting::new(Order::Fair);
        for _ in 0..20 {
            waiting.push(parcel(0, 0, 1472));
            waiting.push(parcel(1, 0, 344));
        }
        let mut dropped = VecDeque::new();
        let mut pop = |waiting: &mut Waiting| {
            let parcel = waiting.pop(Instant::ZERO, &mut dropped);
            parcel.map(|parcel| parcel.flow)
        };
        let mut bytes = [0; 2];
        for _ in 0..16 {
            let flow = pop(&mut waiting).unwrap();
            bytes[flow] += [1500, 372][flow];
        }
        assert!(i32::abs_diff(bytes[0], bytes[1]) <= 1514 + 372, "{bytes:?}");
        waiting.push(parcel(2, 0, 100));
        // The one whose turn it is goes on at most to the end of it.
        let next: Vec<_> = core::iter::from_fn(|| pop(&mut waiting)).take(2).collect();
        assert!(next.contains(&2), "{next:?}");
    }

    #[test]
    fn codel_drops_of_what_has_waited_too_long_for_too_long() {
        for order in [Order::Arrival(Queue::CODEL), Order::Fair] {
            let mut waiting = Waiting::new(order);
            let (mut dropped, mut left) = (VecDeque::new(), 0);
            // One comes each millisecond and waits for 50.
            for millis in 0..1000 {
                waiting.push(parcel(0, 1000 * millis, 1000));
                if millis >= 50 {
                    let popped = waiting.pop(Instant::from_micros(1000 * millis), &mut dropped);
                    left += usize::from(popped.is_some());
                }
            }
            assert!(
                (10..50).contains(&dropped.len()),
                "{order:?}: {}",
                dropped.len()
            );
            assert_eq!(waiting.count() + dropped.len() + left, 1000);
        }
    }
}
