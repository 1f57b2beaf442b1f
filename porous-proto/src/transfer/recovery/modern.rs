//! The modern rules (`docs/deviations.md` T3, P5, P6): loss by acknowledgements alone, packet and
//! time thresholds that learn from reordering, probes that never touch the window.

use core::time::Duration;

use super::estimator::Estimator;
use super::minimum::Minimum;
use crate::time::Instant;

/// P at the start: so many ids behind an acknowledged one, a frame is lost (RFC 9002 §6.1.1).
const PACKETS: u64 = 3;
const PACKETS_MAX: u64 = 64;

/// Clocks and hosts are not more exact than this (RFC 9002, kGranularity).
const GRANULARITY: Duration = Duration::from_millis(1);

/// So many episodes of loss without a spurious one, and what was learnt about reordering is
/// forgotten (RFC 8985 §6.2).
const CLEAN_EPISODES: u8 = 16;

/// The longest time between probes: a game goes on a second after its network does.
const PROBE_MAX: Duration = Duration::from_secs(1);

/// Losses with nothing acknowledged between them for so many probe timeouts are a change of the
/// path (RFC 9002 §7.6).
const PERSISTENT: u32 = 3;

/// What is on its way, as far as the timers need it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flight {
    /// The oldest frame whose fate matters: its id, and when it was sent.
    pub(crate) oldest: Option<(u64, Instant)>,
    /// When the oldest frame with reliable content was sent that no probe has repeated.
    pub(crate) unprobed: Option<Instant>,
}

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// The oldest frame is lost.
    Loss,
    /// The oldest reliable content goes out once more, in one datagram.
    Probe,
    /// The same, in two, or a ping: there has been no acknowledgement for long.
    Timeout,
}

/// A time in which frames are lost: from the first one until one is acknowledged that was sent
/// after it.
#[derive(Clone, Copy, Debug)]
struct Episode {
    /// The id that was next when it began.
    end: u64,
    /// Losses of it that did not prove spurious.
    real: u32,
    spurious: bool,
}

/// What a loss means for the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Congestion {
    /// The first loss of an episode.
    Begins,
    /// Another one of the same.
    Continues,
    /// Nothing has arrived for long: the window begins anew.
    Persistent,
}

/// Loss detection of one peer.
#[derive(Debug)]
pub(crate) struct Modern {
    /// Feedback times: with all that holds acknowledgements back. For the timers.
    feedback: Estimator,
    /// Path times: without the delay that the remote host says it has added.
    path: Estimator,
    minimum: Minimum,
    /// P.
    packets: u64,
    /// How much longer than the round trip a frame may be under way.
    reordering: Duration,
    clean: u8,
    episode: Option<Episode>,
    /// When a frame that wants an acknowledgement was last sent.
    last_sent: Instant,
    /// n of the n-th timeout in a row.
    backoff: u32,
    /// The first of the losses since the last acknowledgement was sent then.
    first_lost: Option<Instant>,
}

impl Modern {
    pub(crate) const fn new() -> Self {
        Self {
            feedback: Estimator::new(),
            path: Estimator::new(),
            minimum: Minimum::new(),
            packets: PACKETS,
            reordering: Duration::ZERO,
            clean: 0,
            episode: None,
            last_sent: Instant::ZERO,
            backoff: 0,
            first_lost: None,
        }
    }

    pub(crate) const fn path(&self) -> &Estimator {
        &self.path
    }

    /// A frame that wants an acknowledgement is sent.
    pub(crate) const fn on_sent(&mut self, now: Instant) {
        self.last_sent = now;
    }

    /// The newest frame of an acknowledgement was sent `elapsed` ago; the remote host says that it
    /// held the acknowledgement back for `delay`. The time on the path, as far as that is believed.
    pub(crate) fn sample(&mut self, elapsed: Duration, delay: Duration, now: Instant) -> Duration {
        self.feedback.sample(elapsed, now);
        let without = elapsed.saturating_sub(delay);
        let is_real = self.minimum.get().is_some_and(|least| without >= least);
        let path = if is_real { without } else { elapsed };
        self.path.sample(path, now);
        self.minimum.sample(path, now);
        path
    }

    /// A frame was acknowledged, for the first time.
    pub(crate) fn on_acknowledged(&mut self, id: u64) {
        self.backoff = 0;
        self.first_lost = None;
        if let Some(episode) = self.episode.filter(|episode| id >= episode.end) {
            self.episode = None;
            if episode.spurious {
                self.clean = 0;
            } else {
                self.clean += 1;
                if self.clean >= CLEAN_EPISODES {
                    (self.clean, self.packets) = (0, PACKETS);
                    self.reordering = Duration::ZERO;
                }
            }
        }
    }

