//! The modern rules (`docs/deviations.md` T3, P5, P6): loss by acknowledgements alone, packet and
//! time thresholds that learn from reordering, probes that never touch the window.

#[cfg(test)]
mod tests;

use core::time::Duration;

use super::episodes::Episodes;
use super::{Due, Flight, Lost, Question, Recovery};
use crate::congestion::Signal;
use crate::time::Instant;
use crate::transfer::acked::LaterAcks;
use crate::transfer::rtt::{MAX_ACK_DELAY, Rtt};

/// P at the start: a frame is lost that is this many ids behind an acknowledged one (RFC 9002 §6.1.1).
const PACKETS: u64 = 3;
const PACKETS_MAX: u64 = 64;

/// The longest time between probes: a game goes on a second after its network does.
const PROBE_MAX: Duration = Duration::from_secs(1);

/// How long a line is taken to be lossy after a loss.
const LOSSY: Duration = Duration::from_secs(10);

/// How much longer the next early probe waits after a needless one, and how often that adds up: up to
/// the longest time for which an honest host holds an acknowledgement back.
const NEEDLESS: Duration = Duration::from_millis(1);
#[expect(clippy::cast_possible_truncation, reason = "25")]
const NEEDLESS_MAX: u8 = MAX_ACK_DELAY.as_millis() as u8;

/// Probe timeouts between the first and the last of losses, with nothing acknowledged between them,
/// that tell of a change of the path (RFC 9002 §7.6).
const PERSISTENT: u32 = 3;

/// Timeouts in a row that repeat what is reliable, about as many as there are until silence ends a
/// connection. A remote host that says other things but acknowledges nothing for longer is asked by
/// pings alone.
const REPEATS: u32 = 16;

/// Loss detection on one path.
#[derive(Debug)]
pub(crate) struct Modern {
    /// P: how many ids behind an acknowledged one a frame is lost.
    packets: u64,
    /// What is added to the time after which an overtaken frame is lost, since some came so late.
    reordering: Duration,
    episodes: Episodes,
    /// When a frame that wants an acknowledgement was last sent.
    last_sent: Instant,
    /// Timeouts in a row, without an acknowledgement between them.
    timeouts: u32,
    /// When an acknowledged ping last ended a row of timeouts.
    revived: Option<Instant>,
    /// When the newest of the lost frames was sent.
    last_lost: Option<Instant>,
    /// Early probes in a row that repeated what had arrived already.
    needless: u8,
    /// When the first frame was sent of the losses with nothing acknowledged between them (persistent
    /// congestion, RFC 9002 §7.6).
    first_lost: Option<Instant>,
}

impl Modern {
    pub(crate) const fn new() -> Self {
        Self {
            packets: PACKETS,
            reordering: Duration::ZERO,
            episodes: Episodes::new(),
            last_sent: Instant::ZERO,
            timeouts: 0,
            revived: None,
            last_lost: None,
            needless: 0,
            first_lost: None,
        }
    }

    /// The time after which an older frame is lost once a newer one was acknowledged.
    fn patience(&self, rtt: &Rtt) -> Duration {
        rtt.loss_delay() + self.reordering
    }
}

impl Recovery for Modern {
    /// Whether something was lost in the last seconds: then it is worth an acknowledgement of its own to
    /// know soon what becomes of reliable content (T19).
    fn is_lossy(&self, now: Instant) -> bool {
        let is_recent = |sent| now.saturating_duration_since(sent) < LOSSY;
        self.last_lost.is_some_and(is_recent)
    }

    /// A frame that wants an acknowledgement is sent.
    fn on_sent(&mut self, now: Instant) {
        self.last_sent = now;
    }

    /// A frame was acknowledged, for the first time. `counted`: it carried data, or no data is on its
    /// way. Where pings arrive and data does not, the path is there, and what was lost by chance is
    /// repeated as at first: but once in a second, as a host may acknowledge nothing else.
    fn on_acknowledged(&mut self, id: u64, data: bool, is_idle: bool, now: Instant) {
        let is_soon = |last| now.saturating_duration_since(last) < PROBE_MAX;
        if data || is_idle {
            self.timeouts = 0;
        } else if self.revived.is_none_or(|last| !is_soon(last)) {
            (self.timeouts, self.revived) = (0, Some(now));
        } else {
            self.timeouts = self.timeouts.min(REPEATS - 1);
        }
        self.first_lost = None;
        if self.episodes.on_acknowledged(id) {
            (self.packets, self.reordering) = (PACKETS, Duration::ZERO);
        }
    }

