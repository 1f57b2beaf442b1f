//! The modern rules of loss (`docs/deviations.md` T3, P5, P6): acknowledgements alone decide, by thresholds
//! in ids and in time, or in time alone where frames overtake each other: then the time learns how late they
//! come. Probes ask for acknowledgements, and do not touch the window.

#[cfg(test)]
mod tests;

use super::episodes::Episodes;
use super::{Due, Flight, Lost, Question, Recovery};
use crate::congestion::Signal;
use crate::stats::Maximum;
use crate::time::{Instant, Micros};
use crate::transfer::acked::LaterAcks;
use crate::transfer::rtt::{MAX_ACK_DELAY, Rtt};

/// Distance in ids behind an acknowledged frame at which a frame is lost while frames come in order
/// (RFC 9002 §6.1.1, kPacketThreshold).
const PACKETS: u64 = 3;

/// Least lateness of a frame that was overtaken: the clocks of hosts are no finer (RFC 9002 §6.1.2,
/// kGranularity).
const LATE_MIN: Micros = Micros::from_millis(1);

/// The most lateness that is waited for on paths whose round trip is shorter.
const LATE_MAX: Micros = Micros::from_millis(200);

/// Longest time between probes on a path whose probe timeout is shorter: a game goes on a second after its
/// network does.
const PROBE_MAX: Micros = Micros::from_secs(1);

/// Time for which a path counts as lossy after a lost frame was sent.
const LOSSY: Micros = Micros::from_secs(10);

/// What each consecutive needless early probe adds to the time before the next (`docs/deviations.md` P7).
const NEEDLESS: Micros = Micros::from_millis(1);
/// Needless early probes that add up: as many milliseconds as an honest host holds an acknowledgement back at
/// most.
#[expect(clippy::cast_possible_truncation, reason = "25")]
const NEEDLESS_MAX: u8 = (MAX_ACK_DELAY.get() / 1000) as u8;

/// Probe timeouts between sending the first and the last of a run of losses, with nothing acknowledged in
/// between, that make the congestion persistent (RFC 9002 §7.6.1, kPersistentCongestionThreshold).
const PERSISTENT: u64 = 3;

/// Waits for a timeout after which a sender asks that goes on sending and hears nothing, from the oldest frame on.
const UNHEARD: u64 = 3;

/// Consecutive timeouts that repeat reliable content, about as many as pass before silence ends a connection.
/// Later ones are pings alone, for a remote host that says other things but acknowledges nothing.
const REPEATS: u32 = 16;

/// Loss detection on one path.
#[derive(Debug, Default)]
pub(crate) struct Modern {
    /// How much longer than a round trip frames took that later ones had overtaken. Zero while frames come in
    /// order.
    late: Maximum,
    episodes: Episodes,
    /// When a frame that wants an acknowledgement was last sent, or a probe was last due.
    last_sent: Instant,
    /// When a timeout last asked for an acknowledgement.
    asked: Instant,
    /// True if data goes on leaving, and nothing was acknowledged for three timeouts.
    is_unheard: bool,
    /// Consecutive timeouts without an acknowledgement in between.
    timeouts: u32,
    /// When the acknowledgement of a ping last ended a run of timeouts.
    revived: Option<Instant>,
    /// When the frame was sent that was lost last.
    last_lost: Option<Instant>,
    /// Lost frames that did not prove to be only late, since the path counts as lossy.
    lost: u32,
    /// Consecutive early probes whose message had already arrived; each delays the next by 1 ms.
    needless: u8,
    /// When the oldest loss was sent of the current run without an arrival (persistent congestion,
    /// RFC 9002 §7.6).
    first_lost: Option<Instant>,
}

impl Modern {
    /// How much longer than a round trip to wait for frames that were overtaken.
    fn lateness(&self, rtt: &Rtt) -> Micros {
        // A round trip at most: a remote host may acknowledge as late as it likes (RFC 8985 §6.2). Round trips
        // are measured by frames that overtake others, so that on a short path with much jitter more is
        // wanted.
        self.late.get().min(rtt.feedback().max(LATE_MAX))
    }

