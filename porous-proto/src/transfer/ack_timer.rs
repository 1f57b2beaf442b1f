//! When an acknowledgement leaves if no other frame does (RFC 9000 §13.2.1; `docs/deviations.md` T19).

use crate::config::Policy;
use crate::frame::{Message, Mode};
use crate::stats::Smoothed;
use crate::time::{Instant, Micros};

/// The longest time for which an acknowledgement is held back.
const HOLD_MAX: Micros = Micros::from_millis(25);

/// Full frames after whose bytes an acknowledgement is sent at once (RFC 5681 §4.2).
const FULL_MAX: u16 = 2;

/// The part of these bytes that makes a flow dense.
const DENSE: u16 = 8;

/// What is waited in addition to the usual interval: the next frame is not always in time.
const SLACK: Micros = Micros::from_millis(1);

/// How soon a frame wants to be acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Urgency {
    /// It has unreliable packets alone: its fate matters only to the congestion control of its sender.
    Low,
    /// It has content that is sent or said again if it is lost.
    High,
    /// It asks to be acknowledged at once, or tells of a loss or of congestion.
    AtOnce,
}

impl Urgency {
    /// What a frame wants by what it says; `None` if it need not be acknowledged. `ack_now`: it asks to be
    /// acknowledged at once.
    pub(crate) fn of<P>(ack_now: bool, messages: &[Message<P>]) -> Option<Self> {
        if ack_now {
            return Some(Self::AtOnce);
        }
        let asking = messages.iter().filter(|message| message.is_eliciting());
        // Signalling is urgent: a sender may wait for a window.
        let wants = |message: &Message<P>| match message {
            Message::Packet(packet) if packet.mode == Mode::Unreliable => Self::Low,
            Message::Packet(_) | Message::Control(_) => Self::High,
        };
        asking.map(wants).max()
    }
}

/// The acknowledgement that is owed to one peer. The paper's policy acknowledges in the step that received;
/// the modern one waits for a frame of this host that can carry the acknowledgement, if one can be expected
/// soon.
#[derive(Debug)]
pub(crate) struct AckTimer {
    policy: Policy,
    /// When an acknowledgement is due; never if none is owed, or while `pending`.
    due: Instant,
    /// True if an acknowledgement leaves with the next datagram, or in one of its own.
    pub(crate) pending: bool,
    /// Bytes of frames since the last acknowledgement.
    bytes: u16,
    /// Bytes of frames after which an acknowledgement is sent at once.
    bytes_max: u16,
    /// Until when the flow of the remote host counts as dense.
    dense_until: Instant,
    /// When the newest frame came.
    newest: Instant,
    /// When the last frame of this host with data left.
    last_data: Instant,
    /// Smoothed time between frames of this host with data.
    interval: Smoothed,
}

impl AckTimer {
    /// `full`: the bytes of a full frame.
    pub(crate) const fn new(policy: Policy, full: u16) -> Self {
        Self {
            policy,
            due: Instant::NEVER,
            pending: false,
            bytes: 0,
            bytes_max: full.saturating_mul(FULL_MAX),
            dense_until: Instant::ZERO,
            newest: Instant::ZERO,
            last_data: Instant::ZERO,
            interval: Smoothed::new(HOLD_MAX),
        }
    }

    /// A frame came whose id is above all others. To be called after [`on_frame`](Self::on_frame).
    pub(crate) const fn on_newest(&mut self, now: Instant) {
        self.newest = now;
    }

    /// A frame of `bytes` bytes came that wants to be acknowledged.
    pub(crate) fn on_frame(&mut self, urgency: Urgency, bytes: u16, now: Instant) {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes >= self.bytes_max / DENSE {
            self.dense_until = now + HOLD_MAX;
        }
        let is_prompt = urgency == Urgency::AtOnce || self.bytes >= self.bytes_max;
        let hold = match self.policy {
            Policy::Modern if !is_prompt => self.hold(urgency, now),
            Policy::Modern | Policy::Paper => Micros::ZERO,
        };
        // The oldest frame that waits sets the time: a later one does not put it off.
        self.due = self.due.min(now + hold);
        self.handle_timeout(now);
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        if self.due <= now {
            (self.due, self.pending) = (Instant::NEVER, true);
        }
    }

    /// How long an acknowledgement waits for the next frame of this host, or for further frames of the remote
    /// host.
    fn hold(&self, urgency: Urgency, now: Instant) -> Micros {
        let next = self.interval.get() + SLACK;
        // There is no frame to wait for if data has stopped or is rare: then the acknowledgement would only
        // come later.
        let is_regular = now.since(self.last_data) <= 2 * next;
        if is_regular && next <= HOLD_MAX {
            return next;
        }
        // Nothing is sent again for these frames, so that one acknowledgement may do for several. A frame
        // that comes after a pause is acknowledged at once: perhaps no other follows.
        let is_one_of_many = now.since(self.newest) <= HOLD_MAX;
        // A sender that sends as much as the path takes measures it by acknowledgements.
        let is_dense = now < self.dense_until;
        if urgency == Urgency::Low && is_one_of_many && !is_dense {
            HOLD_MAX
        } else {
            Micros::ZERO
        }
    }

    /// A frame with data leaves.
    pub(crate) fn on_data(&mut self, now: Instant) {
        let elapsed = now.since(self.last_data);
        // A pause counts as twice the longest hold: after it a few frames make the interval short again.
        self.interval.sample(elapsed.min(2 * HOLD_MAX));
        self.last_data = now;
    }