    /// Whether the oldest frame is lost, `newest` being the newest id that was acknowledged.
    fn is_lost(
        &self,
        (id, sent): (u64, Instant),
        acks: &LaterAcks,
        rtt: &Rtt,
        now: Instant,
    ) -> bool {
        acks.newest().is_some_and(|newest| {
            id < newest && (newest - id >= self.packets || sent + self.patience(rtt) <= now)
        })
    }

    /// A frame is considered lost: what that means for the congestion window.
    fn on_lost(&mut self, lost: &Lost, rtt: &Rtt, _: Instant) -> Signal {
        if lost.is_alone {
            self.first_lost = None;
        }
        self.last_lost = Some(lost.sent);
        let first = *self.first_lost.get_or_insert(lost.sent);
        let begins = self.episodes.on_lost(lost.id, lost.next);
        if lost.sent.saturating_duration_since(first) >= PERSISTENT * rtt.timeout() {
            self.first_lost = Some(lost.sent);
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
    fn on_marked(&mut self, id: u64, next: u64) -> bool {
        self.episodes.on_marked(id, next)
    }

    /// A frame that was considered lost was acknowledged, when `newest` was acknowledged already.
    /// Whether nothing was lost in this episode: it counts as if it had not been.
    fn on_spurious(&mut self, id: u64, newest: u64, rtt: &Rtt) -> bool {
        // One more than was seen: the next one may be a little later.
        self.packets = (newest.saturating_sub(id) + 2).clamp(self.packets, PACKETS_MAX);
        let more = rtt.minimum().unwrap_or_default() / 4;
        self.reordering = (self.reordering + more).min(rtt.feedback());
        self.episodes.on_spurious(id)
    }

    /// How long the first probe waits. It is early, as it costs one small datagram and nothing else;
    /// each one that was needless lets the next wait a millisecond longer, until the delays of
    /// acknowledgements are waited for.
    fn early_probe(&self, at_once: bool, rtt: &Rtt) -> Duration {
        rtt.early_probe(at_once) + NEEDLESS * u32::from(self.needless)
    }

    /// An early probe was acknowledged, or what it repeated was (P7). If that had arrived before, the
    /// probe was needless: what held the acknowledgement back would never be seen in a round trip, as
    /// probes are acknowledged at once.
    fn on_probed(&mut self, had_arrived: bool) {
        self.needless = if had_arrived {
            (self.needless + 1).min(NEEDLESS_MAX)
        } else {
            0
        };
    }

    /// When there will be something to do.
    fn deadline(&self, flight: &Flight, acks: &LaterAcks, rtt: &Rtt) -> (Instant, Due) {
        let Some((id, sent)) = flight.oldest else {
            return (Instant::NEVER, Due::Loss);
        };
        let is_overtaken = acks.newest().is_some_and(|newest| id < newest);
        let (at, due) = if is_overtaken {
            (sent + self.patience(rtt), Due::Loss)
        } else {
            let least = rtt.timeout();
            let wait = least * (1 << self.timeouts.min(16));
            let at = self.last_sent + wait.min(PROBE_MAX.max(least));
            (at, Due::Timeout)
        };
        let early = flight
            .unprobed
            .map(|(sent, at_once)| sent + self.early_probe(at_once, rtt));
        match early {
            // However late it has become, it is the first that is tried.
            Some(early) if early <= at || due == Due::Timeout => (early, Due::Probe),
            Some(_) | None => (at, due),
        }
    }

    /// A timeout has passed: the next one takes twice as long.
    fn on_timeout(&mut self, now: Instant) -> Option<Question> {
        self.timeouts = self.timeouts.saturating_add(1);
        self.last_sent = now;
        Some(Question {
            repeats: self.timeouts <= REPEATS,
            is_again: self.timeouts > 1,
        })
    }
}
