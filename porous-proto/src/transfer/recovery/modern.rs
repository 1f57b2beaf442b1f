//! The modern rules (`docs/deviations.md` T3, P5, P6): loss by acknowledgements alone, packet and
//! time thresholds that learn from reordering, probes that never touch the window.

#[cfg(test)]
mod tests;

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

/// An early probe that was in vain makes the next ones later by so much, so many times at most: no
/// host holds an acknowledgement back for longer.
const IN_VAIN: Duration = Duration::from_millis(1);
const IN_VAIN_MAX: u8 = 25;

/// No host holds an acknowledgement back for longer, be its steps a tenth of a second apart.
const HELD_MAX: Duration = Duration::from_millis(200);

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
    /// So many early probes were in vain since one was not.
    in_vain: u8,
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
            in_vain: 0,
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
    /// held the acknowledgement back for `delay`.
    pub(crate) fn sample(&mut self, elapsed: Duration, delay: Duration, now: Instant) {
        if delay > HELD_MAX {
            return; // what is said so late was said before, and lost (P9)
        }
        self.feedback.sample(elapsed, now);
        let without = elapsed.saturating_sub(delay);
        let is_real = self.minimum.get().is_some_and(|least| without >= least);
        let path = if is_real { without } else { elapsed };
        self.path.sample(path, now);
        self.minimum.sample(path, now);
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
        self.feedback.smoothed() + variation + IN_VAIN * u32::from(self.in_vain)
    }

    /// An early probe was acknowledged, or what it repeated was (P7). If that had arrived it was
    /// in vain: what held the acknowledgement back would never be seen in a round trip, as probes
    /// are acknowledged at once.
    pub(crate) fn on_probed(&mut self, in_vain: bool) {
        self.in_vain = if in_vain {
            (self.in_vain + 1).min(IN_VAIN_MAX)
        } else {
            0
        };
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
