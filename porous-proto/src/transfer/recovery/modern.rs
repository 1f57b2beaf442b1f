//! The modern rules (`docs/deviations.md` T3, P5, P6): loss by acknowledgements alone, packet and
//! time thresholds that learn from reordering, probes that never touch the window.

#[cfg(test)]
mod tests;

use core::time::Duration;

use super::Minimum;
use super::early::Early;
use super::episodes::Episodes;
use super::estimator::Estimator;
use crate::congestion::Signal;
use crate::time::Instant;

/// P at the start: so many ids behind an acknowledged one, a frame is lost (RFC 9002 §6.1.1).
const PACKETS: u64 = 3;
const PACKETS_MAX: u64 = 64;

/// Clocks and hosts are not more exact than this (RFC 9002, kGranularity).
const GRANULARITY: Duration = Duration::from_millis(1);

/// The longest time between probes: a game goes on a second after its network does.
const PROBE_MAX: Duration = Duration::from_secs(1);

/// A loss is of interest for so long.
const LOSSY: Duration = Duration::from_secs(10);

/// An early probe that was in vain makes the next ones later by so much, so many times at most: no
/// host holds an acknowledgement back for longer.
const IN_VAIN: Duration = Duration::from_millis(1);
const IN_VAIN_MAX: u8 = 25;

/// No host holds an acknowledgement back for longer, be its steps a tenth of a second apart.
const HELD_MAX: Duration = Duration::from_millis(200);

/// Losses with nothing acknowledged between them for so many probe timeouts are a change of the
/// path (RFC 9002 §7.6).
const PERSISTENT: u32 = 3;

/// So many timeouts in a row repeat what is reliable, about as many as there are until silence ends a
/// connection. Who says other things but acknowledges nothing for longer is asked by pings alone.
const REPEATS: u32 = 16;

