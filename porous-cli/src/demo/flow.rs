//! One stream of packets: made by a clock, and checked where they arrive.

use alloc::collections::VecDeque;
use core::time::Duration;

use porous_sim::Seed;
use porous_std::{Bytes, Instant, Mode, Received, SendError};

use super::check::{Checker, Counts};
use super::kind::{Direction, Kind};
use super::packet;
use crate::latency::Latencies;

/// One kind of packets in one direction of one link.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) direction: Direction,
    pub(crate) kind: Kind,
    seed: Seed,
    /// When the first packet is due. It differs between clients, so that their flows do not send at once.
    phase: Duration,
    total: u32,
    made: u32,
    /// Reliable packets that the host had no room for.
    backlog: VecDeque<Bytes>,
    checker: Checker,
}

impl Flow {
    /// A flow that lasts for `seconds`; `share` of its period, from 0 to 1, passes before the
    /// first packet.
    pub(crate) fn new(
        (direction, kind): (Direction, Kind),
        seed: Seed,
        seconds: u32,
        share: f64,
    ) -> Self {
        Self {
            direction,
            kind,
            seed,
            phase: Duration::from_secs(1).mul_f64(share) / kind.rate(),
            total: kind.rate() * seconds,
            made: 0,
            backlog: VecDeque::new(),
            checker: Checker::default(),
        }
    }

    /// Sends the packets that are due by `now`, which is `elapsed` after the start.
    ///
    /// A reliable packet that finds no room waits here, and the wait counts as latency. Any other packet
    /// without room counts as lost.
    pub(crate) fn send_due(
        &mut self,
        now: Instant,
        elapsed: Duration,
        mut send: impl FnMut(Bytes) -> Result<(), SendError>,
    ) {
        while let Some(packet) = self.backlog.front() {
            if send(packet.clone()).is_err() {
                break;
            }
            self.backlog.pop_front();
        }
        while self.made < self.due(elapsed) {
            let packet = packet::make(self.kind, self.seed, self.made, now);
            self.made += 1;
            // A packet must not overtake an older one that waits.
            let must_wait = !self.backlog.is_empty();
            if (must_wait || send(packet.clone()).is_err()) && self.is_reliable() {
                self.backlog.push_back(packet);
            }
        }
    }

    /// Packets that should have been made by now.
    fn due(&self, elapsed: Duration) -> u32 {
        let Some(since) = elapsed.checked_sub(self.phase) else {
            return 0;
        };
        let due = since.as_micros() * u128::from(self.kind.rate()) / 1_000_000 + 1;
        u32::try_from(due).unwrap_or(u32::MAX).min(self.total)
    }

    /// Checks a packet that came on this flow's channel. Returns true if it was intact and new.
    pub(crate) fn receive(
        &mut self,
        now: Instant,
        received: &Received,
        latencies: &mut Latencies,
    ) -> bool {
        let packet = packet::check(self.kind, self.seed, &received.payload);
        let Some((number, sent)) = packet.filter(|_| received.mode == self.kind.mode()) else {
            self.checker.corrupt();
            return false;
        };
        let is_new = self.checker.arrived(number);
        if is_new {
            latencies.record(now.saturating_duration_since(sent));
        }
        is_new
    }

    /// Notes a packet that came and was never sent.
    pub(crate) const fn corrupt(&mut self) {
        self.checker.corrupt();
    }

    fn is_reliable(&self) -> bool {
        self.kind.mode() == Mode::Reliable
    }

    /// True if every packet that must arrive has arrived.
    pub(crate) fn is_complete(&self) -> bool {
        !self.is_reliable() || self.counts().delivered >= self.sent()
    }

    pub(crate) fn sent(&self) -> u64 {
        self.made.into()
    }

    pub(crate) const fn counts(&self) -> Counts {
        self.checker.counts()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn flow(kind: Kind, share: f64) -> Flow {
        Flow::new((Direction::Down, kind), Seed::new(1), 2, share)
    }

    fn received(kind: Kind, payload: Bytes) -> Received {
        Received {
            channel: kind.channel(),
            mode: kind.mode(),
            payload,
        }
    }

    #[test]
    fn the_clock_makes_packets() {
        let mut count = 0;
        for share in [0.0, 0.5, 0.99] {
            let mut flow = flow(Kind::State, share);
            flow.send_due(Instant::ZERO, Duration::ZERO, |_| {
                count += 1;
                Ok(())
            });
            assert_eq!(flow.sent(), u64::from(share == 0.0));
            flow.send_due(Instant::ZERO, SECOND, |_| {
                count += 1;
                Ok(())
            });
            assert!((60..=61).contains(&flow.sent()), "{}", flow.sent());
            flow.send_due(Instant::ZERO, 2 * SECOND, |_| {
                count += 1;
                Ok(())
            });
            assert_eq!(flow.sent(), 120);
            flow.send_due(Instant::ZERO, 9 * SECOND, |_| {
                count += 1;
                Ok(())
            });
            assert_eq!(flow.sent(), 120);
        }
        assert_eq!(count, 360);
    }

    #[test]
    fn only_reliable_packets_wait_for_room() {
        for (kind, expected) in [(Kind::Event, 24), (Kind::State, 0), (Kind::Update, 0)] {
            let mut flow = flow(kind, 0.0);
            flow.send_due(Instant::ZERO, 2 * SECOND, |_| Err(SendError::Full));
            let mut sent = Vec::new();
            flow.send_due(Instant::ZERO, 2 * SECOND, |packet| {
                sent.push(packet);
                Ok(())
            });
            assert_eq!(sent.len(), expected);
            for packet in sent {
                let new = flow.receive(
                    Instant::ZERO,
                    &received(kind, packet),
                    &mut Latencies::default(),
                );
                assert!(new);
            }
            assert_eq!(flow.counts().out_of_order, 0);
            assert!(flow.is_complete());
        }
    }

    #[test]
    fn what_arrives_is_checked_and_timed() {
        let mut flow = flow(Kind::Event, 0.0);
        let mut packets = Vec::new();
        flow.send_due(Instant::ZERO, SECOND / 10, |packet| {
            packets.push(packet);
            Ok(())
        });
        let mut latencies = Latencies::default();
        let now = Instant::from_micros(40_000);
        let mut arrive = |flow: &mut Flow, r: &Received| flow.receive(now, r, &mut latencies);
        let first = received(Kind::Event, packets[0].clone());
        assert!(arrive(&mut flow, &first));
        assert!(!arrive(&mut flow, &first));
        let wrong_mode = Received {
            mode: Mode::Passive,
            ..first
        };
        assert!(!arrive(&mut flow, &wrong_mode));
        assert!(!flow.is_complete(), "the second is missing");
        assert!(arrive(
            &mut flow,
            &received(Kind::Event, packets[1].clone())
        ));
        assert!(flow.is_complete());
        let expected = Counts {
            delivered: 2,
            duplicated: 1,
            out_of_order: 0,
            corrupt: 1,
        };
        assert_eq!(flow.counts(), expected);
        assert_eq!(latencies.percentile(50), Some(40.0));
    }
}
