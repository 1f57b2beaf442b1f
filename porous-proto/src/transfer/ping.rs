//! Pings (§3.1.3). Under the paper's policy they are the only source of round-trip times. Under the modern
//! one they ask where nothing else tells a round trip, and keep a silent connection alive.

use alloc::vec::Vec;

use crate::config::Policy;
use crate::time::{Instant, Micros};

/// The least time between pings, whatever the round trip is (`docs/deviations.md` T24).
const MIN_INTERVAL: Micros = Micros::from_millis(100);

/// Unanswered pings in a row after which pings leave at `SLOW_INTERVAL`.
const SLOW_AFTER: usize = 8;
/// The time between pings while nothing answers, or while no data is sent.
const SLOW_INTERVAL: Micros = Micros::from_secs(1);

/// Time without data after which a host needs no new round-trip time, only a sign of life (paper's policy). A
/// connection begins with as long a time, so that (5) and (6) settle: 30 samples leave 2 % of what they began
/// with.
const BUSY: Micros = Micros::from_secs(3);
/// Pings of an idle host in the time after which silence ends the connection: losses must not end it.
const SIGNS_OF_LIFE: u64 = 10;

/// Parts of the time after which silence ends the connection: under the modern policy a host that hears
/// nothing for one part asks for a sign of life, and then as often as the paper's.
const SIGNS_ASKED_FOR: u64 = 4;

/// Pings that may be on their way. With the intervals above they cover round trips of 8 s.
const OUTSTANDING_MAX: usize = 16;

/// The pings of one peer.
#[derive(Debug)]
pub(crate) struct Pings {
    next_id: u16,
    /// Pings on their way, the oldest first, and when each was sent: [`OUTSTANDING_MAX`] at most.
    outstanding: Vec<(u16, Instant)>,
    /// When the next ping is due; never while `pending`.
    due: Instant,
    /// When a doubt may bring about a ping again.
    next_doubt: Instant,
    /// True if a ping leaves with the next datagram.
    pub(crate) pending: bool,
    /// Time between pings while no data is sent.
    idle_interval: Micros,
    /// Time between pings under the modern policy until one is answered.
    unanswered_interval: Micros,
    /// When data will have been missing for [`BUSY`]. `None` before the first ping, and always under the
    /// modern policy, whose acknowledgements tell round-trip times.
    busy_until: Option<Instant>,
    policy: Policy,
    /// True if this host leaves the pings to the other one where both ping equally often.
    yields: bool,
    /// True if the remote host has pinged since this host did, or since an acknowledgement told a round-trip
    /// time.
    pinged: bool,
}

impl Pings {
    /// The first ping leaves at once. `timeout`: the silence that ends the connection at one of its ends.
    /// `keepalive`: the time between signs of life of a silent connection under the modern policy. `yields`:
    /// this host leaves the pings to the other one, which is true of exactly one of the two.
    pub(crate) fn new(policy: Policy, timeout: Micros, keepalive: Micros, yields: bool) -> Self {
        let often = (timeout / SIGNS_OF_LIFE).clamp(MIN_INTERVAL, SLOW_INTERVAL);
        let idle_interval = match policy {
            Policy::Paper => often,
            Policy::Modern => (timeout / SIGNS_ASKED_FOR).min(keepalive),
        };
        Self {
            next_id: 0,
            outstanding: Vec::new(),
            due: Instant::NEVER,
            next_doubt: Instant::ZERO,
            pending: true,
            idle_interval: idle_interval.max(MIN_INTERVAL),
            unanswered_interval: often,
            busy_until: None,
            policy,
            yields,
            pinged: false,
        }
    }

    /// An acknowledgement told a round-trip time.
    pub(crate) fn on_sample(&mut self, now: Instant) {
        // As good as a pong: what was asked by pings on their way is known.
        self.outstanding.clear();
        // One exchange in an interval serves both hosts, and they take turns (D13): the host that has heard
        // waits a quarter longer, and pings only if the other one has missed its turn. Of two that have
        // pinged at once one is next.
        let is_next = core::mem::take(&mut self.pinged) && !self.yields;
        let turn = if is_next {
            Micros::ZERO
        } else {
            self.idle_interval / 4
        };
        if !self.pending {
            self.due = now + self.idle_interval + turn;
        }
    }

