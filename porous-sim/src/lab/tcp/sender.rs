//! The sender of TCP: its timer, its segments, and what it tells its congestion control.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;

use porous_proto::Instant;

use super::control::{Ack, Control};
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
        let sacked: u32 = ack.blocks.iter().map(|&block| self.board.sack(block)).sum();
        let moved = ack.before > self.board.first();
        let acked = self.board.acknowledge(ack.before);
        if moved {
            // Only if the acknowledgement moves on: other echoes may be old (RFC 7323 §4.1).
            self.measure(sample as f64 / 1e6);
        }
        self.recovery = self.recovery.filter(|recovery| ack.before < recovery.until);
        let lost = self.board.find_lost();
        self.lost += u64::from(lost);
        if lost > 0 && self.recovery.is_none() {
            self.recover(false);
            self.control.on_recovery();
        }
        self.control.on_ack(&Ack {
            now: now.as_micros() as f64 / 1e6,
            moved,
            newly: acked + sacked,
            rtt: self.rtt.map(|[mean, _]| mean),
            in_fast_recovery: self.recovery.is_some_and(|recovery| !recovery.by_timer),
        });
        if moved {
            self.arm(now);
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
            self.lost += u64::from(self.board.lose_all());
            self.control.on_timeout(first);
            self.rto = (2.0 * self.rto).min(LONGEST_RTO);
        }
        self.arm(now);
    }

    fn arm(&mut self, now: Instant) {
        self.timer = Some(now + Duration::from_secs_f64(self.rto));
    }

    pub(super) fn next(&mut self, now: Instant) -> Option<Vec<u8>> {
        // Whole segments only: the window may be a fraction.
        if !self.begun || f64::from(self.board.in_flight()) + 1.0 > self.control.window() {
            return None;
        }
        if self.board.in_flight() == 0 {
            self.arm(now);
        }
        let number = self.board.resend();
        Some(segment(number.unwrap_or_else(|| self.board.send()), now))
    }

    pub(super) const fn deadline(&self) -> Option<Instant> {
        self.timer
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