    /// An acknowledgement leaves, or nothing is owed any more.
    pub(crate) const fn on_sent(&mut self) {
        (self.due, self.pending, self.bytes) = (Instant::NEVER, false, 0);
    }

    /// An acknowledgement that is owed leaves at once. Returns false if none is owed.
    pub(crate) fn hurry(&mut self) -> bool {
        self.pending |= !self.due.is_never();
        self.due = Instant::NEVER;
        self.pending
    }

    /// Whether an acknowledgement is owed.
    pub(crate) const fn is_owed(&self) -> bool {
        self.pending || !self.due.is_never()
    }

    pub(crate) const fn due(&self) -> Instant {
        self.due
    }

    /// How long the newest frame has waited for its acknowledgement; 0 under the paper's policy, which tells
    /// no delay.
    pub(crate) fn held_back(&self, now: Instant) -> Micros {
        match self.policy {
            Policy::Paper => Micros::ZERO,
            Policy::Modern => now.since(self.newest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Micros::from_millis(ms)
    }

    /// The timer of a host that has sent this many frames with data, `apart` milliseconds apart.
    fn busy(policy: Policy, frames: u64, apart: u64) -> AckTimer {
        let mut timer = AckTimer::new(policy, FULL);
        for n in 1..=frames {
            timer.on_data(at(n * apart));
        }
        timer
    }

    /// Bytes of a full frame.
    const FULL: u16 = 1152;

    /// T19.
    #[test]
    fn acknowledgements_wait_for_the_next_frame_of_a_frequent_sender() {
        for urgency in [Urgency::Low, Urgency::High] {
            let mut timer = busy(Policy::Modern, 60, 10);
            timer.on_frame(urgency, 100, at(603));
            let due = timer.due().since(at(603));
            assert!(
                due >= Micros::from_millis(11) && due < Micros::from_millis(12),
                "{due:?}"
            );
            timer.on_frame(urgency, 100, at(608));
            assert_eq!(timer.due(), at(603) + due);
            timer.handle_timeout(at(613));
            assert!(!timer.pending);
            timer.handle_timeout(at(615));
            assert!(timer.pending && timer.due().is_never());
        }
    }

    /// T19.
    #[test]
    fn a_rare_sender_acknowledges_at_once() {
        for mut timer in [
            AckTimer::new(Policy::Modern, FULL),
            busy(Policy::Modern, 60, 40),
            busy(Policy::Paper, 60, 10),
        ] {
            timer.on_newest(at(2990));
            timer.on_frame(Urgency::High, 100, at(3000));
            assert!(timer.pending);
        }
        let mut timer = busy(Policy::Modern, 60, 10);
        timer.on_frame(Urgency::High, 100, at(700));
        assert!(timer.pending);
    }

    /// T19.
    #[test]
    fn one_acknowledgement_does_for_the_unreliable_frames_of_25_ms() {
        let mut timer = AckTimer::new(Policy::Modern, FULL);
        // The first frame after a pause may be the only one.
        timer.on_frame(Urgency::Low, 100, at(1000));
        assert!(timer.pending);
        timer.on_newest(at(1000));
        timer.on_sent();
        timer.on_frame(Urgency::Low, 100, at(1016));
        timer.on_newest(at(1016));
        timer.on_frame(Urgency::Low, 100, at(1033));
        assert_eq!((timer.pending, timer.due()), (false, at(1041)));
        // Reliable content does not wait.
        timer.on_frame(Urgency::High, 100, at(1035));
        assert!(timer.pending);
        timer.on_newest(at(1035));
        timer.on_sent();
        timer.on_frame(Urgency::Low, 100, at(1061));
        assert!(timer.pending, "after a pause");
        timer.on_newest(at(1061));
        timer.on_sent();
        timer.on_frame(Urgency::Low, 287, at(1062));
        assert!(!timer.pending);
        timer.on_frame(Urgency::Low, 1, at(1062));
        assert!(timer.pending, "a quarter of a full frame");
        timer.on_newest(at(1062));
        timer.on_sent();
        timer.on_frame(Urgency::Low, 100, at(1086));
        assert!(timer.pending, "soon after");
        timer.on_newest(at(1086));
        timer.on_sent();
        timer.on_frame(Urgency::Low, 100, at(1087));
        assert!(!timer.pending);
        let mut paper = AckTimer::new(Policy::Paper, FULL);
        paper.on_newest(at(1000));
        paper.on_frame(Urgency::Low, 100, at(1001));
        assert!(paper.pending);
    }

    /// T18, T19.
    #[test]
    fn losses_and_the_bytes_of_two_full_frames_are_told_at_once() {
        let mut timer = busy(Policy::Modern, 60, 10);
        timer.on_frame(Urgency::AtOnce, 100, at(603));
        assert!(timer.pending);
        for parts in [2, 6] {
            let mut timer = busy(Policy::Modern, 60, 10);
            let bytes = 2 * FULL / parts;
            for _ in 1..parts {
                timer.on_frame(Urgency::Low, bytes, at(603));
                assert!(!timer.pending, "{parts}");
            }
            timer.on_frame(Urgency::Low, bytes, at(604));
            assert!(timer.pending, "{parts}");
            timer.on_newest(at(604));
            assert_eq!(timer.held_back(at(609)), Micros::from_millis(5));
            timer.on_sent();
            assert!(!timer.pending && timer.due().is_never());
        }
    }
}