    /// Time from the newest frame to the next timeout: a second at most, or a probe timeout where the path is
    /// slower.
    fn wait(&self, rtt: &Rtt) -> Micros {
        let least = rtt.timeout();
        // Each unanswered timeout doubles the wait (RFC 9002 §6.2.1). The exponent stays small to avoid
        // overflow.
        let wait = least * (1 << self.timeouts.min(16));
        wait.min(PROBE_MAX.max(least))
    }
}

impl Recovery for Modern {
    /// Age at which a frame is lost once a newer one was acknowledged.
    fn patience(&self, rtt: &Rtt) -> Micros {
        rtt.loss_delay() + self.lateness(rtt)
    }

    fn is_lossy(&self, now: Instant) -> bool {
        // Frames that were only overtaken are no reason to ask for more acknowledgements.
        let is_recent = |sent| now.since(sent) < LOSSY;
        self.lost > 0 && self.last_lost.is_some_and(is_recent)
    }

    fn on_sent(&mut self, now: Instant) {
        self.last_sent = now;
    }

    fn on_acknowledged(&mut self, id: u64, data: bool, is_idle: bool, now: Instant) {
        let is_soon = |last| now.since(last) < PROBE_MAX;
        if data || is_idle {
            self.timeouts = 0;
        } else if self.revived.is_none_or(|last| !is_soon(last)) {
            // Pings arrive and data does not: the path is there, and what was lost by chance is repeated as
            // at first. Once in a second, as a remote host may acknowledge nothing else, and must not be sent
            // the same at each round trip (T3).
            (self.timeouts, self.revived) = (0, Some(now));
        } else {
            // One more timeout may repeat content, at the interval that the run has reached.
            self.timeouts = self.timeouts.min(REPEATS - 1);
        }
        (self.first_lost, self.is_unheard) = (None, false);
        self.episodes.on_acknowledged(id);
        if !self.late.get().is_zero() {
            // A path that has come to keep the order is judged by ids again, which finds losses sooner.
            self.late.sample(Micros::ZERO, now);
        }
    }

    fn on_overtaken(&mut self, elapsed: Micros, rtt: &Rtt, now: Instant) {
        // The time that was seen, and not steps towards it as in RFC 8985 §6.2: one flight may have a hundred
        // frames that are late.
        let late = elapsed - rtt.feedback();
        self.late.sample(late.max(LATE_MIN), now);
    }

    fn is_lost(
        &self,
        (id, sent): (u64, Instant),
        acks: &LaterAcks,
        rtt: &Rtt,
        now: Instant,
    ) -> bool {
        // Time alone loses nothing: only a later frame that came shows that this one should have.
        acks.newest().is_some_and(|newest| {
            // Where frames overtake each other, how many follow one says how fast they leave, and nothing of
            // its fate (RFC 8985 §6.2).
            let is_far = newest.saturating_sub(id) >= PACKETS && self.late.get().is_zero();
            id < newest && (is_far || sent + self.patience(rtt) <= now)
        })
    }

    fn on_lost(&mut self, lost: &Lost, rtt: &Rtt, _: Instant) -> Signal {
        // An arrival between two losses shows that the path carries frames: the run of losses starts anew.
        if lost.is_alone {
            self.first_lost = None;
        }
        if !self.is_lossy(lost.sent) {
            self.lost = 0;
        }
        self.lost = self.lost.saturating_add(1);
        self.last_lost = Some(lost.sent);
        let first = *self.first_lost.get_or_insert(lost.sent);
        // Before the test for persistent congestion, as a loss that shows it belongs to the episode, too: one
        // outage is told by several signals (D6).
        let begins = self.episodes.on_lost(lost.id, lost.next);
        if lost.sent.since(first) >= PERSISTENT * rtt.timeout() {
            // The rest of the same outage must not be reported anew at each frame.
            self.first_lost = Some(lost.sent);
            return Signal::Persistent;
        }
        if begins {
            Signal::Loss
        } else {
            Signal::FurtherLoss
        }
    }

