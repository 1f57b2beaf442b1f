//! When an acknowledgement leaves if no other frame does (RFC 9000 §13.2.1; `docs/deviations.md` T19).

use core::time::Duration;

use crate::config::Policy;
use crate::time::Instant;

/// The longest time for which an acknowledgement is held back.
const HOLD_MAX: Duration = Duration::from_millis(25);

/// What is waited in addition to the usual interval: the next frame is not always in time.
const SLACK: Duration = Duration::from_millis(1);

/// Full frames after which an acknowledgement is sent at once.
const FULL_MAX: u8 = 2;

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
    /// Full frames since the last acknowledgement.
    full: u8,
    /// When the newest frame came.
    newest: Instant,
    /// When the last frame of this host with data left.
    last_data: Instant,
    /// Smoothed time between frames of this host with data.
    interval: Duration,
}

impl AckTimer {
    pub(crate) const fn new(policy: Policy) -> Self {
        Self {
            policy,
            due: Instant::NEVER,
            pending: false,
            full: 0,
            newest: Instant::ZERO,
            last_data: Instant::ZERO,
            interval: HOLD_MAX,
        }
    }

    /// A frame came whose id is above all others.
    pub(crate) const fn on_newest(&mut self, now: Instant) {
        self.newest = now;
    }

    /// A frame came that wants to be acknowledged. `at_once`: it says so, or tells of a loss or a mark.
    /// `is_full`: it has as many bytes as a datagram may have.
    pub(crate) fn on_frame(&mut self, at_once: bool, is_full: bool, now: Instant) {
        self.full = self.full.saturating_add(u8::from(is_full));
        let hold = match self.policy {
            Policy::Modern if !at_once && self.full < FULL_MAX => self.hold(now),
            Policy::Modern | Policy::Paper => Duration::ZERO,
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

    /// How long an acknowledgement waits for the next frame of this host.
    fn hold(&self, now: Instant) -> Duration {
        let next = self.interval + SLACK;
        // There is no frame to wait for if data has stopped or is rare: then the acknowledgement would only
        // come later.
        let is_regular = now.saturating_duration_since(self.last_data) <= 2 * next;
        if is_regular && next <= HOLD_MAX {
            next
        } else {
            Duration::ZERO
        }
    }

    /// A frame with data leaves.
    pub(crate) fn on_data(&mut self, now: Instant) {
        let elapsed = now.saturating_duration_since(self.last_data);
        // A pause counts as twice the longest hold: after it a few frames make the interval short again.
        self.interval = (7 * self.interval + elapsed.min(2 * HOLD_MAX)) / 8;
        self.last_data = now;
    }

    /// An acknowledgement leaves, or nothing is owed any more.
    pub(crate) const fn on_sent(&mut self) {
        (self.due, self.pending, self.full) = (Instant::NEVER, false, 0);
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
    pub(crate) fn held_back(&self, now: Instant) -> Duration {
        match self.policy {
            Policy::Paper => Duration::ZERO,
            Policy::Modern => now.saturating_duration_since(self.newest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// The timer of a host that has sent this many frames with data, `apart` milliseconds apart.
    fn busy(policy: Policy, frames: u64, apart: u64) -> AckTimer {
        let mut timer = AckTimer::new(policy);
        for n in 1..=frames {
            timer.on_data(at(n * apart));
        }
        timer
    }

    /// T19.
    #[test]
    fn acknowledgements_wait_for_the_next_frame_of_a_frequent_sender() {
        let mut timer = busy(Policy::Modern, 60, 10);
        timer.on_frame(false, false, at(603));
        let due = timer.due().saturating_duration_since(at(603));
        assert!(
            due >= Duration::from_millis(11) && due < Duration::from_millis(12),
            "{due:?}"
        );
        timer.on_frame(false, false, at(608));
        assert_eq!(timer.due(), at(603) + due);
        timer.handle_timeout(at(613));
        assert!(!timer.pending);
        timer.handle_timeout(at(615));
        assert!(timer.pending && timer.due().is_never());
    }

    /// T19.
    #[test]
    fn a_rare_sender_acknowledges_at_once() {
        for mut timer in [
            AckTimer::new(Policy::Modern),
            busy(Policy::Modern, 60, 40),
            busy(Policy::Paper, 60, 10),
        ] {
            timer.on_frame(false, false, at(3000));
            assert!(timer.pending);
        }
        let mut timer = busy(Policy::Modern, 60, 10);
        timer.on_frame(false, false, at(700));
        assert!(timer.pending);
    }

    /// T18, T19.
    #[test]
    fn losses_and_full_frames_are_told_at_once() {
        let mut timer = busy(Policy::Modern, 60, 10);
        timer.on_frame(true, false, at(603));
        assert!(timer.pending);
        let mut timer = busy(Policy::Modern, 60, 10);
        timer.on_frame(false, true, at(603));
        assert!(!timer.pending);
        timer.on_frame(false, true, at(604));
        assert!(timer.pending);
        timer.on_newest(at(604));
        assert_eq!(timer.held_back(at(609)), Duration::from_millis(5));
        timer.on_sent();
        assert!(!timer.pending && timer.due().is_never());
    }
}
