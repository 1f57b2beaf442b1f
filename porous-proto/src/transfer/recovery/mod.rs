//! Recovery: when a frame counts as lost, and when the sender asks for an acknowledgement, by the rules of
//! the paper or by the modern ones.

mod episodes;
mod modern;
mod paper;

use alloc::boxed::Box;
use core::fmt;

use self::modern::Modern;
use self::paper::Paper;
use super::acked::LaterAcks;
use super::rtt::Rtt;
use crate::config::Policy;
use crate::congestion::Signal;
use crate::time::{Instant, Micros};

/// What the timers of a path need to know of the frames that are on their way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flight {
    /// The oldest frame whose fate matters: its id, and when it was sent.
    pub(crate) oldest: Option<(u64, Instant)>,
    /// When the oldest frame with reliable content was sent that no probe has repeated, and whether that
    /// frame asked to be acknowledged at once.
    pub(crate) unprobed: Option<(Instant, bool)>,
}

/// What happens at a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// The oldest frame is lost.
    Loss,
    /// The oldest reliable content goes out once more, in one datagram.
    Probe,
    /// No acknowledgement came for long: all reliable content goes out once more, in two datagrams; a ping
    /// does if nothing is reliable, or if data goes on leaving.
    Timeout,
}

/// How a timeout asks for an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    /// True if reliable content that is on its way goes out once more; false if a ping asks alone.
    pub(crate) repeats: bool,
    /// True if the question before this one was not answered either, or data went on leaving for three
    /// timeouts: then a ping goes first.
    pub(crate) is_again: bool,
}

/// A frame that is considered lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lost {
    pub(crate) id: u64,
    pub(crate) sent: Instant,
    /// The id that the next frame of the sender will have, at the moment of the verdict.
    pub(crate) next: u64,
    /// True if a frame with an id between this one and the last lost one has arrived.
    pub(crate) is_alone: bool,
}

/// The rules of one path, with what they remember. A default does nothing: the paper has no such rule.
pub(crate) trait Recovery: fmt::Debug + Send + Sync {
    /// A frame whose acknowledgement is awaited leaves.
    fn on_sent(&mut self, _now: Instant) {}

    /// Whether a frame was lost in the last seconds: then reliable content asks for an acknowledgement of its
    /// own, so that its fate is known soon (`docs/deviations.md` T19).
    fn is_lossy(&self, _now: Instant) -> bool {
        false
    }

    /// A frame was acknowledged for the first time. `data`: it was in flight. `is_idle`: nothing is in flight
    /// any more.
    fn on_acknowledged(&mut self, id: u64, data: bool, is_idle: bool, now: Instant);

    /// Whether the oldest frame is lost: later frames have overtaken it, enough of them or long enough ago.
    fn is_lost(&self, frame: (u64, Instant), acks: &LaterAcks, rtt: &Rtt, now: Instant) -> bool;

    /// Age at which a frame counts as lost by time.
    fn patience(&self, rtt: &Rtt) -> Micros;

    /// A frame with data counts as lost. Returns what the congestion controller is told of it.
    fn on_lost(&mut self, lost: &Lost, rtt: &Rtt, now: Instant) -> Signal;

    /// A frame was acknowledged for the first time, `elapsed` after it was sent, and a frame that was sent
    /// later had been acknowledged before.
    fn on_overtaken(&mut self, _elapsed: Micros, _rtt: &Rtt, _now: Instant) {}

    /// A frame with data that had counted as lost was acknowledged. Returns true if nothing of the episode
    /// was lost: the episode then counts as if it had not been.
    fn on_spurious(&mut self, id: u64) -> bool;

    /// A router has marked a frame, which has arrived. `next` is the id of the next frame. Returns whether an
    /// episode begins.
    fn on_marked(&mut self, _id: u64, _next: u64) -> bool {
        false
    }

    /// What is due next, and when.
    fn deadline(&self, flight: &Flight, acks: &LaterAcks, rtt: &Rtt) -> (Instant, Due);

    /// Time from sending a frame with reliable content to its first probe. `at_once`: the frame asked for an
    /// acknowledgement at once.
    fn early_probe(&self, _at_once: bool, _rtt: &Rtt) -> Micros {
        Micros::MAX
    }

    /// The fate of an early probe is known. `had_arrived`: what it repeated had arrived before, so that the
    /// probe was needless (`docs/deviations.md` P7).
    fn on_probed(&mut self, _had_arrived: bool) {}

    /// Whether nothing was acknowledged for two timeouts in a row, or for three while data went on leaving.
    fn is_silent(&self) -> bool {
        false
    }

    /// A timeout has passed. Returns how to ask; `None` by the rules of the paper, which have no probes.
    fn on_timeout(&mut self, _rtt: &Rtt, _now: Instant) -> Option<Question> {
        None
    }
}

/// The rules of a policy, for a path of which nothing is known.
pub(crate) fn of(policy: Policy) -> Box<dyn Recovery> {
    match policy {
        Policy::Paper => Box::new(Paper::default()),
        Policy::Modern => Box::new(Modern::default()),
    }
}
