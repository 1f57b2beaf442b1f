//! What a host tells its peers about time.

use core::time::Duration;

use crate::time::Instant;

/// The present.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tick {
    pub(crate) now: Instant,
    /// `T_step,avg` of (7): the average time between steps.
    pub(crate) step: Duration,
    /// When the host was first stepped again after a pause: nobody can be blamed for silence while
    /// we did not listen (`docs/deviations.md` T23).
    pub(crate) awake_since: Instant,
}
