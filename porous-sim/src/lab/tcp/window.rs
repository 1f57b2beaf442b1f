//! Congestion control by a window alone: slow start, and the growth of an algorithm after it.

use super::INITIAL_WINDOW;
use super::control::{Ack, Control};

/// The growth of a window in congestion avoidance. Windows are in segments, times in seconds.
pub(super) trait Growth: core::fmt::Debug {
    /// Returns the window after `acked` segments were acknowledged.
    fn on_ack(&mut self, now: f64, window: f64, acked: u32, rtt: f64) -> f64;

    /// Returns the slow-start threshold after a segment was lost.
    fn on_loss(&mut self, window: f64) -> f64;
}

/// A window that grows, and its slow-start threshold.
#[derive(Debug)]
pub(super) struct Windowed<G> {
    growth: G,
    window: f64,
    threshold: f64,
}

impl<G: Growth> Windowed<G> {
    pub(super) const fn new(growth: G) -> Self {
        Self {
            growth,
            window: INITIAL_WINDOW,
            threshold: f64::INFINITY,
        }
    }

    /// Cuts the threshold once for an episode, however many segments are lost in it.
    fn cut(&mut self) {
        self.threshold = self.growth.on_loss(self.window).max(2.0);
    }
}

impl<G: Growth> Control for Windowed<G> {
    fn window(&self) -> f64 {
        self.window
    }

    /// RFC 5681 §3.1, by the segments acknowledged, but at most two (RFC 3465).
    fn on_ack(&mut self, ack: &Ack) {
        // After a timeout the window grows again by slow start. In fast recovery it stands still.
        if ack.in_fast_recovery || !ack.moved {
            return;
        }
        if self.window < self.threshold {
            self.window += f64::from(ack.newly.min(2));
            return;
        }
        let rtt = ack.rtt.unwrap_or(0.1);
        self.window = self.growth.on_ack(ack.at.now, self.window, ack.newly, rtt);
    }

    fn on_recovery(&mut self) {
        self.cut();
        self.window = self.threshold;
    }

    /// RFC 5681 §3.1: a second timeout cuts no further.
    fn on_timeout(&mut self, first: bool) {
        if first {
            self.cut();
        }
        self.window = 1.0;
    }
}
