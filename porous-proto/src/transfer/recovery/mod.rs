//! When a frame is lost, and when an acknowledgement is asked for: by the rules of the paper, or by
//! the modern ones.

mod episodes;
mod modern;
mod paper;

use alloc::boxed::Box;
use core::time::Duration;

use self::modern::Modern;
use self::paper::Paper;
use super::loss::LaterAcks;
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

/// The rules of one path, with what they remember.
#[derive(Debug)]
pub(crate) enum Recovery {
    Paper(Paper),
    Modern(Box<Modern>),
}

impl Recovery {
    pub(crate) fn new(policy: Policy) -> Self {
        match policy {
            Policy::Paper => Self::Paper(Paper::new()),
            Policy::Modern => Self::Modern(Box::new(Modern::new())),
        }
    }

    /// A frame leaves whose acknowledgement is awaited.
    pub(crate) fn on_sent(&mut self, now: Instant) {
        match self {
            Self::Paper(_) => {}
            Self::Modern(modern) => modern.on_sent(now),
        }
    }

    /// Whether reliable content asks to be acknowledged at once.
    pub(crate) fn is_lossy(&self, now: Instant) -> bool {
        match self {
            Self::Paper(_) => false,
            Self::Modern(modern) => modern.is_lossy(now),
        }
    }

    /// A frame was acknowledged, for the first time: with data that was in flight, or without.
    /// `is_idle`: no data is in flight any more.
    pub(crate) fn on_acknowledged(&mut self, id: u64, data: bool, is_idle: bool, now: Instant) {
        match self {
            Self::Paper(paper) if data => paper.on_acknowledged(),
            Self::Paper(_) => {}
            Self::Modern(modern) => modern.on_acknowledged(id, data || is_idle, now),
        }
    }

    /// Whether the oldest frame was overtaken by so many later ones, or for so long, that it is lost.
    pub(crate) fn is_lost(
        &self,
        (id, sent): (u64, Instant),
        acks: &LaterAcks,
        rtt: &Rtt,
        now: Instant,
    ) -> bool {
        match self {
            Self::Paper(_) => id < acks.dropped_below(),
            Self::Modern(modern) => modern.is_lost((id, sent), acks.newest(), rtt, now),
        }
    }

    /// A frame with data is considered lost: what that means for the congestion window.
    pub(crate) fn on_lost(&mut self, lost: &Lost, rtt: &Rtt, now: Instant) -> Signal {
        match self {
            Self::Paper(paper) => paper.on_lost(rtt, now),
            Self::Modern(modern) => modern.on_lost(lost, rtt),
        }
    }

    /// A frame with data that was considered lost was acknowledged, when `newest` was acknowledged
    /// already. Whether nothing was lost in this episode: it counts as if it had not been.
    pub(crate) fn on_spurious(&mut self, id: u64, newest: u64, rtt: &Rtt) -> bool {
        match self {
            Self::Paper(_) => false,
            Self::Modern(modern) => modern.on_spurious(id, newest, rtt),
        }
    }

    /// A router has marked a frame, which has come: whether an episode begins. `next` is the id of the
    /// next frame.
    pub(crate) fn on_marked(&mut self, id: u64, next: u64) -> bool {
        match self {
            Self::Paper(_) => false,
            Self::Modern(modern) => modern.on_marked(id, next),
        }
    }

    /// What is due next, and when.
    pub(crate) fn deadline(&self, flight: &Flight, acks: &LaterAcks, rtt: &Rtt) -> (Instant, Due) {
        match self {
            Self::Paper(_) => {
                let (_, sent) = flight.oldest.unwrap_or((0, Instant::NEVER));
                (sent + rtt.timeout(), Due::Loss)
            }
            Self::Modern(modern) => modern.deadline(flight, acks.newest(), rtt),
        }
    }

    /// After how long a frame is probed which asked for an acknowledgement at once, or did not.
    pub(crate) fn early_probe(&self, at_once: bool, rtt: &Rtt) -> Duration {
        match self {
            Self::Paper(_) => Duration::MAX,
            Self::Modern(modern) => modern.early_probe(at_once, rtt),
        }
    }

    /// An early probe was judged: whether what it repeated had arrived before.
    pub(crate) fn on_probed(&mut self, had_arrived: bool) {
        match self {
            Self::Paper(_) => {}
            Self::Modern(modern) => modern.on_probed(had_arrived),
        }
    }

    /// A timeout has passed: how to ask. `None` under the paper's rules, which have no probes.
    pub(crate) fn on_timeout(&mut self, now: Instant) -> Option<Question> {
        match self {
            Self::Paper(_) => None,
            Self::Modern(modern) => Some(modern.on_timeout(now)),
        }
    }
}
