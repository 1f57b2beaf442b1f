//! The controller of RFC 9002 §7, which TCP has as NewReno: the window doubles in each round trip until a
//! frame is lost; then half of it is left, and it grows by a frame in each round trip (`docs/deviations.md`
//! D6). Sections are the RFC's.

use super::controller::{Ack, Controller, Signal, Trouble};
use super::{MAX_WINDOW, initial_window, min_window};
use super::{ONE, fraction};
use crate::time::Instant;

/// The congestion window of one peer.
#[derive(Debug)]
pub(super) struct Reno {
    mtu: u32,
    /// cwnd, in [`ONE`]s.
    window: u64,
    /// ssthresh, in bytes. Slow start is below it.
    threshold: u32,
    /// When the last episode of losses began. Frames that were sent until then do not make the window grow.
    recovery: Option<Instant>,
    /// Window and threshold before the last episode of losses.
    before: Option<(u64, u32)>,
}

impl Reno {
    pub(super) fn new(mtu: u32) -> Self {
        let window = initial_window(mtu).clamp(1, MAX_WINDOW); // §7.2
        Self {
            mtu,
            window: u64::from(window) * ONE,
            threshold: u32::MAX,
            recovery: None,
            before: None,
        }
    }

    fn in_recovery(&self, sent: Instant) -> bool {
        self.recovery.is_some_and(|start| sent <= start)
    }

    fn set_window(&mut self, bytes: u32) {
        self.window = u64::from(bytes) * ONE;
    }

    fn grow(&mut self, amount: u64) {
        self.window = (self.window + amount).min(u64::from(MAX_WINDOW) * ONE);
    }

    /// Slow start (§7.3.1). Returns the acknowledged bytes that are left for congestion avoidance.
    fn slow_start(&mut self, bytes: u32) -> u32 {
        // Up to the threshold and no further: an acknowledgement that reaches it must not double what
        // congestion avoidance is to find slowly (`docs/deviations.md` T17).
        let grown = bytes.min(self.threshold.saturating_sub(self.window()));
        self.grow(u64::from(grown) * ONE);
        bytes - grown
    }

    /// Congestion avoidance (§7.3.3): a frame more for each window that is acknowledged.
    fn avoid(&mut self, bytes: u32) {
        // For less than a window the same part of a frame (appendix B.5), and never more than a frame, as an
        // acknowledgement of more than a window tells of old ones (T16).
        self.grow(fraction(u64::from(self.mtu) * ONE, bytes, self.window));
    }

    /// An episode begins (§7.3.2).
    fn back_off(&mut self, now: Instant) {
        self.threshold = (self.window() / 2).max(min_window(self.mtu));
        self.set_window(self.threshold);
        self.recovery = Some(now);
    }
}

impl Controller for Reno {
    fn on_ack(&mut self, ack: &Ack) {
        // A window that is not used does not grow: nothing shows that more would fit (§7.8;
        // `docs/deviations.md` T16).
        if !ack.is_limited || self.in_recovery(ack.sent) {
            return;
        }
        let rest = self.slow_start(ack.bytes);
        self.avoid(rest);
    }

    fn on_trouble(&mut self, trouble: &Trouble) {
        let before = (self.window, self.threshold);
        match trouble.signal {
            Signal::Loss => {
                self.before = Some(before);
                self.back_off(trouble.now);
            }
            // A mark is never taken back: no frame can prove it wrong.
            Signal::Mark => {
                self.before = None;
                self.back_off(trouble.now);
            }
            Signal::FurtherLoss => {}
            Signal::Persistent => {
                let least = min_window(self.mtu);
                // The threshold is cut once in an episode, however many signals tell of one outage (D6). The
                // least window is no measure of the path that is worth halving.
                if !self.in_recovery(trouble.sent) && self.window() > least {
                    self.before = Some(before);
                    self.back_off(trouble.now);
                }
                // Slow start again (§7.6.2), also with what is in flight (appendix B.8).
                self.set_window(least);
                self.recovery = None;
            }
        }
    }

    fn on_spurious(&mut self) {
        if let Some((window, threshold)) = self.before.take() {
            // The larger of both, as the window may have grown beyond since then.
            self.window = self.window.max(window);
            self.threshold = self.threshold.max(threshold);
            self.recovery = None;
        }
    }

    fn on_mtu(&mut self, mtu: u32) {
        self.mtu = mtu;
        self.set_window(self.window().max(min_window(mtu)));
    }

