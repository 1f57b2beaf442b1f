//! The last minute of a connection, second by second.

use core::time::Duration;

use porous_proto::{Instant, PeerStats};

/// Seconds that a [`History`] remembers, the current one included.
pub const SECONDS: usize = 60;

/// What a connection was like in one second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Second {
    /// The longest [`rtt`](PeerStats::rtt) of the samples.
    pub rtt: Duration,
    /// The longest [`jitter`](PeerStats::jitter).
    pub jitter: Duration,
    /// The greatest [`loss_sent`](PeerStats::loss_sent), in hundredths of a percent.
    pub loss_sent: u16,
    /// The greatest [`loss_received`](PeerStats::loss_received), in hundredths of a percent.
    pub loss_received: u16,
    /// The most [`queued_bytes`](PeerStats::queued_bytes).
    pub queued_bytes: u32,
    /// The least [`quality`](PeerStats::quality), from 0 to 100.
    pub quality: u8,
    /// Bytes of UDP payload sent since the sample before; 0 at the first sample, as all that follows.
    pub bytes_sent: u64,
    /// Bytes of UDP payload received since the sample before.
    pub bytes_received: u64,
    /// Frames sent since the sample before.
    pub frames_sent: u64,
    /// Frames that were found to be lost since the sample before, those that came late not counted.
    pub frames_lost: u64,
}

/// What grows as long as the connection lasts.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    bytes_sent: u64,
    bytes_received: u64,
    frames_sent: u64,
    frames_lost: u64,
}

impl Totals {
    const fn of(stats: &PeerStats) -> Self {
        Self {
            bytes_sent: stats.bytes_sent,
            bytes_received: stats.bytes_received,
            frames_sent: stats.frames_sent,
            frames_lost: stats.frames_lost.saturating_sub(stats.frames_spurious),
        }
    }
}

/// The last minute of one connection, for a graph in the game or in a log. Its memory is fixed, about 4 kB.
///
/// The application samples the statistics of the peer, once a second or in each tick: a second that was sampled
/// more often has the worst of the values, and the sum of what was counted. A game that draws a graph after a
/// bad moment had sampled before it: so keep one for each connection, and not only while the graph is open.
///
/// ```
/// use porous_metrics::History;
/// use porous_std::{Config, UdpHost};
///
/// let mut client = UdpHost::bind("127.0.0.1:0", Config::client())?;
/// let server = client.connect(([127, 0, 0, 1], 4000).into()).expect("the first call");
/// let mut history = History::new();
/// if let Some(peer) = client.peer(server) {
///     history.sample(&peer.stats(), client.now()); // in each tick
/// }
/// let longest = history.seconds().flatten().map(|second| second.rtt).max();
/// assert!(longest.is_some());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct History {
    /// A ring: the second n since the time zero of the host has the place n modulo [`SECONDS`].
    ring: [Option<Second>; SECONDS],
    /// The number of the newest second; `None` before the first sample.
    newest: Option<u64>,
    /// What was counted at the last sample; `None` before the first.
    last: Option<Totals>,
}

impl Default for History {
    fn default() -> Self {
        Self::new()
    }
}

impl History {
    /// A history without seconds.
    ///
    /// ```
    /// use porous_metrics::History;
    ///
    /// assert_eq!(History::new().seconds().count(), 0);
    /// ```
    #[must_use]
    pub const fn new() -> Self {
        Self {
            ring: [None; SECONDS],
            newest: None,
            last: None,
        }
    }

    /// Takes a sample of one peer's statistics. `now` is the time of its host; a time before that of the last
    /// sample counts as in the same second.
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_metrics::History;
    /// use porous_proto::{Instant, PeerStats};
    ///
    /// let mut history = History::new();
    /// let mut stats = PeerStats::default();
    /// stats.rtt = Duration::from_millis(40);
    /// history.sample(&stats, Instant::ZERO);
    /// history.sample(&stats, Instant::ZERO + Duration::from_secs(2));
    /// let rtts: Vec<_> = history.seconds().map(|second| Some(second?.rtt)).collect();
    /// assert_eq!(rtts, [Some(stats.rtt), None, Some(stats.rtt)]);
    /// ```
    pub fn sample(&mut self, stats: &PeerStats, now: Instant) {
        let second = now.saturating_duration_since(Instant::ZERO).as_secs();
        let second = self.turn_to(second);
        let totals = Totals::of(stats);
        // What was counted before the first sample is not of this second.
        let last = self.last.replace(totals).unwrap_or(totals);
        let place = self.ring[place(second)].get_or_insert_with(|| Second {
            quality: u8::MAX,
            ..Second::default()
        });
        place.rtt = place.rtt.max(stats.rtt);
        place.jitter = place.jitter.max(stats.jitter);
        place.loss_sent = place.loss_sent.max(stats.loss_sent);
        place.loss_received = place.loss_received.max(stats.loss_received);
        place.queued_bytes = place.queued_bytes.max(stats.queued_bytes);
        place.quality = place.quality.min(stats.quality);
        // Losses that prove to be none may make the count smaller.
        place.bytes_sent += totals.bytes_sent.saturating_sub(last.bytes_sent);
        place.bytes_received += totals.bytes_received.saturating_sub(last.bytes_received);
        place.frames_sent += totals.frames_sent.saturating_sub(last.frames_sent);
        place.frames_lost += totals.frames_lost.saturating_sub(last.frames_lost);
    }

