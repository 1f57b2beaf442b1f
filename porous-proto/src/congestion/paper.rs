//! The paper's controller: slow start and congestion avoidance, counted in bytes (§3.1.4), and the reset of a
//! window whose frames keep being dropped (§3.1.5).

use core::time::Duration;

use super::controller::{Ack, Controller, Signal, Trouble};
use super::initial_window;
use crate::time::micros;

/// The congestion window of one peer.
#[derive(Debug)]
pub(super) struct Paper {
    mtu: u32,
    /// W_c in bytes.
    window: u32,
    /// W_s in bytes.
    threshold: u32,
    /// Bytes acknowledged since the window last grew or shrank in congestion avoidance.
    acknowledged: u32,
    /// W_c and W_s before the last episode of losses.
    before: Option<(u32, u32)>,
}

impl Paper {
    pub(super) const fn new(mtu: u32) -> Self {
        Self {
            mtu,
            window: initial_window(mtu),
            threshold: u32::MAX,
            acknowledged: 0,
            before: None,
        }
    }

    #[cfg(test)]
    pub(super) const fn with_window(mut self, window: u32) -> Self {
        self.window = window;
        self
    }

    const fn in_slow_start(&self) -> bool {
        self.window <= self.threshold // (8)
    }

    /// W_r,max in bytes (10).
    fn max_window(&self, bandwidth: u32, rtt: Duration) -> u32 {
        if bandwidth == u32::MAX {
            return u32::MAX / 2; // no limit, however short the round trip is
        }
        let bytes = u64::from(bandwidth).saturating_mul(micros(rtt)) / 1_000_000; // (10)
        // Never less than two frames, or a slow line with a short round trip would carry nothing (T14). Half
        // of the range is left, so that sums of windows and frames cannot overflow.
        u32::try_from(bytes)
            .unwrap_or(u32::MAX)
            .clamp(2 * self.mtu, u32::MAX / 2)
    }

    /// A frame of `bytes` was acknowledged. `max`: the largest window.
    fn on_acknowledged(&mut self, bytes: u32, max: u32) {
        if !self.in_slow_start() {
            // A frame more for each window of data that was acknowledged without a drop.
            self.acknowledged = self.acknowledged.saturating_add(bytes);
            if self.acknowledged < self.window {
                return;
            }
            self.acknowledged = 0;
        }
        // A whole MTU, however short the frame was and though the window was not used: so the paper has it
        // (the other controllers do not, T16).
        self.window = self.window.saturating_add(self.mtu).min(max); // (9)
    }

    /// An episode of losses begins.
    fn back_off(&mut self) {
        self.before = Some((self.window, self.threshold));
        self.window = (self.window / 2).max(self.mtu); // (11)
        // The window equals the threshold now, so that by (8) it is in slow start once more (T17 has it
        // otherwise for other controllers).
        self.threshold = self.window.max(2 * self.mtu); // (12)
    }

    /// Nothing has arrived for long.
    fn reset(&mut self) {
        self.threshold = (self.window / 2).max(2 * self.mtu); // (14)
        self.window = self.mtu; // (15)
    }
}

impl Controller for Paper {
    fn on_ack(&mut self, ack: &Ack) {
        let max = self.max_window(ack.bandwidth, ack.smoothed_rtt);
        // The paper counts frames: each of an acknowledgement alone.
        for _ in 0..ack.frames {
            self.on_acknowledged(ack.bytes / ack.frames, max);
        }
    }

    fn on_trouble(&mut self, trouble: &Trouble) {
        // A drop of any kind: the window of data that counts begins anew, as it has to be without a drop.
        self.acknowledged = 0;
        match trouble.signal {
            Signal::Loss | Signal::Mark => self.back_off(),
            Signal::FurtherLoss => {}
            Signal::Persistent => self.reset(),
        }
    }

    fn on_spurious(&mut self) {
        if let Some((window, threshold)) = self.before.take() {
            // The larger of both, as the window may have grown beyond since then.
            self.window = self.window.max(window);
            self.threshold = self.threshold.max(threshold);
        }
    }

    fn on_mtu(&mut self, mtu: u32) {
        self.mtu = mtu;
        // A part of a packet that fills a longer datagram would not fit into the least window of before, and
        // would never leave.
        self.window = self.window.max(mtu);
    }