    fn window(&self) -> u32 {
        u32::try_from(self.window / ONE).unwrap_or(MAX_WINDOW)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::script::{Script, ms};

    fn reno() -> Script<Reno> {
        Script::new(Reno::new(1000))
    }

    /// In congestion avoidance with a window of 5000 bytes, out of recovery.
    fn avoiding() -> Script<Reno> {
        let mut reno = reno();
        reno.trouble(Signal::Loss);
        assert_eq!((reno.window(), reno.threshold), (5000, 5000));
        reno.at(ms(1));
        reno
    }

    #[test]
    fn section_7_2_the_window_begins_with_ten_frames() {
        assert_eq!(reno().window(), 10_000);
        assert_eq!(Reno::new(1452).window(), 14_520);
        assert_eq!(Reno::new(9000).window(), 18_000);
    }

    #[test]
    fn section_7_2_two_frames_always_fit() {
        let mut reno = reno();
        for time in 1..9 {
            reno.at(ms(time));
            reno.trouble(Signal::Loss);
        }
        assert_eq!((reno.window(), reno.threshold), (2000, 2000));
        reno.on_mtu(1500);
        assert_eq!(reno.window(), 3000);
        reno.on_mtu(1000);
        assert_eq!(reno.window(), 3000);
    }

    /// T16.
    #[test]
    fn section_7_3_1_slow_start_adds_what_is_acknowledged() {
        let mut reno = reno();
        reno.acknowledge(300);
        reno.acknowledge(4700);
        assert_eq!(reno.window(), 15_000);
    }

    /// T17.
    #[test]
    fn section_7_3_1_slow_start_ends_at_the_threshold() {
        let mut reno = avoiding();
        reno.trouble(Signal::Persistent);
        assert_eq!((reno.window(), reno.threshold), (2000, 2500));
        reno.acknowledge(3000); // 500 of them up to the threshold, and a window
        assert_eq!(reno.window(), 3500);
    }

    #[test]
    fn section_7_3_2_a_loss_halves_the_window_once_an_episode() {
        let mut reno = avoiding();
        reno.trouble(Signal::FurtherLoss);
        assert_eq!(reno.window(), 5000);
        reno.trouble(Signal::Loss);
        assert_eq!(reno.window(), 2500);
    }

    #[test]
    fn section_7_1_a_mark_is_like_a_loss() {
        let mut reno = reno();
        reno.trouble(Signal::Mark);
        assert_eq!((reno.window(), reno.threshold), (5000, 5000));
    }

    #[test]
    fn section_7_3_2_what_was_sent_before_the_loss_makes_nothing_grow() {
        let mut reno = avoiding();
        reno.acknowledge_sent(ms(0), 5000);
        assert_eq!(reno.window(), 5000);
        reno.acknowledge_sent(ms(1), 5000);
        assert_eq!(reno.window(), 6000);
    }

    /// T16.
    #[test]
    fn section_7_3_3_avoidance_adds_a_frame_for_each_window() {
        let mut reno = avoiding();
        for window in [5000, 6000, 7000] {
            assert_eq!(reno.window(), window);
            reno.acknowledge(window);
        }
        // In parts it is a little less, as the window has grown when the later parts come.
        let mut reno = avoiding();
        for _ in 0..5 {
            reno.acknowledge(1000);
        }
        assert_eq!(reno.window(), 5930);
    }

    /// Growth by less than a byte is not forgotten.
    #[test]
    fn section_7_3_3_small_frames_count_in_a_large_window() {
        let mut reno = reno();
        reno.acknowledge(9_990_000);
        reno.trouble(Signal::Loss);
        reno.at(ms(1));
        assert_eq!(reno.window(), 5_000_000);
        for _ in 0..50_000 {
            reno.acknowledge(100); // a 50th of a byte
        }
        assert!(reno.window().abs_diff(5_001_000) <= 1);
    }

    /// T16.
    #[test]
    fn section_7_3_3_no_acknowledgement_adds_more_than_a_frame() {
        let mut reno = avoiding();
        reno.acknowledge(u32::MAX);
        assert_eq!(reno.window(), 6000);
    }

    /// D6.
    #[test]
    fn section_7_6_2_persistent_congestion_leaves_two_frames() {
        let mut reno = reno();
        reno.trouble(Signal::Loss);
        reno.trouble(Signal::Persistent);
        assert_eq!((reno.window(), reno.threshold), (2000, 5000));
        // An outage with many losses is told by many signals.
        reno.trouble(Signal::Persistent);
        assert_eq!((reno.window(), reno.threshold), (2000, 5000));
        // Frames that were in flight count for slow start as well (appendix B.8).
        reno.acknowledge_sent(ms(0), 500);
        assert_eq!(reno.window(), 2500);
    }

    #[test]
    fn section_7_6_2_persistent_congestion_without_an_episode_halves_the_threshold() {
        let mut reno = reno();
        reno.trouble(Signal::Persistent);
        assert_eq!((reno.window(), reno.threshold), (2000, 5000));
    }

    /// T16.
    #[test]
    fn section_7_8_a_window_that_is_not_used_does_not_grow() {
        let mut reno = reno();
        reno.acknowledge_idly(5000);
        assert_eq!(reno.window(), 10_000);
        let mut reno = avoiding();
        reno.acknowledge_idly(5000);
        assert_eq!(reno.window(), 5000);
    }

    /// D6.
    #[test]
    fn a_spurious_episode_is_taken_back() {
        for signals in [&[Signal::Loss][..], &[Signal::Loss, Signal::Persistent]] {
            let mut reno = reno();
            for signal in signals {
                reno.trouble(*signal);
            }
            reno.on_spurious();
            assert_eq!((reno.window(), reno.threshold), (10_000, u32::MAX));
            reno.acknowledge_sent(ms(0), 1000); // recovery is over
            assert_eq!(reno.window(), 11_000);
            reno.on_spurious();
            assert_eq!(reno.window(), 11_000);
        }
    }

    /// D6.
    #[test]
    fn a_mark_is_not_taken_back() {
        let mut reno = avoiding();
        reno.trouble(Signal::Mark);
        reno.on_spurious();
        assert_eq!(reno.window(), 2500);
    }
}
