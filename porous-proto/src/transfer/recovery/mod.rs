//! When a frame is lost, and when an acknowledgement is asked for: by the rules of the paper, or by
//! the modern ones.

mod early;
mod episodes;
mod estimator;
mod minimum;
mod modern;

use alloc::boxed::Box;
use core::time::Duration;

pub(crate) use self::minimum::Minimum;
pub(crate) use self::modern::{Congestion, Due, Flight, Modern};
use super::rtt::Rtt;
use crate::config::Policy;

/// The rules of one peer, with what they have measured.
#[derive(Debug)]
pub(crate) enum Recovery {
    /// Three later acknowledgements, or T_rto (§3.1.3, §3.1.5): round trips of pings alone.
    Paper(Rtt),
    Modern(Box<Modern>),
}

impl Recovery {
    pub(crate) fn new(policy: Policy) -> Self {
        match policy {
            Policy::Paper => Self::Paper(Rtt::new()),
            Policy::Modern => Self::Modern(Box::new(Modern::new())),
        }
    }

    /// T_rtt,avg.
    pub(crate) fn average(&self) -> Duration {
        match self {
            Self::Paper(rtt) => rtt.average(),
            Self::Modern(modern) => modern.path().smoothed(),
        }
    }

    /// T_rtt,var.
    pub(crate) fn variance(&self) -> Duration {
        match self {
            Self::Paper(rtt) => rtt.variance(),
            Self::Modern(modern) => modern.path().variation(),
        }
    }

    /// T_rto (7), or the time after which the modern rules probe.
    pub(crate) fn resend_timeout(&self, step: Duration) -> Duration {
        match self {
            Self::Paper(rtt) => rtt.resend_timeout(step),
            Self::Modern(modern) => modern.probe_timeout(step),
        }
    }

    /// A ping took this long. Under the modern rules acknowledgements tell enough.
    pub(crate) fn on_pong(&mut self, elapsed: Duration) {
        match self {
            Self::Paper(rtt) => rtt.sample(elapsed),
            Self::Modern(_) => {}
        }
    }
}
