//! The probes of one mode, and what became of them.

use core::time::Duration;

use porous_std::{Instant, Mode};

use crate::echo::{Count, Message};
use crate::latency::Latencies;
use crate::minute::Minute;

/// One mode's probes and echoes.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) mode: Mode,
    /// Probes a second.
    rate: u32,
    /// When the first probe is due: the modes do not send at once.
    phase: Duration,
    /// Probes that were due.
    due: u64,
    /// Probes that the host took; the serial of the next one.
    pub(crate) sent: u64,
    /// Probes that were due and found no room at the host.
    pub(crate) not_sent: u64,
    /// Echoes that came.
    pub(crate) back: u64,
    /// What the server has counted, as far as it has said so.
    pub(crate) there: Count,
    pub(crate) round_trips: Latencies,
    /// The longest round trip of all, and of each second, in microseconds.
    pub(crate) longest: Duration,
    pub(crate) minute: Minute,
}

impl Stream {
    /// Probes that begin when `share` of the time between two has passed, in thirds.
    pub(crate) fn new(mode: Mode, rate: u32, thirds: u32) -> Self {
        Self {
            mode,
            rate,
            phase: Duration::from_secs(1) * thirds / (3 * rate),
            due: 0,
            sent: 0,
            not_sent: 0,
            back: 0,
            there: Count::default(),
            round_trips: Latencies::default(),
            longest: Duration::ZERO,
            minute: Minute::default(),
        }
    }

    /// Sends the probes that are due after `elapsed`. `send` gets the serial of each, and returns false if the
    /// host has no room: such a probe is not sent later, as it would measure the queue of this program.
    pub(crate) fn send_due(&mut self, elapsed: Duration, mut send: impl FnMut(u64) -> bool) {
        let Some(since) = elapsed.checked_sub(self.phase) else {
            return;
        };
        let due = since.as_micros() * u128::from(self.rate) / 1_000_000 + 1;
        let due = u64::try_from(due).unwrap_or(u64::MAX);
        while self.due < due {
            self.due += 1;
            if send(self.sent) {
                self.sent += 1;
            } else {
                self.not_sent += 1;
            }
        }
    }

    /// When the next probe is due, since the first could be.
    pub(crate) fn next_due(&self) -> Duration {
        let micros = u128::from(self.due) * 1_000_000;
        let micros = micros.div_ceil(u128::from(self.rate));
        self.phase + Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
    }

    /// Takes an echo at `now`. One of a probe that was not sent counts for nothing: a server may say anything.
    pub(crate) fn take(&mut self, echo: Message, now: Instant) {
        let Message::Echo {
            serial,
            sent,
            counted,
        } = echo
        else {
            return;
        };
        if serial >= self.sent || self.back >= self.sent {
            return;
        }
        self.back += 1;
        let round_trip = now.saturating_duration_since(sent);
        self.round_trips.record(round_trip);
        self.longest = self.longest.max(round_trip);
        let micros = u64::try_from(round_trip.as_micros()).unwrap_or(u64::MAX);
        let since = now.saturating_duration_since(Instant::ZERO);
        self.minute.greatest(since, micros);
        let counted = counted.min(self.sent);
        self.there.probes = self.there.probes.max(counted);
        // Until the server says how many echoes it has sent: it echoes all, but for those without room.
        self.there.echoes = self.there.probes;
    }

    /// Takes what the server has counted in the end.
    pub(crate) fn counted(&mut self, count: Count) {
        self.there.probes = count.probes.min(self.sent).max(self.back);
        self.there.echoes = count.echoes.min(self.there.probes).max(self.back);
    }

    /// True if every probe is back.
    pub(crate) const fn is_complete(&self) -> bool {
        self.back >= self.sent
    }

    /// Probes that the server has not counted, in percent of those that were sent.
    pub(crate) fn loss_there(&self) -> f64 {
        percent(self.sent - self.there.probes, self.sent)
    }

    /// Echoes that have not come, in percent of those that the server has sent.
    pub(crate) fn loss_back(&self) -> f64 {
        percent(
            self.there.echoes.saturating_sub(self.back),
            self.there.echoes,
        )
    }
}

/// `part` of `all` in percent; 0 of nothing.
pub(crate) fn percent(part: u64, all: u64) -> f64 {
    if all == 0 {
        return 0.0;
    }
    100.0 * part as f64 / all as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn stream() -> Stream {
        Stream::new(Mode::Unreliable, 60, 1)
    }

    fn echo(serial: u64, counted: u64) -> Message {
        Message::Echo {
            serial,
            sent: Instant::ZERO,
            counted,
        }
    }

    #[test]
    fn the_clock_makes_probes() {
        let mut stream = stream();
        stream.send_due(Duration::ZERO, |_| panic!("none is due"));
        let mut serials = Vec::new();
        stream.send_due(SECOND, |serial| {
            serials.push(serial);
            true
        });
        assert_eq!(serials, (0..60).collect::<Vec<_>>());
        let next = stream.next_due();
        assert!(next > SECOND && next < SECOND + SECOND / 60, "{next:?}");
        stream.send_due(next, |_| true);
        assert_eq!(stream.sent, 61);
    }

    #[test]
    fn probes_without_room_are_counted_and_have_no_serial() {
        let mut stream = stream();
        stream.send_due(SECOND, |serial| serial < 10);
        assert_eq!((stream.sent, stream.not_sent), (10, 50));
    }

    #[test]
    fn losses_are_told_for_each_way() {
        let mut stream = stream();
        stream.send_due(SECOND, |_| true);
        let now = Instant::ZERO + Duration::from_millis(20);
        for serial in 0..45 {
            stream.take(echo(serial, serial + 1), now);
        }
        assert_eq!((stream.loss_there(), stream.loss_back()), (25.0, 0.0));
        stream.counted(Count {
            probes: 54,
            echoes: 50,
        });
        assert_eq!((stream.loss_there(), stream.loss_back()), (10.0, 10.0));
        assert_eq!(stream.round_trips.percentile(99), Some(20.0));
        assert!(!stream.is_complete());
    }

    #[test]
    fn a_server_that_lies_breaks_nothing() {
        let mut stream = stream();
        stream.take(echo(0, 1), Instant::ZERO);
        assert_eq!(stream.back, 0, "nothing was sent");
        stream.send_due(Duration::from_millis(50), |_| true);
        let sent = stream.sent;
        for _ in 0..100 {
            stream.take(echo(0, u64::MAX), Instant::ZERO);
            stream.take(echo(u64::MAX, 0), Instant::ZERO);
        }
        assert_eq!((stream.back, stream.there.probes), (sent, sent));
        for lie in [0, u64::MAX] {
            stream.counted(Count {
                probes: lie,
                echoes: lie,
            });
            assert_eq!((stream.loss_there(), stream.loss_back()), (0.0, 0.0));
        }
    }
}
