//! CUBIC (RFC 9438): after a loss the window grows along a cubic curve back to its size before, stays there
//! for a while, and then looks for more. How fast does not depend on the round trip. Where Reno would be
//! faster, the window grows as Reno's does.
//!
//! All in whole numbers: windows in fractions of a byte, times in microseconds. What the RFC leaves open
//! stands in `docs/deviations.md` (D6). Sections are the RFC's.

#[cfg(test)]
mod tests;

use core::time::Duration;

use super::controller::{Ack, Controller, Signal, Trouble};
use super::{MAX_WINDOW, ONE, fraction, initial_window, min_window};
use crate::time::Instant;

/// The farthest time from the top of the curve that counts, in microseconds: more than half an hour. No
/// product overflows within it.
const FAR: i128 = 1 << 31;

/// Cubic microseconds in a cubic second.
const CUBIC_SECOND: i128 = 1_000_000_000_000_000_000;

/// `W_cubic(t) = C (t - K)³ + W_max`, with C = 0.4 frames in a cubic second.
#[derive(Clone, Copy, Debug)]
struct Curve {
    /// W_max in bytes.
    maximum: u32,
    /// When the maximum is reached, in microseconds from the beginning: K.
    top: u32,
    mtu: u32,
}

impl Curve {
    /// A curve from a window to a maximum that is no smaller.
    fn new(window: u32, maximum: u32, mtu: u32) -> Self {
        let bytes = u128::from(maximum.saturating_sub(window));
        let frames = bytes * 25 * (CUBIC_SECOND.unsigned_abs() / 10) / u128::from(mtu.max(1));
        Self {
            maximum,
            top: cube_root(frames),
            mtu,
        }
    }

    /// W_cubic this long after the beginning, in [`ONE`]s; 0 where the curve is below.
    fn at(&self, time: Duration) -> u64 {
        let time = i128::try_from(time.as_micros()).unwrap_or(i128::MAX);
        let distance = time.saturating_sub(self.top.into()).clamp(-FAR, FAR);
        let one = i128::from(ONE);
        let frames = distance * distance * distance * one * 4 / (CUBIC_SECOND * 10);
        let window = frames * i128::from(self.mtu) + i128::from(self.maximum) * one;
        u64::try_from(window.max(0)).unwrap_or(u64::MAX)
    }
}

/// The largest whole number whose cube is not above `number`.
fn cube_root(number: u128) -> u32 {
    let mut root = 0_u32;
    // Bit by bit: the same on every machine, and needed once in an episode only.
    for bit in (0..u32::BITS).rev() {
        let larger = root | 1 << bit;
        if u128::from(larger).pow(3) <= number {
            root = larger;
        }
    }
    root
}

/// The congestion window of one peer.
#[derive(Debug)]
pub(super) struct Cubic {
    mtu: u32,
    /// When the last episode of losses began. Frames that were sent until then do not make the window grow.
    recovery: Option<Instant>,
    state: State,
    /// The state before the last episode of losses (§4.9).
    before: Option<State>,
}

/// What an episode of losses changes.
#[derive(Clone, Copy, Debug)]
struct State {
    /// cwnd, in [`ONE`]s.
    window: u64,
    /// ssthresh, in bytes. Slow start is below it.
    threshold: u32,
    /// W_max, in bytes: the window that was too large; 0 if none is known.
    maximum: u32,
    /// cwnd_prior, in bytes: the window before the last loss.
    prior: u32,
    /// The stage of congestion avoidance since the last loss; `None` before its first acknowledgement.
    stage: Option<Stage>,
}

/// A stage of congestion avoidance: from where slow start or recovery ends to the next loss.
#[derive(Clone, Copy, Debug)]
struct Stage {
    /// How long the stage has lasted, without times in which the window was not used: t of §4.2.
    elapsed: Duration,
    /// When `elapsed` was last brought up to date.
    counted: Instant,
    curve: Curve,
    /// The window that Reno would have by now, in [`ONE`]s: W_est.
    reno: u64,
}

impl Cubic {
    pub(super) fn new(mtu: u32) -> Self {
        let window = initial_window(mtu).clamp(1, MAX_WINDOW);
        Self {
            mtu,
            recovery: None,
            state: State {
                window: u64::from(window) * ONE,
                threshold: u32::MAX,
                maximum: 0,
                prior: 0,
                stage: None,
            },
            before: None,
        }
    }

    fn in_recovery(&self, sent: Instant) -> bool {
        self.recovery.is_some_and(|start| sent <= start)
    }

    fn set_window(&mut self, bytes: u32) {
        self.state.window = u64::from(bytes) * ONE;
    }

    /// Slow start (§4.10). Returns the acknowledged bytes that are left for congestion avoidance
    /// (`docs/deviations.md` T17).
    fn slow_start(&mut self, bytes: u32) -> u32 {
        let grown = bytes.min(self.state.threshold.saturating_sub(self.window()));
        let most = u64::from(MAX_WINDOW) * ONE;
        self.state.window = (self.state.window + u64::from(grown) * ONE).min(most);
        bytes - grown
    }

