//! The sender of TCP: its timer, its segments, and what it tells its congestion control.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;

use porous_proto::Instant;

use super::control::{Ack, Control, Moment};
use super::delivery::{Delivery, Sent};
use super::scoreboard::Scoreboard;
use super::{Acknowledgement, SEGMENT, Seen, segment};

/// The shortest and the longest timeout (RTO), in seconds.
const LEAST_RTO: f64 = 0.2;
const LONGEST_RTO: f64 = 60.0;

/// An episode in which lost segments are repaired.
#[derive(Clone, Copy, Debug)]
struct Recovery {
    /// The episode ends when all segments before this one have arrived.
    until: u32,
    /// True after a timeout, which begins with slow start again.
    by_timer: bool,
}

#[derive(Debug)]
pub(super) struct Sender {
    begun: bool,
    control: Box<dyn Control>,
    board: Scoreboard,
    delivery: Delivery,
    /// When the next segment may be sent, if the control spaces them, in seconds.
    release: f64,
    /// The next new segment when the flight last filled the window.
    full_at: u32,
    recovery: Option<Recovery>,
    /// The smoothed round trip and its variation, in seconds; `None` before the first sample (RFC 6298).
    rtt: Option<[f64; 2]>,
    rto: f64,
    timer: Option<Instant>,
    lost: u64,
}

impl Sender {
    pub(super) fn new(control: Box<dyn Control>) -> Self {
        Self {
            begun: false,
            control,
            board: Scoreboard::default(),
            delivery: Delivery::new(),
            release: 0.0,
            full_at: 0,
            recovery: None,
            rtt: None,
            rto: 1.0,
            timer: None,
            lost: 0,
        }
    }

    pub(super) const fn begin(&mut self, now: Instant) {
        self.begun = true;
        // Due at once, so that the flow is served and sends its first window.
        self.timer = Some(now);
    }

    pub(super) fn take(&mut self, now: Instant, packet: &[u8]) {
        let ack = Acknowledgement::decode(packet);
        let sample = now.as_micros().saturating_sub(ack.echo);
        let flight = self.board.in_flight();
        let mut newly = 0;
        for &block in &ack.blocks {
            newly += self.board.sack(block, &mut self.delivery);
        }
        let moved = ack.before > self.board.first();
        newly += self.board.acknowledge(ack.before, &mut self.delivery);
        if moved {
            // Only if the acknowledgement moves on: other echoes may be old (RFC 7323 §4.1).
            self.measure(sample as f64 / 1e6);
        }
        if self
            .recovery
            .is_some_and(|recovery| ack.before >= recovery.until)
        {
            self.recovery = None;
            self.control.on_recovered();
        }
        let lost = self.board.find_lost();
        self.lose(now, &lost);
        if !lost.is_empty() && self.recovery.is_none() {
            self.recover(false);
            self.control.on_recovery();
        }
        self.control.on_ack(&Ack {
            at: self.moment(now),
            moved,
            newly,
            rtt: self.rtt.map(|[mean, _]| mean),
            in_fast_recovery: self.recovery.is_some_and(|recovery| !recovery.by_timer),
            flight,
            is_window_full: self.board.first() <= self.full_at,
            sample: self.delivery.sample(now),
        });
        if self.control.is_holding_back() {
            self.delivery.hold_back(self.board.in_flight());
        }
        if moved {
            self.arm(now);
        }
    }

    fn moment(&self, now: Instant) -> Moment {
        Moment {
            now: seconds(now),
            delivered: self.delivery.delivered(),
            lost: self.lost,
            in_flight: self.board.in_flight(),
        }
    }

    fn lose(&mut self, now: Instant, lost: &[Sent]) {
        for sent in lost {
            self.lost += 1;
            self.control.on_lost(&self.moment(now), sent);
        }
    }

    /// RFC 6298 §2.
    fn measure(&mut self, sample: f64) {
        let [mean, variance] = match self.rtt {
            None => [sample, sample / 2.0],
            Some([mean, variance]) => [
                mean * 0.875 + sample * 0.125,
                variance * 0.75 + (mean - sample).abs() * 0.25,
            ],
        };
        self.rtt = Some([mean, variance]);
        self.rto = (mean + 4.0 * variance).clamp(LEAST_RTO, LONGEST_RTO);
    }

    fn recover(&mut self, by_timer: bool) {
        let until = self.board.next();
        self.recovery = Some(Recovery { until, by_timer });
    }

    pub(super) fn serve(&mut self, now: Instant) {
        let is_due = self.timer.is_some_and(|timer| timer <= now);
        if !is_due {
            return;
        }
        if self.board.in_flight() > 0 || self.board.has_lost() {
            let first = self.recovery.is_none_or(|recovery| !recovery.by_timer);
            if first {
                self.recover(true);
            }
            let lost = self.board.lose_all();
            self.lose(now, &lost);
            self.control.on_timeout(first);
            self.rto = (2.0 * self.rto).min(LONGEST_RTO);
        }
        self.arm(now);
    }

    fn arm(&mut self, now: Instant) {
        self.timer = Some(now + Duration::from_secs_f64(self.rto));
    }

    pub(super) fn next(&mut self, now: Instant) -> Option<Vec<u8>> {
        if !self.has_room() {
            self.full_at = self.board.next();
            return None;
        }
        if self.released_at() > now {
            return None;
        }
        if self.board.in_flight() == 0 {
            self.arm(now);
        }
        let resent = self.board.resend();
        let number = resent.unwrap_or_else(|| self.board.send());
        let sent = self.delivery.send(Sent {
            number,
            at: now,
            again: resent.is_some(),
            lost: self.lost,
            in_flight: self.board.in_flight(),
            ..Sent::default()
        });
        self.board.stamp(sent);
        self.release = self.release.max(seconds(now)) + 1.0 / self.control.pace();
        Some(segment(number, now))
    }

    /// True if the window takes another segment: a whole one, as the window may be a fraction.
    fn has_room(&self) -> bool {
        self.begun && f64::from(self.board.in_flight()) + 1.0 <= self.control.window()
    }

    /// In whole microseconds, less what is beyond them. The next segment is released later by the rest.
    fn released_at(&self) -> Instant {
        Instant::ZERO + Duration::from_secs_f64(self.release)
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        let released = self.has_room().then(|| self.released_at());
        self.timer.into_iter().chain(released).min()
    }

    pub(super) fn seen(&self) -> Seen {
        Seen {
            window: self.control.window() * SEGMENT as f64,
            rtt: Duration::from_secs_f64(self.rtt.map_or(0.0, |[mean, _]| mean)),
            lost: self.lost,
            ..Seen::default()
        }
    }
}

fn seconds(time: Instant) -> f64 {
    time.as_micros() as f64 / 1e6
}
