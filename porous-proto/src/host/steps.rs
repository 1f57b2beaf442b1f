//! The time as the host was told it, and how regularly the host is stepped (§2.1;
//! `docs/deviations.md` T23).

use core::time::Duration;

use crate::peer::Tick;
use crate::time::Instant;

/// A longer time between two steps says nothing about how often the host is stepped. A step that
/// comes later than this after something was due follows a pause.
const PAUSE: Duration = Duration::from_millis(250);

/// A pause of this part of the timeout excuses silence. Steps that are always a second apart are no
/// pauses, although something may be due in between.
const LONG_PAUSE: u32 = 4;

/// When the host was stepped.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Steps {
    /// The latest time that was heard of.
    now: Instant,
    last_step: Instant,
    /// T_step,avg of (7), in microseconds.
    step_us: u64,
    /// The recent worst lateness of a step against the deadline that it was for, in microseconds;
    /// it decays by 1/16 a step.
    lag_us: u64,
    /// The step after the last pause.
    awake_since: Instant,
    /// The step after the last long pause.
    back_since: Instant,
}

impl Steps {
    pub(super) const fn now(&self) -> Instant {
        self.now
    }

    /// Time never goes backwards here, whatever the driver says, and it never ends.
    pub(super) fn advance(&mut self, now: Instant) -> Tick {
        self.now = self.now.max(now.min(Instant::LAST));
        Tick {
            now: self.now,
            step: Duration::from_micros(self.step_us),
            lag: Duration::from_micros(self.lag_us),
            is_full: false,
            may_keep: u64::MAX,
            awake_since: self.awake_since,
            back_since: self.back_since,
        }
    }

    /// A step of the host, by whose `timeout` silence ends a peer. `due`: the earliest deadline.
    pub(super) fn step(&mut self, now: Instant, due: Option<Instant>, timeout: Duration) -> Tick {
        self.measure(now.min(Instant::LAST), due, timeout);
        self.advance(now)
    }

    /// T_step,avg (7): a moving average of the time between steps, without pauses. A pause is also
    /// a step that something waited for.
    fn measure(&mut self, now: Instant, due: Option<Instant>, timeout: Duration) {
        let elapsed = now.saturating_duration_since(self.last_step);
        self.last_step = self.last_step.max(now);
        if !elapsed.is_zero() && elapsed <= PAUSE {
            self.step_us = (7 * self.step_us + micros(elapsed)) / 8;
        }
        let due = due.unwrap_or(now);
        let late = now.saturating_duration_since(due);
        if due < now && late <= PAUSE {
            self.lag_us = micros(late).max(self.lag_us - self.lag_us / 16);
        } else if due == now {
            self.lag_us -= self.lag_us.div_ceil(16);
        }
        if late > PAUSE {
            self.awake_since = self.last_step;
        }
        if late > timeout / LONG_PAUSE {
            self.back_since = self.last_step;
        }
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