    /// The time after which an older frame is lost once a newer one was acknowledged.
    fn patience(&self, step: Duration) -> Duration {
        let rtt = self.feedback.smoothed().max(self.feedback.latest());
        (rtt + rtt / 8).max(GRANULARITY.max(step)) + self.reordering
    }

    /// Whether a frame is lost, `newest` being the newest id that was acknowledged.
    pub(crate) fn is_lost(
        &self,
        (id, sent): (u64, Instant),
        newest: Option<u64>,
        step: Duration,
        now: Instant,
    ) -> bool {
        newest.is_some_and(|newest| {
            id < newest && (newest - id >= self.packets || sent + self.patience(step) <= now)
        })
    }

    /// A frame is considered lost: what that means. `next` is the id that is next.
    pub(crate) fn on_lost(&mut self, sent: Instant, next: u64, step: Duration) -> Congestion {
        let first = *self.first_lost.get_or_insert(sent);
        let began = match &mut self.episode {
            Some(episode) => {
                episode.real += 1;
                Congestion::Continues
            }
            none => {
                *none = Some(Episode {
                    end: next,
                    real: 1,
                    spurious: false,
                });
                Congestion::Begins
            }
        };
        if sent.saturating_duration_since(first) >= PERSISTENT * self.probe_timeout(step) {
            self.first_lost = Some(sent);
            return Congestion::Persistent;
        }
        began
    }

    /// A frame that was considered lost was acknowledged, when `newest` was acknowledged already.
    /// Whether nothing was lost in this episode: it counts as if it had not been.
    pub(crate) fn on_spurious(&mut self, id: u64, newest: u64) -> bool {
        self.packets = (newest.saturating_sub(id) + 1).clamp(self.packets, PACKETS_MAX);
        let step = self.minimum.get().unwrap_or_default() / 4;
        self.reordering = (self.reordering + step).min(self.feedback.smoothed());
        let Some(episode) = self.episode.as_mut().filter(|episode| id < episode.end) else {
            return false;
        };
        episode.spurious = true;
        episode.real = episode.real.saturating_sub(1);
        episode.real == 0
    }

    /// The time without an acknowledgement after which one is asked for (RFC 9002 §6.2; T18).
    pub(crate) fn probe_timeout(&self, step: Duration) -> Duration {
        let variation = (4 * self.feedback.variation()).max(GRANULARITY.max(step));
        self.feedback.smoothed() + variation
    }

    /// The first probe is earlier: it costs one small datagram, and nothing else.
    pub(crate) fn early_probe(&self, step: Duration) -> Duration {
        let variation = (2 * self.feedback.variation()).max(GRANULARITY.max(step));
        self.feedback.smoothed() + variation
    }

    /// When there will be something to do.
    pub(crate) fn deadline(
        &self,
        flight: &Flight,
        newest: Option<u64>,
        step: Duration,
    ) -> (Instant, Due) {
        let Some((id, sent)) = flight.oldest else {
            return (Instant::NEVER, Due::Loss);
        };
        let overtaken = newest.is_some_and(|newest| id < newest);
        let (at, due) = if overtaken {
            (sent + self.patience(step), Due::Loss)
        } else {
            let least = self.probe_timeout(step);
            let wait = least * (1 << self.backoff.min(16));
            (
                self.last_sent + wait.min(PROBE_MAX.max(least)),
                Due::Timeout,
            )
        };
        let early = flight.unprobed.map(|sent| sent + self.early_probe(step));
        match early.filter(|&early| early <= at) {
            Some(early) => (early, Due::Probe),
            None => (at, due),
        }
    }

    /// A timeout has passed: the next one takes twice as long.
    pub(crate) fn on_timeout(&mut self, now: Instant) {
        self.backoff = self.backoff.saturating_add(1);
        self.last_sent = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);
    const STEP: Duration = Duration::ZERO;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// Round trips of 100 ms that vary by no more than a millisecond.
    fn settled() -> Modern {
        let mut modern = Modern::new();
        for n in 0..100 {
            modern.sample(100 * MS, Duration::ZERO, at(100 * n));
        }
        modern
    }

    fn flight(sent: u64) -> Flight {
        Flight {
            oldest: Some((7, at(sent))),
            unprobed: Some(at(sent)),
        }
    }

    /// P5.
    #[test]
    fn three_ids_or_an_eighth_of_a_round_trip_make_a_loss() {
        let modern = settled();
        let lost = |id, newest, after| modern.is_lost((id, at(0)), newest, STEP, at(after));
        assert!(lost(5, Some(8), 0) && !lost(5, Some(7), 0));
        assert!(lost(5, Some(6), 113) && !lost(5, Some(6), 112));
        assert!(!lost(5, Some(5), 1000) && !lost(5, None, 1000));
        assert!(!modern.is_lost((5, at(0)), Some(6), 200 * MS, at(199)));
    }

