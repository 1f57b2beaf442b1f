//! Rates in whole bytes a second: no float, and no overflow.

use crate::time::Micros;

/// In microseconds.
const SECOND: u64 = 1_000_000;

/// `amount` · `times` / `parts`.
pub(crate) fn scaled(amount: u32, times: u64, parts: u64) -> u32 {
    let scaled = u64::from(amount).saturating_mul(times) / parts.max(1);
    u32::try_from(scaled).unwrap_or(u32::MAX)
}

/// `bytes` in this time, in bytes a second. At most half of the range, so that sums of rates cannot overflow.
pub(crate) fn per_second(bytes: u32, time: Micros) -> u32 {
    scaled(bytes, SECOND, time.get()).min(u32::MAX / 2)
}

/// Bytes that are sent at `rate` bytes a second in this time. At most half of the range.
pub(crate) fn bytes_in(rate: u32, time: Micros) -> u32 {
    scaled(rate, time.get(), SECOND).min(u32::MAX / 2)
}

/// How long `bytes` take at `rate` bytes a second; at a rate of zero as long as at one byte a second.
pub(crate) fn time_of(bytes: u32, rate: u32) -> Micros {
    Micros::new(u64::from(bytes) * SECOND / u64::from(rate.max(1)))
}
