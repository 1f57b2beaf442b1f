//! Less is in flight for a round: what that changes tells whose the queue is.

use super::path::Path;
use crate::time::{Instant, Micros};

/// Time between drains: the queue is emptied, to see the path without it.
const EVERY: Micros = Micros::from_secs(5);

/// Time from the end of slow start to the first drain. It is short, as a connection that comes late sees the
/// queue of others as part of the path, and takes more for it.
const FIRST: Micros = Micros::from_secs(1);

/// Time from one drain to the next that a loss begins: each loss would leave a line with a short queue empty.
const PAUSE: Micros = Micros::from_millis(300);

/// The most rounds by which a drain becomes longer.
const LONGER: u32 = 4;

/// Drains without effect after which there is no queue.
const QUIET: u32 = 8;

/// What a drain has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// There is no queue, or nearly all of it was of this connection.
    Own,
    /// The round trip did not become shorter: this is the path.
    Stiff,
    /// The round trip became shorter by some: the queue is that of others as well.
    Shared,
}

/// A drain that goes on, or whose result is waited for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drain {
    /// Bytes that are held back.
    held: u32,
    /// The round trip before.
    pub(super) before: Micros,
    /// How much shorter it becomes if the queue is this connection's own.
    most: Micros,
    /// What was known as the round trip without a queue before.
    floor: Micros,
    /// The round trip of the round before.
    last: Micros,
    /// Rounds by which it has become longer.
    longer: u32,
}

impl Drain {
    /// A round has ended that still tells of the window before: what is held back may go, unless the drain has
    /// become longer.
    pub(super) const fn on_first_round(self) -> Self {
        let held = if self.longer == 0 { 0 } else { self.held };
        Self { held, ..self }
    }

    /// The round trip with less in flight was `rtt`. Returns the drain that goes on if the queue becomes
    /// shorter still and was never seen that short: then all that share it drain it, and its end is near.
    pub(super) fn longer(self, rtt: Micros, window: u32, path: &Path) -> Option<Self> {
        let slack = Micros::from_millis(1) + 2 * path.noise();
        let falls = self.last - rtt > self.last / 16 + slack;
        let is_new = self.floor - rtt > slack;
        (falls && is_new && self.longer < LONGER).then(|| Self {
            held: window - window / (4 << self.longer),
            last: rtt,
            longer: self.longer + 1,
            ..self
        })
    }

    /// Whether a round trip of `rtt` shows a path that was taken for longer than it is by an eighth.
    pub(super) fn has_shown_path(&self, rtt: Micros) -> bool {
        self.floor - rtt > self.floor / 8
    }

    /// Whether there is no queue after one that was so long that its end means something.
    pub(super) fn has_emptied(&self, rtt: Micros, window: u32, path: &Path) -> bool {
        let queue = self.before - self.floor.min(path.floor());
        let long = path.floor() / 8 + 2 * path.wanted(window) + 2 * path.noise();
        queue > long && path.is_empty(rtt, window)
    }

    /// Whether a round trip of `rtt` is the path without a queue: below what was known, by what this
    /// connection has held back.
    pub(super) fn is_lower(&self, rtt: Micros, path: &Path) -> bool {
        self.before - rtt > self.most / 2 && rtt + 2 * path.noise() < path.floor()
    }

    /// What a round trip of `rtt` means.
    pub(super) fn finding(&self, rtt: Micros, window: u32, path: &Path) -> Finding {
        let shorter = self.before - rtt;
        if path.is_empty(rtt, window) || shorter > self.most / 4 * 3 {
            Finding::Own
        } else if shorter < self.most / 8 + path.noise() {
            Finding::Stiff
        } else {
            Finding::Shared
        }
    }
}

/// Consecutive drains that did not change the round trip: there was no queue to drain.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Quiet {
    count: u32,
    /// The sum of the round trips before them.
    before: Micros,
    /// The sum of the round trips with less in flight.
    after: Micros,
}

impl Quiet {
    pub(super) fn on_drained(&mut self, drain: &Drain, rtt: Micros, path: &Path) {
        let slack = path.floor() / 8 + 2 * path.noise() + Micros::from_millis(1) + path.step;
        if drain.before > path.floor() + slack || drain.before - rtt > slack {
            *self = Self::default();
            return;
        }
        self.count += 1;
        self.before = self.before + drain.before;
        self.after = self.after + rtt;
    }

    /// Whether there were enough of them. Jitter makes single round trips longer and shorter, but not their
    /// sum; a queue, however short, makes all that are before a drain longer.
    pub(super) fn is_proved(&self, path: &Path) -> bool {
        let slack = Micros::from_millis(1) + path.noise() / 2 + path.step / 4;
        self.count >= QUIET && self.before - self.after <= u64::from(self.count) * slack
    }
}

/// The drains of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Drains {
    /// The one that goes on.
    pub(super) current: Option<Drain>,
    due: Instant,
}

impl Drains {
    /// Slow start is over.
    pub(super) fn begin_anew(&mut self, now: Instant) {
        self.due = now + FIRST;
    }

    pub(super) fn is_due(&self, now: Instant) -> bool {
        now >= self.due
    }

    /// Whether a loss begins a drain: the last one, [`EVERY`] before the next is due, was some time ago.
    pub(super) fn is_due_by_loss(&self, now: Instant) -> bool {
        self.current.is_none() && now + EVERY > self.due + PAUSE
    }

    /// `held` of the `window` bytes are held back for a round.
    pub(super) fn begin(&mut self, held: u32, window: u32, path: &Path, now: Instant) {
        let before = path.usual();
        self.current = Some(Drain {
            held,
            before,
            most: u64::from(held) * before / window.max(1).into(),
            floor: path.floor(),
            last: before,
            longer: 0,
        });
        self.due = now + EVERY;
    }

    /// Bytes that are held back.
    pub(super) fn held(&self) -> u32 {
        self.current.map_or(0, |drain| drain.held)
    }
}
