//! What a host that seals gets from its driver: cryptography, the time of day, and the IPs of addresses.

use core::time::Duration;

use porous_crypto::RustCrypto;
use porous_proto::Instant;
use porous_proto::seal::Security;

use crate::clock::unix_seconds;
use crate::machine::Machine;

/// How often the host is told the time of day. Between two times it counts by the other clock, which nobody
/// sets: that differs by the little that the system corrects in a minute, and tokens allow for 30 s.
const INTERVAL: Duration = Duration::from_secs(60);

/// Prepares a host. `seals`: its configuration has suites. It then seals with [`RustCrypto`] unless it is told
/// otherwise.
pub(crate) fn prepared(mut host: Machine, seals: bool) -> Machine {
    if seals {
        host.set_security(Security::new(&RustCrypto));
    }
    host
}

/// Tells a host the time of day, by which it sees whether tokens have expired.
#[derive(Debug, Default)]
pub(crate) struct TimeOfDay {
    told: Option<Instant>,
}

impl TimeOfDay {
    /// Tells it, unless it was told less than a minute ago.
    pub(crate) fn tell(&mut self, host: &mut Machine, now: Instant) {
        let is_due = |told| now.saturating_duration_since(told) >= INTERVAL;
        if self.told.is_none_or(is_due) {
            self.told = Some(now);
            host.set_unix_time(now, unix_seconds());
        }
    }
}

#[cfg(test)]
mod tests {
    use porous_proto::Config;

    use super::*;

    #[test]
    fn the_time_of_day_is_told_at_once_and_once_a_minute() {
        let mut host = crate::machine::new(Config::new());
        let mut clock = TimeOfDay::default();
        let at = |seconds| Instant::ZERO + Duration::from_secs(seconds);
        for (now, told) in [(5, 5), (64, 5), (65, 65), (66, 65), (200, 200)] {
            clock.tell(&mut host, at(now));
            assert_eq!(clock.told, Some(at(told)));
        }
    }
}