    /// The current stage of congestion avoidance, which may begin now.
    fn stage(&mut self, now: Instant) -> Stage {
        if let Some(stage) = self.state.stage {
            return stage;
        }
        // After a loss the curve leads back to W_max. Where no maximum is known it begins flat, at the window
        // (§4.8, §4.10).
        self.state.maximum = self.state.maximum.max(self.window());
        Stage {
            elapsed: Duration::ZERO,
            counted: now,
            curve: Curve::new(self.window(), self.state.maximum, self.mtu),
            reno: self.state.window,
        }
    }

    /// Congestion avoidance (§4.2 to §4.5).
    fn avoid(&mut self, bytes: u32, now: Instant, rtt: Duration) {
        let mut stage = self.stage(now);
        // Counted from the first acknowledgement after recovery and not from the loss: the curve would be far
        // ahead of the window (§4.2).
        stage.elapsed += now.saturating_duration_since(stage.counted);
        stage.counted = stage.counted.max(now);
        let window = self.state.window;
        stage.reno = self.grown_like_reno(stage.reno, bytes);
        self.state.window = if stage.curve.at(stage.elapsed) < stage.reno {
            window.max(stage.reno) // §4.3
        } else {
            // The window reaches in a round trip what the curve is then (§4.4, §4.5), but grows by no more
            // than half (§4.2).
            let target = stage.curve.at(stage.elapsed.saturating_add(rtt));
            let target = target.clamp(window, window + window / 2);
            window + fraction(target - window, bytes, window)
        }
        .min(u64::from(MAX_WINDOW) * ONE);
        self.state.stage = Some(stage);
    }

    /// The time up to `now` does not count for the curve.
    fn pause(&mut self, now: Instant) {
        if let Some(stage) = &mut self.state.stage {
            stage.counted = stage.counted.max(now);
        }
    }

    /// W_est after an acknowledgement of `bytes` (§4.3).
    fn grown_like_reno(&self, reno: u64, bytes: u32) -> u64 {
        let frame = u64::from(self.mtu) * ONE;
        // As much as a Reno whose window shrinks to seven tenths; beyond the window of the last loss as much
        // as Reno itself.
        let step = if reno < u64::from(self.state.prior) * ONE {
            frame / 17 * 9 // 3 (1 - 0.7) / (1 + 0.7)
        } else {
            frame
        };
        let grown = reno + fraction(step, bytes, self.state.window);
        grown.min(u64::from(MAX_WINDOW) * ONE)
    }

    /// An episode begins (§4.6).
    fn back_off(&mut self, now: Instant) {
        let window = self.window();
        // A window that is cut before it was back at its maximum shares the path with new flows: a lower
        // maximum gives them room sooner (fast convergence, §4.7).
        self.state.maximum = if window < self.state.maximum {
            share(window, 85) // (1 + 0.7) / 2
        } else {
            window
        };
        self.state.prior = window;
        self.state.threshold = share(window, 70).max(min_window(self.mtu));
        self.set_window(self.state.threshold);
        self.state.stage = None;
        self.recovery = Some(now);
    }
}

/// `hundredths` of a window, without overflow.
fn share(window: u32, hundredths: u32) -> u32 {
    window / 100 * hundredths + window % 100 * hundredths / 100
}

impl Controller for Cubic {
    fn on_ack(&mut self, ack: &Ack) {
        // A window that is not used does not grow, and the curve waits: after a quiet time it would be far
        // above the window (§5.8).
        if !ack.is_limited {
            self.pause(ack.now);
            return;
        }
        if self.in_recovery(ack.sent) {
            return;
        }
        let rest = self.slow_start(ack.bytes);
        if self.window() >= self.state.threshold {
            self.avoid(rest, ack.now, ack.smoothed_rtt);
        }
    }

    fn on_trouble(&mut self, trouble: &Trouble) {
        let before = self.state;
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
                // least window is no measure of the path that is worth a curve.
                if !self.in_recovery(trouble.sent) && self.window() > least {
                    self.before = Some(before);
                    self.back_off(trouble.now);
                }
                // Slow start again (RFC 9002 §7.6.2), and then a curve that begins flat (§4.8).
                self.set_window(least);
                self.state.maximum = 0;
                self.state.stage = None;
                self.recovery = None;
            }
        }
    }

    fn on_spurious(&mut self) {
        if let Some(before) = self.before.take() {
            // The window may have grown beyond since then: what is larger stays.
            if before.window > self.state.window {
                self.state = before;
            }
            self.recovery = None;
        }
    }

    fn on_sent(&mut self, now: Instant, bytes: u32, in_flight: u32) {
        if in_flight <= bytes {
            self.pause(now); // nothing was in flight before this frame: the window was not used (§5.8)
        }
    }

    fn on_mtu(&mut self, mtu: u32) {
        self.mtu = mtu;
        self.set_window(self.window().max(min_window(mtu)));
    }

    fn window(&self) -> u32 {
        u32::try_from(self.state.window / ONE).unwrap_or(MAX_WINDOW)
    }
}
