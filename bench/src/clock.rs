//! The one clock that is read. quinn-proto counts in the standard library's instants, and only a clock
//! makes the first of them: results depend on differences alone, and so not on that first instant.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// An instant of virtual time as one of the standard library.
#[expect(clippy::disallowed_methods, reason = "only differences are used")]
pub(crate) fn real(now: porous_proto::Instant) -> Instant {
    static EPOCH: OnceLock<Instant> = OnceLock::new();
    *EPOCH.get_or_init(Instant::now) + Duration::from_micros(now.as_micros())
}