    /// Makes this second the newest, and forgets what is older than a minute. Returns the newest.
    fn turn_to(&mut self, second: u64) -> u64 {
        let Some(newest) = self.newest else {
            self.newest = Some(second);
            return second;
        };
        // More than a minute without samples: the same places as in a minute.
        let skipped = second.saturating_sub(newest).min(SECONDS as u64);
        for old in 0..skipped {
            self.ring[place(second - old)] = None;
        }
        self.newest = Some(second.max(newest));
        second.max(newest)
    }

    /// The seconds of the last minute, the oldest first and the current one last: [`SECONDS`] at most, from the
    /// first sample on. `None` of a second in which nothing was sampled; what was counted meanwhile is in the
    /// next one.
    ///
    /// ```
    /// use porous_metrics::History;
    /// use porous_proto::{Instant, PeerStats};
    ///
    /// let mut history = History::new();
    /// history.sample(&PeerStats::default(), Instant::ZERO);
    /// assert_eq!(history.seconds().count(), 1);
    /// ```
    pub fn seconds(&self) -> impl DoubleEndedIterator<Item = Option<&Second>> {
        let newest = self.newest.unwrap_or(0);
        let oldest = (newest + 1).saturating_sub(SECONDS as u64);
        let at = |second: u64| self.ring[place(second)].as_ref();
        // Before the first sample there is no gap, but nothing.
        let first = (oldest..=newest).find(|&second| at(second).is_some());
        let begin = first.unwrap_or(newest + 1);
        (begin..newest + 1).map(at)
    }
}

/// The place of a second in the ring.
#[expect(clippy::cast_possible_truncation, reason = "less than 60")]
const fn place(second: u64) -> usize {
    (second % SECONDS as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn stats(rtt: u64, bytes: u64) -> PeerStats {
        let mut stats = PeerStats::default();
        stats.rtt = Duration::from_millis(rtt);
        stats.bytes_sent = bytes;
        stats.quality = u8::try_from(rtt).unwrap();
        stats
    }

    fn rtts(history: &History) -> Vec<Option<u128>> {
        let seconds = history.seconds();
        seconds
            .map(|second| Some(second?.rtt.as_millis()))
            .collect()
    }

    #[test]
    fn a_second_has_the_worst_values_and_the_sum_of_what_was_counted() {
        let mut history = History::new();
        for (millis, rtt, bytes) in [(0, 30, 10), (300, 50, 25), (900, 40, 75), (1000, 20, 80)] {
            history.sample(&stats(rtt, bytes), at(millis));
        }
        let seconds: Vec<_> = history.seconds().flatten().collect();
        assert_eq!(rtts(&history), [Some(50), Some(20)]);
        assert_eq!((seconds[0].quality, seconds[1].quality), (30, 20));
        assert_eq!((seconds[0].bytes_sent, seconds[1].bytes_sent), (65, 5));
    }

    #[test]
    fn a_minute_is_remembered_and_no_more() {
        let mut history = History::new();
        for second in 0..100 {
            history.sample(&stats(second, 0), at(1000 * second));
        }
        let expected: Vec<_> = (40..100).map(Some).collect();
        assert_eq!(rtts(&history), expected);
    }

    #[test]
    fn seconds_without_samples_are_gaps_and_what_was_counted_is_in_the_next() {
        let mut history = History::new();
        history.sample(&stats(1, 10), at(5_000));
        history.sample(&stats(2, 40), at(8_999));
        assert_eq!(rtts(&history), [Some(1), None, None, Some(2)]);
        assert_eq!(
            history.seconds().next_back().flatten().unwrap().bytes_sent,
            30
        );
        // Longer than all that is remembered.
        for (pause, millis) in [(59, 67_000), (60, 127_000), (3600, 3_727_000)] {
            history.sample(&stats(3, 40), at(millis));
            let gaps = rtts(&history).iter().filter(|rtt| rtt.is_none()).count();
            let expected = if pause < 60 { 58 } else { 0 };
            assert_eq!(gaps, expected, "{pause}");
            assert_eq!(rtts(&history).last(), Some(&Some(3)));
        }
    }

    #[test]
    fn a_clock_that_goes_back_and_losses_that_were_none_do_no_harm() {
        let mut history = History::new();
        let mut stats = stats(1, 10);
        stats.frames_lost = 5;
        history.sample(&stats, at(9_000));
        stats.frames_spurious = 3;
        history.sample(&stats, at(2_000));
        assert_eq!(rtts(&history), [Some(1)]);
        stats.frames_lost = 6;
        history.sample(&stats, at(10_000));
        let lost = history.seconds().flatten().map(|second| second.frames_lost);
        assert_eq!(lost.collect::<Vec<_>>(), [0, 1]);
        history.sample(&stats, Instant::from_micros(u64::MAX));
        assert_eq!(rtts(&history).len(), 1);
    }
}
