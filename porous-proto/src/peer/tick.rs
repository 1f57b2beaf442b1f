//! What a host tells its peers about time.

use core::time::Duration;

use crate::time::Instant;

/// The present.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tick {
    pub(crate) now: Instant,
    /// `T_step,avg` of (7): the average time between steps.
    pub(crate) step: Duration,
    /// How late the host is stepped when something is due, at most of late: nothing for one that
    /// is called in time, about a step for one that is called once a frame.
    pub(crate) lag: Duration,
    /// The host's cap holds the data of all peers back.
    pub(crate) is_full: bool,
    /// What received packets of the peer may take, by what those of all peers may.
    pub(crate) may_keep: u64,
    /// When the host was first stepped again after a pause, however short.
    pub(crate) awake_since: Instant,
    /// When it was first stepped again after a pause of a quarter of the timeout: nobody can be
    /// blamed for silence while we did not listen (`docs/deviations.md` T23).
    pub(crate) back_since: Instant,
}
