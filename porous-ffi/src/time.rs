//! Times of C: microseconds, as the core has them.

use core::time::Duration;

/// A length of time from microseconds, of which the most stands for ever.
pub(crate) const fn duration(micros: u64) -> Duration {
    if micros == u64::MAX {
        Duration::MAX
    } else {
        Duration::from_micros(micros)
    }
}

/// A length of time in whole microseconds, of which the most stands for ever.
pub(crate) fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
