//! When a frame is lost, and when an acknowledgement is asked for: by the rules of the paper, or by
//! the modern ones.

mod episodes;
mod modern;
mod paper;

use alloc::boxed::Box;
use core::fmt;
use core::time::Duration;

use self::modern::Modern;
use self::paper::Paper;
use super::acked::LaterAcks;
use super::rtt::Rtt;
use crate::config::Policy;
use crate::congestion::Signal;
use crate::time::Instant;

/// What is on its way, as far as the timers need it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flight {
    /// The oldest frame whose fate matters: its id, and when it was sent.
    pub(crate) oldest: Option<(u64, Instant)>,
    /// When the oldest frame with reliable content was sent that no probe has repeated, and whether
    /// it is to be acknowledged at once.
    pub(crate) unprobed: Option<(Instant, bool)>,
}

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// The oldest frame is lost.
    Loss,
    /// The oldest reliable content goes out once more, in one datagram.
    Probe,
    /// The same, in two, or a ping: there has been no acknowledgement for long.
    Timeout,
}

/// How a timeout asks for an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    /// By what is on its way and reliable, which goes out once more; otherwise by a ping alone.
    pub(crate) repeats: bool,
    /// The one before was not answered either.
    pub(crate) is_again: bool,
}

/// A frame that is considered lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lost {
    pub(crate) id: u64,
    pub(crate) sent: Instant,
    /// The id of the next frame.
    pub(crate) next: u64,
    /// A frame between this one and the last that was lost has arrived.
    pub(crate) is_alone: bool,
}

/// The rules of one path, with what they remember. What only the modern rules do is nothing by default.
pub(crate) trait Recovery: fmt::Debug + Send + Sync {
    /// A frame leaves whose acknowledgement is awaited.
    fn on_sent(&mut self, _now: Instant) {}

    /// Whether something was lost in the last seconds: then it is worth an acknowledgement of its own
    /// to know soon what becomes of reliable content (T19).
    fn is_lossy(&self, _now: Instant) -> bool {
        false
    }

    /// A frame was acknowledged, for the first time: with data that was in flight, or without.
    /// `is_idle`: no data is in flight any more.
    fn on_acknowledged(&mut self, id: u64, data: bool, is_idle: bool, now: Instant);

    /// Whether the oldest frame is lost: later ones have overtaken it, many or long ago.
    fn is_lost(&self, frame: (u64, Instant), acks: &LaterAcks, rtt: &Rtt, now: Instant) -> bool;

    /// A frame with data is considered lost: what that means for the congestion window.
    fn on_lost(&mut self, lost: &Lost, rtt: &Rtt, now: Instant) -> Signal;

    /// A frame with data that was considered lost was acknowledged, when `newest` was acknowledged
    /// already. Whether nothing was lost in this episode: it counts as if it had not been.
    fn on_spurious(&mut self, _id: u64, _newest: u64, _rtt: &Rtt) -> bool {
        false
    }

    /// A router has marked a frame, which has come: whether an episode begins. `next` is the id of the
    /// next frame.
    fn on_marked(&mut self, _id: u64, _next: u64) -> bool {
        false
    }

    /// What is due next, and when.
    fn deadline(&self, flight: &Flight, acks: &LaterAcks, rtt: &Rtt) -> (Instant, Due);

    /// How long the first probe for a frame waits, which asked for an acknowledgement at once or did
    /// not.
    fn early_probe(&self, _at_once: bool, _rtt: &Rtt) -> Duration {
        Duration::MAX
    }

    /// An early probe was acknowledged, or what it repeated was: whether that had arrived before (P7).
    fn on_probed(&mut self, _had_arrived: bool) {}

    /// A timeout has passed: how to ask. `None` by the paper's rules, which have no probes.
    fn on_timeout(&mut self, _now: Instant) -> Option<Question> {
        None
    }
}

/// The rules of a policy.
pub(crate) fn of(policy: Policy) -> Box<dyn Recovery> {
    match policy {
        Policy::Paper => Box::new(Paper::default()),
        Policy::Modern => Box::new(Modern::new()),
    }
}