    fn on_marked(&mut self, id: u64, next: u64) -> bool {
        self.episodes.on_marked(id, next)
    }

    fn on_spurious(&mut self, id: u64) -> bool {
        self.lost = self.lost.saturating_sub(1);
        // The path carries frames: neither persistent congestion nor a run of timeouts goes on.
        (self.first_lost, self.timeouts, self.is_unheard) = (None, 0, false);
        self.episodes.on_spurious(id)
    }

    fn early_probe(&self, at_once: bool, rtt: &Rtt) -> Micros {
        // Early, since a probe costs one small datagram and does not touch the window. But where frames
        // overtake each other, a probe would mostly overtake what it repeats.
        let late = match self.lateness(rtt) {
            Micros::ZERO => Micros::ZERO,
            late => rtt.feedback() + late,
        };
        // Each needless one lets the next wait a millisecond longer, until the delays of acknowledgements are
        // waited for.
        rtt.early_probe(at_once).max(late) + NEEDLESS * u64::from(self.needless)
    }

    fn on_probed(&mut self, had_arrived: bool) {
        // The round trip cannot teach this: probes are acknowledged at once, so that no sample ever shows how
        // long the remote host holds other acknowledgements back.
        self.needless = if had_arrived {
            (self.needless + 1).min(NEEDLESS_MAX)
        } else {
            0
        };
    }

    fn deadline(&self, flight: &Flight, acks: &LaterAcks, rtt: &Rtt) -> (Instant, Due) {
        let Some((id, sent)) = flight.oldest else {
            return (Instant::NEVER, Due::Loss);
        };
        // Only a frame that was overtaken can be lost by time. Before that nothing shows that the remote host
        // received anything, and time only asks.
        let is_overtaken = acks.newest().is_some_and(|newest| id < newest);
        let early = flight
            .unprobed
            .map(|(sent, at_once)| sent + self.early_probe(at_once, rtt));
        if is_overtaken {
            let at = sent + self.patience(rtt);
            // A loss that is due earlier is found without a probe.
            return match early {
                Some(early) if early <= at => (early, Due::Probe),
                Some(_) | None => (at, Due::Loss),
            };
        }
        let wait = self.wait(rtt);
        // Counted from the newest frame, as its acknowledgement would tell of all before it.
        let unanswered = self.last_sent + wait;
        // A host that goes on sending has to ask as well: perhaps nothing arrives that is as long as its data.
        let unheard = self.asked.max(sent) + UNHEARD * wait;
        match early {
            // A timeout that repeats waits for the early probe, however late that is: one small datagram is tried
            // before everything is repeated.
            Some(early) if early <= unheard || unanswered <= unheard => (early, Due::Probe),
            Some(_) | None => (unanswered.min(unheard), Due::Timeout),
        }
    }

    fn is_silent(&self) -> bool {
        self.is_unheard || self.timeouts > 1
    }

    fn on_timeout(&mut self, rtt: &Rtt, now: Instant) -> Option<Question> {
        self.asked = now;
        // While data leaves, a ping does: the data itself asks, unless it is too long for the path. This is no
        // step of the series, which begins when nothing leaves any more.
        if now < self.last_sent + self.wait(rtt) {
            self.is_unheard = true;
            return Some(Question {
                repeats: false,
                is_again: true,
            });
        }
        self.timeouts = self.timeouts.saturating_add(1);
        // The next timeout counts from the question, also if there is nothing to send now.
        self.last_sent = now;
        Some(Question {
            repeats: self.timeouts <= REPEATS,
            is_again: self.timeouts > 1,
        })
    }
}