    /// The remote host has pinged, which is a sign of life. The next ping is this host's.
    pub(crate) fn on_pinged(&mut self, now: Instant) {
        // Once for each ping of this host: a remote host that pings more often must not keep this one from
        // learning the round trip.
        let is_first = !core::mem::replace(&mut self.pinged, true);
        // While a ping of this host is not answered, the other host may not hear it: both keep asking.
        let is_idle = !self.pending && !self.is_asking();
        if is_first && self.policy == Policy::Modern && is_idle {
            self.due = now + self.idle_interval;
        }
    }

    /// Whether a ping is on its way, or lost.
    pub(super) fn is_asking(&self) -> bool {
        !self.outstanding.is_empty()
    }

    /// It is in doubt whether the remote host is there and knows what is true: a ping leaves at once. As anybody
    /// may raise doubts, they bring about one ping a second at most. Returns the time until the ping leaves.
    pub(crate) fn on_doubt(&mut self, now: Instant) -> Micros {
        if self.pending {
            return Micros::ZERO;
        }
        let earliest = now.max(self.next_doubt);
        if earliest < self.due {
            self.due = earliest;
            self.next_doubt = earliest + SLOW_INTERVAL;
        }
        self.due.since(now)
    }

    /// A frame with data was sent, and a ping with it if one was due. `rtt`: the smoothed round trip.
    pub(crate) fn on_data(&mut self, now: Instant, rtt: Micros) {
        if self.policy == Policy::Modern {
            return;
        }
        // Round-trip times matter again at the end of idleness: the ping that is due in a second comes
        // sooner. Not while nothing answers: then one a second is enough (T24).
        let was_idle = self.busy_until.is_some_and(|until| until <= now);
        self.busy_until = Some(now + BUSY);
        if was_idle && self.outstanding.len() <= SLOW_AFTER {
            self.due = self.due.min(now + MIN_INTERVAL.max(rtt));
        }
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        if self.due <= now {
            self.ask();
        }
    }

    /// A ping leaves with the next datagram.
    pub(super) const fn ask(&mut self) {
        (self.due, self.pending) = (Instant::NEVER, true);
    }

    pub(crate) const fn due(&self) -> Instant {
        self.due
    }

    /// A ping leaves. Returns its id. At most one leaves in a round trip, whose smoothed time is `rtt`.
    pub(crate) fn send(&mut self, now: Instant, rtt: Micros) -> u16 {
        (self.pending, self.pinged) = (false, false);
        let id = self.next_id;
        self.next_id = id.wrapping_add(1);
        if self.outstanding.len() >= OUTSTANDING_MAX {
            self.outstanding.remove(0);
        }
        self.outstanding.push((id, now));
        let interval = self.interval(now);
        // An average that went astray, because a clock has jumped, must not silence the connection: a second
        // at most (T24).
        self.due = now + interval.max(rtt.min(SLOW_INTERVAL));
        id
    }

    /// Time from the ping that leaves now to the next.
    fn interval(&mut self, now: Instant) -> Micros {
        if self.policy == Policy::Modern {
            return self.idle_interval.min(self.unanswered_interval);
        }
        let busy_until = *self.busy_until.get_or_insert(now + BUSY);
        if self.outstanding.len() > SLOW_AFTER {
            SLOW_INTERVAL
        } else if now >= busy_until {
            self.idle_interval
        } else {
            MIN_INTERVAL
        }
    }

