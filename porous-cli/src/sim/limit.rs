//! When a long run ends before its work does.

use core::time::Duration;

use crate::clock::Clock;
use crate::stop::Stop;

/// Ends a run when the user stops it, or after some minutes.
#[derive(Debug)]
pub(super) struct Limit {
    stop: Stop,
    clock: Clock,
    time: Option<Duration>,
}

impl Limit {
    /// Begins now.
    pub(super) fn new(minutes: Option<u32>) -> Result<Self, String> {
        Ok(Self {
            stop: Stop::on_signal().map_err(|error| error.to_string())?,
            clock: Clock::start(),
            time: minutes.map(|minutes| Duration::from_secs(60) * minutes),
        })
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.clock.elapsed()
    }

    /// Whether no further work may begin.
    pub(super) fn is_over(&self) -> bool {
        self.stop.is_asked() || self.time.is_some_and(|time| self.elapsed() >= time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_ends_after_its_time_or_when_it_is_stopped() {
        let limit = |time| Limit {
            stop: Stop::default(),
            clock: Clock::start(),
            time,
        };
        assert!(limit(Some(Duration::ZERO)).is_over());
        let long = limit(Some(Duration::from_secs(3600)));
        assert!(!long.is_over() && !limit(None).is_over());
        long.stop.ask();
        assert!(long.is_over());
    }
}
