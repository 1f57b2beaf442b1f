//! The processor time of this process.

use core::fmt;
use core::str::FromStr;
use core::time::Duration;
use std::io;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use porous_std::{Clock, Instant};

/// What one of the two processes did while it was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// Processor time, of the process's own code and of the system's.
    pub(crate) processor: Duration,
    pub(crate) elapsed: Duration,
    /// Messages that were read.
    pub(crate) read: u64,
}

/// In microseconds.
impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [processor, elapsed] = [self.processor, self.elapsed].map(|time| time.as_micros());
        write!(f, "{processor} {elapsed} {}", self.read)
    }
}

impl FromStr for Part {
    type Err = io::Error;

    fn from_str(said: &str) -> io::Result<Self> {
        let mut words = said.split_whitespace().map(str::parse);
        match [words.next(), words.next(), words.next(), words.next()] {
            [Some(Ok(processor)), Some(Ok(elapsed)), Some(Ok(read)), None] => Ok(Self {
                processor: Duration::from_micros(processor),
                elapsed: Duration::from_micros(elapsed),
                read,
            }),
            _ => Err(io::Error::other(format!("not understood: {said:?}"))),
        }
    }
}

/// A measurement that has begun.
pub(crate) struct Meter {
    clock: Clock,
    /// The processor time at the beginning.
    before: Duration,
    /// Messages that were read before.
    read: u64,
}

impl Meter {
    pub(crate) fn start(read: u64) -> io::Result<Self> {
        Ok(Self {
            clock: Clock::start(),
            before: processor_time()?,
            read,
        })
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.clock.now().saturating_duration_since(Instant::ZERO)
    }

    pub(crate) fn part(&self, read: u64) -> io::Result<Part> {
        Ok(Part {
            processor: processor_time()?.saturating_sub(self.before),
            elapsed: self.elapsed(),
            read: read - self.read,
        })
    }
}

fn processor_time() -> io::Result<Duration> {
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Ok(Duration::from_micros(micros.unsigned_abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_says_is_understood() {
        let part = Part {
            processor: Duration::from_micros(12),
            elapsed: Duration::from_micros(34),
            read: 56,
        };
        assert_eq!(part.to_string().parse::<Part>().unwrap(), part);
        for said in ["", "1 2", "1 2 3 4", "1 2 x"] {
            assert!(said.parse::<Part>().is_err(), "{said}");
        }
    }
}