    /// T_ping, if the pong answers a ping that was not answered before.
    pub(crate) fn answered(&mut self, id: u16, now: Instant) -> Option<Micros> {
        let position = self.outstanding.iter().position(|&(sent, _)| sent == id)?;
        let (_, sent) = self.outstanding[position];
        // Earlier pings are given up: their answers would tell of an older time than this one.
        self.outstanding.drain(..=position);
        Some(now.since(sent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Micros = Micros::from_millis(1);

    fn paper(timeout: u64) -> Pings {
        Pings::new(Policy::Paper, timeout * MS, Micros::ZERO, false)
    }

    fn modern(timeout: u64, keepalive: u64) -> Pings {
        Pings::new(Policy::Modern, timeout * MS, keepalive * MS, true)
    }

    #[test]
    fn acknowledgements_put_modern_pings_off() {
        let at = |ms| Instant::ZERO + Micros::from_millis(ms);
        for (timeout, keepalive, interval) in [
            (10_000, 15_000, 2500),
            (120_000, 15_000, 15_000),
            (10_000, 500, 500),
            (0, 9, 100),
        ] {
            let mut pings = modern(timeout, keepalive);
            pings.send(at(0), MS);
            pings.on_sample(at(20));
            let due = at(20 + interval + interval / 4);
            assert_eq!(pings.due(), due, "{timeout} {keepalive}");
            pings.on_data(at(30), MS);
            assert_eq!(pings.due(), due);
        }
    }

    /// The host that has pinged pings again when the other one has missed its turn. D13.
    #[test]
    fn hosts_take_turns_and_one_of_two_that_ping_at_once_is_next() {
        let at = |ms| Instant::ZERO + Micros::from_millis(ms);
        for (yields, interval) in [(true, 3125), (false, 2500)] {
            let mut pings = Pings::new(Policy::Modern, 10_000 * MS, 15_000 * MS, yields);
            pings.send(at(0), MS);
            pings.on_sample(at(20));
            assert_eq!(pings.due(), at(20 + 3125), "the other one is next");
            pings.on_pinged(at(2500));
            assert_eq!(pings.due(), at(2500 + 2500), "this one is next");
            pings.on_pinged(at(2600));
            assert_eq!(pings.due(), at(2500 + 2500), "once");
            pings.send(at(5000), MS);
            pings.on_pinged(at(5010));
            pings.on_sample(at(5020));
            assert_eq!(pings.due(), at(5020 + interval), "both at once");
        }
    }

    #[test]
    fn what_is_not_acknowledged_is_asked_again_each_second() {
        let at = |ms| Instant::ZERO + Micros::from_millis(ms);
        let mut pings = modern(10_000, 15_000);
        for n in 0..8 {
            pings.send(at(1000 * n), MS);
            assert_eq!(pings.due(), at(1000 * (n + 1)));
        }
    }

    #[test]
    fn a_doubt_is_settled_at_once_but_only_once_a_second() {
        let at = |ms| Instant::ZERO + Micros::from_millis(ms);
        let mut pings = modern(120_000, 60_000);
        assert_eq!(pings.on_doubt(at(0)), Micros::ZERO, "one is pending");
        pings.send(at(0), MS);
        pings.on_sample(at(20));
        let mut ask = |now, due| {
            assert_eq!(pings.on_doubt(at(now)), (due - now) * MS);
            assert_eq!(pings.due(), at(due));
            if now == due {
                pings.send(at(now), MS);
                pings.on_sample(at(now + 1));
            }
        };
        ask(500, 500);
        for now in [501, 502, 999] {
            ask(now, 1500);
        }
        ask(1500, 1500);
        ask(1600, 2500);
        ask(2500, 2500);
        ask(4000, 4000);
    }

    /// §3.1.3, T24.
    #[test]
    fn pings_are_at_most_one_a_round_trip_and_ten_a_second() {
        let mut pings = paper(10_000);
        pings.send(Instant::ZERO, 3 * MS);
        assert_eq!(pings.due(), Instant::ZERO + 100 * MS);
        pings.send(pings.due(), 250 * MS);
        assert_eq!(pings.due(), Instant::ZERO + 350 * MS);
    }

    /// T24.
    #[test]
    fn no_round_trip_time_is_so_long_that_pings_stop() {
        let mut pings = paper(10_000);
        pings.send(Instant::ZERO, 60_000 * MS);
        assert_eq!(pings.due(), Instant::ZERO + 1000 * MS);
    }

    /// T24.
    #[test]
    fn while_nothing_answers_one_ping_a_second_is_sent() {
        let mut pings = paper(10_000);
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

    /// Pings that are answered at once, from this time on until another: when each was sent.
    fn sent_between(pings: &mut Pings, from: Instant, to: Instant) -> Vec<Instant> {
        let (mut now, mut sent) = (from, Vec::new());
        while now < to {
            let id = pings.send(now, 3 * MS);
            pings.answered(id, now);
            sent.push(now);
            now = pings.due();
        }
        sent
    }

    /// T24.
    #[test]
    fn without_data_one_ping_a_second_is_sent() {
        let at = |seconds: u64| Instant::ZERO + 1000 * seconds * MS;
        let mut pings = paper(10_000);
        assert_eq!(sent_between(&mut pings, at(0), at(3)).len(), 30);
        assert_eq!(sent_between(&mut pings, at(3), at(60)).len(), 57);
        // Data makes it ten a second again, from the time of the data on.
        pings.on_data(at(60), 3 * MS);
        assert_eq!(pings.due(), at(60));
        pings.send(at(60), 3 * MS);
        pings.on_data(at(60) + 400 * MS, 3 * MS);
        assert_eq!(pings.due(), at(60) + 100 * MS);
    }

    /// T24.
    #[test]
    fn a_ping_is_due_soon_after_the_first_data() {
        let at = |seconds: u64| Instant::ZERO + 1000 * seconds * MS;
        for (rtt, wait) in [(3, 100), (250, 250)] {
            let mut pings = paper(10_000);
            sent_between(&mut pings, at(0), at(10));
            let before = pings.due();
            assert_eq!(before, at(10));
            pings.send(before, rtt * MS);
            pings.on_data(before + MS, rtt * MS);
            assert_eq!(pings.due(), before + (wait + 1) * MS);
        }
    }

    /// T24.
    #[test]
    fn data_makes_no_pings_while_none_is_answered() {
        let mut pings = paper(10_000);
        let mut now = Instant::ZERO;
        for _ in 0..12 {
            pings.send(now, 3 * MS);
            now = pings.due();
        }
        pings.send(now, 3 * MS);
        for n in 1..9 {
            pings.on_data(now + 100 * n * MS, 3 * MS);
            assert_eq!(pings.due(), now + 1000 * MS);
        }
    }

    /// T24.
    #[test]
    fn a_short_timeout_has_its_signs_of_life() {
        let at = |seconds: u64| Instant::ZERO + 1000 * seconds * MS;
        for (timeout, interval) in [(60_000, 1000), (5000, 500), (1000, 100), (0, 100)] {
            let mut pings = paper(timeout);
            let sent = sent_between(&mut pings, at(0), at(10));
            let last = sent[sent.len() - 1];
            assert_eq!(pings.due(), last + interval * MS, "{timeout}");
        }
    }

    #[test]
    fn the_ids_of_pings_wrap() {
        let (mut pings, mut now) = (paper(10_000), Instant::ZERO);
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
        let mut pings = paper(10_000);
        let a = pings.send(Instant::ZERO, MS);
        let b = pings.send(Instant::ZERO + 100 * MS, MS);
        assert_eq!(pings.answered(b, Instant::ZERO + 130 * MS), Some(30 * MS));
        assert_eq!(pings.answered(b, Instant::ZERO + 131 * MS), None);
        assert_eq!(pings.answered(a, Instant::ZERO + 132 * MS), None);
    }

    #[test]
    fn a_round_trip_of_many_seconds_can_still_be_measured() {
        let (mut pings, mut now) = (paper(10_000), Instant::ZERO);
        let first = pings.send(now, 200 * MS);
        while now < Instant::ZERO + 8000 * MS {
            now = pings.due();
            pings.send(now, 200 * MS);
        }
        assert!(pings.answered(first, now).is_some());
    }
}
