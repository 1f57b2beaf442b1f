//! RFC 9002 §7 in floating point, by the pseudocode of its appendix B.

use porous_proto::Instant;
use porous_proto::congestion::initial_window;

use super::Subject;
use super::trace::{Event, Trouble};

/// The differences of quinn-proto's NewReno from ours. A rule is true if the model follows quinn-proto
/// there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// Each acknowledged frame counts alone, as in appendix B.5. Ours is told of whole acknowledgements: one
    /// adds at most a frame in congestion avoidance, and if any of its frames was sent after the last loss,
    /// its other frames count, too.
    by_frame: bool,
    /// Slow start exceeds the threshold by the rest of a frame, as in appendix B.5. Ours stops at the
    /// threshold, and the rest counts for congestion avoidance, since an acknowledgement may be of many
    /// frames.
    exceeds_threshold: bool,
    /// In congestion avoidance bytes are counted until they make a window, and then the window grows
    /// by a frame (RFC 3465). Appendix B.5 adds the part of a frame at once.
    counts_windows: bool,
    /// Bytes counted before a loss still count after it, and may be many of the smaller windows: then each
    /// acknowledged frame makes the window grow by a frame, as in slow start. §7.3.3 allows one frame for
    /// each window.
    keeps_count: bool,
    /// Frames in flight when persistent congestion was found do not make the window grow. In appendix B.8
    /// they do.
    stays_in_recovery: bool,
}

pub(super) const RFC: Rules = Rules {
    by_frame: false,
    exceeds_threshold: false,
    counts_windows: false,
    keeps_count: false,
    stays_in_recovery: false,
};

pub(super) const QUINN: Rules = Rules {
    by_frame: true,
    exceeds_threshold: true,
    counts_windows: true,
    keeps_count: true,
    stays_in_recovery: true,
};

/// Each of quinn-proto's rules alone, with its name. A rule that means nothing without another comes with
/// that other.
pub(super) const EACH: [(&str, Rules); 5] = [
    (
        "by_frame",
        Rules {
            by_frame: true,
            ..RFC
        },
    ),
    (
        "exceeds_threshold, by_frame",
        Rules {
            by_frame: true,
            exceeds_threshold: true,
            ..RFC
        },
    ),
    (
        "counts_windows",
        Rules {
            counts_windows: true,
            ..RFC
        },
    ),
    (
        "keeps_count, counts_windows",
        Rules {
            counts_windows: true,
            keeps_count: true,
            ..RFC
        },
    ),
    (
        "stays_in_recovery",
        Rules {
            stays_in_recovery: true,
            ..RFC
        },
    ),
];

pub(super) struct Model {
    rules: Rules,
    mtu: f64,
    window: f64,
    threshold: f64,
    counted: f64,
    /// Frames sent until then do not make the window grow.
    recovery: Option<Instant>,
    /// The loss of frames sent until then begins no episode.
    episode: Option<Instant>,
}

impl Model {
    pub(super) fn new(mtu: u32, rules: Rules) -> Self {
        Self {
            rules,
            mtu: mtu.into(),
            window: initial_window(mtu).into(),
            threshold: f64::INFINITY,
            counted: 0.0,
            recovery: None,
            episode: None,
        }
    }

    fn on_acked(&mut self, sent: Instant, bytes: f64) {
        if self.recovery.is_some_and(|start| sent <= start) {
            return;
        }
        let mut rest = bytes;
        if self.window < self.threshold {
            if self.rules.exceeds_threshold {
                self.window += bytes;
                if self.window >= self.threshold {
                    self.counted = self.window - self.threshold;
                }
                return;
            }
            let grown = bytes.min(self.threshold - self.window);
            self.window += grown;
            rest -= grown;
        }
        if !self.rules.counts_windows {
            self.window += self.mtu * rest.min(self.window) / self.window;
            return;
        }
        self.counted += rest;
        if self.counted >= self.window {
            self.counted -= self.window;
            self.window += self.mtu;
        }
    }

    fn on_trouble(&mut self, trouble: Trouble, newest: Instant, now: Instant) {
        let least = 2.0 * self.mtu;
        if self.episode.is_none_or(|start| newest > start) {
            self.window = (self.window / 2.0).floor().max(least);
            self.threshold = self.window;
            if !self.rules.keeps_count {
                self.counted = 0.0;
            }
            self.recovery = Some(now);
            self.episode = Some(now);
        }
        if trouble == Trouble::Persistent {
            self.window = least;
            if !self.rules.stays_in_recovery {
                self.recovery = None;
            }
        }
    }
}

impl Subject for Model {
    fn tell(&mut self, now: Instant, event: &Event) {
        match event {
            Event::Sent { .. } => {}
            Event::Acked {
                frames, is_limited, ..
            } => {
                if !is_limited {
                    return;
                }
                if self.rules.by_frame {
                    for frame in frames {
                        self.on_acked(frame.sent, frame.bytes.into());
                    }
                } else {
                    let bytes = frames.iter().map(|frame| f64::from(frame.bytes)).sum();
                    self.on_acked(frames[frames.len() - 1].sent, bytes);
                }
            }
            Event::Trouble(trouble, frames) => {
                self.on_trouble(*trouble, frames[frames.len() - 1].sent, now);
            }
        }
    }

    fn window(&self) -> f64 {
        self.window
    }
}
