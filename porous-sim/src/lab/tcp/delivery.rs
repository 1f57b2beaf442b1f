//! Samples of the rate at which segments arrive (draft-ietf-ccwg-bbr, "Delivery Rate Samples").
//!
//! A sample spans one round trip: from the acknowledgement before a segment was sent to that of the
//! segment. Volumes are in segments.

use porous_proto::Instant;

/// The state of the connection when a segment was sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sent {
    pub(super) number: u32,
    pub(super) at: Instant,
    /// True if the segment was sent before.
    pub(super) again: bool,
    /// Segments that had arrived.
    pub(super) delivered: u64,
    /// The time of the newest acknowledgement.
    pub(super) delivered_at: Instant,
    /// When the newest segment that had arrived was sent.
    pub(super) first_at: Instant,
    /// Segments that had been lost.
    pub(super) lost: u64,
    /// Segments in flight, with this one.
    pub(super) in_flight: u32,
    /// True if the flight was smaller than the path takes, so that the sample tells little of the path.
    pub(super) held_back: bool,
}

/// What an acknowledgement tells of the path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// The newest segment that arrived.
    pub(super) newest: Sent,
    /// Segments that arrived since the newest was sent.
    pub(super) volume: f64,
    /// Segments a second.
    pub(super) rate: f64,
    /// The round trip in seconds; `None` if it is not known which sending of the segment has arrived.
    pub(super) rtt: Option<f64>,
}

/// The count of segments that arrive.
#[derive(Debug)]
pub(super) struct Delivery {
    delivered: u64,
    delivered_at: Instant,
    /// When the newest segment that has arrived was sent, or the first of a new flight.
    first_at: Instant,
    /// The newest segment of the acknowledgement that is being read.
    newest: Option<Sent>,
    /// The shortest round trip, in seconds.
    least_rtt: f64,
    /// Segments are held back until this many have arrived.
    held_back_until: u64,
}

impl Delivery {
    pub(super) const fn new() -> Self {
        Self {
            delivered: 0,
            delivered_at: Instant::ZERO,
            first_at: Instant::ZERO,
            newest: None,
            least_rtt: f64::INFINITY,
            held_back_until: 0,
        }
    }

    pub(super) const fn delivered(&self) -> u64 {
        self.delivered
    }

    /// "Transmitting a data packet". Fills in what `sent` is to remember of the deliveries.
    pub(super) const fn send(&mut self, mut sent: Sent) -> Sent {
        if sent.in_flight == 1 {
            self.first_at = sent.at;
            self.delivered_at = sent.at;
        }
        sent.delivered = self.delivered;
        sent.delivered_at = self.delivered_at;
        sent.first_at = self.first_at;
        sent.held_back = self.delivered < self.held_back_until;
        sent
    }

    /// Notes that a segment has arrived.
    pub(super) fn arrived(&mut self, sent: Sent) {
        self.delivered += 1;
        let is_newer = |than: Sent| {
            sent.at > self.first_at || (sent.at == self.first_at && sent.number > than.number)
        };
        if self.newest.is_none_or(is_newer) {
            self.newest = Some(sent);
            self.first_at = sent.at;
        }
    }

    /// The sample of the acknowledgement that was read; `None` if it told of no arrival, or of one of which
    /// it is not known when the segment was sent.
    pub(super) fn sample(&mut self, now: Instant) -> Option<Sample> {
        let newest = self.newest.take()?;
        self.delivered_at = now;
        // Which of two sendings has arrived is not known.
        let rtt = (!newest.again).then(|| seconds(newest.at, now));
        self.least_rtt = rtt.map_or(self.least_rtt, |rtt| rtt.min(self.least_rtt));
        let volume = (self.delivered - newest.delivered) as f64;
        // Neither faster than it was sent nor faster than it was acknowledged: either may be bunched.
        let time = seconds(newest.first_at, newest.at).max(seconds(newest.delivered_at, now));
        // Shorter than any round trip: an earlier sending has arrived.
        let is_reliable = time > 0.0 && time >= self.least_rtt;
        is_reliable.then(|| Sample {
            newest,
            volume,
            rate: volume / time,
            rtt,
        })
    }

    /// Marks the segments of the next round trip as held back ("Detecting application-limited phases").
    pub(super) fn hold_back(&mut self, in_flight: u32) {
        self.held_back_until = self.delivered + u64::from(in_flight) + 1;
    }
}

fn seconds(from: Instant, to: Instant) -> f64 {
    to.saturating_duration_since(from).as_secs_f64()
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_micros(ms * 1000)
    }

    /// Sends at these milliseconds and takes acknowledgements at these.
    fn run(sent: &[u64], acked: &[u64]) -> Vec<Sample> {
        let mut delivery = Delivery::new();
        let mut flight = Vec::new();
        for (number, &ms) in (0..).zip(sent) {
            let sent = Sent {
                number,
                at: at(ms),
                in_flight: number + 1,
                ..Sent::default()
            };
            flight.push(delivery.send(sent));
        }
        let samples = flight.into_iter().zip(acked).map(|(sent, &ms)| {
            delivery.arrived(sent);
            delivery.sample(at(ms)).expect("an arrival")
        });
        samples.collect()
    }

    #[test]
    fn neither_bunched_segments_nor_bunched_acknowledgements_look_fast() {
        let spaced = [0, 10, 20, 30];
        let late = [100, 110, 120, 130];
        for (sent, acked) in [(&[0; 4], &late), (&spaced, &[130; 4])] {
            let last = run(sent, acked)[3];
            assert!(last.rate <= 4.0 / 0.13 + 1e-9, "{}", last.rate);
        }
    }

    #[test]
    fn a_segment_that_was_sent_again_gives_no_round_trip_and_no_rate_if_it_is_the_first_that_arrives()
     {
        let mut delivery = Delivery::new();
        let first = delivery.send(Sent {
            in_flight: 1,
            ..Sent::default()
        });
        delivery.arrived(first);
        assert_eq!(delivery.sample(at(100)).expect("an arrival").rtt, Some(0.1));
        let again = Sent {
            number: 1,
            at: at(200),
            again: true,
            in_flight: 1,
            ..Sent::default()
        };
        let again = delivery.send(again);
        delivery.arrived(again);
        // The first sending arrived after all: no round trip is that short.
        assert!(delivery.sample(at(210)).is_none());
        let later = delivery.send(Sent {
            at: at(300),
            ..again
        });
        delivery.arrived(later);
        let sample = delivery.sample(at(400)).expect("an arrival");
        assert_eq!((sample.rtt, sample.volume), (None, 1.0));
    }

    #[test]
    fn what_is_sent_while_the_sender_holds_back_is_marked() {
        let mut delivery = Delivery::new();
        delivery.hold_back(0);
        let sent = Sent {
            in_flight: 1,
            ..Sent::default()
        };
        let marked = delivery.send(sent);
        assert!(marked.held_back);
        delivery.arrived(marked);
        assert!(!delivery.send(sent).held_back);
    }
}
