//! The time that the driver told the host, and how regularly it steps the host (§2.1;
//! `docs/deviations.md` T23).

use crate::peer::Tick;
use crate::time::{Instant, Micros};

/// Two steps that are further apart than this say nothing of how often the host is stepped. A step that
/// comes later than this after something was due ends a pause.
const PAUSE: Micros = Micros::from_millis(250);

/// A pause that is longer than the timeout divided by this excuses the silence of a peer: shorter ones
/// leave it time enough to be heard. A host whose steps are always a second apart, with something due in
/// between, must not excuse dead peers for ever.
const LONG_PAUSE: u64 = 4;

/// The time, and what is known of the host's steps.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Steps {
    /// The latest time that any call told.
    now: Instant,
    last_step: Instant,
    /// T_step,avg of (7).
    step: Micros,
    /// The recent worst lateness of a step against the deadline that it was for; it decays by 1/16 a step.
    lag: Micros,
    /// Time of the step that ended the last pause.
    awake_since: Instant,
    /// Time of the step that ended the last long pause.
    back_since: Instant,
}

impl Steps {
    pub(super) const fn now(&self) -> Instant {
        self.now
    }

    /// The present, at the time that the driver tells.
    pub(super) fn advance(&mut self, now: Instant) -> Tick {
        // A clock that runs backwards stands still here, and none reaches the time that never comes.
        self.now = self.now.max(now.min(Instant::LAST));
        Tick {
            now: self.now,
            step: self.step,
            lag: self.lag,
            is_full: false,
            may_keep: u64::MAX,
            awake_since: self.awake_since,
            back_since: self.back_since,
        }
    }

    /// Notes a step of the host. `due`: the earliest deadline; `timeout`: the silence that ends a peer.
    pub(super) fn step(&mut self, now: Instant, due: Option<Instant>, timeout: Micros) -> Tick {
        self.measure(now.min(Instant::LAST), due, timeout);
        self.advance(now)
    }

    /// Measures T_step,avg (7), lateness and pauses.
    fn measure(&mut self, now: Instant, due: Option<Instant>, timeout: Micros) {
        let elapsed = now.since(self.last_step);
        self.last_step = self.last_step.max(now);
        // Pauses stay out of the average, and so do several calls at one time.
        if !elapsed.is_zero() && elapsed <= PAUSE {
            self.step = (7 * self.step + elapsed) / 8;
        }
        // Sleeping until the next deadline is no pause: only a step that something waited for is late.
        let due = due.unwrap_or(now);
        let late = now.since(due);
        if due < now && late <= PAUSE {
            // A worse lateness counts at once, and fades step by step.
            self.lag = late.max(self.lag - self.lag / 16);
        } else if due == now {
            // In time: by this a host that was late once is soon taken for punctual again.
            let lag = self.lag.get();
            self.lag = Micros::new(lag - lag.div_ceil(16));
        }
        if late > PAUSE {
            self.awake_since = self.last_step;
        }
        if late > timeout / LONG_PAUSE {
            self.back_since = self.last_step;
        }
    }
}

#[cfg(test)]
mod tests;
