//! The times at which a host is called: at once, or at the ticks of its game loop.

use core::time::Duration;

use porous_proto::Instant;

/// How long the drivers take datagrams in, and how long they send, in one turn.
const TURN: Duration = Duration::from_millis(8);

/// The way in which the program around a host calls it.
///
/// ```
/// use core::time::Duration;
/// use porous_sim::Service;
///
/// let server = Service::Event;
/// let game = Service::Tick { every: Duration::from_secs(1) / 60, offset: Duration::ZERO };
/// assert_eq!(Service::default(), server);
/// assert_eq!(Service::tick(Duration::from_secs(1) / 60), game);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Service {
    /// Whenever a datagram arrives, and whenever the host's deadline comes: a thread that waits on its
    /// socket.
    #[default]
    Event,
    /// Once a frame of the game, and never in between: datagrams that arrive wait in the socket's
    /// buffer, packets that are sent wait for the next tick.
    Tick {
        /// From one tick to the next. Not rounded: the ticks of `Duration::from_secs(1) / 60` do
        /// not drift.
        every: Duration,
        /// When the first tick is: hosts with different offsets tick out of phase.
        offset: Duration,
    },
    /// By a core that takes this time for each datagram, in or out, and does nothing else. It works in
    /// turns, as the drivers do: it takes in what has arrived, for at most 8 ms, and then sends, for at
    /// most 8 ms. What comes meanwhile waits in the socket's buffer.
    Core(Duration),
}

impl Service {
    /// Ticks without an offset.
    ///
    /// ```
    /// let _30_hz = porous_sim::Service::tick(core::time::Duration::from_secs(1) / 30);
    /// ```
    #[must_use]
    pub const fn tick(every: Duration) -> Self {
        Self::Tick {
            every,
            offset: Duration::ZERO,
        }
    }

    /// The first time, `time` or later, at which this service calls a host that has a reason to be called.
    pub(crate) fn at_or_after(self, time: Instant) -> Instant {
        let (every, offset) = match self {
            Self::Event | Self::Core(_) => return time,
            Self::Tick { every, offset } => (every, offset),
        };
        // In nanoseconds from the first tick on, so that a period of 1/60 s does not drift.
        let (every, offset) = (every.as_nanos().max(1), offset.as_nanos());
        let time = u128::from(time.as_micros()) * 1000;
        let ticks = time.saturating_sub(offset).div_ceil(every);
        let micros = (offset + ticks * every) / 1000;
        Instant::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
    }

    /// The most datagrams that one turn takes in, and the most that it sends.
    pub(crate) fn at_once(self) -> usize {
        match self {
            Self::Event | Self::Tick { .. } => usize::MAX,
            Self::Core(each) => {
                let datagrams = TURN.as_nanos().div_ceil(each.as_nanos().max(1));
                usize::try_from(datagrams).unwrap_or(usize::MAX)
            }
        }
    }

    /// The earliest time at which the host can be called again, after a call at `now` in which it took in and
    /// sent this many datagrams.
    pub(crate) fn rest(self, now: Instant, datagrams: usize) -> Instant {
        match self {
            Self::Event => now,
            Self::Tick { .. } => now + Duration::from_micros(1),
            Self::Core(each) => now + each * u32::try_from(datagrams).unwrap_or(u32::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Instant {
        Instant::from_micros(micros)
    }

    #[test]
    fn events_are_served_at_once() {
        assert_eq!(Service::Event.at_or_after(at(123)), at(123));
    }

    #[test]
    fn ticks_keep_their_phase() {
        let service = Service::Tick {
            every: Duration::from_millis(10),
            offset: Duration::from_millis(3),
        };
        for (time, tick) in [(0, 3000), (3000, 3000), (3001, 13_000), (13_000, 13_000)] {
            assert_eq!(service.at_or_after(at(time)), at(tick), "{time}");
        }
        assert_eq!(service.at_or_after(service.rest(at(3000), 0)), at(13_000));
    }

    #[test]
    fn a_sixtieth_of_a_second_does_not_drift() {
        let service = Service::tick(Duration::from_secs(1) / 60);
        let mut now = Instant::ZERO;
        for _ in 0..60 * 60 {
            now = service.at_or_after(service.rest(now, 0));
        }
        // A sixtieth of a second is rounded down by 2/3 of a nanosecond, 3600 times.
        assert_eq!(now, at(59_999_997));
    }

    #[test]
    fn a_tick_without_length_is_one_without_effect() {
        assert_eq!(Service::tick(Duration::ZERO).at_or_after(at(7)), at(7));
    }

    #[test]
    fn the_last_tick_is_never() {
        let service = Service::tick(Duration::MAX);
        assert_eq!(service.at_or_after(at(1)), at(u64::MAX));
    }
}
