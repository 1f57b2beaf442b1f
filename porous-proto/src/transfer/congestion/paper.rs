//! The paper's controller: slow start and congestion avoidance, counted in bytes (§3.1.4), and the
//! reset of a window whose frames keep being dropped (§3.1.5).

use core::time::Duration;

use crate::time::Instant;

/// W_c at the start, in frames (`docs/deviations.md` T15; RFC 6928).
const INITIAL_FRAMES: u32 = 10;

/// ρ of (13).
const RESET_FACTOR: u32 = 8;

/// The congestion window of one peer.
#[derive(Debug)]
pub(crate) struct Paper {
    mtu: u32,
    /// W_c in bytes.
    window: u32,
    /// W_s in bytes.
    threshold: u32,
    /// Bytes acknowledged since the window last grew or shrank in congestion avoidance.
    acknowledged: u32,
    /// No second backoff before this time.
    backed_off_until: Instant,
    /// The first drop since an acknowledgement last came.
    first_drop: Option<Instant>,
    /// W_c and W_s before the last episode of losses.
    before: Option<(u32, u32)>,
}

const fn at_least(bytes: u32, least: u32) -> u32 {
    if bytes > least { bytes } else { least }
}

impl Paper {
    pub(crate) const fn new(mtu: u32) -> Self {
        Self {
            mtu,
            window: INITIAL_FRAMES * mtu,
            threshold: u32::MAX,
            acknowledged: 0,
            backed_off_until: Instant::ZERO,
            first_drop: None,
            before: None,
        }
    }

    #[cfg(test)]
    pub(crate) const fn with_window(mut self, window: u32) -> Self {
        self.window = window;
        self
    }

    /// W_c.
    pub(crate) const fn window(&self) -> u32 {
        self.window
    }

    const fn in_slow_start(&self) -> bool {
        self.window <= self.threshold // (8)
    }

    /// A frame of `bytes` was acknowledged.
    pub(crate) fn on_acknowledged(&mut self, bytes: u32, bandwidth: u32, rtt: Duration) {
        self.first_drop = None;
        if !self.in_slow_start() {
            // Once for each window of data acknowledged without a drop.
            self.acknowledged = self.acknowledged.saturating_add(bytes);
            if self.acknowledged < self.window {
                return;
            }
            self.acknowledged = 0;
        }
        let max = self.max_window(bandwidth, rtt);
        self.window = self.window.saturating_add(self.mtu).min(max); // (9)
    }

    /// W_r,max (10), but never less than two frames (`docs/deviations.md` T14).
    fn max_window(&self, bandwidth: u32, rtt: Duration) -> u32 {
        if bandwidth == u32::MAX {
            return u32::MAX / 2; // no limit, however short the round trip is
        }
        let bytes = u128::from(bandwidth) * rtt.as_micros() / 1_000_000; // (10)
        // Half of the range is left, so that sums of windows and frames cannot overflow.
        u32::try_from(bytes)
            .unwrap_or(u32::MAX)
            .clamp(2 * self.mtu, u32::MAX / 2)
    }

    /// A frame is considered dropped.
    pub(crate) fn on_dropped(&mut self, now: Instant, rtt: Duration, resend_timeout: Duration) {
        self.acknowledged = 0;
        let reset_timeout = RESET_FACTOR * resend_timeout; // (13)
        let first = *self.first_drop.get_or_insert(now);
        if now.saturating_duration_since(first) > reset_timeout {
            self.reset();
            self.first_drop = Some(now);
        } else if now >= self.backed_off_until {
            self.back_off();
            self.backed_off_until = now + rtt;
        }
    }

    const fn back_off(&mut self) {
        self.window = at_least(self.window / 2, self.mtu); // (11)
        self.threshold = at_least(self.window, 2 * self.mtu); // (12)
    }

    /// Frames begin to be lost, for reasons that take a round trip to end.
    pub(crate) const fn on_episode(&mut self) {
        self.before = Some((self.window, self.threshold));
        self.acknowledged = 0;
        self.back_off();
    }

    /// None of them was lost.
    pub(crate) fn undo(&mut self) {
        if let Some((window, threshold)) = self.before.take() {
            self.window = self.window.max(window);
            self.threshold = self.threshold.max(threshold);
        }
    }

