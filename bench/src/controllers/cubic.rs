//! RFC 9438 in floating point, by its equations: windows in segments, times in seconds.

use porous_proto::Instant;
use porous_proto::congestion::initial_window;

use super::Subject;
use super::trace::{Event, Frame, Trouble};

/// The differences of quinn-proto's Cubic from RFC 9438. A rule is true if the model follows quinn-proto
/// there. quinn-proto implements RFC 8312, which RFC 9438 has replaced, and in some places neither.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// K follows from W_max alone, as in RFC 8312 (2), and not from the distance of the window from W_max:
    /// after fast convergence the curve begins below the window.
    old_k: bool,
    /// W_est follows from time and W_max, as in RFC 8312 (4), and not from the acknowledged frames. It
    /// never grows by a whole frame in a round trip, and it is compared with the curve a round trip later,
    /// not now.
    timed_reno: bool,
    /// Each acknowledged frame counts alone, and as a full one whatever its size. The window grows by whole
    /// frames, one at a time, and growth beyond a frame is forgotten. Slow start exceeds the threshold by
    /// the rest of a frame. The target has no upper bound.
    whole_frames: bool,
    /// Time counts from the loss, not from the end of recovery.
    from_the_loss: bool,
    /// Time in which the window was not used counts, too (§5.8 forbids it).
    counts_idle_time: bool,
    /// Persistent congestion reduces the threshold twice, and leaves the first of the reduced windows
    /// as W_max: a loss in the slow start that follows is taken for a smaller maximum (§4.7).
    cuts_twice: bool,
    /// If congestion avoidance begins without a loss, frames sent before count as if there had been one:
    /// they do not make the window grow, and their loss begins no episode.
    recovers_from_nothing: bool,
    /// After persistent congestion the loss of any frame begins an episode, also of one sent before. So says
    /// the pseudocode of RFC 9002 appendix B.8; the text of the RFC has no such rule, and our episodes go on.
    forgets_episode: bool,
}

pub(super) const RFC: Rules = Rules {
    old_k: false,
    timed_reno: false,
    whole_frames: false,
    from_the_loss: false,
    counts_idle_time: false,
    cuts_twice: false,
    recovers_from_nothing: false,
    forgets_episode: false,
};

pub(super) const QUINN: Rules = Rules {
    old_k: true,
    timed_reno: true,
    whole_frames: true,
    from_the_loss: true,
    counts_idle_time: true,
    cuts_twice: true,
    recovers_from_nothing: true,
    forgets_episode: true,
};

/// Each of quinn-proto's rules alone, with its name.
pub(super) const EACH: [(&str, Rules); 8] = [
    ("old_k", Rules { old_k: true, ..RFC }),
    (
        "timed_reno",
        Rules {
            timed_reno: true,
            ..RFC
        },
    ),
    (
        "whole_frames",
        Rules {
            whole_frames: true,
            ..RFC
        },
    ),
    (
        "from_the_loss",
        Rules {
            from_the_loss: true,
            ..RFC
        },
    ),
    (
        "counts_idle_time",
        Rules {
            counts_idle_time: true,
            ..RFC
        },
    ),
    (
        "cuts_twice",
        Rules {
            cuts_twice: true,
            ..RFC
        },
    ),
    (
        "recovers_from_nothing",
        Rules {
            recovers_from_nothing: true,
            ..RFC
        },
    ),
    (
        "forgets_episode",
        Rules {
            forgets_episode: true,
            ..RFC
        },
    ),
];

const C: f64 = 0.4;
const BETA: f64 = 0.7;

pub(super) struct Model {
    rules: Rules,
    /// Round-trip times in seconds.
    rtts: Vec<f64>,
    mtu: f64,
    /// The congestion window in frames, like all windows here.
    window: f64,
    threshold: f64,
    w_max: f64,
    cwnd_prior: f64,
    /// Frames sent until then do not make the window grow.
    recovery: Option<Instant>,
    /// The loss of frames sent until then begins no episode.
    episode: Option<Instant>,
    /// When the last loss was, in seconds, until the next stage of congestion avoidance begins.
    lost: Option<f64>,
    stage: Option<Stage>,
    /// The end of the time that was counted, in seconds.
    last: f64,
    /// Growth that is less than a frame, if the window grows by whole frames.
    part: f64,
}

/// A stage of congestion avoidance.
#[derive(Clone, Copy)]
struct Stage {
    t_epoch: f64,
    k: f64,
    w_est: f64,
}

impl Model {
    pub(super) fn new(mtu: u32, rules: Rules, rtts: &[f64]) -> Self {
        Self {
            rules,
            rtts: rtts.to_vec(),
            mtu: mtu.into(),
            window: f64::from(initial_window(mtu)) / f64::from(mtu),
            threshold: f64::INFINITY,
            w_max: 0.0,
            cwnd_prior: 0.0,
            recovery: None,
            episode: None,
            lost: None,
            stage: None,
            last: 0.0,
            part: 0.0,
        }
    }

    /// This many frames, rounded down to whole bytes.
    fn whole(&self, frames: f64) -> f64 {
        (frames * self.mtu + 1e-6).floor() / self.mtu
    }

    /// The window after a loss (§4.6), in frames that are whole bytes.
    fn reduced(&self, frames: f64) -> f64 {
        ((frames * self.mtu).round() * BETA).floor() / self.mtu
    }

    fn in_recovery(&self, sent: Instant) -> bool {
        self.recovery.is_some_and(|start| sent <= start)
    }

