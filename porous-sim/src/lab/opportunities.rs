//! A recorded road: when a packet may leave, as the files of Mahimahi say it (Netravali and others, "Mahimahi:
//! Accurate Record-and-Replay for HTTP", 2015).

use alloc::vec::Vec;
use core::str::FromStr;

use porous_proto::Instant;

/// The bytes that may leave at each opportunity.
const PACKET: u64 = 1500;

/// The times at which a packet of 1500 bytes may leave. They begin again when the last one is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Opportunities {
    /// In milliseconds, ascending. The last one is the length of the trace, and more than 0.
    times: Vec<u64>,
}

/// A place in a trace.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Position {
    /// Opportunities that are over.
    over: u64,
    /// Bytes of the next one that are used.
    used: u64,
}

/// The text is no trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NoTrace;

impl FromStr for Opportunities {
    type Err = NoTrace;

    /// A line with a whole number of milliseconds for each opportunity.
    fn from_str(text: &str) -> Result<Self, NoTrace> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let times: Result<Vec<u64>, _> = lines.map(str::parse).collect();
        let times = times.map_err(|_| NoTrace)?;
        // A day is long enough, and no sum of such times overflows.
        let is_good = |last: u64| (1..=86_400_000).contains(&last) && times.is_sorted();
        if !times.last().copied().is_some_and(is_good) {
            return Err(NoTrace);
        }
        Ok(Self { times })
    }
}

impl Opportunities {
    /// The mean rate, in bits a second.
    pub(super) fn rate(&self) -> u64 {
        let length = self.times.last().copied().unwrap_or(1);
        8 * PACKET * self.count() * 1000 / length
    }

    /// When the opportunity with this number is, counted from the first of the first round.
    fn time(&self, number: u64) -> Instant {
        let (round, place) = (number / self.count(), number % self.count());
        let place = usize::try_from(place).unwrap_or_default();
        let length = self.times.last().copied().unwrap_or(1);
        let millis = self
            .times
            .get(place)
            .map_or(0, |time| round * length + time);
        Instant::from_micros(1000 * millis)
    }

    fn count(&self) -> u64 {
        self.times.len() as u64
    }

    /// The number of the first opportunity at this time or later.
    fn first_from(&self, at: Instant) -> u64 {
        let millis = at.as_micros().div_ceil(1000);
        let length = self.times.last().copied().unwrap_or(1);
        // The end of a round is in the round: a time of 0 in the next one comes at the same moment.
        let round = millis.saturating_sub(1) / length;
        let rest = millis - round * length;
        round * self.count() + self.times.partition_point(|&time| time < rest) as u64
    }

    /// Sends these bytes from `from` on. Returns when the last of them leaves.
    pub(super) fn send(&self, position: &mut Position, from: Instant, bytes: u64) -> Instant {
        let first = self.first_from(from);
        if first > position.over {
            // Opportunities that found nothing to send are lost.
            *position = Position {
                over: first,
                used: 0,
            };
        }
        let all = position.used + bytes;
        let last = all.saturating_sub(1) / PACKET;
        position.over += last;
        position.used = all - last * PACKET;
        self.time(position.over)
    }

    /// The bytes that may leave from `from` to `to`, the latter excluded.
    pub(super) fn capacity(&self, from: Instant, to: Instant) -> u64 {
        let [from, to] = [from, to].map(|at| self.first_from(at));
        to.saturating_sub(from) * PACKET
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::from_micros(1000 * millis)
    }

    #[test]
    fn a_trace_is_lines_of_ascending_milliseconds() {
        for bad in [
            "",
            "\n",
            "0\n",
            "3\n2\n",
            "1\nx\n",
            "-1\n",
            "1.5\n",
            "99999999999",
        ] {
            assert_eq!(bad.parse::<Opportunities>(), Err(NoTrace), "{bad:?}");
        }
        for good in ["1", "0\n0\n3\n", " 4 \r\n9\r\n"] {
            assert!(good.parse::<Opportunities>().is_ok(), "{good:?}");
        }
    }

    #[test]
    fn a_trace_begins_again_and_unused_opportunities_are_lost() {
        let trace: Opportunities = "2\n10\n".parse().unwrap();
        let mut position = Position::default();
        let mut send = |from, bytes| trace.send(&mut position, at(from), bytes);
        assert_eq!(send(0, 1500), at(2));
        assert_eq!(send(2, 700), at(10));
        assert_eq!(send(10, 800), at(10), "the rest of the same");
        assert_eq!(send(10, 1), at(12));
        assert_eq!(send(21, 3000), at(30));
        assert_eq!(trace.capacity(at(0), at(10)), 1500);
        assert_eq!(trace.capacity(at(0), at(1001)), 200 * 1500);
    }
}
