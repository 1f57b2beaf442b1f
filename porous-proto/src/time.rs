//! The protocol's notion of time: microseconds since an epoch that the driver chooses.

use core::fmt;
use core::ops::{Add, Div, Mul, Sub};
use core::time::Duration;

/// A point in time: microseconds since an epoch that the driver of the host chooses.
///
/// The core never reads a clock. A driver picks an epoch once (its own start is a good one) and
/// passes the time into every call that needs it. Arithmetic saturates at both ends: a clock that jumps
/// or runs backwards does no harm.
///
/// ```
/// use core::time::Duration;
/// use porous_proto::Instant;
///
/// let start = Instant::ZERO;
/// let later = start + Duration::from_millis(20);
/// assert_eq!(later.saturating_duration_since(start), Duration::from_millis(20));
/// assert_eq!(start.saturating_duration_since(later), Duration::ZERO);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant(u64);

impl Instant {
    /// The driver's epoch.
    pub const ZERO: Self = Self(0);

    /// The time that never comes: the deadline of something that is not scheduled.
    pub(crate) const NEVER: Self = Self(u64::MAX);

    /// The latest time that a host can be told.
    pub(crate) const LAST: Self = Self(u64::MAX - 1);

    /// The time `micros` microseconds after the epoch.
    ///
    /// ```
    /// assert_eq!(porous_proto::Instant::from_micros(7).as_micros(), 7);
    /// ```
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// Microseconds since the epoch.
    ///
    /// ```
    /// assert_eq!(porous_proto::Instant::ZERO.as_micros(), 0);
    /// ```
    #[must_use]
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// The time from `earlier` to `self`; zero if `earlier` is later than `self`.
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_proto::Instant;
    ///
    /// let t = Instant::from_micros(1500);
    /// assert_eq!(t.saturating_duration_since(Instant::ZERO), Duration::from_micros(1500));
    /// ```
    #[must_use]
    pub const fn saturating_duration_since(self, earlier: Self) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }

    /// The time from `earlier` to `self`, as [`saturating_duration_since`](Self::saturating_duration_since)
    /// tells it.
    pub(crate) const fn since(self, earlier: Self) -> Micros {
        Micros(self.0.saturating_sub(earlier.0))
    }

    /// Whether this is the time that never comes.
    pub(crate) const fn is_never(self) -> bool {
        self.0 == u64::MAX
    }
}

/// Saturates: a deadline that is too far away never comes.
impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(micros(duration)))
    }
}

/// Saturates: a deadline that is too far away never comes.
impl Sub<Micros> for Instant {
    type Output = Self;

    fn sub(self, time: Micros) -> Self {
        Self(self.0.saturating_sub(time.0))
    }
}

impl Add<Micros> for Instant {
    type Output = Self;

    fn add(self, time: Micros) -> Self {
        Self(self.0.saturating_add(time.0))
    }
}

/// A length of time in microseconds. Arithmetic saturates at both ends.
///
/// The public interface has `Duration`, which takes twice the bytes and whose arithmetic is in two parts:
/// times are converted there, and reckoned with in this unit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Micros(u64);

impl Micros {
    pub(crate) const ZERO: Self = Self(0);

    /// For ever, as `Duration::MAX`.
    pub(crate) const MAX: Self = Self(u64::MAX);

    pub(crate) const fn new(micros: u64) -> Self {
        Self(micros)
    }

    pub(crate) const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1000))
    }

    pub(crate) const fn from_secs(seconds: u64) -> Self {
        Self(seconds.saturating_mul(1_000_000))
    }

    /// The number of microseconds.
    pub(crate) const fn get(self) -> u64 {
        self.0
    }

    pub(crate) const fn is_zero(self) -> bool {
        self.0 == 0
    }

    pub(crate) const fn duration(self) -> Duration {
        if self.0 == u64::MAX {
            Duration::MAX
        } else {
            Duration::from_micros(self.0)
        }
    }
}

/// Rounds down to whole microseconds.
impl From<Duration> for Micros {
    fn from(duration: Duration) -> Self {
        Self(micros(duration))
    }
}

impl From<Micros> for Duration {
    fn from(time: Micros) -> Self {
        time.duration()
    }
}

impl Add for Micros {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Micros {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Mul<u64> for Micros {
    type Output = Self;

    fn mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

impl Mul<Micros> for u64 {
    type Output = Micros;

    fn mul(self, time: Micros) -> Micros {
        time * self
    }
}

/// Rounds down. For constant divisors.
impl Div<u64> for Micros {
    type Output = Self;

    fn div(self, divisor: u64) -> Self {
        Self(self.0 / divisor)
    }
}

impl fmt::Debug for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.duration().fmt(f)
    }
}

/// Whole microseconds of a duration; `u64::MAX` for all that are longer, as for `Duration::MAX`, which
/// stands for ever.
pub(crate) const fn micros(duration: Duration) -> u64 {
    // `Duration::as_micros` gives 128 bits: with them each sum of an instant costs ten times as much.
    let seconds = duration.as_secs().saturating_mul(1_000_000);
    seconds.saturating_add(duration.subsec_micros() as u64)
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06}s", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_in_seconds() {
        let shown = |micros| alloc::format!("{:?}", Instant::from_micros(micros));
        assert_eq!(shown(0), "0.000000s");
        assert_eq!(shown(12_000_345), "12.000345s");
    }

    #[test]
    fn arithmetic_saturates() {
        let late = Instant::from_micros(u64::MAX - 1) + Duration::from_secs(1);
        assert!(late.is_never());
        assert_eq!(late + Duration::MAX, Instant::NEVER);
        assert_eq!(late + Micros::from_secs(1), Instant::NEVER);
        assert_eq!(Instant::ZERO.since(late), Micros::ZERO);
        let long = Micros::new(u64::MAX / 2);
        assert_eq!(3 * long, Micros::MAX);
        assert_eq!(long + long + long, Micros::MAX);
        assert_eq!(Micros::ZERO - long, Micros::ZERO);
        assert_eq!(
            Instant::ZERO.saturating_duration_since(late),
            Duration::ZERO
        );
    }

    #[test]
    fn times_are_converted_to_whole_microseconds_and_for_ever_stays() {
        let times = [
            (Duration::from_nanos(1999), Micros::new(1)),
            (Duration::from_millis(1500), Micros::from_millis(1500)),
            (Duration::from_secs(1 << 50), Micros::MAX),
        ];
        for (duration, micros) in times {
            assert_eq!(Micros::from(duration), micros);
        }
        assert_eq!(Micros::from_millis(7).duration(), Duration::from_millis(7));
        assert_eq!(Micros::MAX.duration(), Duration::MAX);
    }
}