    /// Nothing has arrived for long.
    pub(crate) fn reset(&mut self) {
        self.threshold = (self.window / 2).max(2 * self.mtu); // (14)
        self.window = self.mtu; // (15)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);
    const RTT: Duration = Duration::from_millis(100);
    const RTO: Duration = Duration::from_millis(120);
    const T0: Instant = Instant::ZERO;

    fn dropped_once() -> Paper {
        let mut paper = Paper::new(1000);
        paper.on_dropped(T0, RTT, RTO);
        paper
    }

    #[test]
    fn equation_08_a_window_at_the_threshold_is_still_in_slow_start() {
        let mut paper = dropped_once();
        assert_eq!((paper.window, paper.threshold), (5000, 5000));
        paper.on_acknowledged(1000, u32::MAX, RTT);
        assert_eq!(paper.window(), 6000);
        paper.on_acknowledged(1000, u32::MAX, RTT);
        assert_eq!(paper.window(), 6000);
    }

    #[test]
    fn equation_09_slow_start_adds_a_frame_for_each_acknowledged() {
        let mut paper = Paper::new(1000);
        paper.on_acknowledged(10, u32::MAX, RTT);
        assert_eq!(paper.window(), 11_000);
    }

    /// Congestion avoidance (§3.1.4).
    #[test]
    fn equation_09_avoidance_adds_a_frame_for_each_window_without_drops() {
        let mut paper = dropped_once();
        paper.on_acknowledged(1000, u32::MAX, RTT); // leaves slow start at 6000
        for _ in 0..5 {
            paper.on_acknowledged(1000, u32::MAX, RTT);
        }
        assert_eq!(paper.window(), 6000);
        paper.on_acknowledged(1000, u32::MAX, RTT);
        assert_eq!(paper.window(), 7000);
        for _ in 0..6 {
            paper.on_acknowledged(1000, u32::MAX, RTT);
        }
        paper.on_dropped(T0 + 50 * MS, RTT, RTO); // no backoff yet, but the count starts again
        paper.on_acknowledged(1000, u32::MAX, RTT);
        assert_eq!(paper.window(), 7000);
    }

    #[test]
    fn equation_10_bandwidth_bounds_the_window_and_two_frames_always_fit() {
        let mut paper = Paper::new(1000);
        paper.on_acknowledged(1000, 50_000, RTT);
        assert_eq!(paper.window(), 5000);
        paper.on_acknowledged(1000, 1, RTT);
        assert_eq!(paper.window(), 2000);
    }

    /// Two hosts in one process may have a round-trip time of nothing.
    #[test]
    fn equation_10_without_a_limit_of_bandwidth_there_is_none_of_the_window() {
        let mut paper = Paper::new(1000);
        for _ in 0..90 {
            paper.on_acknowledged(1000, u32::MAX, Duration::ZERO);
        }
        assert_eq!(paper.window(), 100_000);
    }

    #[test]
    fn equation_11_a_drop_halves_the_window_once_a_round_trip() {
        let mut paper = dropped_once();
        paper.on_dropped(T0 + 99 * MS, RTT, RTO);
        assert_eq!(paper.window(), 5000);
        paper.on_dropped(T0 + 100 * MS, RTT, RTO);
        assert_eq!(paper.window(), 2500);
        for n in 2..9 {
            paper.on_dropped(T0 + n * RTT, RTT, RTO);
        }
        assert_eq!(paper.window(), 1000);
    }

    #[test]
    fn equation_12_the_threshold_is_two_frames_at_least() {
        let mut paper = dropped_once();
        for n in 1..6 {
            paper.on_dropped(T0 + n * RTT, RTT, RTO);
        }
        assert_eq!((paper.window, paper.threshold), (1000, 2000));
    }

    #[test]
    fn equation_13_reset_comes_after_eight_timeouts_without_an_acknowledgement() {
        let mut paper = dropped_once();
        paper.on_dropped(T0 + 8 * RTO, RTT, RTO);
        assert_ne!(paper.window(), 1000);
        paper.on_dropped(T0 + 8 * RTO + MS, RTT, RTO);
        assert_eq!(paper.window(), 1000);

        let mut paper = dropped_once();
        paper.on_acknowledged(1000, u32::MAX, RTT);
        paper.on_dropped(T0 + 8 * RTO + MS, RTT, RTO);
        assert_eq!(paper.window(), 3000);
    }

    #[test]
    fn equation_14_reset_halves_the_threshold() {
        let mut paper = dropped_once();
        paper.on_dropped(T0 + 8 * RTO + MS, RTT, RTO);
        assert_eq!(paper.threshold, 2500);
        paper.on_dropped(T0 + 17 * RTO, RTT, RTO);
        assert_eq!(paper.threshold, 2000);
    }

    #[test]
    fn equation_15_reset_leaves_one_frame() {
        let mut paper = dropped_once();
        paper.on_dropped(T0 + 8 * RTO + MS, RTT, RTO);
        assert_eq!(paper.window(), 1000);
    }
}