    /// P5.
    #[test]
    fn who_was_wrong_becomes_patient_and_takes_it_back() {
        let mut modern = settled();
        assert_eq!(modern.on_lost(at(0), 20, STEP), Congestion::Begins);
        assert_eq!(modern.on_lost(at(1), 21, STEP), Congestion::Continues);
        assert!(!modern.on_spurious(10, 16));
        assert!(modern.on_spurious(11, 16));
        let lost = |id, after| modern.is_lost((id, at(0)), Some(30), STEP, at(after));
        assert!(lost(23, 0) && !lost(24, 0));
        // Two quarters of the shortest round trip.
        assert!(lost(29, 163) && !lost(29, 162));
    }

    /// P5.
    #[test]
    fn sixteen_episodes_without_an_error_make_impatient_again() {
        let mut modern = settled();
        modern.on_lost(at(0), 20, STEP);
        modern.on_spurious(10, 40);
        modern.on_acknowledged(20);
        for n in 0..16 {
            assert!(!modern.is_lost((97, at(0)), Some(100), STEP, at(0)), "{n}");
            modern.on_lost(at(0), 200 + n, STEP);
            modern.on_acknowledged(200 + n);
        }
        assert!(modern.is_lost((97, at(0)), Some(100), STEP, at(0)));
        assert!(modern.is_lost((99, at(0)), Some(100), STEP, at(113)));
    }

    #[test]
    fn an_episode_ends_with_what_was_sent_after_it_began() {
        let mut modern = settled();
        modern.on_lost(at(0), 20, STEP);
        modern.on_acknowledged(19);
        assert_eq!(modern.on_lost(at(1), 30, STEP), Congestion::Continues);
        modern.on_acknowledged(20);
        assert_eq!(modern.on_lost(at(2), 30, STEP), Congestion::Begins);
        // A late one of the episode before changes nothing.
        modern.on_acknowledged(40);
        assert!(!modern.on_spurious(5, 40));
    }

    #[test]
    fn losses_of_three_timeouts_with_nothing_between_them_are_persistent() {
        let mut modern = settled();
        let timeout = modern.probe_timeout(STEP);
        modern.on_lost(at(0), 20, STEP);
        let later = at(0) + 3 * timeout;
        assert_eq!(modern.on_lost(later, 20, STEP), Congestion::Persistent);
        modern.on_acknowledged(15);
        assert_eq!(
            modern.on_lost(later + 3 * timeout, 20, STEP),
            Congestion::Continues
        );
    }

    /// T3, P6.
    #[test]
    fn probes_come_early_then_late_and_then_twice_as_late() {
        let mut modern = settled();
        modern.on_sent(at(0));
        assert_eq!(
            modern.deadline(&flight(0), None, STEP),
            (at(101), Due::Probe)
        );
        let probed = Flight {
            unprobed: None,
            ..flight(0)
        };
        assert_eq!(
            modern.deadline(&probed, None, STEP),
            (at(101), Due::Timeout)
        );
        modern.on_timeout(at(101));
        assert_eq!(
            modern.deadline(&probed, None, STEP),
            (at(303), Due::Timeout)
        );
        for _ in 0..20 {
            modern.on_timeout(at(303));
        }
        assert_eq!(
            modern.deadline(&probed, None, STEP),
            (at(1303), Due::Timeout)
        );
        modern.on_acknowledged(3);
        assert_eq!(
            modern.deadline(&probed, None, STEP),
            (at(404), Due::Timeout)
        );
    }

    #[test]
    fn what_was_overtaken_is_waited_for_and_not_probed() {
        let modern = settled();
        let probed = Flight {
            unprobed: None,
            ..flight(0)
        };
        let (due, what) = modern.deadline(&probed, Some(8), STEP);
        assert_eq!((due.as_micros() / 500, what), (225, Due::Loss));
        let nothing = Flight {
            oldest: None,
            unprobed: None,
        };
        assert!(modern.deadline(&nothing, Some(8), STEP).0.is_never());
    }

    /// The remote host says how long it held an acknowledgement back, and may lie.
    #[test]
    fn a_delay_shortens_the_path_but_not_the_timers() {
        let mut modern = settled();
        for n in 0..200 {
            modern.sample(120 * MS, 20 * MS, at(10_000 + 100 * n));
            modern.sample(120 * MS, 60 * MS, at(10_050 + 100 * n));
        }
        assert_eq!(modern.minimum.get(), Some(100 * MS));
        assert!(modern.feedback.smoothed() > 119 * MS);
        let path = modern.path().smoothed();
        assert!(path > 100 * MS && path < 115 * MS, "{path:?}");
    }
}
