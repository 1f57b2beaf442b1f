//! Conversions between smoltcp's time and the core's. Both count microseconds from a moment that the
//! program chooses.

use smoltcp::time::Instant as SmolInstant;

use porous_proto::Instant;

/// smoltcp's time as the core takes it: for the commands of a [`Host`](porous_proto::Host).
///
/// smoltcp's times may be negative, the core's are not: a negative time becomes zero. For the core, time
/// stands still until the clock has reached zero, so start the clock there or later.
///
/// ```
/// use porous_smoltcp::time;
/// use smoltcp::time::Instant;
///
/// assert_eq!(time::to_porous(Instant::from_millis(7)).as_micros(), 7000);
/// assert_eq!(time::to_porous(Instant::from_millis(-7)).as_micros(), 0);
/// ```
#[must_use]
pub fn to_porous(at: SmolInstant) -> Instant {
    Instant::from_micros(u64::try_from(at.total_micros()).unwrap_or(0))
}

/// The core's time as smoltcp takes it: for deadlines.
///
/// A time beyond smoltcp's range of 292,000 years becomes the last time of that range.
///
/// ```
/// use porous_smoltcp::time;
/// use smoltcp::time::Instant;
///
/// let at = Instant::from_millis(7);
/// assert_eq!(time::to_smoltcp(time::to_porous(at)), at);
/// ```
#[must_use]
pub fn to_smoltcp(at: Instant) -> SmolInstant {
    SmolInstant::from_micros(i64::try_from(at.as_micros()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_before_the_epoch_are_the_epoch() {
        for micros in [i64::MIN, -1, 0] {
            let at = SmolInstant::from_micros(micros);
            assert_eq!(to_porous(at), Instant::ZERO, "{micros}");
        }
    }

    #[test]
    fn microseconds_are_kept_up_to_the_last_time_of_both() {
        for micros in [0, 1, 1_000_000, i64::MAX] {
            let at = SmolInstant::from_micros(micros);
            assert_eq!(to_smoltcp(to_porous(at)), at);
        }
    }

    #[test]
    fn times_that_smoltcp_cannot_say_are_its_last() {
        let last = SmolInstant::from_micros(i64::MAX);
        for beyond in [i64::MAX.unsigned_abs() + 1, u64::MAX] {
            assert_eq!(to_smoltcp(Instant::from_micros(beyond)), last);
        }
    }
}
