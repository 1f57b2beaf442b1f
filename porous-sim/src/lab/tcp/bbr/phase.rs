//! The phases of BBR and their gains ("Summary of Control Behavior in the State Machine").

/// What the sender is doing: sending faster than the path delivers, slower, or as fast.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Phase {
    /// Doubles the rate each round trip until the path is full.
    Startup,
    /// Empties the queue that `Startup` has made.
    Drain,
    /// `ProbeBW_DOWN`: leaves room for other flows.
    Down,
    /// `ProbeBW_CRUISE`: sends as fast as the path delivers.
    Cruise,
    /// `ProbeBW_REFILL`: fills the path for one round trip, so that `Up` begins without slack.
    Refill,
    /// `ProbeBW_UP`: looks for more bandwidth.
    Up,
    /// Empties the queue for a look at the round trip.
    ProbeRtt {
        /// When the flight has been small for long enough, in seconds; `None` until it is small.
        until: Option<f64>,
        /// True once a round trip has passed with the small flight.
        round_passed: bool,
    },
}

impl Phase {
    /// The rate of sending to the bandwidth.
    pub(super) const fn pacing_gain(self) -> f64 {
        match self {
            Self::Startup => 2.77, // 4 ln 2: the least by which the rate doubles each round trip
            Self::Drain => 0.5,
            Self::Down => 0.9,
            Self::Cruise | Self::Refill | Self::ProbeRtt { .. } => 1.0,
            Self::Up => 1.25,
        }
    }

    /// The most in flight to the BDP.
    pub(super) const fn window_gain(self) -> f64 {
        match self {
            Self::Startup | Self::Drain | Self::Down | Self::Cruise | Self::Refill => 2.0,
            Self::Up => 2.25,
            Self::ProbeRtt { .. } => 0.5,
        }
    }

    pub(super) const fn is_probe_bw(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }

    /// True if losses are expected, and are not held against the bandwidth at once.
    pub(super) const fn is_accelerating(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }
}
