//! When a frame is lost, and when an acknowledgement is asked for: by the rules of the paper, or by
//! the modern ones.

mod dropped;
mod early;
mod episodes;
mod estimator;
mod modern;

use alloc::boxed::Box;
use core::time::Duration;

use self::dropped::Drops;
pub(crate) use self::modern::{Due, Flight, Modern};
use super::rtt::Rtt;
use crate::config::Policy;
pub(crate) use crate::congestion::Minimum;
use crate::congestion::Signal;
use crate::time::Instant;

/// The rules of one peer, with what they have measured.
#[derive(Debug)]
pub(crate) enum Recovery {
    /// Three later acknowledgements, or T_rto (§3.1.3, §3.1.5): round trips of pings alone.
    Paper(Paper),
    Modern(Box<Modern>),
}

/// The rules of the paper.
#[derive(Debug)]
pub(crate) struct Paper {
    pub(super) rtt: Rtt,
    drops: Drops,
}

impl Paper {
    const fn new() -> Self {
        Self {
            rtt: Rtt::new(),
            drops: Drops::new(),
        }
    }

    /// A frame is considered dropped: what that means for the window.
    pub(super) fn on_dropped(&mut self, step: Duration, now: Instant) -> Signal {
        let (rtt, timeout) = (self.rtt.average(), self.rtt.resend_timeout(step));
        self.drops.on_dropped(now, rtt, timeout)
    }
}

impl Recovery {
    pub(crate) fn new(policy: Policy) -> Self {
        match policy {
            Policy::Paper => Self::Paper(Paper::new()),
            Policy::Modern => Self::Modern(Box::new(Modern::new())),
        }
    }

    /// T_rtt,avg.
    pub(crate) fn average(&self) -> Duration {
        match self {
            Self::Paper(paper) => paper.rtt.average(),
            Self::Modern(modern) => modern.path().smoothed(),
        }
    }

    /// T_rtt,var.
    pub(crate) fn variance(&self) -> Duration {
        match self {
            Self::Paper(paper) => paper.rtt.variance(),
            Self::Modern(modern) => modern.path().variation(),
        }
    }

    /// T_rto (7), or the time after which the modern rules probe.
    pub(crate) fn resend_timeout(&self, step: Duration) -> Duration {
        match self {
            Self::Paper(paper) => paper.rtt.resend_timeout(step),
            Self::Modern(modern) => modern.probe_timeout(step),
        }
    }

    /// A ping took this long. Under the modern rules acknowledgements tell enough.
    pub(crate) fn on_pong(&mut self, elapsed: Duration) {
        match self {
            Self::Paper(paper) => paper.rtt.sample(elapsed),
            Self::Modern(_) => {}
        }
    }

    /// The connection takes another path, of which nothing is known.
    pub(crate) fn on_new_path(&mut self) {
        match self {
            Self::Paper(paper) => paper.rtt = Rtt::new(),
            Self::Modern(modern) => modern.on_new_path(),
        }
    }

    /// A frame was acknowledged, for the first time. `counted`: it carried data; `is_idle`: none is on
    /// its way.
    pub(crate) fn on_acknowledged(
        &mut self,
        id: u64,
        (counted, is_idle): (bool, bool),
        now: Instant,
    ) {
        match self {
            Self::Paper(paper) if counted => paper.drops.on_acknowledged(),
            Self::Paper(_) => {}
            Self::Modern(modern) => modern.on_acknowledged(id, counted || is_idle, now),
        }
    }
}