    /// Leaves the time up to now out of the curve (§5.8).
    fn pause(&mut self, now: f64) {
        if let Some(stage) = &mut self.stage {
            stage.t_epoch += now - self.last;
        }
        self.last = now;
    }

    fn on_acked(&mut self, frames: &[Frame], rtt: f64, now: Instant) {
        let bytes = |frame: &Frame| f64::from(frame.bytes) / self.mtu;
        if self.rules.whole_frames {
            for frame in frames {
                let segments = f64::from(frame.bytes) / self.mtu;
                if self.in_recovery(frame.sent) {
                    continue;
                }
                if self.window < self.threshold {
                    self.window += segments;
                } else {
                    self.avoid(segments, rtt, now);
                }
            }
            return;
        }
        let mut segments: f64 = frames.iter().map(bytes).sum();
        if self.in_recovery(frames[frames.len() - 1].sent) {
            return;
        }
        let grown = segments.min((self.threshold - self.window).max(0.0));
        self.window += grown;
        segments -= grown;
        if self.window >= self.threshold - 1e-9 {
            self.avoid(segments, rtt, now);
        }
    }

    /// Congestion avoidance (§4.2 to §4.5). An acknowledgement of more than a window counts as one of a
    /// window.
    fn avoid(&mut self, segments: f64, rtt: f64, now: Instant) {
        let mut stage = match self.stage {
            Some(stage) => stage,
            None => self.begin(now),
        };
        let now = seconds(now);
        let t = now - stage.t_epoch;
        self.last = now;
        let (w_max, k) = (self.w_max, stage.k);
        let w_cubic = move |t: f64| C * (t - k).powi(3) + w_max;
        let alpha = 3.0 * (1.0 - BETA) / (1.0 + BETA);
        let is_reno = if self.rules.timed_reno {
            stage.w_est = self.w_max * BETA + alpha * t / rtt;
            w_cubic(t + rtt) < stage.w_est
        } else {
            let alpha = if stage.w_est < self.cwnd_prior {
                alpha
            } else {
                1.0
            };
            stage.w_est += alpha * segments.min(self.window) / self.window;
            w_cubic(t) < stage.w_est
        };
        let target = w_cubic(t + rtt);
        if self.rules.whole_frames {
            let grown = if is_reno {
                stage.w_est - self.window
            } else {
                (target - self.window) / self.window
            };
            self.part += self.whole(grown.max(0.0));
            if self.part >= 1.0 - 1e-9 {
                self.part = 0.0;
                self.window += 1.0;
            }
        } else if is_reno {
            self.window = self.window.max(stage.w_est);
        } else {
            let target = target.clamp(self.window, 1.5 * self.window);
            self.window += (target - self.window) * segments.min(self.window) / self.window;
        }
        self.stage = Some(stage);
    }

    /// Begins a stage: after a loss, after slow start without a loss (§4.10), or after persistent congestion
    /// (§4.8).
    fn begin(&mut self, now: Instant) -> Stage {
        let lost = self.lost.take();
        if lost.is_none() && self.rules.recovers_from_nothing {
            self.recovery = Some(now);
            self.episode = Some(now);
        }
        if lost.is_none() || self.w_max < self.window && !self.rules.old_k {
            self.w_max = self.window;
        }
        let missing = if self.rules.old_k {
            self.w_max * (1.0 - BETA)
        } else {
            self.w_max - self.window
        };
        Stage {
            t_epoch: lost
                .filter(|_| self.rules.from_the_loss)
                .unwrap_or(seconds(now)),
            k: lost.map_or(0.0, |_| (missing / C).cbrt()),
            w_est: self.window,
        }
    }

    fn back_off(&mut self, now: f64) {
        self.w_max = if self.window < self.w_max {
            self.window * (1.0 + BETA) / 2.0
        } else {
            self.window
        };
        self.cwnd_prior = self.window;
        self.threshold = self.reduced(self.window).max(2.0);
        self.window = self.threshold;
        self.part = self.reduced(self.part);
        self.lost = Some(now);
        self.stage = None;
    }

    fn on_trouble(&mut self, trouble: Trouble, newest: Instant, now: Instant) {
        if self.episode.is_none_or(|start| newest > start) {
            self.back_off(seconds(now));
            self.recovery = Some(now);
            self.episode = Some(now);
        }
        if trouble == Trouble::Persistent {
            self.w_max = 0.0;
            if self.rules.cuts_twice {
                self.w_max = self.window;
                self.threshold = self.reduced(self.window).max(2.0);
            }
            self.window = 2.0;
            self.part = 0.0;
            self.lost = None;
            self.stage = None;
            self.recovery = None;
            if self.rules.forgets_episode {
                self.episode = None;
            }
        }
    }
}

fn seconds(time: Instant) -> f64 {
    time.as_micros() as f64 / 1e6
}

impl Subject for Model {
    fn tell(&mut self, now: Instant, event: &Event) {
        match event {
            Event::Sent { bytes, in_flight } => {
                if bytes == in_flight && !self.rules.counts_idle_time {
                    self.pause(seconds(now));
                }
            }
            Event::Acked {
                frames,
                is_limited,
                rtt,
            } => {
                if *is_limited {
                    self.on_acked(frames, self.rtts[*rtt], now);
                } else if !self.rules.counts_idle_time {
                    self.pause(seconds(now));
                }
            }
            Event::Trouble(trouble, frames) => {
                self.on_trouble(*trouble, frames[frames.len() - 1].sent, now);
            }
        }
    }

    fn window(&self) -> f64 {
        self.window * self.mtu
    }
}