/// What is on its way, as far as the timers need it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flight {
    /// The oldest frame whose fate matters: its id, and when it was sent.
    pub(crate) oldest: Option<(u64, Instant)>,
    /// When the oldest frame with reliable content was sent that no probe has repeated, and whether
    /// it is to be acknowledged at once.
    pub(crate) unprobed: Option<(Instant, bool)>,
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
    early: Early,
    episodes: Episodes,
    /// When a frame that wants an acknowledgement was last sent.
    last_sent: Instant,
    /// n of the n-th timeout in a row.
    backoff: u32,
    /// When a ping that arrived has last begun the timeouts anew.
    revived: Option<Instant>,
    /// When the last frame was sent that was lost.
    lossy_since: Option<Instant>,
    /// So many early probes were in vain since one was not.
    in_vain: u8,
    /// The first of the losses with nothing acknowledged between them was sent then.
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
            early: Early::new(),
            episodes: Episodes::new(),
            last_sent: Instant::ZERO,
            backoff: 0,
            revived: None,
            lossy_since: None,
            in_vain: 0,
            first_lost: None,
        }
    }

    pub(crate) const fn path(&self) -> &Estimator {
        &self.path
    }

    /// Whether something was lost of late: then it is worth an acknowledgement of its own to know
    /// soon what becomes of reliable content (T19).
    pub(crate) fn is_lossy(&self, now: Instant) -> bool {
        let lately = |since| now.saturating_duration_since(since) < LOSSY;
        self.lossy_since.is_some_and(lately)
    }

    /// All that was measured is forgotten. What goes on with the ids of frames stays.
    pub(crate) fn on_new_path(&mut self) {
        let Self {
            last_sent,
            lossy_since,
            ..
        } = *self;
        let episodes = core::mem::replace(&mut self.episodes, Episodes::new());
        *self = Self {
            last_sent,
            lossy_since,
            episodes,
            ..Self::new()
        };
    }

    /// A frame that wants an acknowledgement is sent.
    pub(crate) const fn on_sent(&mut self, now: Instant) {
        self.last_sent = now;
    }

    /// The newest frame of an acknowledgement was sent `elapsed` ago; the remote host says that it
    /// held the acknowledgement back for `delay`. The time on the path, as far as that is believed; none
    /// if the acknowledgement only repeats what was said long ago (P9).
    pub(crate) fn sample(
        &mut self,
        elapsed: Duration,
        delay: Duration,
        now: Instant,
    ) -> Option<Duration> {
        if delay > HELD_MAX {
            return None;
        }
        self.feedback.sample(elapsed, now);
        self.early.on_sample(delay);
        let without = elapsed.saturating_sub(delay);
        let is_real = self.minimum.get().is_some_and(|least| without >= least);
        let path = if is_real { without } else { elapsed };
        self.path.sample(path, now);
        self.minimum.sample(path, now);
        Some(path)
    }

    /// A frame was acknowledged, for the first time. `counted`: it carried data, or no data is on its
    /// way. Where pings arrive and data does not, the path is there, and what was lost by chance is
    /// repeated as at first: but once in a second, as a host may acknowledge nothing else.
    pub(crate) fn on_acknowledged(&mut self, id: u64, counted: bool, now: Instant) {
        let is_soon = |last| now.saturating_duration_since(last) < PROBE_MAX;
        if counted {
            self.backoff = 0;
        } else if self.revived.is_none_or(|last| !is_soon(last)) {
            (self.backoff, self.revived) = (0, Some(now));
        } else {
            self.backoff = self.backoff.min(REPEATS - 1);
        }
        self.first_lost = None;
        if self.episodes.on_acknowledged(id) {
            (self.packets, self.reordering) = (PACKETS, Duration::ZERO);
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

    /// A frame is considered lost: what that means. `next` is the id that is next; `alone`: a frame
    /// between this one and the last that was lost has arrived.
    pub(crate) fn on_lost(
        &mut self,
        (id, sent): (u64, Instant),
        next: u64,
        alone: bool,
        step: Duration,
    ) -> Signal {
        if alone {
            self.first_lost = None;
        }
        self.lossy_since = Some(sent);
        let first = *self.first_lost.get_or_insert(sent);
        let begins = self.episodes.on_lost(id, next);
        if sent.saturating_duration_since(first) >= PERSISTENT * self.probe_timeout(step) {
            self.first_lost = Some(sent);
            return Signal::Persistent;
        }
        if begins {
            Signal::Loss
        } else {
            Signal::FurtherLoss
        }
    }

    /// A router has marked a frame, which has come: whether an episode begins. `next` is the id that is
    /// next.
    pub(crate) const fn on_marked(&mut self, id: u64, next: u64) -> bool {
        self.episodes.on_marked(id, next)
    }

    /// A frame that was considered lost was acknowledged, when `newest` was acknowledged already.
    /// Whether nothing was lost in this episode: it counts as if it had not been.
    pub(crate) fn on_spurious(&mut self, id: u64, newest: u64) -> bool {
        // One more than was seen: the next one may be a little later.
        self.packets = (newest.saturating_sub(id) + 2).clamp(self.packets, PACKETS_MAX);
        let step = self.minimum.get().unwrap_or_default() / 4;
        self.reordering = (self.reordering + step).min(self.feedback.smoothed());
        self.episodes.on_spurious(id)
    }

    /// The time without an acknowledgement after which one is asked for (RFC 9002 §6.2; T18).
    pub(crate) fn probe_timeout(&self, step: Duration) -> Duration {
        let variation = (4 * self.feedback.variation()).max(GRANULARITY.max(step));
        self.feedback.smoothed() + variation
    }

    /// The first probe is earlier: it costs one small datagram, and nothing else.
    pub(crate) fn early_probe(&self, at_once: bool, step: Duration) -> Duration {
        self.early.wait(&self.path, at_once, step) + IN_VAIN * u32::from(self.in_vain)
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
        let early = flight
            .unprobed
            .map(|(sent, at_once)| sent + self.early_probe(at_once, step));
        match early {
            // However late it has become, it is the first that is tried.
            Some(early) if early <= at || due == Due::Timeout => (early, Due::Probe),
            Some(_) | None => (at, due),
        }
    }

    /// How many timeouts there were since something was acknowledged.
    pub(crate) const fn timeouts(&self) -> u32 {
        self.backoff
    }

    /// A timeout has passed: the next one takes twice as long. Whether to repeat what is on its way.
    pub(crate) fn on_timeout(&mut self, now: Instant) -> bool {
        self.backoff = self.backoff.saturating_add(1);
        self.last_sent = now;
        self.backoff <= REPEATS
    }
}
