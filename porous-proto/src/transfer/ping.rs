//! Pings (§3.1.3): the only source of round-trip times, and what keeps a silent connection alive.

use core::time::Duration;

use arrayvec::ArrayVec;

use crate::time::Instant;

/// At most ten pings a second, whatever the round-trip time (`docs/deviations.md` T24).
const MIN_INTERVAL: Duration = Duration::from_millis(100);

/// Once so many pings in a row went unanswered, one a second is enough.
const SLOW_AFTER: usize = 8;
const SLOW_INTERVAL: Duration = Duration::from_secs(1);

/// Pings that are on their way. With the intervals above they cover round-trip times of 8 s.
const OUTSTANDING_MAX: usize = 16;

/// The pings of one peer.
#[derive(Debug)]
pub(crate) struct Pings {
    next_id: u16,
    outstanding: ArrayVec<(u16, Instant), OUTSTANDING_MAX>,
    /// When the next ping is due. Never, while one is to be sent.
    due: Instant,
    /// A ping is to be sent with the next datagram.
    pub(crate) pending: bool,
}

impl Pings {
    /// The first ping goes out at once.
    pub(crate) const fn new() -> Self {
        Self {
            next_id: 0,
            outstanding: ArrayVec::new_const(),
            due: Instant::NEVER,
            pending: true,
        }
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        if self.due <= now {
            self.due = Instant::NEVER;
            self.pending = true;
        }
    }

    pub(crate) const fn due(&self) -> Instant {
        self.due
    }

    /// Sends a ping: its id. At most one a round-trip time.
    pub(crate) fn send(&mut self, now: Instant, rtt: Duration) -> u16 {
        self.pending = false;
        let id = self.next_id;
        self.next_id = id.wrapping_add(1);
        if self.outstanding.is_full() {
            self.outstanding.remove(0);
        }
        self.outstanding.push((id, now));
        let interval = if self.outstanding.len() > SLOW_AFTER {
            SLOW_INTERVAL
        } else {
            MIN_INTERVAL
        };
        // An average that went astray, because a clock has jumped, must not silence the connection.
        self.due = now + interval.max(rtt.min(SLOW_INTERVAL));
        id
    }

    /// T_ping, if the pong answers a ping that was not answered before. Earlier pings are given up:
    /// their answers would be older than this one.
    pub(crate) fn answered(&mut self, id: u16, now: Instant) -> Option<Duration> {
        let position = self.outstanding.iter().position(|&(sent, _)| sent == id)?;
        let (_, sent) = self.outstanding[position];
        self.outstanding.drain(..=position);
        Some(now.saturating_duration_since(sent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// §3.1.3, T24.
    #[test]
    fn pings_are_at_most_one_a_round_trip_and_ten_a_second() {
        let mut pings = Pings::new();
        pings.send(Instant::ZERO, 3 * MS);
        assert_eq!(pings.due(), Instant::ZERO + 100 * MS);
        pings.send(pings.due(), 250 * MS);
        assert_eq!(pings.due(), Instant::ZERO + 350 * MS);
    }

    /// T24.
    #[test]
    fn no_round_trip_time_is_so_long_that_pings_stop() {
        let mut pings = Pings::new();
        pings.send(Instant::ZERO, 60_000 * MS);
        assert_eq!(pings.due(), Instant::ZERO + 1000 * MS);
    }

    #[test]
    fn while_nothing_answers_one_ping_a_second_is_sent() {
        let mut pings = Pings::new();
        for n in 0..8 {
            pings.send(Instant::ZERO + 100 * n * MS, 3 * MS);
        }
        let last = pings.due();
        let id = pings.send(last, 3 * MS);
        assert_eq!(pings.due(), last + 1000 * MS);
        let late = pings.due();
        pings.answered(id, late);
        pings.send(late, 3 * MS);
        assert_eq!(pings.due(), late + 100 * MS);
    }

    #[test]
    fn the_ids_of_pings_wrap() {
        let (mut pings, mut now) = (Pings::new(), Instant::ZERO);
        // The answer comes three pings later, also where the ids begin again.
        let mut under_way = [0; 3];
        for n in 0..70_000 {
            let id = pings.send(now, 3 * MS);
            assert_eq!(u32::from(id), n % (1 << 16));
            if n >= 3 {
                let answer = pings.answered(under_way[0], now);
                assert_eq!(answer, Some(300 * MS), "{n}");
            }
            under_way = [under_way[1], under_way[2], id];
            now = now + 100 * MS;
        }
    }

    #[test]
    fn each_ping_is_answered_once_and_overtakes_earlier_ones() {
        let mut pings = Pings::new();
        let a = pings.send(Instant::ZERO, MS);
        let b = pings.send(Instant::ZERO + 100 * MS, MS);
        assert_eq!(pings.answered(b, Instant::ZERO + 130 * MS), Some(30 * MS));
        assert_eq!(pings.answered(b, Instant::ZERO + 131 * MS), None);
        assert_eq!(pings.answered(a, Instant::ZERO + 132 * MS), None);
    }

    #[test]
    fn a_round_trip_of_many_seconds_can_still_be_measured() {
        let (mut pings, mut now) = (Pings::new(), Instant::ZERO);
        let first = pings.send(now, 200 * MS);
        while now < Instant::ZERO + 8000 * MS {
            now = pings.due();
            pings.send(now, 200 * MS);
        }
        assert!(pings.answered(first, now).is_some());
    }
}
