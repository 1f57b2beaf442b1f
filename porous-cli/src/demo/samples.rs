//! What the connections were like over time, for the graphs.

use core::time::Duration;

use porous_std::{Peer, PeerStats, UdpHost};

/// The time between two samples of a short run.
const EVERY: Duration = Duration::from_millis(100);

/// The most samples: a picture has no room for more.
const MOST: u32 = 600;

/// All connections together, in the time since the sample before.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Sample {
    /// Seconds since the start.
    pub(crate) at: f64,
    /// The median round trip, in milliseconds; 0 before any was measured.
    pub(crate) rtt_ms: f64,
    /// The longest one, in milliseconds.
    pub(crate) rtt_worst_ms: f64,
    /// Datagrams of the server that were found lost.
    pub(crate) lost: u64,
    /// What the server sent, in kB a second.
    pub(crate) sent_rate: f64,
    /// What waits at the server to be sent, in kB.
    pub(crate) queued: f64,
}

/// The samples, the oldest first.
#[derive(Debug)]
pub(crate) struct Samples {
    every: Duration,
    next: Duration,
    all: Vec<Sample>,
    bytes: u64,
    lost: u64,
}

impl Samples {
    /// For a run of this many seconds.
    pub(crate) fn new(seconds: u32) -> Self {
        Self {
            every: EVERY.max(Duration::from_secs(seconds.into()) / MOST),
            next: Duration::ZERO,
            all: Vec::new(),
            bytes: 0,
            lost: 0,
        }
    }

    /// Takes a sample if it is time.
    pub(crate) fn take<C>(&mut self, elapsed: Duration, server: &UdpHost<C>) {
        // The end of a run may come long after its traffic: that is no part of the picture.
        if elapsed < self.next || self.all.len() > MOST as usize {
            return;
        }
        let stats: Vec<PeerStats> = server.peers().map(|(_, peer)| Peer::stats(peer)).collect();
        self.add(elapsed, &stats, server.stats().bytes_sent);
        self.next = elapsed + self.every;
    }

    fn add(&mut self, elapsed: Duration, stats: &[PeerStats], bytes: u64) {
        let is_measured = |stats: &&PeerStats| !stats.rtt_minimum.is_zero();
        let measured = stats.iter().filter(is_measured);
        let mut rtts: Vec<Duration> = measured.map(|stats| stats.rtt).collect();
        rtts.sort_unstable();
        let ms = |rtt: Option<&Duration>| rtt.map_or(0.0, |rtt| rtt.as_secs_f64() * 1000.0);
        let at = elapsed.as_secs_f64();
        // The first sample is where the counts begin: what was sent before belongs to the handshakes.
        let since = self.all.last().map_or(0.0, |before| at - before.at);
        let lost = stats.iter().map(|stats| stats.frames_lost).sum();
        let queued: u64 = stats
            .iter()
            .map(|stats| u64::from(stats.queued_bytes))
            .sum();
        let sent = bytes.saturating_sub(self.bytes) as f64;
        self.all.push(Sample {
            at,
            rtt_ms: ms(rtts.get(rtts.len() / 2)),
            rtt_worst_ms: ms(rtts.last()),
            // A connection that has ended takes its losses along.
            lost: u64::saturating_sub(lost, self.lost),
            sent_rate: if since > 0.0 { sent / since / 1e3 } else { 0.0 },
            queued: queued as f64 / 1e3,
        });
        (self.bytes, self.lost) = (bytes, lost);
    }

    pub(crate) fn all(&self) -> &[Sample] {
        &self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_tell_what_came_since_the_one_before() {
        let peer = |rtt, lost, queued| {
            let mut stats = PeerStats::default();
            stats.rtt = Duration::from_millis(rtt);
            stats.rtt_minimum = stats.rtt;
            stats.frames_lost = lost;
            stats.queued_bytes = queued;
            stats
        };
        let mut samples = Samples::new(10);
        let second = Duration::from_secs(1);
        samples.add(second, &[peer(60, 2, 500)], 30_000);
        samples.add(
            3 * second,
            &[peer(62, 5, 0), peer(90, 1, 3000), peer(61, 0, 0)],
            90_000,
        );
        let mut guessed = peer(200, 6, 0);
        guessed.rtt_minimum = Duration::ZERO;
        samples.add(4 * second, &[guessed], 90_000);
        let sample = |at, rtt_ms, rtt_worst_ms, lost, sent_rate, queued| Sample {
            at,
            rtt_ms,
            rtt_worst_ms,
            lost,
            sent_rate,
            queued,
        };
        let expected = [
            sample(1.0, 60.0, 60.0, 2, 0.0, 0.5),
            sample(3.0, 62.0, 90.0, 4, 30.0, 3.0),
            sample(4.0, 0.0, 0.0, 0, 0.0, 0.0),
        ];
        assert_eq!(samples.all(), expected);
    }

    #[test]
    fn a_long_run_has_no_more_samples_than_a_picture_shows() {
        assert_eq!(Samples::new(1).every, EVERY);
        assert_eq!(Samples::new(3600).every, Duration::from_secs(6));
    }
}
