//! The one clock that is read: quinn-proto counts in the standard library's instants, and those have
//! no other beginning. Only times since then are used, so nothing depends on when that was.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// A moment of virtual time, for a library that takes real ones only.
#[expect(clippy::disallowed_methods, reason = "only differences are used")]
pub(crate) fn real(now: porous_proto::Instant) -> Instant {
    static EPOCH: OnceLock<Instant> = OnceLock::new();
    *EPOCH.get_or_init(Instant::now) + Duration::from_micros(now.as_micros())
}