    fn window(&self) -> u32 {
        self.window
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Instant;

    const RTT: Duration = Duration::from_millis(100);

    fn acknowledge(paper: &mut Paper, frames: u32, bandwidth: u32, rtt: Duration) {
        paper.on_ack(&Ack {
            now: Instant::ZERO,
            bytes: 1000 * frames,
            frames,
            sent: Instant::ZERO,
            rtt: None,
            smoothed_rtt: rtt,
            in_flight: 0,
            is_limited: true,
            bandwidth,
            step: Duration::ZERO,
        });
    }

    fn signal(paper: &mut Paper, signal: Signal) {
        paper.on_trouble(&Trouble {
            now: Instant::ZERO,
            signal,
            bytes: 1000,
            sent: Instant::ZERO,
            in_flight: 0,
        });
    }

    fn dropped_once() -> Paper {
        let mut paper = Paper::new(1000);
        signal(&mut paper, Signal::Loss);
        paper
    }

    #[test]
    fn equation_08_a_window_at_the_threshold_is_still_in_slow_start() {
        let mut paper = dropped_once();
        assert_eq!((paper.window, paper.threshold), (5000, 5000));
        acknowledge(&mut paper, 1, u32::MAX, RTT);
        assert_eq!(paper.window(), 6000);
        acknowledge(&mut paper, 1, u32::MAX, RTT);
        assert_eq!(paper.window(), 6000);
    }

    #[test]
    fn equation_09_slow_start_adds_a_frame_for_each_acknowledged() {
        let mut paper = Paper::new(1000);
        acknowledge(&mut paper, 3, u32::MAX, RTT);
        assert_eq!(paper.window(), 13_000);
    }

    /// Congestion avoidance (§3.1.4).
    #[test]
    fn equation_09_avoidance_adds_a_frame_for_each_window_without_drops() {
        let mut paper = dropped_once();
        acknowledge(&mut paper, 6, u32::MAX, RTT); // leaves slow start at 6000
        assert_eq!(paper.window(), 6000);
        acknowledge(&mut paper, 1, u32::MAX, RTT);
        assert_eq!(paper.window(), 7000);
        acknowledge(&mut paper, 6, u32::MAX, RTT);
        signal(&mut paper, Signal::FurtherLoss); // no backoff, but the count of bytes starts anew
        acknowledge(&mut paper, 1, u32::MAX, RTT);
        assert_eq!(paper.window(), 7000);
    }

    /// T14.
    #[test]
    fn equation_10_bandwidth_bounds_the_window_and_two_frames_always_fit() {
        let mut paper = Paper::new(1000);
        acknowledge(&mut paper, 1, 50_000, RTT);
        assert_eq!(paper.window(), 5000);
        acknowledge(&mut paper, 1, 1, RTT);
        assert_eq!(paper.window(), 2000);
    }

    /// Between two hosts in one process a round trip may take no time. T14.
    #[test]
    fn equation_10_without_a_limit_of_bandwidth_there_is_none_of_the_window() {
        let mut paper = Paper::new(1000);
        acknowledge(&mut paper, 90, u32::MAX, Duration::ZERO);
        assert_eq!(paper.window(), 100_000);
    }

    #[test]
    fn equation_11_an_episode_halves_the_window() {
        let mut paper = dropped_once();
        signal(&mut paper, Signal::FurtherLoss);
        assert_eq!(paper.window(), 5000);
        signal(&mut paper, Signal::Loss);
        assert_eq!(paper.window(), 2500);
        for _ in 2..9 {
            signal(&mut paper, Signal::Loss);
        }
        assert_eq!(paper.window(), 1000);
    }

    #[test]
    fn equation_12_the_threshold_is_two_frames_at_least() {
        let mut paper = dropped_once();
        for _ in 1..6 {
            signal(&mut paper, Signal::Loss);
        }
        assert_eq!((paper.window, paper.threshold), (1000, 2000));
    }

    #[test]
    fn equation_14_reset_halves_the_threshold() {
        let mut paper = dropped_once();
        signal(&mut paper, Signal::Persistent);
        assert_eq!(paper.threshold, 2500);
        signal(&mut paper, Signal::Persistent);
        assert_eq!(paper.threshold, 2000);
    }

    #[test]
    fn equation_15_reset_leaves_one_frame() {
        let mut paper = dropped_once();
        signal(&mut paper, Signal::Persistent);
        assert_eq!(paper.window(), 1000);
    }

    /// D6.
    #[test]
    fn a_spurious_episode_is_taken_back() {
        let mut paper = dropped_once();
        paper.on_spurious();
        assert_eq!((paper.window, paper.threshold), (10_000, u32::MAX));
        paper.on_spurious();
        assert_eq!(paper.window(), 10_000);
    }

    /// D8.
    #[test]
    fn the_least_window_holds_a_datagram_that_became_longer() {
        let mut paper = Paper::new(1000);
        signal(&mut paper, Signal::Persistent);
        assert_eq!(paper.window(), 1000);
        paper.on_mtu(4000);
        assert_eq!(paper.window(), 4000);
        paper.on_mtu(1000);
        assert_eq!(paper.window(), 4000); // only losses make it smaller
    }
}
